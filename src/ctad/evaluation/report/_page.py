"""A report as files: CSV, Markdown, and one HTML page that needs no other file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment

from ..._atomic_files import replacing
from ._figures import Picture
from ._table import Table, file_stem

PAGE, TEXT = "report.html", "report.md"
TABLES, FIGURES = "tables", "figures"


@dataclass(frozen=True, eq=False)
class Chapter:
    """A part of a report.

    Attributes
    ----------
    name : str
        Identifies it in links.
    title : str
    tables : sequence of Table
    pictures : sequence of Picture
    """

    name: str
    title: str
    tables: Sequence[Table] = ()
    pictures: Sequence[Picture] = ()


def write_page(
    folder: Path,
    title: str,
    opening: str,
    chapters: Iterable[Chapter],
    made_with: Sequence[str] = (),
) -> Path:
    """Write a report into a folder.

    Parameters
    ----------
    folder : pathlib.Path
        Gets report.html, report.md, and the folders tables and figures.
    title, opening : str
        The heading and the first paragraph.
    chapters : iterable of Chapter
        Empty ones are left out.
    made_with : sequence of str
        Lines about the software.

    Returns
    -------
    pathlib.Path
        The HTML page.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import pandas as pd
    >>> from ctad.evaluation.report import Chapter, Table, write_page
    >>> data = pd.DataFrame({"gain": [0.1]}, index=pd.Index(["KNN"], name="detector"))
    >>> chapters = [Chapter("gains", "Gains", [Table("gains", "Gain in AUC-PR", "", data)])]
    >>> with TemporaryDirectory() as folder:
    ...     page = write_page(Path(folder), "My study", "One detector.", chapters)
    ...     "Gain in AUC-PR" in page.read_text()
    True
    """
    chapters = [chapter for chapter in chapters if chapter.tables or chapter.pictures]
    drawings = {}
    for chapter in chapters:
        for table in chapter.tables:
            content = table.whole().to_csv(float_format="%.6g")
            _write(folder, f"{TABLES}/{file_stem(table.name)}.csv", content)
        for picture in chapter.pictures:
            drawings[picture.name] = picture.svg()
            _write(folder, f"{FIGURES}/{file_stem(picture.name)}.svg", drawings[picture.name])
    _write(folder, TEXT, _markdown(title, opening, chapters, made_with))
    template = files(__package__).joinpath("benchmark.html").read_text(encoding="utf-8")
    page = Environment(autoescape=True).from_string(template)
    content = page.render(
        title=title,
        opening=opening,
        chapters=[_for_template(chapter, drawings) for chapter in chapters],
        made_with=made_with,
    )
    _write(folder, PAGE, content)
    return folder / PAGE


def _write(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path, within=folder) as part:
        part.write_text(text, encoding="utf-8")


def _for_template(chapter: Chapter, drawings: dict[str, str]) -> dict[str, Any]:
    return {
        "name": chapter.name,
        "title": chapter.title,
        "tables": [_table_for_template(table) for table in chapter.tables],
        "pictures": [
            {"title": picture.title, "note": picture.note, "svg": drawings[picture.name]}
            for picture in chapter.pictures
        ],
    }


def _table_for_template(table: Table) -> dict[str, Any]:
    shown = table.as_text()
    totals = len(shown) - table.n_totals
    return {
        "title": table.title,
        "note": table.note,
        "index_name": shown.index.name,
        "columns": list(shown),
        "rows": [
            {"name": name, "cells": row, "is_total": number >= totals}
            for number, (name, *row) in enumerate(shown.itertuples(name=None))
        ],
    }


def _markdown(
    title: str, opening: str, chapters: Iterable[Chapter], made_with: Iterable[str]
) -> str:
    lines = [f"# {title}", "", opening, ""]
    for chapter in chapters:
        lines += [f"## {chapter.title}", ""]
        for picture in chapter.pictures:
            file = f"{FIGURES}/{file_stem(picture.name)}.svg"
            lines += [f"![{picture.title}]({file})", "", picture.note, ""]
        for table in chapter.tables:
            lines += [f"### {table.title}", "", table.note, "", *table.markdown(), ""]
    return "\n".join([*lines, "## Made with", "", *(f"- {line}" for line in made_with), ""])
