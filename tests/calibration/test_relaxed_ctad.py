"""RelaxedCTAD: many centroids, relative costs, draws with different columns and scalings."""

import re

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from scipy.stats import spearmanr
from sklearn.preprocessing import MinMaxScaler

from ctad import CTAD, RelaxedCTAD
from ctad.calibration import expected_gain
from ctad.transport import RowTransport

from ..data import clusters, normal

X_TRAIN = clusters()
X_NEW = np.vstack([normal(20, 4, seed=1) * 4, X_TRAIN[:5]])
SCORES = normal(len(X_TRAIN), seed=2)
NEW_SCORES = normal(len(X_NEW), seed=3)


def test_the_defaults():
    assert RelaxedCTAD().get_params() == {
        "n_centroids": 200,
        "n_references": 20,
        "weight": 2.0,
        "n_draws": 4,
        "score_scaling": "robust",
        "feature_scaling": (None, "minmax"),
        "columns": "random",
        "cost": "relative",
        "rows_per_centroid": 64,
        "n_jobs": None,
        "random_state": None,
    }


def test_the_number_of_centroids_used_is_a_fitted_attribute():
    calibrator = RelaxedCTAD(random_state=0).fit(X_TRAIN)
    assert calibrator.n_centroids_ == 100
    assert calibrator.centroids_.shape == (100, 4)
    assert RelaxedCTAD(random_state=0).fit(X_TRAIN[:60]).n_centroids_ == 20


def test_plain_distances_need_one_scaling():
    with pytest.raises(ValueError, match="needs a single feature_scaling"):
        RelaxedCTAD(cost="distance").fit(X_TRAIN)
    calibrator = RelaxedCTAD(cost="distance", feature_scaling="minmax", random_state=0)
    assert np.isfinite(calibrator.fit(X_TRAIN).delta(X_NEW)).all()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"feature_scaling": ()}, "feature_scaling is empty"),
        ({"feature_scaling": ("minmax", "log")}, "feature_scaling must be one of"),
        ({"columns": "some"}, "columns must be one of 'all', 'random'"),
        ({"cost": "squared"}, "cost must be one of 'distance', 'relative'"),
        ({"rows_per_centroid": 0}, "rows_per_centroid"),
        ({"n_centroids": 0}, "n_centroids"),
    ],
)
def test_wrong_parameters_are_named(changes, message):
    with pytest.raises(ValueError, match=message):
        RelaxedCTAD(**changes).fit(X_TRAIN)


def test_draws_alternate_between_scalings():
    train, new = X_TRAIN * [1.0, 10.0, 100.0, 1.0], X_NEW * [1.0, 10.0, 100.0, 1.0]
    calibrator = RelaxedCTAD(5, n_draws=5, columns="all", random_state=0).fit(train)
    scaled = MinMaxScaler().fit_transform(train)
    largest = [draw.references.max() for draw in calibrator.draws_]
    assert [value > 1.0 for value in largest] == [True, False, True, False, True]
    for draw in calibrator.draws_[1::2]:
        assert cdist(draw.references, scaled).min(axis=1).max() < 1e-12
    each = [draw.solve(new).own for draw in calibrator.draws_]
    np.testing.assert_allclose(calibrator.delta(new), np.mean(each, axis=0), rtol=1e-12)


def test_draws_use_a_random_majority_of_the_columns():
    train, new = normal(200, 9), normal(50, 9, seed=1)
    calibrator = RelaxedCTAD(
        5, n_draws=40, feature_scaling=None, cost="distance", random_state=0
    ).fit(train)
    first, *others = calibrator.draws_
    assert calibrator.centroids_.shape == first.centroids.shape == (5, 9)
    used = [draw.columns for draw in others]
    assert {len(columns) for columns in used} == {5, 6, 7, 8, 9}
    assert all(len(set(columns)) == len(columns) for columns in used)
    counts = np.bincount(np.concatenate(used), minlength=9)
    assert counts.min() > 15  # of 39, each about 30 times
    for draw in others[:3]:
        alone = RowTransport(cdist(draw.references, draw.centroids), "free")
        expected = alone.solve(cdist(new[:, draw.columns], draw.centroids)).total
        np.testing.assert_allclose(draw.solve(new).total, expected, rtol=1e-12)


