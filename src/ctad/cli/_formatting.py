"""Numbers as commands print them."""

from __future__ import annotations


def percent(share: float, decimals: int = 0) -> str:
    """A share in percent.

    >>> percent(0.75), percent(0.0123, decimals=1)
    ('75 %', '1.2 %')
    """
    return f"{100 * share:.{decimals}f} %"
