"""Repeated reweighting, which approximates the fewest features that a model can do with."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from certifeature.rows.matrix import scaled_columns
from certifeature.support.fitted import dense_coef, ranks
from certifeature.support.model import fit_model

__all__ = ["arom_scores"]

FloatArray = NDArray[np.float64]

_ROUNDS = 4
# A feature below this share of the largest is out of the game: with its square, which is what a
# model sees of it, it is lost in the rounding of the others.
_NEGLIGIBLE = 1e-10
_DIGITS = 12


def arom_scores(
    model: Any, X: Any, y: NDArray[Any], sample_weight: FloatArray | None = None
) -> FloatArray:
    """Rank all features by four rounds of repeated reweighting (Weston et al.).

    In each round a linear model is fitted to X·diag(z), and z becomes z·abs(w), from z = 1.
    Features that count become ever larger, and the others fade, together with what they repeat.

    Parameters
    ----------
    model : estimator
        Unfitted linear model with ``coef_``; it is left alone.
    X : {ndarray, sparse array or matrix} of shape (n_samples, n_features)
        Rows to fit on.
    y : ndarray of shape (n_samples,)
        Labels, or numbers.
    sample_weight : ndarray of shape (n_samples,), default=None
        Weights of the rows.

    Returns
    -------
    ndarray of shape (n_features,)
        Ranks from 0 for the worst, equal for equal features. Features that last for more rounds are
        the better ones, and among these the ones with the larger z.

    See Also
    --------
    elimination_order : Drop the features with the smallest weights, again and again.

    Notes
    -----
    With several classes, abs(w) is the norm over the binary problems, as in `feature_weights`.

    With α the multipliers of the rows, w = z·Xᵀα. So z² times the sizes of Xᵀα is the next z, whose
    logarithm neither underflows nor hides small features behind the rounding of large ones.

    References
    ----------
    .. [1] J. Weston, A. Elisseeff, B. Schölkopf and M. Tipping, "Use of the zero-norm with linear
       models and kernel methods", Journal of Machine Learning Research 3, 1439-1461, 2003.

    Examples
    --------
    Only the first column grows; the last one is of no use at all.

    >>> import numpy as np
    >>> from sklearn.svm import SVC
    >>> from certifeature.support.arom import arom_scores
    >>> X, y = np.array([[-2.0, -1, -1, 0], [2.0, 1, 1, 0]]), np.array([0, 1])
    >>> arom_scores(SVC(kernel="linear"), X, y)
    array([2., 1., 1., 0.])
    """
    n_features = X.shape[1]
    n_rounds, log_z = np.zeros(n_features), np.zeros(n_features)
    columns = np.arange(n_features)
    for _ in range(_ROUNDS):
        z = np.exp(log_z[columns])
        part = scaled_columns(X if len(columns) == n_features else X[:, columns], z)
        fitted = fit_model(clone(model), part, y, sample_weight)
        sizes = _sizes(dense_coef(fitted), z)
        used = sizes > 0
        if not used.any():
            break
        columns, sizes = columns[used], sizes[used]
        n_rounds[columns] += 1
        log_z[columns] = 2 * log_z[columns] + np.log(sizes)
        log_z[columns] -= log_z[columns].max()
        columns = columns[log_z[columns] > np.log(_NEGLIGIBLE)]
    return ranks(n_rounds, log_z)


def _sizes(coef: FloatArray, z: FloatArray) -> FloatArray:
    """Return the sizes of Xᵀα, as shares of the largest; equal where they are so but for rounding.

    Rounding comes after the division by z, for every column of X·diag(z) has its own size, and
    its weight is as accurate for it.
    """
    largest = np.abs(coef).max(initial=0.0)
    if largest == 0:
        return np.zeros_like(z)
    sizes = np.linalg.norm(coef / largest / z, axis=0)
    return np.round(sizes / sizes.max(), _DIGITS)
