"""P-values as text, the same in reports and in tables."""

from __future__ import annotations

import math

LEAST = 1e-6  # smaller numbers say no more than "less than"


def format_p_value(p: float, decimals: int = 3) -> str:
    """A p-value with so many decimals, or one digit where those would be zeros.

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
