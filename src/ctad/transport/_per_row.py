"""Place each row anew where the table of states would be too large."""

import numpy as np

from ._compiled import compiled
from ._placement import Floats, Placement, place, restore


@compiled
def place_rows(
    references: Placement,
    scratch: Placement,
    reference_value: float,
    units: int,
    unit_mass: float,
    costs: Floats,
    total: Floats,
    own: Floats,
    mass: Floats,
) -> None:
    """Place every row of `costs`; fills `total`, `own` and, if it has rows, `mass`.

    `scratch` is a copy of `references`, and is one again at the end.
    """
    n, k_centroids = costs.shape
    sent = np.zeros(k_centroids, np.int64)
    for r in range(n):
        total[r] = unit_mass * (reference_value + place(scratch, costs[r], units, sent))
        paid = 0.0
        for j in range(k_centroids):
            paid += sent[j] * costs[r, j]
            if mass.shape[0] > 0:
                mass[r, j] = unit_mass * sent[j]
            sent[j] = 0
        own[r] = unit_mass * paid
        restore(scratch, references)
