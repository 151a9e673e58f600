"""The generated part of docs/reproduction.md."""

from collections.abc import Iterable

from ctad.evaluation.report import Chapter

from ..pages import DOCS, replace_generated

TABLES_OF = ("summary", "agreement", "alternatives", "runtimes")  # chapters
PICTURES = (
    "method",
    "comparison first half auc_pr",
    "alternatives first half",
    "alternatives random split",
    "sensitivity first half",
    "gaps first half",
)


def write_docs_page(chapters: Iterable[Chapter]) -> None:
    """Write tables into the page, and figures beside it."""
    tables, figures = [], []
    for chapter in chapters:
        for table in chapter.tables if chapter.name in TABLES_OF else ():
            tables += [f"### {table.title}", "", table.note, "", *table.markdown(), ""]
        for picture in chapter.pictures:
            if picture.name in PICTURES:
                file = picture.save_png(DOCS / "figures")
                figures += [f"![{picture.title}](figures/{file.name})", "", picture.note, ""]
    replace_generated("reproduction.md", "make paper", [*tables, *figures])
