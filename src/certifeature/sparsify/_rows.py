"""Rows times labels, scaled and centred, and blocks of their columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = ["Block", "ScaledRows"]

FloatArray = NDArray[np.float64]

# A block of columns with more entries than this share is faster as a dense array.
_DENSE_BLOCK = 0.1


@dataclass(frozen=True, eq=False)
class Block:
    """K = values − sides·meansᵀ."""

    values: Any
    means: FloatArray
    sides: FloatArray

    def times(self, x: FloatArray) -> FloatArray:
        """Return Kx."""
        return np.asarray(self.values @ x - self.sides * (self.means @ x))

    def transposed_times(self, x: FloatArray) -> FloatArray:
        """Return Kᵀx."""
        return np.asarray(self.values.T @ x - self.means * (self.sides @ x))

    def column_gram(self, diagonal: FloatArray) -> FloatArray:
        """Return Kᵀ diag⁻¹ K."""
        roots = np.sqrt(diagonal)
        scaled, sides = _divided(self.values, roots), self.sides / roots
        gram = _dense(scaled.T @ scaled)
        _add_symmetric(gram, self.means, self.means * (sides @ sides) / 2 - scaled.T @ sides)
        return gram

    def row_gram(self) -> FloatArray:
        """Return KKᵀ."""
        gram = _dense(self.values @ self.values.T)
        half = self.sides * (self.means @ self.means) / 2 - self.values @ self.means
        _add_symmetric(gram, self.sides, half)
        return gram


@dataclass(frozen=True, eq=False)
class ScaledRows:
    """B = SD(X − 1mᵀ)/N: rows times labels, centred, with rows and columns of similar norms.

    Centring costs nothing, since multipliers of the dual sum to zero over the classes, and makes
    a column of large mean as harmless as any other. Sparse data keep the means apart.
    """

    values: Any
    means: FloatArray
    sides: FloatArray
    row_scales: FloatArray
    column_norms: FloatArray

    @classmethod
    def of(cls, X: Any, signs: FloatArray) -> ScaledRows:
        """Scale a dense array or CSR data of largest magnitude 1."""
        means, norms = _moments(X, np.ones(len(signs)))
        lengths = _row_norms(X, means, norms)
        typical = np.median(lengths[lengths > 0]) if lengths.any() else 1.0
        # Rows equal to the mean have no length to divide by, and need no scale.
        scales = np.where(lengths > 1e-8 * typical, typical / np.maximum(lengths, 1e-300), 1.0)
        means, norms = _moments(X, scales)
        sides = scales * signs
        if sparse.issparse(X):
            values = sparse.csc_array(sparse.diags_array(sides) @ X @ sparse.diags_array(1 / norms))
            return cls(values, means / norms, sides, scales, norms)
        values = np.asfortranarray(sides[:, None] * ((X - means) / norms))
        return cls(values, np.zeros(len(norms)), sides, scales, norms)

    def times(self, weights: FloatArray) -> FloatArray:
        """Return Bw."""
        used = np.flatnonzero(weights)
        block, means = self.values[:, used], self.means[used]
        return block @ weights[used] - self.sides * (means @ weights[used])

    def transposed_times(self, multipliers: FloatArray) -> FloatArray:
        """Return Bᵀu."""
        return self.values.T @ multipliers - self.means * (self.sides @ multipliers)

    def block(self, columns: NDArray[np.intp]) -> Block:
        """Return some columns with the intercept, dense and centred where that is faster."""
        block, means = self.values[:, columns], self.means[columns]
        last = self.sides[:, None] / np.linalg.norm(self.sides)
        if sparse.issparse(block) and block.nnz <= _DENSE_BLOCK * np.prod(block.shape):
            return Block(sparse.hstack([block, last], format="csr"), np.r_[means, 0.0], self.sides)
        if sparse.issparse(block):
            block = block.toarray() - np.outer(self.sides, means)
        return Block(np.hstack([block, last]), np.zeros(len(columns) + 1), self.sides)


def _moments(X: Any, scales: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return weighted means of the columns, and their norms once centred and scaled."""
    weights = scales**2
    means = (X.T @ weights) / weights.sum()
    if sparse.issparse(X):
        away = (X.data - means[X.indices]) ** 2 * np.repeat(weights, np.diff(X.indptr))
        filled = sparse.csr_array((np.ones(X.nnz), X.indices, X.indptr), shape=X.shape)
        squares = np.bincount(X.indices, away, X.shape[1])
        squares += means**2 * np.maximum(weights.sum() - filled.T @ weights, 0.0)
    else:
        squares = weights @ (X - means) ** 2
    norms = np.sqrt(squares)
    # A constant column, but for rounding, can be left to the intercept.
    constant = norms <= 1e-13 * np.abs(means) * np.sqrt(weights.sum())
    return means, np.where(constant, np.inf, norms)


def _row_norms(X: Any, means: FloatArray, norms: FloatArray) -> FloatArray:
    """Return the norms of the rows of (X − 1mᵀ)/N."""
    if not sparse.issparse(X):
        return np.linalg.norm((X - means) / norms, axis=1)
    relative = means / norms
    scaled = X @ sparse.diags_array(1 / norms)
    squares = scaled.multiply(scaled).sum(axis=1) - 2 * (scaled @ relative) + relative @ relative
    return np.sqrt(np.maximum(squares, 0.0))


def _dense(matrix: Any) -> FloatArray:
    return np.asarray(matrix.toarray() if sparse.issparse(matrix) else matrix)


def _divided(values: Any, divisors: FloatArray) -> Any:
    """Return rows divided by a number each."""
    if not sparse.issparse(values):
        return values / divisors[:, None]
    data = values.data / np.repeat(divisors, np.diff(values.indptr))
    return sparse.csr_array((data, values.indices, values.indptr), shape=values.shape)


def _add_symmetric(matrix: FloatArray, a: FloatArray, b: FloatArray) -> None:
    """Add abᵀ + baᵀ in place."""
    if a.any():
        matrix += np.column_stack([a, b]) @ np.vstack([b, a])
