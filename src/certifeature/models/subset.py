r"""Which k features have the smallest training objective, and how small it can be.

The objective of a set S of features is P(S) = min ½‖w‖² + F(Xw + b) over w with no weight outside
S. With 0 ≤ z ≤ 1 and Σz = k it is relaxed to P(z), the objective of the columns √zⱼ·xⱼ, which is
convex in z. Its multipliers β prove a bound on P(S) for every set of k features, see
`certifeature.models.enclosure.SubsetBound`; its solution, rounded and improved by exchanges, is a
set that is nearly as good as that.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from heapq import heappop, heappush
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from certifeature import _utils as _memory
from certifeature._utils import TINY, FloatArray, IntArray
from certifeature.models.enclosure import OVERFLOW_IS_WIDE, SafeRows, SubsetBound, subset_bound
from certifeature.models.problem import Part, Problem
from certifeature.models.solver import minimise
from certifeature.rows.matrix import scaled_columns

# Shares z below which features are left out of a fit.
_FAINT = 1e-9
# A step multiplies shares by this power of |xⱼᵀβ|; 1 minimises an upper bound, 2 may oscillate.
_POWER = 1.5
# Most by which momentum changes a share in a step, and how small a share may become.
_LARGEST_CHANGE, _SMALLEST_SHARE = 1e3, 1e-200
_MAX_STEPS = 300
# Of the weights of fits, whose objectives are then wrong by less than its square.
_TOLERANCE = 1e-3
# So many fits may end short of it before the relaxation is given up.
_MAX_FAILURES = 5
# How far from its kink a hinge is smoothed: in the first step, by how much less in each step, and
# at least.
_FIRST, _SHRINKS, _LEAST = 0.5, 0.8, 1e-4
# Relative to the largest, to which numbers that are equal but for rounding are so.
_DIGITS = 9
# Share of what is open that is not worth more work.
_WORTHWHILE = 0.05
# Groups of least weight, and of largest energy, that are exchanged one by one.
_LEAVING, _COMING = 3, 10
# Nodes of branch and bound, and how close their relaxations are solved at most.
_MAX_NODES, _FINE = 32, 1e-5
# Share of the objective by which an exchange has to lower it.
_GAIN = 1e-6


class OutOfRangeError(ValueError):
    """Costs that leave the range of numbers at the scale of the rows."""


class Relaxed(NamedTuple):
    """A relaxed choice: shares of groups, their objective, and its multipliers."""

    shares: FloatArray
    energies: FloatArray
    beta: FloatArray
    upper: float = np.inf
    lower: float = 0.0


class Fitted(NamedTuple):
    """A model fitted to some columns: objective, weights and intercepts, multipliers.

    ``reached`` tells whether this is the optimum, to the tolerance.
    """

    value: float
    weights: FloatArray
    beta: FloatArray
    reached: bool


@dataclass(frozen=True, eq=False)
class SubsetProblem:
    """The objectives of a model on sets of features.

    Attributes
    ----------
    rows : SafeRows
        Rows with all features.
    parts : list of Part
        The problems that the model solves, with losses at the scale of the rows.
    free : bool
        Whether there is an intercept that is not penalised.
    groups : ndarray of int, of shape (n_features,)
        Number of each feature's group; sets are sets of groups.
    fixed : ndarray of bool, of shape (n_groups,)
        Groups that are in all sets.
    exponent : int
        Objectives are those of the data over 4^exponent.
    ties : ndarray of int, of shape (n_groups,)
        Which of groups that are alike but for rounding comes first.
    """

    rows: SafeRows
    parts: list[Part]
    free: bool
    groups: IntArray
    fixed: NDArray[np.bool_]
    exponent: int
    ties: IntArray

    @classmethod
    def of(
        cls,
        X: Any,
        problem: Problem,
        groups: IntArray | None = None,
        fixed: Any = (),
        ties: IntArray | None = None,
    ) -> SubsetProblem:
        """Return the problem of a model on all subsets of the features.

        Parameters
        ----------
        X : {ndarray, CSR array} of shape (n_samples, n_features)
            Rows.
        problem : Problem
            What the model minimises on these rows, with labels.
        groups : ndarray of int, of shape (n_features,), default=None
            Number of each feature's group; None for single features.
        fixed : ndarray of int, default=()
            Numbers of the groups that are in all sets.
        ties : ndarray of int, of shape (n_groups,), default=None
            Which of equal groups comes first; None for that of the lower number.
        """
        rows, free = SafeRows.of(X, problem.intercept), problem.intercept is None
        groups = np.arange(X.shape[1]) if groups is None else groups
        members = np.zeros(int(groups.max(initial=-1)) + 1, dtype=bool)
        members[np.asarray(fixed, dtype=np.intp)] = True
        parts, exponent = [], 0
        for part in problem.parts:
            loss = part.loss
            if len(problem.parts) == 1:
                loss, exponent = loss.normalised(free=free)
            with np.errstate(over="ignore", under="ignore"):
                costs = np.ldexp(loss.costs, 2 * rows.exponent)
            if not (np.isfinite(costs) & (costs >= TINY)).all():
                raise OutOfRangeError(
                    "C is out of range for rows of this size. Scale X first, for instance with "
                    "sklearn.preprocessing.StandardScaler, or change C."
                )
            parts.append(replace(part, loss=replace(loss, costs=costs)))
        ties = np.arange(len(members)) if ties is None else ties
        return cls(rows, parts, free, groups, members, exponent - rows.exponent, ties)

    @property
    def n_columns(self) -> int:
        """Number of scores of each row, over all parts."""
        return sum(part.loss.n_columns for part in self.parts)

    def relax(
        self,
        size: int,
        start: FloatArray | None = None,
        *,
        tolerance: float = 1e-4,
        upper: float = 0.0,
    ) -> Relaxed:
        """Solve the relaxation for sets of so many groups, always-included ones among them.

        Fits to √zⱼ·xⱼ alternate with zⱼ ← min(1, zⱼ|xⱼᵀβ|/τ), which minimises Σ wⱼ²/zⱼ over z for
        the weights w of the fit. Both together never raise the objective; momentum in log z, which
        starts anew where the objective rises, makes it a few times quicker.

        Parameters
        ----------
        size : int
            Number of groups.
        start : ndarray of shape (n_groups,), default=None
            Shares to start from; None starts from equal ones.
        tolerance : float, default=1e-4
            Relative difference of the objective from the bound at which to stop.
        upper : float, default=0.0
            Objective of a set. The work also stops where no more than a twentieth of its distance
            from the bound can be closed by a better one.
        """
        shares = self._capped(np.ones(len(self.fixed)) if start is None else start, size)
        best = Relaxed(shares, shares, np.zeros((self.rows.values.shape[0], self.n_columns)))
        columns, fit, value, former, pace = _Columns(self.rows.values), None, np.inf, shares, 1.0
        failures = 0
        for step in range(_MAX_STEPS):
            factors = np.sqrt(np.where(shares > _FAINT, shares, 0.0))[self.groups]
            reach = max(_LEAST, _FIRST * _SHRINKS**step)
            fit = self._fit(columns.scaled(factors), fit, reach)
            failures += not fit.reached
            energies = self._energies(fit.beta)
            is_finite = np.isfinite(fit.value) and np.isfinite(energies).all()
            if not is_finite or failures > _MAX_FAILURES:
                break
            lower = self._lower(fit.beta, energies, size)
            if lower > best.lower:
                best = best._replace(beta=fit.beta, lower=lower)
            if fit.value < best.upper:
                best = best._replace(shares=shares, energies=energies, upper=fit.value)
            worthwhile = max(tolerance * best.upper, _WORTHWHILE * (upper - best.lower))
            if best.upper - best.lower <= worthwhile:
                break
            largest = float(energies.max(initial=0.0)) or 1.0
            latest = self._capped(shares * (energies / largest) ** (_POWER / 2), size)
            if fit.value > value or not step:
                former, pace = latest, 1.0
            value, ahead = fit.value, (1 + np.sqrt(1 + 4 * pace**2)) / 2
            change = np.clip(latest / former, 1 / _LARGEST_CHANGE, _LARGEST_CHANGE)
            shares = self._capped(latest * change ** ((pace - 1) / ahead), size)
            former, pace = latest, ahead
        return best

    def rounded(self, relaxed: Relaxed, size: int) -> IntArray:
        """Return the groups of largest shares, of equal ones those of most energy."""
        keys = (np.round(-key / (key.max() or 1.0), _DIGITS) for key in relaxed[:2])
        shares, energies = keys
        return np.lexsort((self.ties, energies, shares, ~self.fixed))[:size]

    def sizes(self, weights: FloatArray) -> FloatArray:
        """Return the norm of the weights of each group."""
        return np.sqrt(self._sums(weights[:-1] ** 2))

    def splice(self, chosen: IntArray) -> tuple[IntArray, Fitted]:
        """Improve a set of groups by exchanges, and return it with the model fitted to it.

        The groups of least weight make room for those outside of largest energy, a quarter of all
        at first, and half as many whenever that does not lower the objective. Of few rows, whose
        fits take no time, the last exchanges are tried with several groups of each kind.

        Parameters
        ----------
        chosen : ndarray of int
            Groups.

        References
        ----------
        .. [1] J. Zhu, C. Wen, J. Zhu, H. Zhang and X. Wang, "A polynomial algorithm for best-subset
           selection problem", PNAS 117, 33117-33123, 2020.
        """
        inside = np.zeros(len(self.fixed), dtype=bool)
        inside[chosen] = True
        fit, n_others = self.fit(inside), int((inside & ~self.fixed).sum())
        n_exchanged = min(max(1, n_others // 4), n_others, int((~inside).sum()))
        energies = self._energies(fit.beta)
        while n_exchanged:
            weak = np.where(inside & ~self.fixed, self.sizes(fit.weights), np.inf)
            strong = np.where(inside, np.inf, -energies)
            n_leaving, n_coming = n_exchanged, n_exchanged
            if n_exchanged == 1 and len(fit.beta) <= _memory.MAX_QUICK_GRAM:
                n_leaving, n_coming = min(_LEAVING, n_others), min(_COMING, int((~inside).sum()))
            exchanges = product(
                self._lowest(weak, n_leaving).reshape(-1, n_exchanged),
                self._lowest(strong, n_coming).reshape(-1, n_exchanged),
            )
            for leaving, coming in exchanges:
                other = inside.copy()
                other[leaving], other[coming] = False, True
                tried = self.fit(other, fit)
                if tried.value < fit.value * (1 - _GAIN):
                    inside, fit, energies = other, tried, self._energies(tried.beta)
                    break
            else:
                n_exchanged //= 2
        return np.flatnonzero(inside), fit

    def fit(self, inside: NDArray[np.bool_], start: Fitted | None = None) -> Fitted:
        """Return the model fitted to a set of groups, given as a mask."""
        return self._fit(self._columns.scaled(inside[self.groups].astype(np.float64)), start)

    def bound(self, beta: FloatArray, upper: float) -> SubsetBound:
        """Return the bounds on the objectives of sets that multipliers prove.

        Parameters
        ----------
        beta : ndarray of shape (n_samples, n_columns)
            Multipliers.
        upper : float
            Objective of a set that is known.
        """
        return subset_bound(
            self.rows,
            self.parts,
            beta,
            free=self.free,
            upper=upper,
            groups=self.groups,
            fixed=self.fixed,
        )

    def branched(self, size: int, upper: float, goal: float) -> float:
        """Return a lower bound on the objectives of all sets of so many groups.

        Branch and bound: the sets of lowest bound are split by whether they have the group that
        their relaxation is least sure about. What has to be in a set or out of it is not asked.

        Parameters
        ----------
        size : int
            Number of groups.
        upper : float
            Objective of a set that is known.
        goal : float
            Bound, no larger than ``upper``, at which to stop.
        """
        nodes = [self._node(size, upper, 0.0, None, 0)]
        for number in range(1, _MAX_NODES, 2):
            lower, _, sets, relaxed, always, never = nodes[0]
            unsure = np.abs(relaxed.shares - 0.5) + (always | never)
            place = int(np.argmin(unsure))
            if lower >= goal or unsure[place] >= 1 or sets.fixed.sum() == size:
                break
            heappop(nodes)
            for more, mask in enumerate((always, never)):
                mask[place] = True
                if always.sum() <= size <= len(never) - never.sum():
                    part = sets._narrowed(always, never)
                    start = np.maximum(relaxed.shares[~never], _LEAST)
                    heappush(nodes, part._node(size, upper, lower, start, number + more))
                mask[place] = False
        return min(nodes[0].lower, upper) if nodes else upper

    def _node(
        self, size: int, upper: float, lower: float, start: FloatArray | None, number: int
    ) -> _Node:
        """Return the sets of so many groups, with a bound on them and what all and none have."""
        relaxed = self.relax(size, start, tolerance=_FINE, upper=upper)
        bound = self.bound(relaxed.beta, upper)
        marks = bound.in_every_and_no_set(size, upper)
        return _Node(max(lower, bound.of_size(size)), number, self, relaxed, *marks)

    def _narrowed(self, always: NDArray[np.bool_], never: NDArray[np.bool_]) -> SubsetProblem:
        """Return the objectives of the sets that have some groups, and have not some others."""
        kept = ~never
        columns = kept[self.groups]
        rows = SafeRows(self.rows.values[:, columns], self.rows.constant, self.rows.exponent)
        groups = (np.cumsum(kept) - 1)[self.groups[columns]]
        return replace(self, rows=rows, groups=groups, fixed=always[kept], ties=self.ties[kept])

    @cached_property
    def _columns(self) -> _Columns:
        return _Columns(self.rows.values)

    @OVERFLOW_IS_WIDE
    def _fit(self, columns: _Scaled, start: Fitted | None = None, reach: float = _LEAST) -> Fitted:
        """Return the model fitted to scaled columns, and its weights of the columns as they are.

        A loss with a kink is smoothed for the fit; the objective is that of the loss itself.
        """
        places, factors, values = columns
        weights = np.zeros((len(self.groups) + 1, self.n_columns))
        beta, value = np.zeros((values.shape[0], self.n_columns)), 0.0
        reached = True
        constant = None if self.free else self.rows.constant
        scales = np.append(factors, 1.0)[:, None]
        for part in self.parts:
            own = values if len(part.rows) == values.shape[0] else values[part.rows]
            loss = part.loss.smoothed(reach)
            guess = None
            if start is not None:
                guess = np.vstack([start.weights[places], start.weights[-1:]])[:, part.columns]
                guess = np.divide(guess, scales, out=np.zeros_like(guess), where=scales > 0)
            found, arrived = minimise(own, loss, constant, guess, _TOLERANCE)
            scores = own @ found[:-1] + (1.0 if constant is None else constant) * found[-1]
            penalised = found[:-1] if self.free else found
            value += float((penalised**2).sum()) / 2 + part.loss.value(scores)
            beta[part.rows, part.columns] = -loss.at(scores).slopes
            weights[places, part.columns] = found[:-1] * factors[:, None]
            weights[-1, part.columns] = found[-1]
            reached &= arrived
        return Fitted(value, weights, beta, reached)

    def _energies(self, beta: FloatArray) -> FloatArray:
        """Return ½(xⱼᵀβ)² of each group, over all parts."""
        return self._sums(np.asarray(self.rows.values.T @ beta) ** 2) / 2

    def _sums(self, squares: FloatArray) -> FloatArray:
        """Return the sums of squares of each group."""
        return np.asarray(np.bincount(self.groups, squares.sum(axis=1), len(self.fixed)), float)

    def _lowest(self, keys: FloatArray, count: int) -> IntArray:
        """Return the groups of lowest keys, which are equal if they differ by rounding only."""
        largest = float(np.abs(keys[np.isfinite(keys)]).max(initial=0.0)) or 1.0
        keys = np.round(keys / largest, _DIGITS)
        # Of millions, few need sorting.
        low = np.flatnonzero(keys <= np.partition(keys, count - 1)[count - 1])
        return low[np.lexsort((self.ties[low], keys[low]))][:count]

    def _lower(self, beta: FloatArray, energies: FloatArray, size: int) -> float:
        """Return the dual value of multipliers for sets of so many groups, but for rounding."""
        linear = square = 0.0
        for part in self.parts:
            own = part.loss.feasible(beta[part.rows, part.columns])
            more, rest = part.loss.conjugate(own)
            linear, square = linear + more, square + rest
        n_others = size - int(self.fixed.sum())
        others = np.partition(energies[~self.fixed], -n_others)[-n_others:] if n_others else 0.0
        square += float(energies[self.fixed].sum() + np.sum(others))
        square += float(np.sum((self.rows.constant * beta.sum(axis=0)) ** 2)) / 2
        return float(self.parts[0].loss.dual_values(linear, square))

    def _capped(self, shares: FloatArray, size: int) -> FloatArray:
        """Return min(1, shares/τ) with the τ for which they sum to so many; 1 if always included.

        Where fewer are positive, all of these are 1; where none is, all are alike.
        """
        capped, n_others = np.ones(len(shares)), size - int(self.fixed.sum())
        others = shares[~self.fixed]
        if not others.any():
            others = np.ones_like(others)
        if n_others < len(others):
            ranked = np.partition(others, -n_others) if n_others else others
            top = np.sort(ranked[len(others) - n_others :])[::-1]
            # Sums of all but the m largest, for m = 0 … n_others − 1, without cancellation.
            rest = float(ranked[: len(others) - n_others].sum())
            sums = rest + np.cumsum(top[::-1])[::-1]
            limits = sums / np.arange(n_others, 0, -1)
            first = np.flatnonzero(top <= limits)
            limit = max(float(limits[first[0]]), _SMALLEST_SHARE) if first.size else np.inf
            capped[~self.fixed] = np.maximum(np.minimum(1.0, others / limit), _SMALLEST_SHARE)
        return capped


class _Node(NamedTuple):
    """Sets of groups, a bound on their objectives, and what is in each and in none of the good."""

    lower: float
    number: int
    sets: SubsetProblem
    relaxed: Relaxed
    always: NDArray[np.bool_]
    never: NDArray[np.bool_]


class _Scaled(NamedTuple):
    """Columns of a matrix, by what they are multiplied, and the product."""

    places: IntArray
    factors: FloatArray
    values: Any


class _Columns:
    """Columns of a matrix that are in use; others are looked up when they are needed."""

    def __init__(self, values: Any) -> None:
        self._all = sparse.csc_array(values) if sparse.issparse(values) else values
        self._places, self._values = np.arange(values.shape[1]), values
        self._kept = np.ones(values.shape[1], dtype=bool)

    def scaled(self, factors: FloatArray) -> _Scaled:
        """Return the columns with a factor that is not zero, times this factor."""
        used = factors > 0
        if (used & ~self._kept).any() or 2 * used.sum() < len(self._places):
            self._kept, self._places = used, np.flatnonzero(used)
            values = self._all[:, self._places]
            self._values = values.tocsr() if sparse.issparse(values) else values
        own = factors[self._places]
        return _Scaled(self._places, own, scaled_columns(self._values, own))
