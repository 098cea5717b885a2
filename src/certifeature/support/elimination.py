"""Recursive feature elimination as an order of all features."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from certifeature.support.fitted import feature_weights
from certifeature.support.model import fit_model

__all__ = ["elimination_order"]

# Share of the features that stays in the game from one fit to the next.
_KEPT = 0.5


def elimination_order(
    model: Any, X: Any, y: NDArray[Any], sample_weight: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Rank all features by recursive elimination (Guyon et al.) in geometric steps.

    The model is fitted again and again; each time the features with the smallest weights drop out.
    The path does not depend on how many features are wanted in the end.

    Parameters
    ----------
    model : estimator
        Linear model fitted to all features of X, y; it gives the first step.
    X : {ndarray, sparse array or matrix} of shape (n_samples, n_features)
        Rows to fit on.
    y : ndarray of shape (n_samples,)
        Labels, or numbers.
    sample_weight : ndarray of shape (n_samples,), default=None
        Weights of the rows.

    Returns
    -------
    ndarray of shape (n_features,)
        d for the feature that stays longest, 1 for the first to go.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.svm import SVC
    >>> from certifeature.support import elimination_order
    >>> X, y = np.array([[-2.0, 0.1, -1.0], [2.0, 0.1, 1.0]]), np.array([0, 1])
    >>> elimination_order(SVC(kernel="linear").fit(X, y), X, y)
    array([3., 1., 2.])
    """
    columns = np.arange(X.shape[1])
    dropped: list[NDArray[np.intp]] = []
    while len(columns) > 1:
        # Stable, so that of equal weights the lower index stays.
        best_first = columns[np.argsort(-feature_weights(model), kind="stable")]
        n_kept = max(1, int(_KEPT * len(columns)))
        dropped.append(best_first[n_kept:])
        columns = np.sort(best_first[:n_kept])
        if n_kept > 1:
            model = fit_model(clone(model), X[:, columns], y, sample_weight)
    ranking = np.concatenate([columns, *reversed(dropped)])
    order = np.empty(len(ranking))
    order[ranking] = np.arange(len(ranking), 0, -1)
    return order
