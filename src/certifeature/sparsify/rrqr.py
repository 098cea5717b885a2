"""Column subset selection by QR factorisation with column pivoting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from certifeature._progress import phase
from certifeature._validation import as_count
from certifeature.rows.matrix import normalised
from certifeature.sparsify.choice import ColumnChoice

__all__ = ["rrqr"]

FloatArray = NDArray[np.float64]

_EPS = float(np.finfo(np.float64).eps)
# Downdated norms lose digits as they shrink; below this share of their start they are made anew.
_TRUSTED_SHARE = float(np.sqrt(_EPS))
# What rounding leaves open: of a squared distance, relative to where downdating began; of a
# distance that was made anew, relative to the norm of the column.
_DOWNDATING = 1e-13
_PROJECTING = 1e-15
_BLOCK = 1024


def rrqr(X: Any, n_select: int, *, tolerance: float = 0.0) -> ColumnChoice:
    """Choose columns of X by pivoted QR: always the one farthest from the span of those before.

    Columns that are equally far but for rounding tie, and the lower index wins.

    Beyond the rank nothing is far from the span any more; the chosen columns are then left out and
    the factorisation starts again on the others.

    Parameters
    ----------
    X : {array-like, sparse array or matrix} of shape (n_samples, n_features)
        Finite, not all zero. It is not densified.
    n_select : int
        Number of columns to choose, at most ``n_features``.
    tolerance : float, default=0.0
        What X itself is uncertain by: distances that differ by no more than this share of the norm
        of the longest column tie, too.

    Returns
    -------
    ColumnChoice
        Columns in the order of their choice, all with scale 1. A smaller ``n_select`` gives the
        beginning of a larger one.

    Examples
    --------
    >>> from certifeature.sparsify import rrqr
    >>> rrqr([[3.0, 3.0, 0.0], [0.0, 0.1, 1.0]], 3).indices
    array([1, 2, 0])
    """
    n_select = as_count("n_select", n_select)
    X, _ = normalised(X)
    n_features = X.shape[1]
    if n_select > n_features:
        raise ValueError(
            f"n_select={n_select} is more than the {n_features} features of X; "
            f"ask for at most {n_features}."
        )
    if sparse.issparse(X):
        X = X.tocsc()
    squared_norms = np.asarray((X * X).sum(axis=0)).ravel()
    blur = tolerance * np.sqrt(squared_norms.max())
    chosen: list[int] = []
    with phase("pivots", n_select) as advance:
        while len(chosen) < n_select:
            limit = n_select - len(chosen)
            pivots = _pivots(X, squared_norms, limit, blur, advance)
            if not pivots:
                # Only columns of zeros are left.
                pivots = np.setdiff1d(np.arange(n_features), chosen)[:limit].tolist()
            chosen += pivots
            squared_norms[pivots] = 0.0
    return ColumnChoice(np.array(chosen, dtype=np.intp), np.ones(n_select))


def _pivots(
    X: Any, squared_norms: FloatArray, limit: int, blur: float, advance: Callable[[], None]
) -> list[int]:
    """Return pivot columns until the rank, or the limit, is reached; zero norm bars a column."""
    floor = (4 * max(X.shape) * _EPS) ** 2 * squared_norms.max()
    free = squared_norms > 0
    residuals = squared_norms.copy()
    rounding = _DOWNDATING * residuals + 2 * blur * np.sqrt(residuals)
    trusted = _TRUSTED_SHARE * residuals.max()
    directions = np.empty((X.shape[0], min(limit, *X.shape)))
    pivots: list[int] = []
    for step in range(directions.shape[1]):
        done = directions[:, :step]
        if residuals.max() <= trusted:
            residuals = _residuals(X, done, np.flatnonzero(free))
            errors = np.maximum(_PROJECTING * np.sqrt(squared_norms), blur)
            rounding = _DOWNDATING * residuals + 2 * errors * np.sqrt(residuals)
            trusted = _TRUSTED_SHARE * residuals.max()
        if residuals.max() <= floor:
            break
        # Of the columns that may be the farthest, for all that rounding leaves open, the first.
        farthest = residuals + rounding >= (residuals - rounding).max()
        pivot = int(np.argmax(farthest & (residuals > floor)))
        direction = _column(X, pivot)
        for _ in range(2):
            direction -= done @ (done.T @ direction)
        direction /= np.linalg.norm(direction)
        directions[:, step] = direction
        residuals = np.maximum(residuals - (X.T @ direction) ** 2, 0.0)
        residuals[pivot], free[pivot] = 0.0, False
        pivots.append(pivot)
        advance()
    return pivots


def _residuals(X: Any, directions: FloatArray, columns: NDArray[np.intp]) -> FloatArray:
    """Return squared distances of the given columns from the span of the directions, else zero."""
    residuals = np.zeros(X.shape[1])
    for start in range(0, len(columns), _BLOCK):
        block = columns[start : start + _BLOCK]
        values = X[:, block]
        values = values.toarray() if sparse.issparse(values) else values
        for _ in range(2):
            values = values - directions @ (directions.T @ values)
        residuals[block] = np.einsum("ij,ij->j", values, values)
    return residuals


def _column(X: Any, index: int) -> FloatArray:
    if not sparse.issparse(X):
        return np.array(X[:, index])
    column = np.zeros(X.shape[0])
    span = slice(X.indptr[index], X.indptr[index + 1])
    column[X.indices[span]] = X.data[span]
    return column
