"""Numbers that people read, rounded to the safe side."""

from __future__ import annotations

import math
from collections.abc import Callable


def rounded_up(value: float) -> float:
    """Return the next number with three digits, for a bound that people read."""
    return _rounded(value, math.ceil, 1 - 1e-12)


def rounded_down(value: float) -> float:
    """Return the number with three digits before it, for a bound that people read."""
    return _rounded(value, math.floor, 1 + 1e-12) if value >= 1e-300 else 0.0


def _rounded(value: float, towards: Callable[[float], int], slack: float) -> float:
    if not math.isfinite(value) or value < 1e-300:
        return value
    unit = 10.0 ** (math.floor(math.log10(value)) - 2)
    return towards(value / unit * slack) * unit


def number(value: float) -> str:
    """Return three digits of a number.

    Examples
    --------
    >>> number(1.2345), number(12345.6), number(1.2345e9), number(math.inf)
    ('1.23', '12,300', '1.23e+09', '∞')
    """
    if value == math.inf:
        return "∞"
    return f"{float(f'{value:.3g}'):,.0f}" if 1000 <= value < 1e6 else f"{value:.3g}"
