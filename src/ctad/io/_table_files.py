"""Table files: found by path, folder or pattern, and their formats."""

from __future__ import annotations

import glob
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ._errors import TableError

STANDARD_STREAM = "-"

# "arrow" is the IPC file format, which Feather is, too; "arrows" the IPC stream format.
FORMAT_OF_SUFFIX = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".csv.gz": "csv.gz",
    ".tsv.gz": "csv.gz",
    ".txt.gz": "csv.gz",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "arrow",
    ".arrow": "arrow",
    ".ipc": "arrow",
    ".arrows": "arrows",
}
GZIP_START = b"\x1f\x8b"
FORMAT_OF_START = {
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    b"\xff\xff\xff\xff": "arrows",
    GZIP_START: "csv.gz",
}


@dataclass(frozen=True)
class TableFile:
    """A file with a table in it.

    Attributes
    ----------
    path : pathlib.Path
        "-" is standard input.
    name : str
        The path relative to the folder that was searched; for a single file, its own name.
    format : {"csv", "csv.gz", "parquet", "arrow", "arrows"}
    root : pathlib.Path or None
        The folder that was searched with all its subfolders, if there was one.
    """

    path: Path
    name: str
    format: str
    root: Path | None = None

    @property
    def is_standard_input(self) -> bool:
        """Whether the table is piped into the process."""
        return str(self.path) == STANDARD_STREAM

    def __str__(self) -> str:
        return "standard input" if self.is_standard_input else str(self.path)


def find_tables(where: str | Path) -> list[TableFile]:
    """Find table files by path, folder or pattern.

    Folders are searched with all subfolders for files with a known suffix. Folders and patterns
    skip files and folders whose names begin with a dot or an underscore.

    Parameters
    ----------
    where : str or path
        A file, a folder, a pattern such as `data/*.csv` or `data/**/*.parquet`, or "-" for
        CSV on standard input.

    Returns
    -------
    list of TableFile
        Sorted by name, at least one.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     for name in ("b.csv", "a.parquet", "notes.md", "_SUCCESS"):
    ...         _ = Path(folder, name).write_text("x,y")
    ...     [file.name for file in find_tables(folder)]
    ['a.parquet', 'b.csv']
    """
    path = Path(where)
    if str(where) == STANDARD_STREAM:
        return [TableFile(path, STANDARD_STREAM, "csv")]
    if path.is_dir():
        found = (p for p in path.rglob("*") if format_of_suffix(p) is not None)
        tables = _tables(found, path, root=path)
        if not tables:
            raise TableError(
                f"{where}: no tables in this folder. Tables are files with one of the suffixes "
                f"{known_suffixes()}."
            )
        return tables
    if path.exists():
        return [TableFile(path, path.name, _format_of(path))]
    if glob.has_magic(str(where)):
        tables = _matching_tables(path)
        if not tables:
            raise TableError(f"{where}: no file matches this pattern.")
        return tables
    raise TableError(f"{where}: there is no such file or folder.")


def format_of_suffix(path: Path) -> str | None:
    """The format that the suffix of a file stands for; None if the suffix is unknown.

    Examples
    --------
    >>> from pathlib import Path
    >>> from ctad.io import format_of_suffix
    >>> format_of_suffix(Path("new.CSV.gz"))
    'csv.gz'
    """
    name = path.name.lower()
    return next((f for suffix, f in FORMAT_OF_SUFFIX.items() if name.endswith(suffix)), None)


def known_suffixes() -> str:
    """All suffixes of tables, for messages."""
    return ", ".join(FORMAT_OF_SUFFIX)


def _format_of(path: Path) -> str:
    """The format by the first bytes, else by the suffix, else CSV."""
    if path.is_file():  # bytes that are read from a pipe would be lost
        with path.open("rb") as file:
            try:
                start = file.read(max(map(len, FORMAT_OF_START)))
            except OSError as error:
                raise TableError(f"{path} cannot be read: {error.strerror}") from error
        for bytes_, format_ in FORMAT_OF_START.items():
            if start.startswith(bytes_):
                return format_
    return format_of_suffix(path) or "csv"


def _tables(paths: Iterable[Path], base: Path, root: Path | None) -> list[TableFile]:
    names = {path.relative_to(base): path for path in paths if path.is_file()}
    return [
        TableFile(path, name.as_posix(), _format_of(path), root)
        for name, path in sorted(names.items())
        if not any(part.startswith((".", "_")) for part in name.parts)
    ]


def _matching_tables(pattern: Path) -> list[TableFile]:
    base = _fixed_part(pattern)
    try:
        found = list(base.glob(str(pattern.relative_to(base))))
    except ValueError as error:
        raise TableError(
            f"{pattern}: ** must stand alone between slashes, as in data/**/*.csv."
        ) from error
    return _tables(found, base, root=base if "**" in pattern.parts else None)


def _fixed_part(pattern: Path) -> Path:
    """The folders of a pattern before its first wildcard."""
    folders = pattern.parts[:-1]
    wild = (i for i, part in enumerate(folders) if glob.has_magic(part))
    return Path(*folders[: next(wild, len(folders))])
