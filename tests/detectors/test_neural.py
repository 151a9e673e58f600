"""What all neural detectors have in common: fitting, seeds, scores that stand on their own."""

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

from ctad import CalibratedDetector
from ctad._progress import Progress, on_progress
from ctad.detectors import KNOWN_DETECTORS, make

from ..data import normal
from .small import SMALL, SMALL_OF_PYOD, TRAINED, small

X_TRAIN = normal(100, 5)
X_NEW = normal(600, 5, seed=1)


@pytest.fixture(params=SMALL)
def name(request):
    return request.param


@pytest.fixture(scope="module", params=SMALL)
def fitted(request):
    """One of each, not to be changed."""
    return small(request.param).fit(X_TRAIN)


def same(first, second):
    np.testing.assert_array_equal(first, second)


def weights(detector):
    return {key: value.clone() for key, value in detector.network_.state_dict().items()}


def same_weights(first, second):
    assert first.keys() == second.keys()
    return all(torch.equal(first[key], second[key]) for key in first)


def test_fitting_gives_scores_threshold_labels_and_probabilities(fitted):
    same(fitted.decision_function(X_TRAIN), fitted.decision_scores_)
    same(fitted.labels_, fitted.decision_scores_ > fitted.threshold_)
    assert fitted.labels_.sum() == 10  # contamination is 0.1
    scores = fitted.decision_function(X_NEW)
    same(fitted.predict(X_NEW), scores > fitted.threshold_)
    chances = fitted.predict_proba(X_NEW)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    low, high = fitted.decision_scores_.min(), fitted.decision_scores_.max()
    np.testing.assert_allclose(chances[:, 1], np.clip((scores - low) / (high - low), 0, 1))
    assert fitted.n_features_in_ == 5
    assert not hasattr(fitted, "feature_names_in_")


def test_contamination_is_the_share_above_the_threshold(name):
    assert small(name, contamination=0.3).fit(X_TRAIN).labels_.sum() == 30


def test_higher_scores_are_more_anomalous(name):
    x = normal(400, 1)
    together = np.hstack([x, -x, x, 2 * x]) + 0.05 * normal(400, 4, seed=1)
    detector = make(name, random_state=0, **TRAINED[name]).fit(together[:200])
    apart = np.random.default_rng(2).permuted(together[200:], axis=0)
    odd, usual = detector.decision_function(apart), detector.decision_function(together[200:])
    assert roc_auc_score(np.repeat([0, 1], 200), np.r_[usual, odd]) > 0.8


def test_parameters_are_read_set_and_cloned(name):
    detector = small(name, contamination=0.2)
    assert detector.get_params() == {
        **KNOWN_DETECTORS[name.lower()].parameters,
        **{"contamination": 0.2, "random_state": 0, **SMALL[name]},
    }
    copy = clone(detector.set_params(learning_rate=0.01, device="cpu").fit(X_TRAIN))
    assert copy.get_params() == detector.get_params()
    with pytest.raises(NotFittedError):
        copy.decision_function(X_NEW)
    with pytest.raises(ValueError, match="Invalid parameter 'rate'"):
        detector.set_params(rate=1)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks([small("DRL", epochs=1)])
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def test_fitting_again_forgets_what_was_learnt(name):
    detector = small(name).fit(pd.DataFrame(normal(50, 3), columns=["a", "b", "c"]))
    assert list(detector.feature_names_in_) == ["a", "b", "c"]
    again = detector.fit(X_TRAIN)
    assert again is detector
    assert not hasattr(detector, "feature_names_in_")
    same(detector.decision_function(X_NEW), small(name).fit(X_TRAIN).decision_function(X_NEW))


def test_a_failed_fit_leaves_it_not_fitted(name):
    detector = small(name).fit(X_TRAIN)
    with pytest.raises(ValueError, match="contains NaN"):
        detector.fit(np.full((50, 5), np.nan))
    for method in (detector.decision_function, detector.predict, detector.predict_proba):
        with pytest.raises(NotFittedError):
            method(X_NEW)
    with pytest.raises(NotFittedError):
        detector.save("unused")


