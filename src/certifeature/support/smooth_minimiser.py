"""Newton's method for linear models with a smooth loss, to the last digits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, cg

from certifeature.support.newton import solved
from certifeature.support.smooth_losses import Local, SmoothLoss

__all__ = ["minimiser"]

FloatArray = NDArray[np.float64]

# Of the weights: their error is at most the gradient, for the penalty alone bends that much.
_TOLERANCE = 1e-10
_EPS = float(np.finfo(np.float64).eps)
# With the data, in all steps together.
_MAX_PRODUCTS = 10_000
_MAX_STEPS = 500
# Up to so many unknowns the linear systems are solved directly.
_MAX_DIRECT = 1000
# Values of sparse rows that may be written out, to be turned to as many columns as rows, where
# products with them do not lead to the optimum.
_MAX_WRITTEN_OUT = 2**21
_MAX_HALVINGS = 60


@np.errstate(over="ignore", under="ignore", invalid="ignore")
def minimiser(
    X: Any, loss: SmoothLoss, intercept: float | None, start: FloatArray
) -> tuple[FloatArray, bool]:
    """Return the W that minimises ½‖W‖² + loss(AW), with A the rows (xᵢ, intercept).

    Parameters
    ----------
    X : {ndarray, CSR array} of shape (n_samples, n_features)
        Rows x.
    loss : SmoothLoss
        Of the scores, a column for each of W.
    intercept : float or None
        The last feature of all rows, 0 if there is none; None for a 1 whose weights, the last of W,
        are not penalised.
    start : ndarray of shape (n_features + 1, n_columns)
        Where to start.

    Returns
    -------
    weights, reached
        The minimiser, and whether it is known to be one, to rounding.
    """
    n_rows, n_features = X.shape
    is_wide = n_rows < n_features
    if sparse.issparse(X):
        weights, reached = _newton(_Rows(X, intercept), loss, start)
        if reached or not is_wide or n_rows * n_features > _MAX_WRITTEN_OUT:
            return weights, reached
        X, start = X.toarray(), weights
    if is_wide:
        # The optimum is a combination of the rows, so that their own coordinates will do.
        turn, triangle = np.linalg.qr(X.T)
        inside = np.vstack([turn.T @ start[:-1], start[-1:]])
        best, reached = _newton(_Rows(triangle.T.copy(), intercept), loss, inside)
        return np.vstack([turn @ best[:-1], best[-1:]]), reached
    return _newton(_Rows(X, intercept), loss, start)


def _newton(rows: _Rows, loss: SmoothLoss, weights: FloatArray) -> tuple[FloatArray, bool]:
    smallest, best, products = np.inf, weights, _MAX_PRODUCTS
    reached = False
    for _ in range(_MAX_STEPS):
        # Not what it was plus its change: rounding of a bad start would stay for ever.
        scores = rows.times(weights)
        local = loss.at(scores)
        gradient = rows.penalty * weights + rows.transposed_times(local.slopes)
        size = float(np.linalg.norm(gradient))
        length = float(np.linalg.norm(rows.penalty * weights))
        if not np.isfinite(size) or (reached and size > smallest / 2):
            break
        smallest, best = size, weights
        reached = size <= max(_TOLERANCE * length, _rounding(rows, local, length))
        # A direct solution brings more digits for little.
        if products <= 0 or size <= _EPS * length or (reached and weights.size > _MAX_DIRECT):
            break
        accuracy = min(1e-2, size / length) if length else 1e-2
        residual_size = max(accuracy * size, _TOLERANCE * length / 10)
        step, used = _step(rows, local, gradient, residual_size, products)
        change = rows.times(step)
        share = _share(rows.penalty * weights, rows.penalty * step, step, loss, scores, change)
        if share == 0:
            break
        products -= used
        weights = weights + share * step
    return best, reached


def _rounding(rows: _Rows, local: Local, length: float) -> float:
    """Return how large a gradient can be that is all rounding."""
    of_scores = rows.size * length / rows.n_rows**0.5 * float(np.linalg.norm(local.curvature))
    return 4 * _EPS * rows.size * (float(np.linalg.norm(local.slopes)) + of_scores)


def _share(
    weights: FloatArray,
    penalised: FloatArray,
    step: FloatArray,
    loss: SmoothLoss,
    scores: FloatArray,
    change: FloatArray,
) -> float:
    """Return how much of a step to take: all of it, unless the objective rises again before."""
    linear, square = float((weights * step).sum()), float((penalised * step).sum())

    def slope(share: float) -> float:
        local = loss.at(scores + share * change)
        return linear + share * square + float((local.slopes * change).sum())

    first = slope(0.0)
    if not first < 0:
        return 0.0
    low, high = 0.0, 1.0
    if slope(high) <= -first / 2:
        return 1.0
    for _ in range(_MAX_HALVINGS):
        middle = (low + high) / 2
        found = slope(middle)
        if abs(found) <= -first / 2:
            return middle
        low, high = (middle, high) if found < 0 else (low, middle)
    return low


def _step(
    rows: _Rows, local: Local, gradient: FloatArray, residual_size: float, max_products: int
) -> tuple[FloatArray, int]:
    """Return a Newton step, and how many products with the rows it took."""
    shape = gradient.shape
    if gradient.size <= _MAX_DIRECT:
        return solved(rows.hessian(local), -gradient.T.ravel()).reshape(shape[::-1]).T, 1
    n_products = 0

    def product(direction: FloatArray) -> FloatArray:
        nonlocal n_products
        n_products += 1
        turned = direction.reshape(shape)
        bent = rows.transposed_times(local.bent(rows.times(turned)))
        return np.asarray((rows.penalty * turned + bent).ravel())

    diagonal = (rows.penalty + rows.squares_transposed_times(local.curvature)).ravel()
    diagonal = np.where(diagonal > 0, diagonal, 1.0)
    operators = [
        LinearOperator((gradient.size, gradient.size), matvec=function, dtype=np.float64)
        for function in (product, lambda direction: direction.ravel() / diagonal)
    ]
    hessian, nearly_inverse = operators
    step, _ = cg(
        hessian,
        -gradient.ravel(),
        rtol=0.0,
        atol=residual_size,
        maxiter=max_products,
        M=nearly_inverse,
    )
    return step.reshape(shape), n_products


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows (xᵢ, intercept), and which of their weights are penalised."""

    X: Any
    intercept: float | None

    @property
    def constant(self) -> float:
        return 1.0 if self.intercept is None else self.intercept

    @property
    def n_rows(self) -> int:
        return int(self.X.shape[0])

    @cached_property
    def penalty(self) -> FloatArray:
        penalty = np.ones((self.X.shape[1] + 1, 1))
        penalty[-1] = 0.0 if self.intercept is None else 1.0
        return penalty

    @cached_property
    def size(self) -> float:
        """The norm of all values."""
        values = self.X.data if sparse.issparse(self.X) else self.X
        return float(np.hypot(np.linalg.norm(values), self.constant * np.sqrt(self.n_rows)))

    @cached_property
    def _squares(self) -> Any:
        return self.X.multiply(self.X).tocsr() if sparse.issparse(self.X) else self.X**2

    def times(self, weights: FloatArray) -> FloatArray:
        return np.asarray(self.X @ weights[:-1] + self.constant * weights[-1])

    def transposed_times(self, values: FloatArray) -> FloatArray:
        return np.vstack([self.X.T @ values, self.constant * values.sum(axis=0)])

    def squares_transposed_times(self, values: FloatArray) -> FloatArray:
        return np.vstack([self._squares.T @ values, self.constant**2 * values.sum(axis=0)])

    def hessian(self, local: Local) -> FloatArray:
        """Return the second derivatives of the objective, a block for each pair of columns."""
        n_columns, n_weights = local.slopes.shape[1], self.X.shape[1] + 1
        hessian = np.zeros((n_columns, n_weights, n_columns, n_weights))
        for first in range(n_columns):
            for second in range(n_columns):
                hessian[first, :, second, :] = self._weighted_gram(local.pair(first, second))
            hessian[first, :, first, :] += np.diag(self.penalty[:, 0])
        if self.intercept is None and local.shares is not None:
            # The same for all intercepts changes no loss; this keeps the steps from it.
            hessian[:, -1, :, -1] += hessian[:, -1, :, -1].trace() / n_columns**2
        return hessian.reshape(n_columns * n_weights, -1)

    def _weighted_gram(self, weights: FloatArray) -> FloatArray:
        scaled = sparse.diags_array(weights) @ self.X
        inner = self.X.T @ scaled
        gram = np.empty((self.X.shape[1] + 1,) * 2)
        gram[:-1, :-1] = inner.toarray() if sparse.issparse(inner) else inner
        gram[-1, :-1] = gram[:-1, -1] = self.constant * (self.X.T @ weights)
        gram[-1, -1] = self.constant**2 * weights.sum()
        return gram
