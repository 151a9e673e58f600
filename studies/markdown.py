"""Pages of docs/ with a part that is generated from results."""

from collections.abc import Iterable, Sequence
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"


def row(*cells: object) -> str:
    """A line of a Markdown table."""
    return "| " + " | ".join(map(str, cells)) + " |"


def table(heads: Sequence[object], rows: Iterable[Sequence[object]]) -> list[str]:
    """The lines of a Markdown table."""
    return [row(*heads), row(*["---"] * len(heads)), *(row(*cells) for cells in rows)]


def replace_generated(page: str, command: str, lines: Iterable[str]) -> None:
    """Replace the lines that the command generated before, between two comments."""
    path = DOCS / page
    begin, end = f"<!-- made by `{command}`: -->\n", "<!-- end -->\n"
    before, found, rest = path.read_text().partition(begin)
    if not found:
        raise SystemExit(f"docs/{page} has no line {begin!r}")
    after = rest.partition(end)[2]
    path.write_text(before + begin + "\n".join(lines) + "\n" + end + after)
    print(f"docs/{page} is written.")
