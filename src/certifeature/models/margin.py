"""The hard margin of two classes, enclosed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from certifeature._utils import EPS, FloatArray
from certifeature.models.enclosure import (
    CLOSE,
    OVERFLOW_IS_WIDE,
    Enclosure,
    SafeRows,
    libsvm_multipliers,
)
from certifeature.models.losses import make_loss
from certifeature.models.solver import MAX_DIRECT, bordered_solution, minimise

# Slack is so expensive at these C, for rows of size 1, that separable rows have nearly none.
_HARD = 1e7
_HARDER = (1e4, 1e8, 1e12, 1e16)
_MAX_DROPS = 20


@OVERFLOW_IS_WIDE
def hard_margin(X: Any, signs: FloatArray) -> Enclosure | None:
    """Enclose the hard margin of rows, with a free intercept.

    Parameters
    ----------
    X : {array-like, sparse array or matrix} of shape (n_samples, n_features), or SafeRows
        Rows.
    signs : ndarray of shape (n_samples,)
        Labels −1 and +1.

    Returns
    -------
    Enclosure or None
        Below, the margin of a hyperplane that separates the classes; above, half the distance of
        two points of their convex hulls. None if no separating hyperplane was found.

    Examples
    --------
    >>> import numpy as np
    >>> margin = hard_margin([[-1.0], [-3.0], [2.0]], np.array([-1.0, -1.0, 1.0]))
    >>> bool(margin.lower <= 1.5 <= margin.upper)
    True
    """
    rows = X if isinstance(X, SafeRows) else SafeRows.of(X, None)
    lower, upper = 0.0, np.inf
    for weights, alpha in _separators(rows, signs):
        lower = max(lower, _margin(rows, signs, weights))
        upper = min(upper, _half_distance(rows, signs, alpha))
        if upper - lower <= CLOSE * upper:
            break
    if lower == 0:
        return None
    return Enclosure(float(np.ldexp(lower, rows.exponent)), float(np.ldexp(upper, rows.exponent)))


def _separators(rows: SafeRows, signs: FloatArray) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield weights that may separate the classes, and multipliers, the quickest to find first."""
    kernel = rows.kernel
    size = float(np.diag(kernel).mean())
    if size == 0:
        return

    def found(alpha: FloatArray) -> tuple[FloatArray, FloatArray]:
        return rows.combination(alpha * signs)[0], alpha

    n_rows, n_features = rows.values.shape
    is_large = min(n_rows, n_features) > MAX_DIRECT
    # Of classes that overlap, LIBSVM makes all the steps that it may.
    if is_large or n_rows <= n_features:
        alpha = libsvm_multipliers(kernel / size, signs, np.full(len(signs), _HARD))
        yield found(alpha)
        yield found(_on_the_margin(kernel, signs, alpha))
    if is_large:
        return
    weights = None
    for cost in _HARDER:
        loss = make_loss("squared_hinge", signs, np.full(len(signs), cost / size))
        weights, _ = minimise(rows.values, loss, None, weights)
        scores = rows.values @ weights[:-1] + weights[-1]
        alpha = np.maximum(0.0, 1 - signs * scores[:, 0])
        yield np.append(weights[:-1, 0], 0.0), alpha
        yield found(_on_the_margin(kernel, signs, alpha))


def _on_the_margin(kernel: FloatArray, signs: FloatArray, alpha: FloatArray) -> FloatArray:
    """Return multipliers that put all rows in use on the margin exactly, less those that resist."""
    alpha = alpha.copy()
    for _ in range(_MAX_DROPS):
        used = np.flatnonzero(alpha)
        if not 0 < len(used) <= MAX_DIRECT:
            break
        beta, _ = bordered_solution(kernel[np.ix_(used, used)], signs[used], 0.0)
        alpha[used] = np.maximum(0.0, beta * signs[used])
        if (alpha[used] > 0).all() or not (alpha[signs > 0].any() and alpha[signs < 0].any()):
            break
    return alpha


def _margin(rows: SafeRows, signs: FloatArray, weights: FloatArray) -> float:
    """Return the margin of a hyperplane, or less; 0 if it does not separate the classes."""
    scores, errors = rows.scores(weights)
    norm = float(np.linalg.norm(weights)) * (1 + len(weights) * EPS)
    nearest, farthest = (scores - errors)[signs > 0].min(), (scores + errors)[signs < 0].max()
    return max(0.0, float(nearest - farthest) * (1 - 4 * EPS) / (2 * norm)) if norm else 0.0


def _half_distance(rows: SafeRows, signs: FloatArray, alpha: FloatArray) -> float:
    """Return half the distance of two points of the hulls of the classes, or more."""
    if not (alpha[signs > 0].any() and alpha[signs < 0].any()):
        return np.inf
    totals = np.where(signs > 0, alpha[signs > 0].sum(), alpha[signs < 0].sum())
    difference, error = rows.combination(alpha * signs / totals)
    return (float(np.linalg.norm(difference)) + error) * (1 + len(difference) * EPS) / 2
