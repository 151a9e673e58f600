"""CTAD: the term is what the paper says, and the parameters do what they say."""

import re
import warnings

import numpy as np
import ot
import pytest
from scipy.spatial.distance import cdist
from scipy.stats import spearmanr
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler

from ctad import CTAD
from ctad._progress import watching
from ctad.calibration import _ctad, what_to_expect
from ctad.transport import RowTransport, _row_transport

from ..calibrators import plain_ctad
from ..data import clusters, normal

X_TRAIN = clusters()
X_NEW = np.vstack([normal(20, 4, seed=1) * 4, X_TRAIN[:5]])
SCORES = normal(len(X_TRAIN), seed=2)
NEW_SCORES = normal(len(X_NEW), seed=3)


def transport_by_pot(calibrator, x, target_mass):
    """The plan of the paper's equation, by another library."""
    points = np.vstack([calibrator.references_, x])
    costs = cdist(points, calibrator.centroids_)
    return ot.emd(np.full(len(points), 1 / len(points)), target_mass, costs), costs


BY_HAND = {"target": "uniform", "signal": "total", "weight": 1.0}  # as one would write Algorithm 1


@pytest.mark.parametrize(
    "calibrator",
    [CTAD.from_preset("paper"), CTAD(5, 20, **BY_HAND), CTAD(**BY_HAND)],
    ids=["preset", "K and M", "auto"],
)
def test_the_term_is_the_papers_transport_distance(calibrator):
    calibrator = clone(calibrator).set_params(random_state=0).fit(X_TRAIN)
    expected = []
    for x in X_NEW:
        plan, costs = transport_by_pot(calibrator, x, np.full(5, 0.2))
        expected.append((plan * costs).sum())
    np.testing.assert_allclose(calibrator.delta(X_NEW), expected, rtol=1e-9)
    calibrated = calibrator.calibrate(NEW_SCORES, X_NEW)
    np.testing.assert_allclose(calibrated, NEW_SCORES + expected, rtol=1e-9)


def test_own_is_what_the_row_pays_in_it():
    calibrator = plain_ctad(signal="own", random_state=0).fit(X_TRAIN)
    expected = []
    for x in X_NEW:
        plan, costs = transport_by_pot(calibrator, x, np.full(5, 0.2))
        expected.append(plan[-1] @ costs[-1])
    np.testing.assert_allclose(calibrator.delta(X_NEW), expected, rtol=1e-9)


def test_sizes_put_mass_in_proportion_to_the_clusters():
    unequal = np.vstack([normal(150, 2), normal(50, 2, seed=1) + 20])
    calibrator = plain_ctad(2, 19, target="sizes", random_state=0).fit(unequal)
    larger_first = calibrator.centroids_[0, 0] < 10
    mass = np.array([0.75, 0.25] if larger_first else [0.25, 0.75])
    for x in unequal[::40]:
        plan, costs = transport_by_pot(calibrator, x, mass)
        assert calibrator.delta([x]) == pytest.approx((plan * costs).sum(), rel=1e-9)


def test_free_sends_each_row_to_its_nearest_centroid():
    total = plain_ctad(target="free", random_state=0).fit(X_TRAIN)
    own = plain_ctad(target="free", signal="own", random_state=0).fit(X_TRAIN)
    nearest = cdist(X_NEW, total.centroids_).min(axis=1)
    of_references = cdist(total.references_, total.centroids_).min(axis=1)
    np.testing.assert_allclose(own.delta(X_NEW), nearest / 21, rtol=1e-12)
    np.testing.assert_allclose(total.delta(X_NEW), (nearest + of_references.sum()) / 21, rtol=1e-12)


def test_references_are_distinct_training_rows_and_centroids_those_of_k_means():
    calibrator = plain_ctad(n_centroids=3, n_references=300, random_state=0).fit(X_TRAIN)
    in_order = np.lexsort(calibrator.references_.T)
    np.testing.assert_array_equal(calibrator.references_[in_order], X_TRAIN[np.lexsort(X_TRAIN.T)])
    # Three groups, 5 apart: k-means finds their means.
    groups = np.sort(calibrator.centroids_.mean(axis=1))
    np.testing.assert_allclose(groups, [0, 5, 10], atol=0.5)


