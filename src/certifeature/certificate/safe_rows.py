"""Rows whose products come with a bound on their rounding errors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from certifeature import _memory
from certifeature.rows.matrix import finite_rows, near_origin

__all__ = ["EPS", "TINY", "SafeRows"]

FloatArray = NDArray[np.float64]

EPS = float(np.finfo(np.float64).eps)
# Below it numbers lose digits. A sum of products loses less than this to underflow, for each.
TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, eq=False)
class SafeRows:
    """Rows (aᵢ, constant) that predict aᵢᵀw + constant·w₀, with a = (x − shift)·2^-exponent.

    The shift is there for a free intercept only, which takes it in; it keeps rows far from the
    origin from losing their digits.

    Attributes
    ----------
    values : {ndarray, CSR array} of shape (n_samples, n_features)
        The rows a, at most 1 in magnitude.
    constant : float
        What the penalised intercept is multiplied by, over 2^exponent; 0 if there is none.
    exponent : int
        Of the scale.
    """

    values: Any
    constant: float
    exponent: int

    @classmethod
    def of(cls, X: Any, intercept: float | None) -> SafeRows:
        """Return the rows of X.

        Parameters
        ----------
        X : {array-like, sparse array or matrix} of shape (n_samples, n_features)
            Finite.
        intercept : float or None
            The value of the constant feature that a penalised intercept is the weight of, 0 for no
            intercept, None for a free one.
        """
        values = finite_rows(X)
        constant = float(intercept or 0.0)
        values, exponent = _scaled_down(values, constant)
        if intercept is None:
            values, more = _scaled_down(near_origin(values), 0.0)
            exponent += more
        return cls(values, float(np.ldexp(constant, -exponent)), exponent)

    def take(self, rows: NDArray[np.intp]) -> SafeRows:
        """Return some of the rows, or all, in their order."""
        if len(rows) == self.values.shape[0]:
            return self
        return SafeRows(self.values[rows], self.constant, self.exponent)

    def scores(self, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the predictions of weights (w, w₀), and the most by which each may be wrong."""
        scores = np.asarray(self.values @ weights[:-1] + self.constant * weights[-1])
        sizes = self._absolute_times(np.abs(weights[:-1])) + abs(self.constant * weights[-1])
        return scores, (len(weights) + 4) * EPS * sizes

    def combination(self, multipliers: FloatArray) -> tuple[FloatArray, float]:
        """Return the weights (Aᵀβ, constant·Σβ), and the most by which their norm may be wrong."""
        weights = np.append(self.values.T @ multipliers, self.constant * multipliers.sum())
        sizes = np.append(
            self._absolute_transposed_times(np.abs(multipliers)),
            abs(self.constant) * np.abs(multipliers).sum(),
        )
        # Twice: multipliers that ought to sum to zero over the classes do so but for rounding.
        return weights, 2 * (len(multipliers) + 4) * EPS * float(np.linalg.norm(sizes))

    @cached_property
    def norms(self) -> FloatArray:
        """Norms of the rows (a, constant), or more."""
        values = self.values
        squares = values.multiply(values) if sparse.issparse(values) else values**2
        sums = np.asarray(squares.sum(axis=1)).ravel() + self.constant**2
        # Squares of tiny values underflow.
        return np.sqrt(sums + values.shape[1] * TINY) * (1 + (values.shape[1] + 8) * EPS)

    @cached_property
    def kernel(self) -> FloatArray:
        """Inner products of the rows."""
        products = self.values @ self.values.T
        products = products.toarray() if sparse.issparse(products) else products
        return np.asarray(products + self.constant**2)

    def _absolute_times(self, weights: FloatArray) -> FloatArray:
        if sparse.issparse(self.values):
            return np.asarray(abs(self.values) @ weights)
        parts = [np.abs(self.values[block]) @ weights for block in self._blocks()]
        return np.concatenate(parts)

    def _absolute_transposed_times(self, multipliers: FloatArray) -> FloatArray:
        if sparse.issparse(self.values):
            return np.asarray(abs(self.values).T @ multipliers)
        total = np.zeros(self.values.shape[1])
        for block in self._blocks():
            total += multipliers[block] @ np.abs(self.values[block])
        return total

    def _blocks(self) -> list[slice]:
        n_rows, n_features = self.values.shape
        at_once = max(1, _memory.SAFE_ROWS_AT_ONCE // max(n_features, 1))
        return [slice(start, start + at_once) for start in range(0, n_rows, at_once)]


def _scaled_down(values: Any, constant: float) -> tuple[Any, int]:
    """Return values of at most 1 in magnitude, as a constant is, and the exponent of the scale."""
    stored = values.data if sparse.issparse(values) else values
    exponent = int(np.frexp(max(np.abs(stored).max(initial=0.0), abs(constant)))[1])
    scaled = np.ldexp(stored, -exponent)
    if sparse.issparse(values):
        scaled = sparse.csr_array((scaled, values.indices, values.indptr), shape=values.shape)
    return scaled, exponent
