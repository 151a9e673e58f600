"""CTAD: the term of the paper, and the parameters."""

import warnings

import numpy as np
import ot
import pytest
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler

from ctad import CTAD
from ctad._progress import Progress, on_progress
from ctad.calibration import _transport_calibrator
from ctad.errors import InputError
from ctad.transport import _row_transport

from ..data import clusters, normal

X_TRAIN = clusters()
X_NEW = np.vstack([normal(20, 4, seed=1) * 4, X_TRAIN[:5]])
SCORES = normal(len(X_TRAIN), seed=2)
NEW_SCORES = normal(len(X_NEW), seed=3)


def transport_by_pot(calibrator, x, target_mass):
    """The plan of the paper's equation, by POT."""
    points = np.vstack([calibrator.references_, x])
    costs = cdist(points, calibrator.centroids_)
    return ot.emd(np.full(len(points), 1 / len(points)), target_mass, costs), costs


def test_the_term_is_the_papers_transport_distance():
    calibrator = CTAD(random_state=0).fit(X_TRAIN)
    expected = []
    for x in X_NEW:
        plan, costs = transport_by_pot(calibrator, x, np.full(5, 0.2))
        expected.append((plan * costs).sum())
    np.testing.assert_allclose(calibrator.delta(X_NEW), expected, rtol=1e-9)
    calibrated = calibrator.calibrate(NEW_SCORES, X_NEW)
    np.testing.assert_allclose(calibrated, NEW_SCORES + expected, rtol=1e-9)


def test_own_is_the_part_that_the_row_pays():
    calibrator = CTAD(signal="own", random_state=0).fit(X_TRAIN)
    expected = []
    for x in X_NEW:
        plan, costs = transport_by_pot(calibrator, x, np.full(5, 0.2))
        expected.append(plan[-1] @ costs[-1])
    np.testing.assert_allclose(calibrator.delta(X_NEW), expected, rtol=1e-9)


def test_sizes_put_mass_in_proportion_to_the_clusters():
    unequal = np.vstack([normal(150, 2), normal(50, 2, seed=1) + 20])
    calibrator = CTAD(2, 19, target="sizes", random_state=0).fit(unequal)
    larger_first = calibrator.centroids_[0, 0] < 10
    mass = np.array([0.75, 0.25] if larger_first else [0.25, 0.75])
    for x in unequal[::40]:
        plan, costs = transport_by_pot(calibrator, x, mass)
        assert calibrator.delta([x]) == pytest.approx((plan * costs).sum(), rel=1e-9)


def test_free_sends_each_row_to_its_nearest_centroid():
    total = CTAD(target="free", random_state=0).fit(X_TRAIN)
    own = CTAD(target="free", signal="own", random_state=0).fit(X_TRAIN)
    nearest = cdist(X_NEW, total.centroids_).min(axis=1)
    of_references = cdist(total.references_, total.centroids_).min(axis=1)
    np.testing.assert_allclose(own.delta(X_NEW), nearest / 21, rtol=1e-12)
    np.testing.assert_allclose(total.delta(X_NEW), (nearest + of_references.sum()) / 21, rtol=1e-12)


def test_references_are_training_rows_and_centroids_come_from_k_means():
    calibrator = CTAD(n_centroids=3, n_references=300, random_state=0).fit(X_TRAIN)
    in_order = np.lexsort(calibrator.references_.T)
    np.testing.assert_array_equal(calibrator.references_[in_order], X_TRAIN[np.lexsort(X_TRAIN.T)])
    # Three groups, 5 apart: k-means finds their means.
    groups = np.sort(calibrator.centroids_.mean(axis=1))
    np.testing.assert_allclose(groups, [0, 5, 10], atol=0.5)


def test_draws_are_averaged():
    calibrator = CTAD(n_draws=4, random_state=0).fit(X_TRAIN)
    each = [draw.transport.solve_points(X_NEW, draw.centroids).total for draw in calibrator.draws_]
    assert len({values.tobytes() for values in each}) == 4
    np.testing.assert_allclose(calibrator.delta(X_NEW), np.mean(each, axis=0), rtol=1e-12)