def test_draws_are_averaged():
    calibrator = plain_ctad(n_draws=4, random_state=0).fit(X_TRAIN)
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
    inside = plain_ctad(feature_scaling=name, random_state=0).fit(train).delta(new)
    scaler.fit(train)
    before = plain_ctad(random_state=0).fit(scaler.transform(train)).delta(scaler.transform(new))
    np.testing.assert_allclose(inside, before, rtol=1e-9)


def test_draws_take_turns_in_several_scalings():
    train, new = X_TRAIN * [1.0, 10.0, 100.0, 1.0], X_NEW * [1.0, 10.0, 100.0, 1.0]
    calibrator = plain_ctad(n_draws=5, feature_scaling=(None, "minmax"), random_state=0).fit(train)
    scaled = MinMaxScaler().fit_transform(train)
    largest = [draw.references.max() for draw in calibrator.draws_]
    assert [value > 1.0 for value in largest] == [True, False, True, False, True]
    for draw in calibrator.draws_[1::2]:
        assert cdist(draw.references, scaled).min(axis=1).max() < 1e-12
    each = [draw.solve(new).total for draw in calibrator.draws_]
    np.testing.assert_allclose(calibrator.delta(new), np.mean(each, axis=0), rtol=1e-12)


def test_draws_see_random_columns_more_than_half_of_them():
    train, new = normal(200, 9), normal(50, 9, seed=1)
    calibrator = plain_ctad(n_draws=40, columns="random", random_state=0).fit(train)
    first, *others = calibrator.draws_
    assert calibrator.centroids_.shape == first.centroids.shape == (5, 9)
    seen = [draw.columns for draw in others]
    assert {len(columns) for columns in seen} == {5, 6, 7, 8, 9}
    assert all(len(set(columns)) == len(columns) for columns in seen)
    counts = np.bincount(np.concatenate(seen), minlength=9)
    assert counts.min() > 15  # of 39, each about 30 times
    for draw in others[:3]:
        alone = RowTransport(cdist(draw.references, draw.centroids))
        expected = alone.solve(cdist(new[:, draw.columns], draw.centroids)).total
        np.testing.assert_allclose(draw.solve(new).total, expected, rtol=1e-12)


@pytest.mark.parametrize("n_columns", [1, 2])
def test_few_columns_are_all_seen(n_columns):
    calibrator = plain_ctad(n_draws=5, columns="random", random_state=0).fit(normal(50, n_columns))
    assert all(len(draw.columns) == n_columns for draw in calibrator.draws_)


def test_relative_costs_are_multiples_of_what_is_usual_at_a_centroid():
    """A narrow group and a wide one: the same distance means more in the narrow one."""
    rows = np.vstack([0.1 * normal(1000, 2), 1000.0 + 10.0 * normal(1000, 2, seed=1)])
    calibrator = plain_ctad(2, target="free", signal="own", cost="relative", random_state=0).fit(
        rows
    )
    near_narrow, near_wide = calibrator.delta([[5.0, 0.0], [1005.0, 1000.0]]) * 21
    narrow, wide = np.sort(calibrator.draws_[0].radius)
    # The mean distances of rows from the mean of the others, drawn towards that of all by ten rows.
    groups = rows[:1000], rows[1000:]
    away = [np.linalg.norm(part - part.mean(axis=0), axis=1) * 1000 / 999 for part in groups]
    of_all = np.concatenate(away).mean()
    assert narrow == pytest.approx((away[0].sum() + 10 * of_all) / 1010)
    assert wide == pytest.approx((away[1].sum() + 10 * of_all) / 1010)
    assert near_narrow == pytest.approx(5.0 / narrow, rel=1e-2)
    assert near_wide == pytest.approx(5.0 / wide, rel=0.2)
    assert near_narrow > 10 * near_wide


