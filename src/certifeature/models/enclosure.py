"""Lower and upper bounds on the optimal objective of a linear model."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.optimize import minimize_scalar
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from certifeature import _resources as _memory
from certifeature.models.losses import LogisticLoss, MultinomialLoss, TubeLoss
from certifeature.models.solver import minimiser, solved, squared_hinge_minimiser
from certifeature.rows.matrix import finite_rows, near_origin

__all__ = [
    "CLOSE",
    "EPS",
    "MAX_DIRECT",
    "OVERFLOW_IS_WIDE",
    "TINY",
    "Enclosure",
    "HingePoint",
    "SafeRows",
    "at_scale_of_rows",
    "balanced",
    "bordered_solution",
    "hinge_multipliers",
    "hinge_objective",
    "hinge_points",
    "libsvm_multipliers",
    "logistic_objective",
    "multinomial_objective",
    "scaled_back",
    "squared_hinge_objective",
    "tube_objective",
]


FloatArray = NDArray[np.float64]

EPS = float(np.finfo(np.float64).eps)
# Below it numbers lose digits. A sum of products loses less than this to underflow, for each.
TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, eq=False)
class SafeRows:
    """Rows (aᵢ, constant) that predict aᵢᵀw + constant·w₀, with a = (x − shift)·2^-exponent.

    The shift is there for a free intercept only, which takes it in; it keeps rows far from the
    origin from losing their digits.

    Attributes
    ----------
    values : {ndarray, CSR array} of shape (n_samples, n_features)
        The rows a, at most 1 in magnitude.
    constant : float
        What the penalised intercept is multiplied by, over 2^exponent; 0 if there is none.
    exponent : int
        Of the scale.
    """

    values: Any
    constant: float
    exponent: int

    @classmethod
    def of(cls, X: Any, intercept: float | None) -> SafeRows:
        """Return the rows of X.

        Parameters
        ----------
        X : {array-like, sparse array or matrix} of shape (n_samples, n_features)
            Finite.
        intercept : float or None
            The value of the constant feature that a penalised intercept is the weight of, 0 for no
            intercept, None for a free one.
        """
        values = finite_rows(X)
        constant = float(intercept or 0.0)
        values, exponent = _scaled_down(values, constant)
        if intercept is None:
            values, more = _scaled_down(near_origin(values), 0.0)
            exponent += more
        return cls(values, float(np.ldexp(constant, -exponent)), exponent)

    def take(self, rows: NDArray[np.intp]) -> SafeRows:
        """Return some of the rows, or all, in their order."""
        if len(rows) == self.values.shape[0]:
            return self
        return SafeRows(self.values[rows], self.constant, self.exponent)

    def scores(self, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the predictions of weights (w, w₀), and the most by which each may be wrong."""
        scores = np.asarray(self.values @ weights[:-1] + self.constant * weights[-1])
        sizes = self._absolute_times(np.abs(weights[:-1])) + abs(self.constant * weights[-1])
        return scores, (len(weights) + 4) * EPS * sizes

    def combination(self, multipliers: FloatArray) -> tuple[FloatArray, float]:
        """Return the weights (Aᵀβ, constant·Σβ), and the most by which their norm may be wrong."""
        weights = np.append(self.values.T @ multipliers, self.constant * multipliers.sum())
        sizes = np.append(
            self._absolute_transposed_times(np.abs(multipliers)),
            abs(self.constant) * np.abs(multipliers).sum(),
        )
        # Twice: multipliers that ought to sum to zero over the classes do so but for rounding.
        return weights, 2 * (len(multipliers) + 4) * EPS * float(np.linalg.norm(sizes))

    @cached_property
    def norms(self) -> FloatArray:
        """Norms of the rows (a, constant), or more."""
        values = self.values
        squares = values.multiply(values) if sparse.issparse(values) else values**2
        sums = np.asarray(squares.sum(axis=1)).ravel() + self.constant**2
        # Squares of tiny values underflow.
        return np.sqrt(sums + values.shape[1] * TINY) * (1 + (values.shape[1] + 8) * EPS)

    @cached_property
    def kernel(self) -> FloatArray:
        """Inner products of the rows."""
        products = self.values @ self.values.T
        products = products.toarray() if sparse.issparse(products) else products
        return np.asarray(products + self.constant**2)

    def _absolute_times(self, weights: FloatArray) -> FloatArray:
        if sparse.issparse(self.values):
            return np.asarray(abs(self.values) @ weights)
        parts = [np.abs(self.values[block]) @ weights for block in self._blocks()]
        return np.concatenate(parts)

    def _absolute_transposed_times(self, multipliers: FloatArray) -> FloatArray:
        if sparse.issparse(self.values):
            return np.asarray(abs(self.values).T @ multipliers)
        total = np.zeros(self.values.shape[1])
        for block in self._blocks():
            total += multipliers[block] @ np.abs(self.values[block])
        return total

    def _blocks(self) -> list[slice]:
        n_rows, n_features = self.values.shape
        at_once = max(1, _memory.SAFE_ROWS_AT_ONCE // max(n_features, 1))
        return [slice(start, start + at_once) for start in range(0, n_rows, at_once)]


def _scaled_down(values: Any, constant: float) -> tuple[Any, int]:
    """Return values of at most 1 in magnitude, as a constant is, and the exponent of the scale."""
    stored = values.data if sparse.issparse(values) else values
    exponent = int(np.frexp(max(np.abs(stored).max(initial=0.0), abs(constant)))[1])
    scaled = np.ldexp(stored, -exponent)
    if sparse.issparse(values):
        scaled = sparse.csr_array((scaled, values.indices, values.indptr), shape=values.shape)
    return scaled, exponent


_TOLERANCE = 1e-6
_MAX_ITERATIONS = 200_000
# Up to so many rows or features slower methods are worth while.
MAX_DIRECT = 1000
# Relative difference of two bounds that nobody minds.
CLOSE = 1e-6
# Whatever overflows on the way leaves a bound as wide as it was.
OVERFLOW_IS_WIDE = np.errstate(over="ignore", invalid="ignore", divide="ignore")


class Enclosure(NamedTuple):
    """A number that lies between two computed ones."""

    lower: float
    upper: float


def libsvm_multipliers(kernel: FloatArray, signs: FloatArray, costs: FloatArray) -> FloatArray:
    """Return multipliers that meet the constraints of the dual for a free intercept, by LIBSVM."""
    if abs(signs.sum()) == len(signs):
        return np.zeros(len(signs))
    # LIBSVM wants neither tiny costs nor tiny kernels.
    unit = min(float(costs.max()), 1.0)
    svm = SVC(kernel="precomputed", C=1.0, tol=_TOLERANCE, max_iter=_MAX_ITERATIONS)
    with warnings.catch_warnings():
        # An early stop widens the enclosure, which says so itself.
        warnings.simplefilter("ignore", ConvergenceWarning)
        svm.fit(kernel * unit, signs, sample_weight=np.maximum(costs / unit, 1e-300))
    alpha = np.zeros(len(signs))
    alpha[svm.support_] = np.abs(svm.dual_coef_[0]) * unit
    return balanced(np.minimum(alpha, costs), signs)


def balanced(alpha: FloatArray, signs: FloatArray) -> FloatArray:
    """Return multipliers of equal sums over the classes; smaller ones stay feasible."""
    positive, negative = alpha[signs > 0].sum(), alpha[signs < 0].sum()
    least = min(positive, negative)
    if least == 0:
        return np.zeros_like(alpha)
    return np.asarray(alpha * np.where(signs > 0, least / positive, least / negative))


def bordered_solution(kernel: FloatArray, right: FloatArray, total: float) -> FloatArray:
    """Return the β of sum ``total`` for which Kβ differs from the right side by a constant."""
    n_rows = len(kernel)
    size = np.sqrt(max(float(np.diag(kernel).max(initial=0.0)), np.finfo(np.float64).tiny))
    system = np.zeros((n_rows + 1, n_rows + 1))
    system[:-1, :-1] = kernel / size**2
    system[-1, :-1] = system[:-1, -1] = 1.0
    return solved(system, np.append(right / size**2, total))[:-1]


def at_scale_of_rows(
    X: Any, costs: FloatArray, intercept: float | None
) -> tuple[SafeRows, NDArray[np.intp], FloatArray] | None:
    """Return the rows with a cost, their places, and their costs at the scale of the rows.

    For w scaled up as x is scaled down, all of the objective grows by the same factor. None if some
    of the costs leave the range of numbers.
    """
    rows = X if isinstance(X, SafeRows) else SafeRows.of(X, intercept)
    places = np.flatnonzero(costs > 0)
    with np.errstate(over="ignore", under="ignore"):
        scaled = np.ldexp(costs[places], 2 * rows.exponent)
    if len(places) < len(costs):
        rows = rows.take(places)
    in_range = bool((np.isfinite(scaled) & (scaled >= TINY)).all())
    return (rows, places, np.asarray(scaled)) if in_range else None


def scaled_back(lower: float, upper: float, rows: SafeRows, exponent: int = 0) -> Enclosure:
    """Return bounds at the scale of the data, wider where they leave the range of numbers.

    What is predicted is smaller by 2^exponent than it was.
    """
    with np.errstate(over="ignore", under="ignore"):
        bounds = np.ldexp([lower, upper], 2 * exponent - 2 * rows.exponent)
    # Below the normal numbers, rounding is no longer relative.
    least = float(bounds[0]) if np.isfinite(bounds[0]) and bounds[0] >= TINY else 0.0
    return Enclosure(least, float(max(bounds[1], TINY)) if upper > 0 else 0.0)


_MAX_STEPS = 60
# Complementarity to stop at, as a share of the objective.
_INTERIOR_TOLERANCE = 1e-12
# Share of the way to the boundary that a step may go.
_SHORT_OF_BOUNDARY = 0.995


def hinge_multipliers(
    kernel: FloatArray, signs: FloatArray, costs: FloatArray, *, free_intercept: bool
) -> FloatArray:
    """Maximise Σα − ½Σ αᵢαⱼyᵢyⱼKᵢⱼ over 0 ≤ α ≤ costs, and Σ αᵢyᵢ = 0 if the intercept is free.

    Mehrotra's method, with a factorisation of the whole matrix in every step. It takes about as
    many steps for enormous costs as for small ones, which is where LIBSVM gives up.

    Parameters
    ----------
    kernel : ndarray of shape (n_samples, n_samples)
        Inner products.
    signs : ndarray of shape (n_samples,)
        Labels −1 and +1.
    costs : ndarray of shape (n_samples,)
        Positive.
    free_intercept : bool
        Whether the constraint of a free intercept applies.

    Returns
    -------
    ndarray of shape (n_samples,)
        Multipliers strictly between their bounds.
    """
    unit = float(costs.max())
    caps = costs / unit
    # In shares of the costs, s = α/costs: minimise ½sᵀQs − capsᵀs over 0 ≤ s ≤ 1.
    sides = signs * caps
    Q = unit * sides[:, None] * kernel * sides
    state = _State.start(len(caps))
    for _ in range(_MAX_STEPS):
        gradient = Q @ state.shares - caps + free_intercept * sides * state.intercept
        gap = state.complementarity()
        if gap <= _INTERIOR_TOLERANCE * float(caps @ state.shares):
            break
        try:
            better = state.improved(Q, sides, gradient, free_intercept)
        except LinAlgError:
            # Rounding leaves nothing to improve.
            break
        if not np.isfinite(better.shares).all():
            break
        state = better
    return np.asarray(costs * state.shares)


class _State:
    """Shares s, multipliers of s ≥ 0 and of s ≤ 1, and the intercept."""

    def __init__(
        self, shares: FloatArray, low: FloatArray, high: FloatArray, intercept: float
    ) -> None:
        self.shares, self.low, self.high, self.intercept = shares, low, high, intercept

    @classmethod
    def start(cls, size: int) -> _State:
        return cls(np.full(size, 0.5), np.ones(size), np.ones(size), 0.0)

    def complementarity(self) -> float:
        return float(self.low @ self.shares + self.high @ (1 - self.shares))

    def improved(
        self, Q: FloatArray, sides: FloatArray, gradient: FloatArray, free_intercept: bool
    ) -> _State:
        """Return the state after a predictor and a corrector step."""
        room = 1 - self.shares
        diagonal = self.low / self.shares + self.high / room
        matrix = Q.copy()
        matrix[np.diag_indices_from(matrix)] += diagonal
        factor = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
        solved_sides = cho_solve(factor, sides, check_finite=False) if free_intercept else sides
        slope = float(sides @ solved_sides)

        def towards(low_target: FloatArray, high_target: FloatArray) -> _State:
            """Return the Newton step to given products of multipliers and distances."""
            right = -gradient + low_target / self.shares - high_target / room
            change = cho_solve(factor, right, check_finite=False)
            shift = 0.0
            if free_intercept:
                shift = float((sides @ self.shares + sides @ change) / slope)
                change = change - shift * solved_sides
            low = (low_target - self.low * change) / self.shares - self.low
            high = (high_target + self.high * change) / room - self.high
            return _State(change, low, high, shift)

        nothing = np.zeros_like(room)
        guess = towards(nothing, nothing)
        reached = self._moved(guess, self._longest(guess))
        mean = self.complementarity() / (2 * len(room))
        centre = mean * (reached.complementarity() / self.complementarity()) ** 3
        step = towards(centre - guess.shares * guess.low, centre + guess.shares * guess.high)
        return self._moved(step, _SHORT_OF_BOUNDARY * self._longest(step))

    def _longest(self, step: _State) -> float:
        """Return how much of a step stays within the bounds, 1 at most."""
        pairs = (
            (self.shares, step.shares),
            (1 - self.shares, -step.shares),
            (self.low, step.low),
            (self.high, step.high),
        )
        ratios = [1.0]
        for values, changes in pairs:
            falling = changes < 0
            ratios.append(float((-values[falling] / changes[falling]).min(initial=np.inf)))
        return min(ratios)

    def _moved(self, step: _State, length: float) -> _State:
        return _State(
            self.shares + length * step.shares,
            self.low + length * step.low,
            self.high + length * step.high,
            self.intercept + length * step.intercept,
        )


@OVERFLOW_IS_WIDE
def hinge_objective(
    X: Any, signs: FloatArray, costs: FloatArray, *, intercept: float | None
) -> Enclosure:
    r"""Enclose the optimum of ½‖w‖² + Σ C_i max(0, 1 − y_i f_i).

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
    >>> bounds = hinge_objective([[1.0], [-1.0]], np.array([1.0, -1.0]), np.ones(2), intercept=None)
    >>> round(bounds.lower, 6), round(bounds.upper, 6)
    (0.5, 0.5)
    """
    scaled = at_scale_of_rows(X, costs, intercept)
    if scaled is None:
        return Enclosure(0.0, np.inf)
    rows, places, costs = scaled
    signs = signs[places]
    *_, best = hinge_points(rows, signs, costs, free=intercept is None, close=CLOSE)
    return scaled_back(best.lower, best.upper, rows)


class HingePoint(NamedTuple):
    """Weights and a free intercept, and what they and multipliers say of the optimum.

    ``upper`` is not below the objective of these weights, and ``lower`` not above the optimum;
    ``alpha`` are the multipliers of the best dual value so far.
    """

    weights: FloatArray
    shift: float
    alpha: FloatArray
    lower: float
    upper: float


def hinge_points(
    rows: SafeRows, signs: FloatArray, costs: FloatArray, *, free: bool, close: float
) -> Iterator[HingePoint]:
    """Yield ever better points, until the bounds are close to each other, or there are no more.

    Parameters
    ----------
    rows : SafeRows
        Rows.
    signs, costs : ndarray of shape (n_samples,)
        Labels −1 and +1, and positive constants, at the scale of the rows.
    free : bool
        Whether there is an intercept that is not penalised.
    close : float
        Relative difference of the bounds that is close enough.
    """
    best = HingePoint(
        np.zeros(rows.values.shape[1] + 1),
        0.0,
        np.zeros(len(signs)),
        0.0,
        float(costs.sum()) * (1 + len(costs) * EPS),
    )
    yield best
    for alpha in _hinge_multipliers(rows, signs, costs, free=free):
        combined, error = rows.combination(alpha * signs)
        total = float(alpha.sum()) * (1 - len(alpha) * EPS)
        square = (float(np.linalg.norm(combined)) + error) ** 2 * (1 + len(combined) * EPS)
        lower = total - square / 2
        shift = _best_shift(rows.scores(combined)[0], signs, costs) if free else 0.0
        upper, stretch = _primal(rows, signs, costs, combined, shift, power=1)
        if lower > best.lower:
            best = best._replace(alpha=alpha, lower=lower)
        if upper < best.upper:
            best = best._replace(weights=stretch * combined, shift=stretch * shift, upper=upper)
        yield best
        if best.upper - best.lower <= close * best.upper:
            return


def _hinge_multipliers(
    rows: SafeRows, signs: FloatArray, costs: FloatArray, *, free: bool
) -> Iterator[FloatArray]:
    """Yield points of the dual problem, the later ones nearer to its optimum."""
    kernel = rows.kernel
    if free:
        alpha = libsvm_multipliers(kernel, signs, costs)
    else:
        # Mirrored rows make b = 0 optimal, and share each cost with their originals.
        mirrored = np.block([[kernel, -kernel], [-kernel, kernel]])
        both = libsvm_multipliers(mirrored, np.r_[signs, -signs], np.r_[costs, costs] / 2)
        alpha = np.minimum(both[: len(signs)] + both[len(signs) :], costs)
    yield alpha
    yield _polished(kernel, signs, costs, alpha, free=free)
    if len(signs) <= MAX_DIRECT:
        alpha = hinge_multipliers(kernel, signs, costs, free_intercept=free)
        yield balanced(alpha, signs) if free else alpha
        alpha = np.where(alpha < CLOSE * costs, 0.0, alpha)
        yield _polished(kernel, signs, costs, alpha, free=free)


def _polished(
    kernel: FloatArray, signs: FloatArray, costs: FloatArray, alpha: FloatArray, *, free: bool
) -> FloatArray:
    """Return multipliers that put the rows between their bounds on the margin exactly."""
    at_cost = alpha >= costs * (1 - CLOSE)
    within = np.flatnonzero((alpha > 0) & ~at_cost)
    polished = np.where(at_cost, costs, 0.0)
    if 0 < len(within) <= MAX_DIRECT:
        right = signs[within] - kernel[within] @ (polished * signs)
        system = kernel[np.ix_(within, within)]
        total = -float(polished @ signs)
        beta = bordered_solution(system, right, total) if free else solved(system, right)
        polished[within] = np.clip(beta * signs[within], 0.0, costs[within])
    return balanced(polished, signs) if free else polished


@OVERFLOW_IS_WIDE
def squared_hinge_objective(
    X: Any, signs: FloatArray, costs: FloatArray, *, intercept: float
) -> Enclosure:
    r"""Enclose the optimum of ½‖w‖² + Σ C_i max(0, 1 − y_i f_i)², with f = w·x + intercept·w₀.

    Parameters
    ----------
    X : {array-like, sparse array or matrix} of shape (n_samples, n_features), or SafeRows
        Rows.
    signs : ndarray of shape (n_samples,)
        Labels −1 and +1.
    costs : ndarray of shape (n_samples,)
        Constants C_i, not negative.
    intercept : float
        The feature that the intercept w₀ is the weight of; 0 means that there is none.

    Returns
    -------
    Enclosure
        Dual and primal value.

    Notes
    -----
    With the multipliers αᵢ = 2Cᵢ max(0, 1 − yᵢfᵢ) of weights w, the gap is ½‖g‖², where g is the
    gradient at w.

    Examples
    --------
    >>> import numpy as np
    >>> signs, costs = np.array([1.0, -1.0]), np.full(2, 0.5)
    >>> bounds = squared_hinge_objective(np.eye(2), signs, costs, intercept=0.0)
    >>> round(bounds.lower, 6), round(bounds.upper, 6)
    (0.5, 0.5)
    """
    scaled = at_scale_of_rows(X, costs, intercept)
    if scaled is None:
        return Enclosure(0.0, np.inf)
    rows, places, costs = scaled
    signs = signs[places]
    start = np.zeros(rows.values.shape[1] + 1)
    weights, _ = squared_hinge_minimiser(rows.values, rows.constant, signs, costs, start)
    lower, upper = 0.0, float(costs.sum()) * (1 + len(costs) * EPS)
    upper = min(upper, _primal(rows, signs, costs, weights, 0.0, power=2)[0])
    for alpha in _squared_multipliers(rows, signs, costs, weights):
        combined, error = rows.combination(alpha * signs)
        lower = max(lower, _squared_dual(costs, alpha, combined, error))
        upper = min(upper, _primal(rows, signs, costs, combined, 0.0, power=2)[0])
    return scaled_back(lower, upper, rows)


def _squared_multipliers(
    rows: SafeRows, signs: FloatArray, costs: FloatArray, weights: FloatArray
) -> Iterator[FloatArray]:
    """Yield the multipliers that belong to weights, by their slack and by the rows with slack."""
    slack = 1 - signs * rows.scores(weights)[0]
    yield 2 * costs * np.maximum(0.0, slack)
    # At a large cost the slack is no more than rounding, and yet has multipliers.
    short = np.flatnonzero(slack > -CLOSE)
    if 0 < len(short) <= MAX_DIRECT:
        part = rows.take(short)
        alpha = np.zeros(len(signs))
        system = part.kernel + np.diag(1 / (2 * costs[short]))
        alpha[short] = np.maximum(0.0, signs[short] * solved(system, signs[short]))
        yield alpha


def _squared_dual(
    costs: FloatArray, alpha: FloatArray, combined: FloatArray, error: float
) -> float:
    """Return the dual value of the best multiple of some multipliers, or less."""
    square = (float(np.linalg.norm(combined)) + error) ** 2 / 2
    square += float(alpha @ (alpha / (4 * costs)))
    square *= 1 + (len(combined) + len(costs) + 8) * EPS
    total = float(alpha.sum()) * (1 - len(alpha) * EPS)
    return total * (total / (4 * square)) * (1 - 8 * EPS) if square > 0 else 0.0


def _primal(
    rows: SafeRows,
    signs: FloatArray,
    costs: FloatArray,
    weights: FloatArray,
    shift: float,
    *,
    power: int,
) -> tuple[float, float]:
    """Return the objective of a multiple of some weights, or more, and the multiple."""
    scores, errors = rows.scores(weights)
    margins = signs * (scores + shift) - errors - 2 * EPS * abs(shift)
    squared_norm = float(weights @ weights)

    def value(stretch: float) -> float:
        slack = np.maximum(0.0, 1 - stretch * margins)
        return stretch**2 * squared_norm / 2 + float(costs @ slack**power)

    # Margins short by a solver's tolerance are expensive where C is large; stretching mends them.
    best = minimize_scalar(value, bounds=(0.9, 1.1), method="bounded", options={"xatol": 1e-12})
    nearest = margins[np.abs(margins - 1) < 1e-4].min(initial=1.0)
    found, stretch = min((value(s), s) for s in (1.0, float(best.x), float(1 / nearest)))
    return found * (1 + (len(weights) + len(costs) + 8) * EPS), stretch


def _best_shift(scores: FloatArray, signs: FloatArray, costs: FloatArray) -> float:
    """Return the b that minimises Σ C max(0, 1 − y(score + b)), whose slope rises at y − score."""
    kinks = signs - scores
    order = np.argsort(kinks)
    rise = np.cumsum(costs[order])
    place = int(np.searchsorted(rise, costs[signs > 0].sum()))
    return float(kinks[order[min(place, len(order) - 1)]])


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
        upper = min(upper, _logistic_primal(leads[:, None], costs, penalty, len(candidate)))
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
        upper = min(upper, _logistic_primal(leads, costs, penalty, candidate.size))
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


def _logistic_primal(leads: FloatArray, costs: FloatArray, penalty: float, n_weights: int) -> float:
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


@OVERFLOW_IS_WIDE
def tube_objective(
    X: Any,
    targets: FloatArray,
    costs: FloatArray,
    *,
    intercept: float | None,
    epsilon: float = 0.0,
) -> Enclosure:
    r"""Enclose the optimum of ½‖w‖² + Σ C_i max(0, \|t_i − f_i\| − ε)², squared loss for ε = 0.

    Parameters
    ----------
    X : {array-like, sparse array or matrix} of shape (n_samples, n_features), or SafeRows
        Rows.
    targets : ndarray of shape (n_samples,)
        Numbers t.
    costs : ndarray of shape (n_samples,)
        Constants C_i, not negative.
    intercept : float or None
        None for f = w·x + b with b free; otherwise f = w·x + intercept·w₀ with w₀ a weight like
        the others, and 0 means that there is none.
    epsilon : float, default=0.0
        Half the width of the tube.

    Returns
    -------
    Enclosure
        Dual and primal value.

    Notes
    -----
    The dual problem is to maximise βᵀt − ε‖β‖₁ − Σ βᵢ²/(4Cᵢ) − ½‖Aᵀβ‖², for a free intercept among
    the β that sum to 0.

    Examples
    --------
    >>> import numpy as np
    >>> bounds = tube_objective(np.eye(1), np.array([2.0]), np.array([0.5]), intercept=0.0)
    >>> round(bounds.lower, 6), round(bounds.upper, 6)
    (1.0, 1.0)
    """
    scaled = at_scale_of_rows(X, costs, intercept)
    if scaled is None:
        return Enclosure(0.0, np.inf)
    rows, places, costs = scaled
    targets, exponent = _near_one(targets[places], free=intercept is None)
    with np.errstate(under="ignore"):
        epsilon = float(np.ldexp(epsilon, -exponent))
    excess = np.maximum(0.0, np.abs(targets) * (1 + 2 * EPS) + TINY - epsilon * (1 - EPS))
    upper = float(costs @ (excess**2 + TINY)) * (1 + (len(costs) + 8) * EPS) + TINY
    if not (np.abs(targets) > epsilon).any():
        # Weights of zero lose nothing, or no more than rounding.
        return scaled_back(0.0, upper, rows, exponent)
    start = np.zeros((rows.values.shape[1] + 1, 1))
    constant = None if intercept is None else rows.constant
    weights, _ = minimiser(rows.values, TubeLoss(targets, costs, epsilon), constant, start)
    shift = float(weights[-1, 0]) if intercept is None else 0.0
    point = weights[:, 0] * np.append(np.ones(len(weights) - 1), intercept is not None)
    upper = min(upper, _tube_primal(rows, targets, costs, epsilon, point, shift))
    lower = 0.0
    for beta in _tube_multipliers(rows, targets, costs, epsilon, point, shift, intercept is None):
        combined, error = rows.combination(beta)
        lower = max(lower, _tube_dual(targets, costs, epsilon, beta, combined, error))
        upper = min(upper, _tube_primal(rows, targets, costs, epsilon, combined, shift))
    return scaled_back(lower, upper, rows, exponent)


def _near_one(targets: FloatArray, *, free: bool) -> tuple[FloatArray, int]:
    """Return targets times a power of 2, of at most 1, and the exponent.

    A free intercept takes in a point that they are moved by, each rounded once.
    """
    exponent = int(np.frexp(np.abs(targets).max(initial=0.0))[1])
    targets = np.ldexp(targets, -exponent)
    if free:
        targets = near_origin(targets[:, None])[:, 0]
        more = int(np.frexp(np.abs(targets).max(initial=0.0))[1])
        targets, exponent = np.ldexp(targets, -more), exponent + more
    return targets, exponent


def _tube_primal(
    rows: SafeRows,
    targets: FloatArray,
    costs: FloatArray,
    epsilon: float,
    weights: FloatArray,
    shift: float,
) -> float:
    """Return the objective of some weights, or more."""
    scores, errors = rows.scores(weights)
    rounding = 4 * EPS * (np.abs(targets) + np.abs(scores) + abs(shift)) + errors
    rounding += len(weights) * TINY
    off = np.abs(targets - (scores + shift)) + rounding
    excess = np.maximum(0.0, off - epsilon * (1 - 2 * EPS))
    value = float(weights @ weights) / 2 + float(costs @ (excess**2 + TINY))
    upper = value * (1 + (len(weights) + len(costs) + 8) * EPS) + len(weights) * TINY
    return np.inf if np.isnan(upper) else upper


def _tube_multipliers(
    rows: SafeRows,
    targets: FloatArray,
    costs: FloatArray,
    epsilon: float,
    weights: FloatArray,
    shift: float,
    free: bool,
) -> list[FloatArray]:
    """Return multipliers that belong to weights, by their errors and by the rows outside."""
    off = targets - (rows.scores(weights)[0] + shift)
    excess = np.sign(off) * np.maximum(0.0, np.abs(off) - epsilon)
    found = [2 * costs * excess]
    # At a large cost the errors are no more than rounding, and yet have multipliers.
    outside = np.flatnonzero(found[0]) if epsilon else np.arange(len(off))
    if 0 < len(outside) <= MAX_DIRECT:
        system = rows.take(outside).kernel + np.diag(1 / (2 * costs[outside]))
        right = targets[outside] - epsilon * np.sign(off[outside])
        beta = np.zeros(len(off))
        beta[outside] = bordered_solution(system, right, 0.0) if free else solved(system, right)
        found.append(beta)
    if not free:
        return found
    return [balanced(np.abs(beta), np.sign(beta)) * np.sign(beta) for beta in found]


def _tube_dual(
    targets: FloatArray,
    costs: FloatArray,
    epsilon: float,
    beta: FloatArray,
    combined: FloatArray,
    error: float,
) -> float:
    """Return the dual value of the best multiple of some multipliers, or less."""
    n_rows = len(beta)
    error += len(combined) * n_rows * TINY
    square = (float(np.linalg.norm(combined)) + error) ** 2 / 2
    square += float(beta @ (beta / (4 * costs)))
    # Multipliers that ought to sum to zero do so but for rounding.
    square = square * (1 + (len(combined) + 4 * n_rows + 16) * EPS) + (n_rows + 1) * TINY
    sizes = np.abs(beta)
    total = float(beta @ targets) - epsilon * float(sizes.sum())
    total -= (2 * n_rows + 8) * EPS * float(sizes @ (np.abs(targets) + epsilon))
    total -= (n_rows + 1) * TINY * (1 + float(sizes.max(initial=0.0)))
    if not total > 0 or not np.isfinite(square):
        return 0.0
    return total * (total / (4 * square)) * (1 - 8 * EPS)
