"""`CalibratedDetector` in model files: decisions and explanations, and parts that do not fit."""

import copy
import warnings

import numpy as np
import polars as pl
import pytest
from sklearn.ensemble import IsolationForest
from sklearn.neighbors import LocalOutlierFactor

from ctad import CTAD, CalibratedDetector, load
from ctad.errors import InputError
from ctad.persistence._arrays import array_from_bytes, array_to_bytes
from ctad.persistence._kinds import NotDescribedError

from .examples import X_NEW, X_TRAIN
from .examples.calibrated_detector import BY_NAME as BY_COLUMN_NAME
from .examples.calibrated_detector import EXAMPLES, NEW_TABLE, TABLE
from .stored import restore, store

BY_NAME = {example.name: example for example in EXAMPLES}


@pytest.fixture(scope="module")
def stored():
    """The stored form of an example, made once."""
    made = {}

    def get(name):
        if name not in made:
            made[name] = store(BY_NAME[name].made())
        return copy.deepcopy(made[name])

    return get


@pytest.mark.parametrize("name", ["holdout", "batch-dependent", "columns by name"])
def test_decisions_and_explanations_are_the_same(name, stored):
    example = BY_NAME[name]
    detector, again = example.made(), restore(*stored(name))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for method in ("p_value", "percentile", "select", "base_score"):
            ours, theirs = (getattr(each, method)(example.rows) for each in (again, detector))
            np.testing.assert_array_equal(ours, theirs)
        assert again.explain(example.rows).text(0) == detector.explain(example.rows).text(0)
        assert again.monitor(example.rows).text == detector.monitor(example.rows).text
    np.testing.assert_array_equal(again.labels_, detector.labels_)


def sets(part, **values):
    return lambda stored: stored[part].update(values)


def calibrator_without_scores(stored):
    stored["fitted"]["calibrator_"]["fitted"]["score_scaling_"] = None


def calibrator_of_other_rows(stored):
    stored["fitted"]["calibrator_"]["fitted"]["n_training_rows_"] += 1


def calibrator_of_named_columns(stored):
    stored["fitted"]["calibrator_"]["fitted"]["feature_names_in_"] = ["a", "b", "c"]


def other_given_detector(stored):
    stored["parameters"]["detector"] = {
        "type": "pyod.models.ecod.ECOD",
        "parameters": {},
        "fitted": None,
    }


def renamed_columns(stored):
    stored["fitted"]["feature_names_in_"][0] = "other"


def twice_the_same_column(stored):
    names = stored["fitted"]["feature_names_in_"]
    names[0] = names[1]


def names_of_the_given_detector(stored):
    """The detector knows a column that the table does not have."""
    stored["fitted"]["detector_"]["fitted"]["feature_names_in_"][0] = "other"


def the_given_detector_knows_a_column_twice(stored):
    names = stored["fitted"]["detector_"]["fitted"]["feature_names_in_"]
    names[0] = names[1]


# The altered example, how it is altered, and what the message says.
WRONG = {
    "sign": ("holdout", sets("fitted", sign=1.0), "method and sign"),
    "method": ("holdout", sets("fitted", method="decision_function"), "method and sign"),
    "no method": ("holdout", sets("fitted", method=""), "method"),
    "polarity": ("holdout", sets("parameters", polarity="higher"), "method and sign"),
    "batch": ("holdout", sets("fitted", batch_dependent=True), "each row for itself"),
    "threshold": ("holdout", sets("fitted", threshold_="nan"), "threshold_"),
    "contamination": ("holdout", sets("parameters", contamination=0), "contamination"),
    "share held out": ("holdout", sets("parameters", holdout=1), "holdout"),
    "number held out": ("holdout", sets("fitted", n_held_out=3), "length"),
    "training rows": ("holdout", sets("fitted", n_training_rows=3), "length"),
    "form": ("holdout", sets("fitted", detector_form="pandas"), "no encoder_"),
    "other detector": ("holdout", other_given_detector, "detector_"),
    "no scores": ("holdout", calibrator_without_scores, "without scores"),
    "other rows": ("holdout", calibrator_of_other_rows, "as many rows"),
    "named columns": ("holdout", calibrator_of_named_columns, "calibrator_"),
    "renamed": ("columns by name", renamed_columns, "encoder_"),
    "twice": ("columns by name", twice_the_same_column, "twice"),
    "encoded": ("columns by name", sets("fitted", detector_form="encoded"), "by name"),
    "a table": ("of PyOD on a table", sets("fitted", detector_form="pandas"), "get arrays"),
    "numbers": ("columns by name", sets("fitted", detector_form="numbers"), "by name"),
    "names": ("fitted on a table", names_of_the_given_detector, "columns of the table"),
    "names twice": (
        "fitted on a table",
        the_given_detector_knows_a_column_twice,
        "columns of the table",
    ),
    "all columns": ("fitted on a table", sets("fitted", detector_form="encoded"), "columns"),
}


