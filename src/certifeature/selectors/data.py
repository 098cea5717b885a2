"""Users' rows, weights and columns, brought into the shape that the selectors work on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from certifeature._matrix import normalised

__all__ = [
    "Rows",
    "checked_weights",
    "original_columns",
]

_SMALLEST_WEIGHT = 1e-12


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows that features are chosen for, and their places in the training data."""

    X: Any
    y: Any
    sample_weight: NDArray[np.float64] | None
    indices: NDArray[np.intp]

    def take(self, chosen: NDArray[np.intp]) -> Rows:
        """Return some of the rows."""
        return Rows(
            self.X[chosen],
            None if self.y is None else self.y[chosen],
            None if self.sample_weight is None else self.sample_weight[chosen],
            self.indices[chosen],
        )

    def weighted(self) -> Any:
        """Return the rows times the roots of their weights, up to a common factor.

        A row of weight 2 then counts like two equal rows in every Gram matrix.
        """
        if self.sample_weight is None:
            return self.X
        # However small its weight, a row belongs to the row space.
        shares = self.sample_weight / self.sample_weight.max()
        roots = np.sqrt(np.maximum(shares, _SMALLEST_WEIGHT))
        # Near 1, so that neither huge nor tiny values leave the range of numbers.
        X, _ = normalised(self.X)
        return sparse.diags_array(roots) @ X if sparse.issparse(X) else X * roots[:, None]


def checked_weights(sample_weight: Any, n_samples: int) -> NDArray[np.float64]:
    """Return one finite, non-negative weight for each row, at least one of them positive."""
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.ndim == 0:
        weights = np.full(n_samples, weights)
    if weights.shape != (n_samples,):
        raise ValueError(
            f"sample_weight must have one value for each of the {n_samples} rows; "
            f"got shape {weights.shape}."
        )
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError("sample_weight must be finite and non-negative.")
    if not weights.any():
        raise ValueError("sample_weight is zero for every row; at least one must be positive.")
    return weights


def original_columns(X: Any, columns: NDArray[np.intp], n_features: int) -> Any:
    """Return X with its columns put back to their places among columns of zeros."""
    shape = (X.shape[0], n_features)
    if sparse.issparse(X):
        X = X.tocsr()
        return type(X)((X.data, columns[X.indices], X.indptr), shape=shape)
    restored = np.zeros(shape, dtype=X.dtype)
    restored[:, columns] = X
    return restored
