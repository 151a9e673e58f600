"""Save a model to a file."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..errors import InputError
from ._container import write_container
from ._kinds import NotDescribedError
from ._load import MODEL
from ._reader import Reader
from ._trusted_objects import check_trusted
from ._writer import Writer


def save(model: Any, path: str | PathLike[str], *, trusted: Iterable[str] = ()) -> None:
    """Write a fitted model to one file that `load` reads.

    Every model has this function as its method `save`. The file is data with a closed schema: there
    is a description of each type that can be stored, and no code.

    Parameters
    ----------
    model : CalibratedDetector, calibrator, or a neural detector of `ctad.detectors`
    path : path-like
        Usually ends in .ctad. An existing file is replaced in one step, or kept if saving fails.
    trusted : iterable of str, default=()
        Full names of types without a description, such as "my_package.MyDetector", to store all
        the same. Whoever loads the file must list them, too, because such a file can run code.

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
    check_trusted(trusted)
    check_is_fitted(model)
    writer = Writer(trusted)
    try:
        manifest, entries = writer.contents(MODEL.write(model, writer))
        # Read back before it is written: what `load` would refuse is not saved.
        with np.errstate(all="ignore"):
            Reader("", manifest, entries, getattr(model, "detector", None)).model(MODEL)
    except NotDescribedError as error:
        raise InputError(f"{type(model).__name__} cannot be saved: {error}") from error
    write_container(path, manifest, entries)
