"""`CalibratedDetector` in model files."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._thresholds import labels_above
from .._validation import check_choice
from ..errors import InputError
from ..tables import TableEncoder
from ..wrapper import (
    CalibratedDetector,
    DetectorAdapter,
    InputConverter,
    ScoreParts,
    ScoringMethod,
)
from ._calibrators import describe as describe_calibrator
from ._calibrators import describe_unfitted, restore_unfitted
from ._calibrators import restore as restore_calibrator
from ._reader import Reader
from ._values import from_number, integer, number, plain_parameters, text, to_number
from ._writer import Writer

POLARITIES = ("auto", "higher", "lower")


def describe(detector: CalibratedDetector, writer: Writer) -> dict[str, Any]:
    """Class, parameters and state of a fitted `CalibratedDetector`."""
    check_is_fitted(detector)
    encoder, calibrator = detector.encoder, detector.calibrator
    fitted_encoder = _describe_encoder(detector.encoder_, writer)
    names, normal = getattr(detector, "feature_names_in_", None), detector.calibration_scores_
    return {
        "class": "CalibratedDetector",
        "parameters": {
            **plain_parameters(
                {
                    "polarity": detector.polarity,
                    "contamination": _share(detector.contamination),
                    "holdout": detector.holdout,
                    "random_state": detector.random_state,
                }
            ),
            "calibrator": None if calibrator is None else describe_unfitted(calibrator),
            "encoder": None if encoder is None else plain_parameters(encoder.get_params()),
        },
        "state": {
            "detector": _describe_detector(detector, writer),
            "calibrator": describe_calibrator(detector.calibrator_, writer),
            "encoder": fitted_encoder,
            "rows_depend": detector.batch_dependent_,
            "sees": detector.input_.detector_form,
            "n_columns": detector.n_features_in_,
            "column_names": None if names is None else names.tolist(),
            "decision_scores": writer.array(detector.decision_scores_),
            "ignored_anomalies": detector.n_ignored_anomalies_,
            "threshold": to_number(detector.threshold_),
            "rows_held_out": 0 if normal is None else len(normal.score),
            "normal": None
            if normal is None
            else [writer.array(part) for part in (normal.base_score, normal.delta, normal.score)],
            "sample": (
                writer.array(detector.training_sample_) if len(detector.training_sample_) else None
            ),
        },
    }


def _describe_detector(detector: CalibratedDetector, writer: Writer) -> dict[str, Any]:
    scoring, name = detector.adapter_.scoring, detector.adapter_.name
    how = {"method": scoring.method, "sign": scoring.sign}
    if isinstance(detector.adapter_.final_step, CalibratedDetector):
        raise TypeError("a CalibratedDetector inside of another cannot be saved")
    if not scoring.method:
        return {**how, "name": name, "function": name, "fitted": None, "given": None}
    fitted = writer.object(detector.detector_)
    same = detector.detector is detector.detector_
    given = fitted if same else writer.object(detector.detector)
    return {**how, "name": name, "function": None, "fitted": fitted, "given": given}


def _describe_encoder(encoder: TableEncoder | None, writer: Writer) -> dict[str, Any] | None:
    if encoder is None:
        return None
    state, parts = encoder._to_state()
    parameters = plain_parameters(encoder.get_params())
    return {"parameters": parameters, "state": state, "parts": writer.object(parts)}


def _share(contamination: Any) -> Any:
    """Files hold no PyThresh objects; what they found, the threshold, is kept apart."""
    if not isinstance(contamination, Real):
        raise TypeError(
            f"contamination={contamination!r} cannot be saved: set the detector's contamination to "
            "a number first, its threshold_ stays"
        )
    return contamination


def restore(reader: Reader, function: Any) -> CalibratedDetector:
    parameters, state = reader.manifest["parameters"], reader.manifest["state"]
    contamination, holdout = number(parameters["contamination"]), parameters.get("holdout")
    check_choice("polarity", parameters["polarity"], POLARITIES)
    if not 0 < contamination <= 0.5:
        raise InputError(f"contamination {contamination} is not in (0, 0.5]")
    calibrator, encoder = parameters["calibrator"], parameters["encoder"]
    seed = parameters["random_state"]
    loaded = CalibratedDetector(
        function,
        None if calibrator is None else restore_unfitted(calibrator),
        encoder=None if encoder is None else _unfitted_encoder(encoder),
        polarity=parameters["polarity"],
        contamination=contamination,
        holdout=None if holdout is None else number(holdout),
        random_state=None if seed is None else integer(seed),
    )
    loaded.calibrator_ = restore_calibrator(state["calibrator"], reader)
    fitted_encoder = _restore_encoder(state["encoder"], reader)
    _restore_columns(loaded, state, fitted_encoder)
    _restore_detector(loaded, state, fitted_encoder, reader)
    scores = reader.array(state["decision_scores"])
    if scores.shape != (reader.manifest["training_rows"],) or scores.dtype != np.float64:
        raise InputError("it has not one score per training row")
    loaded.decision_scores_ = scores
    loaded.threshold_ = from_number(state["threshold"])
    loaded.labels_ = labels_above(loaded.threshold_, scores)
    loaded.n_ignored_anomalies_ = integer(state.get("ignored_anomalies", 0), at_least=0)
    _restore_known_rows(loaded, state, reader)
    return loaded


def _restore_known_rows(loaded: CalibratedDetector, state: dict[str, Any], reader: Reader) -> None:
    """What new rows are compared with; files of earlier versions do not have it."""
    loaded.calibration_scores_ = None
    if state.get("normal") is not None:
        base, delta, score = (reader.array(name) for name in state["normal"])
        known = all(part.shape == score.shape == (score.size,) for part in (base, delta))
        if not known or any(part.dtype != np.float64 for part in (base, delta, score)):
            raise InputError("rows held out without a score")
        if np.isnan([base, delta, score]).any():
            raise InputError("a row held out has no score")
        loaded.calibration_scores_ = ScoreParts(base, delta, score)
    width = loaded.calibrator_.n_features_in_
    loaded.training_sample_ = np.empty((0, width))
    if state.get("sample") is not None:
        loaded.training_sample_ = reader.floats(state["sample"], (None, width))


def _restore_detector(
    loaded: CalibratedDetector,
    state: dict[str, Any],
    encoder: TableEncoder | None,
    reader: Reader,
) -> None:
    wrapped, form = state["detector"], state["sees"]
    names = getattr(loaded, "feature_names_in_", None)
    if names is None:
        names = [f"column {place}" for place in range(loaded.n_features_in_)]
    InputConverter(tuple(names), encoder, form)  # refuses an unknown form
    width = loaded.calibrator_.n_features_in_ if form == "encoded" else loaded.n_features_in_
    if not wrapped["function"]:
        loaded.detector = reader.object(wrapped["fitted"], width)
    detector = loaded.detector
    if wrapped["given"] != wrapped["fitted"]:
        loaded.detector = reader.object(wrapped["given"])
    if encoder is None:
        loaded.input_ = InputConverter(tuple(names), None, form)
    else:
        loaded.input_ = InputConverter.of_table(tuple(names), encoder, form, loaded.detector)
    loaded.adapter_ = DetectorAdapter(
        detector, ScoringMethod(wrapped["method"], wrapped["sign"]), bool(state["rows_depend"])
    )


def _restore_encoder(description: Any, reader: Reader) -> TableEncoder | None:
    if description is None:
        return None
    encoder = _unfitted_encoder(description["parameters"])
    return encoder._from_state(description["state"], reader.object(description["parts"]))


def _unfitted_encoder(parameters: dict[str, Any]) -> TableEncoder:
    given: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in parameters.items()
    }
    return TableEncoder(**given)


def _restore_columns(
    loaded: CalibratedDetector, state: dict[str, Any], encoder: TableEncoder | None
) -> None:
    loaded.n_features_in_ = integer(state["n_columns"], at_least=1)
    width = loaded.n_features_in_
    if encoder is not None:
        width = len(encoder.features_)
    if loaded.calibrator_.n_features_in_ != width:
        raise InputError("detector and calibrator have other columns")
    if state["column_names"] is not None:
        names = [text(name) for name in state["column_names"]]
        loaded.feature_names_in_ = np.array(names, dtype=object)
        if len(names) != loaded.n_features_in_:
            raise InputError(f"{len(names)} names of {loaded.n_features_in_} columns")
