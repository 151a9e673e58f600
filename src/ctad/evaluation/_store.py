"""Results in a file that only grows: what is there is never computed again."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import NoneType
from typing import IO, Any, Generic, TypeVar, get_args, get_type_hints

from ..errors import InputError

Key = TypeVar("Key", bound=tuple[Any, ...])
Value = TypeVar("Value", bound=tuple[Any, ...])


class Store(Generic[Key, Value]):
    """Rows of a CSV file, each written whole.

    Parameters
    ----------
    path : pathlib.Path
    key : NamedTuple class
        What a row is the result of.
    value : NamedTuple class
        The result. Fields are str, int or float, or one of these and None.
    """

    def __init__(self, path: Path, key: Callable[..., Key], value: Callable[..., Value]) -> None:
        self.path = path
        self._key, self._value = key, value
        self._readers = {**_readers(key), **_readers(value)}
        self._n_key = len(_readers(key))

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the fields of keys and values."""
        return tuple(self._readers)

    def rows(self) -> dict[Key, Value]:
        """All results so far."""
        if not self.path.exists():
            return {}
        text = _whole_lines(self.path.read_bytes()).decode("utf-8")
        lines = list(csv.reader(io.StringIO(text)))
        if lines and lines[0] != [*self._readers]:
            raise InputError(
                f"{self.path} is not a file of such results: its columns are {lines[0]}, not "
                f"{[*self._readers]}. Choose another folder."
            )
        found = {}
        for number, line in enumerate(lines[1:], start=2):
            try:
                pairs = zip(self._readers.values(), line, strict=True)
                fields = [read(text) for read, text in pairs]
            except ValueError as error:
                raise InputError(
                    f"{self.path}, line {number}, is damaged ({error}): delete the line, and it "
                    "will be measured again"
                ) from error
            found[self._key(*fields[: self._n_key])] = self._value(*fields[self._n_key :])
        return found

    @contextmanager
    def writing(self) -> Iterator[Callable[[Iterable[tuple[Key, Value]]], None]]:
        """A function that adds rows; they last once it returns.

        What a process that was killed has left of a row is removed. Only one process may write at
        a time.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a+b") as file:
            _claim(file)
            file.seek(0)
            content = file.read()
            if len(whole := _whole_lines(content)) < len(content):
                file.truncate(len(whole))

            def write(lines: Iterable[Iterable[Any]]) -> None:
                text = io.StringIO()
                csv.writer(text, lineterminator="\n").writerows(lines)
                file.write(text.getvalue().encode("utf-8"))
                file.flush()
                os.fsync(file.fileno())

            if not file.seek(0, os.SEEK_END):
                write([self._readers])
            yield lambda rows: write(
                [_text(field) for field in (*key, *value)] for key, value in rows
            )


def _whole_lines(content: bytes) -> bytes:
    """Without what comes after the last end of a line; no field has one inside."""
    return content[: content.rfind(b"\n") + 1]


def _text(field: Any) -> str:
    if field is None:
        return ""
    if isinstance(field, float):
        return f"{field:.6g}"
    return re.sub(r"\s*[\r\n]+\s*", " ", str(field))  # on one line


def _readers(fields: Any) -> dict[str, Callable[[str], Any]]:
    return {name: _reader(hint) for name, hint in get_type_hints(fields).items()}


def _reader(hint: Any) -> Callable[[str], Any]:
    kinds = get_args(hint) or (hint,)
    kind = next(kind for kind in kinds if kind is not NoneType)
    if NoneType in kinds:
        return lambda text: kind(text) if text else None
    read: Callable[[str], Any] = kind
    return read


def _claim(file: IO[bytes]) -> None:
    """Keep other processes from writing to the file until it is closed."""
    try:
        import fcntl
    except ImportError:  # Windows
        return
    try:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise BlockingIOError(f"another process is adding to {file.name}: wait for it") from error
    except OSError:  # a file system without locks
        return