@pytest.mark.parametrize("n_columns", [1, 2])
def test_few_columns_are_all_used(n_columns):
    calibrator = RelaxedCTAD(n_draws=5, random_state=0).fit(normal(50, n_columns))
    assert all(len(draw.columns) == n_columns for draw in calibrator.draws_)


def test_relative_costs_are_multiples_of_the_usual_distance_at_a_centroid():
    """A narrow group and a wide one: the same distance means more in the narrow one."""
    rows = np.vstack([0.1 * normal(1000, 2), 1000.0 + 10.0 * normal(1000, 2, seed=1)])
    calibrator = RelaxedCTAD(
        2, n_draws=1, feature_scaling=None, rows_per_centroid=None, random_state=0
    ).fit(rows)
    near_narrow, near_wide = calibrator.delta([[5.0, 0.0], [1005.0, 1000.0]]) * 21
    narrow, wide = np.sort(calibrator.draws_[0].radius)
    # The mean leave-one-out distances, shrunk to the overall mean as if by ten rows.
    groups = rows[:1000], rows[1000:]
    away = [np.linalg.norm(part - part.mean(axis=0), axis=1) * 1000 / 999 for part in groups]
    of_all = np.concatenate(away).mean()
    assert narrow == pytest.approx((away[0].sum() + 10 * of_all) / 1010)
    assert wide == pytest.approx((away[1].sum() + 10 * of_all) / 1010)
    assert near_narrow == pytest.approx(5.0 / narrow, rel=1e-2)
    assert near_wide == pytest.approx(5.0 / wide, rel=0.2)
    assert near_narrow > 10 * near_wide


def test_training_rows_that_k_means_did_not_use_are_like_new_rows():
    calibrator = RelaxedCTAD(2, n_draws=1, rows_per_centroid=10, random_state=0).fit(X_TRAIN)
    as_new = calibrator.training_delta_ == calibrator.delta(X_TRAIN)
    assert as_new.sum() >= 280
    assert (calibrator.training_delta_ >= calibrator.delta(X_TRAIN)).all()


def test_k_means_uses_a_sample_of_many_rows():
    calibrator = RelaxedCTAD(3, rows_per_centroid=20, n_draws=2, random_state=0).fit(X_TRAIN)
    on_all = RelaxedCTAD(3, rows_per_centroid=None, n_draws=2, random_state=0).fit(X_TRAIN)
    enough = RelaxedCTAD(3, rows_per_centroid=100, n_draws=2, random_state=0).fit(X_TRAIN)
    np.testing.assert_array_equal(enough.delta(X_NEW), on_all.delta(X_NEW))
    assert not np.array_equal(calibrator.delta(X_NEW), on_all.delta(X_NEW))
    groups = np.sort(calibrator.centroids_.mean(axis=1))
    np.testing.assert_allclose(groups, [0, 5, 10], atol=1.0)


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


@pytest.mark.parametrize("unit", [1e-9, 1e6, 1e12, 1e18])
def test_one_unit_for_all_columns_does_not_matter(unit):
    """For example, times in seconds or in nanoseconds."""
    plain, scaled = (
        RelaxedCTAD(random_state=0).fit(X_TRAIN * u, scores=SCORES) for u in (1.0, unit)
    )
    np.testing.assert_allclose(
        scaled.calibrate(NEW_SCORES, X_NEW * unit), plain.calibrate(NEW_SCORES, X_NEW), rtol=1e-6
    )


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
    said = [expected_gain(agreement, 500) for agreement in (-1.0, 0.4, 0.6, 1.0)]
    gains = [float(re.search(r"added ([\d.]+) to AUC-PR", text)[1]) for text in said]
    assert gains == sorted(gains, reverse=True)
    assert len(set(gains)) == 4


def test_without_evidence_no_gain_is_estimated():
    assert "cannot be estimated: all training rows have the same" in expected_gain(np.nan, 500)
    assert "cannot be estimated from 3 training rows" in expected_gain(0.5, 3)
