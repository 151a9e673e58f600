"""Parquet, Arrow and Feather files in batches."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.dataset
import pyarrow.ipc
import pyarrow.parquet as pq

from ._arrow_types import plain_schema
from ._read_options import ReadOptions
from ._table_files import TableFile
from ._table_reader import TableReader

PARQUET_BUFFER_BYTES = 1 << 20


class ParquetReader(TableReader):
    """A reader of Parquet files."""

    unit = "rows"

    def __init__(self, file: TableFile, options: ReadOptions) -> None:
        # With a buffer, a column is read as it is decoded. Without, all columns of a row group are
        # held in memory.
        self._parquet = pq.ParquetFile(
            file.path, pre_buffer=False, buffer_size=PARQUET_BUFFER_BYTES
        )
        self.schema = plain_schema(file, self._parquet.schema_arrow)
        self.total = self._parquet.metadata.num_rows
        self._done = 0
        super().__init__(file, options)

    @property
    def done(self) -> int:
        return self._done

    def _close(self) -> None:
        self._parquet.close()

    def _record_batches(self) -> Iterator[pa.RecordBatch]:
        for batch in self._parquet.iter_batches(self._batch_rows):
            self._done += batch.num_rows
            yield batch


class ArrowFileReader(TableReader):
    """A reader of the IPC file format, which is also Feather."""

    unit = "rows"

    def __init__(self, file: TableFile, options: ReadOptions) -> None:
        # A file may be one batch. Memory-mapped, only the rows in use are read.
        self._source = pa.memory_map(str(file.path))
        self._arrow = pa.ipc.open_file(self._source)
        self.schema = plain_schema(file, self._arrow.schema)
        self._done = 0
        super().__init__(file, options)
        self.total = pyarrow.dataset.dataset(str(file.path), format="ipc").count_rows()

    @property
    def done(self) -> int:
        return self._done

    def _close(self) -> None:
        self._source.close()

    def _record_batches(self) -> Iterator[pa.RecordBatch]:
        for number in range(self._arrow.num_record_batches):
            batch = self._arrow.get_batch(number)
            self._done += batch.num_rows
            yield batch


class ArrowStreamReader(TableReader):
    """A reader of the IPC stream format."""

    unit = "bytes"

    def __init__(self, file: TableFile, options: ReadOptions) -> None:
        self._source = pa.OSFile(str(file.path))
        self._arrow = pa.ipc.open_stream(self._source)
        self.schema = plain_schema(file, self._arrow.schema)
        self.total = self._size = self._source.size()
        super().__init__(file, options)

    @property
    def done(self) -> int:
        return int(self._size if self._source.closed else self._source.tell())

    def _close(self) -> None:
        self._source.close()

    def _record_batches(self) -> Iterator[pa.RecordBatch]:
        yield from self._arrow
