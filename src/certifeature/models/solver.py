"""Newton's method for linear models."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, cg
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.svm import LinearSVC, LinearSVR

from certifeature.models.losses import Local, LogisticLoss, MultinomialLoss, SmoothLoss, TubeLoss
from certifeature.models.problem import intercept_of, loss_of
from certifeature.rows.matrix import scaled_back

__all__ = [
    "MAX_DIRECT",
    "InnerProducts",
    "best_share",
    "has_gradient",
    "has_smooth_loss",
    "minimiser",
    "move_smooth_to_optimum",
    "move_to_optimum",
    "solved",
    "squared_hinge_duals",
    "squared_hinge_minimiser",
]


FloatArray = NDArray[np.float64]

# Of the weights. The Hessian is at least the identity, so their error is at most the gradient.
_TOLERANCE = 1e-10
_EPS = float(np.finfo(np.float64).eps)
# With the data, in all steps together.
_MAX_PRODUCTS = 10_000
_MAX_STEPS = 2000
# Up to so many rows or features the linear systems are solved directly, which takes about as long
# as a product for each so many of them.
MAX_DIRECT, _DIRECT_PER_PRODUCT = 1000, 20
# Share of the slope along a step that may be left at its end.
_LEFT_OVER = 1e-2


def has_smooth_loss(svm: Any) -> bool:
    """Tell whether an SVM is one whose optimum can be computed to the last digits."""
    return (
        isinstance(svm, LinearSVC)
        and svm.loss == "squared_hinge"
        and svm.penalty == "l2"
        and svm.multi_class == "ovr"
    )


def move_to_optimum(svm: LinearSVC, X: Any, y: NDArray[Any], costs: FloatArray) -> bool:
    """Move a fitted squared-hinge SVM to its optimum, by Newton steps; tell whether it got there.

    LIBLINEAR stops at a tolerance, so its support rows depend on the order of the rows. The optimum
    is one, and what is chosen for it is the same however the rows come.

    Parameters
    ----------
    svm : LinearSVC
        Fitted, with a smooth loss; its weights are changed.
    X : {ndarray, CSR array} of shape (n_samples, n_features)
        The data it was fitted to.
    y : ndarray of shape (n_samples,)
        Their labels.
    costs : ndarray of shape (n_samples, n_problems)
        What the SVM multiplies the loss of each row by.
    """
    X = X.astype(np.float64, copy=False)
    scale = float(svm.intercept_scaling) if svm.fit_intercept else 0.0
    positive = svm.classes_[1:] if len(svm.classes_) == 2 else svm.classes_
    signs = np.where(y[:, None] == positive, 1.0, -1.0)
    all_reached = True
    for problem in range(costs.shape[1]):
        start = np.append(svm.coef_[problem], 0.0)
        if scale:
            start[-1] = svm.intercept_[problem] / scale
        best, reached = squared_hinge_minimiser(
            X, scale, signs[:, problem], costs[:, problem], start
        )
        all_reached &= reached
        svm.coef_[problem] = best[:-1]
        if scale:
            svm.intercept_[problem] = best[-1] * scale
    return all_reached


@np.errstate(over="ignore", invalid="ignore")
def squared_hinge_minimiser(
    X: Any, scale: float, signs: FloatArray, costs: FloatArray, weights: FloatArray
) -> tuple[FloatArray, bool]:
    """Return the w that minimises ½‖w‖² + Σ cᵢ max(0, 1 − sᵢ aᵢᵀw)², where aᵢ = (xᵢ, scale).

    Newton's method with exact line searches, which is finite: S. S. Keerthi and D. DeCoste, *A
    Modified Finite Newton Method for Fast Solution of Large Scale Linear SVMs*, JMLR 6, 2005.

    Parameters
    ----------
    X : {ndarray, CSR array} of shape (n_samples, n_features)
        Rows x.
    scale : float
        The last feature of all rows; 0 if there is none.
    signs, costs : ndarray of shape (n_samples,)
        Labels −1 and +1, and the constants c.
    weights : ndarray of shape (n_features + 1,)
        Where to start.

    Returns
    -------
    weights, reached
        The minimiser, and whether it is known to be one, to rounding.
    """
    margins = signs * _times(X, scale, weights)
    smallest, products = np.inf, _MAX_PRODUCTS
    for _ in range(_MAX_STEPS):
        if products <= 0:
            break
        slack = np.where(costs > 0, np.maximum(0.0, 1 - margins), 0.0)
        gradient = weights - _transposed_times(X, scale, 2 * costs * signs * slack)
        size, norm = float(np.linalg.norm(gradient)), float(np.linalg.norm(weights))
        if size <= _TOLERANCE * norm:
            return weights, True
        if not np.isfinite(size):
            break
        short = np.flatnonzero(slack)
        rows, row_costs = X[short], 2 * costs[short]
        accuracy = min(1e-3, np.sqrt(size / norm)) if norm else 1e-3
        system = _System(rows, scale, row_costs, signs[short])
        step, used = system.step(weights, gradient, accuracy * size, products)
        change = signs * _times(X, scale, step)
        along, length = float(weights @ step), float(step @ step)
        share = best_share(along, length, margins, change, 2 * costs)
        spread = _size(rows, scale)
        of_margins = 1 + norm * spread / max(len(short), 1) ** 0.5
        rounding = 4 * _EPS * spread * of_margins * float(np.linalg.norm(row_costs))
        # A gradient that is no more than its own rounding need not sink any more.
        if size <= rounding and (share == 0 or size > smallest / 2):
            return weights, True
        if share == 0:
            break
        products -= used
        smallest = min(smallest, size)
        weights, margins = weights + share * step, margins + share * change
    return weights, False


def best_share(
    along: float, length: float, margins: FloatArray, change: FloatArray, costs: FloatArray
) -> float:
    """Return how much of a step to take, all of it where that is nearly the best.

    Along the step the slope of the objective is piecewise linear and rises; it bends where a row
    crosses the margin.

    Parameters
    ----------
    along, length : float
        Inner products of the step with the weights, and with itself.
    margins, change : ndarray of shape (n_samples,)
        Of the rows, and by how much the step changes them.
    costs : ndarray of shape (n_samples,)
        What half of the squared loss of each row is multiplied by.
    """
    slack, square = 1 - margins, costs * change**2

    def slope(share: float) -> float:
        short = np.maximum(0.0, slack - share * change)
        return float(along + share * length - (costs * change) @ short)

    first = slope(0.0)
    if first >= 0:
        return 0.0
    if abs(slope(1.0)) <= _LEFT_OVER * -first:
        return 1.0
    with np.errstate(divide="ignore", invalid="ignore"):
        places = slack / change
    bends = np.flatnonzero((places > 0) & np.isfinite(places))
    bends = bends[np.argsort(places[bends])]
    is_short = (slack > 0) | ((slack == 0) & (change < 0))
    changes = np.where(change[bends] < 0, square[bends], -square[bends])
    rates = length + square[is_short].sum() + np.concatenate([[0.0], np.cumsum(changes)])
    rates = np.maximum(rates, length)
    starts = np.concatenate([[0.0], places[bends]])
    slopes = first + np.concatenate([[0.0], np.cumsum(rates[:-1] * np.diff(starts))])
    last = int(np.searchsorted(slopes, 0.0)) - 1
    return float(starts[last] - slopes[last] / rates[last])


@dataclass(frozen=True, eq=False)
class _System:
    """The rows that are short of the margin, whose squared losses are minimised by a linear system.

    With A the rows (xᵢ, scale), C their costs and H = I + AᵀCA, the minimiser solves Hw = AᵀCs.
    """

    X: Any
    scale: float
    costs: FloatArray
    signs: FloatArray

    def step(
        self, weights: FloatArray, gradient: FloatArray, residual_size: float, max_products: int
    ) -> tuple[FloatArray, int]:
        """Return the step to the minimiser, and how many products with the rows it took.

        Small systems are solved directly, others by conjugate gradients. Of sparse rows these come
        first, for as long as a direct solution would take.
        """
        n_rows, n_features = self.X.shape
        is_small = min(n_rows, n_features) <= MAX_DIRECT
        used = 1 + min(n_rows, n_features) // _DIRECT_PER_PRODUCT
        if sparse.issparse(self.X) or not is_small:
            n_products, limit = 0, used if is_small else max_products

            def product(direction: FloatArray) -> FloatArray:
                nonlocal n_products
                n_products += 1
                image = self.costs * (self.X @ direction[:-1] + self.scale * direction[-1])
                return direction + np.append(self.X.T @ image, self.scale * image.sum())

            hessian = LinearOperator((len(gradient), len(gradient)), matvec=product)
            step, _ = cg(hessian, -gradient, rtol=0.0, atol=residual_size, maxiter=limit)
            if not is_small or n_products < limit:
                return step, n_products
            used += n_products
        if n_features <= MAX_DIRECT:
            return solved(self._hessian(), -gradient), used
        # The minimiser is Aᵀβ with (AAᵀ + C⁻¹)β = s: no difference of large numbers.
        kernel = self.X @ self.X.T
        kernel = kernel.toarray() if sparse.issparse(kernel) else kernel
        beta = solved(kernel + self.scale**2 + np.diag(1 / self.costs), self.signs)
        return _transposed_times(self.X, self.scale, beta) - weights, used

    def _hessian(self) -> FloatArray:
        scaled = sparse.diags_array(self.costs) @ self.X
        gram = self.X.T @ scaled
        hessian = np.eye(self.X.shape[1] + 1)
        hessian[:-1, :-1] += gram.toarray() if sparse.issparse(gram) else gram
        hessian[-1, :-1] = hessian[:-1, -1] = self.scale * (self.X.T @ self.costs)
        hessian[-1, -1] += self.scale**2 * self.costs.sum()
        return hessian


def solved(matrix: FloatArray, right: FloatArray) -> FloatArray:
    """Return the solution of a system, definite but for rounding; zeros if it overflowed."""
    if not np.isfinite(matrix).all() or not np.isfinite(right).all():
        return np.zeros_like(right)
    try:
        solution = np.linalg.solve(matrix, right)
    except np.linalg.LinAlgError:
        solution = np.linalg.lstsq(matrix, right, rcond=None)[0]
    return np.asarray(solution, dtype=np.float64)


def _size(X: Any, scale: float) -> float:
    """Return the norm of all values of the rows (xᵢ, scale)."""
    values = X.data if sparse.issparse(X) else X
    return float(np.hypot(np.linalg.norm(values), scale * np.sqrt(X.shape[0])))


def _times(X: Any, scale: float, weights: FloatArray) -> FloatArray:
    return np.asarray(X @ weights[:-1] + scale * weights[-1])


def _transposed_times(X: Any, scale: float, values: FloatArray) -> FloatArray:
    return np.append(X.T @ values, scale * values.sum())


BoolArray = NDArray[np.bool_]

# Of the weights: the Hessian is at least the identity, so their error is at most the gradient.
_DUAL_TOLERANCE = 1e-7
_MAX_DUAL_STEPS = 200
# Share of a residual that is left by the conjugate gradients of a step, at first.
_FIRST_ACCURACY = 1e-2
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
    >>> rows = np.array([[-1.0], [1.0]])
    >>> beta = squared_hinge_duals(InnerProducts(rows), np.array([[-1.0], [1.0]]), np.ones((2, 1)))
    >>> (rows.T @ beta).round(6)
    array([[0.8]])
    """
    duals, values = np.zeros_like(signs), np.zeros_like(signs)
    unsolved = np.arange(signs.shape[1])
    accuracy = np.full(signs.shape[1], _FIRST_ACCURACY)
    for _ in range(_MAX_DUAL_STEPS):
        state = signs[:, unsolved], costs[:, unsolved], duals[:, unsolved], values[:, unsolved]
        errors = _relative_errors(gram, *state)
        unsolved, errors = unsolved[errors > _DUAL_TOLERANCE], errors[errors > _DUAL_TOLERANCE]
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


