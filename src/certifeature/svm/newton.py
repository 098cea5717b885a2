"""From where LIBLINEAR stops to the optimum of a squared-hinge SVM."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import brentq
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC
from sklearn.utils import compute_class_weight

__all__ = ["binary_costs", "finish", "has_smooth_loss"]

FloatArray = NDArray[np.float64]

# Of the weights. The Hessian is at least the identity, so their error is at most the gradient.
_TOLERANCE = 1e-10
_MOST_STEPS = 300
# With the data, in all steps together.
_MOST_PRODUCTS = 10_000
# Up to so many rows or features the linear systems are solved directly.
_MOST_DIRECT = 1000
# Share of the slope along a step that may be left at its end.
_LEFT_OVER = 1e-2
# Share of the objective that is no more than rounding.
_INVISIBLE = 1e-14


def has_smooth_loss(svm: Any) -> bool:
    """Tell whether an SVM is one whose optimum can be computed to the last digits."""
    return (
        isinstance(svm, LinearSVC)
        and svm.loss == "squared_hinge"
        and svm.penalty == "l2"
        and svm.multi_class == "ovr"
    )


def finish(
    svm: LinearSVC, X: Any, y: NDArray[Any], sample_weight: FloatArray | None = None
) -> LinearSVC:
    """Move a fitted squared-hinge SVM to its optimum, by Newton steps.

    LIBLINEAR stops at a tolerance, so its support rows depend on the order of the rows. The optimum
    is one, and what is chosen for it is the same however the rows come.

    Parameters
    ----------
    svm : LinearSVC
        Fitted, with a smooth loss; its weights are changed.
    X : {ndarray, CSR array} of shape (n_samples, n_features)
        The data it was fitted to.
    y : ndarray of shape (n_samples,)
        Their labels.
    sample_weight : ndarray of shape (n_samples,), default=None
        Weights of the rows.
    """
    scale = float(svm.intercept_scaling) if svm.fit_intercept else 0.0
    costs = binary_costs(svm, y, sample_weight)
    positive = svm.classes_[1:] if len(svm.classes_) == 2 else svm.classes_
    signs = np.where(y[:, None] == positive, 1.0, -1.0)
    for problem in range(costs.shape[1]):
        start = np.append(svm.coef_[problem], 0.0)
        if scale:
            start[-1] = svm.intercept_[problem] / scale
        best = _minimiser(X, scale, signs[:, problem], costs[:, problem], start)
        svm.coef_[problem] = best[:-1]
        if scale:
            svm.intercept_[problem] = best[-1] * scale
    return svm


def binary_costs(
    svm: LinearSVC, y: NDArray[Any], sample_weight: FloatArray | None = None
) -> FloatArray:
    """Return what LIBLINEAR multiplies the loss of a row (rows) by, in each problem (columns).

    With several classes, one against the others, only the one has the weight of its class.
    """
    classes = svm.classes_
    if isinstance(svm.class_weight, str):
        weights = compute_class_weight(
            svm.class_weight, classes=classes, y=y, sample_weight=sample_weight
        )
    else:
        given = svm.class_weight or {}
        weights = np.array([given.get(label, 1.0) for label in classes.tolist()])
    places = np.searchsorted(classes, y)
    if len(classes) == 2:
        costs = weights[places][:, None]
    else:
        costs = np.where(places[:, None] == np.arange(len(classes)), weights, 1.0)
    if sample_weight is not None:
        costs = costs * sample_weight[:, None]
    return svm.C * costs


def _minimiser(
    X: Any, scale: float, signs: FloatArray, costs: FloatArray, weights: FloatArray
) -> FloatArray:
    """Return the w that minimises ½‖w‖² + Σ cᵢ max(0, 1 − sᵢ aᵢᵀw)², where aᵢ = (xᵢ, scale).

    Newton's method with exact line searches, which is finite: S. S. Keerthi and D. DeCoste, *A
    Modified Finite Newton Method for Fast Solution of Large Scale Linear SVMs*, JMLR 6, 2005.
    """
    margins = signs * _times(X, scale, weights)
    smallest, products = np.inf, _MOST_PRODUCTS
    for _ in range(_MOST_STEPS):
        slack = np.maximum(0.0, 1 - margins)
        gradient = weights - _transposed_times(X, scale, 2 * costs * signs * slack)
        size, length = float(np.linalg.norm(gradient)), float(np.linalg.norm(weights))
        value = length**2 / 2 + float(costs @ slack**2)
        if size <= _TOLERANCE * length:
            return weights
        accuracy = min(1e-3, np.sqrt(size / length)) if length else 1e-3
        short = np.flatnonzero(slack)
        step, used = _newton_step(
            X[short], scale, 2 * costs[short], gradient, accuracy * size, products
        )
        # Rounding sets a floor below which the gradient does not sink any more.
        if size > smallest / 2 and -(gradient @ step) < _INVISIBLE * value:
            return weights
        products -= used
        if products <= 0:
            break
        smallest = min(smallest, size)
        change = signs * _times(X, scale, step)
        share = _best_share(weights, step, margins, change, 2 * costs)
        weights, margins = weights + share * step, margins + share * change
    warnings.warn(
        "the SVM did not reach its optimum, so its support rows are uncertain; scale X, for "
        "instance with sklearn.preprocessing.MaxAbsScaler, or lower C.",
        ConvergenceWarning,
        stacklevel=2,
    )
    return weights


def _best_share(
    weights: FloatArray,
    step: FloatArray,
    margins: FloatArray,
    change: FloatArray,
    costs: FloatArray,
) -> float:
    """Return how much of a step to take, all of it where that is nearly the best."""
    across, along, weighted = float(weights @ step), float(step @ step), costs * change

    def slope(share: float) -> float:
        slack = np.maximum(0.0, 1 - margins - share * change)
        return across + share * along - float(weighted @ slack)

    here, there = slope(0.0), slope(1.0)
    if abs(there) <= _LEFT_OVER * abs(here):
        return 1.0
    most = 1.0
    while there < 0:
        most *= 2
        there = slope(most)
    return float(brentq(slope, 0.0, most, xtol=1e-6)) if here < 0 else 0.0


def _newton_step(
    X: Any,
    scale: float,
    costs: FloatArray,
    gradient: FloatArray,
    residual_size: float,
    most_products: int,
) -> tuple[FloatArray, int]:
    """Return −H⁻¹g with H = I + AᵀCA, where the rows of A are (xᵢ, scale), and the products used.

    Small systems are solved directly, others by conjugate gradients.
    """
    n_rows, n_features = X.shape
    if n_features <= _MOST_DIRECT:
        hessian = np.eye(n_features + 1)
        hessian[:-1, :-1] += _dense(X.T @ _scaled_rows(X, costs))
        hessian[-1, :-1] = hessian[:-1, -1] = scale * (X.T @ costs)
        hessian[-1, -1] += scale**2 * costs.sum()
        return np.asarray(np.linalg.solve(hessian, -gradient), dtype=np.float64), 1
    if n_rows <= _MOST_DIRECT:
        # (I + AᵀCA)⁻¹ = I − Aᵀ(C⁻¹ + AAᵀ)⁻¹A
        kernel = _dense(X @ X.T) + scale**2 + np.diag(1 / costs)
        inside = np.asarray(np.linalg.solve(kernel, _times(X, scale, gradient)), dtype=np.float64)
        return _transposed_times(X, scale, inside) - gradient, 1
    step, residual = np.zeros_like(gradient), -gradient
    direction, square = residual, residual @ residual
    n_products = 0
    while np.sqrt(square) > residual_size and n_products < most_products:
        image = direction + _transposed_times(X, scale, costs * _times(X, scale, direction))
        share = square / (direction @ image)
        step += share * direction
        residual = residual - share * image
        last, square = square, residual @ residual
        direction = residual + square / last * direction
        n_products += 1
    return step, n_products


def _scaled_rows(X: Any, scales: FloatArray) -> Any:
    return sparse.diags_array(scales) @ X if sparse.issparse(X) else scales[:, None] * X


def _dense(X: Any) -> FloatArray:
    return np.asarray(X.toarray() if sparse.issparse(X) else X)


def _times(X: Any, scale: float, weights: FloatArray) -> FloatArray:
    return np.asarray(X @ weights[:-1] + scale * weights[-1])


def _transposed_times(X: Any, scale: float, values: FloatArray) -> FloatArray:
    return np.append(X.T @ values, scale * values.sum())
