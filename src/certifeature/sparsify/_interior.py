"""A point close to the solution of the 1-norm SVM, by a primal-dual interior-point method."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from certifeature.sparsify._penalty import Multipliers
from certifeature.sparsify._rows import Block, ScaledRows

__all__ = ["interior_point"]

FloatArray = NDArray[np.float64]

_ERROR = 1e-6
_MAX_STEPS = 100
_SHARE_OF_STEP = 0.99


@dataclass(frozen=True, eq=False)
class _Point:
    """Both sides of the program: y and its distances to the bounds, prices of these, intercept.

    Distances and prices have two rows, for the upper bounds and for the lower ones.
    """

    y: FloatArray
    distances: FloatArray
    prices: FloatArray
    intercept: float

    @property
    def gap(self) -> float:
        return float(np.sum(self.prices * self.distances))

    def moved(self, step: _Point, share: float) -> _Point:
        """Go along a step, at most a share of the way to where something becomes negative."""
        primal = min(1.0, share * _way(self.prices, step.prices))
        dual = min(1.0, share * _way(self.distances, step.distances))
        return _Point(
            self.y + dual * step.y,
            self.distances + dual * step.distances,
            self.prices + primal * step.prices,
            self.intercept + primal * step.intercept,
        )


@dataclass(frozen=True, eq=False)
class _Program:
    """Maximise gains·u for lower ≤ y ≤ upper with y = (Bᵀu, u), and sides·u = 0.

    The last column of the block K is that of the intercept, the others are those of B.
    """

    block: Block
    lower: FloatArray
    upper: FloatArray
    gains: FloatArray

    def start(self) -> _Point:
        """Return a point with u between its bounds; Bᵀu may be beyond them."""
        n_features = len(self.upper) - len(self.gains)
        positive = self.block.sides > 0
        sizes = np.where(positive, positive.sum(), (~positive).sum())
        u = self.upper[n_features:] * (sizes.min() / sizes / 2)
        y = np.append(self.block.transposed_times(u)[:-1], u)
        distances = np.stack([self.upper - y, y - self.lower])
        distances[:, :n_features] = np.maximum(self.upper, np.abs(y))[:n_features]
        prices = np.tile(np.append(np.zeros(n_features), self.gains), (2, 1))
        typical = np.mean((prices * distances)[:, n_features:])
        prices[:, :n_features] = typical / distances[:, :n_features]
        return _Point(y, distances, prices, 0.0)

    def missing(self, point: _Point) -> tuple[FloatArray, FloatArray]:
        """Return what gains lack of their price, and distances of what they should be."""
        net = point.prices[0] - point.prices[1]
        weights, slack = np.split(net, [len(net) - len(self.gains)])
        short = self.gains - self.block.times(np.append(weights, point.intercept)) - slack
        return short, np.stack([self.upper - point.y, point.y - self.lower]) - point.distances

    def error(self, point: _Point) -> float:
        """Return the largest of the gap and what is missing, relative to their sizes."""
        short, apart = self.missing(point)
        costs = self.upper @ point.prices[0] - self.lower @ point.prices[1]
        return float(
            max(
                point.gap / costs,
                np.abs(short / self.gains).max(),
                np.abs(apart / self.upper).max(),
            )
        )

    def newton(self, point: _Point) -> Callable[[FloatArray], _Point]:
        """Return a function from changes of price times distance to the step that makes them."""
        short, apart = self.missing(point)
        ratios = point.prices / point.distances
        n_features = len(self.upper) - len(self.gains)
        per_feature, per_row = np.split(ratios.sum(axis=0), [n_features])
        system = self.block.column_gram(per_row)
        system[np.diag_indices(n_features)] += 1 / per_feature
        factor = linalg.cho_factor(system, lower=True, overwrite_a=True)
        unbalanced = self.block.transposed_times(point.y[n_features:])[-1]
        upper_larger = point.prices[0] > point.prices[1]

        def step(changes: FloatArray) -> _Point:
            # What prices do while y stays where it is; the rest is the doing of y.
            still = changes / point.distances - ratios * apart
            of_features, of_rows = np.split(still[0] - still[1], [n_features])
            target = self.block.transposed_times((short - of_rows) / per_row)
            target += np.append(of_features / per_feature, unbalanced)
            weights = linalg.cho_solve(factor, target)
            slack = short - self.block.times(weights)
            u = (slack - of_rows) / per_row
            y = np.append(self.block.transposed_times(u)[:-1], u)
            prices = still + ratios * np.stack([y, -y])
            # Rounding spares the smaller price; the difference of the two is known better.
            net = np.append(weights[:-1], slack)
            prices = np.where(
                np.stack([upper_larger, ~upper_larger]),
                prices[::-1] + np.stack([net, -net]),
                prices,
            )
            return _Point(y, apart + np.stack([-y, y]), prices, float(weights[-1]))

        return step


def interior_point(
    rows: ScaledRows, thresholds: FloatArray, tops: FloatArray
) -> tuple[FloatArray, Multipliers, float, int]:
    r"""Solve the dual roughly, in a few dozen steps whatever the number of rows.

    Mehrotra's predictor and corrector follow the central path, on which price times distance is
    the same for all bounds. The system of a step has the size of the features.

    Parameters
    ----------
    rows : ScaledRows
        The matrix B.
    thresholds, tops : ndarray
        The constraints \|Bᵀu\| ≤ thresholds and 0 ≤ u ≤ tops.

    Returns
    -------
    u, multipliers, error, n_steps
        The point, the multipliers of its bounds, their relative error, the number of steps.
    """
    used = np.flatnonzero(np.isfinite(thresholds))
    lower = np.append(-thresholds[used], np.zeros(len(tops)))
    upper = np.append(thresholds[used], tops)
    program = _Program(rows.block(used), lower, upper, rows.row_scales)
    point, n_steps = program.start(), 0
    error = program.error(point)
    while error > _ERROR and n_steps < _MAX_STEPS:
        try:
            newton = program.newton(point)
        except linalg.LinAlgError:
            # Rounding has cost a nearly singular system its definiteness.
            break
        products = point.prices * point.distances
        ahead = newton(-products)
        centre = (point.moved(ahead, 1.0).gap / point.gap) ** 3 * products.mean()
        step = newton(centre - products - ahead.prices * ahead.distances)
        point, n_steps = point.moved(step, _SHARE_OF_STEP), n_steps + 1
        error = program.error(point)
    weights = np.zeros(len(thresholds))
    net = point.prices[0] - point.prices[1]
    weights[used] = net[: len(used)]
    multipliers = Multipliers(weights, point.intercept, net[len(used) :])
    return point.y[len(used) :], multipliers, error, n_steps


def _way(sizes: FloatArray, changes: FloatArray) -> float:
    """Return how often changes can be added until a size is zero."""
    with np.errstate(divide="ignore"):
        return float(1 / np.max(-changes / sizes, initial=0.0))
