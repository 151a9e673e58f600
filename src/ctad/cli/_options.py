"""Options that several commands share.

Here and in the commands' modules, what takes long to import is imported when it is needed, so
that help and completion are quick.
"""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Annotated, Any

import typer

from ..detectors import KNOWN_DETECTORS, known_detector

TABLES = "CSV, Parquet or Arrow/Feather: a file, a folder, a glob in quotes, or - for a CSV"


def _detector_names(incomplete: str) -> list[str]:
    return [name for name in KNOWN_DETECTORS if name.startswith(incomplete.lower())]


def _calibration_names(incomplete: str) -> list[str]:
    from ..calibration import CALIBRATIONS

    return [name for name in CALIBRATIONS if name.startswith(incomplete)]


def _check_detector(name: str | None) -> str | None:
    try:
        return None if name is None else known_detector(name).name
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error


def _known_calibration(name: str) -> str:
    names = _calibration_names("")
    if name not in names:
        raise typer.BadParameter(f"{name!r} is not one of {', '.join(names)}.")
    return name


def _delimiter(text: str | None) -> str | None:
    character = "\t" if text in ("tab", "\\t") else text
    if character is not None and len(character) != 1:
        raise typer.BadParameter(f"{text!r} is not one character, nor tab.")
    return character


Training = Annotated[str, typer.Argument(metavar="TRAIN", help=f"Normal rows. {TABLES} on stdin.")]
New = Annotated[str, typer.Argument(metavar="TABLE", help=f"Rows to score. {TABLES} on stdin.")]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A file made by `ctad fit`.")]
Output = Annotated[
    str,
    typer.Option(
        *("-o", "--output"),
        help="Where to write: .csv, .csv.gz, .parquet, .feather, or - for a CSV on stdout; "
        "a folder if the input is several files.",
    ),
]
Calibration = Annotated[
    str,
    typer.Option(
        help="How to calibrate: recommended (RelaxedCTAD) or paper (CTAD).",
        autocompletion=_calibration_names,
        callback=_known_calibration,
        metavar="NAME",
    ),
]
Detector = Annotated[
    str,
    typer.Option(
        help="Which detector; `ctad detectors` lists them.",
        autocompletion=_detector_names,
        callback=_check_detector,
        metavar="NAME",
    ),
]
DetectorName = Annotated[
    str | None,
    typer.Argument(
        help="Show all about this one.",
        autocompletion=_detector_names,
        callback=_check_detector,
        metavar="NAME",
    ),
]
Ignore = Annotated[
    list[str],
    typer.Option(help="Columns to leave out, separated by commas.", metavar="COLUMN,..."),
]
Keep = Annotated[
    list[str],
    typer.Option(
        help="Columns of integers to use although they seem to count the rows.",
        metavar="COLUMN,...",
    ),
]
Anomalous = Annotated[
    str | None,
    typer.Option(
        help="The label that means anomaly, if labels are not 0 and 1 or true and false.",
        metavar="VALUE",
    ),
]
DataDir = Annotated[
    Path | None,
    typer.Option(
        help="A folder of data sets, the paper's or your own: .npz or .mat with X and y; CSV, "
        "Parquet or Feather with a column of labels.",
        envvar="CTAD_DATA_DIR",
    ),
]
Seed = Annotated[int, typer.Option(help="The same seed gives the same model.", min=0)]
SampleRows = Annotated[
    int, typer.Option(help="Train on a random sample of so many rows at most.", min=2)
]
BatchRows = Annotated[
    int | None,
    typer.Option(help="Rows to hold in memory at a time; does not change results.", min=1),
]
Encoding = Annotated[str | None, typer.Option(help="Of CSV files, if it is not found out rightly.")]
Delimiter = Annotated[
    str | None,
    typer.Option(
        help="Of CSV files, if it is not found out rightly; a character, or tab.",
        callback=_delimiter,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Quiet; one line of JSON as the result.")]


def separated(lists: list[str]) -> list[str]:
    """The items of lists separated by commas."""
    return [item.strip() for text in lists for item in text.split(",") if item.strip()]


def detector_options(lists: list[str]) -> dict[str, Any]:
    """`n_estimators=300,max_samples=0.5` as a dict; numbers and true, false, none are read so."""
    options = {}
    for item in (part for text in lists for part in re.split(r",(?=\s*\w+\s*=)", text)):
        name, equals, value = item.partition("=")
        if not equals:
            raise typer.BadParameter(f"{item!r} is not of the form name=value.")
        options[name.strip()] = _value(value.strip())
    return options


def _value(text: str) -> Any:
    for read in (json.loads, ast.literal_eval):
        try:
            return read(text)
        except (ValueError, SyntaxError):
            continue
    return None if text.lower() == "none" else text
