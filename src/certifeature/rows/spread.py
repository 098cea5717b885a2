"""How far rows are from their mean, which sets the scale of a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.sparsefuncs import mean_variance_axis

from certifeature.rows.blocks import Block, RowBlocks
from certifeature.rows.matrix import exponent_of, near_origin, times_power_of_two

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Spread:
    """Variances of columns over 4^exponent, so that no square leaves the range of numbers.

    Attributes
    ----------
    variances : ndarray of shape (n_features,)
        Mean squared distance of each column from its mean, over 4^exponent.
    exponent : int
        The exponent.

    Examples
    --------
    >>> import numpy as np
    >>> Spread.of(np.array([[0.0, 1.0], [2.0, 1.0]])).size()
    1.0
    """

    variances: FloatArray
    exponent: int

    @classmethod
    def of(cls, X: Any, sample_weight: FloatArray | None = None) -> Spread:
        """Return the spread of rows, in memory or in blocks.

        Parameters
        ----------
        X : ndarray, CSR array or RowBlocks of shape (n_samples, n_features)
            Rows. Those in blocks are read once.
        sample_weight : ndarray of shape (n_samples,), default=None
            Weights of rows in memory.
        """
        if isinstance(X, RowBlocks):
            moments = X.accumulate(_Moments, _with_block)
            return cls(moments.squares / max(moments.count, 1), moments.exponent)
        X = near_origin(X)
        exponent = exponent_of(X)
        return cls(_mean_and_variances(X, exponent, sample_weight)[1], exponent)

    def size(self, columns: NDArray[np.intp] | None = None, scales: Any = 1.0) -> float:
        """Return the root mean squared distance of the rows from their mean.

        Parameters
        ----------
        columns : ndarray of int, default=None
            The columns that count; None for all.
        scales : ndarray or float, default=1.0
            Scales of these columns.
        """
        variances = self.variances if columns is None else self.variances[columns]
        largest = float(np.max(scales, initial=0.0))
        if not largest > 0:
            return 0.0
        total = float(np.sum(variances * (np.asarray(scales) / largest) ** 2))
        return float(np.ldexp(np.sqrt(total) * largest, self.exponent))


@dataclass(frozen=True, eq=False)
class _Moments:
    """Number, means and sums of squared distances from the means, of rows over 2^exponent."""

    count: int = 0
    means: Any = 0.0
    squares: Any = 0.0
    exponent: int = -2000

    def __sizeof__(self) -> int:
        return int(np.asarray(self.means).nbytes + np.asarray(self.squares).nbytes)

    def merged(self, other: _Moments) -> _Moments:
        """Return the moments of both (Chan, Golub and LeVeque)."""
        if not self.count or not other.count:
            return self if self.count else other
        exponent = max(self.exponent, other.exponent)
        (first, first_squares), (second, second_squares) = (
            (
                np.ldexp(m.means, m.exponent - exponent),
                np.ldexp(m.squares, 2 * (m.exponent - exponent)),
            )
            for m in (self, other)
        )
        count = self.count + other.count
        apart = second - first
        return _Moments(
            count,
            first + apart * (other.count / count),
            first_squares + second_squares + apart**2 * (self.count * other.count / count),
            exponent,
        )


def _with_block(total: _Moments, block: Block) -> _Moments:
    n_rows = block.X.shape[0]
    if not n_rows:
        return total
    exponent = exponent_of(block.X)
    means, variances = _mean_and_variances(block.X, exponent, None)
    return total.merged(_Moments(n_rows, means, n_rows * variances, exponent))


def _mean_and_variances(
    X: Any, exponent: int, sample_weight: FloatArray | None
) -> tuple[FloatArray, FloatArray]:
    """Return means over 2^exponent, and variances over 4^exponent, of columns."""
    X = times_power_of_two(X, -exponent)
    with np.errstate(under="ignore"):
        if sparse.issparse(X):
            return mean_variance_axis(sparse.csr_matrix(X), axis=0, weights=sample_weight)
        means = np.average(X, axis=0, weights=sample_weight)
        return means, np.average((X - means) ** 2, axis=0, weights=sample_weight)
