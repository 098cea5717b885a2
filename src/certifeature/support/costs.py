"""What an SVM makes of the loss of each row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import LinearSVC
from sklearn.utils import compute_class_weight

from certifeature.support.checks import cost_of

__all__ = ["row_costs"]

FloatArray = NDArray[np.float64]


def row_costs(
    svm: Any,
    y: NDArray[Any],
    sample_weight: FloatArray | None = None,
    classes: NDArray[Any] | None = None,
) -> FloatArray | None:
    """Return what an SVM multiplies the loss of each row by, or None if it has no C.

    Parameters
    ----------
    svm : estimator
        Linear SVM.
    y : ndarray of shape (n_samples,)
        Labels.
    sample_weight : ndarray of shape (n_samples,), default=None
        Weights of the rows.
    classes : ndarray of shape (n_classes,), default=None
        The classes, in ascending order, where not all of them are among the labels.

    Returns
    -------
    ndarray of shape (n_samples, n_problems) or None
        ``C`` times the weight of the row and of its class. There is one column, but where LIBLINEAR
        sets several classes against the rest one by one: then each has a column, in which only
        its own rows have the weight of their class.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.svm import SVC
    >>> from certifeature.support import row_costs
    >>> row_costs(SVC(C=2, class_weight={1: 10}), np.array([0, 1, 1])).ravel()
    array([ 2., 20., 20.])
    """
    C = cost_of(svm)
    if C is None:
        return None
    classes = np.unique(y) if classes is None else classes
    weights = _class_weights(svm, classes, y, sample_weight)
    places = np.searchsorted(classes, y)
    if len(classes) > 2 and isinstance(svm, LinearSVC) and svm.multi_class == "ovr":
        costs = np.where(places[:, None] == np.arange(len(classes)), weights, 1.0)
    else:
        costs = weights[places][:, None]
    if sample_weight is not None:
        costs = costs * sample_weight[:, None]
    return np.asarray(float(C) * costs)


def _class_weights(
    svm: Any, classes: NDArray[Any], y: NDArray[Any], sample_weight: FloatArray | None
) -> FloatArray:
    given = getattr(svm, "class_weight", None)
    if isinstance(given, str):
        # LIBSVM counts rows, LIBLINEAR weighs them.
        weight = sample_weight if isinstance(svm, LinearSVC) else None
        return np.asarray(compute_class_weight(given, classes=classes, y=y, sample_weight=weight))
    return np.array([(given or {}).get(label, 1.0) for label in classes.tolist()], dtype=float)
