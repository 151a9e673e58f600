"""Arrays and tables as numeric rows, and in the form the detector was trained on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone

from .._types import Floats, Rows
from .._validation import check_new_rows, check_training_rows
from .._warnings import warn_user
from ..errors import InputError
from ..tables import (
    NUMBER,
    Column,
    TableEncoder,
    Values,
    in_library,
    is_table,
    library_of,
    new_table,
    plain_numbers,
)
from ._adapters import columns_known_to, reads_tables

# The form in which a detector gets the rows of a table: numbers from the encoder, the plain
# numbers of the table, or the table itself as one of these libraries has it.
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
        What the detector gets of a table: the encoder's numbers, the plain numbers of the table, or
        a table of this library.
    detector_columns : tuple of str or None
        The columns, in order, that a detector trained before needs. None: `column_names`.
    """

    column_names: tuple[str, ...]
    encoder: TableEncoder | None = None
    detector_form: str = NUMBERS
    detector_columns: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if self.detector_form not in DETECTOR_FORMS:
            raise InputError(f"{self.detector_form!r} is not a form of table")

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
            The detector that will get the rows.
        encoder : TableEncoder, optional
            Cloned and fitted if `X` is a table. None: `TableEncoder()`.
        is_trained : bool, default=False
            Whether the detector was trained before.

        Returns
        -------
        InputConverter, ndarray of shape (n, features)
            The converter and the numeric training rows.
        """
        if not is_table(X):
            rows = check_training_rows(estimator, X)
            return cls(column_names(estimator)), rows
        fitted = TableEncoder() if encoder is None else clone(encoder)
        rows = fitted.fit_transform(X)
        estimator.n_features_in_ = fitted.n_features_in_
        estimator.feature_names_in_ = fitted.feature_names_in_
        if reads_tables(detector, is_trained):
            form = library_of(X)
        else:
            form = NUMBERS if is_trained else ENCODED
        return cls.of_table(column_names(estimator), fitted, form, detector), rows

    @classmethod
    def of_table(
        cls, names: tuple[str, ...], encoder: TableEncoder, detector_form: str, detector: Any
    ) -> Self:
        """A converter of tables for a detector."""
        known = columns_known_to(detector)
        return cls(names, encoder, detector_form, None if known is None else tuple(known))

    def numeric_rows(self, X: Any, estimator: BaseEstimator) -> Rows:
        """The rows as the numbers that the calibrator gets.

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
        """An array as a table with the columns of training, in their order; a table as it is.

        scikit-learn's behaviour: warn that the array has no column names. A converter that was
        fitted to an array returns anything as it is.
        """
        if self.encoder is None or is_table(X) or hasattr(X, "collect"):
            return X
        values, name = np.asarray(X), type(estimator).__name__
        if values.ndim != 2 or values.shape[1] != len(self.column_names):
            raise InputError(
                f"X has shape {values.shape}, but {name} is expecting "
                f"{len(self.column_names)} features as input: it was fitted with the columns "
                f"{', '.join(map(repr, self.column_names[:20]))}"
            )
        other = [c for c in self.encoder.columns_ if c.kind != NUMBER]
        if other:
            raise InputError(
                f"{name} was fitted on a table whose column {other[0].name!r} is not numeric "
                f"({other[0].kind}), so it needs a pandas, polars or Arrow table, not "
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
            What `numeric_rows` gave for them.

        Returns
        -------
        ndarray or data frame
        """
        if self.encoder is None or self.detector_form == ENCODED:
            return rows
        if self.detector_form == NUMBERS:
            return plain_numbers(
                X,
                list(self.column_names),
                needed_by="a detector that was trained before on an array",
            )
        return in_library(self.detector_form, X, list(self.detector_columns or self.column_names))

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
        return [self.encoder.cycle_of(feature) for feature in self.encoder.features_]

    def column_values(self, X: Any, rows: Rows) -> list[Values]:
        """The columns in use of new rows, in their own units.

        Parameters
        ----------
        X : array-like or data frame of shape (n, D)
        rows : ndarray
            What `numeric_rows` gave for them.

        Returns
        -------
        list of Values
        """
        return self.decoded(rows) if self.encoder is None else self.encoder.read(X)

    def decoded(self, rows: Rows) -> list[Values]:
        """The columns in use of numeric rows, in their own units."""
        if self.encoder is not None:
            return self.encoder.decode(np.asarray(rows, dtype=np.float64))
        columns = [Column(name, NUMBER, str(rows.dtype)) for name in self.column_names]
        return [Values(column, rows[:, i], False) for i, column in enumerate(columns)]


def column_names(estimator: BaseEstimator) -> tuple[str, ...]:
    """The columns of a fitted estimator by name, or by number if they had no names."""
    numbered = [f"column {place}" for place in range(estimator.n_features_in_)]
    return tuple(getattr(estimator, "feature_names_in_", numbered))
