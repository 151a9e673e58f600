"""Encoders of scikit-learn for categories."""

import numpy as np
import pandas as pd
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

from . import X_NEW, X_TRAIN, Example

INTEGERS, NEW_INTEGERS = (np.clip(np.round(rows), -2, 2).astype(int) for rows in (X_TRAIN, X_NEW))
FLOATS, NEW_FLOATS = (np.where(rows == 2, np.nan, rows) for rows in (INTEGERS, NEW_INTEGERS))
TABLE = pd.DataFrame(
    {
        "colour": ["red", "blue", "red", None, "red", "green", "blue", "red"],
        "size": [1.0, 2.0, np.nan, 2.0, 1.0, 1.0, 2.0, 1.0],
        "new": [True, False, True, True, False, True, True, True],
    }
)
TEXT = np.array([["a", "bb"], ["b", "aa"], ["a", "bb"], ["c", "a"]])
MIXED = np.array([["a"], ["b"], [None], [np.nan], ["b"]], dtype=object)
ORDER = {"categories": [["c", "a", "b"], ["bb", "aa", "a"]]}


def one_hot(name="", rows=TABLE, new=None, **parameters):
    parameters = {"sparse_output": False, **parameters}
    return Example(
        "sklearn.preprocessing.OneHotEncoder",
        lambda: OneHotEncoder(**parameters).fit(rows),
        rows if new is None else new,
        name,
    )


def ordinal(name="", rows=TABLE, new=None, **parameters):
    return Example(
        "sklearn.preprocessing.OrdinalEncoder",
        lambda: OrdinalEncoder(**parameters).fit(rows),
        rows if new is None else new,
        name,
    )


UNKNOWN = TABLE.assign(colour="violet", size=[1.0, 7.0] * 4)
CODED = {"handle_unknown": "use_encoded_value", "unknown_value": -1}

EXAMPLES = [
    one_hot(),
    one_hot("sparse", sparse_output=True),
    one_hot("of integers", INTEGERS, NEW_INTEGERS, handle_unknown="ignore", dtype=np.int32),
    one_hot("of floats", FLOATS, NEW_FLOATS, handle_unknown="ignore", dtype="float32"),
    one_hot("of float32", FLOATS.astype(np.float32), NEW_FLOATS, handle_unknown="ignore"),
    one_hot("of bytes", np.abs(INTEGERS).astype(np.uint8), handle_unknown="ignore"),
    one_hot("of text", TEXT),
    one_hot("of text and missing values", MIXED),
    one_hot("in an order", TEXT, **ORDER),
    one_hot("without the first", drop="first"),
    one_hot("without one of two", drop="if_binary"),
    one_hot("without some", TEXT, drop=["b", "aa"]),
    one_hot("without missing values", drop=np.array([np.nan, np.nan, True], dtype=object)),
    one_hot("of unknown values", new=UNKNOWN, handle_unknown="ignore"),
    one_hot("of rare values", new=UNKNOWN, handle_unknown="infrequent_if_exist", min_frequency=2),
    one_hot("of few values", new=UNKNOWN, handle_unknown="warn", max_categories=2),
    one_hot("of rare values without the first", min_frequency=0.3, drop="first"),
    one_hot("of one value", max_categories=1, drop="if_binary"),
    one_hot("of rare values without some", TEXT, min_frequency=2, drop=["a", "bb"]),
    one_hot("of nothing rare", min_frequency=1),
    ordinal(),
    ordinal("of integers", INTEGERS, NEW_INTEGERS, dtype=np.int64),
    ordinal("of text", TEXT, dtype=np.int32),
    ordinal("in an order", TEXT, **ORDER),
    ordinal("of unknown values", new=UNKNOWN, **CODED, encoded_missing_value=-2, dtype=int),
    ordinal("of unknown values as NaN", new=UNKNOWN, **(CODED | {"unknown_value": np.nan})),
    ordinal("of rare values", new=UNKNOWN, **CODED, min_frequency=2),
    ordinal("of few values", MIXED, max_categories=2),
]
