"""Difficult transport problems, and two independent solvers."""

import warnings
from typing import NamedTuple

import numpy as np
import ot
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.sparse import block_array, eye_array, kron

rng_seeds = st.integers(0, 2**32 - 1)


class Problem(NamedTuple):
    references: np.ndarray
    centroids: np.ndarray
    rows: np.ndarray


@st.composite
def problems(draw, min_centroids=1, max_centroids=60, max_references=120, max_columns=50):
    """References, centroids and a few rows: ties, zeros, distant rows, many scales."""
    k = draw(st.integers(min_centroids, max_centroids))
    m = draw(st.integers(1, max_references))
    d = draw(st.integers(1, max_columns))
    random = np.random.default_rng(draw(rng_seeds))
    references = random.normal(size=(m, d))
    centroids = random.normal(size=(k, d))
    rows = random.normal(size=(4, d))
    if draw(st.booleans()):  # a grid: many distances are exactly equal
        references, centroids, rows = (np.round(p) for p in (references, centroids, rows))
    if draw(st.booleans()):  # two groups far apart
        references[m // 2 :] += 50.0
        centroids[k // 2 :] += 50.0
    if draw(st.booleans()):  # duplicated points
        references = references[random.integers(0, m, m)]
        centroids = centroids[random.integers(0, k, k)]
    if draw(st.booleans()):  # zero distances
        references[0] = centroids[0]
        rows[0] = centroids[-1]
    rows[1] *= 10.0 ** draw(st.integers(0, 6))  # an outlier
    scale = 10.0 ** draw(st.integers(-9, 9))
    if draw(st.booleans()):  # columns of very different scale
        scale = 10.0 ** random.uniform(-9, 9, d)
    return Problem(references * scale, centroids * scale, rows * scale)


def quotas(k, total, random):
    """K integers, some of them zero, that sum to `total`."""
    return np.bincount(random.integers(0, k, total), minlength=k)


def pot_value(source_mass, target_mass, costs):
    """The value by POT, with costs scaled to 1: at costs of 1e-9 POT stops too early."""
    unit = costs.max() or 1.0
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        return unit * ot.emd2(source_mass, target_mass, costs / unit)


def lp_value(source_mass, target_mass, costs):
    """The value by HiGHS, with costs scaled to 1, because its tolerances are absolute."""
    n, k = costs.shape
    nearest = costs.min(axis=1, keepdims=True)
    rest = costs - nearest
    unit = rest.max() or 1.0
    marginals = block_array(
        [[kron(eye_array(n), np.ones((1, k)))], [kron(np.ones((1, n)), eye_array(k))]]
    ).tocsr()
    solution = linprog(
        (rest / unit).ravel(),
        A_eq=marginals,
        b_eq=np.concatenate([source_mass, target_mass]) * n,
        method="highs-ds",
        options={"dual_feasibility_tolerance": 1e-10, "primal_feasibility_tolerance": 1e-10},
    )
    assert solution.status == 0, solution.message
    return float(source_mass @ nearest[:, 0]) + solution.fun * unit / n
