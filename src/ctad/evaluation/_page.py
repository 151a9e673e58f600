"""Tables and figures as files: CSV, Markdown, and one HTML page that needs no other file."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import matplotlib as mpl
from jinja2 import Environment

from .._atomic_files import replacing
from ._figures import STYLE, Picture
from ._table import Table

PAGE, TEXT = "report.html", "report.md"
TABLES, FIGURES = "tables", "figures"

# By the first word of the names of their tables and figures.
CHAPTERS = {
    "method": "The method",
    "summary": "What calibration adds",
    "agreement": "Agreement with the printed numbers",
    "datasets": "Each data set",
    "comparison": "All methods",
    "alternatives": "Ways to calibrate",
    "sensitivity": "Other settings",
    "gaps": "Transport terms of normal and of anomalous rows",
    "runtimes": "Run time",
    "failures": "What failed",
}


def write_pages(
    folder: Path,
    title: str,
    opening: str,
    tables: Sequence[Table],
    pictures: Sequence[Picture],
    made_with: Sequence[str],
) -> Path:
    """Write all of it into a folder; the path of the HTML page."""
    (folder / TABLES).mkdir(parents=True, exist_ok=True)
    (folder / FIGURES).mkdir(exist_ok=True)
    drawings = {}
    for table in tables:
        _write(folder / TABLES / f"{table.name}.csv", table.whole().to_csv(float_format="%.6g"))
    for picture in pictures:
        drawings[picture.name] = _svg(picture)
        _write(folder / FIGURES / f"{picture.name}.svg", drawings[picture.name])
    chapters = _chapters(tables, pictures, drawings)
    _write(folder / TEXT, _markdown(title, opening, tables, pictures, made_with))
    template = files(__package__).joinpath("page.html").read_text(encoding="utf-8")
    page = Environment(autoescape=True).from_string(template)
    _write(
        folder / PAGE,
        page.render(title=title, opening=opening, chapters=chapters, made_with=made_with),
    )
    return folder / PAGE


def _write(path: Path, text: str) -> None:
    with replacing(path) as part:
        part.write_text(text, encoding="utf-8")


def _svg(picture: Picture) -> str:
    """The drawing, to stand inside a page among others."""
    written = io.StringIO()
    with mpl.rc_context(STYLE):
        picture.figure.savefig(written, format="svg", metadata={"Date": None}, bbox_inches="tight")
    drawing = written.getvalue()
    drawing = drawing[drawing.index("<svg") :]
    # Names inside of a page are shared by all drawings on it.
    drawing = re.sub(r'\bid="', f'id="{picture.name}-', drawing)
    drawing = re.sub(r'href="#', f'href="#{picture.name}-', drawing)
    return re.sub(r"url\(#", f"url(#{picture.name}-", drawing)


def _chapters(
    tables: Iterable[Table], pictures: Iterable[Picture], drawings: dict[str, str]
) -> list[dict[str, Any]]:
    chapters = []
    for name, title in CHAPTERS.items():
        chapter = {
            "name": name,
            "title": title,
            "tables": [_for_template(table) for table in tables if _chapter_of(table) == name],
            "pictures": [
                {"title": picture.title, "note": picture.note, "svg": drawings[picture.name]}
                for picture in pictures
                if _chapter_of(picture) == name
            ],
        }
        if chapter["tables"] or chapter["pictures"]:
            chapters.append(chapter)
    return chapters


def _chapter_of(part: Table | Picture) -> str:
    return part.name.partition("_")[0]


def _for_template(table: Table) -> dict[str, Any]:
    shown = table.as_text()
    totals = len(shown) - (0 if table.totals is None else len(table.totals))
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
    title: str,
    opening: str,
    tables: Iterable[Table],
    pictures: Iterable[Picture],
    made_with: Iterable[str],
) -> str:
    lines = [f"# {title}", "", opening, ""]
    for name, heading in CHAPTERS.items():
        own_pictures = [picture for picture in pictures if _chapter_of(picture) == name]
        own_tables = [table for table in tables if _chapter_of(table) == name]
        if own_pictures or own_tables:
            lines += [f"## {heading}", ""]
        for picture in own_pictures:
            lines += [f"![{picture.title}]({FIGURES}/{picture.name}.svg)", "", picture.note, ""]
        for table in own_tables:
            lines += [f"### {table.title}", "", table.note, "", *markdown_table(table), ""]
    return "\n".join([*lines, "## Made with", "", *(f"- {line}" for line in made_with), ""])


def markdown_table(table: Table) -> list[str]:
    """The lines of a table in Markdown."""
    shown = table.as_text()
    rows = [[str(shown.index.name), *shown], ["---"] * (shown.shape[1] + 1)]
    rows += [[str(name), *row] for name, *row in shown.itertuples(name=None)]
    return [f"| {' | '.join(_in_a_cell(text) for text in row)} |" for row in rows]


def _in_a_cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", "<br>")
