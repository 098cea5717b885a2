"""What a linear model multiplies the losses of its rows by, beside ½‖w‖²."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.svm import LinearSVC, LinearSVR
from sklearn.utils import compute_class_weight

__all__ = ["cost_of", "row_costs", "with_cost_times"]

FloatArray = NDArray[np.float64]


def cost_of(model: Any) -> float:
    """Return the parameter C of a model.

    Ridge regression minimises ½‖w‖² + C·Σ(y − f)² with C = 1/(2·alpha); of several, it is the
    largest.
    """
    if isinstance(model, Ridge | RidgeClassifier):
        return float(1 / (2 * np.min(model.alpha)))
    return float(model.C)


def with_cost_times(model: Any, factor: float) -> Any:
    """Return an unfitted copy of a model whose C is so many times as large."""
    if isinstance(model, Ridge | RidgeClassifier):
        return clone(model).set_params(alpha=np.asarray(model.alpha) / factor)
    return clone(model).set_params(C=factor * model.C)


def row_costs(
    model: Any,
    y: NDArray[Any],
    sample_weight: FloatArray | None = None,
    classes: NDArray[Any] | None = None,
) -> FloatArray:
    """Return what a model multiplies the loss of each row by.

    Parameters
    ----------
    model : estimator
        Linear model, whose objective is a multiple of ½‖w‖² + Σ cᵢ·loss.
    y : ndarray of shape (n_samples,)
        Labels, or numbers.
    sample_weight : ndarray of shape (n_samples,), default=None
        Weights of the rows.
    classes : ndarray of shape (n_classes,), default=None
        The classes, in ascending order, where not all of them are among the labels.

    Returns
    -------
    ndarray of shape (n_samples, n_problems)
        ``C``, or 1/(2·alpha) for ridge regression, times the weight of the row and of its class.
        There is one column, but where several classes are set against the rest one by one: then
        each has a column. In those of LIBLINEAR only its own rows have the weight of their class.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.svm import SVC
    >>> from certifeature.support import row_costs
    >>> row_costs(SVC(C=2, class_weight={1: 10}), np.array([0, 1, 1])).ravel()
    array([ 2., 20., 20.])
    """
    factor = np.array([cost_of(model)])
    if isinstance(model, Ridge | LinearSVR):
        costs = np.ones((len(y), 1))
    else:
        classes = np.unique(y) if classes is None else classes
        weights = _class_weights(model, classes, y, sample_weight)
        places = np.searchsorted(classes, y)
        if len(classes) > 2 and isinstance(model, LinearSVC) and model.multi_class == "ovr":
            costs = np.where(places[:, None] == np.arange(len(classes)), weights, 1.0)
        else:
            costs = weights[places][:, None]
        if len(classes) > 2 and isinstance(model, RidgeClassifier):
            costs = np.repeat(costs, len(classes), axis=1)
    if isinstance(model, Ridge | RidgeClassifier):
        factor = 1 / (2 * np.atleast_1d(np.asarray(model.alpha, dtype=float)))
        if len(factor) not in (1, costs.shape[1]):
            raise ValueError(
                f"{type(model).__name__} has {len(factor)} values of alpha for {costs.shape[1]} "
                "targets; give one for each, or a single number."
            )
    if sample_weight is not None:
        costs = costs * sample_weight[:, None]
    return np.asarray(factor * costs)


def _class_weights(
    model: Any, classes: NDArray[Any], y: NDArray[Any], sample_weight: FloatArray | None
) -> FloatArray:
    given = getattr(model, "class_weight", None)
    if isinstance(given, str):
        # LIBSVM and ridge regression count rows, the others weigh them.
        weight = sample_weight if isinstance(model, LinearSVC | LogisticRegression) else None
        return np.asarray(compute_class_weight(given, classes=classes, y=y, sample_weight=weight))
    return np.array([(given or {}).get(label, 1.0) for label in classes.tolist()], dtype=float)
