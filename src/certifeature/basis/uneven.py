"""Row spaces of columns of very different size."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from certifeature.basis.basis import RowSpace
from certifeature.basis.row_space import triangular
from certifeature.rows.matrix import column_norms

__all__ = ["uneven_row_space"]

FloatArray = NDArray[np.float64]

# Singular values up to this share of the norm of all values, once columns have the same size, come
# from rounding.
_ROUNDING = 16 * float(np.finfo(np.float64).eps)
# Columns of smaller norm have lost digits beside values near 1.
_ALL_DIGITS = 1e-290


def uneven_row_space(rows: Any) -> RowSpace:
    """Return right singular vectors and singular values, with the rank of columns of equal size.

    Beside a column of dates or of times in nanoseconds, all others are no more than rounding. So
    each column is brought to a norm near 1, the rank is told by the singular values of these, and
    the directions are scaled back: row by row in the order of their sizes, which keeps the small
    ones accurate (A. J. Cox and N. J. Higham, *Stability of Householder QR Factorization for
    Weighted Least Squares Problems*, 1998). It is slower than `row_space`, and makes rows dense.
    """
    norms = column_norms(rows)
    used = np.flatnonzero(norms)
    exponents = np.frexp(norms[used])[1]
    part = rows[:, used]
    part = part.toarray() if sparse.issparse(part) else part
    even = np.ldexp(part, -exponents)
    if even.shape[0] > even.shape[1]:
        even = triangular(even)
    _, sizes, directions = np.linalg.svd(even, full_matrices=False)
    rank = int(np.sum(sizes > _ROUNDING * np.linalg.norm(even)))
    outside = np.zeros(len(norms))
    outside[used] = np.ldexp(column_norms(sizes[rank:, None] * directions[rank:]), exponents)
    vectors = _scaled_back(directions[:rank].T, exponents)
    _, singular_values, turn = np.linalg.svd(part @ vectors, full_matrices=False)
    whole = np.zeros((len(norms), rank))
    whole[used] = vectors @ turn.T
    return RowSpace.of(whole, singular_values, outside, norms, _ALL_DIGITS)


def _scaled_back(directions: FloatArray, exponents: NDArray[Any]) -> FloatArray:
    """Return an orthonormal basis of directions whose rows are scaled by powers of 2."""
    n_features, rank = directions.shape
    if rank == n_features:
        return np.eye(rank)
    # Relative to the largest, and none of them out of range.
    relative = np.maximum(exponents - exponents.max(), -1000)
    largest_first = np.argsort(-relative, kind="stable")
    scaled = np.ldexp(directions, relative[:, None])[largest_first]
    vectors = np.empty_like(directions)
    vectors[largest_first] = linalg.qr(scaled, mode="economic", pivoting=True)[0]
    return vectors
