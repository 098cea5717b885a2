"""Newton's method for linear models with smooth losses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse.linalg import LinearOperator, cg

from certifeature._utils import EPS, TINY, FloatArray
from certifeature.models.losses import ExcessLoss, Local, Loss
from certifeature.rows.matrix import dense, stored_values

# Of the weights.
_TOLERANCE = 1e-10
_MAX_STEPS = 2000
# Of these, at most so many in a row in which the gradient does not sink.
_PATIENCE = 100
# Products with the data, in all steps together.
_MAX_PRODUCTS = 10_000
# Up to so many unknowns the linear systems are solved directly, which takes about as long as a
# product for each so many of them.
MAX_DIRECT, _DIRECT_PER_PRODUCT = 1000, 20
# Values of sparse rows that may be written out, to be turned to as many columns as rows, where
# products with them do not lead to the optimum.
_MAX_WRITTEN_OUT = 2**21
# Share of a gradient that conjugate gradients may leave, at first.
_ACCURACY = 3e-3
# Gradients of less than this share of the weights are near the optimum.
_NEAR = 1e-3
# Share of the slope along a step that may be left at its end.
_LEFT_OVER = 1e-2
_MAX_LINE_STEPS = 60


@np.errstate(over="ignore", under="ignore", invalid="ignore")
def minimise(
    X: Any,
    loss: Loss,
    intercept: float | None,
    start: FloatArray | None = None,
    tolerance: float = _TOLERANCE,
) -> tuple[FloatArray, bool]:
    """Return the W that minimises ½‖W‖² + loss(AW), with A the rows (xᵢ, intercept).

    Newton's method with line searches. For a loss that is quadratic where it is not zero it is
    finite [1]_, and each step is a least-squares problem of the rows that have a loss.

    Parameters
    ----------
    X : {ndarray, CSR array} of shape (n_samples, n_features)
        Rows x.
    loss : Loss
        Of the scores, a column for each of W; smooth.
    intercept : float or None
        The last feature of all rows, 0 if there is none; None for a 1 whose weights, the last of W,
        are not penalised.
    start : ndarray of shape (n_features + 1, n_columns), default=None
        Where to start; None starts from 0.
    tolerance : float, default=1e-10
        Largest gradient, as a share of the weights. The Hessian is at least the identity, so that
        their error is no larger.

    Returns
    -------
    weights, reached
        The minimiser, and whether it is known to be one, to the tolerance or rounding.

    References
    ----------
    .. [1] S. S. Keerthi and D. DeCoste, "A modified finite Newton method for fast solution of large
       scale linear SVMs", Journal of Machine Learning Research 6, 341-361, 2005.
    """
    start = np.zeros((X.shape[1] + 1, loss.n_columns)) if start is None else start
    reached = False
    for rows, turn in _coordinates(X, loss, intercept):
        weights = start
        if turn is not None:
            weights = np.vstack([turn.T @ start[:-1], start[-1:]])
        smallest, products, refine = np.inf, _MAX_PRODUCTS, False
        goal, patience = np.inf, _PATIENCE
        for _ in range(_MAX_STEPS):
            # Not what they were plus their change: rounding of a bad start would stay for ever.
            scores = rows.times(weights)
            local = loss.at(scores)
            gradient = rows.penalty * weights + rows.transposed_times(local.slopes)
            size = float(np.linalg.norm(gradient))
            length = float(np.linalg.norm(rows.penalty * weights))
            reached = size <= tolerance * length
            goal, patience = (size / 2, _PATIENCE) if size < goal else (goal, patience - 1)
            if reached or not np.isfinite(size) or min(products, patience) <= 0:
                break
            system = _System.at(rows, loss, local, scores)
            # A gradient that is no more than its own rounding need not sink any more.
            is_rounding = size <= system.rounding(length)
            reached = is_rounding and size > smallest / 2
            if reached:
                break
            stuck, refine = refine, refine or size <= _NEAR * length or size > smallest / 2
            step, used = system.step(weights, gradient, products, refine=refine)
            penalised = rows.penalty * step
            linear, square = (float((part * penalised).sum()) for part in (weights, step))
            share = _best_share(loss, scores, rows.times(step), linear, square)
            if share == 0 and stuck:
                reached = is_rounding
                break
            refine |= share == 0
            smallest, products = min(smallest, size), products - used
            weights = weights + share * step
        start = weights if turn is None else np.vstack([turn @ weights[:-1], weights[-1:]])
        if reached:
            break
    return start, reached


def _coordinates(
    X: Any, loss: Loss, intercept: float | None
) -> Iterator[tuple[_Rows, FloatArray | None]]:
    """Yield the rows, and rows in coordinates of their span, with its basis, where these help."""
    n_rows, n_features = X.shape
    is_wide = n_rows < n_features and n_rows * loss.n_columns <= MAX_DIRECT
    is_sparse = sparse.issparse(X)
    if is_sparse or loss.quadratic or not is_wide:
        yield _Rows(X, intercept), None
    # The optimum is a combination of the rows, so that their own coordinates will do.
    if is_wide and not (is_sparse and n_rows * n_features > _MAX_WRITTEN_OUT):
        turn, triangle = np.linalg.qr((X.toarray() if is_sparse else X).T)
        yield _Rows(triangle.T.copy(), intercept), turn


def _best_share(
    loss: Loss, scores: FloatArray, change: FloatArray, linear: float, square: float
) -> float:
    """Return how much to take of a step, all of it where that is nearly the best.

    Along a step the slope of an objective rises. Its zero is found by Newton's method between
    bounds; 0 is returned for a step that leads nowhere.

    Parameters
    ----------
    loss : Loss
        The loss.
    scores, change : ndarray of shape (n_samples, n_columns)
        Scores, and by how much the step changes them.
    linear, square : float
        Slope of the penalty at the start, and how fast it rises.
    """
    start = linear + float(np.sum(loss.at(scores).slopes * change))
    low, high, share = 0.0, np.inf, 1.0
    for _ in range(_MAX_LINE_STEPS if start < 0 else 0):
        local = loss.at(scores + share * change)
        slope = linear + share * square + float(np.sum(local.slopes * change))
        if abs(slope) <= -_LEFT_OVER * start or high - low <= _LEFT_OVER * low:
            return share
        low, high = (share, high) if slope < 0 else (low, share)
        rise = square + float(np.sum(local.bent(change) * change))
        guess = share - slope / rise if rise else np.inf
        middle = (low + high) / 2 if high < np.inf else 2 * share
        share = guess if low < guess < high else middle
    return low


@dataclass(frozen=True, eq=False)
class _System:
    """The quadratic problem that an objective looks like near some weights.

    Attributes
    ----------
    rows : _Rows
        Rows where the loss is curved.
    local : Local
        The loss there.
    aims : ndarray of shape (n_samples,) or None
        Where the quadratic losses of these rows would be least, if there are such.
    """

    rows: _Rows
    local: Local
    aims: FloatArray | None = None

    @classmethod
    def at(cls, rows: _Rows, loss: Loss, local: Local, scores: FloatArray) -> _System:
        if not loss.quadratic:
            return cls(rows, local)
        curved = np.flatnonzero(local.curvature[:, 0])
        local = local.take(curved)
        aims = scores[curved, 0] - local.slopes[:, 0] / local.curvature[:, 0]
        return cls(rows.take(curved), local, aims)

    def rounding(self, length: float) -> float:
        """Return how large a gradient can be that is all rounding, given the norm of weights."""
        size, local = self.rows.size, self.local
        of_scores = size * length / max(self.rows.n_rows, 1) ** 0.5
        of_scores += 0.0 if self.aims is None else float(np.abs(self.aims).max(initial=0.0))
        slopes, curvature = (np.linalg.norm(part) for part in (local.slopes, local.curvature))
        return float(4 * EPS * size * (slopes + of_scores * curvature))

    def step(
        self, weights: FloatArray, gradient: FloatArray, max_products: int, *, refine: bool
    ) -> tuple[FloatArray, int]:
        """Return the step to the minimum, and how many products with the rows it took.

        Small systems are solved directly, others by conjugate gradients. Of sparse rows these come
        first, for as long as a direct solution would take.
        """
        rows = self.rows
        in_dual = self.aims is not None and rows.n_rows < rows.X.shape[1]
        unknowns = rows.n_rows if in_dual else gradient.size
        is_small = unknowns <= MAX_DIRECT
        used = 1 + unknowns // _DIRECT_PER_PRODUCT
        if sparse.issparse(rows.X) or not is_small:
            limit = used if is_small else max_products
            shape, n_products = gradient.shape, 0
            size, length = (
                float(np.linalg.norm(part)) for part in (gradient, rows.penalty * weights)
            )
            accuracy = min(_ACCURACY, (size / length) ** 0.5) if length else _ACCURACY

            def product(direction: FloatArray) -> FloatArray:
                nonlocal n_products
                n_products += 1
                turned = direction.reshape(shape)
                bent = rows.transposed_times(self.local.bent(rows.times(turned)))
                return np.asarray((rows.penalty * turned + bent).ravel())

            hessian = LinearOperator((gradient.size,) * 2, matvec=product, dtype=np.float64)
            goal = max(accuracy * size, _TOLERANCE * length / 10)
            step, _ = cg(hessian, -gradient.ravel(), rtol=0.0, atol=goal, maxiter=limit)
            if not is_small or n_products < limit:
                return step.reshape(shape), n_products
            used += n_products
        if self.aims is None or not in_dual:
            flat = solved(rows.hessian(self.local), -gradient.T.ravel())
            return flat.reshape(gradient.shape[::-1]).T, used
        # The minimiser is Aᵀβ with (AAᵀ + D⁻¹)β = aims: no difference of large numbers. From where
        # rounding of that system ends, what is left of the gradient leads on.
        start, right, total = weights, self.aims, 0.0
        if refine:
            start = rows.penalty * gradient
            right, total = rows.times(start)[:, 0], float(gradient[-1, 0])
        system = rows.kernel + np.diag(1 / self.local.curvature[:, 0])
        if rows.intercept is None:
            beta, shift = bordered_solution(system, right, total)
            return np.append(rows.X.T @ beta, shift)[:, None] - start, used
        return rows.transposed_times(solved(system, right)[:, None]) - start, used


def solved(matrix: FloatArray, right: FloatArray, *, definite: bool = True) -> FloatArray:
    """Return the solution of a system, definite but for rounding or not; zeros if it overflowed."""
    if not np.isfinite(matrix).all() or not np.isfinite(right).all():
        return np.zeros_like(right)
    with suppress(np.linalg.LinAlgError):
        if definite and len(matrix):
            factor = cho_factor(matrix, check_finite=False)
            return np.asarray(cho_solve(factor, right, check_finite=False))
    with suppress(np.linalg.LinAlgError):
        return np.asarray(np.linalg.solve(matrix, right))
    return np.asarray(np.linalg.lstsq(matrix, right, rcond=None)[0])


def bordered_solution(
    kernel: FloatArray, right: FloatArray, total: float
) -> tuple[FloatArray, float]:
    """Return the β of sum ``total`` and the b for which Kβ + b is the right side."""
    n_rows = len(kernel)
    size = np.sqrt(max(float(np.diag(kernel).max(initial=0.0)), TINY))
    system = np.zeros((n_rows + 1, n_rows + 1))
    system[:-1, :-1] = kernel / size**2
    system[-1, :-1] = system[:-1, -1] = 1.0
    solution = solved(system, np.append(right / size**2, total), definite=False)
    return solution[:-1], float(solution[-1] * size**2)


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows (xᵢ, intercept), chosen from others or not, and which of their weights are penalised."""

    X: Any
    intercept: float | None
    whole: _Rows | None = None
    chosen: Any = None

    @cached_property
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
        norm = np.linalg.norm(stored_values(self.X))
        return float(np.hypot(norm, self.constant * np.sqrt(self.n_rows)))

    @cached_property
    def kernel(self) -> FloatArray:
        """Inner products of the rows, without those of a free intercept."""
        if self.whole is not None and self.whole.n_rows <= MAX_DIRECT:
            # All steps share those of few rows.
            return self.whole.kernel[np.ix_(self.chosen, self.chosen)]
        return np.asarray(dense(self.X @ self.X.T) + (self.intercept or 0.0) ** 2)

    def take(self, chosen: NDArray[np.intp]) -> _Rows:
        if len(chosen) == self.n_rows:
            return self
        return _Rows(self.X[chosen], self.intercept, self, chosen)

    def times(self, weights: FloatArray) -> FloatArray:
        return np.asarray(self.X @ weights[:-1] + self.constant * weights[-1])

    def transposed_times(self, values: FloatArray) -> FloatArray:
        return np.vstack([self.X.T @ values, self.constant * values.sum(axis=0)])

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
        gram = np.empty((self.X.shape[1] + 1,) * 2)
        gram[:-1, :-1] = dense(self.X.T @ (sparse.diags_array(weights) @ self.X))
        gram[-1, :-1] = gram[:-1, -1] = self.constant * (self.X.T @ weights)
        gram[-1, -1] = self.constant**2 * weights.sum()
        return gram


