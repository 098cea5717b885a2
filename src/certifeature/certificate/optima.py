"""Two-sided bounds on what an SVM attains.

A solver stops short of the optimum, and rounding spoils its last digits. What it returns is a point
of the primal and of the dual problem, and the values of these, with the errors of computing them,
enclose the optimum whatever the solver did. Every function here returns such an enclosure.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from certifeature.certificate.interior_point import hinge_multipliers
from certifeature.certificate.safe_rows import EPS, SafeRows
from certifeature.support.newton import solved, squared_hinge_minimiser

__all__ = ["Enclosure", "hard_margin", "hinge_objective", "squared_hinge_objective"]

FloatArray = NDArray[np.float64]

_TOLERANCE = 1e-6
_MAX_ITERATIONS = 200_000
# Slack is so expensive at these C, for rows of size 1, that separable rows have nearly none.
_HARD = 1e7
_HARDER = (1e4, 1e8, 1e12, 1e16)
# An intercept whose feature is so large is as good as free.
_NEARLY_FREE = 1e4
# Up to so many rows or features the slower search for a hyperplane is worth while.
_MAX_DIRECT = 1000
# Relative difference of the bounds that nobody minds.
_CLOSE = 1e-6
_MAX_DROPS = 20


# Whatever overflows on the way leaves a bound as wide as it was.
_OVERFLOW_IS_WIDE = np.errstate(over="ignore", invalid="ignore", divide="ignore")


class Enclosure(NamedTuple):
    """A number that lies between two computed ones."""

    lower: float
    upper: float


@_OVERFLOW_IS_WIDE
def hard_margin(X: Any, signs: FloatArray) -> Enclosure | None:
    """Enclose the hard margin of rows, with a free intercept.

    Parameters
    ----------
    X : {array-like, sparse array or matrix} of shape (n_samples, n_features), or SafeRows
        Rows.
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
    >>> from certifeature.certificate import hard_margin
    >>> margin = hard_margin([[-1.0], [-3.0], [2.0]], np.array([-1.0, -1.0, 1.0]))
    >>> bool(margin.lower <= 1.5 <= margin.upper)
    True
    """
    rows = X if isinstance(X, SafeRows) else SafeRows.of(X, None)
    lower, upper = 0.0, np.inf
    for weights, alpha in _separators(rows, signs):
        lower = max(lower, _margin(rows, signs, weights))
        upper = min(upper, _half_distance(rows, signs, alpha))
        if upper - lower <= _CLOSE * upper:
            break
    if lower == 0:
        return None
    return Enclosure(float(np.ldexp(lower, rows.exponent)), float(np.ldexp(upper, rows.exponent)))


def _separators(rows: SafeRows, signs: FloatArray) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield weights that may separate the classes, and multipliers, the quickest to find first."""
    kernel = rows.kernel
    size = float(np.diag(kernel).mean())
    if size == 0:
        return

    def found(alpha: FloatArray) -> tuple[FloatArray, FloatArray]:
        return rows.combination(alpha * signs)[0], alpha

    alpha = _libsvm(kernel / size, signs, np.full(len(signs), _HARD))
    yield found(alpha)
    yield found(_on_the_margin(kernel, signs, alpha))
    if min(rows.values.shape) > _MAX_DIRECT:
        return
    weights = np.zeros(rows.values.shape[1] + 1)
    intercept = _NEARLY_FREE * np.sqrt(size)
    for cost in _HARDER:
        costs = np.full(len(signs), cost / size)
        weights, _ = squared_hinge_minimiser(rows.values, intercept, signs, costs, weights)
        slack = 1 - signs * (rows.values @ weights[:-1] + intercept * weights[-1])
        alpha = np.maximum(0.0, slack)
        yield np.append(weights[:-1], 0.0), alpha
        yield found(_on_the_margin(kernel, signs, alpha))


def _on_the_margin(kernel: FloatArray, signs: FloatArray, alpha: FloatArray) -> FloatArray:
    """Return multipliers that put all rows in use on the margin exactly, less those that resist."""
    alpha = alpha.copy()
    for _ in range(_MAX_DROPS):
        used = np.flatnonzero(alpha)
        if not 0 < len(used) <= _MAX_DIRECT:
            break
        beta = _bordered_solution(kernel[np.ix_(used, used)], signs[used], 0.0)
        alpha[used] = np.maximum(0.0, beta * signs[used])
        if (alpha[used] > 0).all() or not (alpha[signs > 0].any() and alpha[signs < 0].any()):
            break
    return alpha


