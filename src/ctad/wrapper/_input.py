"""Arrays and tables as numeric rows, and in the form the detector was trained on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import FeatureUnion
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import get_tags

from .._frames import is_table, library_of, new_table, to_library
from .._quoting import listed, quoted
from .._types import Floats, Rows
from .._validation import check_new_rows, check_training_rows
from .._warnings import warn_user
from ..errors import InputError
from ..tables import Column, ColumnKind, ColumnValues, TableEncoder, numeric_columns
from ._nested_detectors import first_step

# The form in which a detector gets the rows of a table: the features of the encoder, the numbers of
# the table as they are, or a table of one of these libraries.
ENCODED = "encoded"
NUMBERS = "numbers"
DETECTOR_FORMS = (ENCODED, NUMBERS, "pandas", "polars", "pyarrow")


@dataclass(frozen=True, eq=False)
class InputConverter:
    """Turn arrays and tables into numeric rows, and into what the detector was trained on.

    Attributes
    ----------
    column_names : tuple of str
        The columns of the training rows: "column 0" and so on if they had no names.
    encoder : TableEncoder or None
        Fitted; None if the training rows were an array.
    detector_form : {"encoded", "numbers", "pandas", "polars", "pyarrow"}
        The form in which the detector gets a table: the features of the encoder, the numbers of the
        table as they are, or a table of this library.
    detector_columns : tuple of str or None
        The columns, in order, that a detector fitted before needs. None: `column_names`.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.base import BaseEstimator
    >>> from sklearn.ensemble import IsolationForest
    >>> from ctad.wrapper import InputConverter
    >>> X = pd.DataFrame({"amount": [1.0, 2.0, 3.0, 4.0], "plan": ["a", "b", "a", "b"]})
    >>> converter, rows = InputConverter.fitted(
    ...     X, estimator=BaseEstimator(), detector=IsolationForest()
    ... )
    >>> rows.shape, converter.feature_sources, converter.detector_form
    ((4, 3), ['amount', 'plan', 'plan'], 'encoded')
    """

    column_names: tuple[str, ...]
    encoder: TableEncoder | None = None
    detector_form: str = NUMBERS
    detector_columns: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if self.detector_form not in DETECTOR_FORMS:
            raise InputError(f"{self.detector_form!r} is not one of {', '.join(DETECTOR_FORMS)}")

    @classmethod
    def fitted(
        cls,
        X: Any,
        *,
        estimator: BaseEstimator,
        detector: Any,
        encoder: TableEncoder | None = None,
        is_trained: bool = False,
    ) -> tuple[Self, Floats]:
        """Fit to training rows.

        Parameters
        ----------
        X : array-like or data frame of shape (n, D)
        estimator : BaseEstimator
            Named in errors. Gets `n_features_in_` and, for named columns, `feature_names_in_`.
        detector : object
            The detector that gets the rows.
        encoder : TableEncoder, optional
            Cloned and fitted if `X` is a table. None: `TableEncoder()`.
        is_trained : bool, default=False
            Whether the detector was fitted before.

        Returns
        -------
        InputConverter, ndarray of shape (n, features)
            The converter and the numeric training rows.
        """
        if not is_table(X):
            rows = check_training_rows(estimator, X)
            return cls(_column_names(estimator)), rows
        if X.shape[0] == 1:
            raise InputError("the table has 1 row: training needs at least 2 rows")
        fitted = TableEncoder() if encoder is None else clone(encoder)
        rows = fitted.fit_transform(X)
        estimator.n_features_in_ = fitted.n_features_in_
        estimator.feature_names_in_ = fitted.feature_names_in_
        if _reads_tables(detector, is_trained):
            form = library_of(X)
        else:
            form = NUMBERS if is_trained else ENCODED
        return cls.for_detector(estimator, detector, fitted, form), rows

    @classmethod
    def for_detector(
        cls,
        estimator: BaseEstimator,
        detector: Any,
        encoder: TableEncoder | None,
        detector_form: str,
    ) -> Self:
        """A converter for the columns that an estimator was fitted on.

        Parameters
        ----------
        estimator : BaseEstimator
            With `n_features_in_` and, for named columns, `feature_names_in_`.
        detector : object
            If it has `feature_names_in_`, it gets these columns of a table.
        encoder : TableEncoder or None
            Fitted; None if the training rows were an array.
        detector_form : {"encoded", "numbers", "pandas", "polars", "pyarrow"}

        Returns
        -------
        InputConverter
        """
        known = getattr(first_step(detector), "feature_names_in_", None)
        if encoder is None or known is None:
            return cls(_column_names(estimator), encoder, detector_form)
        return cls(_column_names(estimator), encoder, detector_form, tuple(map(str, known)))

    def numeric_rows(self, X: Any, estimator: BaseEstimator) -> Rows:
        """The rows as numbers, as the calibrator gets them.

        Parameters
        ----------
        X : array-like or data frame of shape (n, D)
        estimator : BaseEstimator
            The one that `fitted` got.

        Returns
        -------
        ndarray of shape (n, features)
        """
        if self.encoder is None:
            return check_new_rows(estimator, X)
        rows: Floats = self.encoder.transform(X)
        return rows

    def as_table(self, X: Any, estimator: BaseEstimator) -> Any:
        """Turn an array into a table, if the converter was fitted to a table.

        The columns are those of training, in their order. As scikit-learn does, warn that the array
        has no column names.

        Parameters
        ----------
        X : array-like or data frame of shape (n, D)
        estimator : BaseEstimator
            Named in messages.

        Returns
        -------
        array-like or data frame
        """
        if self.encoder is None or is_table(X) or hasattr(X, "collect"):
            return X
        values, name = np.asarray(X), type(estimator).__name__
        if values.ndim != 2 or values.shape[1] != len(self.column_names):
            raise InputError(
                f"X has shape {values.shape}, but {name} is expecting "
                f"{len(self.column_names)} features as input: it was fitted with the columns "
                f"{listed(map(quoted, self.column_names))}"
            )
        for column in self.encoder.columns_:
            if column.kind != ColumnKind.NUMBER:
                raise InputError(
                    f"{name} was fitted on a table whose column {column.name!r} is not numeric "
                    f"({column.kind}), so it needs a pandas, polars or Arrow table, not "
                    f"{type(X).__name__}"
                )
        if values.dtype.kind not in "biuf":
            raise InputError(f"X is an array of dtype {values.dtype}, but numbers are needed")
        warn_user(f"X does not have valid feature names, but {name} was fitted with feature names")
        columns = (values[:, i] for i in range(values.shape[1]))
        return new_table(dict(zip(self.column_names, columns, strict=True)))

    def detector_rows(self, X: Any, rows: Rows) -> Any:
        """The rows in the form the detector was trained on.

        Parameters
        ----------
        X : array-like or data frame of shape (n, D)
        rows : ndarray
            `numeric_rows(X)`.

        Returns
        -------
        ndarray or data frame
        """
        if self.encoder is None or self.detector_form == ENCODED:
            return rows
        if self.detector_form == NUMBERS:
            return numeric_columns(
                X,
                list(self.column_names),
                needed_by="a detector that was fitted before on an array",
            )
        return to_library(self.detector_form, X, list(self.detector_columns or self.column_names))

    @property
    def columns_in_use(self) -> list[str]:
        """The columns that scores depend on."""
        if self.encoder is None:
            return list(self.column_names)
        return [column.name for column in self.encoder.columns_]

    @property
    def feature_sources(self) -> list[str]:
        """The column that each feature of a numeric row comes from."""
        if self.encoder is None:
            return list(self.column_names)
        return [feature.source for feature in self.encoder.features_]

    @property
    def feature_cycles(self) -> list[str | None]:
        """The cycle of a date, such as "day", that each feature is a position in, or None."""
        if self.encoder is None:
            return [None] * len(self.column_names)
        return [feature.cycle for feature in self.encoder.features_]

    def column_values(self, X: Any, rows: Rows) -> list[ColumnValues]:
        """The columns in use of new rows, in their own units.

        Parameters
        ----------
        X : array-like or data frame of shape (n, D)
        rows : ndarray
            `numeric_rows(X)`.

        Returns
        -------
        list of ColumnValues
        """
        return self.decoded(rows) if self.encoder is None else self.encoder.read(X)

    def decoded(self, rows: Rows) -> list[ColumnValues]:
        """The columns in use of numeric rows, converted back to their own units.

        Parameters
        ----------
        rows : ndarray of shape (n, features)

        Returns
        -------
        list of ColumnValues
        """
        if self.encoder is not None:
            return self.encoder.decode(np.asarray(rows, dtype=np.float64))
        dtype = str(rows.dtype)
        columns = [Column(name, ColumnKind.NUMBER, dtype) for name in self.column_names]
        return [ColumnValues(column, rows[:, i]) for i, column in enumerate(columns)]


def _column_names(estimator: BaseEstimator) -> tuple[str, ...]:
    """The columns of a fitted estimator by name, or by number if they had no names."""
    numbered = [f"column {place}" for place in range(estimator.n_features_in_)]
    return tuple(getattr(estimator, "feature_names_in_", numbered))


def _reads_tables(detector: Any, is_trained: bool) -> bool:
    """Whether a table goes to the detector as it is, because it may use column names.

    Single detectors of scikit-learn, PyOD and ctad do not use them, unless they were fitted with
    them.
    """
    first = first_step(detector)
    if is_trained and hasattr(first, "feature_names_in_"):
        return True
    if not type(first).__module__.startswith(("pyod.", "sklearn.", "ctad.detectors.")):
        return True
    if isinstance(first, ColumnTransformer | FeatureUnion | FunctionTransformer):
        return True
    takes = get_tags(first).input_tags if isinstance(first, BaseEstimator) else None
    return takes is not None and (takes.categorical or takes.string)
