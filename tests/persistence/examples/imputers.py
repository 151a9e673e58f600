"""Imputers of scikit-learn."""

import numpy as np
import pandas as pd
from sklearn.experimental import enable_iterative_imputer  # noqa: F401 - makes the import work
from sklearn.impute import IterativeImputer, KNNImputer, MissingIndicator, SimpleImputer
from sklearn.linear_model import BayesianRidge, LinearRegression

from . import X_NEW, X_TRAIN, Example
from .scalers import EMPTY_COLUMN, GAPS

NEW_GAPS = np.where(X_NEW > 1, np.nan, X_NEW)
GAPS_IN_TWO = np.where(X_TRAIN * [1, 0, 1] > 1, np.nan, X_TRAIN)
SINGLE, NEW_SINGLE = GAPS.astype(np.float32), NEW_GAPS.astype(np.float32)
INTEGERS, NEW_INTEGERS = (np.round(rows).astype(int) for rows in (X_TRAIN, X_NEW))
TEXT = np.array([["a", 1], ["b", 2], ["a", None], [None, 2.5], ["a", 2]], dtype=object)
TABLE, NEW_TABLE = (pd.DataFrame(rows, columns=["a", "b", "c"]) for rows in (GAPS, NEW_GAPS))
COLOURS = pd.DataFrame({"colour": ["red", None, "red", "blue"], "size": ["s", "m", "m", None]})


def imputer(name, imputer, rows=GAPS, new=NEW_GAPS):
    type_name = f"sklearn.impute.{type(imputer).__name__}"
    return Example(type_name, lambda: imputer.fit(rows), new, name)


EXAMPLES = [
    imputer("", SimpleImputer()),
    imputer("with names", SimpleImputer(strategy="median"), TABLE, NEW_TABLE),
    imputer("with flags", SimpleImputer(add_indicator=True), GAPS_IN_TWO),
    imputer("without missing values", SimpleImputer(add_indicator=True), X_TRAIN),
    imputer("of an empty column", SimpleImputer(add_indicator=True), EMPTY_COLUMN),
    imputer("that keeps an empty column", SimpleImputer(keep_empty_features=True), EMPTY_COLUMN),
    imputer("of float32", SimpleImputer(), SINGLE, NEW_SINGLE),
    imputer("of frequent numbers", SimpleImputer(strategy="most_frequent"), np.round(GAPS)),
    imputer("of a constant", SimpleImputer(strategy="constant", fill_value=-1)),
    imputer("of a constant for all", SimpleImputer(strategy="constant"), EMPTY_COLUMN),
    imputer(
        "of integers",
        SimpleImputer(missing_values=0, strategy="constant", fill_value=7),
        INTEGERS,
        NEW_INTEGERS,
    ),
    imputer(
        "of text and numbers",
        SimpleImputer(missing_values=None, strategy="most_frequent"),
        TEXT,
        TEXT,
    ),
    imputer("of frequent text", SimpleImputer(strategy="most_frequent"), COLOURS, COLOURS),
    imputer(
        "of constant text",
        SimpleImputer(strategy="constant", fill_value="none", add_indicator=True),
        COLOURS,
        COLOURS,
    ),
    imputer("", KNNImputer()),
    imputer("with flags", KNNImputer(n_neighbors=100, add_indicator=True), TABLE, NEW_TABLE),
    imputer("by distance", KNNImputer(weights="distance"), SINGLE, NEW_SINGLE),
    imputer("of an empty column", KNNImputer(n_neighbors=2), EMPTY_COLUMN),
    imputer("that keeps an empty column", KNNImputer(keep_empty_features=True), EMPTY_COLUMN),
    imputer("of zeros", KNNImputer(missing_values=0), INTEGERS, NEW_INTEGERS),
    imputer("", IterativeImputer(max_iter=3, random_state=0)),
    imputer(
        "with flags and limits",
        IterativeImputer(LinearRegression(), add_indicator=True, min_value=-1, max_value=1),
        TABLE,
        NEW_TABLE,
    ),
    imputer("of float32", IterativeImputer(max_iter=2), SINGLE, NEW_SINGLE),
    imputer("of zeros", IterativeImputer(missing_values=0, max_iter=2), INTEGERS, NEW_INTEGERS),
    imputer("of an empty column", IterativeImputer(max_iter=2), EMPTY_COLUMN),
    imputer(
        "that keeps an empty column",
        IterativeImputer(max_iter=2, keep_empty_features=True, max_value=[1.0, 2.0, 3.0]),
        EMPTY_COLUMN,
    ),
    imputer("without missing values", IterativeImputer(skip_complete=True), X_TRAIN),
    imputer("without rounds", IterativeImputer(max_iter=0, n_nearest_features=1)),
    Example(
        "sklearn.linear_model.BayesianRidge",
        lambda: BayesianRidge(compute_score=True).fit(X_TRAIN, X_TRAIN[:, 0]),
    ),
    imputer("", MissingIndicator(error_on_new=False), GAPS_IN_TWO),
    imputer("for all columns", MissingIndicator(features="all"), TABLE, NEW_TABLE),
    imputer("of text", MissingIndicator(missing_values=None), TEXT, TEXT),
]
