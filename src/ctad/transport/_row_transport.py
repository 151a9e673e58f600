"""Exact optimal transport of "M references and one row" to K centroids, for many rows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

from ._costs import EuclideanCosts
from ._greedy_placement import (
    Floats,
    Integers,
    Placement,
    Table,
    copy_placement,
    cost_of_references,
    empty_placement,
    find_moves,
    n_states,
    place_references,
    place_rows_by_search,
    place_rows_by_table,
    table_of_values,
    values_of_states,
)
from ._solved_state import check_form, check_placement, check_reference_cost, check_values
from ._transport import BLOCK_NUMBERS, Transport, Transported, check_finite

# Above this many states a table costs more to fill than it saves, and leaves the cache.
MAX_STATES = 4096

# Placing the rows of a block takes at most about this many operations, so that Ctrl-C is noticed.
BLOCK_OPERATIONS = 2**28

Target = Literal["uniform", "free"] | npt.ArrayLike


class RowTransport(Transport):
    r"""Solve, for many rows against one fixed rest,

    .. math::
        \min_{T \ge 0} \sum_{ij} T_{ij} C_{ij} \quad\text{with}\quad
        T \mathbf 1 = \tfrac{1}{M+1} \mathbf 1, \quad T^\top \mathbf 1 = b,

    where the first M rows of `C` are the same for all and the last one is the row's.

    In units of mass that divide both 1/(M+1) and b this is an integer problem. The units of the row
    are placed one after the other, each where it costs least, including the extra cost of the
    references that make way for it. This greedy placement is exact, and needs no linear program
    per row [1]_.

    Parameters
    ----------
    reference_costs : array of shape (M, K)
        Cost from each reference to each centroid.
    target : "uniform", "free", or integers of shape (K,)
        The masses b. "uniform": 1/K each. Integers: multiples of 1/(M+1), which sum to M+1.
        "free": no condition on b, so that everything goes to its nearest centroid.

    Notes
    -----
    If several plans are optimal, `own` and `mass` are those of one of them. The choice is
    deterministic and depends on this row alone. If all states of a row fit in a table (at most
    4096, as with K=5, M=20 or whenever K divides M+1), its units are placed one at a time on the
    cheapest centroid, the one with the lowest index among equally cheap ones (as rounded).
    Otherwise they take the cheapest path to free capacity that Dijkstra's search finds first,
    settling equally distant centroids (as rounded) in the order of their index.

    References
    ----------
    .. [1] K. Murota: Discrete Convex Analysis, 2003, on M-natural-convex functions and
       why greedy placement minimises them.

    Examples
    --------
    >>> import numpy as np
    >>> references = np.array([[0.0], [1.0], [4.0]])
    >>> centroids = np.array([[0.5], [4.0]])
    >>> transport = RowTransport(np.abs(references - centroids.T))
    >>> row = transport.solve_points(np.array([[10.0]]), centroids, mass=True)
    >>> row.total, row.own, row.mass
    (array([1.75]), array([1.5]), array([[0.  , 0.25]]))
    """

    def __init__(self, reference_costs: npt.ArrayLike, target: Target = "uniform") -> None:
        costs = np.array(reference_costs, dtype=np.float64, order="C")
        if costs.ndim != 2 or 0 in costs.shape:
            raise ValueError(f"reference_costs must be M x K with M, K >= 1, not {costs.shape}")
        if not np.isfinite(costs).all():
            raise ValueError("reference_costs must be finite")
        m, k = costs.shape
        self._set_problem(m, k, target)
        if self._is_free:
            self._state: dict[str, Any] = {"reference_cost": float(costs.min(axis=1).sum())}
            return
        costs = np.ascontiguousarray(costs[:, self._with_mass])
        references = empty_placement(costs, self._capacity)
        place_references(references, self._units)
        if n_states(self._units, len(self._capacity)) <= MAX_STATES:
            cost = cost_of_references(references.placed, costs)
            self._state = {"values": values_of_states(references, cost, self._units)}
        else:
            self._state = {
                "costs": costs,
                "placed": references.placed,
                "potential": references.potential,
            }

    def _set_problem(self, n_references: int, n_centroids: int, target: Any) -> None:
        """Set what does not depend on costs."""
        self.n_references, self.n_centroids = n_references, n_centroids
        self._is_free = isinstance(target, str) and target == "free"
        self._units = 1
        if not self._is_free:
            self._units, capacity = self._units_and_capacity(target)
            # Nothing is ever sent to a centroid without mass.
            self._with_mass = np.flatnonzero(capacity)
            self._capacity = capacity[self._with_mass]
        self._unit_mass = 1.0 / (self._units * (self.n_references + 1))

    def _units_and_capacity(self, target: object) -> tuple[int, Integers]:
        """The units that each source has to place, and the units that each centroid takes."""
        n_sources, k = self.n_references + 1, self.n_centroids
        if isinstance(target, str):
            if target != "uniform":
                raise ValueError(f"target must be 'uniform', 'free' or integers, not {target!r}")
            divisor = math.gcd(k, n_sources)
            return k // divisor, np.full(k, n_sources // divisor, dtype=np.int64)
        capacity = np.asarray(target)
        if (
            capacity.shape != (k,)
            or capacity.dtype.kind not in "iu"
            or capacity.min() < 0
            or capacity.max() > n_sources  # a sum of such numbers might overflow
        ):
            raise ValueError(f"target must be {k} integers from 0 to M + 1 = {n_sources}")
        if capacity.sum() != n_sources:
            raise ValueError(f"target must sum to M + 1 = {n_sources}, not {capacity.sum()}")
        return 1, capacity.astype(np.int64)

    def state(self) -> dict[str, Any]:
        """The solved problem as plain numbers and arrays, for `from_state`.

        Returns
        -------
        dict
            With the target "free": "reference_cost", the cost of all references at their nearest
            centroids. If all states of a row fit in a table: "values", the least cost of the
            references in each state. Otherwise, for the K centroids with mass: "costs" (M, K), the
            units of each reference that are "placed" at each centroid (K, M), and the "potential"
            (K,) of the search.

        Examples
        --------
        >>> RowTransport([[0.0, 1.0], [2.0, 0.0]], "free").state()
        {'reference_cost': 0.0}
        """
        return self._state.copy()

    @classmethod
    def from_state(
        cls, n_references: int, n_centroids: int, target: Target, state: Mapping[str, Any]
    ) -> Self:
        """The same transport again; nothing is solved.

        Parameters
        ----------
        n_references, n_centroids : int
            M and K.
        target
            As for the original.
        state : mapping
            Its `state()`. It is checked, because it may come from a file.

        Returns
        -------
        RowTransport

        Examples
        --------
        >>> import numpy as np
        >>> original = RowTransport(np.ones((3, 2)))
        >>> again = RowTransport.from_state(3, 2, "uniform", original.state())
        >>> again.solve([[1.0, 2.0]]).total == original.solve([[1.0, 2.0]]).total
        array([ True])
        """
        transport = cls.__new__(cls)
        transport._set_problem(n_references, n_centroids, target)
        check_form(state, transport._is_free)
        if transport._is_free:
            check_reference_cost(state["reference_cost"])
        elif "values" in state:
            check_values(state["values"], transport._units, transport._capacity, MAX_STATES)
        else:
            check_placement(
                **state,
                n_references=n_references,
                units=transport._units,
                capacity=transport._capacity,
            )
        transport._state = dict(state)
        return transport

    @property
    def work(self) -> int:
        """Operations to place a row, at most, beyond the K costs and the numbers of `state`.

        Each unit may need a search that visits all centroids, and new moves for all of them.
        """
        if "placed" not in self._state:
            return 0
        k, n_placed = len(self._capacity), int(np.count_nonzero(self._state["placed"]))
        return self._units * k * (k + n_placed)

    @cached_property
    def _table(self) -> Table | None:
        if "values" not in self._state:
            return None
        return table_of_values(self._state["values"], self._units, self._capacity)

    @cached_property
    def _references(self) -> Placement:
        """The placed references with their moves, which need K x K numbers."""
        costs, placed, potential = (self._state[name] for name in ("costs", "placed", "potential"))
        references = empty_placement(
            np.ascontiguousarray(costs), self._capacity - placed.sum(axis=1)
        )
        references.placed[:] = placed
        references.potential[:] = potential
        find_moves(references)
        return references

    @cached_property
    def _reference_cost(self) -> float:
        if self._is_free:
            return float(self._state["reference_cost"])
        return cost_of_references(self._references.placed, self._references.costs)

    def _solve_costs(self, costs: Floats, with_mass: bool) -> Transported:
        if self._is_free:
            return self._send_to_nearest(costs.argmin(axis=1), costs.min(axis=1), with_mass)
        return self._place(costs, with_mass)

    def _solve_points(
        self, first: int, points: npt.NDArray[Any], costs: EuclideanCosts, with_mass: bool
    ) -> Transported:
        if self._is_free:
            least, nearest = costs.to_nearest(points)
            check_finite(least, first)
            return self._send_to_nearest(nearest, least, with_mass)
        to_all = costs.to_all(points)
        check_finite(to_all, first)
        return self._place(to_all, with_mass)

    @property
    def _goes_to_one_centroid(self) -> bool:
        return self._is_free

    def _rows_at_once(self, n_columns: int) -> int:
        if self._is_free:
            return max(16, BLOCK_NUMBERS // n_columns)
        rows = super()._rows_at_once(n_columns)
        if self._table is None:  # both are made before there are threads
            rows = min(rows, max(1, BLOCK_OPERATIONS // self.work))
            _ = self._references
        return rows

    def _send_to_nearest(self, nearest: Integers, costs: Floats, with_mass: bool) -> Transported:
        """Send all mass of each row to its nearest centroid."""
        mass = None
        if with_mass:
            mass = np.zeros((len(costs), self.n_centroids))
            mass[np.arange(len(costs)), nearest] = self._unit_mass
        total = self._unit_mass * (self._reference_cost + costs)
        return Transported(total, self._unit_mass * costs, mass, nearest)

    def _place(self, costs: Floats, with_mass: bool) -> Transported:
        """Place the units of each row where they cost least."""
        total, own = np.empty(len(costs)), np.empty(len(costs))
        mass = np.zeros((len(costs) if with_mass else 0, len(self._with_mass)))
        if len(self._with_mass) < self.n_centroids:
            costs = np.ascontiguousarray(costs[:, self._with_mass])
        if self._table is not None:
            place_rows_by_table(self._table, self._unit_mass, costs, total, own, mass)
        else:
            place_rows_by_search(
                self._references,
                copy_placement(self._references),
                self._reference_cost,
                self._units,
                self._unit_mass,
                costs,
                total,
                own,
                mass,
            )
        if not with_mass:
            return Transported(total, own)
        all_mass = np.zeros((len(costs), self.n_centroids))
        all_mass[:, self._with_mass] = mass
        return Transported(total, own, all_mass)
