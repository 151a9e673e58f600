"""Decisions by rows held out of training: p-values, alarms and selections keep their rates."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyod.models.iforest import IForest
from pyod.models.knn import KNN
from pythresh.thresholds.clf import CLF
from pythresh.thresholds.filter import FILTER
from pythresh.thresholds.iqr import IQR
from pythresh.thresholds.mad import MAD
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import IsolationForest
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator

from ctad import CTAD, CalibratedDetector, RelaxedCTAD, load
from ctad.detectors import make
from ctad.wrapper import ConformalDecisions
from ctad.wrapper._conformal_decisions import discoveries, fewest_discoveries

LEVELS = np.array([0.025, 0.05, 0.1, 0.2, 0.5, 0.8])


# ConformalDecisions on scores alone


def gaussian_scores(random, n):
    return random.normal(size=n)


def tied_scores(random, n):
    return random.integers(0, 5, n).astype(float)


@pytest.mark.parametrize("scores_of", [gaussian_scores, tied_scores])
def test_p_values_of_normal_scores_are_valid(scores_of):
    """P(p <= a) <= a for every a, on average over the normal scores."""
    n_normal, n_new, n_repeats = 39, 50, 2000
    rates = np.zeros(len(LEVELS))
    for seed in range(n_repeats):
        random = np.random.default_rng(seed)
        p = ConformalDecisions(scores_of(random, n_normal)).p_values(scores_of(random, n_new))
        rates += (p[:, np.newaxis] <= LEVELS).mean(axis=0) / n_repeats
    spread = np.sqrt(LEVELS * (1 - LEVELS) * (1 / (n_normal + 2) + 1 / n_new) / n_repeats)
    assert (rates <= LEVELS + 4 * spread).all(), rates
    if scores_of is gaussian_scores:  # exact, as all levels are multiples of 1 / 40
        assert (rates >= LEVELS - 4 * spread).all(), rates


def test_alarms_and_threshold_have_the_stated_rate():
    n_repeats, alarms, above = 1000, [], []
    for seed in range(n_repeats):
        random = np.random.default_rng(seed)
        decisions, new = ConformalDecisions(random.normal(size=99)), random.normal(size=100)
        alarms.append(decisions.alarms(new, 0.05).mean())
        above.append((new > decisions.threshold(0.05)).mean())
    assert alarms == above
    assert np.mean(alarms) == pytest.approx(0.05, abs=4 * np.sqrt(0.05 * 0.95 / 50 / n_repeats))


def test_selections_keep_the_false_discovery_rate():
    found, false = [], []
    for seed in range(500):
        random = np.random.default_rng(seed)
        scores = random.normal(size=100)
        scores[:20] += 4.0
        selected = ConformalDecisions(random.normal(size=300)).select(scores, fdr=0.2)
        found.append(selected[:20].mean())
        false.append(selected[20:].sum() / max(selected.sum(), 1))
    assert np.mean(false) <= 0.2
    assert np.mean(found) > 0.8


def test_values_by_hand():
    decisions = ConformalDecisions(np.array([1.0, 2.0, 2.0, 3.0]))
    scores = np.array([0.0, 2.0, 9.0, np.inf])
    assert decisions.p_values(scores).tolist() == [1.0, 0.8, 0.2, 0.2]
    assert decisions.percentiles(scores).tolist() == [0.0, 50.0, 100.0, 100.0]
    assert decisions.alarms(scores, 0.2).tolist() == [0, 0, 1, 1]
    assert decisions.select(scores[:0], 0.05).tolist() == []


def test_the_smallest_alarm_rate_has_a_threshold():
    with pytest.warns(UserWarning, match="too few"):
        assert ConformalDecisions(np.arange(9.0)).threshold(5e-324) == 8.0


def test_a_threshold_with_too_few_normal_scores_is_the_highest_of_them():
    assert ConformalDecisions(np.arange(9.0)).threshold(0.1) == 8.0
    message = r"8 normal rows .* too few for a false-alarm rate of 0.1, which needs 9: .* 0.111"
    with pytest.warns(UserWarning, match=message):
        assert ConformalDecisions(np.arange(8.0)).threshold(0.1) == 7.0


def test_equality_is_not_lost_by_rounding():
    """Five rows of 83 with the smallest p-value that 331 rows held out allow."""
    p = np.r_[np.full(5, 1 / 332), np.ones(78)]
    assert discoveries(p, 83 / 5 / 332).sum() == 5
    assert fewest_discoveries(83, 331, 83 / 5 / 332) == 5
    assert ConformalDecisions(np.arange(28.0)).threshold(3 / 29) == 25.0


def test_too_few_normal_scores_are_an_error_or_a_warning():
    decisions = ConformalDecisions(np.arange(19.0))
    with pytest.raises(ValueError, match=r"19 normal rows.*alarm_rate=0.01 needs 99"):
        decisions.alarms(np.zeros(3), 0.01)
    with pytest.warns(UserWarning, match=r"fewer than 140 anomalies among 140.*2,800 to detect"):
        assert not decisions.select(np.zeros(140), fdr=0.05).any()
    with pytest.warns(UserWarning, match="any number of them among 100 rows"):
        assert not decisions.select(np.zeros(100), fdr=0.01).any()


# CalibratedDetector with rows held out


def quick(detector, seed, **more):
    """A detector with a calibrator that is quick to fit many times."""
    calibrator = RelaxedCTAD(n_centroids=5, n_draws=1)
    return CalibratedDetector(detector, calibrator, random_state=seed, **more)


@pytest.fixture(scope="module")
def cancer():
    X, benign = load_breast_cancer(return_X_y=True)
    return X[benign == 1], X[benign == 0]


@pytest.fixture(scope="module")
def fitted(cancer):
    normal, _ = cancer
    forest = IsolationForest(n_estimators=50)
    return CalibratedDetector(forest, holdout=0.3, random_state=0).fit(normal)


@pytest.mark.parametrize(
    ("detector", "n_seeds"),
    [
        (KNN(), 40),
        (IForest(n_estimators=5), 20),
        (make("MCM", epochs=1, n_masks=3, show_progress=False), 4),
    ],
    ids=["KNN", "IForest", "MCM"],
)
def test_new_normal_rows_raise_alarms_at_the_stated_rate(detector, n_seeds):
    """Over training, rows held out and new rows; also above `threshold_`."""
    n_new, n_held_out, rate = 200, 99, 0.1
    p_values, alarms, flagged = [], [], []
    for seed in range(n_seeds):
        random = np.random.default_rng(seed)
        wrapped = quick(detector, seed, holdout=n_held_out / 200, contamination=rate)
        wrapped.fit(random.normal(size=(200, 3)))
        assert len(wrapped.calibration_scores_.score) == n_held_out
        new = random.normal(size=(n_new, 3))
        p_values.append((wrapped.p_value(new) <= rate).mean())
        alarms.append(wrapped.predict(new, alarm_rate=rate).mean())
        flagged.append(wrapped.predict(new).mean())
    assert p_values == alarms == flagged
    # For given rows held out, the rate follows a beta distribution.
    spread = np.sqrt(rate * (1 - rate) * (1 / (n_held_out + 2) + 1 / n_new) / n_seeds)
    assert np.mean(flagged) == pytest.approx(rate, abs=4 * spread)


def test_p_values_percentiles_and_selections(fitted, cancer):
    _, malignant = cancer
    known, scores = fitted.calibration_scores_.score, fitted.anomaly_score(malignant)
    p, percentile = fitted.p_value(malignant), fitted.percentile(malignant)
    for i in (0, 5, 50):
        assert p[i] == pytest.approx((1 + (known >= scores[i]).sum()) / (1 + len(known)))
        lower, equal = (known < scores[i]).mean(), (known == scores[i]).mean()
        assert percentile[i] == pytest.approx(100 * lower + 50 * equal)
    np.testing.assert_array_equal(fitted.score_parts(malignant).p_value, p)
    np.testing.assert_array_equal(fitted.predict(malignant, alarm_rate=0.05), p <= 0.05)
    assert fitted.select(malignant).mean() > 0.5
    assert fitted.select(malignant).dtype == bool
    assert fitted.has_p_values


def test_infinite_scores_have_the_smallest_p_value(cancer):
    normal, _ = cancer
    infinite = CalibratedDetector(
        lambda X: np.where(X[:, 0] > 20, np.inf, X[:, 0]), CTAD(random_state=0), polarity="higher"
    )
    detector = infinite.fit(normal[:100]).conformalize(normal[100:299])
    far = normal[:1] + 100
    assert detector.p_value(far).tolist() == [1 / 200]
    assert detector.percentile(far).tolist() == [100.0]


def test_held_out_rows_are_not_trained_on(cancer):
    normal, _ = cancer
    seen = []

    class Watching(KNN):
        def fit(self, X, y=None):
            seen.append(X)
            return super().fit(X, y)

    detector = CalibratedDetector(
        Watching(), CTAD(random_state=0), polarity="higher", holdout=0.25, random_state=3
    )
    detector.fit(normal)
    (trained,) = seen
    assert len(trained) == len(detector.decision_scores_) == 268
    known = {row.tobytes() for row in trained}
    held_out = np.array([row for row in normal if row.tobytes() not in known])
    assert len(held_out) == len(detector.calibration_scores_.score) == 89
    np.testing.assert_array_equal(
        detector.calibration_scores_.score, detector.anomaly_score(held_out)
    )


def test_the_same_seed_holds_out_the_same_rows(cancer):
    normal, malignant = cancer
    one, two = (quick(KNN(), 5, holdout=0.2).fit(normal) for _ in range(2))
    np.testing.assert_array_equal(one.p_value(malignant), two.p_value(malignant))
    other = quick(KNN(), 6, holdout=0.2).fit(normal)
    assert set(other.calibration_scores_.score) != set(one.calibration_scores_.score)


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_rows_of_tables_are_held_out(library):
    random = np.random.default_rng(0)
    table = {
        "amount": random.lognormal(size=300),
        "plan": random.choice(["a", "b"], 300).astype(object),
    }
    detector = quick(IsolationForest(n_estimators=20), 0, holdout=0.1).fit(library(table))
    assert len(detector.calibration_scores_.score) == 30
    odd = library({"amount": [1e4], "plan": ["b"]})
    assert detector.p_value(odd).tolist() == [1 / 31]


def test_normal_rows_may_be_passed_after_training(cancer):
    normal, malignant = cancer
    detector = quick(KNN(), 0).fit(normal[:200])
    assert not detector.has_p_values
    for method in (detector.p_value, detector.percentile, detector.select):
        with pytest.raises(ValueError, match=r"holdout=0\.2.*conformalize"):
            method(malignant)
    with pytest.raises(ValueError, match="holdout"):
        detector.predict(malignant, alarm_rate=0.1)
    assert detector.score_parts(malignant).p_value is None
    assert detector.conformalize(normal[200:]) is detector
    assert detector.p_value(malignant).min() == 1 / 158
    # The threshold follows them: 14 of 157 rows are above it, the next has p = 15 / 158.
    assert (detector.anomaly_score(normal[200:]) > detector.threshold_).sum() == 14
    np.testing.assert_array_equal(detector.labels_, detector.decision_scores_ > detector.threshold_)
    scores = detector.calibration_scores_
    with pytest.raises(ValueError, match="NaN"):
        detector.conformalize(np.full((5, 30), np.nan))
    assert detector.calibration_scores_ is scores
    detector.fit(normal)
    assert detector.calibration_scores_ is None


def test_a_detector_fitted_before_may_have_seen_the_rows_held_out(cancer):
    normal, _ = cancer
    frozen = FrozenEstimator(IsolationForest(n_estimators=5, random_state=0).fit(normal))
    with pytest.warns(UserWarning, match="IsolationForest was fitted before"):
        quick(frozen, 0, holdout=0.2).fit(normal)


def test_functions_are_not_called_fitted_before(cancer, recwarn):
    quick(lambda X: X[:, 0], 0, holdout=0.2, polarity="higher").fit(cancer[0])
    assert not recwarn.list


@pytest.mark.filterwarnings("ignore:first_of_batch scores a row differently")
def test_p_values_of_a_batch_dependent_detector_come_with_a_warning(cancer):
    def first_of_batch(X):
        return X[:, 0] - X[0, 0]

    detector = quick(first_of_batch, 0, holdout=0.2, polarity="higher").fit(cancer[0])
    with pytest.warns(UserWarning, match="p-values hold only for calls with rows like those held"):
        detector.p_value(cancer[1])


def test_a_bad_row_is_named_by_its_place_in_all_rows(cancer):
    """Whether it would be trained on or held out, and before anything is trained."""
    normal = cancer[0].copy()
    normal[150, 3] = np.nan
    table = pd.DataFrame(cancer[0], columns=map(str, range(30)))
    table.loc[150, "3"] = np.inf
    for seed in range(4):
        detector = quick(KNN(), seed, holdout=0.5)
        with pytest.raises(ValueError, match="column 3, row 150"):
            detector.fit(normal)
        with pytest.raises(ValueError, match=r"column '3' is infinite in row 150 \(1 of 357"):
            detector.fit(table)
        with pytest.raises(NotFittedError):
            detector.predict(cancer[0])
    with pytest.raises(TypeError, match="collect"):
        quick(KNN(), 0, holdout=0.5).fit(pl.LazyFrame({"a": [1.0, 2.0]}))


def test_identifiers_are_noticed_although_rows_are_held_out():
    random = np.random.default_rng(0)
    table = pd.DataFrame({"id": random.permutation(1000), "a": random.normal(size=1000)})
    for holdout in (None, 0.2, 0.8):
        with pytest.warns(UserWarning, match="not used: 'id'"):
            quick(KNN(), 0, holdout=holdout).fit(table)


@pytest.mark.parametrize("share", [0, 1, -0.1, "much", None, np.nan])
def test_shares_outside_of_0_and_1_are_refused(fitted, cancer, share):
    normal, malignant = cancer
    with pytest.raises(ValueError, match="fdr must be between 0 and 1"):
        fitted.select(malignant, fdr=share)
    with pytest.raises(ValueError, match="alpha must be between 0 and 1"):
        fitted.monitor(malignant, alpha=share)
    if share is not None:
        with pytest.raises(ValueError, match="alarm_rate must be between 0 and 1"):
            fitted.predict(malignant, alarm_rate=share)
        with pytest.raises(ValueError, match="holdout must be between 0 and 1"):
            quick(KNN(), 0, holdout=share).fit(normal)


def test_nothing_is_decided_before_fit(cancer):
    with pytest.raises(NotFittedError):
        quick(KNN(), 0, holdout=0.1).p_value(cancer[0])


def test_a_loaded_model_has_the_same_p_values(fitted, cancer, tmp_path):
    _, malignant = cancer
    fitted.save(tmp_path / "model.ctad")
    loaded = load(tmp_path / "model.ctad")
    assert loaded.holdout == 0.3
    for method in ("p_value", "percentile", "select"):
        ours, theirs = getattr(loaded, method)(malignant), getattr(fitted, method)(malignant)
        np.testing.assert_array_equal(ours, theirs)


# PyThresh objects in place of a share


@pytest.mark.parametrize("thresholder", [IQR(), MAD(), FILTER(), CLF()])
def test_thresholds_of_pythresh_are_those_of_pyod(thresholder, cancer, tmp_path):
    """With a term of weight 0 the calibrated scores are those of PyOD."""
    normal, malignant = cancer
    new = np.vstack([normal[200:], malignant])
    theirs = KNN(contamination=thresholder).fit(normal[:200])
    ours = CalibratedDetector(KNN(), CTAD(weight=0, random_state=0), contamination=thresholder)
    ours.fit(normal[:200])
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    np.testing.assert_array_equal(ours.predict(new), theirs.predict(new))
    assert (ours.labels_ == (ours.decision_scores_ > ours.threshold_)).all()
    assert ours.predict(new[:1])[0] == ours.predict(new)[0]
    with pytest.raises(ValueError, match="set the detector's contamination to a number"):
        ours.save(tmp_path / "model.ctad")
    threshold = ours.threshold_
    ours.conformalize(normal[200:])
    assert ours.threshold_ == threshold
    ours.contamination = 0.1
    ours.save(tmp_path / "model.ctad")
    assert load(tmp_path / "model.ctad").threshold_ == threshold


@pytest.mark.parametrize("wrong", [IQR, "many", 0.7, object()])
def test_other_contaminations_are_refused(wrong, cancer):
    with pytest.raises(ValueError, match=r"\(0, 0.5\], or an object of PyThresh"):
        CalibratedDetector(KNN(), contamination=wrong).fit(cancer[0])


def test_a_threshold_above_all_training_scores(cancer):
    class Never:
        thresh_ = 2.0

        def fit(self, scores):
            self.limit = scores.max() + 3 * np.ptp(scores)
            self.labels_ = self.eval(scores)
            return self

        def eval(self, scores):
            return (scores > self.limit).astype(int)

        def predict(self, scores):
            return self.eval(scores)

    detector = quick(KNN(), 0, contamination=Never()).fit(cancer[0])
    scores = detector.decision_scores_
    assert not detector.labels_.any()
    assert detector.threshold_ == pytest.approx(scores.max() + 3 * np.ptp(scores))
