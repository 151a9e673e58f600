"""Rows that the tables of many descriptions share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .._kinds import (
    Array,
    Choice,
    Floats,
    Integer,
    Integers,
    Kind,
    Length,
    MayBeMissing,
    Names,
    Number,
    OneOf,
    require,
)

if TYPE_CHECKING:
    from .._description import Values
    from .._reader import Scope
    from .._writer import Writer


def SingleOrDouble(*shape: Length, **limits: Any) -> OneOf:  # noqa: N802 - reads as a kind
    """An array of float64, or of float32 if the object was fitted on such rows."""
    return OneOf((Floats(*shape, **limits), Array("float32", shape, **limits)))


POSITIVE = 1e-300  # the smallest number that values are divided by
PYTHON_STEP = 1000  # operations that a step of a Python loop may cost
# A transformer may give this many columns, or as many as it gets: a batch of rows must fit into
# memory, whatever the numbers in a small file say.
MAX_COLUMNS = 100_000


def check_width(n_columns: int, n_given: int | None) -> None:
    """Raise if a batch of rows with so many columns, made of those given, is too large."""
    most = max(n_given or 0, MAX_COLUMNS)
    require(n_columns <= most, f"more than {most:,} columns are made of {n_given or 0:,}")


# Some objects compute a number for each row of a batch and each of their own rows or components.
MAX_COMPARED = 100_000
# Operations of a longer step, such as a call of scikit-learn, for a batch and so also for a row.
CALL = 100_000


def check_compared(n: int) -> None:
    """Raise if a batch needs memory for each of too many rows or components."""
    require(n <= MAX_COMPARED, f"more than {MAX_COMPARED:,} rows or components to compare with")


# What every fitted estimator of scikit-learn has.
COLUMNS: dict[str, Kind] = {
    "n_features_in_": Integer(1, length="d"),
    "feature_names_in_": MayBeMissing(Names("d")),
}


@dataclass(frozen=True)
class Jobs(Kind):
    """A number of threads: null, 1, or -1, which is one per CPU and stands for all others."""

    def write(self, value: Any, writer: Writer) -> int | None:
        if value is not None:
            Integer(-(2**31), 2**31).write(value, writer)
        return None if value is None else 1 if value == 1 else -1

    def read(self, stored: Any, scope: Scope) -> Any:
        return Choice((None, 1, -1)).read(stored, scope)


N_JOBS = Jobs()


@dataclass(frozen=True)
class NoPrinting(Kind):
    """0 or false: a file cannot ask for printing, as it could print between the scores."""

    def __str__(self) -> str:
        return "0 or false"

    def write(self, value: Any, writer: Writer) -> int:
        return False if isinstance(value, bool) else 0

    def read(self, stored: Any, scope: Scope) -> Any:
        return Choice((0, False)).read(stored, scope)


VERBOSE = NoPrinting()


def each_column(values: Values, scope: Scope) -> int:
    """Operations per row of a loop of Python over the columns, for `Description.work`."""
    return PYTHON_STEP * scope.lengths["d"]


def columns_of(part: str) -> Callable[[Values, Scope], int | None]:
    """A detector gets the columns that the object inside gets."""
    return lambda values, scope: scope.n_in(values[part])


# What every fitted detector of PyOD has. Scores of training rows need not be finite: a density
# may be zero. A threshold object of PyThresh instead of a number is not described.
PYOD: dict[str, Kind] = {
    "decision_scores_": Floats("rows", finite=False, nan=True),
    "threshold_": Number(infinite=True, nan=True),
    "labels_": Integers("rows", low=0, high=1),
    "_mu": Number(infinite=True, nan=True),
    "_sigma": Number(0, infinite=True, nan=True),
    "_classes": Choice((2,)),
}
PYOD_CONTAMINATION = Number(POSITIVE, 0.5)
