"""Data matrices as users bring them, made ready for safe arithmetic."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

__all__ = ["normalised"]


def normalised(X: Any) -> tuple[Any, int]:
    """Return X·2^-e in float64 with largest magnitude in [1/2, 1), and e.

    Sparse input gives a CSR array, dense input an ndarray; X itself is left alone.
    """
    if sparse.issparse(X):
        X = sparse.csr_array(X)
        values = X.data.astype(np.float64)
    else:
        X = values = np.asarray(X, dtype=np.float64)
    if X.ndim != 2:
        raise ValueError(f"X must have two dimensions, rows and features; got {X.ndim}.")
    if not np.isfinite(values).all():
        raise ValueError("X contains NaN or infinity; impute or remove those values first.")
    largest = np.abs(values).max(initial=0.0)
    if largest == 0:
        raise ValueError(
            f"X of shape {X.shape} is zero everywhere, so there is nothing to select; "
            "at least one non-zero value is needed."
        )
    exponent = int(np.frexp(largest)[1])
    values = np.ldexp(values, -exponent)
    if not sparse.issparse(X):
        return values, exponent
    X = sparse.csr_array((values, X.indices, X.indptr), shape=X.shape)
    if not X.has_canonical_format:
        # Indices are still shared with the caller's matrix, and summing works in place.
        X = X.copy()
        X.sum_duplicates()
    return X, exponent
