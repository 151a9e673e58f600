"""`ColumnTransformer`: its columns are stored as indices, too, and are computed once more."""

from __future__ import annotations

import re
from collections import UserList
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .._description import Description, Values, set_attributes
from .._kinds import (
    ANY_LENGTH,
    Choice,
    Flag,
    Integer,
    Integers,
    Kind,
    ListOf,
    Number,
    OneOf,
    Optional,
    Record,
    Text,
    TupleOf,
    Unsaved,
    require,
    shown,
)
from ._composition import (
    TRANSFORMERS,
    PartOrWord,
    Weights,
    check_columns,
    check_names,
    is_described,
    note_prefixes,
)
from ._transformers_common import TRANSFORMER

if TYPE_CHECKING:
    from .._reader import Scope
    from .._writer import Writer

WORDS = ("drop", "passthrough")
UNFITTED = PartOrWord(WORDS, replace(TRANSFORMERS, fitted=None))
FITTED = PartOrWord(WORDS, TRANSFORMERS)
PARAMETERS = ("transformers", "sparse_threshold", "n_jobs", "transformer_weights")

# Types that `make_column_selector` selects, and names of dtypes.
TYPES: dict[str, Any] = {
    **{cls.__name__: cls for cls in (bool, int, float, complex, str, object)},
    **{cls.__name__: cls for cls in (np.number, np.integer, np.floating, np.float64, np.int64)},
}
DTYPE_NAMES = (
    *("number", "bool", "object", "str", "string", "category", "datetime", "timedelta"),
    *("integer", "floating", "float", "float32", "float64", "int", "int32", "int64"),
)
# A pattern without repetition takes no more than the length of a name, squared.
PATTERN = re.compile(r"[\w\s^$.|\[\]\\-]{0,200}")


@dataclass(frozen=True)
class SelectedType(Kind):
    """A type or the name of a dtype, as `make_column_selector` takes it."""

    def __str__(self) -> str:
        return f'{Choice(DTYPE_NAMES)}, or {{"type": {Choice(tuple(TYPES))}}}'

    def write(self, value: Any, writer: Writer) -> Any:
        names = [name for name, cls in TYPES.items() if cls is value]
        return {"type": names[0]} if names else Choice(DTYPE_NAMES).write(value, writer)

    def read(self, stored: Any, scope: Scope) -> Any:
        if isinstance(stored, dict):
            return TYPES[Record({"type": Choice(tuple(TYPES))}).read(stored, scope)["type"]]
        return Choice(DTYPE_NAMES).read(stored, scope)


SELECTOR = Record(
    {
        "pattern": Optional(Text()),
        "dtype_include": Optional(OneOf((ListOf(SelectedType()), SelectedType()))),
        "dtype_exclude": Optional(OneOf((ListOf(SelectedType()), SelectedType()))),
    }
)
EDGE = Optional(OneOf((Integer(-(2**53)), Text())))
SLICE = TupleOf((EDGE, EDGE, EDGE))
LIST = OneOf((ListOf(Flag()), ListOf(Integer(-(2**53))), ListOf(Text())))


@dataclass(frozen=True)
class Columns(Kind):
    """Columns as names, positions or flags, one of them, or a slice; perhaps a selector."""

    selector: bool = False

    def __str__(self) -> str:
        columns = "a list of strings, integers or flags, a string, an integer"
        part = '{"slice": [start, stop, step]} of integers, strings or null'
        if not self.selector:
            return f"{columns}, or {part}"
        selector = '{"selector": {"pattern": p, "dtype_include": t, "dtype_exclude": t}}'
        types = f"t is null, one of these, or a list of them: {SelectedType()}"
        return f"{columns}, {part}, or {selector}, where p is null or a string, and {types}"

    def write(self, value: Any, writer: Writer) -> Any:
        from sklearn.compose import make_column_selector

        if isinstance(value, slice):
            return {"slice": SLICE.write((value.start, value.stop, value.step), writer)}
        if self.selector and type(value) is make_column_selector:
            stored = SELECTOR.write(vars(value), writer)
            _check_pattern(value.pattern)
            return {"selector": stored}
        if isinstance(value, str | int) and not isinstance(value, bool):
            return value
        if isinstance(value, UserList):  # scikit-learn 1.6 has one for remaining columns
            value = value.data
        return LIST.write(value.tolist() if hasattr(value, "tolist") else value, writer)

    def read(self, stored: Any, scope: Scope) -> Any:
        from sklearn.compose import make_column_selector

        if isinstance(stored, dict) and stored.keys() == {"slice"}:
            return slice(*SLICE.read(stored["slice"], scope))
        if self.selector and isinstance(stored, dict) and stored.keys() == {"selector"}:
            options = SELECTOR.read(stored["selector"], scope)
            _check_pattern(options["pattern"])
            return make_column_selector(**options)
        if isinstance(stored, str):
            return Text().read(stored, scope)
        if isinstance(stored, int):
            return Integer(-(2**53)).read(stored, scope)
        return LIST.read(stored, scope)

    def parts(self, stored: Any) -> Iterable[tuple[tuple[str | int, ...], Kind]]:
        if isinstance(stored, list):
            return [((), LIST)]
        if isinstance(stored, dict):
            return [((name,), {"slice": SLICE, "selector": SELECTOR}[name]) for name in stored]
        return [((), Text() if isinstance(stored, str) else Integer(-(2**53)))]


