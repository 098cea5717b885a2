"""How close a selection is to the best one of its size, for the labels at hand."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import LinearSVC

from certifeature import _utils as _memory
from certifeature._utils import EPS, TINY, one_thread
from certifeature.certificate.rounding import number, rounded_down, rounded_up
from certifeature.models.enclosure import (
    CLOSE,
    OVERFLOW_IS_WIDE,
    Point,
    SafeRows,
    at_scale_of_rows,
    enclose,
    points,
    scaled_back,
)
from certifeature.models.margin import hard_margin
from certifeature.models.problem import Problem, model_name, with_scale
from certifeature.models.subset import OutOfRangeError, SubsetProblem
from certifeature.models.support import Support
from certifeature.rows.blocks import Block, RowBlocks
from certifeature.rows.rows import Rows
from certifeature.sparsify.choice import ColumnChoice, Groups

# Slack is so expensive at this C, for chosen columns of size 1, that there is hardly any.
_HARD = 1e5
# Margin and widest margin where there is none.
_NO_MARGINS: tuple[float | None, float | None] = None, None
# What may be missing of a ratio of 1, and below which ratio a bound says little.
_OPTIMAL, _SAYS_LITTLE = 1e-4, 0.6
# Groups that may be in some of the best sets and not in others, up to which sets are enumerated.
_MOST_OPEN = 100


@dataclass(frozen=True, eq=False)
class Optimality:
    """How much better any other selection of as many features could be, for the labels at hand.

    All sets of k features, with always-included ones among them, are compared by the training
    objective of one model, at the C that it has for the chosen columns as they are.

    Attributes
    ----------
    objective : float
        Optimal objective with the chosen features, or a little more.
    lower_bound : float
        No set of as many features has a smaller objective.
    always, never : ndarray of bool, of shape (n_features,)
        Features that are in every set of this size whose objective is at most the one given, and
        features that are in none of these sets; always-included ones are not marked.
    fewest : int
        No set of fewer features, or groups, has an objective as small as the one given.
    model : str
        The model with its C, or alpha.
    n_rows : int
        Number of rows that the objective is for.
    size : int
        Number of features, or of groups.
    in_groups : bool
        Whether it counts groups of features.
    n_fixed : int
        How many of them are always included.
    margin, widest_margin : float or None
        Where a hyperplane separates two classes by the chosen features: its margin, and an upper
        bound on the margin by any set of as many features.
    """

    objective: float
    lower_bound: float
    always: NDArray[np.bool_]
    never: NDArray[np.bool_]
    fewest: int
    model: str
    n_rows: int
    size: int
    in_groups: bool = False
    n_fixed: int = 0
    margin: float | None = None
    widest_margin: float | None = None

    def __str__(self) -> str:
        unit = "group" if self.in_groups else "feature"
        of_size = f"{self.size:,} {unit}{'s' * (self.size != 1)}"
        if self.n_fixed:
            of_size += f" with the {self.n_fixed:,} fixed among them"
        sentences = []
        if self.margin is not None and self.widest_margin is not None:
            times = number(rounded_up(self.widest_margin / self.margin))
            sentences.append(f"The widest margin by any {of_size} is at most {times} times theirs.")
        if self.ratio >= 1 - _OPTIMAL:
            sentences.append(
                f"Proven optimal: no other {of_size} can have a training objective that is lower "
                f"by 0.01 % ({self.model})."
            )
        elif self.ratio > 0:
            little = ": this says little" if self.ratio < _SAYS_LITTLE else ""
            sentences.append(
                f"No other {of_size} can have a training objective below "
                f"{number(rounded_down(self.ratio))} times this one ({self.model}){little}."
            )
        else:
            sentences.append(f"Nothing is proven about other sets of {of_size} ({self.model}).")
        n_always, n_never = int(self.always.sum()), int(self.never.sum())
        if n_always or n_never:
            sentences.append(
                f"{n_always:,} of these features are in every set of {of_size} that is as good, "
                f"and {n_never:,} others in none."
            )
        return " ".join(sentences)

    @property
    def ratio(self) -> float:
        """``lower_bound/objective``: 1 if no other selection of this size is better."""
        return min(1.0, self.lower_bound / self.objective) if self.objective > 0 else 1.0

    @property
    def margin_ratio(self) -> float | None:
        """``margin/widest_margin``, 1 at most; None without a margin."""
        if self.margin is None or self.widest_margin is None:
            return None
        return min(1.0, self.margin / self.widest_margin)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, fit for JSON, with numbers of features in the place of masks."""
        masks = {name: np.flatnonzero(getattr(self, name)).tolist() for name in ("always", "never")}
        return vars(self) | masks | {"n_features": len(self.always)}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """Return the layer that `to_dict` was called on."""
        values = dict(values)
        everything = np.arange(values.pop("n_features"))
        masks = {name: np.isin(everything, values[name]) for name in ("always", "never")}
        return cls(**(values | masks))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Optimality) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]


