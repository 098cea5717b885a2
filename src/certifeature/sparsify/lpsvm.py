"""The 1-norm SVM, whose weights are sparse, by Newton's method on its dual."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from certifeature._resources import one_thread
from certifeature._validation import as_positive, warn
from certifeature.rows.matrix import normalised
from certifeature.sparsify._interior import interior_point
from certifeature.sparsify._penalty import Multipliers, minimise_penalty
from certifeature.sparsify._rows import ScaledRows
from certifeature.sparsify._vertex import to_vertex

__all__ = ["LPSVMSolution", "lpsvm"]

FloatArray = NDArray[np.float64]

_GAP = 1e-8
_MAX_ROUNDS = 60
# Slack more expensive than weights by more than this is beyond double precision.
_LARGEST_REACH = 1e12
# The proximal term fades from round to round; below its end systems are too close to singular.
_FIRST_DAMPING, _FADING, _LAST_DAMPING = 1e-2, 0.3, 1e-12
# A start this close to the solution needs little of it.
_DAMPING_OF_ERROR = 1e-3
_EPSILON_STEP = 5.0
# With more features than this, steps on those that matter tend to cost less than steps on all.
_MAX_INTERIOR = 2000


@dataclass(frozen=True, eq=False)
class LPSVMSolution:
    """A feasible point of the 1-norm SVM, and how far from the optimum it can be.

    Attributes
    ----------
    coef : ndarray of shape (n_features,)
        Weights w, most of them exactly zero.
    intercept : float
        Intercept b.
    objective : float
        Value attained by w and b, an upper bound of the optimum.
    dual_objective : float
        Value of a feasible point of the dual, a lower bound of the optimum.
    n_iterations : int
        Number of Newton steps.
    """

    coef: FloatArray
    intercept: float
    objective: float
    dual_objective: float
    n_iterations: int

    @property
    def gap(self) -> float:
        """Share of the objective that a better solution could save at most."""
        if self.objective == 0:
            return 0.0
        return max(0.0, 1 - self.dual_objective / self.objective)


def lpsvm(X: Any, signs: Any, C: float = 1.0) -> LPSVMSolution:
    r"""Minimise ‖w‖₁ + C Σ max(0, 1 − yᵢ(xᵢ·w + b)).

    Parameters
    ----------
    X : {ndarray, sparse array or matrix} of shape (n_samples, n_features)
        Rows xᵢ.
    signs : array-like of shape (n_samples,)
        Labels yᵢ, −1 and +1.
    C : float, default=1.0
        Price of slack; the larger, the more weights are not zero.

    Returns
    -------
    LPSVMSolution
        Weights, intercept, and a lower and an upper bound of the optimum, which agree to 1e-8
        unless a ``ConvergenceWarning`` says by how much they do not.

    Notes
    -----
    The dual is the linear program

    .. math:: \max_u \sum_i u_i, \quad |X^T D u| \le 1, \quad y^T u = 0, \quad 0 \le u \le C,

    with :math:`D = \mathrm{diag}(y)`. Fung and Mangasarian [1]_ minimise its exterior penalty

    .. math:: -\varepsilon \sum_i u_i + \tfrac12 \left( \|(|X^T D u| - 1)_+\|^2 + (y^T u)^2
              + \|(-u)_+\|^2 + \|(u - C)_+\|^2 \right)

    by Newton's method: it is quadratic in pieces, a piece is given by the constraints that are
    violated, and only those columns enter its Hessian. Where the gradient vanishes, the violations
    divided by ε are w, b and the slack of a feasible point of the primal. For ε small enough that
    point is optimal, but how small is not known, and too small an ε leaves nothing but rounding.

    So the violations of one round shift the constraints of the next (the method of multipliers),
    and ε is balanced between the two sides rather than driven to zero. A proximal term, which
    fades, keeps the Hessian regular. From zero, the first round is the method of the paper, and its
    steps are cheap where few of many columns matter. With no more features than rows (up to 2,000)
    it is the rows that matter, and each changes the piece: there an interior-point method [2]_,
    whose steps are a few dozen for any number of rows, leads close to the solution first. Where
    the optimum is attained by many weights, a last step walks to a vertex, which uses no more
    features than there are rows.

    References
    ----------
    .. [1] G. Fung and O. Mangasarian, *A Feature Selection Newton Method for Support Vector
           Machine Classification*, Computational Optimization and Applications, 2004.
    .. [2] S. Mehrotra, *On the Implementation of a Primal-Dual Interior Point Method*, SIAM
           Journal on Optimization, 1992.

    Examples
    --------
    The first feature has the larger range, so that a smaller weight does:

    >>> import numpy as np
    >>> from certifeature.sparsify import lpsvm
    >>> X = np.array([[-2.0, -1.0], [-3.0, 1.0], [2.0, 1.0], [4.0, 1.0]])
    >>> solution = lpsvm(X, [-1, -1, 1, 1])
    >>> solution.coef.round(6)
    array([0.5, 0. ])
    >>> solution.gap < 1e-8
    True
    """
    X, signs = _checked(X, signs, C)
    n_positive = int(np.sum(signs > 0))
    fewer = min(n_positive, len(signs) - n_positive)
    # All rows of the smaller class at their limit, and the other class in balance with them.
    balanced = fewer / np.where(signs > 0, n_positive, len(signs) - n_positive)
    exponent = 0
    if X.count_nonzero() if sparse.issparse(X) else X.any():
        X, exponent = normalised(X)
    largest = float(np.abs(X.T @ (signs * balanced)).max(initial=0.0))
    with np.errstate(over="ignore"):
        reach = float(np.ldexp(C * largest, exponent))
    if reach <= 1:
        # The balanced multipliers are feasible, and no better than no weights at all.
        intercept = float(np.sign(2 * n_positive - len(signs)))
        return LPSVMSolution(np.zeros(X.shape[1]), intercept, 2 * C * fewer, 2 * C * fewer, 0)
    if reach > _LARGEST_REACH:
        raise ValueError(
            f"slack at C={C:g} costs up to {reach:.0e} times what the weights do, so that double "
            f"precision cannot see them; at most {_LARGEST_REACH:.0e} is possible. Scale X first, "
            "for instance with sklearn.preprocessing.MaxAbsScaler, or lower C."
        )
    with one_thread():
        coef, lower, n_steps = _solve(X, signs, largest, reach)
    scores = X @ coef
    intercept = _best_intercept(scores, signs)
    slack = np.maximum(0.0, 1 - signs * (scores + intercept))
    coef = np.ldexp(coef, -exponent)
    solution = LPSVMSolution(
        coef,
        intercept,
        float(np.abs(coef).sum() + C * slack.sum()),
        float(np.ldexp(lower / largest, -exponent)),
        n_steps,
    )
    _warn_of_gap(solution)
    return solution


def _checked(X: Any, signs: Any, C: Any) -> tuple[Any, FloatArray]:
    as_positive("C, the price of slack,", C)
    X = sparse.csr_array(X) if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
    signs = np.asarray(signs, dtype=np.float64)
    if X.ndim != 2 or signs.shape != X.shape[:1]:
        raise ValueError(
            f"X must have two dimensions and signs a value for each row; got shapes {X.shape} "
            f"and {signs.shape}."
        )
    if not np.isin(signs, (-1.0, 1.0)).all():
        raise ValueError("signs must be -1 and +1; encode two classes as these.")
    if len(np.unique(signs)) < 2:
        raise ValueError("signs has one class only; pass rows of both classes.")
    return X, signs


def _warn_of_gap(solution: LPSVMSolution) -> None:
    if solution.gap > 2 * _GAP:
        warn(
            f"the 1-norm SVM has not converged in {_MAX_ROUNDS} rounds: its objective may lie "
            f"{solution.gap:.1e} of itself above the optimum. Scale X, for instance with "
            "sklearn.preprocessing.StandardScaler or MaxAbsScaler, or lower C.",
            ConvergenceWarning,
        )


def _solve(
    X: Any, signs: FloatArray, largest: float, reach: float
) -> tuple[FloatArray, float, int]:
    """Return weights, a lower bound times ``largest``, and the number of Newton steps."""
    rows = ScaledRows.of(X, signs)
    thresholds = np.where(np.isinf(rows.column_norms), np.inf, largest / rows.column_norms)
    tops = reach / rows.row_scales
    u, n_steps, damping = np.zeros(len(signs)), 0, _FIRST_DAMPING
    multipliers = Multipliers(np.zeros(X.shape[1]), 0.0, u)
    if X.shape[1] <= min(X.shape[0], _MAX_INTERIOR):
        u, multipliers, error, n_steps = interior_point(rows, thresholds, tops)
        damping = min(damping, error * _DAMPING_OF_ERROR)
    epsilon, tolerance, upper, lower = 1.0, damping, np.inf, 0.0
    for _ in range(_MAX_ROUNDS):
        centre, shift = u, multipliers
        u, multipliers, steps = minimise_penalty(
            rows, thresholds, tops, centre, shift, epsilon, damping, max(tolerance, 1e-9)
        )
        n_steps += steps
        value, weights = _primal(rows, signs, thresholds, reach, multipliers.weights)
        # Of values as good as equal the last counts, whose weights have settled.
        if value <= upper * (1 + _GAP / 4):
            upper, best = value, weights
        lower = max(lower, _dual(rows, signs, thresholds, tops, u))
        if upper - lower <= _GAP * upper:
            break
        violation = epsilon * multipliers.distance(shift) / (1 + np.linalg.norm(u))
        residual = damping * np.linalg.norm(u - centre) / np.linalg.norm(rows.row_scales) / epsilon
        if violation > 2 * residual:
            epsilon /= _EPSILON_STEP
        elif residual > 2 * violation:
            epsilon *= _EPSILON_STEP
        damping = max(damping * _FADING, _LAST_DAMPING)
        tolerance /= 10
    weights = _at_vertex(rows, signs, thresholds, reach, best)
    value, weights = _primal(rows, signs, thresholds, reach, weights)
    # Rounding on the way may have cost more than the gap allows.
    if value > max(upper, lower / (1 - _GAP)):
        weights = best
    return weights / rows.column_norms, lower, n_steps


def _at_vertex(
    rows: ScaledRows, signs: FloatArray, thresholds: FloatArray, reach: float, weights: FloatArray
) -> FloatArray:
    """Return weights as good as these, on independent columns."""
    used = np.flatnonzero(weights)
    block = rows.block(used)
    intercept = _best_intercept(rows.times(weights) / rows.sides, signs)
    intercept -= float(block.means[:-1] @ weights[used])
    point = np.append(weights[used], intercept * np.linalg.norm(rows.sides))
    vertex = np.zeros(len(weights))
    vertex[used] = to_vertex(block.values, thresholds[used], reach, rows.row_scales, point)[:-1]
    return vertex


def _primal(
    rows: ScaledRows, signs: FloatArray, thresholds: FloatArray, reach: float, weights: FloatArray
) -> tuple[float, FloatArray]:
    """Return the value of weights, and the weights, with margins short by rounding mended."""
    used = np.flatnonzero(weights)
    scores = rows.times(weights) / rows.sides
    margins = signs * (scores + _best_intercept(scores, signs))
    # What is missing to a margin of 1 is expensive where C is large.
    near = margins[np.abs(margins - 1) < 1e-4]
    costs = thresholds[used] @ np.abs(weights[used])

    def value(stretch: float) -> float:
        return float(costs * stretch + reach * np.maximum(0.0, 1 - stretch * margins).sum())

    stretch = min((1.0, float(1 / near.min(initial=1.0))), key=value)
    return value(stretch), stretch * weights


def _best_intercept(scores: FloatArray, signs: FloatArray) -> float:
    """Return the b that minimises Σ max(0, 1 − y(score + b)): its slope rises by 1 at y − score."""
    n_positive = int(np.sum(signs > 0))
    kinks = np.partition(signs - scores, (n_positive - 1, n_positive))
    return float(kinks[n_positive - 1] / 2 + kinks[n_positive] / 2)


def _dual(
    rows: ScaledRows, signs: FloatArray, thresholds: FloatArray, tops: FloatArray, u: FloatArray
) -> float:
    """Return the value of a feasible point of the dual close to u."""
    feasible = np.clip(u, 0.0, tops) * rows.row_scales
    positive, negative = feasible[signs > 0].sum(), feasible[signs < 0].sum()
    least = min(positive, negative)
    if least == 0:
        return 0.0
    feasible *= np.where(signs > 0, least / positive, least / negative)
    products = np.abs(rows.transposed_times(feasible / rows.row_scales))
    return float(feasible.sum() / max(1.0, (products / thresholds).max()))
