"""The bytes of an Arrow table, for checksums."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.ipc


def table_bytes(table: pa.Table) -> pa.Buffer:
    """The same bytes for the same columns, types and rows, whatever file they came from."""
    # As one batch: the batches of a table depend on the file.
    table = table.replace_schema_metadata(None).combine_chunks()
    stream = pa.BufferOutputStream()
    with pa.ipc.new_stream(stream, table.schema) as writer:
        writer.write_table(table)
    return stream.getvalue()