# what is wrong: (table, message)
BAD_TABLES = {
    "too few columns": (X_NEW[:, :4], "X has 4 features, but .* is expecting 5"),
    "NaN": (np.where(X_NEW[7, 1] == X_NEW, np.nan, X_NEW), "contains NaN: column 1, row 7"),
    "infinity": (np.full((2, 5), np.inf), "contains infinity: column 0, row 0"),
    "text": (np.full((2, 5), "x"), "not numeric"),
    "no rows": (np.empty((0, 5)), "0 sample"),
}


@pytest.mark.parametrize("what", BAD_TABLES)
def test_bad_tables_are_refused(what, fitted):
    table, message = BAD_TABLES[what]
    with pytest.raises(ValueError, match=message):
        fitted.decision_function(table)
    if what != "too few columns":
        with pytest.raises(ValueError, match=message):
            clone(fitted).fit(table)


def test_frames_are_known_by_their_columns(name):
    frame = pd.DataFrame(X_TRAIN, columns=list("abcde"))
    detector = small(name).fit(frame)
    same(detector.decision_scores_, small(name).fit(X_TRAIN).decision_scores_)
    with pytest.raises(ValueError, match="feature names should match"):
        detector.decision_function(frame[list("bacde")])


# what is wrong: (detector, parameters, message)
BAD_PARAMETERS = [
    ("DRL", {"epochs": 0}, "epochs must be a whole number from 1 on, not 0"),
    ("DRL", {"epochs": True}, "epochs"),
    ("DRL", {"batch_size": 2.5}, "batch_size"),
    ("DRL", {"learning_rate": -1}, "learning_rate must be a number from 0 on, not -1"),
    ("DRL", {"learning_rate": np.nan}, "learning_rate"),
    ("DRL", {"learning_rate": "fast"}, "learning_rate"),
    ("DRL", {"learning_rate": None}, "learning_rate"),
    ("DRL", {"weight_decay": -1}, "weight_decay"),
    ("DRL", {"betas": (0.9, 1.0)}, "betas must be two numbers"),
    ("DRL", {"betas": (0.9,)}, "betas"),
    ("DRL", {"betas": 0.9}, "betas"),
    ("DRL", {"decay": -0.1}, "decay"),
    ("DRL", {"decay_epochs": 0}, "decay_epochs"),
    ("DRL", {"shuffle": "yes"}, "shuffle must be True or False, not 'yes'"),
    ("DRL", {"scaling": "robust"}, "scaling must be one of 'standard'"),
    ("DRL", {"scaling": None}, "scaling"),
    ("DRL", {"patience": 0}, "patience"),
    ("DRL", {"contamination": 0.9}, r"contamination must be in \(0, 0.5\]"),
    ("DRL", {"device": "tpu"}, "device must be one of 'auto', 'cpu', 'cuda', not 'tpu'"),
    ("DRL", {"show_progress": 1}, "show_progress"),
    ("DRL", {"random_state": "seed"}, "seed"),
    ("DRL", {"n_basis": 129}, "n_basis must be 1 at least and 128 at most, not 129"),
    ("DRL", {"width": 0}, "width"),
    ("DTE", {"dropout": 1}, "dropout must be 0 at least and 0.99 at most, not 1"),
    ("DTE", {"n_bins": 1}, "n_bins must be 2 at least"),
    ("DTE", {"n_bins": 401}, "n_bins .* 400 at most"),
    ("DTE", {"n_steps": 1}, "n_steps must be 2 at least"),
    ("GOAD", {"n_maps": 1}, "n_maps must be 2 at least"),
    ("GOAD", {"n_layers": 101}, "n_layers .* 100 at most"),
    ("ICL", {"temperature": 0}, "temperature must be 1e-06 at least, not 0"),
    ("ICL", {"window": 0}, "window"),
    ("ICL", {"window": 5}, "more than its window of 5: there are 5"),
    ("ICL", {"stop_loss": -1}, "stop_loss"),
    ("MCM", {"n_masks": 0}, "n_masks"),
    ("MCM", {"diversity_weight": -1}, "diversity_weight"),
    ("NeuTraLAD", {"n_views": 1}, "n_views must be 2 at least"),
    ("NeuTraLAD", {"temperature": 0}, "temperature"),
]


