"""Two-sided bounds on what an SVM attains, from the inner products of its rows alone.

A solver stops short of the optimum. What it returns is a feasible point of the primal and of the
dual problem, and these enclose the optimum whatever the solver did. Every function here returns
such an enclosure.
"""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

__all__ = ["Enclosure", "hard_margin", "hinge_objective", "squared_hinge_objective"]

FloatArray = NDArray[np.float64]

_TOLERANCE = 1e-6
_MOST_ITERATIONS = 200_000
# Slack is so dear at this C, for kernels of mean 1 on the diagonal, that separable rows have none.
_HARD = 1e7
_MOST_NEWTON_STEPS = 100
_ROUNDING = 1e-10


class Enclosure(NamedTuple):
    """A number that lies between two computed ones."""

    lower: float
    upper: float


def hard_margin(kernel: FloatArray, signs: FloatArray) -> Enclosure | None:
    """Enclose the hard margin of rows with the given inner products.

    Parameters
    ----------
    kernel : ndarray of shape (n_samples, n_samples)
        Inner products.
    signs : ndarray of shape (n_samples,)
        Labels −1 and +1.

    Returns
    -------
    Enclosure or None
        Below, the margin of a hyperplane that separates the classes; above, half the distance of
        two points of their convex hulls. None if no separating hyperplane was found.

    Examples
    --------
    >>> import numpy as np
    >>> from certifeature.svm import hard_margin
    >>> X, signs = np.array([[-1.0], [-3.0], [2.0]]), np.array([-1.0, -1.0, 1.0])
    >>> margin = hard_margin(X @ X.T, signs)
    >>> bool(margin.lower <= 1.5 <= margin.upper)
    True
    """
    size = float(np.diag(kernel).mean())
    if size == 0:
        return None
    kernel = kernel / size
    alpha, _ = _solve(kernel, signs, np.full(len(signs), _HARD))
    beta = alpha * signs
    scores = kernel @ beta
    norm = np.sqrt(max(float(beta @ scores), 0.0))
    width = scores[signs > 0].min() - scores[signs < 0].max()
    if width <= 0 or norm == 0:
        return None
    hulls = np.where(signs > 0, beta / alpha[signs > 0].sum(), beta / alpha[signs < 0].sum())
    distance = np.sqrt(max(float(hulls @ kernel @ hulls), 0.0))
    scale = np.sqrt(size)
    return _widened(float(scale * width / (2 * norm)), float(scale * distance / 2))


def hinge_objective(
    kernel: FloatArray, signs: FloatArray, costs: FloatArray, *, free_intercept: bool
) -> Enclosure:
    r"""Enclose the optimum of ½‖w‖² + Σ C_i max(0, 1 − y_i f_i).

    Parameters
    ----------
    kernel : ndarray of shape (n_samples, n_samples)
        Inner products; a penalised intercept is a constant added to all of them.
    signs : ndarray of shape (n_samples,)
        Labels −1 and +1.
    costs : ndarray of shape (n_samples,)
        Constants C_i.
    free_intercept : bool
        Whether f = w·x + b with b free, or f = w·x.

    Returns
    -------
    Enclosure
        Dual and primal value.

    Examples
    --------
    >>> import numpy as np
    >>> from certifeature.svm import hinge_objective
    >>> kernel, signs = np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([1.0, -1.0])
    >>> bounds = hinge_objective(kernel, signs, np.ones(2), free_intercept=True)
    >>> round(bounds.lower, 6), round(bounds.upper, 6)
    (0.5, 0.5)
    """
    if free_intercept:
        alpha, intercept = _solve(kernel, signs, costs)
    else:
        # Mirrored rows make b = 0 optimal, and share each cost with their originals.
        mirrored = np.block([[kernel, -kernel], [-kernel, kernel]])
        both, _ = _solve(mirrored, np.r_[signs, -signs], np.r_[costs, costs] / 2)
        alpha, intercept = both[: len(signs)] + both[len(signs) :], 0.0
    beta = alpha * signs
    scores = kernel @ beta
    squared_norm = float(beta @ scores)
    margins = signs * (scores + intercept)

    def primal(stretch: float) -> float:
        slack = np.maximum(0.0, 1 - stretch * margins)
        return stretch**2 * squared_norm / 2 + float(costs @ slack)

    # Margins short by the solver's tolerance are dear where C is large; stretching w mends them.
    best = minimize_scalar(primal, bounds=(0.9, 1.1), method="bounded", options={"xatol": 1e-9})
    return _widened(float(alpha.sum()) - squared_norm / 2, min(primal(1.0), float(best.fun)))