def _check_pattern(pattern: str | None) -> None:
    if pattern is not None:
        require(PATTERN.fullmatch(pattern), f"pattern: {shown(pattern)} is not a simple pattern")
        try:
            re.compile(pattern)
        except re.error as error:
            require(False, f"pattern: {error}")


@dataclass(frozen=True)
class Entry(Kind):
    """Name, transformer and columns. The transformer is fitted if there are columns."""

    def __str__(self) -> str:
        return str(self._kind(columns=None))

    def write(self, value: Any, writer: Writer) -> list[Any]:
        require(len(value) == 3, f"{len(value)} values instead of 3")
        return self._kind(value[2]).write(value, writer)

    def read(self, stored: Any, scope: Scope) -> Any:
        require(isinstance(stored, list) and len(stored) == 3, "not three values")
        return self._kind(stored[2]).read(stored, scope)

    def parts(self, stored: Any) -> Iterable[tuple[tuple[str | int, ...], Kind]]:
        return [((), self._kind(stored[2]))]

    def _kind(self, columns: Any) -> TupleOf:
        return TupleOf((Text(), UNFITTED if _is_empty(columns) else FITTED, Columns()))


def _is_empty(columns: Any) -> bool:
    """Whether scikit-learn skips the transformer."""
    columns = columns.tolist() if hasattr(columns, "tolist") else columns
    sequence = isinstance(columns, list | tuple | UserList)
    return sequence and all(column is False for column in columns)


def _is_slice_of_names(columns: slice) -> bool:
    return isinstance(columns.start, str) or isinstance(columns.stop, str)


def _selected(columns: Any, names: dict[str, int], n_columns: int) -> Any:
    """The indices of columns, as a range or list. Raises if there is no such column."""
    if isinstance(columns, slice):
        start, stop, step = columns.start, columns.stop, columns.step
        if _is_slice_of_names(columns):
            require(step in (1, None), "columns: a step between names")
            start = None if start is None else _position(start, names, n_columns)
            stop = None if stop is None else _position(stop, names, n_columns) + 1
        edges = (start, stop, step)
        require(not any(isinstance(edge, str) for edge in edges), "columns: not a slice")
        require(step != 0, "columns: a step of 0")
        return range(n_columns)[slice(*edges)]
    if isinstance(columns, str | int):
        return [_position(columns, names, n_columns)]
    if columns and isinstance(columns[0], bool):
        require(len(columns) == n_columns, f"columns: {len(columns)} flags")
        return [number for number, selected in enumerate(columns) if selected]
    return [_position(column, names, n_columns) for column in columns]


def _position(column: str | int, names: dict[str, int], n_columns: int) -> int:
    if isinstance(column, str):
        require(column in names, f"columns: no column {shown(column)}")
        return names[column]
    require(-n_columns <= column < n_columns, f"columns: no column {column}")
    return column % n_columns


def _take_apart(transformer: Any) -> Values:
    indices, outputs = transformer._transformer_to_input_indices, transformer.output_indices_
    names = [name for name, _, _ in transformer.transformers_]
    return {
        "indices": [np.array(indices[name], dtype=np.int64) for name in names],
        "widths": [outputs[name].stop - outputs[name].start for name in names],
    }


