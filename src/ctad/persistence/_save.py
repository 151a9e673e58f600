"""Save a model to a file."""

from __future__ import annotations

from os import PathLike
from typing import Any

from sklearn.utils.validation import check_is_fitted

from ..calibration import BaseCalibrator
from ..errors import InputError
from ..wrapper import CalibratedDetector
from ._calibrated_detector import describe as describe_detector
from ._calibrators import describe as describe_calibrator
from ._values import plain_parameters
from ._writer import Writer


def save(model: Any, path: str | PathLike[str]) -> None:
    """Write a fitted model to one file that `load` reads, without pickle.

    Every model has this function as its method `save`.

    Parameters
    ----------
    model : CalibratedDetector, calibrator, or a neural detector of `ctad.detectors`
    path : path-like
        Usually ends in .ctad. An existing file is replaced in one step, or kept if saving fails.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from ctad import CTAD
    >>> from ctad.persistence import load, save
    >>> calibrator = CTAD(random_state=0).fit(np.random.default_rng(0).normal(size=(300, 2)))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(calibrator, f"{folder}/calibrator.ctad")
    ...     load(f"{folder}/calibrator.ctad")
    CTAD(random_state=0)
    """
    writer = Writer()
    columns = None
    if type(model) is CalibratedDetector:
        description = describe_detector(model, writer)
        training_rows = len(model.decision_scores_)
        encoder = description["state"]["encoder"]
        columns = None if encoder is None else encoder["state"]["columns"]
    elif isinstance(model, CalibratedDetector):
        raise InputError(
            f"{type(model).__name__} cannot be saved: only CalibratedDetector itself can"
        )
    elif isinstance(model, BaseCalibrator):
        description = describe_calibrator(model, writer)
        training_rows = model.n_training_rows_
    else:
        description = _describe_network(model, writer)
        training_rows = len(model.decision_scores_)
    writer.save(path, description, training_rows=training_rows, columns=columns)


def _describe_network(detector: Any, writer: Writer) -> dict[str, Any]:
    check_is_fitted(detector, "labels_")
    parameters = detector.get_params()
    if parameters.get("device") is not None:
        parameters["device"] = str(parameters["device"])  # PyOD has a PyTorch object there
    return {
        "class": type(detector).__name__,
        "parameters": plain_parameters(parameters),
        "state": {"fitted": writer.object(detector)},
    }
