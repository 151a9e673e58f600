"""What a kind is, and the error for values that are not of their kind."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ...errors import InputError

if TYPE_CHECKING:
    from .._reader import Scope
    from .._writer import Writer

Length = int | str  # a number, a name, or a name and a number to add: "bins+1"
ANY_LENGTH = ""


class NotDescribedError(InputError):
    """A value that is not what the description of its type says; `place` is where it is."""

    def __init__(self, reason: str, place: str = "") -> None:
        super().__init__(f"{place}: {reason}" if place else reason)
        self.reason, self.place = reason, place

    def inside(self, name: str | int) -> NotDescribedError:
        """The same error, seen from the value that contains this one."""
        outer = f"[{name}]" if isinstance(name, int) else name
        dot = "." if self.place and not self.place.startswith("[") else ""
        return NotDescribedError(self.reason, f"{outer}{dot}{self.place}")


def require(condition: object, reason: str) -> None:
    """Raise unless a condition holds."""
    if not condition:
        raise NotDescribedError(reason)


class Kind(ABC):
    """A kind of value. Its text, in messages and on the site, says what such a value is."""

    def __str__(self) -> str:
        return (type(self).__doc__ or "").partition(".")[0].lower()

    @abstractmethod
    def write(self, value: Any, writer: Writer) -> Any:
        """The value as JSON; arrays become entries of the file."""

    @abstractmethod
    def read(self, stored: Any, scope: Scope) -> Any:
        """The value that `write` wrote. Raises for anything that is not of this kind."""

    def parts(self, stored: Any) -> Iterable[tuple[tuple[str | int, ...], Kind]]:
        """Where other values are inside a stored one, and their kinds; for tests."""
        return ()


def range_in_words(low: object, high: object) -> str:
    """A range in words."""
    above = "" if low in (None, -math.inf) else f" >= {low}"
    if isinstance(high, str):
        return f"{above} and < {high.removeprefix('<')}"
    return above if high in (None, math.inf) else f"{above}{' and' if above else ''} <= {high}"


def specials_in_words(infinite: bool, nan: bool) -> str:
    allowed = [name for name, is_allowed in (("infinity", infinite), ("NaN", nan)) if is_allowed]
    return f", also {' and '.join(allowed)}" if allowed else ""


def power_in_words(number: int) -> str:
    """Large powers of two as such."""
    return (
        f"2^{number.bit_length() - 1}"
        if number > 10**6 and number.bit_count() == 1
        else f"{number}"
    )


def call_inside(name: str | int, call: Any, *arguments: Any) -> Any:
    """Call a function; say in its error where the value was."""
    try:
        return call(*arguments)
    except NotDescribedError as error:
        raise error.inside(name) from None


def shown(value: Any, most: int = 60) -> str:
    """A value in a message: short, and without control characters."""
    if not isinstance(value, str | int | float | bool | None):
        return f"a {type(value).__name__}"
    text = ascii(value[:most] if isinstance(value, str) else value)
    return text if len(text) <= most else f"{text[: most - 3]}..."
