"""What all neural detectors share: fitting, seeds, scores that do not depend on the batch."""

import io
import random
import sys

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score
from sklearn.utils.estimator_checks import parametrize_with_checks
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

from ctad import CalibratedDetector
from ctad._progress import Progress, on_progress
from ctad.detectors import KNOWN_DETECTORS, _neural_detector, make
from ctad.detectors._network import WORK_OF_A_NUMBER

from ..data import normal
from .small import SMALL, SMALL_OF_PYOD, TRAINED, small

X_TRAIN = normal(100, 5)
X_NEW = normal(300, 5, seed=1)  # more than the 256 rows that are scored at a time


@pytest.fixture(params=SMALL)
def name(request):
    return request.param


@pytest.fixture(scope="module", params=SMALL)
def fitted(request):
    """One detector of each class; tests must not change it."""
    return small(request.param).fit(X_TRAIN)


@pytest.fixture(scope="module")
def scores(fitted):
    """Of the fitted detector, for the new rows."""
    return fitted.decision_function(X_NEW)


def same(first, second):
    np.testing.assert_array_equal(first, second)


def weights(detector):
    return {key: value.clone() for key, value in detector.network_.state_dict().items()}


def same_weights(first, second):
    assert first.keys() == second.keys()
    return all(torch.equal(first[key], second[key]) for key in first)


def test_fit_gives_scores_threshold_labels_and_probabilities(fitted, scores):
    same(fitted.decision_function(X_TRAIN), fitted.decision_scores_)
    same(fitted.labels_, fitted.decision_scores_ > fitted.threshold_)
    assert fitted.labels_.sum() == 10  # contamination is 0.1
    same(fitted.predict(X_NEW), scores > fitted.threshold_)
    probabilities = fitted.predict_proba(X_NEW)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    low, high = fitted.decision_scores_.min(), fitted.decision_scores_.max()
    np.testing.assert_allclose(probabilities[:, 1], np.clip((scores - low) / (high - low), 0, 1))
    assert fitted.n_features_in_ == 5
    assert not hasattr(fitted, "feature_names_in_")


def test_contamination_is_the_share_above_the_threshold():
    assert small("DRL", contamination=0.3).fit(X_TRAIN).labels_.sum() == 30


def test_higher_scores_are_more_anomalous(name):
    x = normal(400, 1)
    dependent = np.hstack([x, -x, x, 2 * x]) + 0.05 * normal(400, 4, seed=1)
    detector = make(name, random_state=0, **TRAINED[name]).fit(dependent[:200])
    independent = np.random.default_rng(2).permuted(dependent[200:], axis=0)
    scores = detector.decision_function(np.vstack([dependent[200:], independent]))
    assert roc_auc_score(np.repeat([0, 1], 200), scores) > 0.8


def test_parameters_are_read_set_and_cloned(name):
    detector = small(name, contamination=0.2)
    assert detector.get_params() == {
        **KNOWN_DETECTORS[name.lower()].parameters,
        **{"contamination": 0.2, "random_state": 0, **SMALL[name]},
    }
    copy = clone(detector.set_params(learning_rate=0.01, device="cpu"))
    assert copy.get_params() == detector.get_params()
    with pytest.raises(ValueError, match="Invalid parameter 'rate'"):
        detector.set_params(rate=1)


def test_a_clone_is_not_fitted(fitted):
    with pytest.raises(NotFittedError):
        clone(fitted).decision_function(X_NEW)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks([small("DRL", epochs=1)])
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("name", ["DRL", "GOAD"])  # the second also keeps centres
def test_fitting_again_starts_anew(name):
    detector = small(name).fit(pd.DataFrame(normal(50, 3), columns=["a", "b", "c"]))
    assert list(detector.feature_names_in_) == ["a", "b", "c"]
    assert detector.fit(X_TRAIN) is detector
    assert not hasattr(detector, "feature_names_in_")
    same(detector.decision_scores_, small(name).fit(X_TRAIN).decision_scores_)


def test_after_a_failed_fit_the_detector_is_not_fitted():
    detector = small("DRL").fit(X_TRAIN)
    with pytest.raises(ValueError, match="contains NaN"):
        detector.fit(np.full((50, 5), np.nan))
    for method in (detector.decision_function, detector.predict, detector.predict_proba):
        with pytest.raises(NotFittedError):
            method(X_NEW)
    with pytest.raises(NotFittedError):
        detector.save("unused")


BAD_TABLES = {
    "too few columns": (X_NEW[:, :4], "X has 4 features, but .* is expecting 5"),
    "NaN": (np.where(X_NEW[7, 1] == X_NEW, np.nan, X_NEW), "contains NaN: column 1, row 7"),
    "infinity": (np.full((2, 5), np.inf), "contains infinity: column 0, row 0"),
    "text": (np.full((2, 5), "x"), "not numeric"),
    "no rows": (np.empty((0, 5)), "0 sample"),
}