@pytest.mark.parametrize("signal", ["total", "own"])
@pytest.mark.parametrize("n_centroids", [1, 5, 60, 300])
def test_terms_of_training_rows_are_those_of_rows_not_seen(n_centroids, signal):
    """Without a row, its centroid is the mean of the others; if there are none, it is not there."""
    calibrator = plain_ctad(n_centroids, target="free", signal=signal, random_state=0).fit(X_TRAIN)
    centroids = calibrator.centroids_
    labels = cdist(X_TRAIN, centroids).argmin(axis=1)
    own_or_total = plain_ctad(n_centroids, target="free", signal=signal, random_state=0).fit(
        X_TRAIN
    )
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
def test_terms_of_training_rows_are_those_of_any_rows_where_mass_is_fixed(target):
    calibrator = plain_ctad(target=target, random_state=0).fit(X_TRAIN)
    np.testing.assert_array_equal(calibrator.training_delta_, calibrator.delta(X_TRAIN))


def test_training_rows_that_k_means_did_not_see_are_like_new_rows():
    calibrator = plain_ctad(2, target="free", rows_per_centroid=10, random_state=0).fit(X_TRAIN)
    as_new = calibrator.training_delta_ == calibrator.delta(X_TRAIN)
    assert as_new.sum() >= 280
    assert (calibrator.training_delta_ >= calibrator.delta(X_TRAIN)).all()


@pytest.mark.parametrize("target", ["uniform", "sizes"])
def test_relative_costs_hold_for_references_too(target):
    calibrator = plain_ctad(target=target, cost="relative", random_state=0).fit(X_TRAIN)
    [draw] = calibrator.draws_
    costs = cdist(calibrator.references_, calibrator.centroids_) / draw.radius
    expected = RowTransport(costs, draw.target).solve(
        cdist(X_NEW, calibrator.centroids_) / draw.radius
    )
    np.testing.assert_allclose(calibrator.delta(X_NEW), expected.total, rtol=1e-12)


def test_k_means_learns_from_a_sample_of_many_rows():
    calibrator = plain_ctad(3, rows_per_centroid=20, n_draws=2, random_state=0).fit(X_TRAIN)
    on_all = plain_ctad(3, n_draws=2, random_state=0).fit(X_TRAIN)
    enough = plain_ctad(3, rows_per_centroid=100, n_draws=2, random_state=0).fit(X_TRAIN)
    np.testing.assert_array_equal(enough.delta(X_NEW), on_all.delta(X_NEW))
    assert not np.array_equal(calibrator.delta(X_NEW), on_all.delta(X_NEW))
    groups = np.sort(calibrator.centroids_.mean(axis=1))
    np.testing.assert_allclose(groups, [0, 5, 10], atol=1.0)


def test_the_same_seed_gives_the_same_bits_and_another_seed_others():
    first, again, other = (plain_ctad(n_draws=2, random_state=s).fit(X_TRAIN) for s in (0, 0, 1))
    np.testing.assert_array_equal(first.delta(X_NEW), again.delta(X_NEW))
    assert not np.array_equal(first.delta(X_NEW), other.delta(X_NEW))
    generator = plain_ctad(random_state=np.random.RandomState(0)).fit(X_TRAIN)
    np.testing.assert_array_equal(
        generator.delta(X_NEW), plain_ctad(random_state=0).fit(X_TRAIN).delta(X_NEW)
    )


@pytest.mark.parametrize("target", ["uniform", "sizes", "free"])
def test_a_row_does_not_depend_on_its_company(target, monkeypatch):
    calibrator = plain_ctad(7, 30, target=target, n_draws=2, random_state=0).fit(X_TRAIN)
    rows = normal(20_001, 4, seed=5)
    together = calibrator.delta(rows)
    monkeypatch.setattr(_row_transport, "BLOCK_NUMBERS", 2**12)
    monkeypatch.setattr(_ctad, "CHUNK_ROWS", 7000)
    np.testing.assert_array_equal(clone_with_jobs(calibrator, 2).delta(rows), together)
    np.testing.assert_array_equal(calibrator.delta(rows[::-1])[::-1], together)
    np.testing.assert_array_equal(
        np.concatenate([calibrator.delta(part) for part in np.array_split(rows, 7)]), together
    )
    for row in (0, 9_999, 20_000):
        np.testing.assert_array_equal(calibrator.delta(rows[[row]]), together[[row]])


