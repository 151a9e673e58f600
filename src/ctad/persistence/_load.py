"""Load a model file."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from typing import Any

from ..errors import InputError
from ._calibrated_detector import restore as restore_detector
from ._calibrators import restore as restore_calibrator
from ._container import ModelFileError
from ._reader import Reader


def load(path: str | PathLike[str], *, detector: Any = None, trusted: Iterable[str] = ()) -> Any:
    """Load a model that `save` wrote: a `CalibratedDetector`, a calibrator or a neural detector.

    Load only files that you trust. Before anything is built, checksums are compared and all types
    are looked up in a list. The attributes of these types are not all checked, so a file made for
    the purpose can still crash the process or run code.

    Parameters
    ----------
    path : path-like
    detector : function, optional
        The function that was wrapped, if it was one. Files do not contain functions.
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
        If the file is damaged, altered, of a newer format, or contains unknown types.

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
    with reader.errors():
        wraps = reader.manifest["class"] == "CalibratedDetector"
        wanted = wraps and reader.manifest["state"]["detector"]["function"]
    if detector is not None and not wanted:
        raise InputError(f"{reader.path} contains its detector; do not pass detector=")
    if wanted and not callable(detector):
        raise ModelFileError(
            f"{reader.path} wraps the function {wanted!r}, which is not in the file: pass it, as "
            "in load(path, detector=...)."
        )
    with reader.errors():
        if wraps:
            loaded = restore_detector(reader, detector)
        elif "fitted" in reader.manifest["state"]:
            loaded = reader.object(reader.manifest["state"]["fitted"])
        else:
            loaded = restore_calibrator(reader.manifest, reader)
    reader.warn_of_other_versions()
    return loaded
