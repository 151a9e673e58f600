"""The generated part of docs/reproduction.md."""

from collections.abc import Sequence

from ctad.evaluation.report import Chapter, Picture

from ..markdown import DOCS, replace_generated

TABLES_OF = ("summary", "agreement", "alternatives", "runtimes")  # chapters
PICTURES = (
    "method",
    "comparison first half auc_pr",
    "alternatives first half",
    "alternatives random split",
    "sensitivity first half",
    "gaps first half",
)


def write_docs_page(chapters: Sequence[Chapter]) -> None:
    """Write tables into the page, and figures beside it."""
    for picture in _pictures(chapters):
        picture.save_png(DOCS / "figures")
    replace_generated("reproduction.md", "make paper", generated_lines(chapters))


def generated_lines(chapters: Sequence[Chapter]) -> list[str]:
    """The generated part of the page."""
    lines = []
    for chapter in chapters:
        for table in chapter.tables if chapter.name in TABLES_OF else ():
            lines += [f"### {table.title}", "", table.note, "", *table.markdown(), ""]
    for picture in _pictures(chapters):
        file = picture.name.replace(" ", "_")
        lines += [f"![{picture.title}](figures/{file}.png)", "", picture.note, ""]
    return lines


def _pictures(chapters: Sequence[Chapter]) -> list[Picture]:
    pictures = [picture for chapter in chapters for picture in chapter.pictures]
    return [picture for picture in pictures if picture.name in PICTURES]