@pytest.mark.parametrize(
    ("name", "scaler"),
    [("standard", StandardScaler()), ("robust", RobustScaler()), ("minmax", MinMaxScaler())],
)
def test_feature_scaling_is_that_of_scikit_learn(name, scaler):
    columns = np.array([1.0, 100.0, 1e-3, 1.0])
    train, new = X_TRAIN * columns, X_NEW * columns
    train[:, 3] = new[:, 3] = 7.0  # constant
    inside = CTAD(feature_scaling=name, random_state=0).fit(train).delta(new)
    scaler.fit(train)
    before = CTAD(random_state=0).fit(scaler.transform(train)).delta(scaler.transform(new))
    np.testing.assert_allclose(inside, before, rtol=1e-9)


@pytest.mark.parametrize("signal", ["total", "own"])
@pytest.mark.parametrize("n_centroids", [1, 5, 60, 300])
def test_terms_of_training_rows_are_leave_one_out_terms(n_centroids, signal):
    """Without a row, its centroid is the mean of its other rows; without others, it is missing."""
    calibrator = CTAD(n_centroids, target="free", signal=signal, random_state=0).fit(X_TRAIN)
    centroids = calibrator.centroids_
    labels = cdist(X_TRAIN, centroids).argmin(axis=1)
    own_or_total = CTAD(n_centroids, target="free", signal=signal, random_state=0).fit(X_TRAIN)
    offset = own_or_total.delta(centroids[:1])[0]  # what a row pays that is a centroid
    for row in range(0, 300, 7):
        others = (labels == labels[row]) & (np.arange(300) != row)
        without = centroids.copy()
        if others.any():
            without[labels[row]] = X_TRAIN[others].mean(axis=0)
        else:
            without = np.delete(without, labels[row], axis=0)
        expected = offset + cdist(X_TRAIN[[row]], without).min() / 21
        assert calibrator.training_delta_[row] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("target", ["uniform", "sizes"])
def test_with_fixed_mass_training_rows_have_the_terms_of_new_rows(target):
    calibrator = CTAD(target=target, random_state=0).fit(X_TRAIN)
    np.testing.assert_array_equal(calibrator.training_delta_, calibrator.delta(X_TRAIN))


def test_the_seed_decides_the_bits():
    first, again, other = (CTAD(n_draws=2, random_state=s).fit(X_TRAIN) for s in (0, 0, 1))
    np.testing.assert_array_equal(first.delta(X_NEW), again.delta(X_NEW))
    assert not np.array_equal(first.delta(X_NEW), other.delta(X_NEW))
    generator = CTAD(random_state=np.random.RandomState(0)).fit(X_TRAIN)
    np.testing.assert_array_equal(
        generator.delta(X_NEW), CTAD(random_state=0).fit(X_TRAIN).delta(X_NEW)
    )


@pytest.mark.parametrize("target", ["uniform", "sizes", "free"])
def test_a_term_does_not_depend_on_the_batch(target, monkeypatch):
    calibrator = CTAD(7, 30, target=target, n_draws=2, random_state=0).fit(X_TRAIN)
    rows = normal(20_001, 4, seed=5)
    together = calibrator.delta(rows)
    monkeypatch.setattr(_row_transport, "BLOCK_NUMBERS", 2**12)
    monkeypatch.setattr(_transport_calibrator, "CHUNK_ROWS", 7000)
    np.testing.assert_array_equal(clone_with_jobs(calibrator, 2).delta(rows), together)
    np.testing.assert_array_equal(calibrator.delta(rows[::-1])[::-1], together)
    np.testing.assert_array_equal(
        np.concatenate([calibrator.delta(part) for part in np.array_split(rows, 7)]), together
    )
    for row in (0, 9_999, 20_000):
        np.testing.assert_array_equal(calibrator.delta(rows[[row]]), together[[row]])


def clone_with_jobs(calibrator, n_jobs):
    return clone(calibrator).set_params(n_jobs=n_jobs).fit(X_TRAIN)


def test_float32_gives_the_same_terms_as_float64():
    calibrator = CTAD(random_state=0).fit(X_TRAIN)
    single = X_NEW.astype(np.float32)
    np.testing.assert_array_equal(
        calibrator.delta(single), calibrator.delta(single.astype(np.float64))
    )


