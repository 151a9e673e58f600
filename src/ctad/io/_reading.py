"""Open and read table files of any format."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import pyarrow as pa

from ..errors import InputError
from ._arrow_readers import ArrowFileReader, ArrowStreamReader, ParquetReader
from ._csv_reader import CsvReader
from ._read_options import DEFAULT_OPTIONS, ReadOptions
from ._table_files import TableFile
from ._table_reader import Batch, TableReader, naming_file

READERS: dict[str, Callable[[TableFile, ReadOptions], TableReader]] = {
    "csv": CsvReader,
    "csv.gz": CsvReader,
    "parquet": ParquetReader,
    "arrow": ArrowFileReader,
    "arrows": ArrowStreamReader,
}


def open_table(file: TableFile, options: ReadOptions = DEFAULT_OPTIONS) -> TableReader:
    """Open a table file to read it in batches.

    Parameters
    ----------
    file : TableFile
    options : ReadOptions

    Returns
    -------
    TableReader

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from ctad.io import find_tables, open_table
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "new.csv").write_text("name;size\\nLee;1,50\\nKim;007\\n")
    ...     [file] = find_tables(folder)
    ...     with open_table(file) as reader:
    ...         [table.to_pylist() for table in reader], reader.dialect.decimal
    ([[{'name': 'Lee', 'size': '1,50'}, {'name': 'Kim', 'size': '007'}]], ',')
    """
    with naming_file(file):
        try:
            return READERS[file.format](file, options)
        except InputError:
            raise
        except (AssertionError, TypeError, ValueError) as error:
            # Types that pandas has registered with pyarrow parse what the file says about them.
            raise pa.ArrowInvalid(str(error)) from error


def read_tables(
    files: Sequence[TableFile], options: ReadOptions = DEFAULT_OPTIONS, *, doing: str = "Reading"
) -> Iterator[Batch]:
    """Read table files one after the other, in batches, and report progress.

    Parameters
    ----------
    files : sequence of TableFile
        From `find_tables`.
    options : ReadOptions
    doing : str, default="Reading"
        What the progress says is done with the files.

    Yields
    ------
    Batch

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from ctad.io import find_tables, read_tables
    >>> with TemporaryDirectory() as folder:
    ...     for name in "ab":
    ...         _ = Path(folder, f"{name}.csv").write_text("size\\n1\\n2\\n")
    ...     [(batch.file.name, batch.rows.num_rows) for batch in read_tables(find_tables(folder))]
    [('a.csv', 2), ('b.csv', 2)]
    """
    for number, file in enumerate(files, start=1):
        with open_table(file, options) as reader:
            yield from reader.batches(step_text(doing, file, number, len(files)))


def step_text(doing: str, file: TableFile, number: int, n_files: int) -> str:
    """The current step for the progress: "Reading a.csv (2/5)"."""
    return f"{doing} {file}" + (f" ({number}/{n_files})" if n_files > 1 else "")
