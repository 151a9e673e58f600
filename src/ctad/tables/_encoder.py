"""TableEncoder: a table with mixed columns, as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from numbers import Real
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from .._frames import check_has_columns, columns_by_name
from .._quoting import listed, quoted
from .._types import Booleans, Floats
from .._validation import check_choice
from .._warnings import warn_user
from ..errors import InputError
from ._category_features import CategoryFeatures
from ._columns import Column, ColumnKind, ColumnValues
from ._date_features import DateFeatures
from ._dropped_columns import reason_to_drop
from ._feature import Feature
from ._numeric_features import ORDERED, NumericFeatures, check_finite
from ._reading import read_column

if TYPE_CHECKING:
    import pyarrow as pa

SCALINGS = ("auto", "standard", None)
# Features of a table: more of them are hardly useful, and rows need memory for each.
MIN_LIMIT, MAX_LIMIT, LIMIT_PER_COLUMN = 20_000, 100_000, 10
DERIVED = ("features_", "_groups")  # from the fitted attributes, when first used


class TableEncoder(TransformerMixin, BaseEstimator):
    """Turn a table with numbers, text, dates and missing values into numbers.

    Everything is fitted on the rows passed to `fit`. Columns are encoded by their kind:

    - numbers: missing values are filled with the median, and a feature "is missing" is added if
      training rows had missing values. Durations are numbers, in seconds.
    - booleans: 0 and 1; missing values as in numbers, but filled with the more frequent value.
    - text and categories: one feature of 0 and 1 per value. A missing value is a value. Rare values
      and values that did not occur in training share one feature. If no value was rare, a new value
      is 0 in all features. It is then far from others for detectors that measure distances, but not
      for those that split one feature at a time, such as isolation forests.
    - dates: a number that keeps the order (days since 1970), and sine and cosine of the time of
      day, the day of the week and the season. Times of day: hours, sine and cosine.
    - not used, with a warning that names them: constant columns; identifiers, which are text that
      hardly repeats, integers that look like row numbers, and integers too large for floating
      point; and lists, structs and bytes.

    Parameters
    ----------
    ignore : sequence of str, default=()
        Columns to leave out.
    keep : sequence of str, default=()
        Columns of integers to use although they look like row numbers.
    min_frequency : float, default=0.01
        A text value is rare if less than this share of the training rows has it, or only one row.
    scaling : {"auto", "standard", None}, default="auto"
        "standard" scales numbers and dates to mean 0 and standard deviation 1. "auto" does so
        unless all columns are numbers without missing values: these stay as they are, like the
        numbers of an array.

    Attributes
    ----------
    columns_ : list of Column
        Name, kind and type of the columns in use.
    dropped_ : dict of str to str
        Columns not in use, and why.
    features_ : list of Feature
        Name of each feature, and the column it comes from.
    scaling_ : {"standard", None}
        The scaling in use. None, too, if there are no numbers and dates.
    number_imputer_, boolean_imputer_, date_imputer_ : SimpleImputer or None
        Fill missing values in numbers and dates, in booleans, and in sines and cosines of dates.
    number_scaler_ : StandardScaler or None
    category_encoder_ : OneHotEncoder or None
    varies_ : ndarray of bool
        Which of all features are in use: those that were not constant in training.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        All columns of the training table.

    Notes
    -----
    New tables may have their columns in any order, and more of them; pandas, polars and Arrow
    are interchangeable. A column that is missing or of another kind is an error. A missing value in
    a column that had none in training is filled, with a warning.

    Examples
    --------
    >>> import polars as pl
    >>> from ctad.tables import TableEncoder
    >>> table = pl.DataFrame({"age": [30, None, 50, 40], "plan": ["a", "b", "a", "b"]})
    >>> encoder = TableEncoder().fit(table)
    >>> encoder.transform(table[:2])
    array([[-1.41421356,  0.        ,  1.        ,  0.        ],
           [ 0.        ,  1.        ,  0.        ,  1.        ]])
    >>> [f"{feature.name} from {feature.source}" for feature in encoder.features_]
    ['age from age', 'age is missing from age', 'plan=a from plan', 'plan=b from plan']
    """

    columns_: list[Column]
    dropped_: dict[str, str]
    number_imputer_: SimpleImputer | None
    number_scaler_: StandardScaler | None
    boolean_imputer_: SimpleImputer | None
    category_encoder_: OneHotEncoder | None
    date_imputer_: SimpleImputer | None
    varies_: Booleans
    n_features_in_: int
    feature_names_in_: npt.NDArray[np.object_]

    def __init__(
        self,
        *,
        ignore: Sequence[str] = (),
        keep: Sequence[str] = (),
        min_frequency: float = 0.01,
        scaling: str | None = "auto",
    ) -> None:
        self.ignore = ignore
        self.keep = keep
        self.min_frequency = min_frequency
        self.scaling = scaling

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit to a table.

        Parameters
        ----------
        X : pandas, polars or Arrow table
            Normal rows.
        y : ignored

        Returns
        -------
        self
        """
        self.fit_transform(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Floats:
        """Fit to a table and encode its rows.

        Parameters
        ----------
        X : pandas, polars or Arrow table
            Normal rows.
        y : ignored

        Returns
        -------
        ndarray of shape (n, features)
        """
        for name in (*DERIVED, "varies_"):  # a failed fit leaves nothing fitted
            self.__dict__.pop(name, None)
        check_choice("scaling", self.scaling, SCALINGS)
        if not (isinstance(self.min_frequency, Real) and 0 <= self.min_frequency <= 1):
            raise InputError(f"min_frequency must be a share in [0, 1], not {self.min_frequency!r}")
        series = _columns_with_rows(X)
        check_has_columns(series, [*self.ignore, *self.keep])
        values = self._usable_columns(series)
        self.columns_ = [read.column for read in values.values()]
        self._fit_features(values)
        self._check_size(len(series))
        encoded = self._encode(values)
        self.feature_names_in_ = np.array(list(series), dtype=object)
        self.n_features_in_ = len(series)
        self.varies_ = (encoded != encoded[0]).any(axis=0)
        dropped = {name: why for name, why in self.dropped_.items() if why != "ignored"}
        if dropped:
            warn_user(f"not used: {_reasons(dropped)}.")
        return self._varying(encoded)

    def transform(self, X: Any) -> Floats:
        """Encode rows.

        Parameters
        ----------
        X : pandas, polars or Arrow table
            With at least the columns in use, in any order.

        Returns
        -------
        ndarray of shape (n, features)
        """
        used = self.read(X)
        for then, now in zip(self.columns_, (read.column for read in used), strict=True):
            if now.kind not in (then.kind, ColumnKind.EMPTY):
                raise InputError(
                    f"column {then.name!r} was of kind {then.kind} ({then.dtype}) in training and "
                    f"is of kind {now.kind} ({now.dtype}) now"
                )
        return self._varying(self._encode({read.column.name: read for read in used}))

    def check(self, X: Any) -> None:
        """Raise if `fit` would refuse a table.

        Parameters
        ----------
        X : pandas, polars or Arrow table
        """
        for name, series in _columns_with_rows(X).items():
            if name not in self.ignore:
                check_finite(read_column(name, series))

    def read(self, X: Any) -> list[ColumnValues]:
        """The columns in use of a table, in their own units.

        Parameters
        ----------
        X : pandas, polars or Arrow table

        Returns
        -------
        list of ColumnValues
            In the order of `columns_`.
        """
        check_is_fitted(self)
        series = _columns_with_rows(X)
        check_has_columns(series, [column.name for column in self.columns_])
        return [read_column(column.name, series[column.name]) for column in self.columns_]

    def decode(self, rows: Floats) -> list[ColumnValues]:
        """The columns in use of encoded rows, in their own units.

        Rounding may change the last digits of scaled numbers. A text that was rare or did not occur
        in training is "rare".

        Parameters
        ----------
        rows : ndarray of shape (n, features)

        Returns
        -------
        list of ColumnValues
            In the order of `columns_`.
        """
        check_is_fitted(self)
        encoded = dict(zip(self.features_, rows.T, strict=True))
        decoded: dict[Column, Any] = {}
        for group in self._groups:
            if not isinstance(group, DateFeatures):
                decoded |= group.decode(encoded, len(rows))
        return [ColumnValues(column, decoded[column]) for column in self.columns_]

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """Names of the features."""
        check_is_fitted(self)
        return np.array([feature.name for feature in self.features_], dtype=object)

    def arrow_schema(self) -> pa.Schema:
        """The Arrow types of the columns in use, for reading them from text files."""
        import pyarrow as pa

        check_is_fitted(self)
        types = {
            ColumnKind.NUMBER: pa.float64(),
            ColumnKind.BOOLEAN: pa.bool_(),
            ColumnKind.CATEGORY: pa.string(),
            ColumnKind.DATE: pa.timestamp("us"),
            ColumnKind.ZONED_DATE: pa.timestamp("us", tz="UTC"),
            ColumnKind.TIME: pa.time64("us"),
        }
        return pa.schema([(column.name, types[column.kind]) for column in self.columns_])

    @cached_property
    def features_(self) -> list[Feature]:
        """Name of each feature, and the column it comes from."""
        check_is_fitted(self)
        features = [feature for group in self._groups for feature in group.features()]
        return [feature for feature, varies in zip(features, self.varies_, strict=True) if varies]

    @property
    def scaling_(self) -> str | None:
        """The scaling in use."""
        check_is_fitted(self)
        return None if self.number_scaler_ is None else "standard"

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "varies_")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.categorical = tags.input_tags.allow_nan = True
        return tags

    def _usable_columns(self, series: dict[str, Any]) -> dict[str, ColumnValues]:
        """The columns to use; fills `dropped_` with the others."""
        used, self.dropped_ = {}, {}
        for name, column in series.items():
            if name in self.ignore:
                self.dropped_[name] = "ignored"
                continue
            read = read_column(name, column)
            why = reason_to_drop(
                read, min_rows=self._min_rows(len(column)), keep_counters=name in self.keep
            )
            if why:
                self.dropped_[name] = why
            else:
                used[name] = read
        if not used:
            reasons = _reasons(self.dropped_) or "the table has none"
            raise InputError(f"no column can be used: {reasons}")
        return used

    def _min_rows(self, n_rows: int) -> int:
        """A text value of fewer rows is rare."""
        return max(2, int(np.ceil(self.min_frequency * n_rows)))

    def _fit_features(self, values: dict[str, ColumnValues]) -> None:
        self.number_imputer_ = self.number_scaler_ = self.boolean_imputer_ = None
        self.category_encoder_ = self.date_imputer_ = None
        ordered, booleans = self._of_kind(*ORDERED), self._of_kind(ColumnKind.BOOLEAN)
        categories, with_cycles = self._of_kind(ColumnKind.CATEGORY), self._with_cycles()
        if ordered:
            as_given = len(self._of_kind(ColumnKind.NUMBER)) == len(values) and not any(
                np.isnan(read.values).any() for read in values.values()
            )
            scaled = self.scaling == "standard" or (self.scaling == "auto" and not as_given)
            numbers = NumericFeatures.fitted(ordered, values, strategy="median", scaled=scaled)
            self.number_imputer_, self.number_scaler_ = numbers.imputer, numbers.scaler
        if booleans:
            self.boolean_imputer_ = NumericFeatures.fitted(
                booleans, values, strategy="most_frequent"
            ).imputer
        if categories:
            n_rows = len(values[categories[0].name].values)
            self.category_encoder_ = CategoryFeatures.fitted(
                categories, values, min_rows=self._min_rows(n_rows)
            ).encoder
        if with_cycles:
            self.date_imputer_ = DateFeatures.fitted(with_cycles, values).imputer

    def _check_size(self, n_columns: int) -> None:
        n_features = sum(len(group.features()) for group in self._groups)
        most = most_features(n_columns)
        if n_features > most:
            raise InputError(
                f"the columns give {n_features:,} features, more than {most:,}: leave out columns "
                "by ignore=, or raise min_frequency so that fewer text values have their own."
            )

    def _of_kind(self, *kinds: ColumnKind) -> list[Column]:
        return [column for column in self.columns_ if column.kind in kinds]

    def _with_cycles(self) -> list[Column]:
        return [column for column in self.columns_ if column.kind.cycles]

    @cached_property
    def _groups(self) -> list[NumericFeatures | CategoryFeatures | DateFeatures]:
        """The groups of features, in the order of the encoded rows."""
        groups: list[NumericFeatures | CategoryFeatures | DateFeatures] = []
        if self.number_imputer_ is not None:
            ordered = self._of_kind(*ORDERED)
            groups.append(NumericFeatures(ordered, self.number_imputer_, self.number_scaler_))
        if self.boolean_imputer_ is not None:
            booleans = self._of_kind(ColumnKind.BOOLEAN)
            groups.append(NumericFeatures(booleans, self.boolean_imputer_))
        if self.category_encoder_ is not None:
            categories = self._of_kind(ColumnKind.CATEGORY)
            groups.append(CategoryFeatures(categories, self.category_encoder_))
        if self.date_imputer_ is not None:
            groups.append(DateFeatures(self._with_cycles(), self.date_imputer_))
        return groups

    def _encode(self, values: dict[str, ColumnValues]) -> Floats:
        return np.hstack([group.transform(values) for group in self._groups])

    def _varying(self, encoded: Floats) -> Floats:
        return encoded if self.varies_.all() else encoded[:, self.varies_]


def most_features(n_columns: int) -> int:
    """The number of features that a table may have.

    Parameters
    ----------
    n_columns : int

    Returns
    -------
    int
        One per column, and ten per column while these are below 100,000. Never less than 20,000.

    Examples
    --------
    >>> most_features(5), most_features(3000), most_features(200_000)
    (20000, 30000, 200000)
    """
    return max(MIN_LIMIT, min(MAX_LIMIT, LIMIT_PER_COLUMN * n_columns), n_columns)


def _reasons(dropped: dict[str, str]) -> str:
    """Columns and why they are not used, for messages."""
    return listed(f"{quoted(name)} ({why})" for name, why in dropped.items())


def _columns_with_rows(X: Any) -> dict[str, Any]:
    """The columns of a table that has rows."""
    series = columns_by_name(X)
    if series and not len(next(iter(series.values()))):
        raise InputError("the table has 0 samples (rows): at least one is needed")
    return series