@OVERFLOW_IS_WIDE
def optimality_of(
    support: Support, columns: ColumnChoice, groups: Groups | None = None, all_rows: Any = None
) -> Optimality | None:
    """Return how close chosen columns are to the best ones; None where that cannot be told.

    Parameters
    ----------
    support : Support
        The model, with the rows that are known if ``all_rows`` is None or comes in blocks.
    columns : ColumnChoice
        The chosen columns, whose scales do not count.
    groups : Groups, default=None
        The groups of features that all sets are made of; None for single features.
    all_rows : Rows, default=None
        The data. Of blocks, a bound for the rows that were gathered holds for all: others have
        multipliers of 0. Their loss is part of the objective.
    """
    rows = support.candidates if all_rows is None or all_rows.in_blocks else all_rows
    if rows.in_blocks or rows.y is None or support.asked is None:
        return None
    groups = groups or Groups(rows.n_features)
    labels = np.arange(rows.n_features) if groups.labels is None else groups.labels
    chosen = np.unique(labels[columns.indices])
    reasons = np.array([]) if columns.reasons is None else columns.reasons
    fixed = np.unique(labels[columns.indices[: len(reasons)][reasons == "fixed"]])
    spread = support.spread or rows.spread
    model = with_scale(support.asked, spread.size(columns.indices) or spread.size())
    problem = Problem.of(model, rows.labels, rows.sample_weight, classes=support.classes)
    is_small = rows.n_rows <= _memory.MAX_GRAM
    if not (problem.is_smooth or is_small):
        return None
    with one_thread(), suppress(OutOfRangeError):
        objective, margins = _objective(rows.X[:, columns.indices], problem), _NO_MARGINS
        gathered = support.n_passes is not None
        if gathered and all_rows is not None:
            objective = _objective_in_blocks(rows, all_rows.X, columns, problem, model)
        sets = SubsetProblem.of(rows.X, problem, labels, fixed)
        upper = max(float(np.ldexp(objective, -2 * sets.exponent)), TINY)
        bound = sets.bound(sets.relax(len(chosen), upper=upper).beta, upper)
        always, never = bound.in_every_and_no_set(len(chosen), upper)
        lowest, goal = bound.of_size(len(chosen)), upper * (1 - 0.99 * _OPTIMAL)
        is_quick = rows.n_rows <= _memory.MAX_QUICK_GRAM
        if is_quick and lowest < goal and (~always & ~never).sum() <= _MOST_OPEN:
            lowest = max(lowest, sets.branched(len(chosen), upper, goal))
        # Rows that were not gathered may have a smaller margin, or none.
        in_two = len(problem.classes) == len(np.unique(rows.labels)) == 2
        separable = in_two and problem.loss.endswith("hinge")
        if separable and is_small and not gathered:
            margins = _margins(rows, columns, labels, fixed, len(chosen))
        return Optimality(
            objective,
            scaled_back(lowest, upper, sets.exponent).lower,
            always[labels] & ~np.isin(labels, fixed),
            never[labels],
            min(bound.fewest(upper), len(chosen)),
            model_name(model),
            rows.n_rows,
            len(chosen),
            groups.labels is not None,
            len(fixed),
            *margins,
        )
    return None


