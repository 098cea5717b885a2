"""The optimal objectives of logistic regression, enclosed.

A row loses log(1 + Σ exp(D)), where D are the leads of the other classes over its own: for two
classes D = −s·f, for more D_k = f_k − f_own. The shares q = exp(D)/(1 + Σ exp(D)) of the other
classes make up the multipliers of the dual problem, whose value is Σ cᵢ·entropy(qᵢ) − ½‖Aᵀβ‖².
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from certifeature.certificate.multipliers import OVERFLOW_IS_WIDE, Enclosure, balanced
from certifeature.certificate.safe_rows import EPS, TINY, SafeRows
from certifeature.certificate.scales import at_scale_of_rows, scaled_back
from certifeature.support.smooth_losses import LogisticLoss, MultinomialLoss
from certifeature.support.smooth_minimiser import minimiser

__all__ = ["logistic_objective", "multinomial_objective"]

FloatArray = NDArray[np.float64]

# Most by which exp, log and the like are wrong, as a share of what they return.
_FUNCTIONS = 32 * EPS


@OVERFLOW_IS_WIDE
def logistic_objective(
    X: Any, signs: FloatArray, costs: FloatArray, *, intercept: float | None
) -> Enclosure:
    r"""Enclose the optimum of ½‖w‖² + Σ C_i log(1 + exp(−y_i f_i)).

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
    >>> from certifeature.certificate import logistic_objective
    >>> X, signs = np.zeros((2, 1)), np.array([1.0, -1.0])
    >>> bounds = logistic_objective(X, signs, np.ones(2), intercept=None)
    >>> round(bounds.lower, 6), round(bounds.upper, 6)
    (1.386294, 1.386294)
    """
    scaled = at_scale_of_rows(X, costs, intercept)
    if scaled is None:
        return Enclosure(0.0, np.inf)
    rows, places, costs = scaled
    signs, free = signs[places], intercept is None
    start = np.zeros((rows.values.shape[1] + 1, 1))
    loss = LogisticLoss(signs, costs)
    weights, _ = minimiser(rows.values, loss, None if free else rows.constant, start)
    shift = float(weights[-1, 0]) if free else 0.0
    point = weights[:, 0] * np.append(np.ones(len(weights) - 1), not free)
    alpha = -signs * loss.at((rows.scores(point)[0] + shift)[:, None]).slopes[:, 0]
    if free:
        # A little less than the costs, so that what rounding hides does not exceed them.
        alpha = balanced(np.minimum(alpha, costs * (1 - (4 * len(costs) + 16) * EPS)), signs)
    alpha = np.minimum(alpha, costs)
    combined, error = rows.combination(alpha * signs)
    lower = _entropy((alpha / costs)[:, None], costs) - _half_square(
        [(combined, error)], len(costs)
    )
    upper = float(costs.sum()) * float(np.log(2)) * (1 + (len(costs) + 8) * EPS)
    for candidate in (point, combined):
        scores, errors = rows.scores(candidate)
        leads = -signs * (scores + shift) + errors
        leads = leads + 4 * EPS * (np.abs(scores) + abs(shift)) + len(candidate) * TINY
        penalty = float(candidate @ candidate) / 2
        upper = min(upper, _primal(leads[:, None], costs, penalty, len(candidate)))
    return scaled_back(_known(lower), upper, rows)


@OVERFLOW_IS_WIDE
def multinomial_objective(
    X: Any, own: NDArray[np.bool_], costs: FloatArray, *, intercept: float | None
) -> Enclosure:
    r"""Enclose the optimum of ½‖W‖² + Σ C_i log(Σ_k exp(f_ik)/exp(f_i,own)).

    Parameters
    ----------
    X : {array-like, sparse array or matrix} of shape (n_samples, n_features), or SafeRows
        Rows.
    own : ndarray of bool, of shape (n_samples, n_classes)
        The class of each row, as a mask.
    costs : ndarray of shape (n_samples,)
        Constants C_i, not negative.
    intercept : float or None
        As for `logistic_objective`.

    Returns
    -------
    Enclosure
        Dual and primal value.

    Notes
    -----
    Multipliers whose sums over the rows are r_k instead of 0 cost the dual value Σ r_k·b_k of the
    best intercepts b. With an optimum of at most U, a row of class j loses at most U/c, so that
    f_k − f_j ≤ U/c; and ‖W‖² ≤ 2U, so that b_k − b_j ≤ U/c + 2‖x‖√U for each row of class j.

    Examples
    --------
    >>> import numpy as np
    >>> from certifeature.certificate import multinomial_objective
    >>> own = np.eye(3, dtype=bool)
    >>> bounds = multinomial_objective(np.zeros((3, 1)), own, np.ones(3), intercept=None)
    >>> round(bounds.lower, 6), round(bounds.upper, 6)
    (3.295837, 3.295837)
    """
    scaled = at_scale_of_rows(X, costs, intercept)
    if scaled is None:
        return Enclosure(0.0, np.inf)
    rows, places, costs = scaled
    own, free = own[places], intercept is None
    if free:
        # A class without rows is as good as absent once its intercept is low enough.
        own = own[:, own.any(axis=0)]
    n_classes = own.shape[1]
    if n_classes < 2:
        return Enclosure(0.0, 0.0)
    start = np.zeros((rows.values.shape[1] + 1, n_classes))
    loss = MultinomialLoss(own, costs)
    weights, _ = minimiser(rows.values, loss, None if free else rows.constant, start)
    shifts = weights[-1] if free else np.zeros(n_classes)
    point = weights * np.append(np.ones(len(weights) - 1), not free)[:, None]
    shares = _others(own, np.column_stack([rows.scores(w)[0] for w in point.T]) + shifts)
    beta = costs[:, None] * np.where(own, shares.sum(axis=1, keepdims=True), -shares)
    combined = [rows.combination(column) for column in beta.T]
    # Multipliers are rounded themselves, as often as there are classes.
    combined = [(weights, error * (1 + n_classes)) for weights, error in combined]
    lower = _entropy(shares, costs) - _half_square(combined, len(costs))
    upper = float(costs.sum()) * float(np.log(n_classes)) * (1 + (len(costs) + 8) * EPS)
    for candidate in (point, np.column_stack([weights for weights, _ in combined])):
        leads = _leads(rows, own, candidate, shifts)
        penalty = float((candidate**2).sum()) / 2
        upper = min(upper, _primal(leads, costs, penalty, candidate.size))
    if free:
        sums = np.abs(beta.sum(axis=0)) + (len(costs) + n_classes) * EPS * np.abs(beta).sum(axis=0)
        lower -= float(sums.sum()) * _largest_difference(rows, own, costs, upper)
    return scaled_back(_known(lower), upper, rows)


def _others(own: NDArray[np.bool_], scores: FloatArray) -> FloatArray:
    """Return the shares of the classes that are not a row's own; they sum to no more than 1."""
    leads = np.where(own, -np.inf, scores - scores[own][:, None])
    largest = np.maximum(leads.max(axis=1, keepdims=True), 0.0)
    parts = np.exp(leads - largest)
    shares = parts / (np.exp(-largest) + parts.sum(axis=1, keepdims=True))
    most = 1 - 8 * own.shape[1] * EPS
    return np.asarray(
        shares * np.minimum(1.0, most / np.maximum(shares.sum(axis=1), most))[:, None]
    )


