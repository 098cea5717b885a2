"""The 1-norm SVM, whose weights are sparse, as a linear program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import linprog
from sklearn.exceptions import ConvergenceWarning

from certifeature._utils import FloatArray, as_positive, one_each, warn
from certifeature.models.enclosure import balanced, best_shift
from certifeature.rows.matrix import dense, finite_rows, near_origin, normalised, scaled_columns

_GAP = 1e-6
# Slack more expensive than weights by more than this is beyond double precision.
_LARGEST_REACH = 1e12
# Weights on columns of similar size that are below this share of the largest, or of a margin, are
# rounding.
_ROUNDING = 1e-11
_OPTIONS = {
    "presolve": False,  # Takes longer than it saves.
    "primal_feasibility_tolerance": 1e-9,
    "dual_feasibility_tolerance": 1e-9,
}


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
        Number of iterations of the solver.
    """

    coef: FloatArray
    intercept: float
    objective: float
    dual_objective: float
    n_iterations: int

    @property
    def gap(self) -> float:
        """Upper bound on the share of the objective that a better solution could save."""
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
        Weights, intercept, and a lower and an upper bound of the optimum, which agree to 1e-6
        unless a ``ConvergenceWarning`` says by how much they do not.

    Notes
    -----
    HiGHS [1]_ solves this linear program, through `scipy.optimize.linprog`: as it stands where
    there are at least as many features as rows, and otherwise as its dual

    .. math:: \max_u \sum_i u_i, \quad |X^T D u| \le 1, \quad y^T u = 0, \quad 0 \le u \le C,

    with :math:`D = \mathrm{diag}(y)`. It ends at a vertex, where no more features have weight than
    there are rows. The two bounds are computed from what HiGHS returns, and do not depend on its
    tolerances. The 1-norm SVM was proposed for feature selection in [2]_.

    References
    ----------
    .. [1] Q. Huangfu and J. Hall, *Parallelizing the Dual Revised Simplex Method*, Mathematical
           Programming Computation, 2018.
    .. [2] G. Fung and O. Mangasarian, *A Feature Selection Newton Method for Support Vector
           Machine Classification*, Computational Optimization and Applications, 2004.

    Examples
    --------
    The first feature has the larger range, so that a smaller weight suffices:

    >>> import numpy as np
    >>> from certifeature.sparsify import lpsvm
    >>> X = np.array([[-2.0, -1.0], [-3.0, 1.0], [2.0, 1.0], [4.0, 1.0]])
    >>> solution = lpsvm(X, [-1, -1, 1, 1])
    >>> solution.coef.round(6)
    array([0.5, 0. ])
    >>> solution.gap < 1e-6
    True
    """
    X, signs = _checked(X, signs, C)
    n_positive = int(np.sum(signs > 0))
    fewer = min(n_positive, len(signs) - n_positive)
    # All rows of the smaller class at their limit, and the other class in balance with them.
    start = balanced(signs)
    # The intercept makes up for the shift, and a power of two for the scale.
    centred, exponent = near_origin(X), 0
    if centred.count_nonzero() if sparse.issparse(X) else centred.any():
        centred, exponent = normalised(centred)
    price = float(np.abs(centred.T @ start).max(initial=0.0))
    with np.errstate(over="ignore"):
        reach = float(np.ldexp(C * price, exponent))
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
    scales = _column_scales(centred)
    # Columns with prices above the limit get no weight, whatever the multipliers of the rows.
    prices = np.minimum(price * scales, 2 * reach * len(signs))
    scaled = scaled_columns(centred, scales)
    weights, multipliers, n_iterations, message = _solve(scaled, signs, prices, reach)
    coef = np.ldexp(weights * scales, -exponent)
    scores = X @ coef
    intercept = best_shift(scores, signs, np.ones(len(signs)))
    slack = np.maximum(0, 1 - signs * (scores + intercept)).sum()
    # The nearest multipliers that are feasible, for a lower bound.
    feasible = np.abs(balanced(signs * np.clip(multipliers, 0.0, reach)))
    excess = float((np.abs(scaled.T @ (signs * feasible)) / prices).max())
    lower = float(np.ldexp(feasible.sum() / max(1.0, excess) / price, -exponent))
    objective = float(np.abs(coef).sum() + C * slack)
    solution = LPSVMSolution(coef, intercept, objective, lower, n_iterations)
    if solution.gap > _GAP:
        warn(
            f"the 1-norm SVM has not converged: its objective may lie {solution.gap:.1e} of itself "
            f"above the optimum. HiGHS says: {message} Scale X, for instance with "
            "sklearn.preprocessing.StandardScaler or MaxAbsScaler, or lower C.",
            ConvergenceWarning,
        )
    return solution


def _checked(X: Any, signs: Any, C: Any) -> tuple[Any, FloatArray]:
    as_positive("C, the price of slack,", C)
    X = finite_rows(X)
    signs = one_each("signs", signs, X.shape[0], "rows of X")
    if not np.isin(signs, (-1.0, 1.0)).all():
        raise ValueError("signs must be -1 and +1; encode two classes as these.")
    if len(np.unique(signs)) < 2:
        raise ValueError("signs has one class only; pass rows of both classes.")
    return X, signs


def _column_scales(X: Any) -> FloatArray:
    """Return powers of two that bring the largest magnitude of each column close to 1."""
    largest = dense(abs(X).max(axis=0)).ravel()
    return np.ldexp(1.0, np.minimum(-np.frexp(largest)[1], 900))


def _solve(
    X: Any, signs: FloatArray, prices: FloatArray, reach: float
) -> tuple[FloatArray, FloatArray, int, str]:
    """Minimise prices·|w| + reach·Σ max(0, 1 − yᵢ(xᵢ·w + b)), with columns of similar size.

    Returns w, the multipliers of the rows, the number of iterations and a message. What the solver
    does not find is zero.
    """
    n_rows, n_features = X.shape
    rows = sparse.diags_array(signs) @ sparse.csc_array(X)
    # w is the difference of two non-negative parts.
    parts, prices = sparse.hstack([rows, -rows], format="csc"), np.tile(prices, 2)
    primal = n_features >= n_rows
    if primal:
        matrix = [parts, signs[:, None], sparse.eye_array(n_rows)]
        bounds = np.tile([0.0, np.inf], (2 * n_features + 1 + n_rows, 1))
        bounds[2 * n_features, 0] = -np.inf
        problem = {
            "c": np.concatenate([prices, [0.0], np.full(n_rows, reach)]),
            "A_ub": -sparse.hstack(matrix, format="csc"),
            "b_ub": -np.ones(n_rows),
            "bounds": bounds,
        }
    else:
        problem = {
            "c": -np.ones(n_rows),
            "A_ub": parts.T.tocsc(),
            "b_ub": prices,
            "A_eq": signs[None],
            "b_eq": [0.0],
            "bounds": (0.0, reach),
        }
    result = linprog(**problem, options=_OPTIONS)
    if result.x is None:
        return np.zeros(n_features), np.zeros(n_rows), int(result.nit), result.message
    found, duals = result.x, -result.ineqlin.marginals
    both, multipliers = (found[: 2 * n_features], duals) if primal else (duals, found)
    weights = both[:n_features] - both[n_features:]
    weights[np.abs(weights) <= _ROUNDING * np.abs(weights).max(initial=1.0)] = 0.0
    return weights, multipliers, int(result.nit), result.message
