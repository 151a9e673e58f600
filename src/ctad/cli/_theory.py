"""ctad theory"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from ..errors import InputError
from . import _options as option
from ._console import plain_table, talking
from ._score import load_detector, refuse_learnt_label

if TYPE_CHECKING:
    from ..calibration import TransportCalibrator
    from ..theory import Bounds, Constants, Room, Separation

SAMPLE_ROWS = 100_000
VARIANCE_ROWS = 200
LITTLE_ROOM = 0.1  # of shuffled rows, where 0.05 of normal rows have a larger term


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
    tell rows apart, how much it depends on chance, and, with labelled rows, by how much anomalies
    are sure to differ.
    """
    from ..calibration import TransportCalibrator
    from ..io import require_both_kinds
    from ..theory import bounds, constants, room, separation, variance
    from ._rows import read_rows

    if (table is None) != (label is None):
        raise typer.BadParameter("a table and its column of labels go together.")
    with talking(json) as talk:
        detector = load_detector(model)
        calibrator = detector.calibrator_
        if not isinstance(calibrator, TransportCalibrator):
            raise InputError(
                f"{model}: theory needs CTAD or RelaxedCTAD, not {type(calibrator).__name__}."
            )
        if not len(detector.training_sample_):
            raise InputError(f"{model} was written by an earlier version: train it anew.")
        sample = detector.training_sample_
        known = constants(calibrator)
        bounded = bounds(calibrator, sample)
        held_out = detector.calibration_scores_
        unseen = None if held_out is None else held_out.delta
        has_room = room(calibrator, sample, terms=unseen)
        varies = variance(calibrator, sample, sample[:VARIANCE_ROWS])
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
            found = separation(calibrator, detector.numeric_rows(rows.table), rows.labels)
        talk.result(
            {
                "constants": [_plain(draw._asdict()) for draw in known],
                "bounds": _plain(_means(bounded)),
                "variance": {str(m): value for m, value in varies.items()},
                "room": _plain(has_room._asdict()),
                "separation": None if found is None else _plain(found._asdict()),
            },
            _shown(calibrator, known, bounded, varies, has_room, found),
            *_verdicts(has_room, found, is_unseen=unseen is not None),
        )


def _shown(
    calibrator: TransportCalibrator,
    known: list[Constants],
    bounded: Bounds,
    varies: dict[int, float],
    has_room: Room,
    found: Separation | None,
) -> Table:
    """Means over draws, as the term is one."""
    table = plain_table("", "", "what it says")
    n = len(known)
    mean = {
        name: sum(getattr(draw, name) for draw in known) / n
        for name in ("least", "slack", "lipschitz")
    }
    of_rows = _means(bounded)
    is_total = calibrator.signal_ == "total"
    lines: list[tuple[str, float, str]] = [
        ("a", known[0].mass, "mass of a row, 1/(M+1)"),
        ("V_min", mean["least"], "what the references pay at least"),
        ("G", mean["slack"], "what they may pay more, to make room for the row"),
        ("L", mean["lipschitz"], "a row that moves by 1 changes its transport by this at most"),
        ("a d", of_rows["paper"], "training rows, mean: the paper's lower bound"),
        ("nearest", of_rows["nearest"], "... lower bound: all points to their nearest centroid"),
        ("lower", of_rows["lower"], "... lower bound: " + ("V_min + a d" if is_total else "a d")),
        ("term", of_rows["term"], "... the term"),
        ("upper", of_rows["upper"], "... upper bound: lower + G, where d has room"),
    ]
    lines += [
        (f"variance {m}", value, f"over draws of {m} references, mean over training rows")
        for m, value in varies.items()
    ]
    lines += [
        ("usual", has_room.usual, "term that 95 % of normal rows keep to"),
        ("needed d", has_room.needed, "rows farther than this are sure to have a larger term"),
    ]
    if found is not None:
        lines += [
            ("eps", found.eps, "labelled: mean d of normal rows (to centroids with room)"),
            ("eta", found.eta, "labelled: mean d of anomalies"),
            ("guaranteed", found.guaranteed, "mean terms differ by at least a (eta - eps) - G"),
            ("measured", found.measured, "... and do differ by this"),
        ]
    for name, value, meaning in lines:
        table.add_row(name, f"{value:.4g}", meaning)
    return table


def _means(bounded: Bounds) -> dict[str, float]:
    return {name: float(values.mean()) for name, values in bounded._asdict().items()}


def _verdicts(has_room: Room, found: Separation | None, *, is_unseen: bool) -> Iterator[str]:
    yield (
        f"Of rows with shuffled columns, {has_room.measured:.0%} have a larger term than 95 % of "
        f"the normal rows, {has_room.sure:.0%} for sure."
    )
    if has_room.measured < LITTLE_ROOM:
        yield (
            "So the term has little room: columns hardly depend on each other, or it does not see "
            "how. It tells apart what is out of range."
        )
    if not is_unseen:
        yield (
            "That is too good, since training has seen these normal rows. Keep some out of it: "
            "ctad fit --holdout 0.2."
        )
    if found is not None and found.guaranteed > 0:
        yield "Of the labelled rows, anomalies are sure to have larger terms, on average."
    elif found is not None:
        yield "Of the labelled rows the bounds promise nothing; see what is measured."


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    """As JSON knows them: it has no infinity."""
    plain = {}
    for name, value in values.items():
        numbers = [float(v) for v in value] if hasattr(value, "__len__") else [float(value)]
        finite = [v if abs(v) < float("inf") else None for v in numbers]
        plain[name] = finite if hasattr(value, "__len__") else finite[0]
    return plain
