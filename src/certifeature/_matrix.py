"""Data matrices as users bring them, made ready for safe arithmetic."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = [
    "TOO_LARGE",
    "as_finite",
    "canonical_csr",
    "fingerprint",
    "normalised",
    "refusing_overflow",
    "scaled_back",
    "scaled_columns",
    "stored_bytes",
]

TOO_LARGE = (
    "X has values so large that sums or multiples of them overflow. Scale X first, for instance "
    "with sklearn.preprocessing.MaxAbsScaler."
)


def as_finite(X: Any) -> Any:
    """Return X in float64, sparse input as a CSR array, after a look at its shape and values."""
    X = sparse.csr_array(X) if sparse.issparse(X) else np.asarray(X)
    X = X.astype(np.float64, copy=False)
    if X.ndim != 2:
        raise ValueError(f"X must have two dimensions, rows and features; got {X.ndim}.")
    if not np.isfinite(X.data if sparse.issparse(X) else X).all():
        raise ValueError("X contains NaN or infinity; impute or remove those values first.")
    return X


def normalised(X: Any) -> tuple[Any, int]:
    """Return X·2^-e in float64 with largest magnitude in [1/2, 1), and e.

    Sparse input gives a CSR array, dense input an ndarray; X itself is left alone.
    """
    X = as_finite(X)
    values = X.data if sparse.issparse(X) else X
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


@contextmanager
def refusing_overflow() -> Iterator[None]:
    """Say what to do where values are finite, but what is made of them is not."""
    try:
        with np.errstate(over="raise"):
            yield
    except FloatingPointError as error:
        raise ValueError(TOO_LARGE) from error


def scaled_back(values: Any, exponent: int) -> Any:
    """Return values·2^e, which undoes what `normalised` did."""
    with refusing_overflow():
        return np.ldexp(values, exponent)


def canonical_csr(X: Any) -> Any:
    """Return CSR data without duplicate entries, with the 32-bit indices that LIBSVM wants."""
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    if X.indices.dtype != np.int32 and max(*X.shape, X.nnz) <= np.iinfo(np.int32).max:
        indices, indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
        X = type(X)((X.data, indices, indptr), shape=X.shape)
    return X


def scaled_columns(X: Any, scales: NDArray[Any]) -> Any:
    """Return X with its columns scaled, of the same kind and format (ndarray, CSR or CSC)."""
    with refusing_overflow():
        if not sparse.issparse(X):
            return X * scales
        scaled = X.copy()
        factors = scales[X.indices] if X.format == "csr" else np.repeat(scales, np.diff(X.indptr))
        scaled.data = X.data * factors
        return scaled


def fingerprint(X: Any) -> str:
    """Return a digest that tells whether two matrices of one kind hold the same values."""
    digest = blake2b(str(X.shape).encode(), digest_size=16)
    for part in (X.data, X.indices, X.indptr) if sparse.issparse(X) else (X,):
        digest.update(np.ascontiguousarray(part).data)
    return digest.hexdigest()


def stored_bytes(X: Any) -> int:
    """Return the memory that the values of a dense or CSR array take."""
    return int(X.data.nbytes + X.indices.nbytes if sparse.issparse(X) else X.nbytes)