@pytest.mark.parametrize(("name", "parameters", "message"), BAD_PARAMETERS)
def test_bad_parameters_are_refused_by_name(name, parameters, message):
    detector = small(name, **parameters)
    with pytest.raises(ValueError, match=message):
        detector.fit(X_TRAIN)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is one")
def test_a_device_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match="device='cuda': PyTorch finds none here"):
        small("DRL", device="cuda").fit(X_TRAIN)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        *[("MCM", {"n_masks": n}) for n in (1, 2, 3)],
        *[("ICL", {"window": n}) for n in (1, 4)],
        ("DRL", {"n_basis": 128}),
        ("DRL", {"width": 1, "n_basis": 1}),
        ("DRL", {"learning_rate": 0, "betas": [0, 0.5], "epochs": np.int64(1)}),
        ("DTE", {"n_steps": 2, "n_bins": 2, "dropout": 0}),
        ("GOAD", {"n_maps": 2, "map_width": 1, "width": 1}),
        ("NeuTraLAD", {"n_views": 2, "temperature": 1e-6}),
    ],
)
def test_the_smallest_parameters_work(name, parameters):
    scores = small(name, **parameters).fit(X_TRAIN).decision_function(X_NEW)
    assert np.isfinite(scores).all()
    assert len(set(scores)) > 1


def global_numbers():
    return torch.get_rng_state().tolist(), str(np.random.get_state()), random.getstate()  # noqa: NPY002


@pytest.mark.parametrize("name", [*SMALL, *SMALL_OF_PYOD])
def test_global_random_numbers_are_neither_used_nor_changed(name):
    KNOWN_DETECTORS[name.lower()].load()  # what importing does is not ours
    before = global_numbers()
    detector = small(name)
    assert global_numbers() == before
    detector.fit(X_TRAIN)
    assert global_numbers() == before
    detector.decision_function(X_NEW)
    assert global_numbers() == before

    torch.manual_seed(0)
    seeded = [small(name).fit(X_TRAIN).decision_function(X_NEW)]
    torch.manual_seed(1)
    seeded.append(small(name).fit(X_TRAIN).decision_function(X_NEW))
    same(*seeded)


@pytest.mark.parametrize("name", [*SMALL, *SMALL_OF_PYOD])
def test_seeds_make_the_bits(name):
    def scores(random_state):
        return small(name, random_state=random_state).fit(X_TRAIN).decision_function(X_NEW)

    same(scores(3), scores(3))
    assert (scores(3) != scores(4)).any()
    assert (scores(None) != scores(None)).any()


def test_a_generator_as_seed_goes_on_from_fit_to_fit(name):
    def twice():
        detector = small(name, random_state=np.random.RandomState(0))
        return [weights(detector.fit(X_TRAIN)) for _ in range(2)]

    first, second = twice()
    assert not same_weights(first, second)
    assert same_weights(second, twice()[1])


@pytest.mark.parametrize("n", [1, 2, 255, 256, 257, 600])
def test_a_score_does_not_depend_on_how_many_rows_there_are(n, fitted):
    same(fitted.decision_function(X_NEW[:n]), fitted.decision_function(X_NEW)[:n])


def test_a_score_does_not_depend_on_order_or_company(fitted):
    scores = fitted.decision_function(X_NEW)
    order = np.random.default_rng(0).permutation(600)
    same(fitted.decision_function(X_NEW[order]), scores[order])
    same(fitted.decision_function(X_NEW[order[:100]]), scores[order[:100]])
    same(fitted.decision_function(X_NEW[::7]), scores[::7])
    for row in (0, 17, 255, 256, 599):
        same(fitted.decision_function(X_NEW[[row]]), scores[[row]])
    far = np.vstack([X_NEW[:3], np.full((1, 5), 1e300)])
    same(fitted.decision_function(far)[:3], scores[:3])
    same(fitted.decision_function(np.asfortranarray(X_NEW[:256])), scores[:256])


def test_scoring_changes_nothing(fitted):
    """Neither the running means of batch norm nor what dropout leaves out."""
    before = weights(fitted)
    scores = fitted.decision_function(X_NEW)
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


def test_all_epochs_are_trained_and_the_last_weights_kept(name):
    shorter, longer = (small(name, epochs=n).fit(X_TRAIN) for n in (2, 3))
    assert len(longer.loss_curve_) == 3
    assert longer.loss_curve_[:2] == shorter.loss_curve_
    assert not same_weights(weights(longer), weights(shorter))


