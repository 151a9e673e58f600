"""Checks of a solved transport problem that comes from a file.

The compiled loops rely on what is checked here: they would never end if a reference that is to move
were not there, or if the units of a row did not fit. Checks take time and memory in proportion to
the arrays of the state.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ._greedy_placement import Integers, following_states, n_states

LARGEST_COST = 1e280  # sums over all units stay finite
# Rounding errors of potentials and values, as shares of the largest cost.
TOLERANCE = 1e-9

FORMS = ({"reference_cost"}, {"values"}, {"costs", "placed", "potential"})


def check_form(state: Mapping[str, Any], is_free: bool) -> None:
    """Raise unless a state has the keys of one of its forms."""
    forms = FORMS[:1] if is_free else FORMS[1:]
    _require(set(state) in forms, f"the keys of a state must be {' or '.join(map(str, forms))}")


def check_reference_cost(cost: Any) -> None:
    """Raise unless it is a number."""
    _require(
        isinstance(cost, int | float) and abs(cost) <= LARGEST_COST,
        f"reference_cost must be a number up to {LARGEST_COST:g}",
    )


def check_values(values: Any, units: int, capacity: Integers, max_states: int) -> None:
    """Raise unless V(w) is finite where the units of a row fit, and does not decrease if there are
    more of them."""
    wanted = n_states(units, capacity.size)
    _require(wanted <= max_states, "too many states for a table")
    _require(
        _is_array(values, np.float64, 1) and len(values) == wanted,
        f"values must be {wanted} numbers",
    )
    following, fits = following_states(units, capacity)
    finite = np.zeros(len(values), dtype=bool)
    finite[0] = True
    finite[following[fits]] = True
    _require((values[~finite] == np.inf).all(), "a value is finite where the units do not fit")
    largest = np.abs(values[finite]).max()
    _require(largest <= LARGEST_COST, f"a value is larger than {LARGEST_COST:g}")  # NaN, too
    state, _ = np.nonzero(fits)
    prices = values[following[fits]] - values[state]
    _require((prices >= -TOLERANCE * largest).all(), "values decrease")


def check_placement(
    costs: Any, placed: Any, potential: Any, *, n_references: int, units: int, capacity: Integers
) -> None:
    """Raise unless all units of the references are placed, and the potentials prove that no other
    placement costs less.

    The proof is linear programming's. Let u_i be the least C_ij + potential_j of reference i. If
    potentials are >= 0, and 0 where capacity is left, then the sum of units * u_i less that of
    capacity_j * potential_j is a lower bound of all placements. This one attains it if all units of
    reference i are where C_ij + potential_j is least.
    """
    m, k = n_references, capacity.size
    _require(
        _is_array(costs, np.float64, 2) and costs.shape == (m, k),
        f"costs must be {m} x {k} numbers",
    )
    largest = np.abs(costs).max()
    _require(largest <= LARGEST_COST, f"a cost is larger than {LARGEST_COST:g}")  # NaN, too
    _require(
        _is_array(placed, np.int64, 2) and placed.shape == (k, m),
        f"placed must be {k} x {m} integers",
    )
    _require(((placed >= 0) & (placed <= units)).all(), f"placed must be from 0 to {units}")
    _require((placed.sum(axis=0) == units).all(), "a reference is not placed completely")
    left = capacity - placed.sum(axis=1)
    _require((left >= 0).all(), "a centroid takes more than its capacity")
    tolerance = TOLERANCE * largest
    _require(
        _is_array(potential, np.float64, 1) and potential.shape == (k,),
        f"potential must be {k} numbers",
    )
    _require(
        ((potential >= 0) & (potential <= np.ptp(costs) + tolerance)).all(),
        "a potential is out of range",
    )
    _require((potential[left > 0] == 0).all(), "a potential is not 0 where capacity is left")
    with_potential = costs + potential
    above = with_potential - with_potential.min(axis=1, keepdims=True)
    _require((above[placed.T > 0] <= tolerance).all(), "the placement is not optimal")


def _is_array(value: Any, dtype: npt.DTypeLike, ndim: int) -> bool:
    return type(value) is np.ndarray and value.dtype == dtype and value.ndim == ndim


def _require(condition: object, message: str) -> None:
    if not condition:
        raise ValueError(message)
