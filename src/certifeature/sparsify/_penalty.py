"""The penalised dual of the 1-norm SVM, and Newton's method on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from scipy.sparse.linalg import LinearOperator, cg

from certifeature.sparsify._rows import Block, ScaledRows

__all__ = ["Multipliers", "minimise_penalty"]

FloatArray = NDArray[np.float64]

_MAX_NEWTON_STEPS = 100
_ARMIJO = 1e-4
_SHORTEST_STEP = 1e-8
# Systems up to this size are factorised, larger ones solved by conjugate gradients.
_LARGEST_FACTORISED = 4000
_CG_TOLERANCE = 1e-3
_MAX_CG_STEPS = 500


@dataclass(frozen=True, eq=False)
class Multipliers:
    """Weights, intercept and signed slack: multipliers of the constraints of the dual."""

    weights: FloatArray
    intercept: float
    slack: FloatArray

    def distance(self, other: Multipliers) -> float:
        """Return the Euclidean distance of two sets of multipliers."""
        parts = (
            self.weights - other.weights,
            self.slack - other.slack,
            [self.intercept - other.intercept],
        )
        return float(np.sqrt(sum(np.dot(part, part) for part in parts)))


@dataclass(frozen=True, eq=False)
class _State:
    """A point u with what is known there: the value, the shifted violations, the gradient."""

    u: FloatArray
    products: FloatArray
    value: float
    columns: FloatArray
    intercept: float
    box: FloatArray


def minimise_penalty(
    rows: ScaledRows,
    thresholds: FloatArray,
    tops: FloatArray,
    centre: FloatArray,
    shift: Multipliers,
    epsilon: float,
    damping: float,
    tolerance: float,
) -> tuple[FloatArray, Multipliers, int]:
    r"""Minimise the shifted penalty of the dual by Newton's method with Armijo steps.

    Parameters
    ----------
    rows : ScaledRows
        The matrix B.
    thresholds, tops : ndarray
        The constraints \|Bᵀu\| ≤ thresholds and 0 ≤ u ≤ tops.
    centre : ndarray of shape (n_samples,)
        Where to start, and what the proximal term keeps close to.
    shift : Multipliers
        Multipliers that shift the constraints; zeros give the exterior penalty itself.
    epsilon, damping : float
        Penalty parameter, and weight of the proximal term beside the penalty.
    tolerance : float
        Largest entry of the gradient, relative to the scale of its row, to stop at.

    Returns
    -------
    u, multipliers, n_steps
        The minimiser, the multipliers that its violations give, the number of Newton steps.
    """
    side = rows.sides / np.linalg.norm(rows.sides)

    def at(u: FloatArray, products: FloatArray) -> _State:
        columns = products + epsilon * shift.weights
        columns = columns - np.clip(columns, -thresholds, thresholds)
        box = u + epsilon * shift.slack
        box = box - np.clip(box, 0.0, tops)
        intercept = float(side @ u) + epsilon * shift.intercept
        moved = u - centre
        penalty = columns @ columns + box @ box + intercept**2 + damping * (moved @ moved)
        value = float(penalty / (2 * epsilon) - rows.row_scales @ u)
        return _State(u, products, value, columns, intercept, box)

    state = at(centre, rows.transposed_times(centre))
    for step in range(_MAX_NEWTON_STEPS):
        pull = rows.times(state.columns) + state.box + side * state.intercept
        gradient = (pull + damping * (state.u - centre)) / epsilon - rows.row_scales
        if np.abs(gradient / rows.row_scales).max() <= tolerance:
            break
        active, outside = state.columns != 0, state.box != 0
        direction = _direction(
            rows.block(np.flatnonzero(active)), outside + damping, -epsilon * gradient
        )
        change, slope = rows.transposed_times(direction), float(gradient @ direction)
        length, before = 1.0, state
        while True:
            state = at(before.u + length * direction, before.products + length * change)
            # Close to the minimum the decrease drowns in the rounding of the value.
            rounding = 1e-14 * abs(before.value)
            if state.value <= before.value + _ARMIJO * length * slope + rounding:
                break
            if length < _SHORTEST_STEP:
                break
            length /= 2
        same = ((state.columns != 0) == active).all() and ((state.box != 0) == outside).all()
        if length == 1 and same:
            # Newton's method is exact on one quadratic piece.
            step += 1
            break
    multipliers = Multipliers(
        state.columns / epsilon, state.intercept / epsilon, state.box / epsilon
    )
    return state.u, multipliers, step


def _direction(block: Block, diagonal: FloatArray, target: FloatArray) -> FloatArray:
    """Solve (KKᵀ + diag) x = target on the smaller side of K."""

    def product(x: FloatArray) -> FloatArray:
        return block.times(block.transposed_times(x)) + diagonal * x

    n_rows, n_columns = block.values.shape
    if min(n_rows, n_columns) > _LARGEST_FACTORISED:
        return _conjugate_gradients(product, block, diagonal, target)
    factorised = _by_columns if n_columns < n_rows else _by_rows
    try:
        solve = factorised(block, diagonal)
    except linalg.LinAlgError:
        # Rounding can cost a nearly singular system its definiteness.
        return _conjugate_gradients(product, block, diagonal, target)
    x = solve(target)
    # One step of refinement makes up for the condition of the small system.
    return x + solve(target - product(x))


def _by_columns(block: Block, diagonal: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """Factorise by Sherman, Morrison and Woodbury."""
    system = block.column_gram(diagonal)
    system[np.diag_indices_from(system)] += 1
    factor = linalg.cho_factor(system, lower=True, overwrite_a=True)

    def solve(target: FloatArray) -> FloatArray:
        inner = linalg.cho_solve(factor, block.transposed_times(target / diagonal))
        return (target - block.times(inner)) / diagonal

    return solve


def _by_rows(block: Block, diagonal: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """Factorise the matrix itself."""
    system = block.row_gram()
    system[np.diag_indices_from(system)] += diagonal
    factor = linalg.cho_factor(system, lower=True, overwrite_a=True)
    return lambda target: np.asarray(linalg.cho_solve(factor, target))


def _conjugate_gradients(
    product: Callable[[FloatArray], FloatArray],
    block: Block,
    diagonal: FloatArray,
    target: FloatArray,
) -> FloatArray:
    values = block.values
    squares = values.multiply(values) if sparse.issparse(values) else values * values
    rough = np.asarray(squares.sum(axis=1)).ravel() + diagonal
    shape = (len(target), len(target))
    solution, _ = cg(
        LinearOperator(shape, matvec=product),
        target,
        rtol=_CG_TOLERANCE,
        maxiter=_MAX_CG_STEPS,
        M=LinearOperator(shape, matvec=lambda x: x / rough),
    )
    return np.asarray(solution)
