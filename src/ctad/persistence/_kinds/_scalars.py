"""Kinds of single values: numbers, strings, choices."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ._kind import (
    Kind,
    NotDescribedError,
    power_in_words,
    range_in_words,
    require,
    shown,
    specials_in_words,
)

if TYPE_CHECKING:
    from .._reader import Scope
    from .._writer import Writer


@dataclass(frozen=True)
class Flag(Kind):
    """True or False."""

    def __str__(self) -> str:
        return "true or false"

    def write(self, value: Any, writer: Writer) -> bool:
        return bool(self._checked(value.item() if isinstance(value, np.generic) else value))

    def read(self, stored: Any, scope: Scope) -> bool:
        return self._checked(stored)

    def _checked(self, value: Any) -> bool:
        require(isinstance(value, bool), f"{shown(value)} is not {self}")
        return bool(value)


@dataclass(frozen=True)
class Integer(Kind):
    """An integer in a range, both ends included; with `length`, the length of that name."""

    low: int = 0
    high: int = 2**53
    length: str | None = None

    def __str__(self) -> str:
        name = "" if self.length is None else f": the length {self.length}"
        return f"an integer from {self.low} to {power_in_words(self.high)}{name}"

    def write(self, value: Any, writer: Writer) -> int:
        return self._checked(value.item() if isinstance(value, np.generic) else value)

    def read(self, stored: Any, scope: Scope) -> int:
        number = self._checked(stored)
        if self.length is not None:
            scope.fix_length(self.length, number)
        return number

    def _checked(self, value: Any) -> int:
        require(
            isinstance(value, int)
            and not isinstance(value, bool)
            and self.low <= value <= self.high,
            f"{shown(value)} is not {self}",
        )
        return int(value)


@dataclass(frozen=True)
class Number(Kind):
    """A number in a range, both ends included; NaN and infinity only where the kind says so."""

    low: float = -math.inf
    high: float = math.inf
    infinite: bool = False
    nan: bool = False

    def __str__(self) -> str:
        if self.low == math.inf:
            return '"inf"'
        limits = range_in_words(self.low, self.high)
        return f"a number{limits}{specials_in_words(self.infinite, self.nan)}"

    def write(self, value: Any, writer: Writer) -> Any:
        value = value.item() if isinstance(value, np.generic) else value
        self._check(value)
        if isinstance(value, int):
            return value
        return float(value) if math.isfinite(value) else str(float(value))

    def read(self, stored: Any, scope: Scope) -> float:
        value = float(stored) if stored in ("inf", "-inf", "nan") else stored
        self._check(value)
        number: float = value
        return number

    def _check(self, value: Any) -> None:
        require(
            isinstance(value, int | float) and not isinstance(value, bool),
            f"{shown(value)} is not {self}",
        )
        # Python compares integers of any size with floats exactly.
        in_range = self.nan if value != value else self.low <= value <= self.high
        require(
            in_range and (self.infinite or value not in (math.inf, -math.inf)),
            f"{shown(value)} is not {self}",
        )
        if isinstance(value, int):
            require(abs(value) <= 2**53, f"{shown(value)} has too many digits")


@dataclass(frozen=True)
class Choice(Kind):
    """One of a few values: strings, None, booleans or integers."""

    values: tuple[Any, ...]

    def __str__(self) -> str:
        return " or ".join(json.dumps(value) for value in self.values)

    def write(self, value: Any, writer: Writer) -> Any:
        return self._checked(value)

    def read(self, stored: Any, scope: Scope) -> Any:
        return self._checked(stored)

    def _checked(self, value: Any) -> Any:
        for choice in self.values:
            if type(value) is type(choice) and value == choice:
                return choice
        raise NotDescribedError(f"{shown(value)} is not {self}")


@dataclass(frozen=True)
class Text(Kind):
    """Any string, such as the name of a column."""

    def __str__(self) -> str:
        return "a string"

    def write(self, value: Any, writer: Writer) -> str:
        return self._checked(value)

    def read(self, stored: Any, scope: Scope) -> str:
        return self._checked(stored)

    def _checked(self, value: Any) -> str:
        require(isinstance(value, str), f"{shown(value)} is not {self}")
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise NotDescribedError(f"{shown(value)} is not valid Unicode") from error
        return str(value)


@dataclass(frozen=True)
class Seed(Kind):
    """A seed or None. A random generator is not stored: None stands for it."""

    def __str__(self) -> str:
        return f"null or {SEED}"

    def write(self, value: Any, writer: Writer) -> int | None:
        if value is None or isinstance(value, np.random.RandomState):
            return None
        return SEED.write(value, writer)

    def read(self, stored: Any, scope: Scope) -> int | None:
        return None if stored is None else SEED.read(stored, scope)


SEED = Integer(0, 2**32 - 1)


@dataclass(frozen=True)
class Unsaved(Kind):
    """A parameter that is not stored, such as a cache folder: files have `value` for it."""

    value: Any = None

    def __str__(self) -> str:
        return json.dumps(self.value)

    def write(self, value: Any, writer: Writer) -> Any:
        return self.value

    def read(self, stored: Any, scope: Scope) -> Any:
        return Choice((self.value,)).read(stored, scope)
