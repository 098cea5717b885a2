"""An order of rows that does not depend on where they stand."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = ["canonical_order", "class_numbers"]

FloatArray = NDArray[np.float64]
Indices = NDArray[np.intp]

# To which rows that are equal but for rounding are so.
_DIGITS = 9
_TINY = float(np.finfo(np.float64).tiny)


def class_numbers(rows: Any, y: NDArray[Any], sample_weight: FloatArray | None = None) -> Indices:
    """Return the number of the class of each row, from 0, by what its rows are and not by its name.

    Classes are ordered by the weight of their rows, and then by weighted sums over these: of their
    lengths, of all values, of their products with the sum of all rows and their squares; and, where
    all these are alike, by where values stand.

    Parameters
    ----------
    rows : {ndarray, CSR array} of shape (n_samples, n_features)
        Of moderate size, as `normalised` returns them.
    y : ndarray of shape (n_samples,)
        Labels.
    sample_weight : ndarray of shape (n_samples,), default=None
        Weights of the rows; a row of weight 2 counts like two rows.
    """
    labels = np.unique(y, return_inverse=True)[1]
    lengths, ones = _lengths(rows), np.ones(rows.shape[1])
    weights = np.ones(len(labels)) if sample_weight is None else sample_weight
    middle = rows @ (rows.T @ weights) / max(float(weights @ lengths), _TINY)
    facts = (np.ones(len(labels)), lengths, rows @ ones, middle, middle**2, _landmark(rows))
    sums = [np.bincount(labels, weights * fact) for fact in facts]
    scales = [max(float(weights @ np.abs(fact)), _TINY) for fact in facts]
    keys = [np.round(own / scale, _DIGITS) for own, scale in zip(sums, scales, strict=True)]
    numbers = np.empty(len(sums[0]), dtype=np.intp)
    numbers[np.lexsort(keys[::-1])] = np.arange(len(numbers))
    return numbers[labels]


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
        Numbers of classes, as `class_numbers` returns them, or targets.
    sample_weight : ndarray of shape (n_samples,) or None
        Weights of the rows.
    numbers : bool, default=False
        Whether y holds targets.
    """
    n_features = rows.shape[1]
    if numbers:
        members = (y / max(np.abs(y).max(initial=0.0), _TINY))[:, None]
    else:
        members = (y[:, None] == np.arange(y.max() + 1)).astype(float)
    lengths = _lengths(rows)
    units = np.where(lengths > 0, lengths, 1.0)[:, None]
    total = lengths.sum()
    sums = rows.T @ members / total
    products = rows @ np.column_stack([np.full(n_features, n_features**-0.5), sums]) / units
    images = rows @ (rows.T @ products / total) / units
    places = _landmark(rows)[:, None] / units
    keys = np.hstack([places, images, products, np.log(units), lengths[:, None] > 0])
    weights = [] if sample_weight is None else [sample_weight]
    # Weights come last: repeated rows stand together, whatever their weights.
    return np.lexsort((*weights, *np.round(keys, _DIGITS).T, y))


def _lengths(rows: Any) -> FloatArray:
    squares = rows.multiply(rows) if sparse.issparse(rows) else rows * rows
    return np.sqrt(np.asarray(squares.sum(axis=1)).ravel())


def _landmark(rows: Any) -> FloatArray:
    """Return a number that tells rows apart by where their values stand."""
    return np.asarray(rows @ np.random.default_rng(0).standard_normal(rows.shape[1]))