def _check(values: Values, scope: Scope) -> None:
    entries, n_columns = values["transformers_"], scope.lengths["d"]
    names = [name for name, _, _ in values["transformers"]]
    check_names([*names, "remainder"], PARAMETERS)
    note_prefixes([*names, "remainder"], scope)
    _check_same(values)
    in_order = values.get("feature_names_in_", np.empty(0)).tolist()
    positions = {name: number for number, name in enumerate(in_order)}
    require(len(positions) == len(in_order), "feature_names_in_: the same name twice")
    for entry, indices, width in zip(entries, values["indices"], values["widths"], strict=True):
        _check_entry(entry, indices, width, positions, scope)
    require(sum(values["widths"]) > 0, "no columns leave it")

    # The remaining columns are all that no transformer selects.
    chosen = values["indices"][: len(names)]
    used = np.unique(np.concatenate(chosen)) if chosen else np.empty(0, dtype=np.int64)
    remaining = values["indices"][len(names)] if len(entries) > len(names) else used[:0]
    require(
        len(used) + len(remaining) == n_columns
        and not np.isin(remaining, used).any()
        and (remaining[1:] > remaining[:-1]).all(),
        "indices: not all columns, or remaining ones twice",
    )


def _check_same(values: Values) -> None:
    """Raise unless fitted transformers are those of the parameters."""
    given, entries = values["transformers"], values["transformers_"]
    if len(entries) == len(given) + 1:
        require(not isinstance(entries[-1][2], str | int), "transformers_: one remaining column")
        given = [*given, ("remainder", values["remainder"], entries[-1][2])]
    require(len(given) == len(entries), "transformers_: not those of transformers")
    for (name, part, columns), (fitted_name, fitted_part, fitted_columns) in zip(
        given, entries, strict=True
    ):
        same_part = (
            type(part) is type(fitted_part) and not (isinstance(part, str) and part != fitted_part)
        ) or (part == "passthrough" and type(fitted_part).__name__ == "FunctionTransformer")
        require(
            name == fitted_name and same_part and (callable(columns) or columns == fitted_columns),
            f"transformers_: {shown(fitted_name)} is not as in transformers",
        )


def _check_entry(entry: Any, indices: Any, width: int, names: dict[str, int], scope: Scope) -> None:
    name, part, columns = entry
    expected = _selected(columns, names, scope.lengths["d"])
    same = len(expected) == len(indices) and list(expected) == indices.tolist()
    require(same, f"indices: not the columns of {shown(name)}")
    if part == "drop" or _is_empty(columns):
        require(width == 0, f"widths: {shown(name)} gives no columns")
        return
    # A single column without a list is one-dimensional, which only other transformers take.
    single = isinstance(columns, str | int)
    require(
        not isinstance(part, str) and not (single and is_described(part)),
        f"{shown(name)} is not fitted to a list of columns",
    )
    check_columns(name, part, len(indices), scope)
    require(scope.n_out(part) in (None, width), f"widths: not that of {shown(name)}")


def _put_together(transformer: Any, values: dict[str, Any]) -> None:
    indices = [each.tolist() for each in values.pop("indices")]
    widths = values.pop("widths")
    set_attributes(transformer, values)
    entries, n_given = transformer.transformers_, len(transformer.transformers)
    names = [name for name, _, _ in entries]
    remaining = entries[-1][2] if len(entries) > n_given else []
    transformer._columns = [columns for _, _, columns in entries[:n_given]]
    transformer._remainder = ("remainder", transformer.remainder, remaining)
    transformer._transformer_to_input_indices = {
        "remainder": [],
        **dict(zip(names, indices, strict=True)),
    }
    transformer.output_indices_ = {"remainder": slice(0, 0)}
    start = 0
    for name, width in zip(names, widths, strict=True):
        stop = start + width
        transformer.output_indices_[name] = slice(start, stop) if width else slice(0, 0)
        start = stop


DESCRIPTIONS = (
    Description(
        type="sklearn.compose.ColumnTransformer",
        role="transformer",
        parameters={
            "transformers": ListOf(TupleOf((Text(), UNFITTED, Columns(selector=True)))),
            "remainder": UNFITTED,
            "sparse_threshold": Number(0, 1),
            "n_jobs": Unsaved(),  # processes
            "transformer_weights": Optional(Weights()),
            "verbose": Flag(),
            "verbose_feature_names_out": Flag(),
        },
        fitted={
            **TRANSFORMER,
            "transformers_": ListOf(Entry(), "entries"),
            "indices": ListOf(Integers(ANY_LENGTH, low=0, high="<d", empty=True), "entries"),
            "widths": ListOf(Integer(0), "entries"),
            "sparse_output_": Flag(),
        },
        rebuilt=(
            *("_columns", "_remainder", "_transformer_to_input_indices", "output_indices_"),
            "_transformers_feature_names_out",
        ),
        take_apart=_take_apart,
        put_together=_put_together,
        check=_check,
        n_in="d",
        n_out=lambda values, scope: sum(values["widths"]),
    ),
)
