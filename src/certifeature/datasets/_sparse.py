"""Sparse matrices out of files that may be damaged."""

from __future__ import annotations

from typing import Any

from scipy import sparse

__all__ = ["verified"]

_FORMATS = ("csr", "csc", "coo")


def verified(X: Any) -> Any:
    """Return X, a sparse one in CSR format and with every index known to lie inside it.

    SciPy's compiled conversions trust the indices: a wrong one would read or write memory
    that is not theirs.
    """
    if not sparse.issparse(X):
        return X
    if X.format not in _FORMATS:
        raise ValueError(f"sparse format {X.format!r} is none of {_FORMATS}; convert it to CSR")
    # COO checks its indices when it is made.
    if X.format != "coo":
        X.check_format(full_check=True)
    return X.tocsr()