# How score and term are added


def test_the_plain_sum():
    calibrator = CTAD(weight=0.3, random_state=0).fit(X_TRAIN)
    np.testing.assert_array_equal(
        calibrator.calibrate(NEW_SCORES, X_NEW), NEW_SCORES + 0.3 * calibrator.delta(X_NEW)
    )


def quartiles(values):
    return np.subtract(*np.percentile(values, [75, 25]))


@pytest.mark.parametrize(
    ("scaling", "of_scores", "of_delta"),
    [
        ("unit", (np.min, np.ptp), None),
        ("standard", (np.mean, np.std), (np.mean, np.std)),
        ("robust", (np.median, quartiles), (np.median, quartiles)),
    ],
)
def test_scaling_by_training_statistics(scaling, of_scores, of_delta):
    calibrator = CTAD(weight=0.5, score_scaling=scaling, random_state=0)
    calibrator.fit(X_TRAIN, scores=SCORES)
    train_delta = calibrator.delta(X_TRAIN)
    shift, scale = (measure(SCORES) for measure in of_scores)
    expected = (NEW_SCORES - shift) / scale
    shift, scale = (measure(train_delta) for measure in of_delta) if of_delta else (0.0, 1.0)
    expected += 0.5 * (calibrator.delta(X_NEW) - shift) / scale
    np.testing.assert_allclose(calibrator.calibrate(NEW_SCORES, X_NEW), expected, rtol=1e-12)
    one = calibrator.calibrate(NEW_SCORES[:1], X_NEW[:1])
    np.testing.assert_array_equal(one, calibrator.calibrate(NEW_SCORES, X_NEW)[:1])


@pytest.mark.parametrize("scaling", ["unit", "standard", "robust"])
def test_scaling_needs_the_training_scores(scaling):
    calibrator = CTAD(score_scaling=scaling).fit(X_TRAIN)
    assert calibrator.delta(X_NEW).shape == (25,)
    with pytest.raises(ValueError, match="needs the detector's training scores"):
        calibrator.calibrate(NEW_SCORES, X_NEW)


@pytest.mark.parametrize("scaling", ["unit", "standard", "robust"])
def test_constant_scores_are_only_shifted(scaling):
    for constant in (7.0, 0.1, 1e9, 0.0):  # the mean of many 0.1 is not quite 0.1
        calibrator = CTAD(weight=0.0, score_scaling=scaling)
        calibrator.fit(X_TRAIN, scores=np.full(300, constant))
        calibrated = calibrator.calibrate([constant, constant + 2.0], X_NEW[:2])
        np.testing.assert_allclose(calibrated, [0.0, 2.0], atol=1e-6)


def test_terms_that_differ_by_rounding_only_are_constant():
    """Two rows are equally far from their centroid, up to rounding."""
    for seed in range(30):
        two = normal(2, 4, seed=seed)
        calibrator = CTAD(1, 2, target="free", score_scaling="standard", random_state=0)
        calibrator.fit(two, scores=[0.0, 1.0])
        assert np.abs(calibrator.calibrate([0.0, 1.0], two + 1.0)).max() < 100


def test_parameters_set_after_fit():
    calibrator = CTAD(signal="total", random_state=0).fit(X_TRAIN)
    before = calibrator.delta(X_NEW)
    np.testing.assert_array_equal(calibrator.set_params(signal="own").delta(X_NEW), before)
    calibrator.set_params(weight=2.0)
    np.testing.assert_array_equal(
        calibrator.calibrate(NEW_SCORES, X_NEW), NEW_SCORES + 2.0 * before
    )
    with pytest.raises(ValueError, match="weight"):
        calibrator.set_params(weight=np.nan).calibrate(NEW_SCORES, X_NEW)


def test_a_failed_fit_leaves_nothing_fitted():
    calibrator = CTAD()
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        calibrator.fit(X_TRAIN, scores=SCORES[:-1])
    with pytest.raises(NotFittedError):
        calibrator.calibrate(NEW_SCORES, X_NEW)


