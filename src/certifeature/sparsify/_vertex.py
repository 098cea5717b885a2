"""From any solution of the 1-norm SVM to one that is a vertex."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

__all__ = ["to_vertex"]

FloatArray = NDArray[np.float64]

_ON_MARGIN = 1e-7
_RANK = 1e-9
_ROUNDING = 1e-12


def to_vertex(
    block: Any, prices: FloatArray, reach: float, row_scales: FloatArray, point: FloatArray
) -> FloatArray:
    """Walk along the solutions of a linear program until the columns in use are independent.

    The minima of prices·|w| + reach·Σ max(0, 1 − mᵢ), where m are the margins, form a polyhedron
    whose vertices have weights on independent columns of the rows with m = 1. From any other
    minimum a line leads both ways through minima, until a weight becomes 0 or a margin 1.

    Parameters
    ----------
    block : {ndarray, sparse array} of shape (n_samples, n_used + 1)
        Columns with weight, and that of the intercept, such that block·point = row_scales·m.
    prices : ndarray of shape (n_used,)
        Prices of the weights.
    reach : float
        Price of slack.
    row_scales : ndarray of shape (n_samples,)
        Scales of the rows.
    point : ndarray of shape (n_used + 1,)
        Weights, none of them zero, and intercept of a minimum.

    Returns
    -------
    ndarray of shape (n_used + 1,)
        Weights and intercept of a vertex.
    """
    margins = (block @ point) / row_scales
    fixed = np.abs(margins - 1) < _ON_MARGIN
    free = _null_space(block[np.flatnonzero(fixed)])
    point = point.copy()
    while free.shape[1]:
        line, in_use = free[:, -1], point[:-1] != 0
        change = (block @ line) / row_scales
        slack = ~fixed & (margins < 1)
        slope = (np.sign(point[:-1]) * prices) @ line[:-1] - reach * change[slack].sum()
        if slope > 0:
            line, change = -line, -change
        with np.errstate(divide="ignore", invalid="ignore"):
            to_zero = np.where(in_use, -point[:-1] / line[:-1], np.inf)
            to_margin = np.where(fixed, np.inf, (1 - margins) / change)
        steps = np.concatenate([to_zero, to_margin])
        steps[~(steps > 0)] = np.inf
        first = int(np.argmin(steps))
        if not np.isfinite(steps[first]):
            break
        point += steps[first] * line
        margins = margins + steps[first] * change
        if first >= len(to_zero):
            row = first - len(to_zero)
            fixed[row] = True
            free = free @ _complement(np.ravel(block[[row]] @ free))
            continue
        # Weights that reach zero together do so but for rounding.
        zero = np.abs(point[:-1]) <= _ROUNDING * np.abs(point[:-1]).max()
        zero[first] = True
        for gone in np.flatnonzero(zero & in_use):
            point[gone] = 0.0
            if np.linalg.norm(free[gone]) > _ROUNDING:
                free = free @ _complement(free[gone])
            free[gone] = 0.0
    return point


def _null_space(rows: Any) -> FloatArray:
    """Return an orthonormal basis of the vectors that rows map to zero."""
    dense = rows.toarray() if sparse.issparse(rows) else rows
    orthogonal, triangle, _ = linalg.qr(dense.T, pivoting=True)
    sizes = np.abs(np.diag(triangle))
    rank = int(np.sum(sizes > _RANK * sizes.max(initial=0.0)))
    return np.asarray(orthogonal[:, rank:])


def _complement(vector: FloatArray) -> FloatArray:
    """Return an orthonormal basis of what is orthogonal to a vector: a reflection, less it."""
    mirror = vector / np.linalg.norm(vector)
    sign = 1.0 if mirror[0] >= 0 else -1.0
    mirror[0] += sign
    reflection = np.eye(len(vector)) - np.outer(mirror, mirror) * (2 / (mirror @ mirror))
    return reflection[:, 1:]
