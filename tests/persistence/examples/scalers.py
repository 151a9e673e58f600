"""Scalers of scikit-learn."""

import numpy as np
import pandas as pd
from sklearn.preprocessing import (
    Binarizer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

from . import X_NEW, X_TRAIN, Example

TABLE, NEW_TABLE = (pd.DataFrame(rows, columns=["a", "b", "c"]) for rows in (X_TRAIN, X_NEW))
GAPS = np.where(X_TRAIN > 1, np.nan, X_TRAIN)
EMPTY_COLUMN = np.where([True, False, True], X_TRAIN, np.nan)
SINGLE, NEW_SINGLE = X_TRAIN.astype(np.float32), X_NEW.astype(np.float32)
CONSTANT = X_TRAIN * [1, 0, 1]


def scaler(name, scaler, rows=X_TRAIN, new=X_NEW, **fit):
    type_name = f"sklearn.preprocessing.{type(scaler).__name__}"
    return Example(type_name, lambda: scaler.fit(rows, **fit), new, name)


def in_two_parts():
    return MinMaxScaler().partial_fit(X_TRAIN[:30]).partial_fit(X_TRAIN[30:])


EXAMPLES = [
    scaler("", StandardScaler()),
    scaler("with names", StandardScaler(), TABLE, NEW_TABLE),
    scaler("that gives tables", StandardScaler().set_output(transform="pandas"), TABLE, NEW_TABLE),
    scaler("of missing values", StandardScaler(), GAPS),
    scaler("with an empty column", StandardScaler(), EMPTY_COLUMN),
    scaler("with weights", StandardScaler(), GAPS, sample_weight=np.arange(60) / 7),
    scaler("without mean", StandardScaler(with_mean=False, copy=False)),
    scaler("without scale", StandardScaler(with_std=False)),
    scaler("that does nothing", StandardScaler(with_mean=False, with_std=False)),
    scaler("of float32", StandardScaler(), SINGLE, NEW_SINGLE),
    scaler("of a constant", StandardScaler(), CONSTANT),
    scaler("", MinMaxScaler()),
    scaler("clipped", MinMaxScaler((-2, 0.5), clip=True), TABLE, NEW_TABLE),
    scaler("of float32", MinMaxScaler(), SINGLE, NEW_SINGLE),
    scaler("of missing values", MinMaxScaler(), GAPS),
    Example("sklearn.preprocessing.MinMaxScaler", in_two_parts, name="in two parts"),
    scaler("", MaxAbsScaler()),
    scaler("of missing values", MaxAbsScaler(), GAPS),
    scaler("of a constant", MaxAbsScaler(), CONSTANT, NEW_SINGLE),
    scaler("", RobustScaler()),
    scaler("of float32", RobustScaler(unit_variance=True), SINGLE, NEW_SINGLE),
    scaler("without centre", RobustScaler(with_centering=False, quantile_range=(5, 95.0)), GAPS),
    scaler("without scale", RobustScaler(with_scaling=False), TABLE, NEW_TABLE),
    scaler("", QuantileTransformer(n_quantiles=20, random_state=0)),
    scaler("to a normal", QuantileTransformer(output_distribution="normal", subsample=None), TABLE),
    scaler("of one quantile", QuantileTransformer(n_quantiles=1), EMPTY_COLUMN),
    scaler("of float32", QuantileTransformer(n_quantiles=9), SINGLE, NEW_SINGLE),
    scaler("", PowerTransformer()),
    scaler("box-cox", PowerTransformer("box-cox"), abs(X_TRAIN), abs(X_NEW)),
    scaler("not standardised", PowerTransformer(standardize=False), CONSTANT),
    scaler("of float32", PowerTransformer(), SINGLE, NEW_SINGLE),
    scaler("with names", PowerTransformer(), TABLE, NEW_TABLE),
    scaler("", Normalizer()),
    scaler("by the maximum", Normalizer("max"), TABLE, NEW_TABLE),
    scaler("", Binarizer(threshold=0.5)),
]