def clone_with_jobs(calibrator, n_jobs):
    return clone(calibrator).set_params(n_jobs=n_jobs).fit(X_TRAIN)


def test_float32_is_scored_as_the_same_numbers_in_float64():
    calibrator = plain_ctad(random_state=0).fit(X_TRAIN)
    single = X_NEW.astype(np.float32)
    np.testing.assert_array_equal(
        calibrator.delta(single), calibrator.delta(single.astype(np.float64))
    )


# How score and term meet


def test_the_plain_sum():
    calibrator = plain_ctad(weight=0.3, random_state=0).fit(X_TRAIN)
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
    calibrator = plain_ctad(weight=0.5, score_scaling=scaling, random_state=0)
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
    calibrator = plain_ctad(score_scaling=scaling).fit(X_TRAIN)
    assert calibrator.delta(X_NEW).shape == (25,)
    with pytest.raises(ValueError, match=r"call fit\(X, scores=...\)"):
        calibrator.calibrate(NEW_SCORES, X_NEW)


@pytest.mark.parametrize("scaling", ["unit", "standard", "robust"])
def test_constant_scores_are_only_shifted(scaling):
    for constant in (7.0, 0.1, 1e9, 0.0):  # the mean of many 0.1 is not quite 0.1
        calibrator = plain_ctad(weight=0.0, score_scaling=scaling)
        calibrator.fit(X_TRAIN, scores=np.full(300, constant))
        calibrated = calibrator.calibrate([constant, constant + 2.0], X_NEW[:2])
        np.testing.assert_allclose(calibrated, [0.0, 2.0], atol=1e-6)


def test_terms_that_differ_by_rounding_only_are_constant():
    """Two rows are equally far from their centroid, up to rounding."""
    for seed in range(30):
        two = normal(2, 4, seed=seed)
        calibrator = plain_ctad(1, 2, target="free", score_scaling="standard", random_state=0)
        calibrator.fit(two, scores=[0.0, 1.0])
        assert np.abs(calibrator.calibrate([0.0, 1.0], two + 1.0)).max() < 100


@pytest.mark.parametrize("n_centroids", ["many", 100])
def test_few_distinct_rows_do_not_turn_rounding_into_a_scale(n_centroids):
    """With a centroid on every distinct row all training terms are zero, up to rounding."""
    random = np.random.default_rng(0)
    for rows in (
        random.integers(0, 3, (400, 3)).astype(float),
        random.normal(size=(10, 4)).round(2)[random.integers(0, 10, 300)],
        1000.0 + random.normal(size=(10, 4))[random.integers(0, 10, 300)],
    ):
        for scaling in ("standard", "robust"):
            for cost in ("distance", "relative"):
                calibrator = plain_ctad(
                    n_centroids, target="free", score_scaling=scaling, cost=cost, random_state=0
                )
                calibrator.fit(rows, scores=random.normal(size=len(rows)))
                assert np.abs(calibrator.calibrate([0.0], rows[:1] + 0.5)).max() < 1000


@pytest.mark.parametrize("unit", [1e-9, 1e6, 1e12, 1e18])
def test_the_unit_of_the_columns_does_not_matter_to_the_preset(unit):
    """Say, of a time in seconds or in nanoseconds."""
    plain, scaled = (
        CTAD.from_preset(random_state=0).fit(X_TRAIN * u, scores=SCORES) for u in (1.0, unit)
    )
    np.testing.assert_allclose(
        scaled.calibrate(NEW_SCORES, X_NEW * unit), plain.calibrate(NEW_SCORES, X_NEW), rtol=1e-6
    )


@pytest.mark.parametrize("far", [10.0, 100.0, 1e6])
def test_one_odd_training_row_does_not_silence_the_term(far):
    clean = CTAD.from_preset(random_state=0).fit(X_TRAIN, scores=SCORES)
    odd_rows = X_TRAIN.copy()
    odd_rows[0] += far
    odd = CTAD.from_preset(random_state=0).fit(odd_rows, scores=SCORES)
    far_out = X_TRAIN[1:21] + 9.0 * np.array([1, -1, 1, -1])
    terms = [c.calibrate(np.zeros(20), far_out).mean() for c in (clean, odd)]
    assert terms[1] > 0.3 * terms[0]


