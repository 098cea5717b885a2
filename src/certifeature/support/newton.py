"""From where LIBLINEAR stops to the optimum of a squared-hinge SVM."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, cg
from sklearn.svm import LinearSVC

__all__ = [
    "MAX_DIRECT",
    "best_share",
    "has_smooth_loss",
    "move_to_optimum",
    "solved",
    "squared_hinge_minimiser",
]

FloatArray = NDArray[np.float64]

# Of the weights. The Hessian is at least the identity, so their error is at most the gradient.
_TOLERANCE = 1e-10
_EPS = float(np.finfo(np.float64).eps)
# With the data, in all steps together.
_MAX_PRODUCTS = 10_000
_MAX_STEPS = 2000
# Up to so many rows or features the linear systems are solved directly, which takes about as long
# as a product for each so many of them.
MAX_DIRECT, _DIRECT_PER_PRODUCT = 1000, 20
# Share of the slope along a step that may be left at its end.
_LEFT_OVER = 1e-2


def has_smooth_loss(svm: Any) -> bool:
    """Tell whether an SVM is one whose optimum can be computed to the last digits."""
    return (
        isinstance(svm, LinearSVC)
        and svm.loss == "squared_hinge"
        and svm.penalty == "l2"
        and svm.multi_class == "ovr"
    )


def move_to_optimum(svm: LinearSVC, X: Any, y: NDArray[Any], costs: FloatArray) -> bool:
    """Move a fitted squared-hinge SVM to its optimum, by Newton steps; tell whether it got there.

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
    costs : ndarray of shape (n_samples, n_problems)
        What the SVM multiplies the loss of each row by.
    """
    X = X.astype(np.float64, copy=False)
    scale = float(svm.intercept_scaling) if svm.fit_intercept else 0.0
    positive = svm.classes_[1:] if len(svm.classes_) == 2 else svm.classes_
    signs = np.where(y[:, None] == positive, 1.0, -1.0)
    all_reached = True
    for problem in range(costs.shape[1]):
        start = np.append(svm.coef_[problem], 0.0)
        if scale:
            start[-1] = svm.intercept_[problem] / scale
        best, reached = squared_hinge_minimiser(
            X, scale, signs[:, problem], costs[:, problem], start
        )
        all_reached &= reached
        svm.coef_[problem] = best[:-1]
        if scale:
            svm.intercept_[problem] = best[-1] * scale
    return all_reached


@np.errstate(over="ignore", invalid="ignore")
def squared_hinge_minimiser(
    X: Any, scale: float, signs: FloatArray, costs: FloatArray, weights: FloatArray
) -> tuple[FloatArray, bool]:
    """Return the w that minimises ½‖w‖² + Σ cᵢ max(0, 1 − sᵢ aᵢᵀw)², where aᵢ = (xᵢ, scale).

    Newton's method with exact line searches, which is finite: S. S. Keerthi and D. DeCoste, *A
    Modified Finite Newton Method for Fast Solution of Large Scale Linear SVMs*, JMLR 6, 2005.

    Parameters
    ----------
    X : {ndarray, CSR array} of shape (n_samples, n_features)
        Rows x.
    scale : float
        The last feature of all rows; 0 if there is none.
    signs, costs : ndarray of shape (n_samples,)
        Labels −1 and +1, and the constants c.
    weights : ndarray of shape (n_features + 1,)
        Where to start.

    Returns
    -------
    weights, reached
        The minimiser, and whether it is known to be one, to rounding.
    """
    margins = signs * _times(X, scale, weights)
    smallest, products = np.inf, _MAX_PRODUCTS
    for _ in range(_MAX_STEPS):
        if products <= 0:
            break
        slack = np.where(costs > 0, np.maximum(0.0, 1 - margins), 0.0)
        gradient = weights - _transposed_times(X, scale, 2 * costs * signs * slack)
        size, norm = float(np.linalg.norm(gradient)), float(np.linalg.norm(weights))
        if size <= _TOLERANCE * norm:
            return weights, True
        if not np.isfinite(size):
            break
        short = np.flatnonzero(slack)
        rows, row_costs = X[short], 2 * costs[short]
        accuracy = min(1e-3, np.sqrt(size / norm)) if norm else 1e-3
        system = _System(rows, scale, row_costs, signs[short])
        step, used = system.step(weights, gradient, accuracy * size, products)
        change = signs * _times(X, scale, step)
        along, length = float(weights @ step), float(step @ step)
        share = best_share(along, length, margins, change, 2 * costs)
        spread = _size(rows, scale)
        of_margins = 1 + norm * spread / max(len(short), 1) ** 0.5
        rounding = 4 * _EPS * spread * of_margins * float(np.linalg.norm(row_costs))
        # A gradient that is no more than its own rounding need not sink any more.
        if size <= rounding and (share == 0 or size > smallest / 2):
            return weights, True
        if share == 0:
            break
        products -= used
        smallest = min(smallest, size)
        weights, margins = weights + share * step, margins + share * change
    return weights, False


def best_share(
    along: float, length: float, margins: FloatArray, change: FloatArray, costs: FloatArray
) -> float:
    """Return how much of a step to take, all of it where that is nearly the best.

    Along the step the slope of the objective is piecewise linear and rises; it bends where a row
    crosses the margin.

    Parameters
    ----------
    along, length : float
        Inner products of the step with the weights, and with itself.
    margins, change : ndarray of shape (n_samples,)
        Of the rows, and by how much the step changes them.
    costs : ndarray of shape (n_samples,)
        What half of the squared loss of each row is multiplied by.
    """
    slack, square = 1 - margins, costs * change**2

    def slope(share: float) -> float:
        short = np.maximum(0.0, slack - share * change)
        return float(along + share * length - (costs * change) @ short)

    first = slope(0.0)
    if first >= 0:
        return 0.0
    if abs(slope(1.0)) <= _LEFT_OVER * -first:
        return 1.0
    with np.errstate(divide="ignore", invalid="ignore"):
        places = slack / change
    bends = np.flatnonzero((places > 0) & np.isfinite(places))
    bends = bends[np.argsort(places[bends])]
    is_short = (slack > 0) | ((slack == 0) & (change < 0))
    changes = np.where(change[bends] < 0, square[bends], -square[bends])
    rates = length + square[is_short].sum() + np.concatenate([[0.0], np.cumsum(changes)])
    rates = np.maximum(rates, length)
    starts = np.concatenate([[0.0], places[bends]])
    slopes = first + np.concatenate([[0.0], np.cumsum(rates[:-1] * np.diff(starts))])
    last = int(np.searchsorted(slopes, 0.0)) - 1
    return float(starts[last] - slopes[last] / rates[last])


@dataclass(frozen=True, eq=False)
class _System:
    """The rows that are short of the margin, whose squared losses are minimised by a linear system.

    With A the rows (xᵢ, scale), C their costs and H = I + AᵀCA, the minimiser solves Hw = AᵀCs.
    """

    X: Any
    scale: float
    costs: FloatArray
    signs: FloatArray

    def step(
        self, weights: FloatArray, gradient: FloatArray, residual_size: float, max_products: int
    ) -> tuple[FloatArray, int]:
        """Return the step to the minimiser, and how many products with the rows it took.

        Small systems are solved directly, others by conjugate gradients. Of sparse rows these come
        first, for as long as a direct solution would take.
        """
        n_rows, n_features = self.X.shape
        is_small = min(n_rows, n_features) <= MAX_DIRECT
        used = 1 + min(n_rows, n_features) // _DIRECT_PER_PRODUCT
        if sparse.issparse(self.X) or not is_small:
            n_products, limit = 0, used if is_small else max_products

            def product(direction: FloatArray) -> FloatArray:
                nonlocal n_products
                n_products += 1
                image = self.costs * (self.X @ direction[:-1] + self.scale * direction[-1])
                return direction + np.append(self.X.T @ image, self.scale * image.sum())

            hessian = LinearOperator((len(gradient), len(gradient)), matvec=product)
            step, _ = cg(hessian, -gradient, rtol=0.0, atol=residual_size, maxiter=limit)
            if not is_small or n_products < limit:
                return step, n_products
            used += n_products
        if n_features <= MAX_DIRECT:
            return solved(self._hessian(), -gradient), used
        # The minimiser is Aᵀβ with (AAᵀ + C⁻¹)β = s: no difference of large numbers.
        kernel = self.X @ self.X.T
        kernel = kernel.toarray() if sparse.issparse(kernel) else kernel
        beta = solved(kernel + self.scale**2 + np.diag(1 / self.costs), self.signs)
        return _transposed_times(self.X, self.scale, beta) - weights, used

    def _hessian(self) -> FloatArray:
        scaled = sparse.diags_array(self.costs) @ self.X
        gram = self.X.T @ scaled
        hessian = np.eye(self.X.shape[1] + 1)
        hessian[:-1, :-1] += gram.toarray() if sparse.issparse(gram) else gram
        hessian[-1, :-1] = hessian[:-1, -1] = self.scale * (self.X.T @ self.costs)
        hessian[-1, -1] += self.scale**2 * self.costs.sum()
        return hessian


def solved(matrix: FloatArray, right: FloatArray) -> FloatArray:
    """Return the solution of a system, definite but for rounding; zeros if it overflowed."""
    if not np.isfinite(matrix).all() or not np.isfinite(right).all():
        return np.zeros_like(right)
    try:
        solution = np.linalg.solve(matrix, right)
    except np.linalg.LinAlgError:
        solution = np.linalg.lstsq(matrix, right, rcond=None)[0]
    return np.asarray(solution, dtype=np.float64)


def _size(X: Any, scale: float) -> float:
    """Return the norm of all values of the rows (xᵢ, scale)."""
    values = X.data if sparse.issparse(X) else X
    return float(np.hypot(np.linalg.norm(values), scale * np.sqrt(X.shape[0])))


def _times(X: Any, scale: float, weights: FloatArray) -> FloatArray:
    return np.asarray(X @ weights[:-1] + scale * weights[-1])


def _transposed_times(X: Any, scale: float, values: FloatArray) -> FloatArray:
    return np.append(X.T @ values, scale * values.sum())