@pytest.mark.parametrize("what", BAD_TABLES)
def test_bad_tables_are_refused(what):
    table, message = BAD_TABLES[what]
    with pytest.raises(ValueError, match=message):
        small("DRL").fit(X_TRAIN).decision_function(table)
    if what != "too few columns":
        with pytest.raises(ValueError, match=message):
            small("DRL").fit(table)


def test_columns_of_data_frames_are_checked_by_name():
    frame = pd.DataFrame(X_TRAIN, columns=list("abcde"))
    detector = small("DRL").fit(frame)
    same(detector.decision_scores_, small("DRL").fit(X_TRAIN).decision_scores_)
    with pytest.raises(ValueError, match="feature names should match"):
        detector.decision_function(frame[list("bacde")])


def global_random_state():
    return torch.get_rng_state().tolist(), str(np.random.get_state()), random.getstate()  # noqa: NPY002


@pytest.mark.parametrize("name", [*SMALL, *SMALL_OF_PYOD])
def test_the_seed_determines_the_scores_and_global_random_numbers_do_not(name):
    def fit_and_score(random_state):
        detector = small(name, random_state=random_state)
        assert global_random_state() == before
        detector.fit(X_TRAIN)
        assert global_random_state() == before
        scores = detector.decision_function(X_NEW[:100])
        assert global_random_state() == before
        return scores

    KNOWN_DETECTORS[name.lower()].import_class()  # importing PyOD may draw random numbers
    torch.manual_seed(0)
    before = global_random_state()
    first = fit_and_score(3)
    torch.manual_seed(1)
    before = global_random_state()
    same(fit_and_score(3), first)
    assert (fit_and_score(4) != first).any()
    assert (fit_and_score(None) != fit_and_score(None)).any()


def test_a_random_state_object_continues_from_fit_to_fit():
    def fit_twice():
        detector = small("DRL", random_state=np.random.RandomState(0))
        return [weights(detector.fit(X_TRAIN)) for _ in range(2)]

    first, second = fit_twice()
    assert not same_weights(first, second)
    assert same_weights(second, fit_twice()[1])


@pytest.mark.parametrize("n", [1, 2, 255, 256, 257])
def test_a_score_does_not_depend_on_the_number_of_rows(n, fitted, scores):
    same(fitted.decision_function(X_NEW[:n]), scores[:n])


def test_a_score_does_not_depend_on_the_other_rows_or_their_order(fitted, scores):
    order = np.random.default_rng(0).permutation(300)
    same(fitted.decision_function(X_NEW[order]), scores[order])
    same(fitted.decision_function(X_NEW[::7]), scores[::7])
    for row in (17, 255, 256, 299):
        same(fitted.decision_function(X_NEW[[row]]), scores[[row]])
    with_far_row = np.vstack([X_NEW[:3], np.full((1, 5), 1e300)])
    same(fitted.decision_function(with_far_row)[:3], scores[:3])
    same(fitted.decision_function(np.asfortranarray(X_NEW[:256])), scores[:256])


@pytest.mark.parametrize("name", ["MCM", "GOAD", "NeuTraLAD", "ICL"])
def test_a_network_that_needs_much_memory_for_a_row_gets_fewer_rows(name, monkeypatch):
    detector = small(name).fit(X_TRAIN)
    scores = detector.decision_function(X_NEW)
    monkeypatch.setattr(_neural_detector, "WORK_AT_ONCE", 7 * detector.network_.work_per_row)
    batches = []
    score = type(detector.network_).score
    monkeypatch.setattr(
        type(detector.network_),
        "score",
        lambda self, rows: batches.append(rows) or score(self, rows),
    )
    same(detector.decision_function(X_NEW), scores)
    assert {len(rows) for rows in batches} == {7}
    same(detector.decision_function(X_NEW[:3]), scores[:3])


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("MCM", {"n_masks": 50}),
        ("GOAD", {"n_maps": 300, "map_width": 400}),
        ("GOAD", {"n_maps": 20, "n_layers": 4, "width": 90}),
        ("NeuTraLAD", {"n_views": 200}),
        ("ICL", {"window": 1}),
        ("ICL", {"window": 30}),
    ],
)
def test_the_work_of_a_row_covers_operations_and_memory(name, options):
    """Every array that scoring makes and every matrix product, counted by PyTorch."""
    detector = make(name, **options)
    detector.n_features_in_ = 40
    network = detector.empty_network()
    with LargestArray() as largest, FlopCounterMode(display=False) as flops:
        network.score(torch.empty(1, 40, device="meta"))
    n_weights = sum(weights.numel() for weights in network.state_dict().values())
    operations = flops.get_total_flops() / 2 - n_weights  # a product and a sum are one
    assert operations <= network.work_per_row
    assert 0.5 * network.work_per_row <= operations + WORK_OF_A_NUMBER * largest.size
    assert WORK_OF_A_NUMBER * largest.size <= network.work_per_row


class LargestArray(TorchDispatchMode):
    """The size of the largest array that is made in a block."""

    size = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        made = func(*args, **(kwargs or {}))
        if isinstance(made, torch.Tensor) and not func.is_view:
            self.size = max(self.size, made.numel())
        return made