# Steps of each of many problems.
_MAX_DUAL_STEPS = 200


@np.errstate(over="ignore", invalid="ignore")
def squared_hinge_duals(gram: FloatArray, signs: FloatArray, costs: FloatArray) -> FloatArray:
    """Return the β of each problem, with which its weights are w = Aᵀβ, and AAᵀ is the Gram matrix.

    Every problem minimises ½‖w‖² + Σ cᵢ max(0, 1 − sᵢaᵢᵀw)². If the rows that have a loss were
    known, β would solve (AAᵀ + 1/(2c))β = s on them, and be 0 on others; Newton's method solves it
    for those that have one now, and goes as far towards the solution as is best. Each problem
    starts from the solution of the one before, which may be similar.

    Parameters
    ----------
    gram : ndarray of shape (n_samples, n_samples)
        AAᵀ of the rows a.
    signs, costs : ndarray of shape (n_samples, n_problems)
        Labels −1 and +1, and the constants c; 0 for a row that is not part of a problem.

    Returns
    -------
    ndarray of shape (n_samples, n_problems)

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([[-1.0], [1.0]])
    >>> beta = squared_hinge_duals(rows @ rows.T, np.array([[-1.0], [1.0]]), np.ones((2, 1)))
    >>> (rows.T @ beta).round(6)
    array([[0.8]])
    """
    duals, scores = np.zeros_like(signs), np.zeros((len(signs), 1))
    beta = scores[:, 0]
    for problem, (targets, cost) in enumerate(zip(signs.T, costs.T, strict=True)):
        loss, share, before = ExcessLoss(targets, cost, signed=True), 0.0, np.empty(0, np.intp)
        for _ in range(_MAX_DUAL_STEPS):
            curvature = loss.at(scores).curvature[:, 0]
            rows = np.flatnonzero(curvature)
            if share == 1 and np.array_equal(rows, before):
                break
            found, part = np.zeros_like(beta), gram[rows]
            found[rows] = solved(part[:, rows] + np.diag(1 / curvature[rows]), targets[rows])
            step, change = found - beta, (found[rows] @ part)[:, None] - scores
            penalty = float(beta @ change[:, 0]), float(step @ change[:, 0])
            share = _best_share(loss, scores, change, *penalty)
            beta, scores, before = beta + share * step, scores + share * change, rows
            if share == 0:
                break
        duals[:, problem] = beta
    return duals
