"""PyOD's neural detectors as the registry gives them."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from ctad import CalibratedDetector, load
from ctad.detectors import make

from ..data import normal
from .small import SMALL_OF_PYOD, small

pytestmark = pytest.mark.parametrize("name", SMALL_OF_PYOD)


@pytest.mark.parametrize("columns", [1, 3, 40])
def test_the_number_of_columns_need_not_be_known_in_advance(name, columns):
    rows = normal(80, columns)
    scores = small(name).fit(rows).decision_function(rows)
    assert scores.shape == (80,)
    assert np.isfinite(scores).all()


@pytest.mark.parametrize("rows", [2, 10, 31, 32, 33, 65])
def test_few_rows_are_enough(name, rows):
    detector = small(name).fit(normal(rows, 3))
    assert np.isfinite(detector.decision_scores_).all()
    assert detector.batch_size == 32


def test_seeds_make_the_difference(name):
    rows = normal(80, 3)

    def scores(seed):
        return make(name, **SMALL_OF_PYOD[name], random_state=seed).fit(rows).decision_scores_

    np.testing.assert_array_equal(scores(1), scores(1))
    assert (scores(1) != scores(2)).any()
    assert (scores(None) != scores(None)).any()


def test_calibration_passes_its_seed_on(name):
    def score(seed):
        untrained = make(name, **SMALL_OF_PYOD[name])
        return CalibratedDetector(untrained, random_state=seed).fit(normal(80, 3)).decision_scores_

    np.testing.assert_array_equal(score(1), score(1))
    assert (score(1) != score(2)).any()


def test_they_can_be_fitted_again_on_other_columns(name):
    detector = small(name).fit(normal(80, 3))
    again = detector.fit(normal(80, 5)).decision_function(normal(9, 5))
    np.testing.assert_array_equal(
        again, small(name).fit(normal(80, 5)).decision_function(normal(9, 5))
    )


def test_a_score_does_not_depend_on_company(name):
    detector = small(name).fit(normal(80, 3))
    rows = normal(40, 3, seed=1)
    alone = [detector.decision_function(rows[[i]])[0] for i in range(40)]
    first = [detector.decision_function(rows[i:])[0] for i in range(40)]
    np.testing.assert_array_equal(alone, first)


def test_they_say_nothing_while_they_train(name, capfd):
    small(name).fit(normal(80, 3))
    assert capfd.readouterr() == ("", "")


def test_they_keep_their_options_when_cloned(name):
    option, value = ("epochs", 3) if name == "DeepSVDD" else ("epoch_num", 3)
    copy = clone(make(name, **{option: value}).fit(normal(80, 3)))
    assert copy.get_params()[option] == value
    assert getattr(copy, "decision_scores_", None) is None
    assert np.isfinite(copy.fit(normal(80, 4)).decision_function(normal(9, 4))).all()


def test_they_are_calibrated_alike(name):
    first, second = (
        CalibratedDetector(small(name), random_state=0).fit(normal(80, 3)) for _ in range(2)
    )
    np.testing.assert_array_equal(
        first.anomaly_score(normal(9, 3)), second.anomaly_score(normal(9, 3))
    )
    assert not first.batch_dependent_


def test_threads_do_not_disturb_each_other_or_the_global_random_numbers(name):
    rows = normal(80, 3)
    # Alone, but in a thread as well: PyTorch keeps its number of threads for each of them.
    with ThreadPoolExecutor(1) as pool:
        alone = pool.submit(small(name).fit, rows).result()
    before = torch.get_rng_state().tolist(), str(np.random.get_state())  # noqa: NPY002
    with ThreadPoolExecutor(4) as pool:
        fitted = list(pool.map(lambda _: small(name).fit(rows).decision_scores_, range(4)))
        scores = list(pool.map(lambda _: alone.decision_function(rows), range(8)))
    assert (torch.get_rng_state().tolist(), str(np.random.get_state())) == before  # noqa: NPY002
    np.testing.assert_array_equal(fitted, [alone.decision_scores_] * 4)
    np.testing.assert_array_equal(scores, [alone.decision_scores_] * 8)


def test_they_are_saved_alone(name, tmp_path):
    fitted = small(name).fit(normal(80, 3))
    fitted.save(tmp_path / "model.ctad")
    loaded = load(tmp_path / "model.ctad")
    np.testing.assert_array_equal(
        loaded.decision_function(normal(9, 3)), fitted.decision_function(normal(9, 3))
    )
    with pytest.raises(NotFittedError):
        small(name).save(tmp_path / "other.ctad")
