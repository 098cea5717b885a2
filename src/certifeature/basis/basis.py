"""What the functions of this room return: directions, in memory or made row by row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certifeature import _memory
from certifeature.rows.matrix import SMALLEST_NORM, scaled_back

if TYPE_CHECKING:
    from certifeature.basis.leading import Outside

__all__ = [
    "Basis",
    "ImplicitVectors",
    "RowSpace",
    "Vectors",
    "as_vectors",
    "check_orthonormal",
    "orthonormality_defect",
    "row_blocks",
    "squared_norms",
]

FloatArray = NDArray[np.float64]

_PROBES = 4
# How far kernels take columns for orthonormal.
_ORTHONORMAL = 1e-8
# Share of a column that rounding may account for, with room to spare for sums of many values.
_LAST_DIGITS = 256 * float(np.finfo(np.float64).eps)


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

    def turned(self, axes: FloatArray) -> ImplicitVectors:
        """Return combinations of the directions.

        Parameters
        ----------
        axes : ndarray of shape (n_components, n_kept)
            How each is combined.
        """
        return ImplicitVectors(self._columns, self._coefficients @ axes)

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
    n_rows = max(1, _memory.VECTORS_AT_ONCE // vectors.shape[1])
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


def as_vectors(vectors: ArrayLike) -> Vectors:
    """Return the vectors as a finite float64 matrix, or implicit as they are."""
    if isinstance(vectors, ImplicitVectors):
        return vectors
    vectors = np.asarray(vectors, dtype=np.float64)
    if vectors.ndim != 2 or 0 in vectors.shape:
        raise ValueError(
            "vectors must be a non-empty matrix with a row for each feature; "
            f"got shape {vectors.shape}."
        )
    if not np.isfinite(vectors).all():
        raise ValueError("vectors contain NaN or infinity.")
    return vectors


def check_orthonormal(vectors: Vectors) -> None:
    """Raise unless the columns are orthonormal to working accuracy."""
    defect = orthonormality_defect(vectors)
    if defect > _ORTHONORMAL:
        raise ValueError(
            f"the {vectors.shape[1]} columns of vectors (shape {vectors.shape}) are not "
            f"orthonormal: VᵀV differs from the identity by about {defect:.1e}. Use a basis of "
            "certifeature.basis, or orthonormalise them with numpy.linalg.qr."
        )


@dataclass(frozen=True, eq=False)
class RowSpace:
    """Directions that span rows, and what the rows have outside their span.

    Attributes
    ----------
    vectors : ndarray or ImplicitVectors of shape (n_features, n_components)
        Orthonormal columns.
    singular_values : ndarray of shape (n_components,)
        Along the directions, largest first.
    left_out : float
        Norm of what the rows have outside the span.
    whole : bool
        Whether that is no more than the last digits of each column.
    """

    vectors: Vectors
    singular_values: FloatArray
    left_out: float
    whole: bool

    @classmethod
    def of(
        cls,
        vectors: Vectors,
        singular_values: FloatArray,
        outside: FloatArray,
        norms: FloatArray,
        smallest_norm: float = SMALLEST_NORM,
    ) -> RowSpace:
        """Return the space, given the norm of each column, and of what it has outside.

        Columns below the smallest norm were not told from zeros, by their squares or at all.
        """
        lost = (norms > 0) & (norms < smallest_norm)
        whole = bool((outside <= _LAST_DIGITS * norms).all() and not lost.any())
        return cls(vectors, singular_values, float(np.linalg.norm(outside)), whole)


@dataclass(frozen=True, eq=False)
class Basis:
    """Orthonormal directions that span the rows of a data matrix, or the most of them.

    Attributes
    ----------
    vectors : ndarray or ImplicitVectors of shape (n_features, n_components)
        Orthonormal columns. Above 2**26 values, and for fewer rows than features, they are
        implicit: rows are made when they are indexed, and ``numpy.asarray`` makes them all.
    singular_values : ndarray of shape (n_components,)
        Singular values along the directions, largest first; those of the sketch for a sketch.
    rank : int or None
        Rank of the data, None where it was not computed.
    exact : bool
        Whether the directions span the whole row space: none is missing on which more than the last
        digits of a column depend. (The directions themselves are rounded, too; beside a column of
        huge values that can be much of a small one, and certificates count it.)
    left_out : float or None
        Norm of what the data have outside the span, None where it was not computed.
    outside : Outside or None
        For leading directions only, what is known of the others.
    """

    vectors: Vectors
    singular_values: NDArray[np.float64]
    rank: int | None
    exact: bool
    left_out: float | None
    outside: Outside | None = None

    @classmethod
    def of_rows(cls, space: RowSpace, exponent: int) -> Basis:
        """Return what rows span.

        Parameters
        ----------
        space : RowSpace
            Of the rows over 2**exponent.
        exponent : int
            By which the rows were scaled down.
        """
        values = scaled_back(space.singular_values, exponent)
        left_out = float(scaled_back(space.left_out, exponent))
        return cls(space.vectors, values, len(values), exact=space.whole, left_out=left_out)

    @classmethod
    def of_combinations(cls, space: RowSpace, n_combinations: int, exponent: int) -> Basis:
        """Return what combinations of the rows, fewer than the rows, span.

        Parameters
        ----------
        space : RowSpace
            Of the combinations over 2**exponent.
        n_combinations : int
            How many combinations there are.
        exponent : int
            By which the rows were scaled down.
        """
        values = scaled_back(space.singular_values, exponent)
        # Combinations that are not independent have caught all that there is.
        exact = space.whole and len(values) < n_combinations
        rank = len(values) if exact else None
        return cls(space.vectors, values, rank, exact=exact, left_out=None)

    @property
    def n_components(self) -> int:
        """Number of directions ℓ."""
        return self.vectors.shape[1]

    @property
    def spectrum(self) -> FloatArray:
        """Singular values, with typical ones for directions that are not here."""
        if self.outside is None:
            return self.singular_values
        return np.concatenate([self.singular_values, self.outside.typical_values])

    def turned(self, axes: FloatArray) -> Basis:
        """Return some combinations of the directions.

        Parameters
        ----------
        axes : ndarray of shape (n_components, n_kept)
            Orthonormal columns; how each is combined.

        Returns
        -------
        Basis
            Exact only if there are as many as before.
        """
        whole = axes.shape[1] == self.n_components
        values = np.linalg.norm(self.singular_values[:, None] * axes, axis=0)
        vectors = self.vectors
        return Basis(
            vectors @ axes if isinstance(vectors, np.ndarray) else vectors.turned(axes),
            values,
            self.rank,
            exact=self.exact and whole,
            left_out=self.left_out if whole else None,
        )

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
        vectors = self.vectors[:, :n_components]
        whole = n_components >= self.n_components
        return Basis(
            np.ascontiguousarray(vectors) if isinstance(vectors, np.ndarray) else vectors,
            self.singular_values[:n_components],
            self.rank,
            exact=self.exact and whole,
            left_out=self.left_out if whole else None,
        )
