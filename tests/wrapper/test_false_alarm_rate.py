"""From scores to decisions: p-values, alarms and selections that keep what they promise."""

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
from ctad.wrapper._conformal import discoveries, fewest_discoveries

DETECTORS = {
    "IForest": lambda: IForest(n_estimators=10),
    "KNN": lambda: KNN(),
    "MCM": lambda: make("MCM", epochs=1, n_masks=3, show_progress=False),
}
# A calibrator that is quick to fit many times.
QUICK = {"n_centroids": 5, "n_draws": 1}


def quick(detector, seed, **more):
    calibrator = RelaxedCTAD(**QUICK)
    return CalibratedDetector(detector, calibrator, random_state=seed, **more)


def smooth(random, n):
    return random.normal(size=(n, 3))


def with_ties(random, n):
    """Few distinct rows, so that many scores are equal."""
    return random.integers(0, 2, size=(n, 3)).astype(float)


@pytest.mark.parametrize("rows_of", [smooth, with_ties])
@pytest.mark.parametrize("name", DETECTORS)
def test_p_values_of_normal_rows_are_valid(name, rows_of):
    """P(p <= a) <= a for every a, over training, holdout and new rows."""
    n_seeds, n_new, n_held_out = (12 if name == "MCM" else 50), 100, 40
    levels = np.array([0.025, 0.05, 0.1, 0.2, 0.5, 0.8])
    rates = []
    for seed in range(n_seeds):
        random = np.random.default_rng(seed)
        detector = quick(DETECTORS[name](), seed, holdout=0.4).fit(rows_of(random, 100))
        assert len(detector.calibration_scores_.score) == n_held_out
        p = detector.p_value(rows_of(random, n_new))
        rates.append((p[:, np.newaxis] <= levels).mean(axis=0))
    # Given the rows held out, the rate follows a beta distribution.
    spread = np.sqrt(levels * (1 - levels) * (1 / (n_held_out + 2) + 1 / n_new) / n_seeds)
    rate = np.mean(rates, axis=0)
    assert (rate <= levels + 4 * spread).all(), rate
    if rows_of is smooth:  # and not because they are all large
        assert (rate >= levels - 1 / (n_held_out + 1) - 4 * spread).all(), rate


@pytest.fixture(scope="module")
def cancer():
    X, benign = load_breast_cancer(return_X_y=True)
    return X[benign == 1], X[benign == 0]


@pytest.fixture(scope="module")
def fitted(cancer):
    normal, _ = cancer
    return CalibratedDetector(IsolationForest(), holdout=0.3, random_state=0).fit(normal)


def test_selected_rows_keep_the_false_discovery_rate():
    found, false = [], []
    for seed in range(60):
        random = np.random.default_rng(seed)
        detector = quick(KNN(), seed, holdout=0.5).fit(smooth(random, 600))
        new = smooth(random, 100)
        new[:20] += 4.0
        selected = detector.select(new, fdr=0.2)
        found.append(selected[:20].mean())
        false.append(selected[20:].sum() / max(selected.sum(), 1))
    assert np.mean(false) <= 0.2
    assert np.mean(found) > 0.8


def test_alarms_of_normal_rows_are_as_rare_as_asked_for():
    rates = []
    for seed in range(40):
        random = np.random.default_rng(seed)
        detector = quick(KNN(), seed, holdout=0.5).fit(smooth(random, 200))
        rates.append(detector.predict(smooth(random, 200), alarm_rate=0.05).mean())
    assert 0.03 < np.mean(rates) < 0.07


def test_what_the_numbers_mean(fitted, cancer):
    _, malignant = cancer
    known, scores = fitted.calibration_scores_.score, fitted.anomaly_score(malignant)
    p, percentile = fitted.p_value(malignant), fitted.percentile(malignant)
    for i in (0, 5, 50):
        assert p[i] == pytest.approx((1 + (known >= scores[i]).sum()) / (1 + len(known)))
        lower, equal = (known < scores[i]).mean(), (known == scores[i]).mean()
        assert percentile[i] == pytest.approx(100 * lower + 50 * equal)
    np.testing.assert_array_equal(fitted.score_parts(malignant).p_value, p)
    np.testing.assert_array_equal(fitted.predict(malignant, alarm_rate=0.05), p <= 0.05)
    assert fitted.select(malignant).mean() > 0.8
    assert fitted.select(malignant).dtype == bool


def test_infinite_scores_have_the_least_p_value(cancer):
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
    detector = CalibratedDetector(IsolationForest(), holdout=0.1, random_state=0)
    detector.fit(library(table))
    assert len(detector.calibration_scores_.score) == 30
    odd = library({"amount": [1e4], "plan": ["b"]})
    assert detector.p_value(odd).tolist() == [1 / 31]


