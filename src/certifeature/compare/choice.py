"""What a fitted selector of any library chose."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_selection import RFE, SelectFromModel

from certifeature.certificate.selection import as_sample
from certifeature.sparsify import Sample
from certifeature.support import feature_weights

__all__ = ["choice"]


def choice(selector: Any) -> Sample:
    """Return the features that a fitted selector chose, best first, and the scales it gives.

    Parameters
    ----------
    selector : estimator
        Fitted selector of this library or of scikit-learn.

    Returns
    -------
    Sample
        Indices and scales; empty where nothing was chosen.

    Examples
    --------
    >>> from sklearn.feature_selection import SelectKBest, f_classif
    >>> from certifeature.compare import choice
    >>> X, y = [[0, 5, 1], [9, 6, 2], [1, 6, 8], [8, 7, 9]], [0, 0, 1, 1]
    >>> choice(SelectKBest(f_classif, k=2).fit(X, y)).indices
    array([2, 1])
    """
    indices = getattr(selector, "indices_", None)
    if indices is None:
        indices = _best_first(selector)
    if not len(indices):
        return Sample(np.empty(0, dtype=np.intp), np.empty(0))
    selection = selector if hasattr(selector, "weights_") else indices
    return as_sample(selection, None, len(selector.get_support()), None)


def _best_first(selector: Any) -> NDArray[np.intp]:
    """Return what a selector of scikit-learn chose, in the order of its scores."""
    chosen: NDArray[np.intp] = selector.get_support(indices=True)
    if isinstance(selector, RFE):
        scores = feature_weights(selector.estimator_)
    elif isinstance(selector, SelectFromModel):
        scores = feature_weights(selector.estimator_)[chosen]
    else:
        scores = np.nan_to_num(selector.scores_[chosen], nan=-np.inf)
    return chosen[np.argsort(-scores, kind="stable")]
