"""Orthonormal bases of row spaces."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg
from sklearn.utils import gen_batches
from sklearn.utils.extmath import row_norms

from certifeature import _utils as _memory
from certifeature._utils import EPS, FloatArray
from certifeature.rows.matrix import SMALLEST_NORM, column_norms, dense, scaled_back, transposed

# Singular values up to this share of the norm of all values, once columns have the same size, come
# from rounding.
_ROUNDING = 16 * EPS
# Columns of smaller norm have lost digits beside values near 1.
_ALL_DIGITS = 1e-290


def scaled_row_space(rows: Any) -> Basis:
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
    part = dense(rows[:, used])
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
    return Basis.of(whole, singular_values, outside, norms, len(part), _ALL_DIGITS)


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


# What rounding may leave of the inner products of a basis, before and after it is put right.
_ACCURATE = 1e-11
_TOLERABLE = 1e-9
# A Gram matrix knows a singular value to eps·(σ₁/σ)²: within this ratio of the largest that leaves
# twelve digits. Smaller ones are taken from the Gram matrix of what the larger ones leave over.
_WELL_RESOLVED = 1e-2


def _rank_tolerance(rows: Any) -> float:
    return 4 * max(rows.shape) * EPS


def condensed_rows(rows: Any) -> FloatArray:
    """Return at most twice as many rows as columns, with the same inner products of columns.

    Sparse rows are made dense a few at a time.
    """
    n_rows, n_features = rows.shape
    factor = np.zeros((0, n_features))
    at_once = max(n_features, _memory.ROWS_AT_ONCE // n_features)
    for start in range(0, n_rows, at_once):
        factor = np.vstack([factor, dense(rows[start : start + at_once])])
        # Not at once, since rows may come one by one.
        if factor.shape[0] > 2 * n_features:
            factor = triangular(factor)
    return factor


def triangular(rows: FloatArray) -> FloatArray:
    """Return a triangular matrix with the same inner products of columns."""
    # Scaled to 1, since LAPACK squares what it is given.
    largest = float(np.abs(rows).max(initial=0.0))
    if largest == 0:
        return rows[:1]
    return np.asarray(np.linalg.qr(rows / largest, mode="r")) * largest


def row_space(rows: Any) -> Basis:
    """Return right singular vectors and singular values of a normalised matrix.

    Level by level: the Gram matrix of what is left gives the directions well above its own
    rounding error; the next level looks at the rest alone.
    """
    wide = rows.shape[0] <= rows.shape[1]
    short, long = (rows, transposed(rows)) if wide else (rows.T, rows)
    singular_values, rotation = _spectrum(short @ long)
    floor = _rank_tolerance(rows) * singular_values[0]
    long_side: list[FloatArray] = []
    short_side: list[FloatArray] = []
    found: list[FloatArray] = []
    rest, image = rotation[:, :0], np.empty((long.shape[0], 0))
    while singular_values.size and singular_values[0] > floor:
        top = singular_values > max(floor, _WELL_RESOLVED * singular_values[0])
        image = long @ rotation[:, top]
        if long_side:
            image = _orthonormalised(without(long_side, image))
        else:
            image /= singular_values[top]
        long_side.append(image)
        short_side.append(rotation[:, top])
        found.append(singular_values[top])
        rest = rotation[:, ~top]
        image = without(long_side, long @ rest)
        singular_values, turn = _spectrum(image.T @ image)
        rotation = rest @ turn
    outside = column_norms(image.T if wide else triangular(image) @ rest.T)
    sides = long_side if wide else short_side
    # The usual case has one level, and no need for a second copy of a large matrix.
    vectors = sides[0] if len(sides) == 1 else np.hstack(sides)
    return Basis.of(vectors, np.concatenate(found), outside, column_norms(rows), rows.shape[0])


def implicit_row_space(rows: Any, combinations: FloatArray | None = None) -> Basis:
    """Return what `row_space` does, but V as coefficients of the rows.

    With combinations (a column each) it is the space of these. The levels are the same; of V, which
    would be large, only blocks exist, and every level reads the data once.
    """
    columns = transposed(rows)
    if combinations is None:
        singular_values, rest = _spectrum(rows @ rows.T)
    else:
        singular_values, rotation = _spectrum(_gram(ImplicitVectors(columns, combinations)))
        rest = combinations @ rotation
    floor = _rank_tolerance(rows) * singular_values[0]
    coefficients: list[FloatArray] = []
    found: list[FloatArray] = []
    while singular_values.size and singular_values[0] > floor:
        top = singular_values > max(floor, _WELL_RESOLVED * singular_values[0])
        coefficients.append(rest[:, top] / singular_values[top])
        found.append(singular_values[top])
        rest = rest[:, ~top]
        if not rest.size:
            break
        singular_values, rotation = _spectrum(_gram(ImplicitVectors(columns, rest)))
        rest = rest @ rotation
    vectors = _made_orthonormal(columns, np.hstack(coefficients))
    outside = _outside(vectors, ImplicitVectors(columns, rest))
    norms = column_norms(rows)
    if outside.any() and combinations is not None:
        norms = np.sqrt(ImplicitVectors(columns, combinations).squared_norms)
    return Basis.of(vectors, np.concatenate(found), outside, norms, rows.shape[0])


def _outside(vectors: ImplicitVectors, others: ImplicitVectors) -> FloatArray:
    """Return the norms, for each feature, of what combinations of rows have outside a span."""
    if not others.shape[1]:
        return np.zeros(len(vectors))
    inside = sum(vectors[block].T @ part for block, part in row_blocks(others))
    parts = [(part - vectors[block] @ inside).T for block, part in row_blocks(others)]
    return np.concatenate([column_norms(part) for part in parts])


def _made_orthonormal(columns: Any, coefficients: FloatArray) -> ImplicitVectors:
    """Return V after a pass of Cholesky QR, where it needs one."""
    vectors = ImplicitVectors(columns, coefficients)
    if orthonormality_defect(vectors) <= _ACCURATE:
        return vectors
    factor = np.linalg.cholesky(_gram(vectors))
    vectors = ImplicitVectors(columns, coefficients @ np.linalg.inv(factor).T)
    defect = orthonormality_defect(vectors)
    if defect > _TOLERABLE:
        raise ValueError(
            f"the rows of X ({columns.shape[1]} × {columns.shape[0]}) span directions of too "
            "different sizes to find them without the whole basis in memory: inner products are "
            f"wrong by {defect:.1e}. Use basis='truncated' or 'sketch' with n_components, or bring "
            "rows and columns to like scales."
        )
    return vectors


def _gram(vectors: ImplicitVectors) -> FloatArray:
    return np.asarray(sum(block.T @ block for _, block in row_blocks(vectors)))


def without(bases: list[FloatArray], vectors: FloatArray) -> FloatArray:
    """Return what is left of the vectors outside the span of the bases."""
    for basis in bases:
        vectors = vectors - basis @ (basis.T @ vectors)
    return vectors


def _orthonormalised(vectors: FloatArray) -> FloatArray:
    """Return an orthonormal basis of well-conditioned columns, by Cholesky QR done twice."""
    for _ in range(2):
        vectors = vectors @ np.linalg.inv(np.linalg.cholesky(vectors.T @ vectors)).T
    return vectors


def _spectrum(gram: Any) -> tuple[FloatArray, FloatArray]:
    """Return singular values, largest first, and the eigenvectors of a Gram matrix."""
    eigenvalues, eigenvectors = np.linalg.eigh(dense(gram))
    return np.sqrt(np.maximum(eigenvalues[::-1], 0.0)), eigenvectors[:, ::-1]


_PROBES = 4
# How far kernels take columns for orthonormal.
_ORTHONORMAL = 1e-8
# Probability that a bound by Lanczos' method fails.
FAILURE = 0.01
# Share of a column that rounding may account for, with room to spare for sums of many values.
_LAST_DIGITS = 256 * EPS


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
        return np.asarray(self._columns @ (self._coefficients @ other))

    def __rmatmul__(self, other: FloatArray) -> FloatArray:
        return np.asarray((self._columns.T @ other.T).T @ self._coefficients)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.asarray(self[:], dtype=dtype)

    @cached_property
    def squared_norms(self) -> FloatArray:
        """Squared norms of the rows, from one pass."""
        return np.concatenate([row_norms(block, squared=True) for _, block in row_blocks(self)])


Vectors = FloatArray | ImplicitVectors


def row_blocks(vectors: Vectors) -> Iterator[tuple[slice, FloatArray]]:
    """Yield slices of the features and the rows of V that belong to them."""
    for block in gen_batches(len(vectors), max(1, _memory.VECTORS_AT_ONCE // vectors.shape[1])):
        yield block, vectors[block]


def turned(vectors: Vectors, axes: FloatArray) -> Vectors:
    """Return combinations of the directions, implicit if V is."""
    return vectors @ axes if isinstance(vectors, np.ndarray) else vectors.turned(axes)


def squared_norms(vectors: Vectors) -> FloatArray:
    """Return the squared norms of the rows of V, the leverage scores of the features."""
    if isinstance(vectors, ImplicitVectors):
        return vectors.squared_norms
    norms: FloatArray = row_norms(vectors, squared=True)
    return norms


def orthonormality_defect(vectors: Vectors) -> float:
    """Return by how much VᵀV differs from the identity, as seen by a few random vectors.

    All of VᵀV would cost as much as a selection; a defect shows in nearly every combination.
    """
    probes = np.random.default_rng(0).standard_normal((vectors.shape[1], _PROBES))
    images = ((vectors @ probes).T @ vectors).T
    return float(np.abs(images - probes).max())


def as_vectors(vectors: ArrayLike) -> Vectors:
    """Return vectors in float64, or implicit as they are, unless they are not orthonormal."""
    if not isinstance(vectors, ImplicitVectors):
        vectors = np.asarray(vectors, dtype=np.float64)
        if vectors.ndim != 2 or 0 in vectors.shape:
            needed = "vectors must be a non-empty matrix with a row for each feature"
            raise ValueError(f"{needed}; got shape {vectors.shape}.")
        if not np.isfinite(vectors).all():
            raise ValueError("vectors contain NaN or infinity.")
    defect = orthonormality_defect(vectors)
    if defect > _ORTHONORMAL:
        raise ValueError(
            f"the {vectors.shape[1]} columns of vectors (shape {vectors.shape}) are not "
            f"orthonormal: VᵀV differs from the identity by about {defect:.1e}. Use a basis of "
            "certifeature.basis, or orthonormalise them with numpy.linalg.qr."
        )
    return vectors


@dataclass(frozen=True, eq=False)
class Outside:
    """What rows have beside leading directions, and the rows themselves.

    Attributes
    ----------
    singular_values : ndarray of shape (n_others,)
        Typical singular values of the other directions: all alike, with all their energy.
    energies : ndarray of shape (n_features,)
        Share of the squared norm of each column that is not outside.
    columns : ndarray or CSR array of shape (n_features, n_samples)
        Xᵀ over the power of 2 that brings its values below 1.
    """

    singular_values: FloatArray
    energies: FloatArray
    columns: Any


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
        Norm of what the data have outside the span, or more; None where it was not computed.
    outside : Outside or None
        What the rows have outside leading directions.
    """

    vectors: Vectors
    singular_values: NDArray[np.float64]
    rank: int | None
    exact: bool
    left_out: float | None
    outside: Outside | None = None

    @classmethod
    def of(
        cls,
        vectors: Vectors,
        singular_values: FloatArray,
        outside: FloatArray,
        norms: FloatArray,
        n_rows: int,
        smallest_norm: float = SMALLEST_NORM,
    ) -> Basis:
        """Return the basis of rows, given the norm of each column, and of what it has outside.

        Columns below the smallest norm count as lost: their squares, or they themselves, underflow.
        Where a direction of the rows may be missing, rounding may have hidden what is outside.
        """
        lost = (norms > 0) & (norms < smallest_norm)
        rounding = _LAST_DIGITS * norms
        exact = bool((outside <= rounding).all() and not lost.any())
        if len(singular_values) < min(n_rows, len(norms)):
            outside = outside + rounding
        left_out = float(np.linalg.norm(outside))
        return cls(vectors, singular_values, len(singular_values), exact, left_out)

    def at_scale(self, exponent: int, n_combinations: int | None = None) -> Basis:
        """Return the basis of rows that had been divided by 2^exponent, or combined to fewer.

        Parameters
        ----------
        exponent : int
            Exponent of the power of 2.
        n_combinations : int, default=None
            Number of combinations; None for the rows themselves.
        """
        values = scaled_back(self.singular_values, exponent)
        if n_combinations is None:
            left_out = float(scaled_back(self.left_out, exponent))
            return replace(self, singular_values=values, left_out=left_out)
        # Combinations that are not independent have caught all that there is.
        exact = self.exact and len(values) < n_combinations
        return Basis(self.vectors, values, self.rank if exact else None, exact, None)

    @property
    def n_components(self) -> int:
        """Number of directions ℓ."""
        return self.vectors.shape[1]

    @property
    def spectrum(self) -> FloatArray:
        """Singular values, with typical ones for directions that are not here."""
        if self.outside is None:
            return self.singular_values
        return np.concatenate([self.singular_values, self.outside.singular_values])

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
        values = np.linalg.norm(self.singular_values[:, None] * axes, axis=0)
        return self._with(turned(self.vectors, axes), values)

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
        if isinstance(vectors, np.ndarray):
            vectors = np.ascontiguousarray(vectors)
        return self._with(vectors, self.singular_values[:n_components])

    def _with(self, vectors: Vectors, singular_values: FloatArray) -> Basis:
        """Return a basis of other directions, which is as good as this one if none is missing."""
        whole = len(singular_values) == self.n_components
        left_out = self.left_out if whole else None
        return Basis(vectors, singular_values, self.rank, self.exact and whole, left_out)
