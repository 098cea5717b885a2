"""Objectives at the scale of rows of at most 1, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from certifeature.certificate.multipliers import Enclosure
from certifeature.certificate.safe_rows import TINY, SafeRows

__all__ = ["at_scale_of_rows", "scaled_back"]

FloatArray = NDArray[np.float64]


def at_scale_of_rows(
    X: Any, costs: FloatArray, intercept: float | None
) -> tuple[SafeRows, NDArray[np.intp], FloatArray] | None:
    """Return the rows with a cost, their places, and their costs at the scale of the rows.

    For w scaled up as x is scaled down, all of the objective grows by the same factor. None if some
    of the costs leave the range of numbers.
    """
    rows = X if isinstance(X, SafeRows) else SafeRows.of(X, intercept)
    places = np.flatnonzero(costs > 0)
    with np.errstate(over="ignore", under="ignore"):
        scaled = np.ldexp(costs[places], 2 * rows.exponent)
    if len(places) < len(costs):
        rows = rows.take(places)
    in_range = bool((np.isfinite(scaled) & (scaled >= TINY)).all())
    return (rows, places, np.asarray(scaled)) if in_range else None


def scaled_back(lower: float, upper: float, rows: SafeRows, exponent: int = 0) -> Enclosure:
    """Return bounds at the scale of the data, wider where they leave the range of numbers.

    What is predicted is smaller by 2^exponent than it was.
    """
    with np.errstate(over="ignore", under="ignore"):
        bounds = np.ldexp([lower, upper], 2 * exponent - 2 * rows.exponent)
    # Below the normal numbers, rounding is no longer relative.
    least = float(bounds[0]) if np.isfinite(bounds[0]) and bounds[0] >= TINY else 0.0
    return Enclosure(least, float(max(bounds[1], TINY)) if upper > 0 else 0.0)
