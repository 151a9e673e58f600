"""The types of columns: inferred from text, and text converted to given types."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

from ._csv_dialect import CsvDialect
from ._csv_values import (
    INTEGER,
    INTEGER_PATTERN,
    KIND_OF_TYPE,
    ValueKind,
    all_match,
    clean_text,
    is_text,
    kind_of_type,
)
from ._errors import TableError


def infer_types(table: pa.Table, dialect: CsvDialect | None = None) -> pa.Schema:
    """Infer the types of text columns.

    Parameters
    ----------
    table : pyarrow.Table
        All rows, or a sample of them.
    dialect : CsvDialect, optional
        The dialect of the CSV file that the rows are from. If commas are not delimiters, they may
        be decimal signs.

    Returns
    -------
    pyarrow.Schema
        A text column gets the first of these types that all its values have: bool, int64, double,
        date32, timestamp[us], timestamp[us, UTC], time64[us], string; or null if all values are
        missing. Other columns keep their type.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"n": ["1", "NA"], "day": ["24.12.2024", ""], "zip": ["007", "1"]})
    >>> infer_types(table)
    n: int64
    day: date32[day]
    zip: string
    """
    dialect = dialect or CsvDialect()
    fields = (
        field.with_type(_inferred(column, dialect)) if is_text(field.type) else field
        for field, column in zip(table.schema, table.columns, strict=True)
    )
    return pa.schema(fields, table.schema.metadata)


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
    for position, name in enumerate(table.column_names):
        if name not in types.names or not is_text(table.schema.field(position).type):
            continue
        type_ = types.field(name).type
        kind = kind_of_type(type_)
        if kind is not None:
            text = clean_text(table.column(position))
            try:
                values = pc.cast(kind.parse(text, dialect), type_)
            except pa.ArrowInvalid:
                row = _first_misfit(text, kind, type_, dialect)
                raise TableError(
                    f"{row_name(row)}: column {name!r} has {text[row].as_py()!r}, expected "
                    f"{kind.description} ({type_})."
                ) from None
            table = table.set_column(position, name, values)
    return table


def with_inferred_types(table: pa.Table, dialect: CsvDialect | None) -> pa.Table:
    """Convert the text columns of a CSV to the types that their values have.

    Parameters
    ----------
    table : pyarrow.Table
        All rows, or a sample of them.
    dialect : CsvDialect or None
        The dialect of the CSV file. None: the rows are from a file that has types, so text stays
        text.

    Returns
    -------
    pyarrow.Table

    Examples
    --------
    >>> import pyarrow as pa
    >>> from ctad.io import CsvDialect
    >>> with_inferred_types(pa.table({"n": ["1", "NA"], "empty": ["", "NA"]}), CsvDialect()).schema
    n: int64
    empty: null
    """
    if dialect is None:
        return table
    types = infer_types(table, dialect)
    table = convert_text(table, types, dialect)
    for position, field in enumerate(types):
        if pa.types.is_null(field.type):
            table = table.set_column(position, field, pa.nulls(table.num_rows))
    return table


def _inferred(column: pa.ChunkedArray, dialect: CsvDialect) -> pa.DataType:
    text = clean_text(column)
    if text.null_count == len(text):
        return pa.null()
    if all_match(text, INTEGER_PATTERN) and not INTEGER.fits(text, pa.int64(), dialect):
        return pa.string()  # an identifier: it has more digits than an int64
    return next(type_ for type_, kind in KIND_OF_TYPE.items() if kind.fits(text, type_, dialect))


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