def test_auto_takes_at_most_a_third_of_the_distinct_rows():
    thirty = normal(30, 4)[np.arange(3000) % 30]
    assert CTAD(random_state=0).fit(thirty).centroids_.shape == (10, 4)


def test_what_is_set_after_fit_has_no_or_a_checked_effect():
    calibrator = plain_ctad(signal="total", random_state=0).fit(X_TRAIN)
    before = calibrator.delta(X_NEW)
    np.testing.assert_array_equal(calibrator.set_params(signal="own").delta(X_NEW), before)
    calibrator.set_params(weight=2.0)
    np.testing.assert_array_equal(
        calibrator.calibrate(NEW_SCORES, X_NEW), NEW_SCORES + 2.0 * before
    )
    with pytest.raises(ValueError, match="weight"):
        calibrator.set_params(weight=np.nan).calibrate(NEW_SCORES, X_NEW)


def test_a_failed_fit_leaves_nothing_fitted():
    calibrator = plain_ctad()
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        calibrator.fit(X_TRAIN, scores=SCORES[:-1])
    with pytest.raises(NotFittedError):
        calibrator.calibrate(NEW_SCORES, X_NEW)


def test_robust_scaling_of_mostly_equal_scores_uses_the_others():
    scores = np.zeros(300)
    scores[:12] = 5.0
    calibrator = plain_ctad(weight=0.0, score_scaling="robust").fit(X_TRAIN, scores=scores)
    assert calibrator.calibrate([3.0], X_NEW[:1])[0] == pytest.approx(3.0 / scores.std())


@pytest.mark.parametrize("noise", [0.0, 1e-6, 1e-3, 1e-2])
def test_robust_scaling_of_machines_that_mostly_rest_goes_by_the_others(noise):
    """Scores of 80 % of the rows are nearly equal: their noise is no measure."""
    random = np.random.default_rng(0)
    scores = np.where(
        np.arange(300) < 240, noise * random.normal(size=300), random.normal(size=300)
    )
    calibrator = plain_ctad(weight=0.0, score_scaling="robust").fit(X_TRAIN, scores=scores)
    low, high = np.percentile(scores, [5, 95])
    expected = (3.0 - np.median(scores)) * 2.439 / (high - low)
    assert calibrator.calibrate([3.0], X_NEW[:1])[0] == pytest.approx(expected)


# What can be known beforehand


def test_agreement_is_spearmans_correlation_of_training_scores_and_terms():
    calibrator = CTAD.from_preset(random_state=0).fit(X_TRAIN, scores=SCORES)
    expected = spearmanr(SCORES, calibrator.training_delta_).statistic
    assert calibrator.agreement_ == pytest.approx(expected)
    calibrator.fit(X_TRAIN, scores=calibrator.training_delta_ * 3.0 - 7.0)
    assert calibrator.agreement_ == pytest.approx(1.0)
    calibrator.fit(X_TRAIN, scores=np.full(300, 7.0))
    assert np.isnan(calibrator.agreement_)
    with pytest.warns(UserWarning, match="are infinite"):
        calibrator.fit(X_TRAIN, scores=np.where(np.arange(300) < 3, np.inf, SCORES))
    assert -1 < calibrator.agreement_ < 1
    assert not hasattr(plain_ctad().fit(X_TRAIN), "agreement_")
    assert not hasattr(calibrator.fit(X_TRAIN), "agreement_")


def test_less_is_expected_where_score_and_term_agree():
    said = [what_to_expect(agreement, 500) for agreement in (-1.0, 0.4, 0.6, 1.0)]
    gains = [float(re.search(r"added ([\d.]+) to AUC-PR", text)[1]) for text in said]
    assert gains == sorted(gains, reverse=True)
    assert len(set(gains)) == 4


def test_nothing_is_promised_where_nothing_is_known():
    assert "cannot be told: all training rows have the same" in what_to_expect(np.nan, 500)
    assert "cannot be told from 3 training rows" in what_to_expect(0.5, 3)


# Presets


