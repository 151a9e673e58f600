"""Read a model file: every value is checked by its kind before an object is built from it."""

from __future__ import annotations

import math
import warnings
from inspect import Parameter, signature
from typing import Any, NamedTuple

import numpy.typing as npt

from .._library_versions import library_versions
from .._warnings import warn_user
from ._arrays import array_from_bytes
from ._container import ModelFileError
from ._description import Description
from ._descriptions import DESCRIPTIONS
from ._descriptions._common import PYTHON_STEP, check_width
from ._descriptions._transformers_common import gives_tables
from ._kinds import (
    ANY_LENGTH,
    NOWHERE,
    Length,
    NotDescribedError,
    Object,
    read_fields,
    require,
    shown,
    write_fields,
)
from ._trusted_objects import unpack_trusted
from ._writer import Writer

# Objects inside each other: a frozen pipeline of column transformers of pipelines has six.
MAX_DEPTH = 7
# Operations that an object costs per level: scikit-learn asks all inner objects several times.
OBJECT_WORK, PER_LEVEL = 10_000, 3
# Objects that are not fitted, such as those that a detector was made from.
MAX_UNFITTED = 1000
# Characters in the names of columns that a transformer may have to make.
MAX_NAMES = 5 * 10**7

LIBRARIES_OF_OBJECTS = {"sklearn": "scikit-learn", "pyod": "pyod"}


