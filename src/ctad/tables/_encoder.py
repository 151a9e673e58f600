"""TableEncoder: a table with mixed columns, as numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from .._types import Floats
from .._validation import check_choice
from .._warnings import warn_user
from ..errors import InputError
from ._columns import (
    BOOLEAN,
    CATEGORY,
    DATE,
    EMPTY,
    NUMBER,
    TIME,
    ZONED_DATE,
    Column,
    Values,
    read_column,
    require_columns,
    table_columns,
)
from ._datetime import CLOCKS, CYCLES, cycles_of, on_circles, unit_of
from ._dropped_columns import reason_to_drop

if TYPE_CHECKING:
    import pyarrow as pa

SCALINGS = ("auto", "standard", None)

ORDERED = (NUMBER, *CLOCKS)


class Rare(str):
    """A text that is none of those with a column of their own."""


RARE = Rare("rare")


class Feature(NamedTuple):
    """An encoded column: its name and the column of the table it comes from.

    Attributes
    ----------
    name : str
    source : str
        The column of the table.
    """

    name: str
    source: str


class TableEncoder(TransformerMixin, BaseEstimator):
    """Turn a table with numbers, text, dates and gaps into numbers.

    Everything is learnt from the rows passed to `fit`. Each column is treated by its kind:

    - numbers: gaps are filled with the median, and a column "is missing" is added where
      training rows had gaps. Durations are numbers, in seconds.
    - booleans: 0 and 1; gaps as in numbers, but filled with the more frequent value.
    - text and categories: one column of 0 and 1 per value; a gap is a value. Rare values share
      one column, with values never seen in training. If no value was rare, a value never seen is
      0 in all columns: far from others for detectors that measure distances, but not for those
      that cut one column at a time, such as isolation forests.
    - dates: a number that keeps the order (days since 1970), and sine and cosine of the time of
      day, the day of the week and the season. Times of day: hours, sine and cosine.
    - not used, with a warning that names them: constant columns; identifiers, which are text that
      hardly repeats, integers that count the rows, and integers too large for floating point;
      and lists, structs and bytes.

    Parameters
    ----------
    ignore : sequence of str, default=()
        Columns to leave out.
    keep : sequence of str, default=()
        Columns of integers to use although they seem to count the rows.
    min_frequency : float, default=0.01
        A text value is rare if less than this share of the training rows has it, or one row.
    scaling : {"auto", "standard", None}, default="auto"
        "standard" divides numbers and dates, less their mean, by their standard deviation.
        "auto" does so unless the table has nothing but numbers without gaps: these stay as
        they are, like the numbers of an array.

    Attributes
    ----------
    columns_ : list of Column
        Name, kind and type of the columns in use.
    dropped_ : dict of str to str
        Columns not in use and why.
    features_ : list of Feature
        Name of each encoded column, and the column it comes from.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        All columns of the training table.

    Notes
    -----
    New tables may have their columns in any order, and more of them; pandas, polars and Arrow
    are interchangeable. A column that is missing or of another kind is an error. A gap in a column
    that had none in training is filled, with a warning.

    Examples
    --------
    >>> import polars as pl
    >>> from ctad.tables import TableEncoder
    >>> table = pl.DataFrame({"age": [30, None, 50, 40], "plan": ["a", "b", "a", "b"]})
    >>> encoder = TableEncoder().fit(table)
    >>> encoder.transform(table[:2])
    array([[-1.41421356,  0.        ,  1.        ,  0.        ],
           [ 0.        ,  1.        ,  0.        ,  1.        ]])
    >>> [f"{name} from {source}" for name, source in encoder.features_]
    ['age from age', 'age is missing from age', 'plan=a from plan', 'plan=b from plan']
    """

    columns_: list[Column]
    dropped_: dict[str, str]
    features_: list[Feature]
    n_features_in_: int
    feature_names_in_: npt.NDArray[np.object_]
    # What scikit-learn learns: how to fill the gaps of numbers, booleans and cycles, how to scale
    # numbers, and the values of categories.
    _parts: dict[str, Any]
    _varies: npt.NDArray[np.bool_]  # of all encoded columns, those that were not constant

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
        """Learn what the columns are.

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
        """Learn what the columns are and encode the same rows.

        Parameters
        ----------
        X : pandas, polars or Arrow table
            Normal rows.
        y : ignored

        Returns
        -------
        ndarray of shape (n, features)
        """
        self.__dict__.pop("features_", None)  # not fitted until all is well
        check_choice("scaling", self.scaling, SCALINGS)
        if not (isinstance(self.min_frequency, Real) and 0 <= self.min_frequency <= 1):
            raise InputError(f"min_frequency must be a share in [0, 1], not {self.min_frequency!r}")
        series = _with_rows(X)
        require_columns(series, [*self.ignore, *self.keep])
        used, self.dropped_ = self._sorted_out(series)
        if not used:
            listed = ", ".join(f"{name!r} ({why})" for name, why in self.dropped_.items())
            raise InputError(f"no column is left to learn from: {listed or 'the table has none'}")
        self.columns_ = [values.column for values in used]
        self._learn(used)
        encoded = self._encode(used)
        self._varies = (encoded != encoded[0]).any(axis=0)
        self.feature_names_in_ = np.array(list(series), dtype=object)
        self.n_features_in_ = len(series)
        self.features_ = self._kept_features()
        dropped = [f"{name!r} ({why})" for name, why in self.dropped_.items() if why != "ignored"]
        if dropped:
            warn_user(f"not used: {', '.join(dropped)}.")
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
        for then, now in zip(self.columns_, used, strict=True):
            if now.column.kind not in (then.kind, EMPTY):
                raise InputError(
                    f"column {then.name!r} was of kind {then.kind} ({then.dtype}) in training and "
                    f"is of kind {now.column.kind} ({now.column.dtype}) now"
                )
        return self._varying(self._encode(used))

    def check(self, X: Any) -> None:
        """Raise if a table cannot be learnt from, without learning.

        Parameters
        ----------
        X : pandas, polars or Arrow table
        """
        for name, series in _with_rows(X).items():
            if name not in self.ignore:
                _require_finite(read_column(name, series))

    def decode(self, rows: Floats) -> list[Values]:
        """The columns in use of rows that `transform` gave, in their own units.

        Rounding may change the last digits of scaled numbers. A text that was rare or never seen
        in training is "rare".

        Parameters
        ----------
        rows : ndarray of shape (n, features)

        Returns
        -------
        list of Values
            As `columns_`.
        """
        check_is_fitted(self)
        values = dict(zip(self.features_, rows.T, strict=True))
        texts = dict(self._texts())
        return [
            Values(
                column,
                self._decoded_texts(column.name, texts[column.name], values, len(rows))
                if column.kind == CATEGORY
                else self._decoded_numbers(column, values, len(rows)),
                False,
            )
            for column in self.columns_
        ]

    def _decoded_numbers(self, column: Column, values: dict[Feature, Floats], n: int) -> Floats:
        name, kind, _ = column
        part, kinds = ("booleans", (BOOLEAN,)) if kind == BOOLEAN else ("numbers", ORDERED)
        place = self._names(*kinds).index(name)
        numbers = values.get(Feature(name, name))
        if numbers is None:  # all values that were there are equal, so it was left out
            numbers = np.full(n, self._parts[part].statistics_[place])
        elif part == "numbers" and "scaler" in self._parts:
            scaler = self._parts["scaler"]
            numbers = numbers * scaler.scale_[place] + scaler.mean_[place]
        missing = values.get(Feature(f"{name} is missing", name), np.zeros(n))
        return np.where(missing > 0.5, np.nan, numbers * unit_of(kind))

    def _decoded_texts(
        self, name: str, texts: list[Any], values: dict[Feature, Floats], n: int
    ) -> npt.NDArray[np.object_]:
        decoded = np.full(n, RARE, dtype=object)
        for text in texts:
            decoded[values[self._feature_of(name, text)] > 0.5] = text
        return decoded

    def cycle_of(self, feature: Feature) -> str | None:
        """Which cycle of a date an encoded column is the place in: "day", "week" or "year".

        Parameters
        ----------
        feature : Feature
            One of `features_`.

        Returns
        -------
        str or None
        """
        for cycle in CYCLES:
            if feature in _waves(feature.source, cycle):
                return cycle
        return None

    def read(self, X: Any) -> list[Values]:
        """The columns in use of a table, in their own units.

        Parameters
        ----------
        X : pandas, polars or Arrow table

        Returns
        -------
        list of Values
            As `columns_`.
        """
        check_is_fitted(self)
        series = _with_rows(X)
        require_columns(series, [column.name for column in self.columns_])
        return [read_column(column.name, series[column.name]) for column in self.columns_]

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """Names of the encoded columns."""
        check_is_fitted(self)
        return np.array([feature.name for feature in self.features_], dtype=object)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "features_")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.categorical = tags.input_tags.allow_nan = True
        return tags

    def _sorted_out(self, series: dict[str, Any]) -> tuple[list[Values], dict[str, str]]:
        """The columns to use, and why not the others."""
        used, dropped = [], {}
        for name, column in series.items():
            if name in self.ignore:
                dropped[name] = "ignored"
                continue
            values = read_column(name, column)
            why = reason_to_drop(
                values, frequent=self._frequent(len(column)), may_count=name in self.keep
            )
            if why:
                dropped[name] = why
            else:
                used.append(values)
        return used, dropped

    def _frequent(self, n_rows: int) -> int:
        """The number of rows from which on a text value is not rare."""
        return max(2, int(np.ceil(self.min_frequency * n_rows)))

    def _learn(self, used: list[Values]) -> None:
        ordered, booleans, texts = self._by_treatment(used)
        self._parts = {}
        if ordered.size:
            imputer = SimpleImputer(strategy="median", add_indicator=True).fit(ordered)
            self._parts["numbers"] = imputer
            only_numbers = all(column.kind == NUMBER for column in self.columns_)
            as_given = only_numbers and not np.isnan(ordered).any()
            if self.scaling == "standard" or (self.scaling == "auto" and not as_given):
                filled = imputer.transform(ordered)[:, : ordered.shape[1]]
                self._parts["scaler"] = StandardScaler().fit(filled)
        if booleans.size:
            self._parts["booleans"] = SimpleImputer(
                strategy="most_frequent", add_indicator=True
            ).fit(booleans)
        if texts.size:
            self._parts["categories"] = OneHotEncoder(
                handle_unknown="infrequent_if_exist",
                min_frequency=self._frequent(len(texts)),
                sparse_output=False,
            ).fit(texts)
        cycles = self._cycles(used)
        if cycles.size:
            self._parts["cycles"] = SimpleImputer(strategy="mean").fit(cycles)

    def _encode(self, used: list[Values]) -> Floats:
        ordered, booleans, texts = self._by_treatment(used)
        blocks = []
        if "numbers" in self._parts:
            block = self._filled("numbers", ordered, ORDERED)
            if "scaler" in self._parts:
                n = ordered.shape[1]
                block[:, :n] = self._parts["scaler"].transform(block[:, :n])
            blocks.append(block)
        if "booleans" in self._parts:
            blocks.append(self._filled("booleans", booleans, (BOOLEAN,)))
        if "categories" in self._parts:
            blocks.append(self._parts["categories"].transform(texts))
        if "cycles" in self._parts:
            blocks.append(self._parts["cycles"].transform(self._cycles(used)))
        return np.hstack(blocks)

    def _varying(self, encoded: Floats) -> Floats:
        return encoded if self._varies.all() else encoded[:, self._varies]

    def _cycles(self, used: list[Values]) -> Floats:
        """Sine and cosine of the place of dates and times in each of their cycles."""
        waves = [np.empty((len(used[0].values), 0))]
        for column, read in zip(self.columns_, used, strict=True):
            waves += on_circles(column.kind, read.values)
        return np.column_stack(waves)

    def _by_treatment(self, used: list[Values]) -> tuple[Floats, Floats, npt.NDArray[np.object_]]:
        """Numbers and dates, booleans, texts."""
        ordered, booleans, texts = [], [], []
        for (_, kind, _), read in zip(self.columns_, used, strict=True):
            if kind == CATEGORY:
                empty = read.column.kind == EMPTY
                texts.append(np.full(len(read.values), None) if empty else read.values)
            elif kind == BOOLEAN:
                booleans.append(read.values)
            else:
                _require_finite(read)
                ordered.append(read.values / unit_of(kind))
        n = len(used[0].values)
        return (
            np.column_stack(ordered) if ordered else np.empty((n, 0)),
            np.column_stack(booleans) if booleans else np.empty((n, 0)),
            np.column_stack(texts) if texts else np.empty((n, 0), dtype=object),
        )

    def _filled(self, part: str, values: Floats, kinds: tuple[str, ...]) -> Floats:
        """Gaps filled, and told of in columns of their own where training rows had them."""
        imputer = self._parts[part]
        with_gaps = np.flatnonzero(np.isnan(values).any(axis=0))
        unusual = np.setdiff1d(with_gaps, imputer.indicator_.features_)
        if len(unusual):
            names = self._names(*kinds)
            listed = ", ".join(repr(names[i]) for i in unusual)
            warn_user(
                f"gaps in {listed}, where training rows had none, are filled with what is usual "
                "in training, so these rows may look more normal than they are."
            )
        filled: Floats = imputer.transform(values)
        return filled

    def _names(self, *kinds: str) -> list[str]:
        return [column.name for column in self.columns_ if column.kind in kinds]

    def _texts(self) -> Iterator[tuple[str, list[Any]]]:
        """The texts of each category that have a column of their own; `RARE` stands for others."""
        if "categories" in self._parts:
            encoder = self._parts["categories"]
            for name, values, rare in zip(
                self._names(CATEGORY),
                encoder.categories_,
                encoder.infrequent_categories_,
                strict=True,
            ):
                rare = () if rare is None else rare
                yield name, [v for v in values if v not in rare] + ([RARE] if len(rare) else [])

    def _feature_of(self, name: str, text: Any) -> Feature:
        if text is RARE:
            return Feature(f"{name} is rare", name)
        return Feature(f"{name} is missing" if text is None else f"{name}={text}", name)

    def _all_features(self) -> Iterator[Feature]:
        """What `_encode` gives, in its order."""
        for part, kinds in (("numbers", ORDERED), ("booleans", (BOOLEAN,))):
            if part in self._parts:
                names = self._names(*kinds)
                yield from (Feature(name, name) for name in names)
                for i in self._parts[part].indicator_.features_:
                    yield Feature(f"{names[i]} is missing", names[i])
        for name, texts in self._texts():
            yield from (self._feature_of(name, text) for text in texts)
        for column in self.columns_:
            for cycle in cycles_of(column.kind):
                yield from _waves(column.name, cycle)

    def _to_state(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """What was learnt, for a model file: plain values, and scikit-learn's parts."""
        check_is_fitted(self)
        return {
            "columns": [column._asdict() for column in self.columns_],
            "dropped": self.dropped_,
            "all_columns": self.feature_names_in_.tolist(),
            "varies": self._varies.tolist(),
        }, self._parts

    def _from_state(self, state: dict[str, Any], parts: dict[str, Any]) -> Self:
        """Become what `_to_state` described."""
        self.columns_ = [Column(**column) for column in state["columns"]]
        self.dropped_ = dict(state["dropped"])
        self.feature_names_in_ = np.array(state["all_columns"], dtype=object)
        self.n_features_in_ = len(self.feature_names_in_)
        self._varies = np.array(state["varies"], dtype=bool)
        self._parts = parts
        self.features_ = self._kept_features()
        return self

    def _kept_features(self) -> list[Feature]:
        pairs = zip(self._all_features(), self._varies, strict=True)
        return [feature for feature, varies in pairs if varies]


def arrow_schema(encoder: TableEncoder) -> pa.Schema:
    """The Arrow types of the columns an encoder needs, for reading them from text files."""
    import pyarrow as pa

    types = {
        NUMBER: pa.float64(),
        BOOLEAN: pa.bool_(),
        CATEGORY: pa.string(),
        DATE: pa.timestamp("us"),
        ZONED_DATE: pa.timestamp("us", tz="UTC"),
        TIME: pa.time64("us"),
    }
    return pa.schema([(column.name, types[column.kind]) for column in encoder.columns_])


def _waves(name: str, cycle: str) -> tuple[Feature, Feature]:
    """What the place of a date in a cycle becomes."""
    return Feature(f"{name}: sine of {cycle}", name), Feature(f"{name}: cosine of {cycle}", name)


def _require_finite(read: Values) -> None:
    if read.column.kind not in ORDERED:
        return
    infinite = np.isinf(read.values)
    if infinite.any():
        raise InputError(
            f"column {read.column.name!r} is infinite in row {int(infinite.argmax())} "
            f"({infinite.sum()} of {len(infinite)} rows): drop these rows"
        )


def _with_rows(X: Any) -> dict[str, Any]:
    series = table_columns(X)
    if series and not len(next(iter(series.values()))):
        raise InputError("the table has 0 samples (rows): at least one is needed")
    return series