def test_robust_scaling_of_mostly_equal_scores_uses_the_standard_deviation():
    scores = np.zeros(300)
    scores[:12] = 5.0
    calibrator = CTAD(weight=0.0, score_scaling="robust").fit(X_TRAIN, scores=scores)
    assert calibrator.calibrate([3.0], X_NEW[:1])[0] == pytest.approx(3.0 / scores.std())


@pytest.mark.parametrize("noise", [0.0, 1e-6, 1e-3, 1e-2])
def test_robust_scaling_of_mostly_nearly_equal_scores_uses_the_middle_90_percent(noise):
    """Scores of 80 % of the rows are nearly equal: their noise is not a scale."""
    random = np.random.default_rng(0)
    scores = np.where(
        np.arange(300) < 240, noise * random.normal(size=300), random.normal(size=300)
    )
    calibrator = CTAD(weight=0.0, score_scaling="robust").fit(X_TRAIN, scores=scores)
    low, high = np.percentile(scores, [5, 95])
    expected = (3.0 - np.median(scores)) * 2.439 / (high - low)
    assert calibrator.calibrate([3.0], X_NEW[:1])[0] == pytest.approx(expected)


def test_the_plain_sum_needs_no_training_scores():
    calibrator = CTAD(random_state=0).fit(X_TRAIN)
    np.testing.assert_array_equal(
        calibrator.calibrate(NEW_SCORES, X_NEW), NEW_SCORES + calibrator.delta(X_NEW)
    )


def test_the_numbers_in_use_are_fitted_attributes():
    calibrator = CTAD(7, 30, random_state=0).fit(X_TRAIN)
    assert (calibrator.n_centroids_, calibrator.n_references_) == (7, 30)
    with pytest.warns(UserWarning, match="only 6 training rows"):
        calibrator.fit(X_TRAIN[:6])
    assert (calibrator.n_centroids_, calibrator.n_references_) == (6, 6)
    assert calibrator.get_params()["n_centroids"] == 7


def test_the_defaults_are_algorithm_1():
    parameters = CTAD().get_params()
    assert parameters == {
        "n_centroids": 5,
        "n_references": 20,
        "target": "uniform",
        "signal": "total",
        "weight": 1.0,
        "n_draws": 1,
        "score_scaling": "none",
        "feature_scaling": None,
        "n_jobs": None,
        "random_state": None,
    }


def test_warnings_name_the_file_of_the_caller_even_without_a_module():
    with pytest.warns(UserWarning, match="only 2 training rows"):
        exec("from ctad import CTAD\nCTAD().fit([[0.0], [1.0]])", {})


# Few rows


@pytest.mark.parametrize("n", [2, 3, 4, 6, 19, 20])
@pytest.mark.parametrize("target", ["uniform", "sizes", "free"])
def test_few_rows_reduce_k_and_m_with_one_warning(n, target):
    rows = X_TRAIN[:n]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        calibrator = CTAD(target=target, random_state=0).fit(rows)
    assert calibrator.centroids_.shape == (min(5, n), 4)
    assert calibrator.references_.shape == (min(20, n), 4)
    assert np.isfinite(calibrator.delta(X_NEW)).all()
    messages = [str(w.message) for w in caught]
    if n == 20:
        assert messages == []
    elif n >= 5:
        assert messages == [f"only {n} training rows: using n_references={n} instead of 20."]
    else:
        assert messages == [
            f"only {n} training rows: using n_centroids={n} instead of 5 "
            f"and n_references={n} instead of 20."
        ]
    assert all(w.filename == __file__ for w in caught)


def test_progress_is_reported():
    seen = []
    with on_progress(seen.append):
        CTAD(n_draws=2, random_state=0).fit(clusters())
    CTAD(random_state=0).fit(clusters())
    assert seen == [Progress("Finding centroids", done, 2) for done in range(3)]


def test_scaled_values_that_are_too_large_are_refused():
    rows = X_TRAIN.copy()
    rows[:, 0] *= 1e-10
    rows[3, 0] = 1e95  # 1e105 times the range of the middle half
    assert CTAD().fit(rows)
    with pytest.raises(InputError, match="after feature_scaling='robust', too large"):
        CTAD(feature_scaling="robust").fit(rows)