def _leads(
    rows: SafeRows, own: NDArray[np.bool_], weights: FloatArray, shifts: FloatArray
) -> FloatArray:
    """Return the leads of the other classes, or more; −∞ for a row's own."""
    parts = [rows.scores(column) for column in weights.T]
    scores = np.column_stack([part for part, _ in parts])
    errors = np.column_stack([part for _, part in parts])
    errors = errors + 4 * EPS * (np.abs(scores) + np.abs(shifts)) + len(weights) * TINY
    scores = scores + shifts
    leads = scores - scores[own][:, None] + 2 * (errors + errors[own][:, None])
    return np.where(own, -np.inf, leads)


def _primal(leads: FloatArray, costs: FloatArray, penalty: float, n_weights: int) -> float:
    """Return the objective of weights with these leads, or more."""
    largest = np.maximum(leads.max(axis=1), 0.0)
    # Of the terms exp(0) and exp(D) the largest is taken out.
    terms = np.exp(np.column_stack([np.zeros(len(leads)), leads]) - largest[:, None])
    terms[np.arange(len(leads)), terms.argmax(axis=1)] = 0.0
    losses = (largest + np.log1p(terms.sum(axis=1))) * (1 + _FUNCTIONS + leads.shape[1] * EPS)
    value = float(costs @ (losses + leads.shape[1] * TINY)) + penalty + n_weights * TINY
    upper = value * (1 + (n_weights + len(costs) + 8) * EPS)
    return np.inf if np.isnan(upper) else upper


def _entropy(shares: FloatArray, costs: FloatArray) -> float:
    """Return Σ cᵢ·entropy of the shares of other classes, and of what they leave, or less.

    Shares that are wrong by the factor 1 + δ change the entropy H by at most δ(H + 64t), with t
    their sum: −x·log(x) is concave, so that for differences d it changes by at most −d·log(d) + d.
    """
    totals = shares.sum(axis=1)
    parts = -shares * np.log(np.maximum(shares, TINY))
    left = 1 - totals
    entropy = parts.sum(axis=1) - left * np.log1p(-totals, out=np.zeros(len(left)), where=left > 0)
    wrong = (2 * len(costs) + shares.shape[1] + 16) * EPS
    entropy -= (wrong + _FUNCTIONS) * (2 * entropy + 64 * totals) + 1024 * shares.shape[1] * TINY
    return float(costs @ entropy) - len(costs) * EPS * float(costs @ np.abs(entropy)) - TINY


def _half_square(combined: list[tuple[FloatArray, float]], n_rows: int) -> float:
    """Return ½‖Aᵀβ‖², or more."""
    total = 0.0
    for weights, error in combined:
        error += len(weights) * n_rows * TINY
        total += (float(np.linalg.norm(weights)) + error) ** 2
    return total / 2 * (1 + (len(combined[0][0]) + 4 * n_rows + len(combined) + 16) * EPS) + TINY


def _largest_difference(
    rows: SafeRows, own: NDArray[np.bool_], costs: FloatArray, upper: float
) -> float:
    """Return the most by which two of the best intercepts can differ, given the optimum is less."""
    squares = rows.values.multiply(rows.values) if sparse.issparse(rows.values) else rows.values**2
    lengths = np.sqrt(np.asarray(squares.sum(axis=1)).ravel()) + TINY**0.4
    reach = upper / costs + 2 * lengths * np.sqrt(upper)
    return float(max(reach[members].min() for members in own.T)) * (1 + 1e-6) + TINY


def _known(lower: float) -> float:
    return lower if lower > 0 else 0.0
