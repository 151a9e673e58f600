"""ctad theory"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from ..errors import InputError
from . import _options as option
from ._console import command_output, plain_table
from ._formatting import percent
from ._model_files import load_detector

if TYPE_CHECKING:
    from ..theory import Bounds, Constants, DetectionRate, Separation

SAMPLE_ROWS = 100_000
VARIANCE_ROWS = 200
LOW_DETECTION_RATE = 0.1  # of rows with shuffled columns, at a false-alarm rate of 0.05


def theory(
    model: option.Model,
    table: Annotated[
        str | None,
        typer.Argument(metavar="TABLE", help=f"Labelled rows. {option.TABLES}."),
    ] = None,
    label: Annotated[
        str | None, typer.Option(help="The label column, 1 = anomaly; needed with TABLE.")
    ] = None,
    anomalous: option.Anomalous = None,
    batch_rows: option.BatchRows = None,
    encoding: option.Encoding = None,
    delimiter: option.Delimiter = None,
    json: option.Json = False,
    debug: option.Debug = False,
) -> None:
    """Show what can be proved about the calibration term of a model: its bounds, the share of
    unusual rows that it must detect, its variance over random draws and, with labelled rows, the
    guaranteed difference between anomalies and normal rows.
    """
    from ..calibration import CTAD, RelaxedCTAD
    from ..io import LabelColumn, ReadOptions
    from ..theory import bounds, constants, detection_rate, lipschitz, separation, variance
    from ._new_rows import read_new_rows

    if (table is None) != (label is None):
        raise typer.BadParameter("TABLE and --label must be given together.")
    with command_output(as_json=json, debug=debug) as out:
        detector = load_detector(model, label=label)
        calibrator = detector.calibrator_
        if not isinstance(calibrator, CTAD | RelaxedCTAD):
            raise InputError(
                f"{model}: theory needs CTAD or RelaxedCTAD, not {type(calibrator).__name__}."
            )
        sample = detector.training_sample_
        held_out = detector.calibration_scores_
        with out.step("Computing bounds"):
            result = _Theory(
                calibrator.signal_,
                bool(getattr(calibrator, "wide_draws_", [])),
                constants(calibrator),
                lipschitz(calibrator),
                bounds(calibrator, sample),
                variance(calibrator, sample, sample[:VARIANCE_ROWS]),
                detection_rate(
                    calibrator, sample, terms=None if held_out is None else held_out.delta
                ),
            )
        separated = None
        if table is not None and label is not None:
            column = LabelColumn(label, anomalous)
            reading = ReadOptions(batch_rows, encoding, delimiter)
            rows = read_new_rows(
                detector, table, reading, sample_rows=SAMPLE_ROWS, seed=0, label=column
            )
            assert rows.is_anomaly is not None
            column.require_both_classes(rows.is_anomaly, table)
            separated = separation(calibrator, detector.numeric_rows(rows.table), rows.is_anomaly)
        out.result(
            {
                **result.as_json(),
                "separation": None if separated is None else _json_numbers(vars(separated)),
            },
            _table([*result.lines(), *_separation_lines(separated)]),
            *_conclusions(result.detection, separated, has_new_rows=held_out is not None),
        )


@dataclass(frozen=True, eq=False)
class _Theory:
    """What can be proved about a calibration term without labelled rows."""

    signal: str
    has_wide_view: bool
    draws: list[Constants]
    lipschitz: float
    bounds: Bounds
    variances: dict[int, float]  # by the number of references
    detection: DetectionRate

    def mean_bounds(self) -> dict[str, float]:
        return {name: float(values.mean()) for name, values in vars(self.bounds).items()}

    def as_json(self) -> dict[str, Any]:
        return {
            "constants": [_json_numbers(vars(draw)) for draw in self.draws],
            "lipschitz": self.lipschitz,
            "bounds": _json_numbers(self.mean_bounds()),
            "variance": {str(m): value for m, value in self.variances.items()},
            "detection_rate": _json_numbers(vars(self.detection)),
        }

    def lines(self) -> Iterator[tuple[str, float, str]]:
        """Names, values and meanings; the constants are means over draws, as the term is."""
        n_draws = len(self.draws)
        least = sum(draw.least for draw in self.draws) / n_draws
        slack = sum(draw.slack for draw in self.draws) / n_draws
        mean = self.mean_bounds()
        lower, upper = "V_min + a d", "lower + G"
        if self.signal == "own":
            lower, upper = "a d", "a times the cost of the nearest with capacity, + G"
        if self.has_wide_view:
            lower, upper = "a d, the near view", "a d, or a cost of the wide view, if larger"
        yield "a", self.draws[0].mass, "mass of a row, 1/(M+1)"
        yield "V_min", least, "least cost of the references"
        yield "G", slack, "largest additional cost of the references due to a row"
        yield "L", self.lipschitz, "largest change of the term if a row moves by 1"
        yield (
            "a d",
            mean["paper"],
            "a times the cost to the nearest centroid, training rows",
        )
        yield "nearest", mean["nearest"], "... lower bound: all points to their nearest centroid"
        yield "lower", mean["lower"], f"... lower bound: {lower}"
        yield "term", mean["term"], "... the term"
        yield "upper", mean["upper"], f"... upper bound: {upper}"
        for m, value in self.variances.items():
            yield f"variance {m}", value, f"over draws of {m} references, mean over training rows"
        yield "threshold", self.detection.threshold, "95 % of normal rows have a smaller term"
        yield "needed d", self.detection.needed_cost, "rows with a larger d exceed the threshold"


def _separation_lines(separated: Separation | None) -> Iterator[tuple[str, float, str]]:
    if separated is not None:
        yield "eps", separated.eps, "mean d of normal rows with labels"
        yield "eta", separated.eta, "mean d of anomalies"
        yield "guaranteed", separated.guaranteed, "their mean terms differ at least by this"
        yield "measured", separated.measured, "... and differ by this"


def _table(lines: list[tuple[str, float, str]]) -> Table:
    table = plain_table("", "", "meaning")
    for name, value, meaning in lines:
        table.add_row(name, f"{value:.4g}", meaning)
    return table


def _conclusions(
    detection: DetectionRate, separated: Separation | None, *, has_new_rows: bool
) -> Iterator[str]:
    yield (
        f"{percent(detection.measured)} of rows with shuffled columns exceed the threshold, "
        f"{percent(detection.guaranteed)} are guaranteed to."
    )
    if detection.measured < LOW_DETECTION_RATE:
        yield (
            "This is low: columns are nearly independent, or the term does not capture how they "
            "depend on each other. It detects values out of range only."
        )
    if not has_new_rows:
        yield (
            "These numbers are too optimistic, because the model was trained on the same normal "
            "rows. Hold some out: ctad fit --holdout 0.2."
        )
    if separated is not None and separated.guaranteed > 0:
        yield "Anomalies among the labelled rows are guaranteed to have larger terms on average."
    elif separated is not None:
        yield "The bounds guarantee nothing about the labelled rows; see the measured difference."


def _json_numbers(values: dict[str, Any]) -> dict[str, Any]:
    """Numbers and arrays as JSON has them; infinity, which it does not have, is null."""
    plain = {}
    for name, value in values.items():
        numbers = [float(v) for v in value] if hasattr(value, "__len__") else [float(value)]
        finite = [v if abs(v) < float("inf") else None for v in numbers]
        plain[name] = finite if hasattr(value, "__len__") else finite[0]
    return plain
