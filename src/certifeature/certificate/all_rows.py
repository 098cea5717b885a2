"""Whether a bound for the support vectors holds for all rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.svm import LinearSVR

from certifeature import _resources as _memory
from certifeature._resources import one_thread
from certifeature.certificate.realised import binary_problems
from certifeature.models.enclosure import (
    EPS,
    OVERFLOW_IS_WIDE,
    SafeRows,
    at_scale_of_rows,
    hinge_points,
)
from certifeature.models.losses import SquaredHingeLoss, TubeLoss
from certifeature.models.problem import intercept_of, row_costs
from certifeature.models.solver import minimiser, squared_hinge_minimiser
from certifeature.models.support import FEW_ROWS, Support
from certifeature.rows.blocks import Block
from certifeature.rows.rows import Rows
from certifeature.sparsify import ColumnChoice

__all__ = [
    "unproven_rows",
]


FloatArray = NDArray[np.float64]
Indices = NDArray[np.intp]


@OVERFLOW_IS_WIDE
def unproven_rows(found: Support, sample: ColumnChoice, all_rows: Rows) -> Indices:
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
    intercept = intercept_of(found.model)
    if all_rows.in_blocks and found.n_passes is not None:
        # LIBLINEAR's intercept is penalised, so that rows need not be moved near the origin.
        own = found.rows.columns(sample.indices, sample.scales)
        assert own.y is not None
        assert found.costs is not None
        inside = SafeRows.of(own.X, intercept)
        with one_thread():
            regions = _regions(found, inside, own.y, found.costs)
        reduced = all_rows.columns(sample.indices, sample.scales).X
        parts = reduced.collect(
            partial(_unproven_in_block, found, regions, inside.constant, inside.exponent)
        )
        return np.setdiff1d(np.concatenate(parts), found.rows.places)
    candidates = all_rows.together(FEW_ROWS)
    assert candidates is not None
    assert candidates.y is not None
    others = np.flatnonzero(~np.isin(candidates.places, found.rows.places))
    if not others.size:
        return others
    known = np.setdiff1d(np.arange(candidates.n_rows), others)
    costs = row_costs(found.model, candidates.y, candidates.sample_weight)
    with one_thread():
        reduced = SafeRows.of(candidates.columns(sample.indices, sample.scales).X, intercept)
        regions = _regions(found, reduced.take(known), candidates.y[known], costs[known])
        beyond = _have_no_loss(found, regions, reduced.take(others), candidates.y[others])
    return candidates.places[others[~beyond]]


def _unproven_in_block(
    found: Support, regions: list[_Region], constant: float, exponent: int, block: Block
) -> Indices:
    values = block.X
    if sparse.issparse(values):
        scaled = np.ldexp(values.data, -exponent)
        values = sparse.csr_array((scaled, values.indices, values.indptr), shape=values.shape)
    else:
        values = np.ldexp(values, -exponent)
    rows = SafeRows(values, constant, exponent)
    beyond = _have_no_loss(found, regions, rows, block.labels())
    return block.first_row + np.flatnonzero(~beyond)


@dataclass(frozen=True, eq=False)
class _Region:
    """Where the optimum of a problem is: near some weights, with an intercept between two."""

    weights: FloatArray
    radius: float
    intercepts: tuple[float, float] = (0.0, 0.0)

    def scores(self, rows: SafeRows) -> tuple[FloatArray, FloatArray]:
        """Return the least and the largest prediction that the optimum may make of each row."""
        scores, errors = rows.scores(self.weights)
        reach = errors + self.radius * rows.norms
        low, high = (scores + intercept for intercept in self.intercepts)
        reach = reach * (1 + 4 * EPS) + 4 * EPS * (np.abs(scores) + np.abs(self.intercepts).max())
        return low - reach, high + reach


_ANYWHERE = _Region(np.zeros(1), np.inf)


def _regions(found: Support, rows: SafeRows, y: NDArray[Any], costs: FloatArray) -> list[_Region]:
    """Return where the optimum on some rows is, for each problem that the model solves."""
    if isinstance(found.model, LinearSVR):
        return [_smooth_region(rows, TubeLoss(y, costs[:, 0], float(found.model.epsilon)))]
    if found.loss not in ("hinge", "squared_hinge"):
        return []
    free = intercept_of(found.model) is None
    regions = []
    for problem in binary_problems(found.model, y, costs, found.classes):
        part, signs = rows.take(problem.rows), problem.signs
        if found.loss == "hinge":
            regions.append(_hinge_region(part, signs, problem.costs, free=free))
        else:
            regions.append(_smooth_region(part, SquaredHingeLoss(signs, problem.costs)))
    return regions


def _have_no_loss(
    found: Support, regions: list[_Region], rows: SafeRows, y: NDArray[Any]
) -> NDArray[np.bool_]:
    """Tell which rows are shown to have no loss at the optimum of any problem."""
    if not regions:
        return np.zeros(len(y), dtype=bool)
    if isinstance(found.model, LinearSVR):
        low, high = regions[0].scores(rows)
        off = np.maximum(high - y, y - low)
        return np.asarray(off <= float(found.model.epsilon) - 4 * EPS * np.abs(y))
    beyond = np.ones(len(y), dtype=bool)
    ones = np.ones((len(y), 1))
    problems = binary_problems(found.model, y, ones, found.classes)
    for region, problem in zip(regions, problems, strict=True):
        if not problem.rows.size:
            continue
        low, high = region.scores(rows.take(problem.rows))
        beyond[problem.rows] &= np.where(problem.signs > 0, low >= 1, high <= -1)
    return beyond


def _smooth_region(rows: SafeRows, loss: SquaredHingeLoss | TubeLoss) -> _Region:
    """Return where the optimum of a smooth loss is: no further than the gradient is long."""
    scaled = at_scale_of_rows(rows, loss.costs, rows.constant)
    if scaled is None or len(scaled[1]) < len(loss.costs):
        return _ANYWHERE
    loss = replace(loss, costs=scaled[2])
    start = np.zeros(rows.values.shape[1] + 1)
    if isinstance(loss, SquaredHingeLoss):
        weights, _ = squared_hinge_minimiser(
            rows.values, rows.constant, loss.targets, loss.costs, start
        )
    else:
        weights = minimiser(rows.values, loss, rows.constant, start[:, None])[0][:, 0]
    scores, errors = rows.scores(weights)
    errors = errors + 8 * EPS * (1 + np.abs(scores) + np.abs(loss.targets))
    # The slope of a convex loss rises with the score.
    least, slopes, most = (
        loss.at((scores + shift)[:, None]).slopes[:, 0] for shift in (-errors, 0.0, errors)
    )
    combined, error = rows.combination(slopes)
    error += float((np.abs(most - least) + 4 * EPS * np.abs(slopes)) @ rows.norms)
    size = float(np.linalg.norm(weights + combined))
    size += 4 * EPS * float(np.linalg.norm(weights) + np.linalg.norm(combined))
    return _Region(weights, (size + error) * (1 + len(weights) * EPS))


def _hinge_region(rows: SafeRows, signs: FloatArray, costs: FloatArray, *, free: bool) -> _Region:
    """Return where the optimum of a hinge loss is, by the duality gap of the best point."""
    n_rows = len(signs)
    scaled = at_scale_of_rows(rows, costs, None if free else rows.constant)
    if scaled is None or len(scaled[1]) < n_rows or n_rows > _memory.MAX_GRAM:
        return _ANYWHERE
    costs = scaled[2]
    *_, best = hinge_points(rows, signs, costs, free=free, close=0.0)
    gap = max(best.upper - best.lower, 0.0) + 4 * EPS * best.upper
    radius = float(np.sqrt(2 * gap) + 2 * EPS * np.linalg.norm(best.weights)) * (1 + 4 * EPS)
    if not free:
        return _Region(best.weights, radius)
    below, above = _intercept_bounds(rows, signs, costs, best.alpha, best.shift, best.upper)
    return _Region(best.weights, radius, (best.shift - below, best.shift + above))


def _intercept_bounds(
    rows: SafeRows,
    signs: FloatArray,
    costs: FloatArray,
    alpha: FloatArray,
    shift: float,
    upper: float,
) -> tuple[float, float]:
    """Return by how much the optimal free intercept can be below and above a given one.

    For multipliers α within their bounds and any intercept b, the least objective φ(b) is at least
    Σαᵢ(1 − sᵢb) − ½‖Aᵀ(α·s)‖². Hence φ(b + τ) ≥ D(α) − τ·Σαᵢsᵢ, and the optimal τ has
    φ(b + τ) ≤ upper. One multiplier is changed by ε, up or down, so that the sum is ±ε.
    """
    weights, error = rows.combination(alpha * signs)
    n_rows, total = len(alpha), float(alpha.sum())
    square = (float(np.linalg.norm(weights)) + error) ** 2 * (1 + len(weights) * EPS)
    # What the sum of α·s is, beside ε.
    balance = 4 * n_rows * EPS * total
    dual = total * (1 - n_rows * EPS) - square / 2 - abs(shift) * balance
    scores, errors = rows.scores(weights)
    slack = 1 - signs * (scores + shift)
    wrong = errors + 8 * EPS * (1 + np.abs(scores) + abs(shift)) + error * rows.norms
    wish = np.sqrt(2 * max(upper - dual, EPS * upper)) / np.maximum(rows.norms, EPS)
    bounds = {1.0: np.inf, -1.0: np.inf}
    for change in (1.0, -1.0):
        room = costs - alpha if change > 0 else alpha
        step = np.minimum(wish, room * (1 - 4 * EPS))
        gain = step * (change * slack - wrong) - (step * rows.norms) ** 2 / 2 * (1 + 4 * EPS)
        sums = step - balance
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = np.where(sums > 0, (upper - dual - gain) / sums, np.inf) * (1 + 8 * EPS)
        for sign in (1.0, -1.0):
            own = reach[signs == sign]
            # A positive sum of α·s bounds τ from below.
            side = change * sign
            bounds[side] = min(bounds[side], float(max(own.min(initial=np.inf), 0.0)))
    return bounds[1.0], bounds[-1.0]
