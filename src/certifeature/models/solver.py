"""Newton's method for linear models with smooth losses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, cg

from certifeature.models.losses import EPS, ExcessLoss, Local, Loss
from certifeature.rows.matrix import dense, scaled_back, stored_values

FloatArray = NDArray[np.float64]

# Of the weights. The Hessian is at least the identity, so their error is at most the gradient.
_TOLERANCE = 1e-10
_MAX_STEPS = 2000
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
    X: Any, loss: Loss, intercept: float | None, start: FloatArray | None = None
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

    Returns
    -------
    weights, reached
        The minimiser, and whether it is known to be one, to rounding.

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
        for _ in range(_MAX_STEPS):
            # Not what they were plus their change: rounding of a bad start would stay for ever.
            scores = rows.times(weights)
            local = loss.at(scores)
            gradient = rows.penalty * weights + rows.transposed_times(local.slopes)
            size = float(np.linalg.norm(gradient))
            length = float(np.linalg.norm(rows.penalty * weights))
            reached = size <= _TOLERANCE * length
            if reached or not np.isfinite(size) or products <= 0:
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
            linear, square = (np.array([(part * penalised).sum()]) for part in (weights, step))
            share = float(_best_shares(loss, scores, rows.times(step), linear, square)[0])
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


def _best_shares(
    loss: Loss, scores: FloatArray, change: FloatArray, linear: FloatArray, square: FloatArray
) -> FloatArray:
    """Return how much to take of the step of each problem, all of it where that is nearly the best.

    Along a step the slope of an objective rises. Its zero is found by Newton's method between
    bounds; 0 is returned for a step that leads nowhere.

    Parameters
    ----------
    loss : Loss
        Of one problem, or of one in each column.
    scores, change : ndarray of shape (n_samples, n_columns)
        Scores, and by how much the steps change them.
    linear, square : ndarray of shape (n_problems,)
        Slope of the penalties at the start, and how fast it rises.
    """
    shares, low, high = np.zeros_like(linear), np.zeros_like(linear), np.full_like(linear, np.inf)
    first: FloatArray | None = None
    for _ in range(_MAX_LINE_STEPS):
        local = loss.at(scores + shares * change)
        slopes, rise = (
            _dots(part, change).reshape(len(linear), -1).sum(axis=1)
            for part in (local.slopes, local.bent(change))
        )
        found, rise = linear + shares * square + slopes, square + rise
        if first is None:
            first, done = found, ~(found < 0)
            shares = np.where(done, 0.0, 1.0)
            continue
        done |= (np.abs(found) <= -_LEFT_OVER * first) | (high - low <= _LEFT_OVER * low)
        if done.all():
            break
        low = np.where(~done & (found < 0), shares, low)
        high = np.where(~done & ~(found < 0), shares, high)
        with np.errstate(divide="ignore", invalid="ignore"):
            guess = shares - found / rise
            middle = np.where(np.isfinite(high), (low + high) / 2, 2 * shares)
        better = np.where((low < guess) & (guess < high), guess, middle)
        shares = np.where(done, shares, better)
    return np.where(done, shares, low)


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


def solved(matrix: FloatArray, right: FloatArray) -> FloatArray:
    """Return the solution of a system, definite but for rounding; zeros if it overflowed."""
    if not np.isfinite(matrix).all() or not np.isfinite(right).all():
        return np.zeros_like(right)
    try:
        solution = np.linalg.solve(matrix, right)
    except np.linalg.LinAlgError:
        solution = np.linalg.lstsq(matrix, right, rcond=None)[0]
    return np.asarray(solution, dtype=np.float64)


def bordered_solution(
    kernel: FloatArray, right: FloatArray, total: float
) -> tuple[FloatArray, float]:
    """Return the β of sum ``total`` and the b for which Kβ + b is the right side."""
    n_rows = len(kernel)
    size = np.sqrt(max(float(np.diag(kernel).max(initial=0.0)), np.finfo(np.float64).tiny))
    system = np.zeros((n_rows + 1, n_rows + 1))
    system[:-1, :-1] = kernel / size**2
    system[-1, :-1] = system[:-1, -1] = 1.0
    solution = solved(system, np.append(right / size**2, total))
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


# Of the weights of many problems at once, as above.
_DUAL_TOLERANCE = 1e-7
_MAX_DUAL_STEPS = 200
# Share of a step below which the next one is solved directly.
_SHORT = 0.1
# Products with the Gram matrix that a step may take before its systems are solved directly.
_MAX_DUAL_PRODUCTS = 50


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
        self._by_rows = 2 * stored_values(rows).size < rows.shape[0] ** 2

    @cached_property
    def matrix(self) -> FloatArray:
        """The Gram matrix."""
        gram = dense(self._rows @ self._columns)
        return np.asarray(scaled_back(gram, 2 * self._exponent) + self._square)

    def __matmul__(self, values: FloatArray) -> FloatArray:
        if not self._by_rows:
            return self.matrix @ values
        image = np.ldexp(self._columns.T @ (self._columns @ values), 2 * self._exponent)
        return np.asarray(image + self._square * values.sum(axis=0))


@np.errstate(over="ignore", invalid="ignore")
def squared_hinge_duals(gram: InnerProducts, signs: FloatArray, costs: FloatArray) -> FloatArray:
    """Return the β of each problem, with which its weights are w = Aᵀβ, and AAᵀ is the Gram matrix.

    Every problem minimises ½‖w‖² + Σ cᵢ max(0, 1 − sᵢaᵢᵀw)². At its optimum β = −loss'(AAᵀβ). If
    the rows that have a loss were known, β would solve a linear system on them; Newton's method
    solves it for those that have one now, and goes as far towards the solution as is best. The
    systems of all problems are solved together, so that each product with the Gram matrix serves
    them all.

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
    >>> rows = np.array([[-1.0], [1.0]])
    >>> beta = squared_hinge_duals(InnerProducts(rows), np.array([[-1.0], [1.0]]), np.ones((2, 1)))
    >>> (rows.T @ beta).round(6)
    array([[0.8]])
    """

    def loss_of(problems: NDArray[np.intp]) -> ExcessLoss:
        return ExcessLoss(signs[:, problems], costs[:, problems], signed=True)

    duals, scores = np.zeros_like(signs), np.zeros_like(signs)
    unsolved = np.arange(signs.shape[1])
    accuracy = np.full(signs.shape[1], _ACCURACY)
    for _ in range(_MAX_DUAL_STEPS):
        errors = _relative_errors(gram, loss_of(unsolved), duals[:, unsolved], scores[:, unsolved])
        rough = errors > _DUAL_TOLERANCE
        unsolved, errors = unsolved[rough], errors[rough]
        if not unsolved.size:
            break
        loss, state = loss_of(unsolved), (duals[:, unsolved], scores[:, unsolved])
        goals = np.minimum(accuracy[unsolved], np.sqrt(errors))
        steps, changes = _dual_steps(gram, loss, *state, goals)
        squares = (_dots(part, changes) for part in (state[0], steps))
        shares = _best_shares(loss, state[1], changes, *squares)
        duals[:, unsolved] += shares * steps
        scores[:, unsolved] += shares * changes
        # A rough step may lead nowhere. Where one that was solved directly does not either, a
        # problem is as far as rounding lets it come.
        stuck = unsolved[(shares == 0) & (goals == 0)]
        accuracy[unsolved[shares < _SHORT]] = 0.0
        unsolved = np.setdiff1d(unsolved, stuck)
    return duals


def _relative_errors(
    gram: InnerProducts, loss: ExcessLoss, duals: FloatArray, scores: FloatArray
) -> FloatArray:
    """Return the norms of the gradients of the problems, relative to those of their weights."""
    rest = duals + loss.at(scores).slopes
    sizes, lengths = _dots(rest, gram @ rest), _dots(duals, scores)
    nothing = lengths <= 0
    ratios = np.maximum(sizes, 0.0) / np.where(nothing, 1.0, lengths)
    return np.where(nothing & (sizes > 0), np.inf, np.sqrt(ratios))


def _dual_steps(
    gram: InnerProducts,
    loss: ExcessLoss,
    duals: FloatArray,
    scores: FloatArray,
    accuracies: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return steps to where the rows that have a loss now would have their optimum.

    There (K + 1/(2c))β = s on these rows, and β = 0 on the others. Beside the steps stand their
    products with the Gram matrix K.
    """
    signs, curvature = loss.targets, loss.at(scores).curvature
    short = curvature > 0
    ridges = np.where(short, 1 / np.where(short, curvature, 1.0), 0.0)
    found = np.where(short, duals, 0.0)
    images = gram @ found
    residuals = np.where(short, signs - images - ridges * found, 0.0)
    directions, squares = residuals.copy(), _dots(residuals, residuals)
    goals = accuracies**2 * squares
    for _ in range(_MAX_DUAL_PRODUCTS):
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
    return found - duals, images - scores


def _dots(left: FloatArray, right: FloatArray) -> FloatArray:
    products: FloatArray = np.einsum("ij,ij->j", left, right)
    return products


def _ratios(numbers: FloatArray, others: FloatArray) -> FloatArray:
    """Return quotients, 0 where there is nothing left to divide by."""
    return np.divide(numbers, others, out=np.zeros_like(numbers), where=others > 0)
