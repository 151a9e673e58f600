"""The tables and pictures of docs/reproduction.md, from the results of `make paper`."""

from pathlib import Path

import matplotlib as mpl
from pages import DOCS, replace_made

from ctad.benchmark import Results
from ctad.paper._figures import STYLE, all_pictures
from ctad.paper._measured import Measured
from ctad.paper._page import markdown_table
from ctad.paper._report import METRICS, study_of
from ctad.paper._study import AS_PUBLISHED
from ctad.paper._tables import all_tables

RESULTS = Path(__file__).parents[1] / "results"
# Which of all tables and pictures, by the beginnings of their names.
TABLES = ("summary_published", "summary_honest", "agreement", "alternatives", "runtimes")
PICTURES = (
    "method",
    "comparison_published_auc_pr",
    "alternatives",
    "sensitivity",
    "gaps_published",
)


def main() -> None:
    """Write both."""
    measured = Measured(Results(RESULTS))
    study = study_of(measured, AS_PUBLISHED)
    lines = []
    for table in all_tables(measured, study, METRICS):
        if table.name.startswith(TABLES):
            lines += [f"### {table.title}", "", table.note, "", *markdown_table(table), ""]
    with mpl.rc_context(STYLE):
        for picture in all_pictures(measured, study, METRICS):
            if picture.name.startswith(PICTURES):
                file = DOCS / "figures" / f"{picture.name}.png"
                file.parent.mkdir(exist_ok=True)
                picture.figure.savefig(file, dpi=90)
                lines += [f"![{picture.title}](figures/{file.name})", "", picture.note, ""]
    replace_made("reproduction.md", "make paper", lines)


if __name__ == "__main__":
    main()
