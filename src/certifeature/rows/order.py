"""An order of rows that does not depend on where they stand."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = ["canonical_order"]

FloatArray = NDArray[np.float64]
Indices = NDArray[np.intp]

# To which rows that are equal but for rounding are so.
_DIGITS = 9
_TINY = float(np.finfo(np.float64).tiny)


def canonical_order(
    rows: Any, y: NDArray[Any], sample_weight: FloatArray | None, *, numbers: bool = False
) -> Indices:
    """Return an order of the rows that depends on where neither rows nor columns stand.

    Rows are told apart by their class or number, their length, the sum of their values, and their
    products with the sums of the classes, or of all rows times their numbers; then by how all of
    these are around them, in the images under XXᵀ. Keys are rounded relative to what they could be
    at most, for the sum of a class may be no more than rounding itself. Rows that are still alike
    are told apart by where their values stand.

    Parameters
    ----------
    rows : {ndarray, CSR array} of shape (n_samples, n_features)
        Of moderate size, as `normalised` returns them.
    y : ndarray of shape (n_samples,)
        Labels, or numbers.
    sample_weight : ndarray of shape (n_samples,) or None
        Weights of the rows.
    numbers : bool, default=False
        Whether y holds numbers.
    """
    n_features = rows.shape[1]
    if numbers:
        labels = y
        members = (y / max(np.abs(y).max(initial=0.0), _TINY))[:, None]
    else:
        classes, labels = np.unique(y, return_inverse=True)
        members = (labels[:, None] == np.arange(len(classes))).astype(float)
    squares = rows.multiply(rows) if sparse.issparse(rows) else rows * rows
    lengths = np.sqrt(np.asarray(squares.sum(axis=1)).ravel())
    units = np.where(lengths > 0, lengths, 1.0)[:, None]
    total = lengths.sum()
    sums = rows.T @ members / total
    products = rows @ np.column_stack([np.full(n_features, n_features**-0.5), sums]) / units
    images = rows @ (rows.T @ products / total) / units
    places = rows @ np.random.default_rng(0).standard_normal((n_features, 1)) / units
    keys = np.hstack([places, images, products, np.log(units), lengths[:, None] > 0])
    weights = [] if sample_weight is None else [sample_weight]
    # Weights come last: repeated rows stand together, whatever their weights.
    return np.lexsort((*weights, *np.round(keys, _DIGITS).T, labels))
