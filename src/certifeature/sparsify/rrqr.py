"""Column subset selection by QR factorisation with column pivoting."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from certifeature._progress import phase
from certifeature._utils import as_count
from certifeature.basis.basis import without
from certifeature.rows.matrix import dense, normalised
from certifeature.sparsify.choice import ColumnChoice

FloatArray = NDArray[np.float64]

_EPS = float(np.finfo(np.float64).eps)
# Downdated distances lose digits as they shrink. Below this share of where downdating began they
# are computed again.
_TRUSTED_SHARE = float(np.sqrt(_EPS))
# Rounding errors: of a squared distance relative to where downdating began, and of a distance that
# was computed again relative to the norm of the column.
_DOWNDATING, _PROJECTING = 1e-13, 1e-15
_BLOCK = 1024


def rrqr(X: Any, n_select: int, *, tolerance: float = 0.0) -> ColumnChoice:
    """Choose columns of X by pivoted QR: each is the farthest from the span of those before.

    Beyond the rank all columns lie in the span; the chosen columns are then left out and the
    factorisation starts again on the others.

    Parameters
    ----------
    X : {array-like, sparse array or matrix} of shape (n_samples, n_features)
        Finite, not all zero. It is not densified.
    n_select : int
        Number of columns to choose, at most ``n_features``.
    tolerance : float, default=0.0
        Uncertainty of X itself: distances that differ by no more than this share of the norm of the
        longest column tie, too.

    Returns
    -------
    ColumnChoice
        Columns in the order of their choice, all with scale 1. A smaller ``n_select`` gives the
        beginning of a larger one.

    Notes
    -----
    The pivots are those of ``scipy.linalg.qr(X, pivoting=True)``, except that columns tie which are
    equally far up to rounding, and the lower index wins: copies of a column, or rows in another
    order, do not change the choice. This implementation also stops after ``n_select`` pivots and
    keeps sparse data sparse.

    Examples
    --------
    >>> from certifeature.sparsify import rrqr
    >>> rrqr([[3.0, 3.0, 0.0], [0.0, 0.1, 1.0]], 3).indices
    array([1, 2, 0])
    """
    X, _ = normalised(X)
    n_features = X.shape[1]
    n_select = as_count("n_select", n_select, n_features)
    if sparse.issparse(X):
        X = X.tocsc()
    squared_norms = np.asarray((X * X).sum(axis=0)).ravel()
    blur = tolerance * np.sqrt(squared_norms.max())
    chosen: list[int] = []
    with phase("pivots", n_select) as advance:
        while len(chosen) < n_select and squared_norms.any():
            for pivot in _pivots(X, squared_norms, blur, n_select - len(chosen)):
                chosen.append(pivot)
                advance()
            squared_norms[chosen] = 0.0
    # Only columns of zeros are left.
    rest = np.setdiff1d(np.arange(n_features), chosen)[: n_select - len(chosen)]
    return ColumnChoice(np.append(chosen, rest).astype(np.intp), np.ones(n_select))


def _pivots(X: Any, squared_norms: FloatArray, blur: float, limit: int) -> Iterator[int]:
    """Yield pivots until the rank or the limit is reached; columns of norm zero are left out."""
    floor = (4 * max(X.shape) * _EPS) ** 2 * squared_norms.max()
    residuals = squared_norms.copy()
    rounding, trusted = _rounding(residuals, blur), _TRUSTED_SHARE * residuals.max()
    free = squared_norms > 0
    directions = np.empty((X.shape[0], min(limit, *X.shape)))
    for step in range(directions.shape[1]):
        done = directions[:, :step]
        if residuals.max() <= trusted:
            residuals = _residuals(X, done, np.flatnonzero(free))
            rounding = _rounding(residuals, np.maximum(_PROJECTING * np.sqrt(squared_norms), blur))
            trusted = _TRUSTED_SHARE * residuals.max()
        if residuals.max() <= floor:
            return
        # The first of the columns that may be the farthest, given the rounding errors.
        farthest = residuals + rounding >= (residuals - rounding).max()
        pivot = int(np.argmax(farthest & (residuals > floor)))
        # Twice, for the sake of rounding.
        direction = without([done] * 2, dense(X[:, [pivot]]))[:, 0]
        direction /= np.linalg.norm(direction)
        directions[:, step] = direction
        residuals = np.maximum(residuals - (X.T @ direction) ** 2, 0.0)
        residuals[pivot], free[pivot] = 0.0, False
        yield pivot


def _rounding(residuals: FloatArray, errors: Any) -> FloatArray:
    """Return bounds of the rounding errors of squared distances that are downdated from here."""
    return np.asarray(_DOWNDATING * residuals + 2 * errors * np.sqrt(residuals))


def _residuals(X: Any, directions: FloatArray, columns: NDArray[np.intp]) -> FloatArray:
    """Return squared distances of the given columns from the span of the directions, else zero."""
    residuals = np.zeros(X.shape[1])
    for start in range(0, len(columns), _BLOCK):
        block = columns[start : start + _BLOCK]
        residuals[block] = (without([directions] * 2, dense(X[:, block])) ** 2).sum(axis=0)
    return residuals
