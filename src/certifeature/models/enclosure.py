"""Lower and upper bounds on the optimal objective of a linear model."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.optimize import minimize_scalar
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from certifeature import _utils as _memory
from certifeature._utils import EPS, TINY, FloatArray
from certifeature.models.losses import UNDERFLOW, Loss
from certifeature.models.problem import Part
from certifeature.models.solver import MAX_DIRECT, bordered_solution, minimise, solved
from certifeature.rows.matrix import (
    dense,
    finite_rows,
    near_origin,
    scaled_columns,
    stored_values,
    times_power_of_two,
)

# Relative difference of two bounds at which the search for better ones stops.
CLOSE = 1e-6
# Whatever overflows on the way leaves a bound as wide as it was.
OVERFLOW_IS_WIDE = np.errstate(over="ignore", invalid="ignore", divide="ignore")
# Where LIBSVM stops.
_TOLERANCE, _MAX_ITERATIONS = 1e-6, 200_000
# Steps of the interior point method, the complementarity to stop at, as a share of the objective,
# the share of it that a step aims at, and the share of the way to the boundary that it may go.
_MAX_STEPS, _INTERIOR_TOLERANCE = 100, 1e-12
_TOWARDS_CENTRE, _SHORT_OF_BOUNDARY = 0.1, 0.995


@dataclass(frozen=True, eq=False)
class SafeRows:
    """Rows (aᵢ, constant) that predict aᵢᵀw + constant·w₀, a = (x − shift)·scales·2^-exponent.

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
    def of(cls, X: Any, intercept: float | None, scales: FloatArray | None = None) -> SafeRows:
        """Return the rows of X, or of its columns times scales.

        Columns are scaled after the shift: of what is left of them, a product is rounded no more
        than relative to itself, as the difference was.

        Parameters
        ----------
        X : {array-like, sparse array or matrix} of shape (n_samples, n_features)
            Finite.
        intercept : float or None
            The value of the constant feature that a penalised intercept is the weight of, 0 for no
            intercept, None for a free one.
        scales : ndarray of shape (n_features,), default=None
            Scales of the columns.
        """
        changes: list[Callable[[Any], Any]] = [finite_rows]
        if intercept is None:
            changes.append(near_origin)
        if scales is not None:
            changes.append(partial(scaled_columns, scales=scales))
        values, constant, exponent = X, float(intercept or 0.0), 0
        for change in changes:
            values = change(values)
            largest = np.abs(stored_values(values)).max(initial=abs(constant))
            more = int(np.frexp(largest)[1])
            values, constant = times_power_of_two(values, -more), float(np.ldexp(constant, -more))
            exponent += more
        return cls(values, constant, exponent)

    def like(self, values: Any) -> SafeRows:
        """Return other rows at the same scale, for an intercept that is not free."""
        values = times_power_of_two(values, -self.exponent)
        return SafeRows(values, self.constant, self.exponent)

    def take(self, rows: NDArray[np.intp]) -> SafeRows:
        """Return some of the rows, or all, in their order."""
        if len(rows) == self.values.shape[0]:
            return self
        return SafeRows(self.values[rows], self.constant, self.exponent)

    def scores(self, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the predictions of weights (w, w₀), and the most by which each may be wrong.

        There may be a column of weights for each thing that is predicted.
        """
        scores = np.asarray(self.values @ weights[:-1] + self.constant * weights[-1])
        sizes = self._absolute_times(np.abs(weights[:-1])) + abs(self.constant * weights[-1])
        return scores, (len(weights) + 4) * EPS * sizes

    def combination(self, multipliers: FloatArray) -> tuple[FloatArray, float]:
        """Return the weights (Aᵀβ, constant·Σβ), and the most by which their norm may be wrong."""
        weights = self._with_constant(self.values.T @ multipliers, multipliers)
        return weights, float(np.linalg.norm(self.combination_errors(multipliers)))

    def combination_errors(self, multipliers: FloatArray) -> FloatArray:
        """Return the most by which each of the weights that multipliers combine may be wrong."""
        sizes = np.abs(multipliers)
        sizes = self._with_constant(self._absolute_transposed_times(sizes), sizes)
        # Twice: multipliers that ought to sum to zero over the classes do so but for rounding.
        return 2 * (len(multipliers) + 4) * EPS * sizes

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
        return np.asarray(dense(self.values @ self.values.T) + self.constant**2)

    def _with_constant(self, combined: FloatArray, multipliers: FloatArray) -> FloatArray:
        """Return a combination of the rows with that of their constant feature."""
        return np.concatenate([combined, self.constant * multipliers.sum(axis=0, keepdims=True)])

    def _absolute_times(self, weights: FloatArray) -> FloatArray:
        found = np.zeros((self.values.shape[0], *weights.shape[1:]))
        for block in self._blocks():
            found[block] = abs(self.values[block]) @ weights
        return found

    def _absolute_transposed_times(self, multipliers: FloatArray) -> FloatArray:
        found = np.zeros((self.values.shape[1], *multipliers.shape[1:]))
        for block in self._blocks():
            found += abs(self.values[block]).T @ multipliers[block]
        return found

    def _blocks(self) -> list[slice]:
        """Return slices of rows, a few at a time: their magnitudes are copies."""
        n_rows, n_values = self.values.shape[0], stored_values(self.values).size
        at_once = max(1, _memory.SAFE_ROWS_AT_ONCE * n_rows // max(n_values, 1))
        return [slice(start, start + at_once) for start in range(0, n_rows, at_once)]


class Enclosure(NamedTuple):
    """A number that lies between two computed ones."""

    lower: float
    upper: float


class Point(NamedTuple):
    """The best bounds on an optimum so far, and what attains them.

    ``upper`` is not below the objective of ``weights`` and the free intercepts ``shift``, and
    ``lower``, the dual value of the multipliers ``beta``, not above the optimum.
    """

    weights: FloatArray
    shift: FloatArray
    beta: FloatArray
    lower: float
    upper: float


@OVERFLOW_IS_WIDE
def enclose(X: Any, loss: Loss, *, intercept: float | None) -> Enclosure:
    r"""Enclose the optimum of ½‖w‖² + Σ cᵢ·loss(fᵢ) for a linear model f of rows.

    Parameters
    ----------
    X : {array-like, sparse array or matrix} of shape (n_samples, n_features), or SafeRows
        Rows.
    loss : Loss
        As `make_loss` returns it, for these rows. Rows without cost are ignored.
    intercept : float or None
        None for f = w·x + b with b free; otherwise f = w·x + intercept·w₀ with w₀ a weight like
        the others, and 0 means that there is none.

    Returns
    -------
    Enclosure
        Dual and primal value, enlarged by what rounding can do.

    Notes
    -----
    Any multipliers β have a dual value that is no more than the optimum, once they sum to 0 for a
    free intercept. Those of weights w are β = −c·loss'(f). For a squared loss the gap is then
    ½‖g‖², with g the gradient at w.

    Examples
    --------
    >>> import numpy as np
    >>> from certifeature.models import make_loss
    >>> signs, costs = np.array([1.0, -1.0]), np.full(2, 0.5)
    >>> bounds = enclose(np.eye(2), make_loss("squared_hinge", signs, costs), intercept=0.0)
    >>> round(bounds.lower, 6), round(bounds.upper, 6)
    (0.5, 0.5)
    >>> bounds = enclose(np.zeros((2, 1)), make_loss("logistic", signs, costs), intercept=None)
    >>> round(bounds.lower, 6), round(bounds.upper, 6)
    (0.693147, 0.693147)
    """
    scaled = at_scale_of_rows(X, loss, intercept)
    if scaled is None:
        return Enclosure(0.0, np.inf)
    rows, free = scaled[0], intercept is None
    loss, exponent = scaled[1].normalised(free=free)
    if loss.targets.ndim == 2 and loss.n_columns < 2:
        # There are no other classes.
        return Enclosure(0.0, 0.0)
    *_, best = points(rows, loss, free=free, close=CLOSE)
    return scaled_back(best.lower, best.upper, exponent - rows.exponent)


def at_scale_of_rows(X: Any, loss: Loss, intercept: float | None) -> tuple[SafeRows, Loss] | None:
    """Return the rows with a cost, and their loss at the scale of the rows.

    For w scaled up as x is scaled down, all of the objective grows by the same factor. None if some
    of the costs leave the range of numbers.
    """
    rows = X if isinstance(X, SafeRows) else SafeRows.of(X, intercept)
    places = np.flatnonzero(loss.costs > 0)
    if len(places) < len(loss.costs):
        rows, loss = rows.take(places), loss.take(places)
    with np.errstate(over="ignore", under="ignore"):
        costs = np.ldexp(loss.costs, 2 * rows.exponent)
    in_range = bool((np.isfinite(costs) & (costs >= TINY)).all())
    return (rows, replace(loss, costs=costs)) if in_range else None


def scaled_back(lower: float, upper: float, exponent: int) -> Enclosure:
    """Return bounds times 4^exponent, wider where they leave the range of numbers."""
    with np.errstate(over="ignore", under="ignore"):
        bounds = np.ldexp([lower, upper], 2 * exponent)
    # Below the normal numbers, rounding is no longer relative.
    least = float(bounds[0]) if np.isfinite(bounds[0]) and bounds[0] >= TINY else 0.0
    return Enclosure(least, float(max(bounds[1], TINY)))


def points(rows: SafeRows, loss: Loss, *, free: bool, close: float) -> Iterator[Point]:
    """Yield ever better points, until the bounds are close to each other, or there are no more.

    Parameters
    ----------
    rows : SafeRows
        Rows.
    loss : Loss
        Their loss, with positive costs, at the scale of the rows.
    free : bool
        Whether there is an intercept that is not penalised.
    close : float
        Relative difference of the bounds that is close enough.
    """
    shape, n_rows = (rows.values.shape[1] + 1, loss.n_columns), len(loss.costs)
    nothing = np.zeros(shape), np.zeros(shape[1]), np.zeros((n_rows, shape[1]))
    best = Point(*nothing, 0.0, loss.value(nothing[2]))
    yield best
    for beta, shift, weights in _candidates(rows, loss, free):
        beta = loss.feasible(beta)
        beta = balanced(beta) if free and shape[1] == 1 else beta
        combined, error = rows.combination(beta)
        if shift is None:
            shift = nothing[1]
            if free:
                scores = rows.scores(combined)[0][:, 0]
                shift = np.array([best_shift(scores, loss.targets, loss.costs)])
        lower = loss.dual(beta, _half_square(combined, error, n_rows))
        for tried in (combined,) if weights is None else (weights, combined):
            upper, stretch = _primal(rows, loss, tried, shift, max(lower, best.lower), close)
            if upper < best.upper:
                best = best._replace(weights=stretch * tried, shift=stretch * shift, upper=upper)
        if free and shape[1] > 1:
            lower -= _price_of_sums(rows, loss, beta, best.upper)
        if lower > best.lower:
            best = best._replace(beta=beta, lower=lower)
        yield best
        if best.upper - best.lower <= close * best.upper:
            return


def _primal(
    rows: SafeRows, loss: Loss, weights: FloatArray, shift: FloatArray, lower: float, close: float
) -> tuple[float, float]:
    """Return the objective of weights or of a multiple of them, or more, and the multiple."""
    scores, errors = rows.scores(weights)
    errors = errors + 4 * EPS * (np.abs(scores) + np.abs(shift)) + len(weights) * TINY
    scores, half_square = scores + shift, float((weights**2).sum()) / 2
    rounding = 1 + (weights.size + len(scores) + 8) * EPS

    def value(stretch: float) -> float:
        found = stretch**2 * half_square + loss.value(stretch * scores, stretch * errors)
        found = found * rounding + weights.size * UNDERFLOW
        return np.inf if np.isnan(found) else float(found)

    upper = value(1.0)
    if upper - lower <= close * upper or not np.isfinite(upper):
        return upper, 1.0
    # Scores short by a solver's tolerance are expensive where C is large; stretching mends them.
    best = minimize_scalar(value, bounds=(0.9, 1.1), method="bounded", options={"xatol": 1e-12})
    return min((value(s), s) for s in (1.0, float(best.x), loss.stretch(scores, errors)))


def _half_square(combined: FloatArray, error: float, n_rows: int) -> float:
    """Return ½‖Aᵀβ‖², or more."""
    n_columns = combined.shape[1]
    # Multipliers of several classes are rounded themselves, as often as there are classes.
    error = error * (1 if n_columns == 1 else 1 + n_columns) + combined.size * n_rows * TINY
    rounding = 1 + (combined.size + 4 * n_rows + 16) * EPS
    return (float(np.linalg.norm(combined)) + error) ** 2 / 2 * rounding + combined.size * UNDERFLOW


def _price_of_sums(rows: SafeRows, loss: Loss, beta: FloatArray, upper: float) -> float:
    """Return what multipliers of several classes cost that do not sum to zero, or more.

    Sums r_k cost Σ r_k·b_k of the best intercepts b. With an optimum of at most U, a row of class j
    loses at most U/c, so that f_k − f_j ≤ U/c; and ‖W‖² ≤ 2U, so that b_k − b_j ≤ U/c + 2‖x‖√U for
    each row of class j.
    """
    n_rows, n_classes = beta.shape
    sums = np.abs(beta.sum(axis=0)) + (n_rows + n_classes) * EPS * np.abs(beta).sum(axis=0)
    reach = upper / loss.costs + 2 * (rows.norms + TINY**0.4) * np.sqrt(upper)
    widest = float(max(reach[members].min() for members in loss.targets.T))
    return float(sums.sum()) * (widest * (1 + 1e-6) + TINY)


Candidate = tuple[FloatArray, FloatArray | None, FloatArray | None]


def _candidates(rows: SafeRows, loss: Any, free: bool) -> Iterator[Candidate]:
    """Yield multipliers, the free intercepts, and weights, as far as these are known."""
    if not loss.smooth:
        alphas = _hinge_multipliers(rows, loss.targets, loss.costs, free=free)
        yield from (((alpha * loss.targets)[:, None], None, None) for alpha in alphas)
        return
    weights, _ = minimise(rows.values, loss, None if free else rows.constant)
    shift = weights[-1] * free
    if free:
        weights = np.vstack([weights[:-1], np.zeros_like(shift)])
    scores = rows.scores(weights)[0] + shift
    yield -loss.at(scores).slopes, shift, weights
    if not loss.quadratic:
        return
    # At a large cost the errors are no more than rounding, and yet have multipliers.
    sides, distances = (part[:, 0] for part in loss.sides(scores))
    near = np.flatnonzero(distances - loss.epsilon > -CLOSE)
    if 0 < len(near) <= MAX_DIRECT:
        system = rows.take(near).kernel + np.diag(1 / (2 * loss.costs[near]))
        right = loss.targets[near] - loss.epsilon * sides[near]
        found = bordered_solution(system, right, 0.0)[0] if free else solved(system, right)
        beta = np.zeros((len(scores), 1))
        beta[near, 0] = found
        yield beta, shift, None


@dataclass(frozen=True, eq=False)
class SubsetBound:
    """Lower bounds on the objective P(S) of sets S of features, all from the same multipliers.

    By weak duality P(S) ≥ −Σ cᵢφᵢ*(−βᵢ/cᵢ) − Σ_{j∈S} eⱼ with the energies eⱼ = ½(xⱼᵀβ)², for any
    feasible β. No set of k features has more energy than the k largest together.

    Attributes
    ----------
    loss : Loss
        Any of the losses, which says how dual values follow from sums.
    linear, square : float
        As `Loss.conjugate` returns them, summed over the problems that a model solves. The square
        includes what a penalised intercept and always-included features have of energy.
    energies : ndarray of shape (n_groups,)
        Energies of single features or of groups of features, or more.
    fixed : ndarray of bool, of shape (n_groups,)
        Groups that are in all sets.
    price : float
        What the bounds lose as multipliers do not sum to zero.
    """

    loss: Loss
    linear: float
    square: float
    energies: FloatArray
    fixed: NDArray[np.bool_]
    price: float = 0.0

    def of_energies(self, energies: FloatArray) -> FloatArray:
        """Return bounds on the objectives of all sets whose other groups have so much energy."""
        # Sums of energies are rounded as often as there are energies.
        squares = self.square + energies * (1 + (len(self.energies) + 8) * EPS)
        return np.maximum(self.loss.dual_values(self.linear, squares) - self.price, 0.0)

    @cached_property
    def by_size(self) -> FloatArray:
        """Bounds for sets of so many groups, from those that have the always-included ones only."""
        ranked = np.sort(self.energies[~self.fixed])[::-1]
        return self.of_energies(np.append(0.0, np.cumsum(ranked)))

    def of_size(self, size: int) -> float:
        """Return the bound for sets of so many groups."""
        return float(self.by_size[size - int(self.fixed.sum())])

    def fewest(self, upper: float) -> int:
        """Return the least size for which a set may have an objective of at most ``upper``."""
        return int(self.fixed.sum()) + int((self.by_size > upper).sum())

    def widest_margin(self, size: int) -> float:
        """Return a bound on the hard margin of two classes by any set of so many groups.

        The points Σ αᵢxᵢ/Σα of the hulls of the classes have the difference 2Xᵀβ/Σα. Half of its
        norm in the columns of a set bounds the margin by this set.
        """
        ranked = np.sort(self.energies[~self.fixed])[::-1]
        inside = ranked[: size - int(self.fixed.sum())]
        energy = float(inside.sum() + self.energies[self.fixed].sum())
        with np.errstate(divide="ignore", invalid="ignore"):
            widest = np.divide(np.sqrt(2 * energy * (1 + (len(ranked) + 8) * EPS)), self.linear)
        return float(widest) * (1 + 8 * EPS) if self.linear > 0 else np.inf

    def in_every_and_no_set(
        self, size: int, upper: float
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Tell which groups all sets of this size with an objective of at most ``upper`` have.

        The second mask tells which groups none of these sets has.
        """
        others = np.flatnonzero(~self.fixed)
        n_inside = size - len(self.fixed) + len(others)
        always, never = self.fixed.copy(), np.zeros_like(self.fixed)
        if not 0 < n_inside < len(others):
            return always | (n_inside > 0), never
        order = others[np.argsort(-self.energies[others], kind="stable")]
        inside, outside = order[:n_inside], order[n_inside:]
        ranked = self.energies[order]
        # What is left of the total without its largest part may be less than its rounding.
        total = float(ranked[:n_inside].sum()) * (1 + (n_inside + 8) * EPS)
        # Without one of the largest the next one takes its place; another takes that of the last.
        without = self.of_energies(total - self.energies[inside] + ranked[n_inside])
        beside = self.of_energies(total - ranked[n_inside - 1] + self.energies[outside])
        always[inside], never[outside] = without > upper, beside > upper
        return always, never


@OVERFLOW_IS_WIDE
def subset_bound(
    rows: SafeRows,
    parts: list[Part],
    beta: FloatArray,
    *,
    free: bool,
    upper: float,
    groups: NDArray[np.intp],
    fixed: NDArray[np.bool_],
) -> SubsetBound:
    """Return the bounds on the objectives of sets of features that multipliers prove.

    Parameters
    ----------
    rows : SafeRows
        Rows with all features.
    parts : list of Part
        The problems that a model solves, with losses at the scale of the rows.
    beta : ndarray of shape (n_samples, n_columns)
        Multipliers; 0 for rows that are not part of a problem.
    free : bool
        Whether there is an intercept that is not penalised.
    upper : float
        Objective that sets are compared with; bounds need not hold for sets that are worse.
    groups : ndarray of int, of shape (n_features,)
        Number of each feature's group.
    fixed : ndarray of bool, of shape (n_groups,)
        Groups that are in all sets.
    """
    feasible, linear, square, price = np.zeros_like(beta), 0.0, 0.0, 0.0
    for part in parts:
        own = part.loss.feasible(beta[part.rows, part.columns])
        own = balanced(own) if free and own.shape[1] == 1 else own
        more, rest = part.loss.conjugate(own)
        # Rounded as often as there are parts.
        linear, square = linear + more - len(parts) * EPS * abs(more), square + rest
        if free and own.shape[1] > 1:
            price += _price_of_sums(rows.take(part.rows), part.loss, own, upper)
        feasible[part.rows, part.columns] = own
    combined = rows.combination(feasible)[0]
    # Multipliers of several classes are rounded themselves, as often as there are classes.
    times = 1 if len(parts) > 1 or beta.shape[1] == 1 else 1 + beta.shape[1]
    sizes = np.abs(combined) + times * rows.combination_errors(feasible) + len(beta) * TINY
    energies = (sizes**2).sum(axis=1) / 2 * (1 + (beta.shape[1] + 8) * EPS) + UNDERFLOW
    of_groups = np.asarray(np.bincount(groups, energies[:-1], len(fixed)), np.float64)
    of_groups *= 1 + len(groups) * EPS
    always_there = float(energies[-1] + of_groups[fixed].sum())
    square = (square + always_there) * (1 + (len(groups) + len(parts) + 8) * EPS)
    return SubsetBound(parts[0].loss, linear, square, of_groups, fixed, price)


def balanced(beta: FloatArray) -> FloatArray:
    """Return multipliers that sum to zero but for rounding, none of them larger."""
    positive, negative = beta[beta > 0].sum(), -beta[beta < 0].sum()
    least = min(positive, negative)
    if least == 0:
        return np.zeros_like(beta)
    return np.asarray(beta * np.where(beta > 0, least / positive, least / negative))


def best_shift(scores: FloatArray, signs: FloatArray, costs: FloatArray) -> float:
    """Return the b that minimises Σ c max(0, 1 − y(score + b)), whose slope rises at y − score."""
    kinks = signs - scores
    order = np.argsort(kinks)
    rise = np.cumsum(costs[order])
    # Between these two the slope is zero, but for rounding.
    goal, last = costs[signs > 0].sum(), len(order) - 1
    left, right = (np.searchsorted(rise, goal, side) for side in ("left", "right"))
    return float(kinks[order[min(left, last)]] / 2 + kinks[order[min(right, last)]] / 2)


def _hinge_multipliers(
    rows: SafeRows, signs: FloatArray, costs: FloatArray, *, free: bool
) -> Iterator[FloatArray]:
    """Yield points of the dual problem of the hinge loss, the later ones nearer to its optimum."""
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
        alpha = _interior_point(kernel, signs, costs, free=free)
        yield alpha
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
        beta = bordered_solution(system, right, total)[0] if free else solved(system, right)
        polished[within] = np.clip(beta * signs[within], 0.0, costs[within])
    return polished


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
    return np.asarray(balanced(np.minimum(alpha, costs) * signs) * signs)


def _interior_point(
    kernel: FloatArray, signs: FloatArray, costs: FloatArray, *, free: bool
) -> FloatArray:
    """Maximise Σα − ½Σ αᵢαⱼyᵢyⱼKᵢⱼ over 0 ≤ α ≤ costs, and Σ αᵢyᵢ = 0 if the intercept is free.

    Newton's method along the central path, with a factorisation of the whole matrix in every step.
    It takes about as many steps for enormous costs as for small ones, which is where LIBSVM gives
    up. The multipliers lie strictly between their bounds.
    """
    unit, n_rows = float(costs.max()), len(costs)
    # In shares of the costs, s = α/costs: minimise ½sᵀQs − capsᵀs over 0 ≤ s ≤ 1.
    caps = costs / unit
    sides = signs * caps
    Q = unit * sides[:, None] * kernel * sides
    # Distances from the bounds, and their multipliers.
    rooms, forces, shift = np.full((2, n_rows), 0.5), np.ones((2, n_rows)), 0.0
    for _ in range(_MAX_STEPS):
        gap = float((rooms * forces).sum())
        if gap <= _INTERIOR_TOLERANCE * float(caps @ rooms[0]):
            break
        goal = _TOWARDS_CENTRE * gap / (2 * n_rows)
        right = caps - Q @ rooms[0] - free * shift * sides + goal / rooms[0] - goal / rooms[1]
        try:
            factor = cho_factor(Q + np.diag((forces / rooms).sum(axis=0)), check_finite=False)
        except LinAlgError:
            # Rounding leaves nothing to improve.
            break
        change, turned = cho_solve(factor, np.column_stack([right, sides]), check_finite=False).T
        moved = 0.0
        if free:
            # NaN, where rounding leaves a factor without an inverse, ends the search below.
            with np.errstate(divide="ignore", invalid="ignore"):
                moved = float(np.divide(sides @ (rooms[0] + change), sides @ turned))
            change = change - moved * turned
        changes = np.array([change, -change])
        pushes = (goal - forces * changes) / rooms - forces
        values, steps = np.array([rooms, forces]), np.array([changes, pushes])
        if not np.isfinite(steps).all():
            break
        shortest = (-values[steps < 0] / steps[steps < 0]).min(initial=np.inf)
        length = min(1.0, _SHORT_OF_BOUNDARY * float(shortest))
        (rooms, forces), shift = values + length * steps, shift + length * moved
    return np.asarray(costs * rooms[0])
