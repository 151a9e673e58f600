"""CSV files in batches: all columns as text."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.csv

from .._quoting import shortened
from .._warnings import warn_user
from ._csv_dialect import FALLBACK_ENCODING
from ._csv_rows import joined
from ._csv_stream import CsvStream, first_uneven_row
from ._errors import TableError
from ._read_options import ReadOptions
from ._table_files import TableFile
from ._table_reader import TableReader

# A call of pyarrow takes several microseconds per column, however short the text is. So rows with
# very many columns are parsed several at a time.
BYTES_PER_COLUMN = 256
MAX_JOINED_BYTES = 1 << 26


class CsvReader(TableReader):
    """A reader of CSV files, compressed or not, and of CSV from a pipe."""

    unit = "bytes"

    def __init__(self, file: TableFile, options: ReadOptions) -> None:
        self._stream = CsvStream(file, options)
        self.dialect = self._stream.dialect
        if options.encoding is None and self.dialect.encoding == FALLBACK_ENCODING:
            warn_user(
                f"{file} is neither UTF-8 nor UTF-16, so it is read as Windows-1252. If that is "
                "wrong, state its encoding."
            )
        self.total = self._stream.total
        self.schema = pa.schema([(name, pa.string()) for name in self._stream.column_names])
        super().__init__(file, options)

    @property
    def done(self) -> int:
        return self._stream.done

    def _stop(self) -> None:
        self._stream.stop()

    def _close(self) -> None:
        self._stream.close()

    def _record_batches(self) -> Iterator[pa.RecordBatch]:
        # pyarrow can also read a stream of Python by itself. But then its threads call Python, and
        # if the rest of a file is not needed, they may do so while Python exits, which is a crash.
        min_bytes = min(BYTES_PER_COLUMN * len(self.schema), MAX_JOINED_BYTES)
        header_rows = 1
        try:
            for block in joined(self._stream, min_bytes):
                yield from self._parsed(block, header_rows).to_batches()
                header_rows = 0
        except pa.ArrowInvalid as error:
            raise self._explained(error) from error

    def _parsed(self, block: bytes, header_rows: int) -> pa.Table:
        memory = pa.BufferOutputStream()  # of Arrow, not of Python
        memory.write(block)
        dialect = self._stream.dialect
        return pyarrow.csv.read_csv(
            memory.getvalue(),
            pyarrow.csv.ReadOptions(
                block_size=len(block),
                column_names=self._stream.column_names,
                skip_rows_after_names=header_rows,
            ),
            pyarrow.csv.ParseOptions(
                delimiter=dialect.delimiter,
                quote_char=dialect.quote,
                newlines_in_values=True,
                # In a table with one column, a blank line is a row whose value is missing.
                ignore_empty_lines=len(self._stream.column_names) > 1,
            ),
            pyarrow.csv.ConvertOptions(
                column_types=self.schema, null_values=[], strings_can_be_null=False
            ),
        )

    def _explained(self, error: pa.ArrowInvalid) -> TableError:
        """What is wrong with the file and where, if that can be found."""
        dialect, reason = self._stream.dialect, str(error)
        if "UTF8" in reason:
            return TableError(
                f"{self.file} contains bytes that are not {dialect.encoding}: state its encoding."
            )
        if "straddl" in reason:  # a block of whole rows is not one for pyarrow
            return TableError(
                f"{self.file} is not a CSV file of text, or has a row that is too long."
            )
        if self.file.path.is_file() and (uneven := first_uneven_row(self.file, dialect)):
            line, n_fields, expected = uneven
            return TableError(
                f"{self.file}, line {line}: this row has {n_fields} fields, but the header has "
                f"{expected} (delimiter {dialect.delimiter!r})."
            )
        return TableError(f"{self.file}: {shortened(reason)}")
