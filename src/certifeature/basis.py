"""Orthonormal bases of the row space of wide data.

The rows of X that matter (the support vectors, or all rows) span a subspace of the feature space.
Everything that a linear model can see of those rows lies in it, so a selection of features is good
when it keeps that subspace well conditioned. The functions here return the subspace as a matrix V
(d × ℓ) with orthonormal columns; row i of V belongs to feature i.

X is dense or sparse and is never densified: the work goes through its smaller Gram matrix.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import svds

from certifeature._matrix import normalised

__all__ = ["Basis", "exact_basis", "sketched_basis", "truncated_basis"]

FloatArray = NDArray[np.float64]

# A Gram matrix knows a singular value to eps·(σ₁/σ)²: within this ratio of the largest that leaves
# twelve digits. Smaller ones are taken from the Gram matrix of what the larger ones leave over.
_WELL_RESOLVED = 1e-2
# Above this many rows and columns a full eigendecomposition gives way to Lanczos iteration.
_LARGEST_GRAM = 4096
# Rows that share one random stream, so that a sketch does not depend on how the rows are cut.
_STREAM_ROWS = 256
_SKETCH_BYTES = 2**26


@dataclass(frozen=True, eq=False)
class Basis:
    """Orthonormal directions that span the rows of a data matrix, or the most of them.

    Attributes
    ----------
    vectors : ndarray of shape (n_features, n_components)
        Orthonormal columns.
    singular_values : ndarray of shape (n_components,)
        Singular values along the directions, largest first; those of the sketch for a sketch.
    rank : int or None
        Rank of the data, None where it was not computed.
    exact : bool
        Whether the directions span the whole row space.
    """

    vectors: FloatArray
    singular_values: FloatArray
    rank: int | None
    exact: bool

    @property
    def n_components(self) -> int:
        """Number of directions ℓ."""
        return self.vectors.shape[1]

    def truncated(self, n_components: int) -> Basis:
        """Return the basis cut to its first directions.

        Parameters
        ----------
        n_components : int
            Number of directions to keep.

        Returns
        -------
        Basis
            Exact only if nothing was cut.
        """
        return Basis(
            np.ascontiguousarray(self.vectors[:, :n_components]),
            self.singular_values[:n_components],
            self.rank,
            exact=self.exact and n_components >= self.n_components,
        )


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
    vectors, singular_values = _row_space(rows)
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
    if n_components < min(rows.shape) and min(rows.shape) > _LARGEST_GRAM:
        # Lanczos needs a start; a fixed one keeps the result a function of X alone.
        start = np.random.default_rng(0).standard_normal(min(rows.shape))
        left, _, _ = svds(rows, k=n_components, v0=start, solver="arpack")
        return _compressed_basis((rows.T @ left).T, exponent)
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
    sketch = np.zeros((n_components, rows.shape[1]))
    for block, gaussian in _gaussian_blocks(rows.shape[0], n_components, random_state):
        sketch += (rows[block].T @ gaussian).T
    return _compressed_basis(sketch, exponent)


def _checked_size(n_components: int) -> int:
    if not isinstance(n_components, Integral) or n_components < 1:
        raise ValueError(f"n_components must be an integer of at least 1; got {n_components!r}.")
    return int(n_components)


def _compressed_basis(compressed: FloatArray, exponent: int) -> Basis:
    """Return the row space of combinations of the rows, which are fewer than the rows."""
    vectors, singular_values = _row_space(compressed)
    # Combinations that are not independent have caught all that there is.
    rank = len(singular_values) if len(singular_values) < len(compressed) else None
    return Basis(vectors, np.ldexp(singular_values, exponent), rank, exact=rank is not None)


def _rank_tolerance(rows: Any) -> float:
    return 4 * max(rows.shape) * float(np.finfo(np.float64).eps)


def _row_space(rows: Any) -> tuple[FloatArray, FloatArray]:
    """Return right singular vectors and singular values of a normalised matrix.

    Level by level: the Gram matrix of what is left gives the directions well above its own
    rounding error; the next level looks at the rest alone.
    """
    wide = rows.shape[0] <= rows.shape[1]
    short, long = (rows, rows.T) if wide else (rows.T, rows)
    gram = short @ long
    singular_values, rotation = _spectrum(gram.toarray() if sparse.issparse(gram) else gram)
    floor = _rank_tolerance(rows) * singular_values[0]
    long_side: list[FloatArray] = []
    short_side: list[FloatArray] = []
    found: list[FloatArray] = []
    while singular_values.size and singular_values[0] > floor:
        top = singular_values > max(floor, _WELL_RESOLVED * singular_values[0])
        image = long @ rotation[:, top]
        if long_side:
            image = _orthonormalised(_without(long_side, image))
        else:
            image /= singular_values[top]
        long_side.append(image)
        short_side.append(rotation[:, top])
        found.append(singular_values[top])
        rest = rotation[:, ~top]
        if not rest.size:
            break
        image = _without(long_side, long @ rest)
        singular_values, turn = _spectrum(image.T @ image)
        rotation = rest @ turn
    sides = long_side if wide else short_side
    # The usual case has one level, and no need for a second copy of a large matrix.
    vectors = sides[0] if len(sides) == 1 else np.hstack(sides)
    return vectors, np.concatenate(found)


def _without(bases: list[FloatArray], vectors: FloatArray) -> FloatArray:
    """Return what is left of the vectors outside the span of the bases."""
    for basis in bases:
        vectors = vectors - basis @ (basis.T @ vectors)
    return vectors


def _orthonormalised(vectors: FloatArray) -> FloatArray:
    """Return an orthonormal basis of well-conditioned columns, by Cholesky QR done twice."""
    for _ in range(2):
        vectors = vectors @ np.linalg.inv(np.linalg.cholesky(vectors.T @ vectors)).T
    return vectors


def _spectrum(gram: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return singular values, largest first, and the eigenvectors of a Gram matrix."""
    eigenvalues, eigenvectors = np.linalg.eigh(gram)
    return np.sqrt(np.maximum(eigenvalues[::-1], 0.0)), eigenvectors[:, ::-1]


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
