"""The optimal objectives of ridge regression and of tubes, enclosed.

As for SVMs, a point of the primal problem and one of the dual, with the errors of computing their
values, enclose the optimum whatever the solver did. With slopes gᵢ = c·loss'(fᵢ) of the loss at any
scores f, the multipliers β = −g are a point of the dual problem, whose weights are Aᵀβ.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from certifeature.certificate.multipliers import (
    MAX_DIRECT,
    OVERFLOW_IS_WIDE,
    Enclosure,
    balanced,
    bordered_solution,
)
from certifeature.certificate.safe_rows import EPS, TINY, SafeRows
from certifeature.certificate.scales import at_scale_of_rows, scaled_back
from certifeature.rows.matrix import near_origin
from certifeature.support.newton import solved
from certifeature.support.smooth_losses import TubeLoss
from certifeature.support.smooth_minimiser import minimiser

__all__ = ["tube_objective"]

FloatArray = NDArray[np.float64]


@OVERFLOW_IS_WIDE
def tube_objective(
    X: Any,
    targets: FloatArray,
    costs: FloatArray,
    *,
    intercept: float | None,
    epsilon: float = 0.0,
) -> Enclosure:
    r"""Enclose the optimum of ½‖w‖² + Σ C_i max(0, \|t_i − f_i\| − ε)², squared loss for ε = 0.

    Parameters
    ----------
    X : {array-like, sparse array or matrix} of shape (n_samples, n_features), or SafeRows
        Rows.
    targets : ndarray of shape (n_samples,)
        Numbers t.
    costs : ndarray of shape (n_samples,)
        Constants C_i, not negative.
    intercept : float or None
        None for f = w·x + b with b free; otherwise f = w·x + intercept·w₀ with w₀ a weight like
        the others, and 0 means that there is none.
    epsilon : float, default=0.0
        Half the width of the tube.

    Returns
    -------
    Enclosure
        Dual and primal value.

    Notes
    -----
    The dual problem is to maximise βᵀt − ε‖β‖₁ − Σ βᵢ²/(4Cᵢ) − ½‖Aᵀβ‖², for a free intercept among
    the β that sum to 0.

    Examples
    --------
    >>> import numpy as np
    >>> from certifeature.certificate import tube_objective
    >>> bounds = tube_objective(np.eye(1), np.array([2.0]), np.array([0.5]), intercept=0.0)
    >>> round(bounds.lower, 6), round(bounds.upper, 6)
    (1.0, 1.0)
    """
    scaled = at_scale_of_rows(X, costs, intercept)
    if scaled is None:
        return Enclosure(0.0, np.inf)
    rows, places, costs = scaled
    targets, exponent = _near_one(targets[places], free=intercept is None)
    with np.errstate(under="ignore"):
        epsilon = float(np.ldexp(epsilon, -exponent))
    excess = np.maximum(0.0, np.abs(targets) * (1 + 2 * EPS) + TINY - epsilon * (1 - EPS))
    upper = float(costs @ (excess**2 + TINY)) * (1 + (len(costs) + 8) * EPS) + TINY
    if not (np.abs(targets) > epsilon).any():
        # Weights of zero lose nothing, or no more than rounding.
        return scaled_back(0.0, upper, rows, exponent)
    start = np.zeros((rows.values.shape[1] + 1, 1))
    constant = None if intercept is None else rows.constant
    weights, _ = minimiser(rows.values, TubeLoss(targets, costs, epsilon), constant, start)
    shift = float(weights[-1, 0]) if intercept is None else 0.0
    point = weights[:, 0] * np.append(np.ones(len(weights) - 1), intercept is not None)
    upper = min(upper, _tube_primal(rows, targets, costs, epsilon, point, shift))
    lower = 0.0
    for beta in _tube_multipliers(rows, targets, costs, epsilon, point, shift, intercept is None):
        combined, error = rows.combination(beta)
        lower = max(lower, _tube_dual(targets, costs, epsilon, beta, combined, error))
        upper = min(upper, _tube_primal(rows, targets, costs, epsilon, combined, shift))
    return scaled_back(lower, upper, rows, exponent)


def _near_one(targets: FloatArray, *, free: bool) -> tuple[FloatArray, int]:
    """Return targets times a power of 2, of at most 1, and the exponent.

    A free intercept takes in a point that they are moved by, each rounded once.
    """
    exponent = int(np.frexp(np.abs(targets).max(initial=0.0))[1])
    targets = np.ldexp(targets, -exponent)
    if free:
        targets = near_origin(targets[:, None])[:, 0]
        more = int(np.frexp(np.abs(targets).max(initial=0.0))[1])
        targets, exponent = np.ldexp(targets, -more), exponent + more
    return targets, exponent


def _tube_primal(
    rows: SafeRows,
    targets: FloatArray,
    costs: FloatArray,
    epsilon: float,
    weights: FloatArray,
    shift: float,
) -> float:
    """Return the objective of some weights, or more."""
    scores, errors = rows.scores(weights)
    rounding = 4 * EPS * (np.abs(targets) + np.abs(scores) + abs(shift)) + errors
    rounding += len(weights) * TINY
    off = np.abs(targets - (scores + shift)) + rounding
    excess = np.maximum(0.0, off - epsilon * (1 - 2 * EPS))
    value = float(weights @ weights) / 2 + float(costs @ (excess**2 + TINY))
    upper = value * (1 + (len(weights) + len(costs) + 8) * EPS) + len(weights) * TINY
    return np.inf if np.isnan(upper) else upper


def _tube_multipliers(
    rows: SafeRows,
    targets: FloatArray,
    costs: FloatArray,
    epsilon: float,
    weights: FloatArray,
    shift: float,
    free: bool,
) -> list[FloatArray]:
    """Return multipliers that belong to weights, by their errors and by the rows outside."""
    off = targets - (rows.scores(weights)[0] + shift)
    excess = np.sign(off) * np.maximum(0.0, np.abs(off) - epsilon)
    found = [2 * costs * excess]
    # At a large cost the errors are no more than rounding, and yet have multipliers.
    outside = np.flatnonzero(found[0]) if epsilon else np.arange(len(off))
    if 0 < len(outside) <= MAX_DIRECT:
        system = rows.take(outside).kernel + np.diag(1 / (2 * costs[outside]))
        right = targets[outside] - epsilon * np.sign(off[outside])
        beta = np.zeros(len(off))
        beta[outside] = bordered_solution(system, right, 0.0) if free else solved(system, right)
        found.append(beta)
    if not free:
        return found
    return [balanced(np.abs(beta), np.sign(beta)) * np.sign(beta) for beta in found]


def _tube_dual(
    targets: FloatArray,
    costs: FloatArray,
    epsilon: float,
    beta: FloatArray,
    combined: FloatArray,
    error: float,
) -> float:
    """Return the dual value of the best multiple of some multipliers, or less."""
    n_rows = len(beta)
    error += len(combined) * n_rows * TINY
    square = (float(np.linalg.norm(combined)) + error) ** 2 / 2
    square += float(beta @ (beta / (4 * costs)))
    # Multipliers that ought to sum to zero do so but for rounding.
    square = square * (1 + (len(combined) + 4 * n_rows + 16) * EPS) + (n_rows + 1) * TINY
    sizes = np.abs(beta)
    total = float(beta @ targets) - epsilon * float(sizes.sum())
    total -= (2 * n_rows + 8) * EPS * float(sizes @ (np.abs(targets) + epsilon))
    total -= (n_rows + 1) * TINY * (1 + float(sizes.max(initial=0.0)))
    if not total > 0 or not np.isfinite(square):
        return 0.0
    return total * (total / (4 * square)) * (1 - 8 * EPS)
