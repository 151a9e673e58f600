"""ctad theory"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from . import _options as option
from ._score import load_detector, refuse_learnt_label
from ._talk import plain_table, talking

if TYPE_CHECKING:
    from ..theory import Constants, Room, Separation

SAMPLE_ROWS = 100_000


def theory(
    model: option.Model,
    table: Annotated[
        str | None,
        typer.Argument(metavar="[TABLE]", help=f"Labelled rows. {option.TABLES} on stdin."),
    ] = None,
    label: Annotated[
        str | None, typer.Option(help="The column of labels, 1 = anomaly; needed with a table.")
    ] = None,
    anomalous: option.Anomalous = None,
    batch_rows: option.BatchRows = None,
    encoding: option.Encoding = None,
    delimiter: option.Delimiter = None,
    json: option.Json = False,
) -> None:
    """What can be proved of a model's calibration term: its bounds, how much room they leave to
    tell rows apart, and, with labelled rows, by how much anomalies are sure to differ.
    """
    from ..calibration import CTAD
    from ..streams import require_both_kinds
    from ..theory import constants, room, separation
    from ._rows import read_rows

    if (table is None) != (label is None):
        raise typer.BadParameter("a table and its column of labels go together.")
    with talking(json) as talk:
        detector = load_detector(model)
        calibrator = detector.calibrator_
        if not isinstance(calibrator, CTAD):
            raise ValueError(f"{model}: theory is about CTAD, not {type(calibrator).__name__}.")
        if not len(detector.sample_):
            raise ValueError(f"{model} was written by an earlier version: train it anew.")
        known = constants(calibrator)
        has_room = room(calibrator, detector.sample_)
        found = None
        if table is not None and label is not None:
            refuse_learnt_label(label, detector, model)
            rows = read_rows(
                detector,
                table,
                talk,
                sample_rows=SAMPLE_ROWS,
                seed=0,
                label=label,
                anomalous=anomalous,
                batch_rows=batch_rows,
                encoding=encoding,
                delimiter=delimiter,
            )
            assert rows.labels is not None
            require_both_kinds(rows.labels, label, table)
            found = separation(calibrator, detector._rows(rows.table), rows.labels)
        talk.result(
            {
                "constants": [_plain(draw._asdict()) for draw in known],
                "room": _plain(has_room._asdict()),
                "separation": None if found is None else _plain(found._asdict()),
            },
            _shown(known, has_room, found),
            _verdict(has_room),
        )


def _shown(known: list[Constants], has_room: Room, found: Separation | None) -> Table:
    """Means over draws, as the term is one."""
    table = plain_table("", "", "what it says")
    n = len(known)
    mean = {
        name: sum(getattr(draw, name) for draw in known) / n
        for name in ("least", "slack", "lipschitz")
    }
    lines: list[tuple[str, float, str]] = [
        ("a", known[0].mass, "mass of a row, 1/(M+1)"),
        ("V_min", mean["least"], "what the references pay at least"),
        ("G", mean["slack"], "the term is a d(x), plus at most this (plus V_min if it is total)"),
        ("L", mean["lipschitz"], "times the distance a row moves: its total changes no more"),
        ("usual d", has_room.usual, "cost to the nearest centroid that 95 % of training rows keep"),
        ("needed d", has_room.needed, "above this a row's term is larger than all of theirs"),
    ]
    if found is not None:
        lines += [
            ("eps", found.eps, "mean d of normal rows"),
            ("eta", found.eta, "mean d of anomalies"),
            ("guaranteed", found.guaranteed, "a (eta - eps) - G: their mean terms differ by this"),
            ("measured", found.measured, "they differ by this"),
        ]
    for name, value, meaning in lines:
        table.add_row(name, f"{value:.4g}", meaning)
    return table


def _verdict(has_room: Room) -> str:
    if has_room.factor == 1.0:
        return "The term follows the distance to the nearest centroid: nothing is lost (G = 0)."
    if has_room.factor == float("inf"):
        return "Nothing is sure to be told apart: no bound from above (see docs/theory.md)."
    return (
        f"A row must be {has_room.factor:.3g} times as far from all centroids as training rows are "
        "to be told apart for sure; target='free' needs 1."
    )


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    """As JSON knows them: it has no infinity."""
    plain = {}
    for name, value in values.items():
        numbers = [float(v) for v in value] if hasattr(value, "__len__") else [float(value)]
        finite = [v if abs(v) < float("inf") else None for v in numbers]
        plain[name] = finite if hasattr(value, "__len__") else finite[0]
    return plain
