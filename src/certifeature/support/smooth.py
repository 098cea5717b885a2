"""From where a solver stops to the optimum of a linear model with a smooth loss."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.svm import LinearSVR

from certifeature.support.loss import intercept_of, loss_of
from certifeature.support.smooth_losses import (
    LogisticLoss,
    MultinomialLoss,
    SmoothLoss,
    TubeLoss,
)
from certifeature.support.smooth_minimiser import minimiser

__all__ = ["has_gradient", "move_smooth_to_optimum"]

FloatArray = NDArray[np.float64]

_SMOOTH = ("squared", "logistic", "multinomial", "squared_epsilon_insensitive")


def has_gradient(model: Any) -> bool:
    """Tell whether `move_smooth_to_optimum` knows the loss of a model."""
    return loss_of(model) in _SMOOTH


def move_smooth_to_optimum(model: Any, X: Any, y: NDArray[Any], costs: FloatArray) -> bool:
    """Move a fitted model with a smooth loss to its optimum; tell whether it got there.

    Parameters
    ----------
    model : LogisticRegression, RidgeClassifier, Ridge or LinearSVR
        Fitted; its weights are changed.
    X : {ndarray, CSR array} of shape (n_samples, n_features)
        The data it was fitted to.
    y : ndarray of shape (n_samples,)
        Their labels, or numbers.
    costs : ndarray of shape (n_samples, n_problems)
        What the model multiplies the loss of each row by.
    """
    X = X.astype(np.float64, copy=False)
    intercept = intercept_of(model)
    constant = 1.0 if intercept is None else intercept
    coef = np.atleast_2d(np.asarray(model.coef_, dtype=np.float64))
    start = np.zeros((X.shape[1] + 1, len(coef)))
    start[:-1] = coef.T
    if constant:
        start[-1] = np.asarray(model.intercept_) / constant
    parts, first, all_reached = [], 0, True
    for loss in _losses(model, y, costs):
        columns = slice(first, first + loss.n_columns)
        best, reached = minimiser(X, loss, intercept, start[:, columns])
        all_reached &= reached
        parts.append(best)
        first += loss.n_columns
    weights = np.hstack(parts)
    shape = np.shape(model.coef_)
    model.coef_ = np.ascontiguousarray(weights[:-1].T).reshape(shape)
    if constant:
        values = constant * weights[-1]
        model.intercept_ = float(values[0]) if np.ndim(model.intercept_) == 0 else values
    return all_reached


def _losses(model: Any, y: NDArray[Any], costs: FloatArray) -> list[SmoothLoss]:
    """Return the losses of the problems that a model solves, independently of each other."""
    if isinstance(model, LinearSVR):
        return [TubeLoss(y, costs[:, 0], float(model.epsilon))]
    if not isinstance(model, LogisticRegression | RidgeClassifier):
        return [TubeLoss(y, costs[:, 0])]
    is_multinomial = len(model.classes_) > 2 and isinstance(model, LogisticRegression)
    if is_multinomial:
        return [MultinomialLoss(y[:, None] == model.classes_, costs[:, 0])]
    positive = model.classes_[1:] if len(model.classes_) == 2 else model.classes_
    signs = np.where(y[:, None] == positive, 1.0, -1.0)
    if isinstance(model, LogisticRegression):
        return [LogisticLoss(signs[:, 0], costs[:, 0])]
    return [TubeLoss(part, cost) for part, cost in zip(signs.T, costs.T, strict=True)]