def test_normal_rows_may_come_later(cancer):
    normal, malignant = cancer
    detector = quick(KNN(), 0).fit(normal[:200])
    for ask in (detector.p_value, detector.percentile, detector.select):
        with pytest.raises(ValueError, match=r"holdout=0\.2.*conformalize"):
            ask(malignant)
    with pytest.raises(ValueError, match="holdout"):
        detector.predict(malignant, alarm_rate=0.1)
    assert detector.score_parts(malignant).p_value is None
    assert detector.conformalize(normal[200:]) is detector
    assert detector.p_value(malignant).min() == 1 / 158
    # From now on the threshold is theirs: p = 15 / 158 for 14 of 157 above it.
    assert (detector.anomaly_score(normal[200:]) > detector.threshold_).sum() == 14
    detector.fit(normal)  # without them again
    assert detector.calibration_scores_ is None


def test_a_detector_trained_before_may_have_seen_the_rows_held_out(cancer):
    normal, _ = cancer
    frozen = FrozenEstimator(IsolationForest(random_state=0).fit(normal))
    with pytest.warns(UserWarning, match="IsolationForest was trained before"):
        quick(frozen, 0, holdout=0.2).fit(normal)


def test_functions_are_not_said_to_be_trained(cancer, recwarn):
    quick(lambda X: X[:, 0], 0, holdout=0.2, polarity="higher").fit(cancer[0])
    assert not recwarn.list


def test_equality_is_not_lost_by_rounding():
    """Five rows of 83 with the least p-value that 331 rows held out allow."""
    p = np.r_[np.full(5, 1 / 332), np.ones(78)]
    assert discoveries(p, 83 / 5 / 332).sum() == 5
    assert fewest_discoveries(83, 331, 83 / 5 / 332) == 5


def test_too_few_rows_held_out_are_told(cancer):
    normal, malignant = cancer
    detector = quick(KNN(), 0).fit(normal[:200]).conformalize(normal[200:219])
    with pytest.raises(ValueError, match=r"19 normal rows.*alarm_rate=0.01 needs 99"):
        detector.predict(malignant, alarm_rate=0.01)
    assert detector.predict(malignant, alarm_rate=0.05).any()
    mixed = np.vstack([normal[219:], malignant[:2]])
    with pytest.warns(UserWarning, match=r"fewer than 140 anomalies among 140.*2,800 to detect"):
        assert not detector.select(mixed, fdr=0.05).any()


def test_a_bad_row_is_named_by_its_place_in_the_whole(cancer):
    """Wherever it lands, and before anything is trained."""
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


def test_identifiers_are_seen_although_rows_are_held_out():
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


def test_too_few_rows_to_hold_some_out():
    with pytest.raises(ValueError, match="leaves 3 to train on and 0 to hold out"):
        quick(KNN(), 0, holdout=0.1).fit(np.eye(3))


def test_nothing_is_decided_before_fit(cancer):
    with pytest.raises(NotFittedError):
        quick(KNN(), 0, holdout=0.1).p_value(cancer[0])


def test_p_values_survive_a_file(fitted, cancer, tmp_path):
    _, malignant = cancer
    fitted.save(tmp_path / "model.ctad")
    loaded = load(tmp_path / "model.ctad")
    assert loaded.holdout == 0.3
    for ask in ("p_value", "percentile", "select"):
        ours, theirs = getattr(loaded, ask)(malignant), getattr(fitted, ask)(malignant)
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("thresholder", [IQR(), MAD(), FILTER(), CLF()])
def test_thresholds_of_pythresh_decide_as_in_pyod(thresholder, cancer, tmp_path):
    """With a term of no weight the calibrated scores are PyOD's own."""
    normal, malignant = cancer
    new = np.vstack([normal[200:], malignant])
    theirs = KNN(contamination=thresholder).fit(normal[:200])
    ours = CalibratedDetector(KNN(), CTAD(weight=0, random_state=0), contamination=thresholder)
    ours.fit(normal[:200])
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    np.testing.assert_array_equal(ours.predict(new), theirs.predict(new))
    assert (ours.labels_ == (ours.decision_scores_ > ours.threshold_)).all()
    # A row's label is its own.
    assert ours.predict(new[:1])[0] == ours.predict(new)[0]
    with pytest.raises(TypeError, match="set the detector's contamination to a number"):
        ours.save(tmp_path / "model.ctad")
    threshold = ours.threshold_
    ours.contamination = 0.1
    ours.save(tmp_path / "model.ctad")
    assert load(tmp_path / "model.ctad").threshold_ == threshold


@pytest.mark.parametrize("wrong", [IQR, "many", 0.7, object()])
def test_other_contaminations_are_refused(wrong, cancer):
    with pytest.raises(ValueError, match=r"\(0, 0.5\], or an object of PyThresh"):
        CalibratedDetector(KNN(), contamination=wrong).fit(cancer[0])


def test_a_threshold_beyond_all_training_scores(cancer):
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
