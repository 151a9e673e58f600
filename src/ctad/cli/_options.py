"""Options that several commands share.

Here and in the modules of the commands, slow imports are inside functions, so that help and
completion are quick.
"""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Annotated, Any

import typer

from ..detectors import KNOWN_DETECTORS, known_detector
from ..errors import InputError

TABLES = (
    "CSV, Parquet or Arrow/Feather: a file, a folder, a pattern in quotes, or - for CSV on stdin"
)
LARGEST_SEED = 2**32 - 1  # of numpy
TRAINING = ("mixed", "normal")  # of RelaxedCTAD


def _detector_names(incomplete: str) -> list[str]:
    return [name for name in KNOWN_DETECTORS if name.startswith(incomplete.lower())]


def _calibration_names(incomplete: str) -> list[str]:
    from ..calibration import CALIBRATIONS

    return [name for name in CALIBRATIONS if name.startswith(incomplete)]


def _detector_name(name: str | None) -> str | None:
    try:
        return None if name is None else known_detector(name).name
    except InputError as error:
        raise typer.BadParameter(str(error)) from error


def _calibration_name(name: str) -> str:
    names = _calibration_names("")
    if name not in names:
        raise typer.BadParameter(f"{name!r} is not one of {', '.join(names)}.")
    return name


def _training_names(incomplete: str) -> list[str]:
    return [name for name in TRAINING if name.startswith(incomplete)]


def _training_name(name: str) -> str:
    if name not in TRAINING:
        raise typer.BadParameter(f"{name!r} is not one of {', '.join(TRAINING)}.")
    return name


def _delimiter(text: str | None) -> str | None:
    character = "\t" if text in ("tab", "\\t") else text
    if character is not None:
        _check_read_options(delimiter=character)
    return character


def _encoding(name: str | None) -> str | None:
    if name is not None:
        _check_read_options(encoding=name)
    return name


def _batch_rows(number: int | None) -> int | None:
    if number is not None:
        _check_read_options(batch_rows=number)
    return number


def _check_read_options(**options: Any) -> None:
    from ..io import ReadOptions, TableError

    try:
        ReadOptions(**options)
    except TableError as error:
        raise typer.BadParameter(str(error)) from error


Training = Annotated[
    str, typer.Argument(metavar="TRAIN", help=f"Rows that are mostly normal. {TABLES}.")
]
New = Annotated[str, typer.Argument(metavar="TABLE", help=f"New rows. {TABLES}.")]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A model file from `ctad fit`.")]
Output = Annotated[
    str,
    typer.Option(
        *("-o", "--output"),
        help="Where to write: .csv, .csv.gz, .parquet, .feather, or - for CSV on stdout; a folder "
        "if the input is several files.",
    ),
]
Calibration = Annotated[
    str,
    typer.Option(
        help="How to calibrate: recommended (RelaxedCTAD) or paper (CTAD).",
        autocompletion=_calibration_names,
        callback=_calibration_name,
        metavar="NAME",
    ),
]
RowsKnown = Annotated[
    str,
    typer.Option(
        "--training",
        help="Whether all training rows are known to be normal, or there may be anomalies among "
        "them (mixed). Not for --calibration paper.",
        autocompletion=_training_names,
        callback=_training_name,
        metavar="[mixed|normal]",
    ),
]
Detector = Annotated[
    str,
    typer.Option(
        help="The detector; `ctad detectors` lists all.",
        autocompletion=_detector_names,
        callback=_detector_name,
        metavar="NAME",
    ),
]
DetectorName = Annotated[
    str | None,
    typer.Argument(
        help="Show the details of this one.",
        autocompletion=_detector_names,
        callback=_detector_name,
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
        help="Integer columns to use although they look like row numbers.",
        metavar="COLUMN,...",
    ),
]
Anomalous = Annotated[
    str | None,
    typer.Option(
        help="The label that means anomaly, if labels are not 0 and 1, or true and false.",
        metavar="VALUE",
    ),
]
DataDir = Annotated[
    Path | None,
    typer.Option(
        help="A folder of data sets, the paper's or your own: .npz or .mat with X and y; CSV, "
        "Parquet or Feather with a label column.",
        envvar="CTAD_DATA_DIR",
    ),
]
Seed = Annotated[
    int, typer.Option(help="The same seed gives the same result.", min=0, max=LARGEST_SEED)
]
SampleRows = Annotated[
    int, typer.Option(help="Train on a random sample of at most this many rows.", min=2)
]
BatchRows = Annotated[
    int | None,
    typer.Option(
        help="Rows to read at a time; does not change scores, unless the detector is "
        "batch-dependent.",
        min=1,
        callback=_batch_rows,
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(help="Encoding of CSV files, if detection fails.", callback=_encoding),
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        help="Delimiter of CSV files, if detection fails: a character, or tab.",
        callback=_delimiter,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one line of JSON and nothing else.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the Python traceback of errors.")]


def comma_separated(lists: list[str]) -> list[str]:
    """The items of lists that are separated by commas."""
    return [item.strip() for text in lists for item in text.split(",") if item.strip()]


def detector_options(lists: list[str]) -> dict[str, Any]:
    """`n_estimators=300,max_samples=0.5` as a dict; values may be numbers, lists, true, false, none
    or text."""
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
