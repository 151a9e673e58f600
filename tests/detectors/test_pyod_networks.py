"""PyOD's neural detectors, as `make` creates them. Seeds are tested with the other networks."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from ctad import CalibratedDetector, load
from ctad.detectors import make
from ctad.errors import InputError

from ..data import normal
from .small import SMALL_OF_PYOD, small

pytestmark = pytest.mark.parametrize("name", SMALL_OF_PYOD)

ROWS = normal(80, 3)


@pytest.mark.parametrize("columns", [1, 40])
def test_the_number_of_columns_need_not_be_given(name, columns):
    scores = small(name).fit(normal(80, columns)).decision_scores_
    assert scores.shape == (80,)
    assert np.isfinite(scores).all()


@pytest.mark.parametrize("rows", [2, 31, 32, 33])  # the batch size is 32
def test_few_rows_are_enough(name, rows):
    detector = small(name).fit(normal(rows, 3))
    assert np.isfinite(detector.decision_scores_).all()
    assert detector.batch_size == 32


def test_calibrated_detector_passes_its_seed_on(name):
    def scores(seed):
        detector = make(name, **SMALL_OF_PYOD[name])
        return CalibratedDetector(detector, random_state=seed).fit(ROWS).decision_scores_

    np.testing.assert_array_equal(scores(1), scores(1))
    assert (scores(1) != scores(2)).any()


def test_a_detector_can_be_fitted_again_on_other_columns(name):
    detector = small(name).fit(ROWS)
    again = detector.fit(normal(80, 5)).decision_function(normal(9, 5))
    np.testing.assert_array_equal(
        again, small(name).fit(normal(80, 5)).decision_function(normal(9, 5))
    )


def test_a_score_does_not_depend_on_the_batch(name):
    detector = small(name).fit(ROWS)
    rows = normal(300, 3, seed=1)
    scores = detector.decision_function(rows)
    for i in (0, 17, 255, 256, 299):
        np.testing.assert_array_equal(detector.decision_function(rows[[i]]), scores[[i]])
        np.testing.assert_array_equal(detector.decision_function(rows[i:]), scores[i:])


def test_new_rows_beyond_single_precision_score_infinity(name):
    detector = small(name).fit(ROWS)
    rows = np.vstack([ROWS[:2], [[1e300, 0, 0], [-1e300, 1e300, -1e300], [1e308, 0, -1e308]]])
    scores = detector.decision_function(rows)
    np.testing.assert_array_equal(scores, [*detector.decision_scores_[:2], np.inf, np.inf, np.inf])
    assert list(detector.predict(rows[2:])) == [1, 1, 1]
    np.testing.assert_array_equal(detector.predict_proba(rows[2:])[:, 1], 1.0)


def test_training_without_a_finite_score_is_an_error_with_advice(name):
    with pytest.raises(InputError, match=f"training of {name} failed: no score is finite. Rescale"):
        small(name, preprocessing=False).fit(ROWS * 1e30)


def test_training_prints_nothing(name, capfd):
    small(name).fit(ROWS)
    assert capfd.readouterr() == ("", "")


def test_a_clone_keeps_the_options_and_is_not_fitted(name):
    option, value = ("epochs", 3) if name == "DeepSVDD" else ("epoch_num", 3)
    copy = clone(make(name, **{option: value}).fit(ROWS))
    assert copy.get_params()[option] == value
    assert getattr(copy, "decision_scores_", None) is None
    assert np.isfinite(copy.fit(normal(80, 4)).decision_function(normal(9, 4))).all()


def test_threads_do_not_disturb_each_other_or_the_global_random_numbers(name):
    # The reference is also fitted in a thread: PyTorch's number of threads is per thread.
    with ThreadPoolExecutor(1) as pool:
        alone = pool.submit(small(name).fit, ROWS).result()
    before = torch.get_rng_state().tolist(), str(np.random.get_state())  # noqa: NPY002
    with ThreadPoolExecutor(4) as pool:
        fitted = list(pool.map(lambda _: small(name).fit(ROWS).decision_scores_, range(4)))
        scores = list(pool.map(lambda _: alone.decision_function(ROWS), range(8)))
    assert (torch.get_rng_state().tolist(), str(np.random.get_state())) == before  # noqa: NPY002
    np.testing.assert_array_equal(fitted, [alone.decision_scores_] * 4)
    np.testing.assert_array_equal(scores, [alone.decision_scores_] * 8)


def test_a_detector_can_be_saved_without_a_calibrator(name, tmp_path):
    fitted = small(name).fit(ROWS)
    fitted.save(tmp_path / "model.ctad")
    loaded = load(tmp_path / "model.ctad")
    np.testing.assert_array_equal(
        loaded.decision_function(normal(9, 3)), fitted.decision_function(normal(9, 3))
    )
    with pytest.raises(NotFittedError):
        small(name).save(tmp_path / "other.ctad")
