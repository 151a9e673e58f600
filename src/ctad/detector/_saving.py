"""Save and load: `CalibratedDetector` in model files, and which class a file holds."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Real
from os import PathLike
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..calibration._saving import describe, describe_unfitted, restore, restore_unfitted
from ..modelfile import (
    ModelFileError,
    Reader,
    Writer,
    from_number,
    integer,
    number,
    plain_parameters,
    text,
    to_number,
)
from ..tables import TableEncoder
from ._calibrated import ENCODED, NUMBERS, CalibratedDetector
from ._conformal import Scored
from ._scoring import POLARITIES, Reading, final_step, name_of

METHODS = ("", "decision_function", "score_samples")
SEEN = (ENCODED, NUMBERS, "pandas", "polars", "pyarrow")


def save(detector: CalibratedDetector, path: str | PathLike[str]) -> None:
    """Write a fitted `CalibratedDetector` to a file; see `CalibratedDetector.save`."""
    if type(detector) is not CalibratedDetector:
        raise TypeError(f"{type(detector).__name__} cannot be saved, only CalibratedDetector can")
    check_is_fitted(detector)
    writer = Writer()
    encoder, calibrator = detector.encoder, detector.calibrator
    fitted_encoder = _describe_encoder(detector.encoder_, writer)
    names, normal = getattr(detector, "feature_names_in_", None), detector.normal_
    description = {
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
            "calibrator": describe(detector.calibrator_, writer),
            "encoder": fitted_encoder,
            "rows_depend": detector.rows_depend_,
            "sees": detector._sees,
            "n_columns": detector.n_features_in_,
            "column_names": None if names is None else names.tolist(),
            "decision_scores": writer.array(detector.decision_scores_),
            "threshold": to_number(detector.threshold_),
            "rows_held_out": 0 if normal is None else len(normal.score),
            "normal": None if normal is None else [writer.array(part) for part in normal[:3]],
            "sample": writer.array(detector.sample_) if len(detector.sample_) else None,
        },
    }
    columns = None if fitted_encoder is None else fitted_encoder["state"]["columns"]
    writer.save(path, description, training_rows=len(detector.decision_scores_), columns=columns)


def load(path: str | PathLike[str], *, detector: Any = None, trusted: Iterable[str] = ()) -> Any:
    """Read what `save` wrote: a `CalibratedDetector`, a calibrator such as `CTAD`, a detector.

    Nothing in the file is run. Its checksums are compared and the types of the wrapped detector
    looked up in a list before anything is built, so a file from somebody else is safe to open.

    Parameters
    ----------
    path : path-like
    detector : function, optional
        The function that was wrapped, if it was one: files do not hold functions.
    trusted : iterable of str, default=()
        Full names of types, such as "my_package.MyDetector", that the wrapped detector may have
        beyond those of scikit-learn and PyOD that ctad knows. Their code will run.

    Returns
    -------
    CalibratedDetector, CTAD or another calibrator, or one of ctad's neural detectors
        Scores are those of the saved one, bit for bit, where the same versions are installed.

    Raises
    ------
    ModelFileError
        If the file is damaged, altered, too new, or holds unknown types.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from sklearn.ensemble import IsolationForest
    >>> from ctad import CalibratedDetector, load
    >>> X_train = np.random.default_rng(0).normal(size=(300, 2))
    >>> detector = CalibratedDetector(IsolationForest(), random_state=0).fit(X_train)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     detector.save(f"{folder}/model.ctad")
    ...     loaded = load(f"{folder}/model.ctad")
    >>> bool((loaded.anomaly_score(X_train) == detector.anomaly_score(X_train)).all())
    True
    """
    if isinstance(trusted, str):
        raise TypeError(f"trusted must be a list of names: trusted=[{trusted!r}]")
    reader = Reader(path, trusted)
    with reader.refusing():
        wraps = reader.manifest["class"] == "CalibratedDetector"
        wanted = wraps and reader.manifest["state"]["detector"]["function"]
    if detector is not None and not wanted:
        raise ValueError(f"{reader.path} holds all it needs: leave out detector=")
    if wanted and not callable(detector):
        raise ModelFileError(
            f"{reader.path} was made with the function {wanted!r}, which a file cannot hold: "
            "pass it, as in load(path, detector=...)."
        )
    with reader.refusing():
        if wraps:
            loaded = _restore(reader, detector)
        elif "fitted" in reader.manifest["state"]:
            loaded = reader.object(reader.manifest["state"]["fitted"])
        else:
            loaded = restore(reader.manifest, reader)
    reader.warn_of_other_versions()
    return loaded


def _describe_detector(detector: CalibratedDetector, writer: Writer) -> dict[str, Any]:
    reading = {"method": detector._reading.method, "sign": detector._reading.sign}
    name = name_of(detector.detector_)
    if isinstance(final_step(detector.detector_), CalibratedDetector):
        raise TypeError("a CalibratedDetector inside of another cannot be saved")
    if not detector._reading.method:
        return {**reading, "name": name, "function": name, "fitted": None, "given": None}
    fitted = writer.object(detector.detector_)
    same = detector.detector is detector.detector_
    given = fitted if same else writer.object(detector.detector)
    return {**reading, "name": name, "function": None, "fitted": fitted, "given": given}


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


def _restore(reader: Reader, function: Any) -> CalibratedDetector:
    parameters, state = reader.manifest["parameters"], reader.manifest["state"]
    contamination, holdout = number(parameters["contamination"]), parameters.get("holdout")
    if parameters["polarity"] not in POLARITIES or not 0 < contamination <= 0.5:
        raise ValueError(f"polarity {parameters['polarity']!r}, contamination {contamination}")
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
    loaded.calibrator_ = restore(state["calibrator"], reader)
    loaded.encoder_ = _restore_encoder(state["encoder"], reader)
    _restore_columns(loaded, state)
    _restore_detector(loaded, state, reader)
    scores = reader.array(state["decision_scores"])
    if scores.shape != (reader.manifest["training_rows"],) or scores.dtype != np.float64:
        raise ValueError("it has not one score per training row")
    loaded.decision_scores_ = scores
    loaded.threshold_ = from_number(state["threshold"])
    loaded.labels_ = loaded._labels(scores)
    _restore_known_rows(loaded, state, reader)
    return loaded


def _restore_known_rows(loaded: CalibratedDetector, state: dict[str, Any], reader: Reader) -> None:
    """What new rows are compared with; files of earlier versions do not have it."""
    loaded.normal_ = None
    if state.get("normal") is not None:
        base, delta, score = (reader.array(name) for name in state["normal"])
        known = all(part.shape == score.shape == (score.size,) for part in (base, delta))
        if not known or any(part.dtype != np.float64 for part in (base, delta, score)):
            raise ValueError("rows held out without a score")
        if np.isnan([base, delta, score]).any():
            raise ValueError("a row held out has no score")
        loaded.normal_ = Scored(base, delta, score)
    width = loaded.calibrator_.n_features_in_
    loaded.sample_ = np.empty((0, width))
    if state.get("sample") is not None:
        loaded.sample_ = reader.floats(state["sample"], (None, width))


def _restore_detector(loaded: CalibratedDetector, state: dict[str, Any], reader: Reader) -> None:
    loaded.rows_depend_ = bool(state["rows_depend"])
    if state["sees"] not in SEEN:
        raise ValueError(f"{state['sees']!r} for a kind of table")
    loaded._sees = state["sees"]
    wrapped = state["detector"]
    if not wrapped["function"]:
        encoded = loaded._sees == ENCODED
        width = loaded.calibrator_.n_features_in_ if encoded else loaded.n_features_in_
        loaded.detector = reader.object(wrapped["fitted"], width)
    loaded.detector_ = loaded.detector
    if wrapped["given"] != wrapped["fitted"]:
        loaded.detector = reader.object(wrapped["given"])
    method, sign = wrapped["method"], wrapped["sign"]
    known = method in METHODS and sign in (1.0, -1.0)
    if not known or (method and not hasattr(loaded.detector_, method)):
        raise ValueError(f"no way to read scores by {method!r}")
    loaded._reading = Reading(method, sign)


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


def _restore_columns(loaded: CalibratedDetector, state: dict[str, Any]) -> None:
    loaded.n_features_in_ = integer(state["n_columns"], at_least=1)
    width = loaded.n_features_in_
    if loaded.encoder_ is not None:
        width = len(loaded.encoder_.features_)
    if loaded.calibrator_.n_features_in_ != width:
        raise ValueError("detector and calibrator have other columns")
    if state["column_names"] is not None:
        names = [text(name) for name in state["column_names"]]
        loaded.feature_names_in_ = np.array(names, dtype=object)
        if len(names) != loaded.n_features_in_:
            raise ValueError(f"{len(names)} names of {loaded.n_features_in_} columns")
