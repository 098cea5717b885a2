"""The penalised dual of the 1-norm SVM, and Newton's method on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from scipy.sparse.linalg import LinearOperator, cg

__all__ = ["Multipliers", "ScaledRows", "minimise_penalty"]

FloatArray = NDArray[np.float64]

_MAX_NEWTON_STEPS = 100
_ARMIJO = 1e-4
_SHORTEST_STEP = 1e-8
# Systems up to this size are factorised, larger ones solved by conjugate gradients.
_LARGEST_FACTORISED = 4000
_CG_TOLERANCE = 1e-3
_MAX_CG_STEPS = 500
# A block of columns with more entries than this share is faster as a dense array.
_DENSE_BLOCK = 0.1


@dataclass(frozen=True, eq=False)
class ScaledRows:
    """B = SD(X − 1mᵀ)/N: rows times labels, centred, with rows and columns of similar norms.

    Centring costs nothing, since multipliers of the dual sum to zero over the classes, and makes
    a column of large mean as harmless as any other. Sparse data keep the means apart.
    """

    values: Any
    means: FloatArray
    sides: FloatArray
    row_scales: FloatArray
    column_norms: FloatArray

    @classmethod
    def of(cls, X: Any, signs: FloatArray) -> ScaledRows:
        """Scale a dense array or CSR data of largest magnitude 1."""
        means, norms = _moments(X, np.ones(len(signs)))
        lengths = _row_norms(X, means, norms)
        typical = np.median(lengths[lengths > 0]) if lengths.any() else 1.0
        # Rows equal to the mean have no length to divide by, and need no scale.
        scales = np.where(lengths > 1e-8 * typical, typical / np.maximum(lengths, 1e-300), 1.0)
        means, norms = _moments(X, scales)
        sides = scales * signs
        if sparse.issparse(X):
            values = sparse.csc_array(sparse.diags_array(sides) @ X @ sparse.diags_array(1 / norms))
            return cls(values, means / norms, sides, scales, norms)
        values = np.asfortranarray(sides[:, None] * ((X - means) / norms))
        return cls(values, np.zeros(len(norms)), sides, scales, norms)

    def times(self, weights: FloatArray) -> FloatArray:
        """Return Bw."""
        used = np.flatnonzero(weights)
        block, means = self.values[:, used], self.means[used]
        return block @ weights[used] - self.sides * (means @ weights[used])

    def transposed_times(self, multipliers: FloatArray) -> FloatArray:
        """Return Bᵀu."""
        return self.values.T @ multipliers - self.means * (self.sides @ multipliers)

    def block(self, columns: NDArray[np.intp]) -> tuple[Any, FloatArray]:
        """Return some columns with the intercept, dense and centred where that is faster."""
        block, means = self.values[:, columns], self.means[columns]
        last = self.sides[:, None] / np.linalg.norm(self.sides)
        if sparse.issparse(block) and block.nnz <= _DENSE_BLOCK * np.prod(block.shape):
            return sparse.hstack([block, last], format="csr"), np.r_[means, 0.0]
        if sparse.issparse(block):
            block = block.toarray() - np.outer(self.sides, means)
        return np.hstack([block, last]), np.zeros(len(columns) + 1)


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
            *rows.block(np.flatnonzero(active)), rows.sides, outside + damping, -epsilon * gradient
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


def _direction(
    block: Any, means: FloatArray, sides: FloatArray, diagonal: FloatArray, target: FloatArray
) -> FloatArray:
    """Solve (KKᵀ + diag) x = target with K = block − sides·meansᵀ, on its smaller side."""

    def product(x: FloatArray) -> FloatArray:
        inner = block.T @ x - means * (sides @ x)
        return block @ inner - sides * (means @ inner) + diagonal * x

    n_rows, n_columns = block.shape
    if min(n_rows, n_columns) > _LARGEST_FACTORISED:
        return _conjugate_gradients(product, block, diagonal, target)
    factorised = _by_columns if n_columns < n_rows else _by_rows
    try:
        solve = factorised(block, means, sides, diagonal)
    except linalg.LinAlgError:
        # Rounding can cost a nearly singular system its definiteness.
        return _conjugate_gradients(product, block, diagonal, target)
    x = solve(target)
    # One step of refinement makes up for the condition of the small system.
    return x + solve(target - product(x))


def _by_columns(
    block: Any, means: FloatArray, sides: FloatArray, diagonal: FloatArray
) -> Callable[[FloatArray], FloatArray]:
    """Factorise by Sherman, Morrison and Woodbury."""
    scaled = _divided(block, diagonal)
    gram = block.T @ scaled
    system = gram.toarray() if sparse.issparse(gram) else gram
    half = means * np.sum(sides**2 / diagonal) / 2 - scaled.T @ sides
    _add_symmetric(system, means, half)
    system[np.diag_indices(len(system))] += 1
    factor = linalg.cho_factor(system, lower=True, overwrite_a=True)

    def solve(target: FloatArray) -> FloatArray:
        share = target / diagonal
        inner = linalg.cho_solve(factor, block.T @ share - means * (sides @ share))
        return share - (block @ inner - sides * (means @ inner)) / diagonal

    return solve


def _by_rows(
    block: Any, means: FloatArray, sides: FloatArray, diagonal: FloatArray
) -> Callable[[FloatArray], FloatArray]:
    """Factorise the matrix itself."""
    gram = block @ block.T
    system = gram.toarray() if sparse.issparse(gram) else gram
    _add_symmetric(system, sides, sides * (means @ means) / 2 - block @ means)
    system[np.diag_indices(len(system))] += diagonal
    factor = linalg.cho_factor(system, lower=True, overwrite_a=True)
    return lambda target: linalg.cho_solve(factor, target)


def _divided(block: Any, diagonal: FloatArray) -> Any:
    """Return the rows of a block divided by a diagonal."""
    if not sparse.issparse(block):
        return block / diagonal[:, None]
    data = block.data / np.repeat(diagonal, np.diff(block.indptr))
    return sparse.csr_array((data, block.indices, block.indptr), shape=block.shape)


def _add_symmetric(system: FloatArray, a: FloatArray, b: FloatArray) -> None:
    """Add abᵀ + baᵀ in place."""
    system += np.column_stack([a, b]) @ np.vstack([b, a])


def _conjugate_gradients(
    product: Callable[[FloatArray], FloatArray],
    block: Any,
    diagonal: FloatArray,
    target: FloatArray,
) -> FloatArray:
    squares = block.multiply(block) if sparse.issparse(block) else block * block
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


def _moments(X: Any, scales: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return weighted means of the columns, and their norms once centred and scaled."""
    weights = scales**2
    means = (X.T @ weights) / weights.sum()
    if sparse.issparse(X):
        away = (X.data - means[X.indices]) ** 2 * np.repeat(weights, np.diff(X.indptr))
        filled = sparse.csr_array((np.ones(X.nnz), X.indices, X.indptr), shape=X.shape)
        squares = np.bincount(X.indices, away, X.shape[1])
        squares += means**2 * np.maximum(weights.sum() - filled.T @ weights, 0.0)
    else:
        squares = weights @ (X - means) ** 2
    norms = np.sqrt(squares)
    # A constant column, but for rounding, can be left to the intercept.
    constant = norms <= 1e-13 * np.abs(means) * np.sqrt(weights.sum())
    return means, np.where(constant, np.inf, norms)


def _row_norms(X: Any, means: FloatArray, norms: FloatArray) -> FloatArray:
    """Return the norms of the rows of (X − 1mᵀ)/N."""
    if not sparse.issparse(X):
        return np.linalg.norm((X - means) / norms, axis=1)
    relative = means / norms
    scaled = X @ sparse.diags_array(1 / norms)
    squares = scaled.multiply(scaled).sum(axis=1) - 2 * (scaled @ relative) + relative @ relative
    return np.sqrt(np.maximum(squares, 0.0))