def test_the_paper_preset_is_algorithm_1():
    parameters = CTAD.from_preset("paper").get_params()
    assert parameters == {
        "n_centroids": 5,
        "n_references": 20,
        "target": "uniform",
        "signal": "total",
        "weight": 1.0,
        "n_draws": 1,
        "score_scaling": "none",
        "feature_scaling": None,
        "columns": "all",
        "cost": "distance",
        "rows_per_centroid": None,
        "n_jobs": None,
        "random_state": None,
    }


def test_warnings_point_at_the_caller_even_without_a_module():
    with pytest.warns(UserWarning, match="only 2 training rows"):
        exec("from ctad import CTAD\nCTAD().fit([[0.0], [1.0]])", {})


def test_the_recommended_preset_is_the_default_and_can_be_changed():
    preset = CTAD.from_preset(weight=2.0, random_state=3)
    expected = CTAD.from_preset("recommended").set_params(weight=2.0, random_state=3)
    assert preset.get_params() == expected.get_params()
    preset.fit(X_TRAIN)
    assert preset.centroids_.shape == (100, 4)
    assert CTAD.from_preset("recommended").fit(X_TRAIN[:60]).centroids_.shape == (20, 4)
    with pytest.raises(ValueError, match="preset must be one of 'paper', 'recommended'"):
        CTAD.from_preset("best")


def test_without_settings_it_is_the_recommended_preset_to_the_bit():
    default, preset = (
        calibrator.fit(X_TRAIN, scores=SCORES)
        for calibrator in (CTAD(random_state=3), CTAD.from_preset("recommended", random_state=3))
    )
    np.testing.assert_array_equal(
        default.calibrate(NEW_SCORES, X_NEW), preset.calibrate(NEW_SCORES, X_NEW)
    )


def test_without_training_scores_the_default_says_what_it_needs():
    calibrator = CTAD(random_state=0).fit(X_TRAIN)
    assert np.isfinite(calibrator.delta(X_NEW)).all()
    with pytest.raises(ValueError, match=r"their scores are needed: call fit\(X, scores=\.\.\.\)"):
        calibrator.calibrate(NEW_SCORES, X_NEW)


@pytest.mark.parametrize("target", ["uniform", "sizes", "free"])
def test_auto_is_what_suits_the_target(target):
    """The recommended settings with a free target, the paper's with the others."""
    suiting = CTAD.from_preset("recommended" if target == "free" else "paper")
    suiting.set_params(target=target, signal="own", weight=2.0, random_state=0)
    default = CTAD(target=target, random_state=0)
    for calibrator in (suiting, default):
        calibrator.fit(X_TRAIN, scores=SCORES)
    np.testing.assert_array_equal(
        default.calibrate(NEW_SCORES, X_NEW), suiting.calibrate(NEW_SCORES, X_NEW)
    )
    for name, value in suiting.get_params().items():  # also what makes no difference to these rows
        assert default._of(name) == value, name


def test_plain_distances_in_different_units_are_not_averaged():
    calibrator = CTAD(cost="distance", random_state=0).fit(X_TRAIN * 1000.0)
    assert all((draw.scale == 1.0).all() for draw in calibrator.draws_)


@pytest.mark.parametrize("target", ["uniform", "sizes", "free"])
def test_a_preset_with_another_target_keeps_its_other_settings(target):
    calibrator = CTAD.from_preset(target=target, random_state=0).fit(X_TRAIN)
    assert [len(draw.centroids) for draw in calibrator.draws_] == [100] * 4
    assert (calibrator.draws_[0].radius != 1).any()


# Few rows


@pytest.mark.parametrize("n", [2, 3, 4, 6, 19, 20])
@pytest.mark.parametrize("target", ["uniform", "sizes", "free"])
def test_few_rows_reduce_k_and_m_with_one_warning(n, target):
    rows = X_TRAIN[:n]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        calibrator = plain_ctad(target=target, random_state=0).fit(rows)
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


def test_whoever_watches_is_told_how_far_it_is():
    seen = []
    with watching(lambda *progress: seen.append(progress)):
        plain_ctad(n_draws=2, random_state=0).fit(clusters())
    plain_ctad(random_state=0).fit(clusters())
    assert seen == [("Finding centroids", done, 2) for done in range(3)]