@OVERFLOW_IS_WIDE
def ratios_to_best(rows: Rows, model: Any, choices: Sequence[NDArray[np.intp]]) -> list[float]:
    """Return which share of the objective of each choice of columns is the least that any can have.

    Parameters
    ----------
    rows : Rows
        The rows, in memory.
    model : estimator
        The model, at the C that all choices are compared at.
    choices : sequence of ndarray of int
        Choices of columns, which are compared with all sets as large as the largest of them. Their
        shares are NaN where that takes too long.
    """
    problem = Problem.of(model, rows.labels, rows.sample_weight)
    if not (problem.is_smooth or rows.n_rows <= _memory.MAX_GRAM):
        return [np.nan] * len(choices)
    with one_thread():
        sets, size = SubsetProblem.of(rows.X, problem), max(map(len, choices))
        objectives = np.array([_objective(rows.X[:, chosen], problem) for chosen in choices])
        uppers = np.ldexp(objectives, -2 * sets.exponent)
        least = float(uppers.min())
        bound = sets.bound(sets.relax(size, upper=least).beta, least).of_size(size)
    return [min(1.0, bound / upper) if upper > 0 else 1.0 for upper in uppers.tolist()]


def _objective(X: Any, problem: Problem) -> float:
    """Return the optimal objective of a model on all columns of X, or a little more."""
    parts = [(X[part.rows], part.loss) for part in problem.parts]
    total = sum(enclose(rows, loss, intercept=problem.intercept).upper for rows, loss in parts)
    return float(total) * (1 + len(parts) * EPS)


def _objective_in_blocks(
    rows: Rows, blocks: RowBlocks, columns: ColumnChoice, problem: Problem, model: Any
) -> float:
    """Return the objective on all rows of the model that is best on those gathered, or more."""
    free, chosen = problem.intercept is None, columns.indices
    # Rows are not moved near the origin, since those of other blocks are not.
    inside = SafeRows.of(rows.X[:, chosen], problem.intercept or 0.0)
    best: list[Point] = []
    total = 0.0
    for part in problem.parts:
        scaled = at_scale_of_rows(inside.take(part.rows), part.loss, problem.intercept)
        if scaled is None:
            return np.inf
        *_, point = points(*scaled, free=free, close=CLOSE)
        best.append(point)
        total += point.upper
    losses = blocks.collect(
        partial(_loss_of_others, rows.places, chosen, inside, best, model, problem.classes)
    )
    total = (total + float(np.sum(losses))) * (1 + (len(losses) + len(best) + 4) * EPS)
    return float(np.ldexp(total, -2 * inside.exponent))


def _loss_of_others(
    places: NDArray[np.intp],
    columns: NDArray[np.intp],
    inside: SafeRows,
    best: list[Point],
    model: Any,
    classes: NDArray[Any],
    block: Block,
) -> float:
    """Return the loss, or more, of the rows of a block that were not gathered."""
    labels = block.labels()
    others = np.flatnonzero(~np.isin(block.first_row + np.arange(len(labels)), places))
    rows, total = inside.like(block.X[others][:, columns]), 0.0
    problem = Problem.of(model, labels[others], classes=classes)
    for part, point in zip(problem.parts, best, strict=True):
        loss = replace(part.loss, costs=np.ldexp(part.loss.costs, 2 * inside.exponent))
        scores, errors = rows.take(part.rows).scores(point.weights)
        errors = errors + 4 * EPS * (np.abs(scores) + np.abs(point.shift))
        total += loss.value(scores + point.shift, errors)
    return total


def _margins(
    rows: Rows, columns: ColumnChoice, labels: NDArray[np.intp], fixed: NDArray[np.intp], size: int
) -> tuple[float | None, float | None]:
    """Return the hard margin by chosen columns, and a bound on that by any set of this size."""
    spread = rows.spread.size(columns.indices)
    if not spread:
        return _NO_MARGINS
    hard = LinearSVC(C=_HARD / spread / spread, dual=False, intercept_scaling=np.inf)
    problem = Problem.of(hard, rows.labels)
    own = hard_margin(rows.X[:, columns.indices], problem.splits[0][1])
    if own is None:
        return _NO_MARGINS
    sets = SubsetProblem.of(rows.X, problem, labels, fixed)
    upper = float(np.ldexp(1 / own.upper / own.upper / 2, -2 * sets.exponent))
    widest = sets.bound(sets.relax(size, upper=upper).beta, upper).widest_margin(size)
    return own.lower, max(own.lower, float(np.ldexp(widest, -sets.exponent)))
