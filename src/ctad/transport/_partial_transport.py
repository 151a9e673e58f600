"""Exact transport of one row to centroids that have room for a part of its mass each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ._costs import EuclideanCosts
from ._partial_placement import ROWS_AT_ONCE, place_rows_by_distance
from ._transport import Transport, Transported, check_finite

Floats = npt.NDArray[np.float64]

LARGEST_CAPACITY = 1e15
# The capacities of all centroids may be less than the mass by this share of it, for rounding.
TOLERANCE = 1e-9


class PartialTransport(Transport):
    r"""Transport rows to centroids with limited capacities,

    .. math::
        \min_{t \ge 0} \sum_j t_j c_j \quad\text{with}\quad
        t_j \le \text{capacity}_j, \quad \sum_j t_j = \text{mass} .

    The capacities sum to more than the mass, so that a row uses a part of them: those of its
    nearest centroids. To fill these first is exact, as in every continuous knapsack problem.

    If a centroid stands for the share p of all rows, the capacity mass * p / m spreads a row over
    the nearest share m of the rows. The cost is then the mean distance to them, times the mass: the
    distance to a measure [1]_.

    Parameters
    ----------
    capacity : array of shape (K,)
        The most mass that each centroid takes from a row.
    mass : float, default=1.0
        The mass of a row.

    Notes
    -----
    In results, `total` is the same as `own`: nothing but the row is transported.

    References
    ----------
    .. [1] F. Chazal, D. Cohen-Steiner, Q. Merigot: Geometric Inference for Probability Measures,
       2011.

    Examples
    --------
    >>> import numpy as np
    >>> transport = PartialTransport([0.5, 0.75])
    >>> row = transport.solve([[3.0, 1.0]], mass=True)
    >>> row.own, row.mass
    (array([1.5]), array([[0.25, 0.75]]))
    """

    def __init__(self, capacity: npt.ArrayLike, mass: float = 1.0) -> None:
        self.mass = float(mass)
        if not 0 < self.mass < np.inf:
            raise ValueError(f"mass must be a finite number > 0, not {mass!r}")
        self.capacity: Floats = np.array(capacity, dtype=np.float64)
        if (
            self.capacity.ndim != 1
            or not ((self.capacity >= 0) & (self.capacity <= LARGEST_CAPACITY)).all()
        ):
            raise ValueError(f"capacity must be K numbers from 0 to {LARGEST_CAPACITY:g}")
        if self.capacity.sum() < self.mass * (1 - TOLERANCE):
            raise ValueError(
                f"the capacities sum to {self.capacity.sum():g}, less than the mass {self.mass:g}"
            )
        self.n_centroids = len(self.capacity)

    def state(self) -> dict[str, Any]:
        """The problem as plain arrays, for `from_state`.

        Examples
        --------
        >>> PartialTransport([1.0, 1.0]).state()
        {'capacity': array([1., 1.])}
        """
        return {"capacity": self.capacity}

    @classmethod
    def from_state(cls, mass: float, state: Mapping[str, Any]) -> Self:
        """The same transport again.

        Parameters
        ----------
        mass : float
        state : mapping
            What `state()` returned. It is checked, because it may come from a file.

        Examples
        --------
        >>> again = PartialTransport.from_state(1.0, PartialTransport([1.0, 1.0]).state())
        >>> again.solve([[3.0, 2.0]]).own
        array([2.])
        """
        if set(state) != {"capacity"}:
            raise ValueError("the keys of a state must be {'capacity'}")
        return cls(state["capacity"], mass)

    @property
    def work(self) -> int:
        """Operations to place a row, at most, beyond its K costs: one takes as many as 64."""
        return ROWS_AT_ONCE * self.n_centroids**2

    def _solve_costs(self, costs: Floats, with_mass: bool) -> Transported:
        own = np.empty(len(costs))
        placed = np.zeros((len(costs) if with_mass else 0, self.n_centroids))
        place_rows_by_distance(costs, self.capacity, self.mass, own, placed)
        return Transported(own, own, placed if with_mass else None)

    def _solve_points(
        self, first: int, points: npt.NDArray[Any], costs: EuclideanCosts, with_mass: bool
    ) -> Transported:
        to_all = costs.to_all(points)
        check_finite(to_all, first)
        return self._solve_costs(to_all, with_mass)
