"""Column subset selection by QR factorisation with column pivoting."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg

from certifeature._utils import EPS, as_count, one_each
from certifeature.basis.basis import condensed_rows
from certifeature.rows.matrix import normalised
from certifeature.sparsify.choice import ColumnChoice

# Share of a distance by which two are the same: more than rounding, less than anybody measures.
_TIE = 1e-9


def rrqr(X: Any, n_select: int, *, ties: ArrayLike | None = None) -> ColumnChoice:
    """Choose columns of X by pivoted QR: each is the farthest from the span of those before.

    Beyond the rank all columns lie in the span; the chosen columns are then left out and the
    factorisation starts again on the others.

    Parameters
    ----------
    X : {array-like, sparse array or matrix} of shape (n_samples, n_features)
        Finite, not all zero. Sparse rows are made dense.
    n_select : int
        Number of columns to choose, at most ``n_features``.
    ties : array-like of shape (n_features,), default=None
        Ranks of the columns, of which the lowest is taken where several are the farthest, up to
        rounding. None takes the one of the lowest index.

    Returns
    -------
    ColumnChoice
        Columns in the order of their choice, all with scale 1. A smaller ``n_select`` gives the
        beginning of a larger one.

    Notes
    -----
    The pivots are those of ``scipy.linalg.qr(X, pivoting=True)`` with the columns in the order of
    ``ties`` and the last of them shorter than the first by 1 part in 10⁹, the others in proportion:
    copies of a column, or rows in another order, do not change the choice.

    Examples
    --------
    >>> from certifeature.sparsify.rrqr import rrqr
    >>> rrqr([[3.0, 3.0, 0.0], [0.0, 0.1, 1.0]], 3).indices
    array([1, 2, 0])
    """
    matrix = condensed_rows(normalised(X)[0])
    n_features = matrix.shape[1]
    n_select = as_count("n_select", n_select, n_features)
    ranks = np.arange(n_features) if ties is None else one_each("ties", ties, n_features, "columns")
    left = np.argsort(ranks, kind="stable")
    matrix[:, left] *= np.linspace(1, 1 - _TIE, n_features)
    chosen: list[NDArray[np.intp]] = []
    while sum(map(len, chosen)) < n_select:
        triangle, pivots = linalg.qr(matrix[:, left], mode="r", pivoting=True, check_finite=False)
        distances = np.abs(np.diag(triangle))
        rank = int(np.sum(distances > 4 * max(matrix.shape) * EPS * distances[0]))
        # Only columns of zeros have no rank.
        first = pivots[:rank] if rank else np.arange(len(left))
        chosen.append(left[first])
        left = np.delete(left, first)
    return ColumnChoice(np.concatenate(chosen)[:n_select], np.ones(n_select))
