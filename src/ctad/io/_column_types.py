"""The types of columns: inferred from text, and text converted to given types."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from operator import itemgetter

import pyarrow as pa
import pyarrow.compute as pc

from .._quoting import quoted
from ._column_groups import apply_together, column_groups
from ._csv_dialect import CsvDialect
from ._csv_values import (
    INTEGER,
    KIND_OF_TYPE,
    ValueKind,
    are_long_integers,
    clean_text,
    is_text,
    kind_of_type,
)
from ._errors import TableError


def convert_text(
    table: pa.Table,
    types: pa.Schema,
    dialect: CsvDialect | None = None,
    *,
    row_name: Callable[[int], str] = lambda row: f"row {row + 1}",
) -> pa.Table:
    """Convert text columns to given types.

    Columns that are not text, that `types` does not have, or whose type there is not one that text
    can be converted to (null, decimal, binary, nested), stay as they are.

    Parameters
    ----------
    table : pyarrow.Table
    types : pyarrow.Schema
    dialect : CsvDialect, optional
        The dialect of the CSV file that the rows are from. If commas are not delimiters, they may
        be decimal signs.
    row_name : function of an integer
        What to call a row in the error about a value that is not of its type.

    Returns
    -------
    pyarrow.Table
        Missing values such as "", "NA" and "null" are null, blanks around values are removed.

    Examples
    --------
    >>> import pyarrow as pa
    >>> types = pa.schema({"size": pa.float64(), "day": pa.date32()})
    >>> table = pa.table({"size": ["1.50", "NA"], "day": ["2024/12/24", "2024-12-25"]})
    >>> convert_text(table, types).to_pylist()[0]
    {'size': 1.5, 'day': datetime.date(2024, 12, 24)}
    """
    dialect = dialect or CsvDialect()
    wanted = {field.name: field.type for field in types}
    fields, columns = list(table.schema), table.columns
    places: dict[pa.DataType, list[int]] = {}
    for place, field in enumerate(fields):
        if is_text(field.type) and kind_of_type(wanted.get(field.name, pa.null())) is not None:
            places.setdefault(wanted[field.name], []).append(place)
    unfit = []
    for type_, of_type in places.items():
        kind = kind_of_type(type_)
        assert kind is not None
        convert = partial(kind.convert, type_=type_, dialect=dialect)
        for group in column_groups(of_type, table.num_rows):
            texts = _clean_texts(columns[place] for place in group)
            converted = apply_together(convert, texts)
            for place, text, values in zip(group, texts, converted, strict=True):
                if values is None:
                    unfit.append((place, text, kind, type_))
                fields[place], columns[place] = pa.field(fields[place].name, type_), values
    if unfit:
        place, text, kind, type_ = min(unfit, key=itemgetter(0))
        row = _first_misfit(text, kind, type_, dialect)
        raise TableError(
            f"{row_name(row)}: column {quoted(fields[place].name)} has "
            f"{quoted(text[row].as_py())}, expected {kind.description} ({type_})."
        )
    return pa.Table.from_arrays(columns, schema=pa.schema(fields, table.schema.metadata))


def with_inferred_types(table: pa.Table, dialect: CsvDialect | None) -> pa.Table:
    """Convert the text columns of a CSV to the types that their values have.

    Parameters
    ----------
    table : pyarrow.Table
        All rows, or a sample of them.
    dialect : CsvDialect or None
        The dialect of the CSV file. If commas are not delimiters, they may be decimal signs. None:
        the rows are from a file that has types, so text stays text.

    Returns
    -------
    pyarrow.Table
        A text column gets the first of these types that all its values have: bool, int64, double,
        date32, timestamp[us], timestamp[us, UTC], time64[us], string; or null if all values are
        missing. Other columns keep their type.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from ctad.io import CsvDialect, with_inferred_types
    >>> table = pa.table({"n": ["1", "NA"], "day": ["24.12.2024", ""], "zip": ["007", "1"]})
    >>> with_inferred_types(table, CsvDialect()).schema
    n: int64
    day: date32[day]
    zip: string
    """
    if dialect is None:
        return table
    fields, columns = list(table.schema), table.columns
    places = [place for place, field in enumerate(fields) if is_text(field.type)]
    for group in column_groups(places, table.num_rows):
        texts = _clean_texts(columns[place] for place in group)
        for place, values in zip(group, _typed(texts, dialect), strict=True):
            fields[place], columns[place] = fields[place].with_type(values.type), values
    return pa.Table.from_arrays(columns, schema=pa.schema(fields, table.schema.metadata))


def _clean_texts(columns: Iterable[pa.ChunkedArray]) -> list[pa.Array]:
    texts = [column.cast(pa.large_string()).combine_chunks() for column in columns]
    return apply_together(clean_text, texts)


def _typed(texts: list[pa.Array], dialect: CsvDialect) -> list[pa.Array]:
    """The values of each column with the first type that fits all of them."""
    first_values = [pc.first(text).as_py() for text in texts]
    typed = [
        pa.nulls(len(text)) if first is None else None
        for text, first in zip(texts, first_values, strict=True)
    ]
    for type_, kind in KIND_OF_TYPE.items():
        places = [
            place
            for place, first in enumerate(first_values)
            if typed[place] is None and kind.may_be(first)
        ]
        convert = partial(kind.convert, type_=type_, dialect=dialect)
        converted = apply_together(convert, [texts[place] for place in places])
        for place, values in zip(places, converted, strict=True):
            if values is None and kind is INTEGER and are_long_integers(texts[place]):
                values = pc.cast(texts[place], pa.string())  # identifiers
            typed[place] = values
    return typed


def _first_misfit(text: pa.Array, kind: ValueKind, type_: pa.DataType, dialect: CsvDialect) -> int:
    """The first value that is not of this type, by bisection."""
    first, end = 0, len(text)
    while end - first > 1:
        middle = (first + end) // 2
        if kind.fits(text[first:middle], type_, dialect):
            first = middle
        else:
            end = middle
    return first
