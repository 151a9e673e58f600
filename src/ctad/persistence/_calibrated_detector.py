"""`CalibratedDetector` in model files."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._result_types import ScoreParts
from .._thresholds import labels_above
from ..errors import InputError
from ..tables import TableEncoder
from ..wrapper import CalibratedDetector, DetectorAdapter, InputConverter
from ._calibrators import describe as describe_calibrator
from ._calibrators import describe_unfitted, restore_unfitted
from ._calibrators import restore as restore_calibrator
from ._columns import describe_columns, restore_columns
from ._reader import Reader
from ._values import from_number, integer, number, plain_parameters, to_number
from ._writer import Writer


def describe(detector: CalibratedDetector, writer: Writer) -> dict[str, Any]:
    """Class, parameters and state of a fitted `CalibratedDetector`."""
    check_is_fitted(detector)
    encoder, calibrator = detector.encoder, detector.calibrator
    held_out = detector.calibration_scores_
    return {
        "class": "CalibratedDetector",
        "parameters": {
            **plain_parameters(
                {
                    "polarity": detector.polarity,
                    "contamination": _contamination(detector),
                    "holdout": detector.holdout,
                    "random_state": detector.random_state,
                }
            ),
            "calibrator": None if calibrator is None else describe_unfitted(calibrator),
            "encoder": None if encoder is None else plain_parameters(encoder.get_params()),
        },
        "state": {
            **describe_columns(detector),
            "detector": _describe_detector(detector, writer),
            "calibrator": describe_calibrator(detector.calibrator_, writer),
            "encoder": _describe_encoder(detector.encoder_, writer),
            "decision_scores": writer.array(detector.decision_scores_),
            "threshold": to_number(detector.threshold_),
            "ignored_anomalies": detector.n_ignored_anomalies_,
            "rows_held_out": 0 if held_out is None else len(held_out.score),
            "calibration_scores": None if held_out is None else _describe_scores(held_out, writer),
            "training_sample": writer.array(detector.training_sample_),
        },
    }


def _describe_detector(detector: CalibratedDetector, writer: Writer) -> dict[str, Any]:
    adapter = detector.adapter_
    if isinstance(adapter.final_step, CalibratedDetector):
        raise InputError("a CalibratedDetector inside another cannot be saved")
    description = {
        "name": adapter.name,
        "method": adapter.method,
        "sign": adapter.sign,
        "batch_dependent": adapter.batch_dependent,
        "form_of_rows": detector.input_.detector_form,
    }
    if not adapter.method:
        return {**description, "function": adapter.name, "fitted": None, "given": None}
    fitted = writer.object(adapter.detector)
    given = fitted if detector.detector is adapter.detector else writer.object(detector.detector)
    return {**description, "function": None, "fitted": fitted, "given": given}


def _describe_scores(scores: ScoreParts, writer: Writer) -> list[str]:
    return [writer.array(part) for part in (scores.base_score, scores.delta, scores.score)]


def _describe_encoder(encoder: TableEncoder | None, writer: Writer) -> dict[str, Any] | None:
    if encoder is None:
        return None
    state, parts = encoder.to_state()
    parameters = plain_parameters(encoder.get_params())
    return {"parameters": parameters, "state": state, "parts": writer.object(parts)}


def _contamination(detector: CalibratedDetector) -> Any:
    """The share; files do not contain PyThresh objects."""
    if not isinstance(detector.contamination, Real):
        raise InputError(
            f"contamination={detector.contamination!r} cannot be saved: set the detector's "
            "contamination to a number first; its threshold_ stays"
        )
    return detector.contamination


def restore(reader: Reader, function: Any) -> CalibratedDetector:
    """The detector that `describe` described; `function` is the function it wraps, or None."""
    parameters, state = reader.manifest["parameters"], reader.manifest["state"]
    calibrator, encoder = parameters["calibrator"], parameters["encoder"]
    holdout, seed = parameters["holdout"], parameters["random_state"]
    loaded = CalibratedDetector(
        function,
        None if calibrator is None else restore_unfitted(calibrator),
        encoder=None if encoder is None else _unfitted_encoder(encoder),
        polarity=parameters["polarity"],
        contamination=number(parameters["contamination"]),
        holdout=None if holdout is None else number(holdout),
        random_state=None if seed is None else integer(seed),
    )
    loaded.check_parameters()
    restore_columns(loaded, state)
    loaded.calibrator_ = restore_calibrator(state["calibrator"], reader)
    fitted_encoder = _restore_encoder(state["encoder"], reader)
    n_columns = loaded.n_features_in_
    n_features = n_columns if fitted_encoder is None else len(fitted_encoder.features_)
    if loaded.calibrator_.n_features_in_ != n_features:
        raise InputError("detector and calibrator have different columns")
    _restore_detector(loaded, state["detector"], fitted_encoder, reader)
    _restore_scores(loaded, state, reader)
    loaded.training_sample_ = reader.floats(state["training_sample"], (None, n_features))
    return loaded


def _restore_scores(loaded: CalibratedDetector, state: dict[str, Any], reader: Reader) -> None:
    scores = reader.array(state["decision_scores"])
    if scores.shape != (reader.manifest["training_rows"],) or scores.dtype != np.float64:
        raise InputError("there is not one score per training row")
    loaded.decision_scores_ = scores
    loaded.threshold_ = from_number(state["threshold"])
    loaded.labels_ = labels_above(loaded.threshold_, scores)
    loaded.n_ignored_anomalies_ = integer(state["ignored_anomalies"])
    loaded.calibration_scores_ = None
    if state["calibration_scores"] is not None:
        parts = [reader.array(name) for name in state["calibration_scores"]]
        shape = (integer(state["rows_held_out"], at_least=1),)
        if any(part.shape != shape or part.dtype != np.float64 for part in parts):
            raise InputError("there is not one score per row held out")
        if np.isnan(parts).any():
            raise InputError("the score of a row held out is NaN")
        base_score, delta, score = parts
        loaded.calibration_scores_ = ScoreParts(base_score, delta, score)


def _restore_detector(
    loaded: CalibratedDetector,
    description: dict[str, Any],
    encoder: TableEncoder | None,
    reader: Reader,
) -> None:
    form = description["form_of_rows"]
    n_columns = loaded.calibrator_.n_features_in_ if form == "encoded" else loaded.n_features_in_
    if not description["function"]:
        loaded.detector = reader.object(description["fitted"], n_columns)
    detector = loaded.detector
    if description["given"] != description["fitted"]:
        loaded.detector = reader.object(description["given"])
    loaded.input_ = InputConverter.for_detector(loaded, loaded.detector, encoder, form)
    loaded.adapter_ = DetectorAdapter(
        detector,
        description["method"],
        description["sign"],
        bool(description["batch_dependent"]),
    )


def _restore_encoder(description: Any, reader: Reader) -> TableEncoder | None:
    if description is None:
        return None
    encoder = _unfitted_encoder(description["parameters"])
    return encoder.from_state(description["state"], reader.object(description["parts"]))


def _unfitted_encoder(parameters: dict[str, Any]) -> TableEncoder:
    given: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in parameters.items()
    }
    return TableEncoder(**given)