def _margin(rows: SafeRows, signs: FloatArray, weights: FloatArray) -> float:
    """Return the margin of a hyperplane, or less; 0 if it does not separate the classes."""
    scores, errors = rows.scores(weights)
    norm = float(np.linalg.norm(weights)) * (1 + len(weights) * EPS)
    nearest, farthest = (scores - errors)[signs > 0].min(), (scores + errors)[signs < 0].max()
    return max(0.0, float(nearest - farthest) * (1 - 4 * EPS) / (2 * norm)) if norm else 0.0


def _half_distance(rows: SafeRows, signs: FloatArray, alpha: FloatArray) -> float:
    """Return half the distance of two points of the hulls of the classes, or more."""
    if not (alpha[signs > 0].any() and alpha[signs < 0].any()):
        return np.inf
    totals = np.where(signs > 0, alpha[signs > 0].sum(), alpha[signs < 0].sum())
    difference, error = rows.combination(alpha * signs / totals)
    return (float(np.linalg.norm(difference)) + error) * (1 + len(difference) * EPS) / 2


@_OVERFLOW_IS_WIDE
def hinge_objective(
    X: Any, signs: FloatArray, costs: FloatArray, *, intercept: float | None
) -> Enclosure:
    r"""Enclose the optimum of ½‖w‖² + Σ C_i max(0, 1 − y_i f_i).

    Parameters
    ----------
    X : {array-like, sparse array or matrix} of shape (n_samples, n_features), or SafeRows
        Rows.
    signs : ndarray of shape (n_samples,)
        Labels −1 and +1.
    costs : ndarray of shape (n_samples,)
        Constants C_i, not negative.
    intercept : float or None
        None for f = w·x + b with b free; otherwise f = w·x + intercept·w₀ with w₀ a weight like
        the others, and 0 means that there is none.

    Returns
    -------
    Enclosure
        Dual and primal value.

    Examples
    --------
    >>> import numpy as np
    >>> from certifeature.certificate import hinge_objective
    >>> bounds = hinge_objective([[1.0], [-1.0]], np.array([1.0, -1.0]), np.ones(2), intercept=None)
    >>> round(bounds.lower, 6), round(bounds.upper, 6)
    (0.5, 0.5)
    """
    rows, signs, costs = _with_cost(X, signs, costs, intercept)
    if not np.isfinite(costs).all():
        return Enclosure(0.0, np.inf)
    lower, upper = 0.0, float(costs.sum()) * (1 + len(costs) * EPS)
    for alpha in _hinge_multipliers(rows, signs, costs, free=intercept is None):
        combined, error = rows.combination(alpha * signs)
        total = float(alpha.sum()) * (1 - len(alpha) * EPS)
        square = (float(np.linalg.norm(combined)) + error) ** 2 * (1 + len(combined) * EPS)
        lower = max(lower, total - square / 2)
        shift = _best_shift(rows.scores(combined)[0], signs, costs) if intercept is None else 0.0
        upper = min(upper, _primal(rows, signs, costs, combined, shift, power=1))
        if upper - lower <= _CLOSE * upper:
            break
    return _scaled_back(lower, upper, rows)


def _hinge_multipliers(
    rows: SafeRows, signs: FloatArray, costs: FloatArray, *, free: bool
) -> Iterator[FloatArray]:
    """Yield points of the dual problem, the later ones nearer to its optimum."""
    kernel = rows.kernel
    if free:
        alpha = _libsvm(kernel, signs, costs)
    else:
        # Mirrored rows make b = 0 optimal, and share each cost with their originals.
        mirrored = np.block([[kernel, -kernel], [-kernel, kernel]])
        both = _libsvm(mirrored, np.r_[signs, -signs], np.r_[costs, costs] / 2)
        alpha = np.minimum(both[: len(signs)] + both[len(signs) :], costs)
    yield alpha
    yield _polished(kernel, signs, costs, alpha, free=free)
    if len(signs) <= _MAX_DIRECT:
        alpha = hinge_multipliers(kernel, signs, costs, free_intercept=free)
        yield _balanced(alpha, signs) if free else alpha
        alpha = np.where(alpha < _CLOSE * costs, 0.0, alpha)
        yield _polished(kernel, signs, costs, alpha, free=free)


