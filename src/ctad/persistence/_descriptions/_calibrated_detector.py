"""`CalibratedDetector`: the detector, the calibrator, and the scores of training rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.compose import ColumnTransformer

from ..._result_types import ScoreParts
from ..._thresholds import labels_above
from ..._validation import LARGEST_VALUE
from ...wrapper import (
    CalibratedDetector,
    DetectorAdapter,
    InputConverter,
    first_step,
    scoring_method,
)
from .._container import ModelFileError
from .._description import Description, Values
from .._kinds import (
    Choice,
    Flag,
    Floats,
    Integer,
    Kind,
    MayBeMissing,
    Names,
    NotDescribedError,
    Number,
    Object,
    OneOf,
    Optional,
    Record,
    Seed,
    Text,
    require,
    shown,
)
from ._composition import is_described, needs_text

if TYPE_CHECKING:
    from .._reader import Scope
    from .._writer import Writer

DETECTORS = ("detector", "network")
# Detectors of PyOD that find neighbours: for all rows at once, that would take much memory.
SEARCHES = ("KNN", "LOF")


@dataclass(frozen=True)
class WrappedFunction(Kind):
    """A function. Its name is stored; the function itself is passed to `load`."""

    def __str__(self) -> str:
        return '{"function": its name}'

    def write(self, value: Any, writer: Writer) -> dict[str, str]:
        require(callable(value) and not hasattr(value, "fit"), "not a function")
        return {"function": getattr(value, "__name__", type(value).__name__)}

    def read(self, stored: Any, scope: Scope) -> Any:
        name = Record({"function": Text()}).read(stored, scope)["function"]
        if not callable(scope.reader.function):
            raise ModelFileError(
                f"{scope.reader.path} contains a model that wraps the function {shown(name)}, "
                "which is not in the file: pass the function itself, as in "
                "load(path, detector=function) in Python."
            )
        scope.reader.function_used = True
        return scope.reader.function


def _given(detector: CalibratedDetector) -> Values:
    fitted = detector.adapter_.detector
    same = detector.detector is fitted
    parameters: dict[str, Any] = detector.get_params(deep=False)
    if not isinstance(detector.contamination, float | int):
        raise NotDescribedError(
            f"contamination={detector.contamination!r} cannot be stored: set the detector's "
            "contamination to a number first; its threshold_ stays"
        )
    require(
        same or type(detector.detector) is type(fitted),
        "detector is not the one that was fitted: fit again",
    )
    return {
        **parameters,
        "detector": None if same else detector.detector,
        "calibrator": None if detector.calibrator is None else clone(detector.calibrator),
        "encoder": None if detector.encoder is None else clone(detector.encoder),
    }


def _take_apart(detector: CalibratedDetector) -> Values:
    adapter, scores = detector.adapter_, detector.calibration_scores_
    require(_scores_as(adapter, detector.polarity), "polarity is not that of the fit: fit again")
    return {
        "detector_": adapter.detector,
        "method": adapter.method,
        "sign": adapter.sign,
        "batch_dependent": adapter.batch_dependent,
        "detector_form": detector.input_.detector_form,
        "encoder_": detector.input_.encoder,
        "n_training_rows": len(detector.decision_scores_),
        "n_held_out": 0 if scores is None else len(scores.score),
        "calibration_scores_": None
        if scores is None
        else {"base_score": scores.base_score, "delta": scores.delta, "score": scores.score},
    }


def _scores_as(adapter: DetectorAdapter, polarity: str) -> bool:
    """Whether the scores of a detector have the method and sign that `fit` finds."""
    found = scoring_method(adapter.detector, polarity)
    return (found.method, found.sign) == (adapter.method, adapter.sign)


def _put_together(detector: CalibratedDetector, values: dict[str, Any]) -> None:
    fitted, encoder = values.pop("detector_"), values.pop("encoder_")
    if detector.detector is None:
        detector.detector = fitted
    detector.check_parameters()
    adapter = DetectorAdapter(
        fitted, *(values.pop(name) for name in ("method", "sign", "batch_dependent"))
    )
    require(_scores_as(adapter, detector.polarity), "method and sign are not those of detector_")
    final = adapter.final_step
    searches = type(final).__module__.startswith("sklearn.") or type(final).__name__ in SEARCHES
    require(
        not (adapter.batch_dependent and searches and is_described(final)),
        "batch_dependent: this detector scores each row for itself",
    )
    form, scores = values.pop("detector_form"), values.pop("calibration_scores_")
    del values["n_training_rows"], values["n_held_out"]
    detector.__dict__.update(values)
    detector.adapter_ = adapter
    detector.input_ = InputConverter.for_detector(detector, detector.detector, encoder, form)
    detector.calibration_scores_ = None if scores is None else ScoreParts(**scores)
    detector.labels_ = labels_above(detector.threshold_, detector.decision_scores_)


def _check(values: Values, scope: Scope) -> None:
    encoder, calibrator = values["encoder_"], values["calibrator_"]
    names = values.get("feature_names_in_", np.empty(0)).tolist()
    n_columns = scope.lengths["columns"]
    n_features = n_columns if encoder is None else scope.n_out(encoder)
    require(len(set(names)) == len(names), "feature_names_in_: the same name twice")
    require(
        encoder is None or names == encoder.feature_names_in_.tolist(),
        "encoder_: not for the columns of the rows",
    )
    require(
        scope.n_in(calibrator) in (None, n_features)
        and not hasattr(calibrator, "feature_names_in_"),
        "calibrator_: not for the columns of the rows",
    )
    require(
        getattr(calibrator, "score_scaling_", ()) is not None, "calibrator_: fitted without scores"
    )
    require(
        getattr(calibrator, "n_training_rows_", None) in (None, scope.lengths["training_rows"]),
        "calibrator_: not fitted on as many rows",
    )
    require(scope.lengths["features"] == n_features, "training_sample_: not of the same columns")
    require(
        scope.lengths["sample"] <= scope.lengths["training_rows"],
        "training_sample_: more than the training rows",
    )
    require(
        (values["calibration_scores_"] is None) == (scope.lengths["held_out"] == 0),
        "n_held_out: not the number of calibration_scores_",
    )
    require(np.isfinite(values["decision_scores_"]).any(), "decision_scores_: no finite score")
    _check_detector(
        values, names, n_columns if values["detector_form"] != "encoded" else n_features, scope
    )


def _check_detector(values: Values, names: list[str], n_features: int | None, scope: Scope) -> None:
    """Raise unless the detector gets the columns that it was fitted on."""
    given, fitted, form = values["detector"], values["detector_"], values["detector_form"]
    require(given is None or type(given) is type(fitted), "detector: not of the type of detector_")
    require(
        values["encoder_"] is not None or form == "numbers", "detector_form: there is no encoder_"
    )
    first = first_step(fitted)
    if form in ("encoded", "numbers"):
        require(not _selects_by_name(first), "detector_: selects columns of an array by name")
        require(not needs_text(fitted), "detector_: fitted on text, but gets numbers")
        n_columns = n_features if form == "encoded" else scope.lengths["columns"]
    else:
        # A table. A detector that was fitted before gets the columns that it knows.
        module = type(first).__module__
        require(not module.startswith("pyod."), "detector_form: PyOD's detectors get arrays")
        known = getattr(first_step(fitted if given is None else given), "feature_names_in_", names)
        n_columns = len(known)
        require(
            set(known) <= set(names)
            and len(set(known)) == n_columns
            and list(getattr(first, "feature_names_in_", known)) == list(known),
            "detector_: not for the columns of the table",
        )
    require(scope.n_in(fitted) in (None, n_columns), "detector_: not for the columns of the rows")


def _selects_by_name(step: Any) -> bool:
    """Whether a step is a fitted ColumnTransformer that knows columns by name."""
    if not isinstance(step, ColumnTransformer):
        return False
    selected = [columns for _, _, columns in step.transformers_]
    edges = [(each.start, each.stop) if isinstance(each, slice) else each for each in selected]
    return any(isinstance(name, str) for each in edges for name in np.atleast_1d(each).tolist())


DESCRIPTIONS = (
    Description(
        type="ctad.CalibratedDetector",
        role="model",
        parameters={
            "detector": Optional(Object(roles=DETECTORS, fitted=None)),
            "calibrator": Optional(Object(roles=("calibrator",), fitted=False)),
            "encoder": Optional(Object(types=("ctad.tables.TableEncoder",), fitted=False)),
            "polarity": Choice(("auto", "higher", "lower")),
            "contamination": Number(0, 0.5),
            "holdout": Optional(Number(0, 1)),
            "random_state": Seed(),
        },
        fitted={
            "n_features_in_": Integer(1, length="columns"),
            "feature_names_in_": MayBeMissing(Names("columns")),
            "encoder_": Optional(Object(types=("ctad.tables.TableEncoder",))),
            "detector_": OneOf((WrappedFunction(), Object(roles=DETECTORS))),
            "method": Choice(("decision_function", "score_samples", "")),
            "sign": Choice((1.0, -1.0)),
            "batch_dependent": Flag(),
            "detector_form": Choice(("encoded", "numbers", "pandas", "polars", "pyarrow")),
            "calibrator_": Object(roles=("calibrator",)),
            "n_training_rows": Integer(1, length="training_rows"),
            "n_held_out": Integer(length="held_out"),
            "training_sample_": Floats(
                "sample", "features", low=-LARGEST_VALUE, high=LARGEST_VALUE
            ),
            "decision_scores_": Floats("training_rows", finite=False),
            "threshold_": Number(infinite=True),
            "n_ignored_anomalies_": Integer(),
            "calibration_scores_": Optional(
                Record(
                    {
                        "base_score": Floats("held_out", finite=False),
                        "delta": Floats("held_out", finite=False),
                        "score": Floats("held_out", finite=False),
                    }
                )
            ),
        },
        rebuilt=("adapter_", "input_", "labels_", "calibration_scores_"),
        given=_given,
        take_apart=_take_apart,
        put_together=_put_together,
        check=_check,
        n_in="columns",
    ),
)
