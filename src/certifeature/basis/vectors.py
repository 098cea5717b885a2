"""The matrix V, held in memory or made row by row."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "ImplicitVectors",
    "Vectors",
    "orthonormality_defect",
    "row_blocks",
    "squared_norms",
]

FloatArray = NDArray[np.float64]

# Values of V that are made together.
_BLOCK_VALUES = 2**21
_PROBES = 4


class ImplicitVectors:
    """V = XᵀC, of which only the rows exist that are looked at.

    Parameters
    ----------
    columns : ndarray or CSR array of shape (n_features, n_samples)
        The transposed data.
    coefficients : ndarray of shape (n_samples, n_components)
        How each direction is combined from the rows of X.

    Examples
    --------
    >>> import numpy as np
    >>> from certifeature.basis import ImplicitVectors
    >>> V = ImplicitVectors(np.array([[3.0], [0.0], [4.0]]), np.array([[0.2]]))
    >>> V.shape, V[[2]]
    ((3, 1), array([[0.8]]))
    """

    # Products with arrays from the left come here, instead of making V whole.
    __array_ufunc__ = None

    def __init__(self, columns: Any, coefficients: FloatArray) -> None:
        self._columns = columns
        self._coefficients = coefficients

    def with_coefficients(self, coefficients: FloatArray) -> ImplicitVectors:
        """Return other combinations of the same rows.

        Parameters
        ----------
        coefficients : ndarray of shape (n_samples, n_components)
            How each is combined.
        """
        return ImplicitVectors(self._columns, coefficients)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of features and of directions."""
        return self._columns.shape[0], self._coefficients.shape[1]

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> Any:
        """Return rows as an array; ``V[:, :k]`` cuts directions and stays implicit."""
        if isinstance(key, tuple):
            every, directions = key
            if every != slice(None):
                raise IndexError("ImplicitVectors takes rows, or all rows and a slice of columns.")
            return ImplicitVectors(self._columns, self._coefficients[:, directions])
        return self._columns[key] @ self._coefficients

    def __matmul__(self, other: FloatArray) -> FloatArray:
        product: FloatArray = self._columns @ (self._coefficients @ other)
        return product

    def __rmatmul__(self, other: FloatArray) -> FloatArray:
        product: FloatArray = (self._columns.T @ other.T).T @ self._coefficients
        return product

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.asarray(self[:], dtype=dtype)

    @cached_property
    def squared_norms(self) -> FloatArray:
        """Squared norms of the rows, from one pass."""
        return np.concatenate([_squared_norms(block) for _, block in row_blocks(self)])


Vectors = FloatArray | ImplicitVectors


def row_blocks(vectors: Vectors) -> Iterator[tuple[slice, FloatArray]]:
    """Yield slices of the features and the rows of V that belong to them."""
    n_rows = max(1, _BLOCK_VALUES // vectors.shape[1])
    for start in range(0, len(vectors), n_rows):
        block = slice(start, min(start + n_rows, len(vectors)))
        yield block, vectors[block]


def squared_norms(vectors: Vectors) -> FloatArray:
    """Return the squared norms of the rows of V, the leverage scores of the features."""
    if isinstance(vectors, ImplicitVectors):
        return vectors.squared_norms
    return _squared_norms(vectors)


def orthonormality_defect(vectors: Vectors) -> float:
    """Return by how much VᵀV differs from the identity, as seen by a few random vectors.

    All of VᵀV would cost as much as a selection; a defect shows in nearly every combination.
    """
    probes = np.random.default_rng(0).standard_normal((vectors.shape[1], _PROBES))
    images = ((vectors @ probes).T @ vectors).T
    return float(np.abs(images - probes).max())


def _squared_norms(vectors: FloatArray) -> FloatArray:
    norms: FloatArray = np.einsum("ij,ij->i", vectors, vectors)
    return norms
