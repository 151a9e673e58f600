"""A data set: rows with labels."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from .._arrow_bytes import table_bytes
from .._types import Floats
from ..errors import InputError


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Rows with labels.

    Parameters
    ----------
    name : str
    X : array of shape (n, D) or pyarrow.Table
        An array must have finite numbers only; it is stored as float64. Use a table for text,
        dates and missing values. `ctad.tables.TableEncoder`, fitted on training rows, converts it
        to numbers.
    y : array of shape (n,)
        1 or True = anomaly, 0 or False = normal; both must occur. Stored as booleans.

    Examples
    --------
    >>> from ctad.datasets import Dataset
    >>> dataset = Dataset("mine", [[0.0, 1.0], [0.5, 1.5], [9.0, 9.0]], [0, 0, 1])
    >>> dataset
    Dataset('mine', 2 columns, 3 rows, 1 of them anomalous)
    >>> dataset.y
    array([False, False,  True])
    """

    name: str
    X: Floats | pa.Table
    y: npt.NDArray[np.bool_]

    def __post_init__(self) -> None:
        X = _checked_table(self.X) if isinstance(self.X, pa.Table) else _checked_array(self.X)
        y = _checked_labels(self.y, X.shape[0])
        object.__setattr__(self, "X", X)
        object.__setattr__(self, "y", y)

    def __repr__(self) -> str:
        rows, columns = self.X.shape
        return (
            f"Dataset({self.name!r}, {columns:,} columns, {rows:,} rows, {self.n_anomalies:,} of "
            "them anomalous)"
        )

    @property
    def n_anomalies(self) -> int:
        """Number of anomalies."""
        return int(self.y.sum())

    @property
    def sha256(self) -> str:
        """SHA-256 of the values, which does not depend on the file format.

        For an array, the hashed bytes are the shape as two int64, X as float64 row by row with -0
        as 0, and y as uint8, all little-endian. For a table, they are its Arrow IPC stream without
        metadata, and y; that may change with the version of Arrow.
        """
        digest = hashlib.sha256()
        if isinstance(self.X, pa.Table):
            digest.update(table_bytes(self.X))
        else:
            digest.update(np.array(self.X.shape, dtype="<i8").tobytes())
            digest.update((self.X + 0.0).astype("<f8", copy=False).tobytes())  # -0.0 + 0.0 is 0.0
        digest.update(self.y.astype(np.uint8).tobytes())
        return digest.hexdigest()


def _checked_array(values: Any) -> Floats:
    X = np.asarray(values)
    if X.dtype.kind not in "biuf":
        raise InputError(f"X must be numbers, not of type {X.dtype}")
    if X.ndim != 2 or not X.size:
        raise InputError(f"X must have rows and columns, got shape {X.shape}")
    X = np.ascontiguousarray(X, dtype=np.float64)
    bad = (~np.isfinite(X)).sum(axis=0)
    if bad.any():
        listed = ", ".join(f"{bad[column]} in column {column}" for column in np.flatnonzero(bad))
        raise InputError(
            f"X has values that are NaN or infinite: {listed} (the first column is 0). Drop or "
            "impute them, or pass a table, in which values may be missing."
        )
    return X


def _checked_table(table: pa.Table) -> pa.Table:
    if not table.num_rows or not table.num_columns:
        raise InputError(f"X must have rows and columns, got shape {table.shape}")
    for name, column in zip(table.column_names, table.columns, strict=True):
        if pa.types.is_floating(column.type):
            infinite = pc.sum(pc.is_inf(column)).as_py()
            if infinite:
                raise InputError(
                    f"column {name!r} has {infinite} infinite values: drop or replace them"
                )
    return table


def _checked_labels(values: Any, n_rows: int) -> npt.NDArray[np.bool_]:
    y = np.asarray(values)
    if y.ndim == 2 and 1 in y.shape:  # MATLAB has no one-dimensional arrays
        y = y.ravel()
    if y.shape != (n_rows,):
        raise InputError(f"y must have a label for each of the {n_rows} rows, got shape {y.shape}")
    if y.dtype.kind not in "biuf" or not np.isin(y, (0, 1)).all():
        raise InputError("y must be 0 and 1 or False and True; 1 and True mean anomaly")
    anomalous = int(y.sum())
    if anomalous in (0, n_rows):
        raise InputError(
            f"{anomalous} of {n_rows} rows are labelled anomalous; both normal and anomalous rows "
            "are needed"
        )
    return y.astype(bool)
