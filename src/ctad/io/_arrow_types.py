"""The types of columns in Parquet and Arrow files."""

from __future__ import annotations

import pyarrow as pa

from .._quoting import quoted, shortened
from ._errors import TableError
from ._table_files import TableFile

_SIMPLE = (
    *(pa.types.is_null, pa.types.is_boolean, pa.types.is_integer, pa.types.is_floating),
    *(pa.types.is_date, pa.types.is_time, pa.types.is_timestamp, pa.types.is_duration),
    *(pa.types.is_string, pa.types.is_large_string, pa.types.is_decimal),
    *(pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary),
)
_NESTED = (
    *(pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list),
    *(pa.types.is_list_view, pa.types.is_large_list_view, pa.types.is_struct, pa.types.is_map),
)


def plain_schema(file: TableFile, schema: pa.Schema) -> pa.Schema:
    """The columns of a file with types that pyarrow can compute with.

    polars writes text and bytes as views, for which most functions of pyarrow are missing. They
    become ordinary text and bytes. Columns of other types without such functions are errors.
    """
    fields = []
    for field in schema:
        plain = field.with_type(_plain(field.type))
        if not _is_supported(plain.type):
            raise TableError(
                f"{file}: column {quoted(field.name)} is of type {shortened(field.type)}, "
                "which cannot be read. Convert it to another type, or write the file without it."
            )
        fields.append(plain)
    return pa.schema(fields, schema.metadata)


def _plain(type_: pa.DataType) -> pa.DataType:
    if pa.types.is_dictionary(type_) and pa.types.is_string_view(type_.value_type):
        return pa.dictionary(type_.index_type, pa.string(), type_.ordered)
    if pa.types.is_string_view(type_):
        return pa.large_string()
    if pa.types.is_binary_view(type_):
        return pa.large_binary()
    return type_


def _is_supported(type_: pa.DataType) -> bool:
    """Whether rows of this type can be chosen, joined and written.

    Raises UnicodeDecodeError if a name in the type is not UTF-8: reading it does that.
    """
    if pa.types.is_dictionary(type_):
        return _is_simple(type_.value_type)
    if isinstance(type_, pa.BaseExtensionType):
        return _is_supported(type_.storage_type)
    if any(is_nested(type_) for is_nested in _NESTED):
        parts = [type_.field(position) for position in range(type_.num_fields)]
        return all(isinstance(part.name, str) and _is_supported(part.type) for part in parts)
    return _is_simple(type_)


def _is_simple(type_: pa.DataType) -> bool:
    if pa.types.is_decimal(type_):
        return bool(type_.scale >= 0)
    if pa.types.is_timestamp(type_):
        return isinstance(type_.tz, str | None)
    return any(is_kind(type_) for is_kind in _SIMPLE)
