"""Load a model file."""

from __future__ import annotations

import os
from collections.abc import Iterable
from numbers import Real
from typing import Any

import numpy as np

from ..errors import InputError
from ._container import ModelFileError, read_container
from ._kinds import NotDescribedError, Object
from ._reader import Reader
from ._trusted_objects import check_trusted

MODEL = Object(roles=("model", "calibrator", "network"))

# Most files have a few megabytes. A file and what is built from it share the memory.
MAX_BYTES = 2**32
# A model of n numbers needs about n operations per row. 10^9 take about a second.
MAX_WORK = 10**9


def load(
    path: str | os.PathLike[str],
    *,
    detector: Any = None,
    trusted: Iterable[str] = (),
    max_bytes: int = MAX_BYTES,
    max_work: int = MAX_WORK,
) -> Any:
    """Load a model that `save` wrote: a `CalibratedDetector`, a calibrator or a neural detector.

    Files may come from anybody: a file is data, every value in it is checked against the
    description of its type, and none of it is code. See docs/security.md for what that means. Only
    `trusted` is an exception.

    Parameters
    ----------
    path : path-like
        A file that `save` wrote.
    detector : function, optional
        The function that was wrapped, if it was one. Files do not contain functions.
    trusted : iterable of str, default=()
        Full names of types without a description, such as "my_package.MyDetector", that the file
        may contain. A file with such types can run code: list them only if you trust whoever made
        the file.
    max_bytes : int, default=4 GiB
        Larger files are refused.
    max_work : int, default=10^9
        A model that may need more operations to score one row is refused. Detectors get batches of
        256 rows, so that scoring takes up to 256 times as many.

    Returns
    -------
    CalibratedDetector, CTAD or another calibrator, or one of ctad's neural detectors
        Scores are those of the saved one, bit for bit, where the same versions are installed.

    Raises
    ------
    ModelFileError
        If the file is damaged, altered, of a newer format, too large, or contains a value that
        the description of its type does not allow; if it contains types that `trusted` does not
        list, or wraps a function and `detector` is not passed.
    InputError
        If `detector` is passed and the file contains its detector.

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
    check_trusted(trusted)
    for name, limit in (("max_bytes", max_bytes), ("max_work", max_work)):
        if not isinstance(limit, Real):
            raise TypeError(f"{name} must be a number, not {limit!r}")
    manifest, entries = read_container(path, max_bytes)
    if not set(manifest["trusted"]).issubset(trusted):
        raise ModelFileError(
            f"{os.fspath(path)} contains types without a description, so it can run code, and "
            "nothing was built. If you trust whoever made it, use "
            f"load(path, trusted={manifest['trusted'][:20]}) in Python: commands do not open it."
        )
    reader = Reader(os.fspath(path), manifest, entries, detector, max_work)
    try:
        with np.errstate(all="ignore"):
            model = reader.model(MODEL)
    except NotDescribedError as error:
        raise ModelFileError(
            f"{reader.path} was not loaded: {error}. Get it again from its source, or save the "
            "model again."
        ) from error
    except ImportError as error:
        raise ModelFileError(
            f"{reader.path} contains a model that needs {error.name}, which is not installed "
            f"here ({error}): install it and load the file again."
        ) from error
    if detector is not None and not reader.function_used:
        raise InputError(f"{reader.path} contains its detector; do not pass detector=")
    reader.warn_of_other_versions()
    return model
