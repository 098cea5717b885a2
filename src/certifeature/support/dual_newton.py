"""Many squared-hinge SVMs on the same rows at once, by their dual variables."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from certifeature.rows.matrix import scaled_back
from certifeature.support.newton import best_share, solved

__all__ = ["InnerProducts", "squared_hinge_duals"]

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

# Of the weights: the Hessian is at least the identity, so their error is at most the gradient.
_TOLERANCE = 1e-7
_MAX_STEPS = 200
# Share of a residual that is left by the conjugate gradients of a step, at first.
_FIRST_ACCURACY = 1e-2
# Share of a step below which the next one is solved directly.
_SHORT = 0.1
# Products with the Gram matrix that a step may take before its systems are solved directly.
_MAX_PRODUCTS = 50


class InnerProducts:
    """AAᵀ of the rows aᵢ = (2ᵉxᵢ, scale), as a matrix or row by row, whichever is quicker.

    Parameters
    ----------
    rows : {ndarray, CSR array} of shape (n_samples, n_features)
        Rows x.
    exponent : int, default=0
        The exponent e.
    scale : float, default=0.0
        The last feature of all rows; 0 if there is none.
    """

    def __init__(self, rows: Any, exponent: int = 0, scale: float = 0.0) -> None:
        self._rows = rows
        self._columns = rows.T.tocsr() if sparse.issparse(rows) else rows.T
        self._exponent = exponent
        self._square = scale**2
        n_values = rows.nnz if sparse.issparse(rows) else rows.size
        self._by_rows = 2 * n_values < rows.shape[0] ** 2

    @cached_property
    def matrix(self) -> FloatArray:
        """The Gram matrix."""
        gram = self._rows @ self._columns
        gram = gram.toarray() if sparse.issparse(gram) else gram
        return np.asarray(scaled_back(gram, 2 * self._exponent) + self._square)

    def __matmul__(self, values: FloatArray) -> FloatArray:
        if not self._by_rows:
            return self.matrix @ values
        image = np.ldexp(self._columns.T @ (self._columns @ values), 2 * self._exponent)
        return np.asarray(image + self._square * values.sum(axis=0))


@np.errstate(over="ignore", invalid="ignore")
def squared_hinge_duals(gram: InnerProducts, signs: FloatArray, costs: FloatArray) -> FloatArray:
    """Return the β of each problem, with which its weights are w = Aᵀβ, and AAᵀ is the Gram matrix.

    Every problem minimises ½‖w‖² + Σ cᵢ max(0, 1 − sᵢaᵢᵀw)². At its optimum β = 2cs·max(0, 1 − m)
    with the margins m = s·AAᵀβ. If the rows that are short of the margin were known, β would
    solve a linear system on them; Newton's method solves it for those that are short now, and goes
    as far towards the solution as is best. The systems of all problems are solved together, so that
    each product with the Gram matrix serves them all.

    Parameters
    ----------
    gram : InnerProducts
        Of the rows a.
    signs, costs : ndarray of shape (n_samples, n_problems)
        Labels −1 and +1, and the constants c; 0 for a row that is not part of a problem.

    Returns
    -------
    ndarray of shape (n_samples, n_problems)

    Examples
    --------
    >>> import numpy as np
    >>> from certifeature.support.dual_newton import InnerProducts, squared_hinge_duals
    >>> rows = np.array([[-1.0], [1.0]])
    >>> beta = squared_hinge_duals(InnerProducts(rows), np.array([[-1.0], [1.0]]), np.ones((2, 1)))
    >>> (rows.T @ beta).round(6)
    array([[0.8]])
    """
    duals, values = np.zeros_like(signs), np.zeros_like(signs)
    unsolved = np.arange(signs.shape[1])
    accuracy = np.full(signs.shape[1], _FIRST_ACCURACY)
    for _ in range(_MAX_STEPS):
        state = signs[:, unsolved], costs[:, unsolved], duals[:, unsolved], values[:, unsolved]
        errors = _relative_errors(gram, *state)
        unsolved, errors = unsolved[errors > _TOLERANCE], errors[errors > _TOLERANCE]
        if not unsolved.size:
            break
        state = signs[:, unsolved], costs[:, unsolved], duals[:, unsolved], values[:, unsolved]
        goals = np.minimum(accuracy[unsolved], np.sqrt(errors))
        steps, changes = _steps(gram, *state, goals)
        shares = _shares(*state, steps, changes)
        duals[:, unsolved] += shares * steps
        values[:, unsolved] += shares * changes
        # A rough step may lead nowhere. Where one that was solved directly does not either, a
        # problem is as far as rounding lets it come.
        stuck = unsolved[(shares == 0) & (goals == 0)]
        accuracy[unsolved[shares < _SHORT]] = 0.0
        unsolved = np.setdiff1d(unsolved, stuck)
    return duals


def _slack(signs: FloatArray, costs: FloatArray, values: FloatArray) -> FloatArray:
    return np.where(costs > 0, np.maximum(0.0, 1 - signs * values), 0.0)


def _relative_errors(
    gram: InnerProducts, signs: FloatArray, costs: FloatArray, duals: FloatArray, values: FloatArray
) -> FloatArray:
    """Return the norms of the gradients of the problems, relative to those of their weights."""
    rest = duals - 2 * costs * signs * _slack(signs, costs, values)
    sizes, lengths = _dots(rest, gram @ rest), _dots(duals, values)
    nothing = lengths <= 0
    ratios = np.maximum(sizes, 0.0) / np.where(nothing, 1.0, lengths)
    return np.where(nothing & (sizes > 0), np.inf, np.sqrt(ratios))


def _steps(
    gram: InnerProducts,
    signs: FloatArray,
    costs: FloatArray,
    duals: FloatArray,
    values: FloatArray,
    accuracies: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return steps to where the rows that are short now would have their optimum.

    There (K + 1/(2c))β = s on these rows, and β = 0 on the others. Beside the steps stand their
    products with the Gram matrix K.
    """
    short = _slack(signs, costs, values) > 0
    ridges = np.where(short, 1 / (2 * np.where(short, costs, 1.0)), 0.0)
    found = np.where(short, duals, 0.0)
    images = gram @ found
    residuals = np.where(short, signs - images - ridges * found, 0.0)
    directions, squares = residuals.copy(), _dots(residuals, residuals)
    goals = accuracies**2 * squares
    for _ in range(_MAX_PRODUCTS):
        if ((squares <= goals) | (goals == 0)).all():
            break
        products = gram @ directions
        bent = np.where(short, products + ridges * directions, 0.0)
        rates = _ratios(squares, _dots(directions, bent))
        found += rates * directions
        images += rates * products
        residuals -= rates * bent
        before, squares = squares, _dots(residuals, residuals)
        directions = residuals + _ratios(squares, before) * directions
    for problem in np.flatnonzero((squares > goals) | (goals == 0)):
        rows = np.flatnonzero(short[:, problem])
        system = gram.matrix[np.ix_(rows, rows)] + np.diag(ridges[rows, problem])
        found[rows, problem] = solved(system, signs[rows, problem])
        images[:, problem] = gram.matrix @ found[:, problem]
    return found - duals, images - values


def _shares(
    signs: FloatArray,
    costs: FloatArray,
    duals: FloatArray,
    values: FloatArray,
    steps: FloatArray,
    changes: FloatArray,
) -> FloatArray:
    """Return how much of each step to take."""
    starts, squares = _dots(duals, changes), _dots(steps, changes)
    return np.array(
        [
            best_share(
                starts[problem],
                squares[problem],
                signs[:, problem] * values[:, problem],
                signs[:, problem] * changes[:, problem],
                2 * costs[:, problem],
            )
            for problem in range(signs.shape[1])
        ]
    )


def _dots(left: FloatArray, right: FloatArray) -> FloatArray:
    products: FloatArray = np.einsum("ij,ij->j", left, right)
    return products


def _ratios(numbers: FloatArray, others: FloatArray) -> FloatArray:
    """Return quotients, 0 where there is nothing left to divide by."""
    return np.divide(numbers, others, out=np.zeros_like(numbers), where=others > 0)