_MAX_SMOOTH_STEPS = 500
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
    for _ in range(_MAX_SMOOTH_STEPS):
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


_SMOOTH = ("squared", "logistic", "multinomial", "squared_epsilon_insensitive")


def has_gradient(model: Any) -> bool:
    """Tell whether `move_smooth_to_optimum` knows the loss of a model."""
    return loss_of(model) in _SMOOTH


def move_smooth_to_optimum(model: Any, X: Any, y: NDArray[Any], costs: FloatArray) -> bool:
    """Move a fitted model with a smooth loss to its optimum; tell whether it got there.

    Parameters
    ----------
    model : LogisticRegression, RidgeClassifier, Ridge or LinearSVR
        Fitted; its weights are changed.
    X : {ndarray, CSR array} of shape (n_samples, n_features)
        The data it was fitted to.
    y : ndarray of shape (n_samples,)
        Their labels, or numbers.
    costs : ndarray of shape (n_samples, n_problems)
        What the model multiplies the loss of each row by.
    """
    X = X.astype(np.float64, copy=False)
    intercept = intercept_of(model)
    constant = 1.0 if intercept is None else intercept
    coef = np.atleast_2d(np.asarray(model.coef_, dtype=np.float64))
    start = np.zeros((X.shape[1] + 1, len(coef)))
    start[:-1] = coef.T
    if constant:
        start[-1] = np.asarray(model.intercept_) / constant
    parts, first, all_reached = [], 0, True
    for loss in _losses(model, y, costs):
        columns = slice(first, first + loss.n_columns)
        best, reached = minimiser(X, loss, intercept, start[:, columns])
        all_reached &= reached
        parts.append(best)
        first += loss.n_columns
    weights = np.hstack(parts)
    shape = np.shape(model.coef_)
    model.coef_ = np.ascontiguousarray(weights[:-1].T).reshape(shape)
    if constant:
        values = constant * weights[-1]
        model.intercept_ = float(values[0]) if np.ndim(model.intercept_) == 0 else values
    return all_reached


def _losses(model: Any, y: NDArray[Any], costs: FloatArray) -> list[SmoothLoss]:
    """Return the losses of the problems that a model solves, independently of each other."""
    if isinstance(model, LinearSVR):
        return [TubeLoss(y, costs[:, 0], float(model.epsilon))]
    if not isinstance(model, LogisticRegression | RidgeClassifier):
        return [TubeLoss(y, costs[:, 0])]
    is_multinomial = len(model.classes_) > 2 and isinstance(model, LogisticRegression)
    if is_multinomial:
        return [MultinomialLoss(y[:, None] == model.classes_, costs[:, 0])]
    positive = model.classes_[1:] if len(model.classes_) == 2 else model.classes_
    signs = np.where(y[:, None] == positive, 1.0, -1.0)
    if isinstance(model, LogisticRegression):
        return [LogisticLoss(signs[:, 0], costs[:, 0])]
    return [TubeLoss(part, cost) for part, cost in zip(signs.T, costs.T, strict=True)]
