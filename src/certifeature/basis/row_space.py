"""Right singular vectors of wide or tall matrices through their smaller Gram matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from certifeature import _memory
from certifeature.basis.basis import (
    ImplicitVectors,
    RowSpace,
    orthonormality_defect,
    row_blocks,
)
from certifeature.rows.matrix import column_norms

__all__ = ["condensed_rows", "implicit_row_space", "row_space", "triangular"]

FloatArray = NDArray[np.float64]

# What rounding may leave of the inner products of a basis, before and after it is put right.
_ACCURATE = 1e-11
_TOLERABLE = 1e-9
# A Gram matrix knows a singular value to eps·(σ₁/σ)²: within this ratio of the largest that leaves
# twelve digits. Smaller ones are taken from the Gram matrix of what the larger ones leave over.
_WELL_RESOLVED = 1e-2
_EPS = float(np.finfo(np.float64).eps)


def _rank_tolerance(rows: Any) -> float:
    return 4 * max(rows.shape) * _EPS


def condensed_rows(rows: Any, factor: FloatArray | None = None) -> FloatArray:
    """Return at most twice as many rows as columns, with the same inner products of columns.

    A factor of other rows is taken in. Sparse rows are made dense a few at a time.
    """
    n_rows, n_features = rows.shape
    if factor is None:
        factor = np.zeros((0, n_features))
    at_once = max(n_features, _memory.ROWS_AT_ONCE // n_features)
    for start in range(0, n_rows, at_once):
        part = rows[start : start + at_once]
        part = part.toarray() if sparse.issparse(part) else part
        factor = np.vstack([factor, part])
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


def row_space(rows: Any) -> RowSpace:
    """Return right singular vectors and singular values of a normalised matrix.

    Level by level: the Gram matrix of what is left gives the directions well above its own
    rounding error; the next level looks at the rest alone.
    """
    wide = rows.shape[0] <= rows.shape[1]
    short, long = (rows, rows.T) if wide else (rows.T, rows)
    gram = short @ long
    singular_values, rotation = _spectrum(gram.toarray() if sparse.issparse(gram) else gram)
    floor = _rank_tolerance(rows) * singular_values[0]
    if sparse.issparse(long):
        # Products with many columns are quicker row by row.
        long = long.tocsr()
    long_side: list[FloatArray] = []
    short_side: list[FloatArray] = []
    found: list[FloatArray] = []
    rest, image = rotation[:, :0], np.empty((long.shape[0], 0))
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
        image = _without(long_side, long @ rest)
        if not rest.size:
            break
        singular_values, turn = _spectrum(image.T @ image)
        rotation = rest @ turn
    outside = column_norms(image.T if wide else triangular(image) @ rest.T)
    sides = long_side if wide else short_side
    # The usual case has one level, and no need for a second copy of a large matrix.
    vectors = sides[0] if len(sides) == 1 else np.hstack(sides)
    return RowSpace.of(vectors, np.concatenate(found), outside, column_norms(rows))


def implicit_row_space(rows: Any, combinations: FloatArray | None = None) -> RowSpace:
    """Return what `row_space` does, but V as coefficients of the rows.

    With combinations (a column each) it is the space of these. The levels are the same; of V, which
    would be large, only blocks exist, and every level reads the data once.
    """
    columns = rows.tocsc().T if sparse.issparse(rows) else rows.T
    if combinations is None:
        gram = rows @ rows.T
        singular_values, rest = _spectrum(gram.toarray() if sparse.issparse(gram) else gram)
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
    outside, norms = _outside(vectors, rest), column_norms(rows)
    if outside.any() and combinations is not None:
        norms = np.sqrt(ImplicitVectors(columns, combinations).squared_norms)
    return RowSpace.of(vectors, np.concatenate(found), outside, norms)


def _outside(vectors: ImplicitVectors, rest: FloatArray) -> FloatArray:
    """Return the norms, for each feature, of what combinations of rows have outside a span."""
    others = vectors.with_coefficients(rest)
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
    gram = np.zeros((vectors.shape[1], vectors.shape[1]))
    for _, block in row_blocks(vectors):
        gram += block.T @ block
    return gram


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
