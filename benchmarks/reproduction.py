"""The tables and pictures of docs/reproduction.md, from the results of `make paper`."""

from pathlib import Path

import matplotlib as mpl
from pages import DOCS, replace_made

from ctad.evaluation import Results
from ctad.paper import build_report
from ctad.paper._figures import STYLE
from ctad.paper._page import markdown_table

RESULTS = Path(__file__).parents[1] / "results"
# Which of all tables and pictures, by the beginnings of their names.
TABLES = ("summary", "agreement", "alternatives", "runtimes")
PICTURES = (
    "method",
    "comparison_published_auc_pr",
    "alternatives",
    "sensitivity",
    "gaps_published",
)


def main() -> None:
    """Write both."""
    report = build_report(Results(RESULTS), RESULTS)
    lines = []
    for table in report.tables:
        if table.name.startswith(TABLES):
            lines += [f"### {table.title}", "", table.note, "", *markdown_table(table), ""]
    for picture in report.pictures:
        if picture.name.startswith(PICTURES):
            file = DOCS / "figures" / f"{picture.name}.png"
            file.parent.mkdir(exist_ok=True)
            with mpl.rc_context(STYLE):
                picture.figure.savefig(file, dpi=90, bbox_inches="tight")
            lines += [f"![{picture.title}](figures/{file.name})", "", picture.note, ""]
    replace_made("reproduction.md", "make paper", lines)


if __name__ == "__main__":
    main()
