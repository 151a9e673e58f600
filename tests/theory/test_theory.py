"""Each theorem of docs/theory.md, and attempts to break it."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment
from sklearn.datasets import load_breast_cancer, load_digits

from ctad import CTAD, RelaxedCTAD
from ctad.calibration import MahalanobisDistance
from ctad.theory import bounds, constants, detection_rate, lipschitz, separation, variance

# Equal points, points on a line, clusters of one row, extreme outliers.
values = st.sampled_from([0.0, 0.0, 1.0, 1.0, -1.0, 2.0, 10.0, 1e6, 1e-6]) | st.floats(
    -100, 100, width=16
)
tables = st.integers(1, 3).flatmap(
    lambda d: st.lists(st.lists(values, min_size=d, max_size=d), min_size=4, max_size=25)
)
common = {
    "n_centroids": st.integers(1, 9),
    "n_references": st.integers(1, 12),
    "n_draws": st.integers(1, 2),
    "random_state": st.integers(0, 5),
}
relaxed = st.builds(
    RelaxedCTAD,
    training=st.sampled_from(["mixed", "normal"]),
    mass_share=st.sampled_from([1e-6, 0.1, 0.3, 0.9]),
    trimmed=st.sampled_from([0.0, 0.2, 0.9]),
    **common,
)
settings_of_paper = {
    "target": st.sampled_from(["uniform", "sizes", "free"]),
    "feature_scaling": st.sampled_from([None, "minmax"]),
    **common,
}
total = st.builds(CTAD, **settings_of_paper)
own = st.builds(CTAD, signal=st.just("own"), **settings_of_paper)
calibrators = total | own | relaxed


fewer_examples = settings(max_examples=80)  # each fits a calibrator


def bounds_are_equal(calibrator):
    """The target is free, and there is no wide view."""
    if isinstance(calibrator, RelaxedCTAD):
        return calibrator.training == "normal"
    return calibrator.target == "free"


def fitted(calibrator, table):
    """Fit with at most as many centroids and references as rows, which gives no warning."""
    n = len(table)
    k, m = min(calibrator.n_centroids, n), min(calibrator.n_references, n)
    return calibrator.set_params(n_centroids=k, n_references=m).fit(table)


def assert_at_most(low, high, scale):
    """Assert `low <= high`, except for rounding."""
    assert (low <= high + 1e-9 * (1 + scale)).all(), (low, high)


@fewer_examples
@given(calibrators, tables)
def test_the_bounds_hold(calibrator, table):
    """Theorems 2 and 3, and the chain of lower bounds."""
    calibrator = fitted(calibrator, table)
    rows = np.vstack([table, np.array(table)[::-1] * 3 + 1, np.array(table) * 0])
    found = bounds(calibrator, rows)
    scale = found.term.max()
    for low, high in pairwise([found.paper, found.nearest, found.lower, found.term, found.upper]):
        assert_at_most(low, high, scale)
    if bounds_are_equal(calibrator):
        np.testing.assert_allclose(found.lower, found.term, rtol=1e-9, atol=1e-9 * (1 + scale))
    for draw, known in zip(calibrator.draws_, constants(calibrator), strict=True):
        k, m = len(draw.centroids), len(draw.references)
        is_uniform = isinstance(draw.target, str) and draw.target == "uniform"
        assert np.isfinite(known.slack) == (not is_uniform or k <= m + 1)


@fewer_examples
@given(total | relaxed, tables, st.integers(0, 100))
def test_the_term_changes_no_faster_than_the_row(calibrator, table, seed):
    """Theorem 4."""
    calibrator = fitted(calibrator, table)
    random = np.random.default_rng(seed)
    table = np.array(table)
    x = table[random.integers(len(table), size=10)] + random.normal(size=(10, table.shape[1]))
    y = x + random.choice([1e-6, 1.0, 100.0], size=(10, 1)) * random.normal(size=x.shape)
    terms = calibrator.delta(x), calibrator.delta(y)
    moved = np.linalg.norm(x - y, axis=1)
    assert_at_most(
        np.abs(terms[0] - terms[1]), lipschitz(calibrator) * moved, terms[0].max() + terms[1].max()
    )


@fewer_examples
@given(calibrators, tables, st.integers(0, 100))
def test_the_value_is_concave_and_does_not_fall_with_a_cost(calibrator, table, seed):
    """Theorem 4, in the costs."""
    calibrator = fitted(calibrator, table)
    random = np.random.default_rng(seed)
    transport, k = calibrator.draws_[0].transport, len(calibrator.centroids_)
    one, two = random.exponential(size=(2, 20, k)) * random.choice([0.1, 1.0, 50.0], (2, 20, 1))
    value = transport.solve(one).total
    other = transport.solve(two).total
    scale = value.max() + other.max()
    assert_at_most((value + other) / 2, transport.solve((one + two) / 2).total, scale)
    assert_at_most(value, transport.solve(np.maximum(one, two)).total, scale)
    furthest = np.abs(one - two).max(axis=1) / (transport.n_references + 1)
    assert_at_most(np.abs(value - other), furthest, scale)


@fewer_examples
@given(calibrators, tables, st.data())
def test_the_separation_is_at_least_the_guaranteed_one(calibrator, table, data):
    """Theorem 5, for any rows called anomalies."""
    calibrator = fitted(calibrator, table)
    y = np.array(data.draw(st.lists(st.booleans(), min_size=len(table), max_size=len(table))))
    y[:2] = [False, True]
    found = separation(calibrator, table, y)
    assert found.guaranteed <= found.measured + 1e-9 * (1 + abs(found.measured) + found.eta)
    if bounds_are_equal(calibrator):
        assert found.guaranteed == pytest.approx(found.measured, abs=1e-9 * (1 + found.eta))


@fewer_examples
@given(calibrators, tables)
def test_a_row_that_is_far_enough_is_detected(calibrator, table):
    """The corollary of Theorem 5."""
    calibrator = fitted(calibrator, table)
    rate = detection_rate(calibrator, table, alpha=0.0)
    assert rate.threshold == calibrator.delta(table).max()
    rows = np.vstack([np.array(table) * factor for factor in (-1.0, 3.0, 1e3, 1e7)])
    mean_cost = bounds(calibrator, rows).paper * (len(calibrator.references_) + 1)
    far = mean_cost > rate.needed_cost * (1 + 1e-9) + 1e-9
    assert (calibrator.delta(rows)[far] >= rate.threshold).all()
    assert 0 <= rate.guaranteed <= rate.measured <= 1


def test_shuffled_rows_are_detected_if_columns_depend_on_each_other():
    random = np.random.default_rng(0)
    digits = random.permutation(load_digits().data)[:900]

    def rate_on(X, calibrator):
        normal, unseen = X[: len(X) * 2 // 3], X[len(X) * 2 // 3 :]
        calibrator.fit(normal)
        return detection_rate(calibrator, normal, terms=calibrator.delta(unseen))

    assert rate_on(digits, RelaxedCTAD(random_state=0)).guaranteed > 0.9
    assert rate_on(digits, CTAD(random_state=0)).guaranteed < 0.1
    assert rate_on(random.normal(size=(900, 5)), RelaxedCTAD(random_state=0)).measured < 0.1


def test_constants_are_the_costs_of_the_references():
    """V(a e_j) by an assignment without the capacity that the row takes, in integer units."""
    random = np.random.default_rng(0)
    calibrator = CTAD(3, 5, random_state=0).fit(random.normal(size=(60, 2)))
    [known] = constants(calibrator)
    assert known.mass == 1 / 6
    assert known.slack == known.forced.max() - known.least
    draw = calibrator.draws_[0]
    costs = np.linalg.norm(draw.references[:, np.newaxis] - draw.centroids, axis=2)
    values = []
    for j in range(3):
        units = np.delete(np.repeat(np.arange(3), 2), 2 * j)  # two per centroid, minus one
        unit_costs = costs[:, units]
        values.append(unit_costs[linear_sum_assignment(unit_costs)].sum() / 6)
    np.testing.assert_allclose(known.forced, values)
    assert known.least == pytest.approx(min(values))


def test_with_more_centroids_than_points_there_is_no_upper_bound():
    X = np.random.default_rng(0).normal(size=(60, 2))
    calibrator = CTAD(12, 5, random_state=0).fit(X)
    assert constants(calibrator)[0].slack == np.inf
    found = bounds(calibrator, X)
    assert (found.upper == np.inf).all()
    assert (found.lower <= found.term).all()


def test_the_near_view_separates_as_much_as_the_nearest_centroids_do():
    X, benign = load_breast_cancer(return_X_y=True)
    train = X[benign == 1][:200]
    calibrator = RelaxedCTAD(training="normal", random_state=0).fit(train)
    found = separation(calibrator, X[200:], 1 - benign[200:])
    assert found.slack == 0
    assert found.measured == pytest.approx(found.guaranteed)
    assert found.eta > 2 * found.eps
    both = separation(RelaxedCTAD(random_state=0).fit(train), X[200:], 1 - benign[200:])
    assert (both.eps, both.eta) == (found.eps, found.eta)
    assert both.guaranteed <= both.measured
    paper = separation(CTAD(random_state=0).fit(train), X[200:], 1 - benign[200:])
    assert paper.measured > 0
    assert paper.guaranteed < paper.measured


@pytest.mark.parametrize("target", ["uniform", "sizes", "free"])
def test_the_variance_is_about_proportional_to_one_over_the_number_of_references(target):
    benign = load_breast_cancer().data[load_breast_cancer().target == 1]
    for X in (np.random.default_rng(0).normal(size=(2000, 4)), benign):
        total = CTAD(target=target, random_state=0).fit(X)
        found = variance(total, X, X[:20], n_references=(10, 40, len(X) + 1), repeats=100)
        assert list(found) == [10, 40]
        assert 2 < found[10] / found[40] < 8
        own = CTAD(target=target, signal="own", random_state=0).fit(X)
        of_own = variance(own, X, X[:20], n_references=(10, 40), repeats=20)
        if target == "free":
            assert of_own == {10: 0.0, 40: 0.0}
        else:
            assert of_own[10] / of_own[40] > found[10] / found[40]


def test_the_variance_of_a_free_target_is_known():
    """Theorem 6, for references drawn from many rows."""
    X = np.random.default_rng(0).normal(size=(5000, 3))
    calibrator = CTAD(target="free", random_state=0).fit(X)
    d = bounds(calibrator, X).paper * 21
    found = variance(calibrator, X, X[:1], n_references=(8, 50), repeats=3000)
    for m, value in found.items():
        assert value == pytest.approx(m / (m + 1) ** 2 * d.var(), rel=0.1)


def test_bad_input():
    with pytest.raises(TypeError, match="must be CTAD or RelaxedCTAD, not MahalanobisDistance"):
        constants(MahalanobisDistance().fit(np.eye(3)))
    calibrator = CTAD(1, 1, random_state=0).fit(np.eye(3))
    with pytest.raises(ValueError, match="0 for some, 1 for others"):
        separation(calibrator, np.eye(3), [0, 0, 0])