@pytest.mark.parametrize("name", WRONG)
def test_parts_that_do_not_fit_are_refused(name, stored):
    example, alter, message = WRONG[name]
    model, entries = stored(example)
    alter(model)
    with pytest.raises(NotDescribedError, match=message):
        restore(model, entries)


@pytest.mark.parametrize(
    ("path", "alter", "message"),
    [
        (("decision_scores_",), lambda scores: scores * np.inf, "NaN|no finite score"),
        (("decision_scores_",), lambda scores: np.full_like(scores, np.inf), "no finite score"),
        (("decision_scores_",), lambda scores: scores[1:], "length"),
        (("calibration_scores_", "score"), lambda scores: scores * np.nan, "NaN"),
        (("calibration_scores_", "delta"), lambda scores: scores[1:], "length"),
        (("training_sample_",), lambda rows: rows[:, 1:], "training_sample_"),
        (("training_sample_",), lambda rows: rows * 1e200, "training_sample_"),
        (("training_sample_",), lambda rows: np.vstack([rows, rows]), "more than the training"),
    ],
)
def test_wrong_arrays_are_refused(path, alter, message, stored):
    model, entries = stored("holdout")
    place = model["fitted"]
    for name in path:
        place = place[name]
    entries[place["array"]] = array_to_bytes(alter(array_from_bytes(entries[place["array"]])))
    with pytest.raises(NotDescribedError, match=message):
        restore(model, entries)


def test_a_model_is_saved_as_it_was_fitted(tmp_path):
    detector = CalibratedDetector(LocalOutlierFactor(5, novelty=True), CTAD(2, 3)).fit(X_TRAIN)
    detector.set_params(polarity="higher")
    with pytest.raises(InputError, match="polarity is not that of the fit"):
        detector.save(tmp_path / "model.ctad")
    detector.set_params(polarity="auto", detector=IsolationForest())
    with pytest.raises(InputError, match="not the one that was fitted"):
        detector.save(tmp_path / "model.ctad")


def test_the_detector_gets_a_polars_table():
    """It is not among the examples, because polars does not work in forked processes."""
    rows, new = pl.from_pandas(TABLE), pl.from_pandas(NEW_TABLE)
    detector = CalibratedDetector(BY_COLUMN_NAME, CTAD(2, 3), random_state=0).fit(rows)
    assert detector.input_.detector_form == "polars"
    again = restore(*store(detector))
    np.testing.assert_array_equal(again.anomaly_score(new), detector.anomaly_score(new))
    assert again.explain(new).text(0) == detector.explain(new).text(0)


def test_a_function_is_passed_to_load(tmp_path):
    def distance(rows):
        return np.abs(rows).sum(axis=1)

    detector = CalibratedDetector(distance, CTAD(2, 3, random_state=0), polarity="higher")
    detector.fit(X_TRAIN).save(tmp_path / "model.ctad")
    again = load(tmp_path / "model.ctad", detector=distance)
    np.testing.assert_array_equal(again.anomaly_score(X_NEW), detector.anomaly_score(X_NEW))
