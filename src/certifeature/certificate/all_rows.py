"""Whether a bound for the support vectors holds for all rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from certifeature import _utils as _memory
from certifeature._utils import EPS, FloatArray, IntArray, one_thread
from certifeature.models.enclosure import (
    CLOSE,
    OVERFLOW_IS_WIDE,
    Point,
    SafeRows,
    at_scale_of_rows,
    points,
)
from certifeature.models.losses import ExcessLoss, Loss
from certifeature.models.problem import Problem
from certifeature.models.support import FEW_ROWS, Support
from certifeature.rows.blocks import Block
from certifeature.rows.rows import Rows
from certifeature.sparsify.choice import ColumnChoice


@OVERFLOW_IS_WIDE
def unproven_rows(found: Support, sample: ColumnChoice, all_rows: Rows) -> IntArray:
    """Return the places of rows that may have a loss in the optimal reduced model.

    Parameters
    ----------
    found : Support
        The rows S that a certificate is for, and their model.
    sample : ColumnChoice
        Chosen columns and their scales.
    all_rows : Rows
        The rows among which S was found.
    """
    problem = found.problem
    assert problem is not None
    if all_rows.in_blocks and found.n_passes is not None:
        # Rows are not moved near the origin, since those of blocks are not.
        known_rows = found.candidates.X[:, sample.indices]
        inside = SafeRows.of(known_rows, problem.intercept or 0.0, sample.scales)
        with one_thread():
            regions = _regions(problem, inside)
        reduced = all_rows.columns(sample.indices, sample.scales).X
        parts = reduced.collect(
            partial(_unproven_in_block, found, regions, inside.take(np.arange(0)))
        )
        return np.setdiff1d(np.concatenate(parts), found.rows.places)
    candidates = all_rows.together(FEW_ROWS)
    assert candidates is not None
    others = np.flatnonzero(~np.isin(candidates.places, found.rows.places))
    if not others.size:
        return others
    known = np.setdiff1d(np.arange(candidates.n_rows), others)
    everywhere = Problem.of(found.model, candidates.y, candidates.sample_weight)
    with one_thread():
        rows = SafeRows.of(candidates.X[:, sample.indices], problem.intercept, sample.scales)
        regions = _regions(everywhere.take(known), rows.take(known))
        beyond = _have_no_loss(everywhere.take(others), regions, rows.take(others))
    return candidates.places[others[~beyond]]


def _unproven_in_block(
    found: Support, regions: list[_Region], inside: SafeRows, block: Block
) -> IntArray:
    own = Problem.of(found.model, block.labels(), classes=found.classes)
    beyond = _have_no_loss(own, regions, inside.like(block.X))
    return block.first_row + np.flatnonzero(~beyond)


@dataclass(frozen=True, eq=False)
class _Region:
    """Where the optimum of a problem is: near some weights, with an intercept between two."""

    weights: FloatArray
    radius: float
    intercepts: tuple[float, float] = (0.0, 0.0)

    def scores(self, rows: SafeRows) -> tuple[FloatArray, FloatArray]:
        """Return the least and the largest prediction that the optimum may make of each row."""
        if self.radius == np.inf:
            anything = np.full(rows.values.shape[0], np.inf)
            return -anything, anything
        scores, errors = rows.scores(self.weights)
        reach = errors + self.radius * rows.norms
        low, high = (scores + intercept for intercept in self.intercepts)
        reach = reach * (1 + 4 * EPS) + 4 * EPS * (np.abs(scores) + np.abs(self.intercepts).max())
        return low - reach, high + reach


_ANYWHERE = _Region(np.zeros(1), np.inf)


def _regions(problem: Problem, rows: SafeRows) -> list[_Region]:
    """Return where the optimum on some rows is, for each part of what a model minimises."""
    if problem.all_rows_matter:
        return []
    free = problem.intercept is None
    return [_region(rows.take(part.rows), part.loss, free=free) for part in problem.parts]


def _have_no_loss(problem: Problem, regions: list[_Region], rows: SafeRows) -> NDArray[np.bool_]:
    """Tell which rows are shown to have no loss at the optimum of any part."""
    beyond = np.full(rows.values.shape[0], bool(regions))
    for region, part in zip(regions, problem.parts if regions else [], strict=True):
        low, high = region.scores(rows.take(part.rows))
        beyond[part.rows] &= part.loss.escapes(low, high)
    return beyond


def _region(rows: SafeRows, loss: Loss, *, free: bool) -> _Region:
    """Return where the optimum is, by the duality gap of the best point.

    The objective is strongly convex in the weights: half the squared distance is at most the gap.
    """
    scaled = at_scale_of_rows(rows, loss, None if free else rows.constant)
    n_rows = len(loss.costs)
    too_many = not loss.smooth and n_rows > _memory.MAX_GRAM
    if scaled is None or len(scaled[1].costs) < n_rows or too_many:
        return _ANYWHERE
    loss = scaled[1]
    if not isinstance(loss, ExcessLoss) or (free and not loss.signed):
        return _ANYWHERE
    *_, best = points(rows, loss, free=free, close=CLOSE if loss.smooth else 0.0)
    gap = max(best.upper - best.lower, 0.0) + 4 * EPS * best.upper
    if loss.smooth:
        gap = min(gap, _squared_gap(rows, loss, best))
    weights = best.weights[:, 0]
    radius = float(np.sqrt(2 * gap) + 2 * EPS * np.linalg.norm(weights)) * (1 + 4 * EPS)
    if not free:
        return _Region(weights, radius)
    shift = float(best.shift[0])
    below, above = _intercept_bounds(rows, loss, best)
    return _Region(weights, radius, (shift - below, shift + above))


def _squared_gap(rows: SafeRows, loss: ExcessLoss, best: Point) -> float:
    """Return the duality gap of a squared loss, or more, without a difference of large numbers.

    It is ½‖w − Aᵀβ‖² + Σ (βᵢ − βᵢ(w))²/(4cᵢ), with β(w) the multipliers that belong to w; and where
    rows with a multiplier have no loss, its size times how far they are from having one.
    """
    scores, errors = rows.scores(best.weights)
    targets, costs, sizes = loss.targets[:, None], loss.costs[:, None], np.abs(best.beta)
    errors = errors + 8 * EPS * (1 + np.abs(scores) + np.abs(best.shift) + np.abs(targets))
    scores = scores + best.shift
    off = np.abs(best.beta + loss.at(scores).slopes) + 2 * costs * errors
    off += (4 * len(scores) + 16) * EPS * sizes
    short = np.maximum(0.0, loss.epsilon - np.sign(best.beta) * (targets - scores) + errors)
    combined, error = rows.combination(best.beta)
    size = float(np.linalg.norm(best.weights - combined)) + error
    size += 4 * EPS * float(np.linalg.norm(best.weights) + np.linalg.norm(combined))
    gap = size**2 / 2 + float((off**2 / (4 * costs) + sizes * short).sum())
    return gap * (1 + (best.weights.size + 4 * len(scores) + 16) * EPS)


def _intercept_bounds(rows: SafeRows, loss: ExcessLoss, best: Point) -> tuple[float, float]:
    """Return by how much the optimal free intercept can be below and above that of a point.

    For feasible multipliers β = αs and any intercept b, the least objective φ(b) is at least
    Σαᵢ(1 − sᵢb) − ½‖Aᵀβ‖², for the squared hinge less Σα²/(4c). Hence φ(b + τ) ≥ D(α) − τ·Σαᵢsᵢ,
    and the optimal τ has φ(b + τ) ≤ upper. One multiplier is changed by ε, up or down, so that the
    sum is ±ε.
    """
    signs, costs, shift = loss.targets, loss.costs, float(best.shift[0])
    alpha = best.beta[:, 0] * signs
    weights, error = rows.combination(best.beta[:, 0])
    n_rows, total = len(alpha), float(alpha.sum())
    half_square = (float(np.linalg.norm(weights)) + error) ** 2 / 2
    # Curvature of the conjugate, and most that a multiplier may be.
    bend, most = (0.5 / costs, np.inf) if loss.smooth else (np.zeros(n_rows), costs)
    half_square += float(bend @ alpha**2) / 2
    # What the sum of α·s is, beside ε.
    balance = 4 * n_rows * EPS * total
    dual = total * (1 - 4 * n_rows * EPS) - abs(shift) * balance
    dual -= half_square * (1 + (len(weights) + 4 * n_rows) * EPS)
    scores, errors = rows.scores(weights)
    slack = 1 - signs * (scores + shift) - bend * alpha
    wrong = errors + 8 * EPS * (1 + np.abs(scores) + abs(shift) + bend * alpha) + error * rows.norms
    bends = (rows.norms**2 + bend) * (1 + 8 * EPS)
    wish = np.sqrt(2 * max(best.upper - dual, EPS * best.upper) / np.maximum(bends, EPS**2))
    bounds = {1.0: np.inf, -1.0: np.inf}
    for change in (1.0, -1.0):
        room = most - alpha if change > 0 else alpha
        step = np.minimum(wish, room * (1 - 4 * EPS))
        gain = step * (change * slack - wrong) - step**2 * bends / 2
        sums = step - balance
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = np.where(sums > 0, (best.upper - dual - gain) / sums, np.inf) * (1 + 8 * EPS)
        for sign in (1.0, -1.0):
            own = reach[signs == sign]
            # A positive sum of α·s bounds τ from below.
            side = change * sign
            bounds[side] = min(bounds[side], float(max(own.min(initial=np.inf), 0.0)))
    return bounds[1.0], bounds[-1.0]
