"""Random combinations of the rows, wherever the rows are."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from certifeature import _memory
from certifeature._parameters import as_count
from certifeature.basis.basis import Basis
from certifeature.basis.row_space import implicit_row_space, row_space
from certifeature.rows.matrix import TOO_LARGE, normalised, refusing_overflow

__all__ = ["Sketch", "check_n_components", "gaussian_rows"]

FloatArray = NDArray[np.float64]

# Rows that share one random stream, so that a sketch does not depend on how the rows are cut.
_STREAM_ROWS = 256
# Random numbers that are drawn at a time.
_NUMBERS_AT_ONCE = 2**21
# Columns whose sums stay in the cache.
_COLUMNS_AT_ONCE = 2**14
_SMALLEST, _LARGEST = 1e-50, 1e50


class Sketch:
    """GX, with G a Gaussian matrix whose columns depend on the seed and the number of a row only.

    Parameters
    ----------
    n_features, n_components : int
        Columns of X, and rows of G.
    seed : int
        Seed of G.
    """

    def __init__(self, n_features: int, n_components: int, seed: int) -> None:
        self.n_rows = 0
        self._seed = seed
        # Transposed, since products of sparse matrices come with their long side first.
        self._values = np.zeros((n_features, check_n_components(n_components)))

    def add(self, X: Any, first_row: int) -> None:
        """Add rows.

        Parameters
        ----------
        X : ndarray or CSR array of shape (n_samples, n_features)
            Finite.
        first_row : int
            Place of the first of them among all rows.
        """
        n_components = self._values.shape[1]
        n_streams = max(1, _NUMBERS_AT_ONCE // (n_components * _STREAM_ROWS))
        for start in range(0, X.shape[0], n_streams * _STREAM_ROWS):
            part = X[start : start + n_streams * _STREAM_ROWS]
            gaussian = gaussian_rows(first_row + start, part.shape[0], n_components, self._seed)
            with refusing_overflow():
                if sparse.issparse(part):
                    self._add_sparse(part.T.tocsr(), gaussian)
                else:
                    self._values += part.T @ gaussian
        self.n_rows += X.shape[0]

    def _add_sparse(self, columns: Any, gaussian: FloatArray) -> None:
        """Add products with columns, a few of these at a time, and not with empty ones."""
        for start in range(0, columns.shape[0], _COLUMNS_AT_ONCE):
            some = columns[start : start + _COLUMNS_AT_ONCE]
            used = np.flatnonzero(np.diff(some.indptr))
            if 2 * len(used) > some.shape[0]:
                self._values[start : start + some.shape[0]] += some @ gaussian
            elif len(used):
                self._values[start + used] += some[used] @ gaussian

    def merged(self, other: Sketch) -> Sketch:
        """Return the sketch of both sets of rows; neither is changed."""
        both = copy(self)
        with refusing_overflow():
            both._values = self._values + other._values
        both.n_rows = self.n_rows + other.n_rows
        return both

    def __sizeof__(self) -> int:
        return self._values.nbytes

    def basis(self, exponent: int = 0) -> Basis:
        """Return the span of the combinations, of rows that were scaled down by 2**exponent."""
        rows, own = self._values.T, 0
        largest = max(rows.max(), -rows.min())
        if not np.isfinite(largest):
            # Products with sparse rows overflow without a word.
            raise ValueError(TOO_LARGE)
        # Squares of other values are out of range, or there is nothing but zeros. A copy costs.
        if not _SMALLEST < largest < _LARGEST:
            rows, own = normalised(rows)
        make = implicit_row_space if rows.size > _memory.MAX_VECTORS else row_space
        return Basis.of_combinations(make(rows), rows.shape[0], own + exponent)


def gaussian_rows(first: int, n_rows: int, n_components: int, seed: int) -> FloatArray:
    """Return the rows of Gᵀ that belong to rows of X."""
    streams = range(first // _STREAM_ROWS, -(-(first + n_rows) // _STREAM_ROWS))
    gaussian = np.vstack(
        [
            np.random.default_rng([seed, stream]).standard_normal((_STREAM_ROWS, n_components))
            for stream in streams
        ]
    )
    offset = first - streams.start * _STREAM_ROWS
    return gaussian[offset : offset + n_rows]


def check_n_components(n_components: int) -> int:
    """Return a number of directions as an int."""
    return as_count("n_components", n_components)