class Reader:
    """The contents of a model file, and what is known of the objects built from them.

    Parameters
    ----------
    path : str
        Named in messages.
    manifest : dict
        The user trusts the types that it lists as "trusted".
    entries : dict of str to bytes
    function : callable, optional
        The function that the model wraps, if it wraps one.
    max_work : float
        Operations that scoring a row may take.
    """

    def __init__(
        self,
        path: str,
        manifest: dict[str, Any],
        entries: dict[str, bytes],
        function: Any = None,
        max_work: float = math.inf,
    ) -> None:
        self.path = path
        self.manifest, self.entries = manifest, entries
        self.function, self.function_used = function, False
        self.max_work = max_work
        self.work = 0  # operations to score one row
        self.depth = 0  # of the object that is read now
        self.n_unfitted = 0  # objects that were read
        self.longest_name = 0  # of the columns so far, which come before what makes more of them
        self._built: dict[int, Built] = {}  # by id of the object
        self.used: dict[str, None] = {}  # entries that were read, in order
        self.packages: set[str] = set()

    def model(self, kind: Object) -> Any:
        """The model of the file."""
        self.add_work(sum(map(len, self.entries.values())) // 8)
        with warnings.catch_warnings():  # whoever made the model has seen them
            warnings.simplefilter("ignore")
            model = Scope(self).object(self.manifest["model"], kind)
        require(len(self.used) == len(self.entries), "entries that no part of the model uses")
        return model

    def entry(self, name: Any, folder: str) -> bytes:
        """The content of an entry, which may be read once."""
        require(
            isinstance(name, str) and name.startswith(folder) and name in self.entries,
            f"no entry of {folder}",
        )
        require(name not in self.used, f"{name} is used twice")
        self.used[name] = None
        return self.entries[name]

    def note_built(self, item: Any, description: Description, values: Any, scope: Scope) -> None:
        """Note what is known of a fitted object that was built."""
        n_in, n_out = (
            found(values, scope) if callable(found) else scope.lengths.get(found or "")
            for found in (description.n_in, description.n_out)
        )
        check_width(n_out or 0, n_in)
        require(
            (n_out or 0) * self.longest_name <= MAX_NAMES,
            f"{n_out} columns with names of {self.longest_name} characters",
        )
        self._built[id(item)] = Built(item, n_in, n_out)
        known = {**getattr(item, "__dict__", {}), **values}
        per_column = PYTHON_STEP if gives_tables(known) else 1
        work = description.work(known, scope) + per_column * (n_out or 0)
        self.add_work(work + OBJECT_WORK * PER_LEVEL**self.depth)

    def add_work(self, work: int) -> None:
        """Add to the operations that it takes to score a row."""
        self.work += work
        if self.work > self.max_work:
            raise ModelFileError(
                f"{self.path}: scoring a row may take {self.work:,} operations, more than "
                f"max_work={self.max_work:,}. Pass a larger max_work if you expect such a model."
            )

    def n_columns(self, item: Any) -> tuple[int | None, int | None]:
        """The numbers of columns that an object of this file gets and gives, as far as known."""
        built = self._built.get(id(item))
        return (None, None) if built is None else (built.n_in, built.n_out)

    def warn_of_other_versions(self) -> None:
        """Warn if scikit-learn or PyOD, if objects use them, have other versions here."""
        here, there = library_versions(), self.manifest["versions"]
        changed = [
            f"{name} {shown(str(there.get(name)))[1:-1]} (here {here[name]})"
            for package, name in LIBRARIES_OF_OBJECTS.items()
            if package in self.packages and str(there.get(name)) != here[name]
        ]
        if changed:
            warn_user(
                f"{self.path} was written with {' and '.join(changed)}: scores may differ. Install "
                "the same versions or retrain the model if that matters."
            )


class Built(NamedTuple):
    """An object and the columns it gets and gives. Holding the object keeps its id from others."""

    item: Any
    n_in: int | None
    n_out: int | None


class Scope:
    """The lengths of the arrays of one object, and the kind of the place where it stands."""

    def __init__(self, reader: Reader, place: Object = NOWHERE) -> None:
        self.reader, self.place = reader, place
        self.lengths: dict[str, int] = {}

    def inner(self) -> Scope:
        """A scope with the same lengths, to which others can be added."""
        inner = Scope(self.reader, self.place)
        inner.lengths = self.lengths.copy()
        return inner

    def fix_length(self, name: Length, value: int) -> None:
        """Set a length, or check that it is what it was set to."""
        if isinstance(name, int):
            require(value == name, f"a length of {value} instead of {name}")
            return
        if name == ANY_LENGTH:
            return
        name, _, more = name.partition("+")
        value -= int(more or 0)
        known = self.lengths.setdefault(name, value)
        require(value == known and value >= 0, f"a length ({name}) of {value} instead of {known}")

    def n_in(self, item: Any) -> int | None:
        """The number of columns of the rows that an object of this file gets, if known."""
        return self.reader.n_columns(item)[0]

    def n_out(self, item: Any) -> int | None:
        """The number of columns that a transformer of this file gives, if known."""
        return self.reader.n_columns(item)[1]

    def array(self, stored: Any) -> npt.NDArray[Any]:
        """The array that `Writer.array` added."""
        require(isinstance(stored, dict) and stored.keys() == {"array"}, "not an array")
        return array_from_bytes(self.reader.entry(stored["array"], "arrays/"))

    def object(self, stored: Any, kind: Object) -> Any:
        """The object that `Writer.object` described."""
        require(isinstance(stored, dict), "not an object")
        if stored.keys() == {"type", "trusted"}:
            content = self.reader.entry(stored["trusted"], "trusted/")
            return unpack_trusted(str(stored["type"]), content, self.reader.manifest["trusted"])
        require(stored.keys() == {"type", "parameters", "fitted"}, "not an object")
        name = stored["type"]
        require(isinstance(name, str) and name in DESCRIPTIONS, "a type without a description")
        description = DESCRIPTIONS[name]
        require(kind.allows(description), f"{description.class_name} cannot be here")
        fitted = stored["fitted"] is not None
        require(kind.fitted is None or kind.fitted == fitted, "fitted" if fitted else "not fitted")
        self.reader.depth += 1
        try:
            require(self.reader.depth <= MAX_DEPTH, f"more than {MAX_DEPTH} objects in each other")
            return _built(description, stored, Scope(self.reader, kind))
        except NotDescribedError as error:
            raise error.inside(description.class_name) from None
        finally:
            self.reader.depth -= 1

    def bookmark(self) -> tuple[int, dict[str, int]]:
        """What was read so far, for `go_back`."""
        return len(self.reader.used), self.lengths.copy()

    def go_back(self, bookmark: tuple[int, dict[str, int]]) -> None:
        """Forget what was read since `bookmark`."""
        n_used, self.lengths = bookmark
        while len(self.reader.used) > n_used:
            self.reader.used.popitem()


def _built(description: Description, stored: dict[str, Any], scope: Scope) -> Any:
    parameters = _parameters(description, stored["parameters"], scope)
    fitted = None
    if stored["fitted"] is None:
        scope.reader.n_unfitted += 1
        require(scope.reader.n_unfitted <= MAX_UNFITTED, f"more than {MAX_UNFITTED} unfitted parts")
    else:
        fitted = read_fields(description.fitted, stored["fitted"], scope)
        description.check({**parameters, **fitted}, scope)
    scope.reader.packages.add(description.type.partition(".")[0])
    try:
        item = description.construct(description.import_class(), parameters)
        if fitted is not None:
            values = {**parameters, **fitted}
            description.put_together(item, fitted)
            scope.reader.note_built(item, description, values, scope)
    except (NotDescribedError, ModelFileError):
        raise
    except (ValueError, TypeError) as error:
        raise NotDescribedError(shown(str(error), 200)) from error
    return item


def _parameters(description: Description, stored: Any, scope: Scope) -> dict[str, Any]:
    """All parameters of an object; those that the file leaves out have their default."""
    values = read_fields(description.optional_parameters, stored, scope)
    left_out = {name: kind for name, kind in description.parameters.items() if name not in values}
    if left_out:
        known = signature(description.import_class()).parameters
        kinds = {name: kind for name, kind in left_out.items() if name in known}
        required = [name for name in kinds if known[name].default is Parameter.empty]
        require(not required, f"{', '.join(required)}: missing")
        defaults = write_fields(kinds, {name: known[name].default for name in kinds}, Writer())
        values.update(read_fields(kinds, defaults, scope))
    return values
