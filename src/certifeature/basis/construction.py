"""Bases of the rows of X: exact, truncated, from a sketch."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import svds

from certifeature._matrix import normalised
from certifeature.basis.model import Basis
from certifeature.basis.row_space import implicit_row_space, row_space
from certifeature.basis.vectors import Vectors

__all__ = ["exact_basis", "sketched_basis", "truncated_basis"]

FloatArray = NDArray[np.float64]

# Above this many rows and columns a full eigendecomposition gives way to Lanczos iteration.
_LARGEST_GRAM = 4096
# Rows that share one random stream, so that a sketch does not depend on how the rows are cut.
_STREAM_ROWS = 256
_SKETCH_BYTES = 2**26
# Above this many values, half a gigabyte, V is made row by row.
_MOST_VALUES = 2**26


def exact_basis(X: Any) -> Basis:
    """Return the right singular vectors of X that belong to non-zero singular values.

    Singular values up to ``4 * max(X.shape) * eps`` times the largest count as zero.

    Parameters
    ----------
    X : {array-like, sparse array or matrix} of shape (n_samples, n_features)
        Finite, not all zero.

    Returns
    -------
    Basis
        With as many components as X has rank, and ``exact=True``.

    Examples
    --------
    >>> import numpy as np
    >>> from certifeature.basis import exact_basis
    >>> basis = exact_basis([[3.0, 0.0, 0.0], [0.0, 0.0, 2.0], [3.0, 0.0, 2.0]])
    >>> basis.rank, basis.exact
    (2, True)
    >>> bool(np.allclose(basis.vectors.T @ basis.vectors, np.eye(2)))
    True
    """
    rows, exponent = normalised(X)
    make = implicit_row_space if _is_large(rows, min(rows.shape)) else row_space
    vectors, singular_values = make(rows)
    return Basis(vectors, np.ldexp(singular_values, exponent), len(singular_values), exact=True)


def truncated_basis(X: Any, n_components: int) -> Basis:
    """Return the right singular vectors of X with the largest singular values.

    Parameters
    ----------
    X : {array-like, sparse array or matrix} of shape (n_samples, n_features)
        Finite, not all zero.
    n_components : int
        Number of directions to keep. From the rank of X on, nothing is cut and the basis is exact.

    Returns
    -------
    Basis
        What it leaves out is the least that any basis of this size can leave out.

    Examples
    --------
    >>> from certifeature.basis import truncated_basis
    >>> basis = truncated_basis([[3.0, 0.0, 0.0], [0.0, 0.0, 2.0]], 1)
    >>> basis.vectors.shape, basis.rank, basis.exact
    ((3, 1), 2, False)
    """
    n_components = _checked_size(n_components)
    rows, exponent = normalised(X)
    fewest = min(rows.shape)
    if n_components < fewest and (fewest > _LARGEST_GRAM or _is_large(rows, fewest)):
        # Lanczos needs a start; a fixed one keeps the result a function of X alone.
        start = np.random.default_rng(0).standard_normal(fewest)
        left, _, _ = svds(rows, k=n_components, v0=start, solver="arpack")
        if _is_large(rows, n_components):
            return _compressed_basis(implicit_row_space(rows, left), n_components, exponent)
        return _compressed_basis(row_space((rows.T @ left).T), n_components, exponent)
    return exact_basis(X).truncated(n_components)


def sketched_basis(X: Any, n_components: int, *, random_state: int = 0) -> Basis:
    """Return the row space of GX, with G a Gaussian matrix of ``n_components`` rows.

    The entries of G that belong to a row of X depend on the seed and on the number of that row
    only.

    Parameters
    ----------
    X : {array-like, sparse array or matrix} of shape (n_samples, n_features)
        Finite, not all zero.
    n_components : int
        Number t of rows of G. From the number of rows of X on, a sketch would save nothing and the
        exact basis is returned.
    random_state : int, default=0
        Seed of G.

    Returns
    -------
    Basis
        With at most ``n_components`` directions.

    References
    ----------
    Algorithm 2 of Paul, Magdon-Ismail and Drineas, *Feature Selection for Linear SVM with Provable
    Guarantees*.

    Examples
    --------
    >>> import numpy as np
    >>> from certifeature.basis import sketched_basis
    >>> X = np.random.default_rng(0).standard_normal((50, 200))
    >>> basis = sketched_basis(X, 8, random_state=1)
    >>> basis.vectors.shape, basis.rank, basis.exact
    ((200, 8), None, False)
    """
    n_components = _checked_size(n_components)
    rows, exponent = normalised(X)
    if n_components >= rows.shape[0]:
        return exact_basis(X)
    blocks = _gaussian_blocks(rows.shape[0], n_components, random_state)
    if _is_large(rows, n_components):
        gaussian = np.vstack([part for _, part in blocks])
        return _compressed_basis(implicit_row_space(rows, gaussian), n_components, exponent)
    # Transposed, since products of sparse matrices come with their long side first.
    sketch = np.zeros((rows.shape[1], n_components))
    for block, gaussian in blocks:
        sketch += rows[block].T @ gaussian
    return _compressed_basis(row_space(sketch.T), n_components, exponent)


def _checked_size(n_components: int) -> int:
    if not isinstance(n_components, Integral) or n_components < 1:
        raise ValueError(f"n_components must be an integer of at least 1; got {n_components!r}.")
    return int(n_components)


def _is_large(rows: Any, n_components: int) -> bool:
    """Tell whether V is large, and its coefficients smaller than V."""
    n_rows, n_features = rows.shape
    return bool(n_rows < n_features and n_features * n_components > _MOST_VALUES)


def _compressed_basis(
    space: tuple[Vectors, FloatArray], n_combinations: int, exponent: int
) -> Basis:
    """Return the basis that was found from combinations of the rows, fewer than the rows."""
    vectors, singular_values = space
    # Combinations that are not independent have caught all that there is.
    rank = len(singular_values) if len(singular_values) < n_combinations else None
    return Basis(vectors, np.ldexp(singular_values, exponent), rank, exact=rank is not None)


def _gaussian_blocks(
    n_rows: int, n_components: int, seed: int
) -> Iterator[tuple[slice, FloatArray]]:
    """Yield slices of the rows, each with its part of Gᵀ (rows × n_components)."""
    streams_at_once = max(1, _SKETCH_BYTES // (8 * n_components * _STREAM_ROWS))
    n_streams = -(-n_rows // _STREAM_ROWS)
    for first in range(0, n_streams, streams_at_once):
        last = min(first + streams_at_once, n_streams)
        gaussian = np.vstack(
            [
                np.random.default_rng([seed, stream]).standard_normal((_STREAM_ROWS, n_components))
                for stream in range(first, last)
            ]
        )
        block = slice(first * _STREAM_ROWS, min(last * _STREAM_ROWS, n_rows))
        yield block, gaussian[: block.stop - block.start]
