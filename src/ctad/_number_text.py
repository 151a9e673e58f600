"""Numbers as text, the same in reports, tables and studies."""

from __future__ import annotations

import math

LEAST = 1e-6  # smaller p-values are shown as "< 0.000001"


def format_p_value(p: float, decimals: int = 3) -> str:
    """Format a p-value with `decimals` decimals, or one digit if these would all be 0.

    Parameters
    ----------
    p : float
    decimals : int, default=3

    Returns
    -------
    str

    Examples
    --------
    >>> [format_p_value(p) for p in (0.25, 0.0123, 0.00042, 1e-12)]
    ['0.250', '0.012', '0.0004', '< 0.000001']
    """
    if p < LEAST:
        return f"< {LEAST:.6f}"
    if p >= 10**-decimals:
        return f"{p:.{decimals}f}"
    # One more decimal where rounding to one digit would carry over: 0.00097 is 0.0010.
    return f"{p:.{-math.floor(math.log10(p))}f}"


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number of things; `many` is the plural if it is not `one` with an s.

    >>> counted(1, "row"), counted(1200, "row"), counted(2, "row is", "rows are")
    ('1 row', '1,200 rows', '2 rows are')
    """
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"
