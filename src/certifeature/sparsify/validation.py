"""Checks that the kernels share."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from certifeature.basis.vectors import ImplicitVectors, Vectors, orthonormality_defect

__all__ = ["as_vectors", "check_orthonormal"]

_ORTHONORMAL = 1e-8


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