def test_scoring_changes_nothing(fitted, scores):
    """Neither running means of batch norm nor dropout."""
    before = weights(fitted)
    same(fitted.decision_function(X_NEW), scores)
    assert same_weights(weights(fitted), before)


def test_a_score_does_not_depend_on_the_number_of_threads(fitted):
    threads = torch.get_num_threads()
    scores = []
    try:
        for n in (1, 2):
            torch.set_num_threads(n)
            scores.append(fitted.decision_function(X_NEW))
    finally:
        torch.set_num_threads(threads)
    same(*scores)


def test_all_epochs_are_trained_and_the_last_weights_kept():
    shorter, longer = (small("DRL", epochs=n).fit(X_TRAIN) for n in (2, 3))
    assert len(longer.loss_curve_) == 3
    assert longer.loss_curve_[:2] == shorter.loss_curve_
    assert not same_weights(weights(longer), weights(shorter))


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("DRL", {}),
        # With batch norm, which has running means besides weights.
        ("ICL", {"batch_size": 4, "stop_loss": 0, "decay": 2.0}),
    ],
)
def test_patience_stops_early_and_restores_the_best_weights(name, options):
    # The learning rate is so large that the loss soon increases.
    options = {"epochs": 60, "learning_rate": 0.1, **options}
    patient = small(name, patience=3, **options).fit(X_TRAIN)
    curve = patient.loss_curve_
    best = int(np.argmin(curve)) + 1
    assert len(curve) == best + 3 < 60
    kept = small(name, **{**options, "epochs": best}).fit(X_TRAIN)
    assert same_weights(weights(patient), weights(kept))


@pytest.mark.parametrize(("max_steps", "epochs"), [(None, 6), (1, 1), (8, 2), (9, 3), (100, 6)])
def test_training_stops_after_the_epoch_with_the_last_step(max_steps, epochs):
    batch_size = -(-len(X_TRAIN) // 4)  # four steps per epoch
    detector = small("DRL", epochs=6, batch_size=batch_size, max_steps=max_steps)
    assert len(detector.fit(X_TRAIN).loss_curve_) == epochs


def test_icl_stops_at_its_loss_with_any_patience():
    curve = small("ICL", epochs=12).fit(X_TRAIN).loss_curve_
    n = next(i for i in range(2, 12) if curve[i] < 0.99 * min(curve[:i])) + 1
    stop_loss = (curve[n - 1] + min(curve[: n - 1])) / 2
    trained = weights(small("ICL", epochs=n).fit(X_TRAIN))
    for patience in (None, 20):
        detector = small("ICL", epochs=12, stop_loss=stop_loss, patience=patience).fit(X_TRAIN)
        assert detector.loss_curve_ == curve[:n]
        assert same_weights(weights(detector), trained)


def test_the_learning_rate_decays():
    """With a factor of 0 after two epochs, the third epoch does not change the weights."""
    two, three, without_decay = (
        weights(small("DRL", epochs=epochs, decay=decay, decay_epochs=2).fit(X_TRAIN))
        for epochs, decay in ((2, 0.0), (3, 0.0), (3, 1.0))
    )
    assert same_weights(two, three)
    assert not same_weights(three, without_decay)


def test_rows_are_shuffled_if_shuffle_is_set():
    in_order, shuffled = (
        small("DRL", shuffle=shuffle, batch_size=10, epochs=1).fit(X_TRAIN)
        for shuffle in (False, True)
    )
    assert in_order.loss_curve_ != shuffled.loss_curve_


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_is_reported_after_every_epoch(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    reported = []
    with on_progress(reported.append):
        detector = small("DRL", epochs=3).fit(X_TRAIN)
    assert reported == [
        Progress(f"Training DRL, loss {loss:.4g}", epoch, 3)
        for epoch, loss in enumerate(detector.loss_curve_, 1)
    ]
    assert sys.stderr.getvalue() == ""  # no second progress bar


def test_a_progress_bar_is_shown_on_a_terminal_and_removed(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    small("DRL", show_progress=False).fit(X_TRAIN)
    assert sys.stderr.getvalue() == ""
    small("DRL", epochs=300).fit(X_TRAIN)  # the bar is drawn every 0.1 seconds
    shown = sys.stderr.getvalue().split("\r")
    assert any(line.startswith("Training DRL, loss ") and "/300" in line for line in shown)
    assert shown[-2].strip() == shown[-1] == ""


def test_no_progress_bar_is_shown_without_a_terminal(capsys):
    small("DRL").fit(X_TRAIN)
    assert capsys.readouterr() == ("", "")


def test_tables_with_text_are_encoded_by_the_wrapper():
    frame = pd.DataFrame(
        {"size": X_TRAIN[:, 0], "kind": ["a", "b"] * 50, "colour": ["red", "blue", "red", "x"] * 25}
    )
    detector = CalibratedDetector(small("DRL"), random_state=0).fit(frame)
    assert detector.detector_.n_features_in_ == len(detector.encoder_.features_)
    assert not detector.batch_dependent_
    assert np.isfinite(detector.anomaly_score(frame)).all()
