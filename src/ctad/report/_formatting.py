"""Numbers as people read them."""

from __future__ import annotations

import math

MINUS = "\u2212"
PERCENT = "\u00a0%"  # with a space that does not break lines


def score_text(score: float) -> str:
    """A score to three significant digits.

    >>> [score_text(s) for s in (12345.6, 0.123456, 2.0, 1.5e9, float("inf"))]
    ['12,300', '0.123', '2.00', '1.50e+09', '∞']
    """
    if math.isnan(score):
        return "not a number"
    if math.isinf(score):
        text = "∞" if score > 0 else "-∞"
    elif score == 0:
        text = "0"
    elif not 1e-4 <= abs(score) < 1e7:
        text = f"{score:.2e}"
    else:
        digits = 2 - math.floor(math.log10(abs(score)))
        text = f"{round(score, digits):,.{max(digits, 0)}f}"
    return text.replace("-", MINUS)


def gain_text(gain: float) -> str:
    """A difference, with its sign.

    >>> gain_text(0.01234)
    '+0.012'
    """
    return f"{gain:+.3f}".replace("-", MINUS)


def tick_text(value: float, step: float) -> str:
    """A number on an axis with ticks about `step` apart."""
    if value == 0:
        return "0"
    if abs(value) >= 1e6 and step >= abs(value) / 1000:
        return f"{value:.3g}".replace("e+0", "e").replace("e+", "e").replace("-", MINUS)
    if step < 1e-5:
        return f"{value:.3g}".replace("-", MINUS)
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    return f"{value:,.{decimals}f}".replace("-", MINUS)


def percent_text(share: float) -> str:
    """A share in per cent; only 0 is shown as 0, and only 1 as 100.

    >>> [percent_text(s).split() for s in (0.05, 0.123, 0.0041, 1.0)]
    [['5', '%'], ['12', '%'], ['0.4', '%'], ['100', '%']]
    """
    percent = 100 * share
    number = f"{percent:.1f}".removesuffix(".0") if percent < 10 else f"{percent:.0f}"
    if 0 < share < 0.0005:
        number = "< 0.1"
    if 0.9995 < share < 1:
        number = "> 99.9"
    return number + PERCENT