def squared_hinge_objective(kernel: FloatArray, signs: FloatArray, costs: FloatArray) -> Enclosure:
    r"""Enclose the optimum of ½‖w‖² + Σ C_i max(0, 1 − y_i f_i)², with f = w·x.

    Parameters
    ----------
    kernel : ndarray of shape (n_samples, n_samples)
        Inner products; a penalised intercept is a constant added to all of them.
    signs : ndarray of shape (n_samples,)
        Labels −1 and +1.
    costs : ndarray of shape (n_samples,)
        Constants C_i.

    Returns
    -------
    Enclosure
        Dual and primal value.

    Notes
    -----
    Newton's method on the primal: the rows with slack are the solution of a linear system, and
    determine the next set of rows with slack.

    Examples
    --------
    >>> import numpy as np
    >>> from certifeature.svm import squared_hinge_objective
    >>> bounds = squared_hinge_objective(np.eye(2), np.array([1.0, -1.0]), np.full(2, 0.5))
    >>> round(bounds.lower, 6), round(bounds.upper, 6)
    (0.5, 0.5)
    """

    def primal(beta: FloatArray) -> float:
        scores = kernel @ beta
        slack = np.maximum(0.0, 1 - signs * scores)
        return float(beta @ scores) / 2 + float(costs @ slack**2)

    beta = np.zeros(len(signs))
    value = primal(beta)
    for _ in range(_MOST_NEWTON_STEPS):
        short = signs * (kernel @ beta) < 1
        target = np.zeros(len(signs))
        system = kernel[np.ix_(short, short)] + np.diag(1 / (2 * costs[short]))
        target[short] = np.linalg.solve(system, signs[short])
        step = 1.0
        while step > 1e-10 and primal(beta + step * (target - beta)) >= value:
            step /= 2
        if step <= 1e-10:
            break
        beta = beta + step * (target - beta)
        value = primal(beta)
    alpha = 2 * costs * np.maximum(0.0, 1 - signs * (kernel @ beta))
    combined = alpha * signs
    dual = alpha.sum() - combined @ kernel @ combined / 2 - np.sum(alpha**2 / (4 * costs))
    return _widened(float(dual), value)


def _widened(lower: float, upper: float) -> Enclosure:
    """Return an enclosure that rounding on the way cannot have made too tight."""
    slack = _ROUNDING * abs(upper)
    return Enclosure(max(lower - slack, 0.0), upper + slack)


def _solve(kernel: FloatArray, signs: FloatArray, costs: FloatArray) -> tuple[FloatArray, float]:
    """Return multipliers that meet the constraints of the dual, and an intercept, by LIBSVM."""
    svm = SVC(kernel="precomputed", C=1.0, tol=_TOLERANCE, max_iter=_MOST_ITERATIONS)
    with warnings.catch_warnings():
        # An early stop widens the enclosure, which says so itself.
        warnings.simplefilter("ignore", ConvergenceWarning)
        svm.fit(kernel, signs, sample_weight=costs)
    alpha = np.zeros(len(signs))
    alpha[svm.support_] = np.minimum(np.abs(svm.dual_coef_[0]), costs[svm.support_])
    # Rounding may leave the two classes with different sums; the smaller one is feasible.
    positive, negative = alpha[signs > 0].sum(), alpha[signs < 0].sum()
    least = min(positive, negative)
    if least > 0:
        alpha *= np.where(signs > 0, least / positive, least / negative)
    return alpha, float(svm.intercept_[0])