def _polished(
    kernel: FloatArray, signs: FloatArray, costs: FloatArray, alpha: FloatArray, *, free: bool
) -> FloatArray:
    """Return multipliers that put the rows between their bounds on the margin exactly."""
    at_cost = alpha >= costs * (1 - _CLOSE)
    within = np.flatnonzero((alpha > 0) & ~at_cost)
    polished = np.where(at_cost, costs, 0.0)
    if 0 < len(within) <= _MAX_DIRECT:
        right = signs[within] - kernel[within] @ (polished * signs)
        system = kernel[np.ix_(within, within)]
        total = -float(polished @ signs)
        beta = _bordered_solution(system, right, total) if free else solved(system, right)
        polished[within] = np.clip(beta * signs[within], 0.0, costs[within])
    return _balanced(polished, signs) if free else polished


@_OVERFLOW_IS_WIDE
def squared_hinge_objective(
    X: Any, signs: FloatArray, costs: FloatArray, *, intercept: float
) -> Enclosure:
    r"""Enclose the optimum of ½‖w‖² + Σ C_i max(0, 1 − y_i f_i)², with f = w·x + intercept·w₀.

    Parameters
    ----------
    X : {array-like, sparse array or matrix} of shape (n_samples, n_features), or SafeRows
        Rows.
    signs : ndarray of shape (n_samples,)
        Labels −1 and +1.
    costs : ndarray of shape (n_samples,)
        Constants C_i, not negative.
    intercept : float
        The feature that the intercept w₀ is the weight of; 0 means that there is none.

    Returns
    -------
    Enclosure
        Dual and primal value.

    Notes
    -----
    With the multipliers αᵢ = 2Cᵢ max(0, 1 − yᵢfᵢ) of weights w, the gap is ½‖g‖², where g is the
    gradient at w.

    Examples
    --------
    >>> import numpy as np
    >>> from certifeature.certificate import squared_hinge_objective
    >>> signs, costs = np.array([1.0, -1.0]), np.full(2, 0.5)
    >>> bounds = squared_hinge_objective(np.eye(2), signs, costs, intercept=0.0)
    >>> round(bounds.lower, 6), round(bounds.upper, 6)
    (0.5, 0.5)
    """
    rows, signs, costs = _with_cost(X, signs, costs, intercept)
    if not np.isfinite(costs).all():
        return Enclosure(0.0, np.inf)
    start = np.zeros(rows.values.shape[1] + 1)
    weights, _ = squared_hinge_minimiser(rows.values, rows.constant, signs, costs, start)
    lower, upper = 0.0, float(costs.sum()) * (1 + len(costs) * EPS)
    upper = min(upper, _primal(rows, signs, costs, weights, 0.0, power=2))
    for alpha in _squared_multipliers(rows, signs, costs, weights):
        combined, error = rows.combination(alpha * signs)
        lower = max(lower, _squared_dual(costs, alpha, combined, error))
        upper = min(upper, _primal(rows, signs, costs, combined, 0.0, power=2))
    return _scaled_back(lower, upper, rows)


def _squared_multipliers(
    rows: SafeRows, signs: FloatArray, costs: FloatArray, weights: FloatArray
) -> Iterator[FloatArray]:
    """Yield the multipliers that belong to weights, by their slack and by the rows with slack."""
    slack = 1 - signs * rows.scores(weights)[0]
    yield 2 * costs * np.maximum(0.0, slack)
    # At a large cost the slack is no more than rounding, and yet has multipliers.
    short = np.flatnonzero(slack > -_CLOSE)
    if 0 < len(short) <= _MAX_DIRECT:
        part = rows.take(short)
        alpha = np.zeros(len(signs))
        system = part.kernel + np.diag(1 / (2 * costs[short]))
        alpha[short] = np.maximum(0.0, signs[short] * solved(system, signs[short]))
        yield alpha


def _squared_dual(
    costs: FloatArray, alpha: FloatArray, combined: FloatArray, error: float
) -> float:
    """Return the dual value of the best multiple of some multipliers, or less."""
    square = (float(np.linalg.norm(combined)) + error) ** 2 / 2
    square += float(alpha @ (alpha / (4 * costs)))
    square *= 1 + (len(combined) + len(costs) + 8) * EPS
    total = float(alpha.sum()) * (1 - len(alpha) * EPS)
    return total * (total / (4 * square)) * (1 - 8 * EPS) if square > 0 else 0.0


