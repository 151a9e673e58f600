"""Pages of docs/ with a part that is made from results."""

from collections.abc import Iterable
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"


def row(*cells: object) -> str:
    """A line of a table."""
    return "| " + " | ".join(map(str, cells)) + " |"


def replace_made(page: str, command: str, lines: Iterable[str]) -> None:
    """Put lines in the place of those that the command made before, between two comments."""
    path = DOCS / page
    begin, end = f"<!-- made by `{command}`: -->\n", "<!-- end -->\n"
    before, _, rest = path.read_text().partition(begin)
    after = rest.partition(end)[2]
    path.write_text(before + begin + "\n".join(lines) + "\n" + end + after)
    print(f"docs/{page} is written.")
