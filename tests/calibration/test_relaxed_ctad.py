"""RelaxedCTAD: a near view of many centroids, and a wide view of a share of the training rows."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.distance import cdist
from scipy.stats import spearmanr
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score

from ctad import CTAD, CalibratedDetector, RelaxedCTAD
from ctad.calibration import expected_gain

from ..data import clusters, normal

X_TRAIN = clusters()
X_NEW = np.vstack([normal(20, 4, seed=1) * 4, X_TRAIN[:5]])
SCORES = normal(len(X_TRAIN), seed=2)
NEW_SCORES = normal(len(X_NEW), seed=3)
BOTH_KINDS = pytest.mark.parametrize("training", ["mixed", "normal"])


def test_the_defaults():
    assert RelaxedCTAD().get_params() == {
        "n_centroids": 300,
        "n_references": 20,
        "training": "mixed",
        "weight": 2.0,
        "n_draws": 1,
        "mass_share": 0.3,
        "trimmed": 0.2,
        "score_scaling": "robust",
        "rows_per_centroid": 64,
        "n_jobs": None,
        "random_state": None,
    }


def test_the_number_of_centroids_used_is_a_fitted_attribute():
    calibrator = RelaxedCTAD(random_state=0).fit(X_TRAIN)
    assert calibrator.n_centroids_ == 100
    assert calibrator.centroids_.shape == (100, 4)
    assert RelaxedCTAD(random_state=0).fit(X_TRAIN[:60]).n_centroids_ == 20


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"training": "clean"}, "training must be one of 'mixed', 'normal', not 'clean'"),
        ({"mass_share": 0.0}, "mass_share must be between 0 and 1, not 0.0"),
        ({"mass_share": 1.0}, "mass_share must be between 0 and 1, not 1.0"),
        ({"trimmed": 1.0}, "trimmed must be a number >= 0 and < 1, not 1.0"),
        ({"trimmed": -0.1}, "trimmed must be a number >= 0 and < 1, not -0.1"),
        ({"rows_per_centroid": 0}, "rows_per_centroid"),
        ({"n_centroids": 0}, "n_centroids"),
    ],
)
def test_wrong_parameters_are_named(changes, message):
    with pytest.raises(ValueError, match=message):
        RelaxedCTAD(**changes).fit(X_TRAIN)


# The two views


@pytest.mark.parametrize("n_draws", [1, 3])
def test_the_term_is_the_larger_mean_of_the_two_views(n_draws):
    calibrator = RelaxedCTAD(20, n_draws=n_draws, random_state=0).fit(X_TRAIN)
    views = [calibrator.draws_, calibrator.wide_draws_]
    assert [len(draws) for draws in views] == [n_draws, n_draws]
    means = [np.mean([draw.solve(X_NEW).own for draw in draws], axis=0) for draws in views]
    np.testing.assert_allclose(calibrator.delta(X_NEW), np.maximum(*means), rtol=1e-12)
    assert (means[0] > means[1]).any()
    assert (means[0] < means[1]).any()


def test_normal_training_has_the_near_view_only():
    both, near = (
        RelaxedCTAD(training=training, random_state=0).fit(X_TRAIN)
        for training in ("mixed", "normal")
    )
    assert near.wide_draws_ == []
    np.testing.assert_array_equal(near.delta(X_NEW), both.draws_[0].solve(X_NEW).own)
    assert (both.delta(X_NEW) >= near.delta(X_NEW)).all()


def test_the_near_view_is_a_multiple_of_the_usual_distance_at_a_centroid():
    """A narrow group and a wide one: the same distance means more in the narrow one."""
    rows = np.vstack([0.1 * normal(1000, 2), 100.0 + 10.0 * normal(1000, 2, seed=1)])
    calibrator = RelaxedCTAD(2, training="normal", rows_per_centroid=None, random_state=0).fit(rows)
    near_narrow, near_wide = calibrator.delta([[5.0, 0.0], [105.0, 100.0]])
    assert near_narrow > 10 * near_wide
    [draw] = calibrator.draws_
    inside = draw.transform(rows)
    groups = inside[:1000], inside[1000:]
    # The mean leave-one-out distances, shrunk to the overall mean as if by ten rows.
    away = [np.linalg.norm(part - part.mean(axis=0), axis=1) * 1000 / 999 for part in groups]
    of_all = np.concatenate(away).mean()
    expected = np.array([(part.sum() + 10 * of_all) / 1010 for part in away])
    np.testing.assert_allclose(np.divide(*np.sort(draw.radius)), expected[0] / expected[1])
    # A cost of 1 is that of three in four training rows.
    assert np.quantile(calibrator.training_delta_ * 21, 0.75) == pytest.approx(1.0)


@pytest.mark.parametrize("share", [0.05, 0.3, 0.9])
def test_the_wide_view_is_the_mean_distance_to_a_share_of_the_rows(share):
    calibrator = RelaxedCTAD(
        mass_share=share, trimmed=0.0, rows_per_centroid=None, random_state=0
    ).fit(X_TRAIN)
    [draw] = calibrator.wide_draws_
    # Each row at the centroid that stands for it: the mean of the nearest of 300 distances.
    at_centroids = cdist(draw.transform(X_TRAIN), draw.centroids).argmin(axis=1)
    distances = np.sort(cdist(draw.transform(X_NEW), draw.centroids[at_centroids]), axis=1)
    nearest = distances[:, : round(share * 300)].mean(axis=1)
    usual = draw.radius[0]
    np.testing.assert_allclose(draw.solve(X_NEW).own * 21, nearest / usual, rtol=1e-9)
    # A cost of 1 is that of three in four training rows.
    costs = np.quantile(21 * draw.solve(X_TRAIN).own, 0.75)
    assert costs == pytest.approx(1.0, abs=0.1)


def test_the_wide_view_leaves_out_the_rows_that_are_out_of_the_way():
    far = np.array([40.0, -40.0, 40.0, -40.0]) + normal(15, 4)
    rows = np.vstack([X_TRAIN, far])
    for trimmed, near_by in ((0.2, False), (0.0, True)):
        calibrator = RelaxedCTAD(trimmed=trimmed, random_state=0).fit(rows)
        [draw] = calibrator.wide_draws_
        centroids = draw.inverse_transform(draw.centroids)
        assert (cdist(centroids, far[:1]) < 20).any() == near_by


# Training rows


def dirty_clusters(seed, n, n_anomalies):
    """Rows of three groups, and anomalies close together elsewhere; labels."""
    random = np.random.default_rng(7)
    centres, elsewhere = random.normal(size=(3, 6)) * 4, random.normal(size=6) * 4
    random = np.random.default_rng(seed)
    rows = centres[random.integers(0, 3, n)] + random.normal(size=(n, 6))
    anomalies = elsewhere + 0.3 * random.normal(size=(n_anomalies, 6))
    return np.vstack([rows, anomalies]), np.arange(n + n_anomalies) >= n


@pytest.mark.parametrize("seed", range(3))
def test_anomalies_like_those_among_the_training_rows_are_found(seed):
    train, _ = dirty_clusters(seed, 950, 50)
    new, is_anomaly = dirty_clusters(seed + 100, 300, 100)
    mixed, normal_only = (
        roc_auc_score(
            is_anomaly, RelaxedCTAD(training=training, random_state=0).fit(train).delta(new)
        )
        for training in ("mixed", "normal")
    )
    assert mixed > 0.95
    assert normal_only < 0.5


@BOTH_KINDS
def test_training_rows_that_k_means_did_not_use_are_like_new_rows(training):
    """A new normal row exceeds the 90 % quantile of the training terms in 10 % of cases."""
    n, n_seeds, shares = 3000, 6, []
    for seed in range(n_seeds):
        random = np.random.default_rng(seed)
        calibrator = RelaxedCTAD(10, training=training, rows_per_centroid=10, random_state=seed)
        train, new = random.normal(size=(2, n, 4))
        limit = np.quantile(calibrator.fit(train).training_delta_, 0.9)
        shares.append((calibrator.delta(new) > limit).mean())
        as_new = np.isclose(calibrator.training_delta_, calibrator.delta(train), rtol=1e-12)
        assert n - 100 <= as_new.sum() < n
    deviation = np.sqrt(2 * 0.1 * 0.9 / (n * n_seeds))  # the quantile is random, too
    assert np.mean(shares) == pytest.approx(0.1, abs=3 * deviation)


@BOTH_KINDS
def test_terms_of_training_rows_are_nearly_those_of_new_rows(training):
    """k-means uses all rows and has a centroid for every third of them. Leave-one-out terms take
    most of the difference away."""
    known, plain = [], []
    for seed in range(4):
        random = np.random.default_rng(seed)
        train, new = random.normal(size=(500, 4)), random.normal(size=(2000, 4))
        calibrator = RelaxedCTAD(training=training, random_state=seed).fit(train)
        terms = calibrator.delta(new)
        known.append((terms > np.quantile(calibrator.training_delta_, 0.9)).mean())
        plain.append((terms > np.quantile(calibrator.delta(train), 0.9)).mean())
        assert (calibrator.training_delta_ >= calibrator.delta(train) * (1 - 1e-12)).all()
    assert np.mean(known) == pytest.approx(0.1, abs=0.06)
    assert np.mean(plain) - 0.1 > 2 * (np.mean(known) - 0.1)


def test_k_means_uses_a_sample_of_many_rows():
    calibrator = RelaxedCTAD(3, rows_per_centroid=20, n_draws=2, random_state=0).fit(X_TRAIN)
    on_all = RelaxedCTAD(3, rows_per_centroid=None, n_draws=2, random_state=0).fit(X_TRAIN)
    enough = RelaxedCTAD(3, rows_per_centroid=100, n_draws=2, random_state=0).fit(X_TRAIN)
    np.testing.assert_array_equal(enough.delta(X_NEW), on_all.delta(X_NEW))
    assert not np.array_equal(calibrator.delta(X_NEW), on_all.delta(X_NEW))
    _, centroids = calibrator.reference_points()
    np.testing.assert_allclose(np.sort(centroids.mean(axis=1)), [0, 5, 10], atol=1.0)


# Units


exponents = arrays(float, 4, elements=st.floats(-9, 9))
shifts = arrays(float, 4, elements=st.floats(-2, 2))


@BOTH_KINDS
@settings(max_examples=25)  # each fits a calibrator
@given(exponents, shifts, st.booleans())
def test_the_term_does_not_depend_on_units(training, exponents, shifts, with_constant):
    """For example, degrees Fahrenheit or Celsius, seconds or nanoseconds."""
    train, new = clusters(90), np.vstack([normal(20, 4, seed=1) * 4, clusters(90)[:5]])
    if with_constant:
        train[:, 3] = 1.0
        new[:10, 3] = 1.0
    a = 10.0**exponents
    plain, scaled = (
        RelaxedCTAD(training=training, random_state=0).fit(rows)
        for rows in (train, train * a + a * shifts)
    )
    same = {"rtol": 1e-9, "atol": 1e-12}
    np.testing.assert_allclose(scaled.training_delta_, plain.training_delta_, **same)
    parts, parts_scaled = plain.delta_parts(new), scaled.delta_parts(new * a + a * shifts)
    np.testing.assert_allclose(parts_scaled.delta, parts.delta, **same)
    np.testing.assert_allclose(parts_scaled.columns, parts.columns, **same)


@BOTH_KINDS
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", ["continuous", "counts", "rounded"])
def test_ties_are_decided_alike_in_all_units(training, kind, seed):
    """k-means and trimming compare numbers that are equal but for rounding."""
    random = np.random.default_rng(seed)
    rows = {
        "continuous": lambda: random.normal(size=(320, 4)),
        "counts": lambda: random.integers(0, 4, size=(320, 4)).astype(float),
        "rounded": lambda: random.normal(size=(320, 2)).round(1),
    }[kind]()
    plain = RelaxedCTAD(training=training, random_state=0).fit(rows[:300])
    for a, b in ((1e-9, 0.0), (1.0, 0.3), (0.7, 11.3)):
        scaled = RelaxedCTAD(training=training, random_state=0).fit(rows[:300] * a + b)
        np.testing.assert_allclose(scaled.training_delta_, plain.training_delta_, atol=1e-12)
        np.testing.assert_allclose(scaled.delta(rows * a + b), plain.delta(rows), atol=1e-12)


def test_a_constant_column_may_be_rounded_to_single_precision():
    train = np.column_stack([X_TRAIN, np.full(300, 0.1)])
    calibrator = RelaxedCTAD(random_state=0).fit(train)
    new = np.column_stack([X_NEW, np.full(len(X_NEW), 0.1)])
    exact, single = calibrator.delta(new), calibrator.delta(new.astype(np.float32))
    np.testing.assert_allclose(single, exact, atol=0.01 * np.median(exact))


@pytest.mark.parametrize(
    ("share", "auc_roc"), [(0.5, 0.99), (0.7, 0.99), (0.76, 0.95), (0.85, 0.8)]
)
def test_duplicated_rows_leave_both_views_a_scale(share, auc_roc):
    """Machines at rest: most rows are equal. A clump of anomalies in training is still seen."""
    random = np.random.default_rng(0)
    rows, new = random.normal(size=(2, 1000, 3))
    rows[: int(share * 1000)] = new[: int(share * 1000)] = 0.0
    clump = 6.0 + 0.1 * random.normal(size=(60, 3))
    calibrator = RelaxedCTAD(random_state=0).fit(np.vstack([rows, clump[:30]]))
    terms = calibrator.delta(np.vstack([new, clump[30:]]))
    assert roc_auc_score(np.arange(1030) >= 1000, terms) > auc_roc


@BOTH_KINDS
@pytest.mark.parametrize("spread", [0.0, 1e-15, 1e-9, 1e-3])
@pytest.mark.parametrize("middle", [0.0, 5.0, -1e9])
def test_a_column_that_hardly_varies_does_not_decide_alone(training, spread, middle):
    train = np.column_stack([X_TRAIN, middle + spread * normal(300, seed=5)])
    calibrator = RelaxedCTAD(training=training, random_state=0).fit(train)
    row = train[np.argmin(calibrator.training_delta_)]
    beyond = np.tile(row, (5, 1))
    beyond[1:, 4] += [1.0, 1e13, 1e90, 1e300]
    terms = calibrator.delta(beyond)
    assert terms[1] > terms[0]
    # As far as a value can be: 3 half-ranges from the middle, so at most 4 from another value.
    views = [*calibrator.draws_, *calibrator.wide_draws_]
    most = 4.0 / min(draw.radius.min() for draw in views) / 21
    assert terms.max() <= terms[0] + most
    assert (np.abs(terms[2:] - terms[2]) < 1e-6 * terms[2]).all()
    np.testing.assert_allclose(calibrator.delta_parts(beyond).columns.sum(axis=1), terms)


@BOTH_KINDS
@pytest.mark.parametrize("huge", [1e3, 1e12, 1e90])
def test_one_huge_training_value_does_not_silence_other_columns(training, huge):
    train = X_TRAIN.copy()
    train[0, 0] = huge
    calibrator = RelaxedCTAD(training=training, random_state=0).fit(train)
    odd = X_TRAIN[1:21].copy()
    odd[:, 2] += 25.0
    limit = np.quantile(calibrator.training_delta_, 0.98)
    assert (calibrator.delta(odd) > limit).all()
    assert calibrator.delta_parts(odd).columns.mean(axis=0).argmax() == 2


# Explanations


def test_an_explanation_names_the_centroids_of_the_view_that_decides():
    calibrator = RelaxedCTAD(20, n_draws=2, random_state=0).fit(X_TRAIN)
    parts = calibrator.delta_parts(X_NEW)
    np.testing.assert_allclose(parts.columns.sum(axis=1), parts.delta, rtol=1e-12)
    near = np.mean([draw.solve(X_NEW).own for draw in calibrator.draws_], axis=0)
    is_wide = parts.delta > near
    assert is_wide.any()
    assert not is_wide.all()
    moves = parts.moves
    np.testing.assert_array_equal(moves.draw >= 2, is_wide[moves.row])
    sums = np.zeros((len(X_NEW), 4))
    np.add.at(sums, (moves.row, moves.draw), moves.share)
    np.testing.assert_allclose(sums[:, 2:][is_wide], 1.0, rtol=1e-12)
    np.testing.assert_allclose(sums[:, :2][~is_wide], 1.0, rtol=1e-12)
    # At most the room of the centroid: its share of the rows, as a multiple of 0.3.
    for number, draw in enumerate(calibrator.wide_draws_, 2):
        here = moves.draw == number
        room = draw.transport.capacity * 21
        assert (moves.share[here] <= room[moves.centroid[here]] + 1e-12).all()
        assert (np.bincount(moves.row[here])[is_wide.nonzero()[0]] > 1).all()


def test_the_text_has_the_shares_of_the_wide_view():
    """For an anomaly that is near to others among the training rows."""
    train, is_anomaly = dirty_clusters(0, 950, 50)
    detector = CalibratedDetector(IsolationForest(n_estimators=5), random_state=0).fit(train)
    explanation = detector.explain(train[is_anomaly][:1])
    assert set(explanation.moves.draw) == {1}
    text = explanation.transport_text(0)
    shares = re.findall(r"(\d+)% of its mass goes to centroid \d+ of draw 1: ", text)
    assert len(shares) > 1
    assert 50 < sum(map(int, shares)) <= 102  # the largest four


# Batches


@BOTH_KINDS
def test_terms_do_not_depend_on_the_batch_to_the_last_bit(training):
    calibrator = RelaxedCTAD(training=training, random_state=0).fit(X_TRAIN)
    rows = np.vstack([normal(3000, 4, seed=4) * 4, X_TRAIN])
    terms = calibrator.delta(rows)
    alone = [calibrator.delta(rows[i : i + 1])[0] for i in range(0, len(rows), 50)]
    np.testing.assert_array_equal(terms[::50], alone)
    np.testing.assert_array_equal(terms[7:1500], calibrator.delta(rows[7:1500]))
    np.testing.assert_array_equal(terms[::-1], calibrator.delta(rows[::-1]))
    np.testing.assert_array_equal(terms, calibrator.delta_parts(rows).delta)
    threaded = RelaxedCTAD(training=training, n_jobs=2, random_state=0).fit(X_TRAIN)
    np.testing.assert_array_equal(terms, threaded.delta(rows))


# Few rows


@BOTH_KINDS
@pytest.mark.parametrize(
    "rows",
    [
        normal(50, 1),
        np.ones((50, 3)),
        normal(40, 3)[np.arange(50) // 25],
        normal(25, 2).repeat(2, 0),
    ],
    ids=["one column", "all equal", "two distinct rows", "each row twice"],
)
def test_unusual_training_rows(training, rows):
    calibrator = RelaxedCTAD(training=training, random_state=0).fit(rows, scores=rows[:, 0])
    new = np.vstack([rows, rows + 1.0, rows * 1e6])
    terms = calibrator.delta(new)
    assert np.isfinite(terms).all()
    assert np.isfinite(calibrator.calibrate(np.zeros(150), new)).all()
    assert terms[50:100].mean() > terms[:50].mean()
    np.testing.assert_allclose(calibrator.delta_parts(new).columns.sum(axis=1), terms)


@BOTH_KINDS
@pytest.mark.parametrize("n", [2, 3, 5])
@pytest.mark.parametrize("make_rows", [normal, lambda *shape: np.ones(shape)])
def test_few_training_rows(training, n, make_rows):
    """There are fewer centroids in silence, but fewer references with a warning, as documented."""
    rows = make_rows(n, 3)
    calibrator = RelaxedCTAD(training=training, random_state=0)
    with pytest.warns(UserWarning, match=f"only {n} training rows: using n_references={n}") as said:
        calibrator.fit(rows)
    assert len(said) == 1
    inside, outside = calibrator.delta(rows), calibrator.delta(rows + 100.0)
    assert np.isfinite(inside).all()
    assert (outside > inside.max()).all()
    assert np.isfinite(calibrator.training_delta_).all()


@pytest.mark.parametrize("n_centroids", [200, 100])
def test_few_distinct_rows_do_not_turn_rounding_into_a_scale(n_centroids):
    """If every distinct row is a centroid, all training terms are zero, up to rounding."""
    random = np.random.default_rng(0)
    for rows in (
        random.integers(0, 3, (400, 3)).astype(float),
        random.normal(size=(10, 4)).round(2)[random.integers(0, 10, 300)],
        1000.0 + random.normal(size=(10, 4))[random.integers(0, 10, 300)],
    ):
        scores = random.normal(size=len(rows))
        for scaling in ("standard", "robust"):
            for calibrator in (
                RelaxedCTAD(n_centroids, score_scaling=scaling, random_state=0),
                CTAD(n_centroids, target="free", score_scaling=scaling, random_state=0),
            ):
                calibrator.fit(rows, scores=scores)
                assert np.abs(calibrator.calibrate([0.0], rows[:1] + 0.5)).max() < 1000


@pytest.mark.parametrize("far", [10.0, 100.0, 1e6])
def test_one_outlier_in_training_does_not_remove_the_effect_of_the_term(far):
    clean = RelaxedCTAD(random_state=0).fit(X_TRAIN, scores=SCORES)
    odd_rows = X_TRAIN.copy()
    odd_rows[0] += far
    odd = RelaxedCTAD(random_state=0).fit(odd_rows, scores=SCORES)
    far_out = X_TRAIN[1:21] + 9.0 * np.array([1, -1, 1, -1])
    terms = [c.calibrate(np.zeros(20), far_out).mean() for c in (clean, odd)]
    assert terms[1] > 0.3 * terms[0]


def test_there_are_at_most_a_third_as_many_centroids_as_distinct_rows():
    thirty = normal(30, 4)[np.arange(3000) % 30]
    assert RelaxedCTAD(random_state=0).fit(thirty).centroids_.shape == (10, 4)


def test_without_training_scores_the_error_names_them():
    calibrator = RelaxedCTAD(random_state=0).fit(X_TRAIN)
    assert np.isfinite(calibrator.delta(X_NEW)).all()
    with pytest.raises(ValueError, match="needs the detector's training scores"):
        calibrator.calibrate(NEW_SCORES, X_NEW)


def test_agreement_is_spearmans_correlation_of_training_scores_and_terms():
    calibrator = RelaxedCTAD(random_state=0).fit(X_TRAIN, scores=SCORES)
    expected = spearmanr(SCORES, calibrator.training_delta_).statistic
    assert calibrator.agreement_ == pytest.approx(expected)
    calibrator.fit(X_TRAIN, scores=calibrator.training_delta_ * 3.0 - 7.0)
    assert calibrator.agreement_ == pytest.approx(1.0)
    calibrator.fit(X_TRAIN, scores=np.full(300, 7.0))
    assert np.isnan(calibrator.agreement_)
    with pytest.warns(UserWarning, match="are infinite"):
        calibrator.fit(X_TRAIN, scores=np.where(np.arange(300) < 3, np.inf, SCORES))
    assert -1 < calibrator.agreement_ < 1
    assert not hasattr(RelaxedCTAD().fit(X_TRAIN), "agreement_")
    assert not hasattr(calibrator.fit(X_TRAIN), "agreement_")


def test_the_expected_gain_decreases_with_agreement():
    said = [expected_gain(agreement, 500) for agreement in (-1.0, 0.6, 1.0)]
    gains = [float(re.search(r"added ([\d.]+) to AUC-PR", text)[1]) for text in said]
    assert gains == sorted(gains, reverse=True)
    assert len(set(gains)) == 3


def test_without_evidence_no_gain_is_estimated():
    assert "cannot be estimated: all training rows have the same" in expected_gain(np.nan, 500)
    assert "cannot be estimated from 3 training rows" in expected_gain(0.5, 3)