def _with_cost(
    X: Any, signs: FloatArray, costs: FloatArray, intercept: float | None
) -> tuple[SafeRows, FloatArray, FloatArray]:
    """Return the rows with a cost, their signs, and their costs at the scale of the rows."""
    rows = X if isinstance(X, SafeRows) else SafeRows.of(X, intercept)
    costly = np.flatnonzero(costs > 0)
    with np.errstate(over="ignore"):
        # For w scaled up as x is scaled down, all of the objective grows by the same factor.
        scaled = np.ldexp(costs[costly], 2 * rows.exponent)
    rows = rows if len(costly) == len(costs) else rows.take(costly)
    return rows, signs[costly], np.asarray(scaled)


def _scaled_back(lower: float, upper: float, rows: SafeRows) -> Enclosure:
    with np.errstate(over="ignore"):
        bounds = np.ldexp([max(lower, 0.0), upper], -2 * rows.exponent)
    return Enclosure(float(bounds[0]), float(bounds[1]))


def _primal(
    rows: SafeRows,
    signs: FloatArray,
    costs: FloatArray,
    weights: FloatArray,
    shift: float,
    *,
    power: int,
) -> float:
    """Return the objective of a multiple of some weights, or more."""
    scores, errors = rows.scores(weights)
    margins = signs * (scores + shift) - errors - 2 * EPS * abs(shift)
    squared_norm = float(weights @ weights)

    def value(stretch: float) -> float:
        slack = np.maximum(0.0, 1 - stretch * margins)
        return stretch**2 * squared_norm / 2 + float(costs @ slack**power)

    # Margins short by a solver's tolerance are expensive where C is large; stretching mends them.
    best = minimize_scalar(value, bounds=(0.9, 1.1), method="bounded", options={"xatol": 1e-12})
    nearest = margins[np.abs(margins - 1) < 1e-4].min(initial=1.0)
    values = value(1.0), float(best.fun), value(float(1 / nearest))
    return min(values) * (1 + (len(weights) + len(costs) + 8) * EPS)


def _best_shift(scores: FloatArray, signs: FloatArray, costs: FloatArray) -> float:
    """Return the b that minimises Σ C max(0, 1 − y(score + b)), whose slope rises at y − score."""
    kinks = signs - scores
    order = np.argsort(kinks)
    rise = np.cumsum(costs[order])
    place = int(np.searchsorted(rise, costs[signs > 0].sum()))
    return float(kinks[order[min(place, len(order) - 1)]])


def _libsvm(kernel: FloatArray, signs: FloatArray, costs: FloatArray) -> FloatArray:
    """Return multipliers that meet the constraints of the dual for a free intercept, by LIBSVM."""
    if abs(signs.sum()) == len(signs):
        return np.zeros(len(signs))
    # LIBSVM wants neither tiny costs nor tiny kernels.
    unit = min(float(costs.max()), 1.0)
    svm = SVC(kernel="precomputed", C=1.0, tol=_TOLERANCE, max_iter=_MAX_ITERATIONS)
    with warnings.catch_warnings():
        # An early stop widens the enclosure, which says so itself.
        warnings.simplefilter("ignore", ConvergenceWarning)
        svm.fit(kernel * unit, signs, sample_weight=np.maximum(costs / unit, 1e-300))
    alpha = np.zeros(len(signs))
    alpha[svm.support_] = np.abs(svm.dual_coef_[0]) * unit
    return _balanced(np.minimum(alpha, costs), signs)


def _balanced(alpha: FloatArray, signs: FloatArray) -> FloatArray:
    """Return multipliers of equal sums over the classes; smaller ones stay feasible."""
    positive, negative = alpha[signs > 0].sum(), alpha[signs < 0].sum()
    least = min(positive, negative)
    if least == 0:
        return np.zeros_like(alpha)
    return np.asarray(alpha * np.where(signs > 0, least / positive, least / negative))


def _bordered_solution(kernel: FloatArray, right: FloatArray, total: float) -> FloatArray:
    """Return the β of sum ``total`` for which Kβ differs from the right side by a constant."""
    n_rows = len(kernel)
    size = np.sqrt(max(float(np.diag(kernel).max(initial=0.0)), np.finfo(np.float64).tiny))
    system = np.zeros((n_rows + 1, n_rows + 1))
    system[:-1, :-1] = kernel / size**2
    system[-1, :-1] = system[:-1, -1] = 1.0
    return solved(system, np.append(right / size**2, total))[:-1]
