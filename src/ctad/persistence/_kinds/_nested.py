"""Kinds of values that contain others: lists, dictionaries, objects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ._kind import Kind, Length, NotDescribedError, call_inside, require, shown

if TYPE_CHECKING:
    from .._description import Description
    from .._reader import Scope
    from .._writer import Writer


@dataclass(frozen=True)
class Optional(Kind):
    """None, or a value of another kind."""

    kind: Kind

    def __str__(self) -> str:
        return f"null or {self.kind}"

    def write(self, value: Any, writer: Writer) -> Any:
        return None if value is None else self.kind.write(value, writer)

    def read(self, stored: Any, scope: Scope) -> Any:
        return None if stored is None else self.kind.read(stored, scope)


@dataclass(frozen=True)
class MayBeMissing(Kind):
    """In a table of attributes: the attribute may not exist."""

    kind: Kind

    def __str__(self) -> str:
        return f"{self.kind}; may be missing"

    def write(self, value: Any, writer: Writer) -> Any:
        return self.kind.write(value, writer)

    def read(self, stored: Any, scope: Scope) -> Any:
        return self.kind.read(stored, scope)


@dataclass(frozen=True)
class OneOf(Kind):
    """A value of the first kind that accepts it."""

    kinds: tuple[Kind, ...]

    def __str__(self) -> str:
        return ", or ".join(map(str, self.kinds))

    def write(self, value: Any, writer: Writer) -> Any:
        reasons = []
        for kind in self.kinds:
            try:
                return kind.write(value, writer)
            except NotDescribedError as error:
                reasons.append(str(error))
        raise NotDescribedError(", and ".join(reasons))

    def read(self, stored: Any, scope: Scope) -> Any:
        reasons = []
        for kind in self.kinds:
            before = scope.bookmark()
            try:
                return kind.read(stored, scope)
            except NotDescribedError as error:
                scope.go_back(before)
                reasons.append(str(error))
        raise NotDescribedError(", and ".join(reasons))


@dataclass(frozen=True)
class ListOf(Kind):
    """A list of values of one kind. `type` is what it becomes when read: list or tuple."""

    kind: Kind
    length: Length | None = None
    type: type = list

    def __str__(self) -> str:
        length = "" if self.length is None else f" of length {self.length}"
        return f"a list{length}, each {self.kind}"

    def write(self, value: Any, writer: Writer) -> list[Any]:
        require(isinstance(value, list | tuple), f"{shown(value)} is not a list")
        return [
            call_inside(number, self.kind.write, item, writer) for number, item in enumerate(value)
        ]

    def read(self, stored: Any, scope: Scope) -> Any:
        require(isinstance(stored, list), f"{shown(stored)} is not a list")
        if self.length is not None:
            scope.fix_length(self.length, len(stored))
        return self.type(
            call_inside(number, self.kind.read, item, scope) for number, item in enumerate(stored)
        )


@dataclass(frozen=True)
class TupleOf(Kind):
    """A tuple of values, each of its own kind."""

    kinds: tuple[Kind, ...]

    def __str__(self) -> str:
        return f"a list of {', '.join(map(str, self.kinds))}"

    def write(self, value: Any, writer: Writer) -> list[Any]:
        require(isinstance(value, list | tuple), f"{shown(value)} is not a tuple")
        require(len(value) == len(self.kinds), f"a tuple of {len(value)} values")
        pairs = enumerate(zip(self.kinds, value, strict=True))
        return [call_inside(number, kind.write, item, writer) for number, (kind, item) in pairs]

    def read(self, stored: Any, scope: Scope) -> tuple[Any, ...]:
        require(isinstance(stored, list), f"{shown(stored)} is not a list")
        require(len(stored) == len(self.kinds), f"a list of {len(stored)} values")
        pairs = enumerate(zip(self.kinds, stored, strict=True))
        return tuple(call_inside(number, kind.read, item, scope) for number, (kind, item) in pairs)

    def parts(self, stored: Any) -> Iterable[tuple[tuple[str | int, ...], Kind]]:
        if not isinstance(stored, list) or len(stored) != len(self.kinds):
            return ()
        return [((number,), kind) for number, kind in enumerate(self.kinds)]


@dataclass(frozen=True)
class Record(Kind):
    """A dictionary with these keys, and no others.

    Attributes
    ----------
    fields : mapping of str to Kind
    own_lengths : bool
        Whether lengths that are first set inside are lengths of this dictionary alone, so that
        those of a list may differ.
    """

    fields: Mapping[str, Kind]
    own_lengths: bool = False

    def __str__(self) -> str:
        fields = "; ".join(f"{name}: {kind}" for name, kind in self.fields.items())
        own = " (with lengths of its own)" if self.own_lengths else ""
        return f"a dictionary{own} with {fields}" if fields else "an empty dictionary"

    def write(self, value: Any, writer: Writer) -> dict[str, Any]:
        require(isinstance(value, Mapping), f"{shown(value)} is not a dictionary")
        return write_fields(self.fields, value, writer)

    def read(self, stored: Any, scope: Scope) -> dict[str, Any]:
        return read_fields(self.fields, stored, scope.inner() if self.own_lengths else scope)


def write_fields(
    fields: Mapping[str, Kind], values: Mapping[str, Any], writer: Writer
) -> dict[str, Any]:
    """Write a dictionary; every value must have a kind."""
    _check_names(fields, values)
    return {
        name: call_inside(name, kind.write, values[name], writer)
        for name, kind in fields.items()
        if name in values
    }


def read_fields(fields: Mapping[str, Kind], stored: Any, scope: Scope) -> dict[str, Any]:
    """Read a dictionary with the keys of a table, and no others."""
    require(isinstance(stored, dict), f"{shown(stored)} is not a dictionary")
    _check_names(fields, stored)
    return {
        name: call_inside(name, kind.read, stored[name], scope)
        for name, kind in fields.items()
        if name in stored
    }


def _check_names(fields: Mapping[str, Kind], names: Mapping[str, Any]) -> None:
    unknown = [shown(name) for name in names if name not in fields]
    require(not unknown, f"{', '.join(unknown[:3])}: not in the description")
    missing = [
        name
        for name, kind in fields.items()
        if name not in names and not isinstance(kind, MayBeMissing)
    ]
    require(not missing, f"{', '.join(missing[:3])}: missing")


@dataclass(frozen=True)
class Object(Kind):
    """An object of a type that has a description.

    Attributes
    ----------
    types : tuple of str
        Full names of types that are allowed.
    roles : tuple of str
        Types with these roles are allowed, too.
    fitted : bool or None
        Whether it must be fitted, must not be, or may be either (None).
    """

    types: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    fitted: bool | None = True

    def __str__(self) -> str:
        allowed = [name.rpartition(".")[2] for name in self.types]
        state = {True: "a fitted", False: "an unfitted", None: "a"}[self.fitted]
        return f"{state} {' or '.join([*allowed, *self.roles])}"

    def allows(self, description: Description) -> bool:
        """Whether objects of a type may stand here."""
        roles = {description.role, description.other_role}
        return description.type in self.types or not roles.isdisjoint(self.roles)

    def write(self, value: Any, writer: Writer) -> Any:
        return writer.object(value, self)

    def read(self, stored: Any, scope: Scope) -> Any:
        return scope.object(stored, self)


NOWHERE = Object()
