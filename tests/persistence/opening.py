"""Load models that may be hostile, and do with them what users do.

As a program: the files of a folder, one after another, in limited memory and time.

    python -m tests.persistence.opening FOLDER
"""

from __future__ import annotations

import faulthandler
import json
import re
import resource
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ctad import CalibratedDetector, load
from ctad._frames import take_rows
from ctad.errors import DetectorError, InputError
from ctad.persistence import ModelFileError

SECONDS = 10  # of computing: what takes longer hangs
MEMORY = 2**29  # bytes that loading and scoring may take, besides the following
MEMORY_PER_BYTE = 10  # of the file

# Errors of a detector that say that a description has a hole. A detector may refuse rows by a
# ValueError, unless it is about shapes.
HOLES = (
    *(AttributeError, TypeError, LookupError, ArithmeticError, MemoryError, RecursionError),
    *(AssertionError, NotImplementedError),
)
TABLES = ("pandas", "polars", "pyarrow")
SHAPES = re.compile("broadcast|aligned|mismatch|expecting|inconsistent|dimension|shape|setting an")


@dataclass(frozen=True)
class Outcome:
    """What came of a model: it was refused, it scored rows, it refused rows, or it failed.

    Attributes
    ----------
    name : {"refused", "scored", "rows refused", "failed"}
    stage : {"load", "score"}
    error : str
        The type of the error, if there was one.
    message : str
    frame : str
        Where the error comes from.
    """

    name: str
    stage: str
    error: str = ""
    message: str = ""
    frame: str = ""


def outcome_of(open_model: Callable[[], Any], rows: Any, is_part: bool = False) -> Outcome:
    """Load a model and use it. A part of a model has no errors of ours around it."""
    stage, gets_tables = "load", False
    try:
        model = open_model()
        stage = "score"
        gets_tables = isinstance(model, CalibratedDetector) and model.input_.detector_form in TABLES
        use(model, rows_for(model, rows))
    except Exception as error:
        return _outcome(error, stage, is_part, gets_tables)
    return Outcome("scored", stage)


def _outcome(error: Exception, stage: str, is_part: bool, gets_tables: bool) -> Outcome:
    if stage == "load":
        name = "refused" if isinstance(error, ModelFileError) else "failed"
    else:
        if isinstance(error, DetectorError) and isinstance(error.__cause__, Exception):
            error, is_part = error.__cause__, True  # the error of the detector
        expected = isinstance(error, InputError) or (
            is_part
            # Only the rows tell whether there is text where a step expects numbers.
            and (not isinstance(error, HOLES) or (gets_tables and isinstance(error, TypeError)))
            and not (isinstance(error, ValueError) and SHAPES.search(str(error)))
        )
        name = "rows refused" if expected else "failed"
    last = traceback.extract_tb(error.__traceback__)[-1]
    frame = f"{short(last.filename)}:{last.lineno} {last.name}"
    return Outcome(name, stage, type(error).__name__, str(error)[:1000], frame)


def short(path: str) -> str:
    """The name of a module, without where it is installed."""
    return re.sub(r".*/(site-packages|src|lib/python[0-9.]+)/", "", path)


def rows_for(model: Any, rows: Any) -> Any:
    """Rows with the columns that a model asks for."""
    if isinstance(rows, pd.DataFrame):
        names = list(getattr(model, "feature_names_in_", ()))
        if not names:
            return rows_for(model, rows.select_dtypes("number").to_numpy())
        if names != list(rows.columns):
            old = list(rows.columns)
            taken = [name if name in old else old[i % len(old)] for i, name in enumerate(names)]
            return rows[taken].set_axis(names, axis=1)
    elif isinstance(rows, np.ndarray) and rows.ndim == 2:
        n_columns = getattr(model, "n_features_in_", rows.shape[1])
        if n_columns > 10**5:
            raise InputError("nobody has such rows")
        if n_columns != rows.shape[1]:
            return np.resize(rows, (len(rows), n_columns))
    return rows


def use(model: Any, rows: Any) -> None:
    """Do with a model what users do."""
    if isinstance(model, CalibratedDetector):
        if model.batch_dependent_:  # it may need as many rows as it was trained on
            rows = take_rows(rows, np.arange(128) % len(rows))
        model.predict(rows)
        if model.has_p_values:
            model.p_value(rows)
        str(model.explain(rows if model.batch_dependent_ else rows[:2]))
        return
    for method in ("transform", "decision_function", "predict", "delta", "anomaly_score"):
        if hasattr(model, method):
            getattr(model, method)(rows)
    if hasattr(model, "calibrate"):
        model.calibrate(np.linspace(0, 1, len(rows)), rows)
    if hasattr(model, "delta_parts"):  # explanations and reports
        model.delta_parts(rows)
        model.reference_points()


def limit_memory(n_bytes: float) -> None:
    """Limit the memory of this process to what it has now, and this much more."""
    now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + int(n_bytes), resource.RLIM_INFINITY))


@contextmanager
def limited_time(log: Any, seconds: float = SECONDS) -> Iterator[None]:
    """End this process, and write where it was, if the block computes too long, or stands still.

    The time of this process counts, because the machine may be busy.
    """
    faulthandler.register(signal.SIGPROF, log, chain=True)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    faulthandler.dump_traceback_later(30 * seconds, exit=True, file=log)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        faulthandler.cancel_dump_traceback_later()


def main(folder: str) -> None:
    """Print the name of each file of a folder, then what came of it, as lines of JSON."""
    from .files import FRAME, X_NEW

    warnings.simplefilter("ignore")
    faulthandler.enable()
    for path in sorted(Path(folder).glob("*.ctad")):
        print(json.dumps(path.stem), flush=True)
        rows = FRAME[:5] if path.name.startswith("table") else X_NEW[:5]
        size = path.stat().st_size
        limit_memory(MEMORY + MEMORY_PER_BYTE * size)
        with limited_time(sys.stderr, SECONDS + size / 10**6):
            outcome = outcome_of(lambda path=path: load(path), rows)
        print(json.dumps(vars(outcome)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
