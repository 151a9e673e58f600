"""CSV files in batches: all columns as text."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import suppress

import pyarrow as pa
import pyarrow.csv

from .._warnings import warn_user
from ._csv_dialect import FALLBACK_ENCODING
from ._csv_stream import CsvStream, first_uneven_row
from ._errors import TableError
from ._read_options import ReadOptions
from ._table_files import TableFile
from ._table_reader import TableReader

BLOCK_BYTES = 1 << 22  # no row may be longer


class CsvReader(TableReader):
    """A reader of CSV files, compressed or not, and of CSV from a pipe."""

    unit = "bytes"
    _arrow: pyarrow.csv.CSVStreamingReader | None = None

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
        # pyarrow reads ahead in a thread of its own, which must end before the file and Python do.
        if self._arrow is not None:
            with suppress(pa.ArrowException, OSError, EOFError, ValueError):
                for _ in self._arrow:
                    pass
        self._stream.close()

    def _record_batches(self) -> Iterator[pa.RecordBatch]:
        last_value = ""
        try:
            for batch in self._parsed():
                if batch.num_rows:
                    last_value = batch.column(batch.num_columns - 1)[-1].as_py()
                yield batch
        except pa.ArrowInvalid as error:
            raise self._explained(error) from error
        if self._stream.ends_within_quotes(last_value):
            raise TableError(
                f"{self.file}: a quote ({self._stream.dialect.quote}) is opened and never closed; "
                f"the last value begins with {last_value[:40]!r}."
            )

    def _parsed(self) -> pyarrow.csv.CSVStreamingReader:
        dialect = self._stream.dialect
        self._arrow = pyarrow.csv.open_csv(
            io.BufferedReader(self._stream, BLOCK_BYTES),
            pyarrow.csv.ReadOptions(
                block_size=BLOCK_BYTES,
                column_names=self._stream.column_names,
                skip_rows_after_names=1,
            ),
            pyarrow.csv.ParseOptions(
                delimiter=dialect.delimiter, quote_char=dialect.quote, newlines_in_values=True
            ),
            pyarrow.csv.ConvertOptions(
                column_types=self.schema, null_values=[], strings_can_be_null=False
            ),
        )
        return self._arrow

    def _explained(self, error: pa.ArrowInvalid) -> TableError:
        """What is wrong with the file and where, if that can be found."""
        dialect, reason = self._stream.dialect, str(error)
        if "UTF8" in reason:
            return TableError(
                f"{self.file} contains bytes that are not {dialect.encoding}: state its encoding."
            )
        if "straddling" in reason:
            return TableError(
                f"{self.file} has a row of more than {BLOCK_BYTES >> 20} MB: is a quote "
                f"({dialect.quote}) never closed?"
            )
        if self.file.path.is_file() and (uneven := first_uneven_row(self.file, dialect)):
            line, n_fields, expected = uneven
            return TableError(
                f"{self.file}, line {line}: this row has {n_fields} fields, but the header has "
                f"{expected} (delimiter {dialect.delimiter!r})."
            )
        return TableError(f"{self.file}: {reason}")