def test_patience_stops_early_and_goes_back_to_the_best_weights(name):
    options = {"epochs": 60, "learning_rate": 0.1}  # so large that the loss soon goes up
    if name == "ICL":
        options |= {"batch_size": 4, "stop_loss": 0, "decay": 2.0}  # and doubled every epoch
    patient = small(name, patience=3, **options).fit(X_TRAIN)
    curve = patient.loss_curve_
    best = int(np.argmin(curve)) + 1
    assert len(curve) == best + 3 < 60
    kept = small(name, **{**options, "epochs": best}).fit(X_TRAIN)
    assert same_weights(weights(patient), weights(kept))


@pytest.mark.parametrize(("max_steps", "epochs"), [(None, 6), (1, 1), (8, 2), (9, 3), (100, 6)])
def test_training_ends_with_the_epoch_that_has_the_last_step(max_steps, epochs):
    batch_size = -(-len(X_TRAIN) // 4)  # four steps in an epoch
    detector = small("DRL", epochs=6, batch_size=batch_size, max_steps=max_steps)
    assert len(detector.fit(X_TRAIN).loss_curve_) == epochs


def test_icl_stops_at_its_loss_whatever_its_patience():
    curve = small("ICL", epochs=30).fit(X_TRAIN).loss_curve_
    n = next(i for i in range(2, 30) if curve[i] < 0.99 * min(curve[:i])) + 1
    stop_loss = (curve[n - 1] + min(curve[: n - 1])) / 2
    trained = weights(small("ICL", epochs=n).fit(X_TRAIN))
    for patience in (None, 20):
        detector = small("ICL", epochs=30, stop_loss=stop_loss, patience=patience).fit(X_TRAIN)
        assert detector.loss_curve_ == curve[:n]
        assert same_weights(weights(detector), trained)


def test_the_learning_rate_decays():
    """By nothing at all after two epochs, the third leaves the weights as they are."""
    two, three, undecayed = (
        weights(small("DRL", epochs=epochs, decay=decay, decay_epochs=2).fit(X_TRAIN))
        for epochs, decay in ((2, 0.0), (3, 0.0), (3, 1.0))
    )
    assert same_weights(two, three)
    assert not same_weights(three, undecayed)


def test_rows_are_shuffled_if_asked_for():
    kept, shuffled = (
        small("DRL", shuffle=shuffle, batch_size=10, epochs=1).fit(X_TRAIN)
        for shuffle in (False, True)
    )
    assert kept.loss_curve_ != shuffled.loss_curve_


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_is_reported_after_every_epoch(name, monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    reported = []
    with on_progress(reported.append):
        detector = small(name, epochs=3).fit(X_TRAIN)
    assert reported == [
        Progress(f"Training {name}, loss {loss:.4g}", epoch, 3)
        for epoch, loss in enumerate(detector.loss_curve_, 1)
    ]
    assert sys.stderr.getvalue() == ""  # no bar beside theirs


def test_a_bar_is_shown_on_a_terminal_and_taken_away(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    small("DRL", epochs=300, show_progress=False).fit(X_TRAIN)
    assert sys.stderr.getvalue() == ""
    small("DRL", epochs=300).fit(X_TRAIN)
    shown = sys.stderr.getvalue().split("\r")
    assert any(line.startswith("Training DRL, loss ") and "/300" in line for line in shown)
    assert shown[-2].strip() == shown[-1] == ""


def test_no_bar_is_shown_elsewhere(capsys):
    small("DRL").fit(X_TRAIN)
    assert capsys.readouterr() == ("", "")


def test_a_table_with_text_is_encoded_for_it(name):
    frame = pd.DataFrame(
        {"size": X_TRAIN[:, 0], "kind": ["a", "b"] * 50, "colour": ["red", "blue", "red", "x"] * 25}
    )
    detector = CalibratedDetector(small(name), random_state=0).fit(frame)
    assert detector.detector_.n_features_in_ == len(detector.encoder_.features_)
    assert not detector.batch_dependent_
    assert np.isfinite(detector.anomaly_score(frame)).all()
