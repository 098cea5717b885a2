"""Random combinations of the rows, wherever the rows are."""

from __future__ import annotations

from copy import copy
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from certifeature._matrix import normalised
from certifeature.basis.model import Basis
from certifeature.basis.row_space import implicit_row_space, row_space

__all__ = ["MOST_VALUES", "Sketch", "check_n_components", "gaussian_rows"]

FloatArray = NDArray[np.float64]

# Rows that share one random stream, so that a sketch does not depend on how the rows are cut.
_STREAM_ROWS = 256
# Rows that are combined at a time.
_ROWS_AT_ONCE = 16 * _STREAM_ROWS
# Above this many values, half a gigabyte, V is made row by row.
MOST_VALUES = 2**26
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
        for start in range(0, X.shape[0], _ROWS_AT_ONCE):
            part = X[start : start + _ROWS_AT_ONCE]
            gaussian = gaussian_rows(first_row + start, part.shape[0], n_components, self._seed)
            if sparse.issparse(part):
                # Most columns are empty in a few rows, and their sums need not exist.
                used, part = _without_empty_columns(part)
                self._values[used] += part.T @ gaussian
            else:
                self._values += part.T @ gaussian
        self.n_rows += X.shape[0]

    def merged(self, other: Sketch) -> Sketch:
        """Return the sketch of both sets of rows; neither is changed."""
        both = copy(self)
        both._values = self._values + other._values
        both.n_rows = self.n_rows + other.n_rows
        return both

    def __sizeof__(self) -> int:
        return self._values.nbytes

    def basis(self, exponent: int = 0) -> Basis:
        """Return the span of the combinations, of rows that were scaled down by 2**exponent."""
        rows, own = self._values.T, 0
        # Squares of other values are out of range, or there is nothing but zeros. A copy is dear.
        if not _SMALLEST < max(rows.max(), -rows.min()) < _LARGEST:
            rows, own = normalised(rows)
        make = implicit_row_space if rows.size > MOST_VALUES else row_space
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
    if not isinstance(n_components, Integral) or n_components < 1:
        raise ValueError(f"n_components must be an integer of at least 1; got {n_components!r}.")
    return int(n_components)


def _without_empty_columns(X: Any) -> tuple[NDArray[np.intp], Any]:
    """Return the columns that are not empty, and X with these only."""
    is_used = np.zeros(X.shape[1], dtype=bool)
    is_used[X.indices] = True
    used = np.flatnonzero(is_used)
    places = np.cumsum(is_used)
    compact = sparse.csr_array(
        (X.data, places[X.indices] - 1, X.indptr), shape=(X.shape[0], len(used))
    )
    return used, compact
