"""What messages quote from users' data: short and printable, whatever it contains."""

from __future__ import annotations

from collections.abc import Iterable

MAX_CHARACTERS = 200
MAX_ITEMS = 20


def quoted(text: str) -> str:
    """A name or a value in quotes.

    >>> print(quoted("tab\\t"), len(quoted("x" * 1_000_000)))
    'tab\\t' 205
    """
    return repr(text if len(text) <= MAX_CHARACTERS else f"{text[:MAX_CHARACTERS]}...")


def shortened(message: object) -> str:
    """The message of a library in one line, as it may contain any bytes of a damaged file.

    >>> print(shortened("not UTF-8:\\n\\x00\\x1b[31m"))
    not UTF-8: \\x00\\x1b[31m
    """
    line = " ".join(str(message)[: MAX_CHARACTERS + 1].split())
    line = "".join(c if c.isprintable() else repr(c)[1:-1] for c in line)
    return line if len(line) <= MAX_CHARACTERS else f"{line[:MAX_CHARACTERS]}..."


def listed(items: Iterable[str]) -> str:
    """The first items of a list, and the number of the others.

    >>> listed("ab"), listed(["c"] * 100_000)[-19:]
    ('a, b', ', c and 99,980 more')
    """
    items = list(items)
    more = len(items) - MAX_ITEMS
    return ", ".join(items[:MAX_ITEMS]) + (f" and {more:,} more" if more > 0 else "")
