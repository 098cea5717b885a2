"""The optimal objectives of SVMs, enclosed.

A solver stops short of the optimum, and rounding spoils its last digits. What it returns is a point
of the primal and of the dual problem, and the values of these, with the errors of computing them,
enclose the optimum whatever the solver did.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from certifeature.certificate.interior_point import hinge_multipliers
from certifeature.certificate.multipliers import (
    CLOSE,
    MAX_DIRECT,
    OVERFLOW_IS_WIDE,
    Enclosure,
    balanced,
    bordered_solution,
    libsvm_multipliers,
)
from certifeature.certificate.safe_rows import EPS, SafeRows
from certifeature.certificate.scales import at_scale_of_rows, scaled_back
from certifeature.support.newton import solved, squared_hinge_minimiser

__all__ = ["HingePoint", "hinge_objective", "hinge_points", "squared_hinge_objective"]

FloatArray = NDArray[np.float64]


@OVERFLOW_IS_WIDE
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
    scaled = at_scale_of_rows(X, costs, intercept)
    if scaled is None:
        return Enclosure(0.0, np.inf)
    rows, places, costs = scaled
    signs = signs[places]
    *_, best = hinge_points(rows, signs, costs, free=intercept is None, close=CLOSE)
    return scaled_back(best.lower, best.upper, rows)


class HingePoint(NamedTuple):
    """Weights and a free intercept, and what they and multipliers say of the optimum.

    ``upper`` is not below the objective of these weights, and ``lower`` not above the optimum;
    ``alpha`` are the multipliers of the best dual value so far.
    """

    weights: FloatArray
    shift: float
    alpha: FloatArray
    lower: float
    upper: float


def hinge_points(
    rows: SafeRows, signs: FloatArray, costs: FloatArray, *, free: bool, close: float
) -> Iterator[HingePoint]:
    """Yield ever better points, until the bounds are close to each other, or there are no more.

    Parameters
    ----------
    rows : SafeRows
        Rows.
    signs, costs : ndarray of shape (n_samples,)
        Labels −1 and +1, and positive constants, at the scale of the rows.
    free : bool
        Whether there is an intercept that is not penalised.
    close : float
        Relative difference of the bounds that is close enough.
    """
    best = HingePoint(
        np.zeros(rows.values.shape[1] + 1),
        0.0,
        np.zeros(len(signs)),
        0.0,
        float(costs.sum()) * (1 + len(costs) * EPS),
    )
    yield best
    for alpha in _hinge_multipliers(rows, signs, costs, free=free):
        combined, error = rows.combination(alpha * signs)
        total = float(alpha.sum()) * (1 - len(alpha) * EPS)
        square = (float(np.linalg.norm(combined)) + error) ** 2 * (1 + len(combined) * EPS)
        lower = total - square / 2
        shift = _best_shift(rows.scores(combined)[0], signs, costs) if free else 0.0
        upper, stretch = _primal(rows, signs, costs, combined, shift, power=1)
        if lower > best.lower:
            best = best._replace(alpha=alpha, lower=lower)
        if upper < best.upper:
            best = best._replace(weights=stretch * combined, shift=stretch * shift, upper=upper)
        yield best
        if best.upper - best.lower <= close * best.upper:
            return


def _hinge_multipliers(
    rows: SafeRows, signs: FloatArray, costs: FloatArray, *, free: bool
) -> Iterator[FloatArray]:
    """Yield points of the dual problem, the later ones nearer to its optimum."""
    kernel = rows.kernel
    if free:
        alpha = libsvm_multipliers(kernel, signs, costs)
    else:
        # Mirrored rows make b = 0 optimal, and share each cost with their originals.
        mirrored = np.block([[kernel, -kernel], [-kernel, kernel]])
        both = libsvm_multipliers(mirrored, np.r_[signs, -signs], np.r_[costs, costs] / 2)
        alpha = np.minimum(both[: len(signs)] + both[len(signs) :], costs)
    yield alpha
    yield _polished(kernel, signs, costs, alpha, free=free)
    if len(signs) <= MAX_DIRECT:
        alpha = hinge_multipliers(kernel, signs, costs, free_intercept=free)
        yield balanced(alpha, signs) if free else alpha
        alpha = np.where(alpha < CLOSE * costs, 0.0, alpha)
        yield _polished(kernel, signs, costs, alpha, free=free)


def _polished(
    kernel: FloatArray, signs: FloatArray, costs: FloatArray, alpha: FloatArray, *, free: bool
) -> FloatArray:
    """Return multipliers that put the rows between their bounds on the margin exactly."""
    at_cost = alpha >= costs * (1 - CLOSE)
    within = np.flatnonzero((alpha > 0) & ~at_cost)
    polished = np.where(at_cost, costs, 0.0)
    if 0 < len(within) <= MAX_DIRECT:
        right = signs[within] - kernel[within] @ (polished * signs)
        system = kernel[np.ix_(within, within)]
        total = -float(polished @ signs)
        beta = bordered_solution(system, right, total) if free else solved(system, right)
        polished[within] = np.clip(beta * signs[within], 0.0, costs[within])
    return balanced(polished, signs) if free else polished


@OVERFLOW_IS_WIDE
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
    scaled = at_scale_of_rows(X, costs, intercept)
    if scaled is None:
        return Enclosure(0.0, np.inf)
    rows, places, costs = scaled
    signs = signs[places]
    start = np.zeros(rows.values.shape[1] + 1)
    weights, _ = squared_hinge_minimiser(rows.values, rows.constant, signs, costs, start)
    lower, upper = 0.0, float(costs.sum()) * (1 + len(costs) * EPS)
    upper = min(upper, _primal(rows, signs, costs, weights, 0.0, power=2)[0])
    for alpha in _squared_multipliers(rows, signs, costs, weights):
        combined, error = rows.combination(alpha * signs)
        lower = max(lower, _squared_dual(costs, alpha, combined, error))
        upper = min(upper, _primal(rows, signs, costs, combined, 0.0, power=2)[0])
    return scaled_back(lower, upper, rows)


def _squared_multipliers(
    rows: SafeRows, signs: FloatArray, costs: FloatArray, weights: FloatArray
) -> Iterator[FloatArray]:
    """Yield the multipliers that belong to weights, by their slack and by the rows with slack."""
    slack = 1 - signs * rows.scores(weights)[0]
    yield 2 * costs * np.maximum(0.0, slack)
    # At a large cost the slack is no more than rounding, and yet has multipliers.
    short = np.flatnonzero(slack > -CLOSE)
    if 0 < len(short) <= MAX_DIRECT:
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


def _primal(
    rows: SafeRows,
    signs: FloatArray,
    costs: FloatArray,
    weights: FloatArray,
    shift: float,
    *,
    power: int,
) -> tuple[float, float]:
    """Return the objective of a multiple of some weights, or more, and the multiple."""
    scores, errors = rows.scores(weights)
    margins = signs * (scores + shift) - errors - 2 * EPS * abs(shift)
    squared_norm = float(weights @ weights)

    def value(stretch: float) -> float:
        slack = np.maximum(0.0, 1 - stretch * margins)
        return stretch**2 * squared_norm / 2 + float(costs @ slack**power)

    # Margins short by a solver's tolerance are expensive where C is large; stretching mends them.
    best = minimize_scalar(value, bounds=(0.9, 1.1), method="bounded", options={"xatol": 1e-12})
    nearest = margins[np.abs(margins - 1) < 1e-4].min(initial=1.0)
    found, stretch = min((value(s), s) for s in (1.0, float(best.x), float(1 / nearest)))
    return found * (1 + (len(weights) + len(costs) + 8) * EPS), stretch


def _best_shift(scores: FloatArray, signs: FloatArray, costs: FloatArray) -> float:
    """Return the b that minimises Σ C max(0, 1 − y(score + b)), whose slope rises at y − score."""
    kinks = signs - scores
    order = np.argsort(kinks)
    rise = np.cumsum(costs[order])
    place = int(np.searchsorted(rise, costs[signs > 0].sum()))
    return float(kinks[order[min(place, len(order) - 1)]])
