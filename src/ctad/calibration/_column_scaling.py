"""The space that distances are measured in: columns shifted, divided and, if wanted, bounded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler

from .._types import Floats, Rows

FEATURE_SCALINGS = (None, "standard", "robust", "minmax")

# No value is farther than this from the middle of the training values, in units of half their
# range. So neither a column that hardly varies in training nor one huge value rules all distances.
BOUND = 3.0
# Columns whose half range is below this share of their values are constant, up to rounding in
# single precision, in which new rows may be.
CONSTANT = 2e-6
SMALLEST_SCALE = 1e-200
SATURATED = 1e8  # from this multiple of the bound on, values equal the bound, as rounded


@dataclass(frozen=True, eq=False)
class ColumnScaling:
    """z = (x - shift) / scale and, with a bound, z / sqrt(1 + (z / bound)^2).

    Attributes
    ----------
    shift, scale : ndarray of shape (D,)
    bound : float or None
    """

    shift: Floats
    scale: Floats
    bound: float | None = None

    @classmethod
    def from_training(cls, name: str | None, rows: Floats) -> Self:
        """One of scikit-learn's scalings; the scale of a constant column is 1.

        Parameters
        ----------
        name : {None, "standard", "robust", "minmax"}
        rows : ndarray of shape (n, D)
        """
        if name is None:
            return cls(np.zeros(rows.shape[1]), np.ones(rows.shape[1]))
        if name == "minmax":
            scaler = MinMaxScaler().fit(rows)
            return cls(scaler.data_min_, 1.0 / scaler.scale_)
        if name == "robust":
            scaler = RobustScaler().fit(rows)
            return cls(scaler.center_, scaler.scale_)
        scaler = StandardScaler().fit(rows)
        return cls(scaler.mean_, scaler.scale_)

    @classmethod
    def by_range(cls, rows: Floats, of_all: Floats) -> Self:
        """Independent of units: the middle of the values is 0, and their ends are at -1 and 1.

        Where `rows` are constant, the range is that of all training rows. Where these are constant
        as well, every other value is at the bound.

        Parameters
        ----------
        rows, of_all : ndarray of shape (n, D), (m, D)
            The rows that matter, and all training rows.
        """
        ends = [(part.min(axis=0), part.max(axis=0)) for part in (rows, of_all)]
        # Halves first, because the difference of the largest numbers is not finite.
        (half, middle), (half_of_all, _) = (
            (0.5 * high - 0.5 * low, 0.5 * high + 0.5 * low) for low, high in ends
        )
        rounding = np.maximum(CONSTANT * np.abs(of_all).max(axis=0), SMALLEST_SCALE)
        scale = np.where(half > rounding, half, half_of_all)
        return cls(middle, np.maximum(scale, rounding), BOUND)

    def transform(self, rows: Rows) -> Floats:
        """Rows in this space."""
        if self.bound is None:
            return np.ascontiguousarray((rows - self.shift) / self.scale)
        with np.errstate(over="ignore"):  # infinity is at the bound, too
            points = np.ascontiguousarray((rows - self.shift) / self.scale)
            share = np.clip(points / self.bound, -SATURATED, SATURATED)
        bounded: Floats = self.bound * share / np.sqrt(1.0 + share * share)
        return bounded

    def inverse_transform(self, points: Floats) -> Floats:
        """Points of this space in the units of the rows."""
        if self.bound is not None:
            share = points / self.bound
            # At the bound itself, values may be as large as one likes.
            points = points / np.sqrt(np.maximum(1.0 - share * share, 1e-12))
        restored: Floats = points * self.scale + self.shift
        return restored
