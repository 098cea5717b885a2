"""The truth: optima of SVMs, margins and balls, enclosed in many digits.

A solver proposes a point of the dual problem. Made feasible, it gives a bound of one side, and the
primal point that it stands for gives one of the other: both are evaluated in many digits, so they
hold whatever the solver did.
"""

import gmpy2
import numpy as np

from soak.digits import INFINITY, ONE, ZERO, exact, full
from soak.qp import solve_by_clarabel, solve_exactly
from soak.truth import LARGEST_COST, Truth, squared_norms
from soak.verdict import Undecided

# Rows, up to which many digits do not take long.
MOST_EXACT_ROWS = 16


def hinge_truth(X, signs, costs, intercept, *, squared=False):
    """Enclose min ½‖w‖² + Σ C_i max(0, 1 − y_i f_i)^p, p = 1 or 2.

    The intercept is the value of a constant feature, or None where it is free (p = 1 only).
    """
    own = np.asarray(costs) > 0
    X, signs, costs = exact(X)[own], exact(signs)[own], exact(costs)[own]
    if not len(signs):
        return Truth(ZERO, ZERO)
    free = intercept is None
    X = X - X[0] if free else np.column_stack([X, full(len(X), intercept)])
    size = max(squared_norms(X)) or ONE
    X, costs = X / gmpy2.sqrt(size), costs * size
    if max(costs) > LARGEST_COST:
        raise Undecided(f"costs of {float(max(costs)):.1e} for rows of norm 1")
    alpha = _multipliers(X, signs, costs, free, squared)
    weights = X.T @ (alpha * signs)
    half_norm = weights @ weights / 2
    dual = sum(alpha) - half_norm - (sum(alpha**2 / (4 * costs)) if squared else 0)
    scores = X @ weights
    # The hinge loss is piecewise linear in a free intercept, so the best one is at a kink.
    shifts = signs - scores if free else [ZERO]
    primal = min(half_norm + _loss(scores + shift, signs, costs, squared) for shift in shifts)
    return Truth(max(dual, ZERO) / size, primal / size)


def margin_truth(X, signs):
    """Enclose half the distance of the convex hulls of two classes; below, 0 if they may touch."""
    X, size = _normalised(X)
    if size == 0:
        return Truth(ZERO, ZERO)
    positive = np.asarray(signs) > 0
    beta = np.where(positive, ONE, -ONE)
    sides = np.array([np.where(positive, ONE, ZERO), np.where(positive, ZERO, ONE)])
    Q = (X @ X.T) * np.outer(beta, beta)
    n = len(X)
    a = np.maximum(_solve(Q, full(n, 0), sides, full(2, 1), full(n, INFINITY)), ZERO)
    a = a / np.where(positive, sum(a[positive]), sum(a[~positive]))
    difference = X.T @ (a * beta)
    length = gmpy2.sqrt(difference @ difference)
    if length == 0:
        return Truth(ZERO, ZERO)
    scores = X @ difference / length
    width = min(scores[positive]) - max(scores[~positive])
    return Truth(max(width, ZERO) * size / 2, length * size / 2)


def radius_truth(X):
    """Enclose the radius of the minimum enclosing ball of rows."""
    X, size = _normalised(X)
    if size == 0:
        return Truth(ZERO, ZERO)
    n, squares = len(X), squared_norms(X)
    a = _solve(2 * (X @ X.T), squares, full((1, n), 1), full(1, 1), full(n, INFINITY))
    a = np.maximum(a, ZERO)
    a = a / sum(a)
    centre = X.T @ a
    lower = max(a @ squares - centre @ centre, ZERO)
    upper = max(squared_norms(X - centre))
    return Truth(gmpy2.sqrt(lower) * size, gmpy2.sqrt(upper) * size)


def _normalised(X):
    """Return rows around one of them with largest norm 1, and the size that they had."""
    X = exact(X)
    X = X - X[0]
    size = gmpy2.sqrt(max(squared_norms(X)))
    return (X / size if size else X), size


def _solve(*problem):
    """Solve a programme in many digits where it is small."""
    solver = solve_exactly if len(problem[1]) <= MOST_EXACT_ROWS else solve_by_clarabel
    return solver(*problem)


def _multipliers(X, signs, costs, free, squared):
    """Return a feasible point of the dual, near its optimum."""
    n = len(signs)
    if free and len(set(signs)) < 2:
        return full(n, 0)
    Q = (X @ X.T) * np.outer(signs, signs)
    if squared:
        Q = Q + np.diag(1 / (2 * costs))
    A = signs[None, :] if free else np.empty((0, n), dtype=object)
    limits = full(n, INFINITY) if squared else costs
    # Multipliers of cheap rows are as small as their costs; in units of these they are about 1.
    unit = min(ONE, max(costs))
    alpha = unit * _solve(unit * Q, full(n, 1), A, full(len(A), 0), limits / unit)
    alpha = np.minimum(np.maximum(alpha, ZERO), limits)
    if free:
        positive = signs > 0
        sums = sum(alpha[positive]), sum(alpha[~positive])
        factors = [min(sums) / total if total else ZERO for total in sums]
        alpha = alpha * np.where(positive, *factors)
    return alpha


def _loss(scores, signs, costs, squared):
    slack = np.maximum(ONE - signs * scores, ZERO)
    return costs @ (slack**2 if squared else slack)
