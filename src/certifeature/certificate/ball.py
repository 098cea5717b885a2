"""The smallest ball around the rows of a data matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from certifeature._utils import EPS, FloatArray, as_positive
from certifeature.rows.matrix import (
    dense,
    finite_rows,
    near_origin,
    normalised,
    scaled_back,
    stored_values,
)

# Rows that join the working set in one round.
_MAX_NEWCOMERS = 256


@dataclass(frozen=True, eq=False)
class Ball:
    """A ball that encloses all rows, and a proof of how small any such ball must be.

    Attributes
    ----------
    radius : float
        Radius about the centre Xᵀa that encloses all rows.
    coefficients : ndarray of shape (n_samples,)
        Convex combination a of the rows which gives the centre.
    lower_bound : float
        No ball of a smaller radius encloses the rows (weak duality).
    """

    radius: float
    coefficients: FloatArray
    lower_bound: float

    @property
    def gap(self) -> float:
        """Relative duality gap of the squared radius."""
        return 1 - (self.lower_bound / self.radius) ** 2 if self.radius else 0.0


def minimum_enclosing_ball(X: Any, *, tolerance: float = 1e-6) -> Ball:
    r"""Find the minimum enclosing ball of the rows of X.

    .. math::

        B^2 = \min_c \max_i \|x_i - c\|^2
            = \max_{a \ge 0,\, \sum a = 1} \sum_i a_i \|x_i\|^2 - \|X^T a\|^2

    Parameters
    ----------
    X : {array-like, sparse array or matrix} of shape (n_samples, n_features)
        Finite data.
    tolerance : float, default=1e-6
        Relative duality gap of B² to stop at.

    Returns
    -------
    Ball
        Radius, centre and the bound from below. Its ``gap`` is at most ``tolerance``, or as small
        as rounding allows.

    Notes
    -----
    An active-set method on the dual. Each round takes in the rows that stick out farthest, finds
    the ball with the working rows on its surface, and on the way there drops rows that would pull
    the centre (as Lawson and Hanson do for non-negative least squares). The dual value rises in
    every round, so that it ends.

    Examples
    --------
    >>> ball = minimum_enclosing_ball([[0.0, 0.0], [2.0, 0.0], [1.0, 0.5]])
    >>> round(ball.radius, 9), ball.coefficients.round(9)
    (1.0, array([0.5, 0.5, 0. ]))
    """
    as_positive("tolerance", tolerance)
    # Distances are differences of inner products; near the origin they keep their digits.
    moved = near_origin(finite_rows(X))
    if 0 not in moved.shape and not stored_values(moved).any():
        return Ball(0.0, np.eye(1, moved.shape[0])[0], 0.0)
    rows, exponent = normalised(moved)
    squared_norms = np.asarray((rows * rows).sum(axis=1)).ravel()
    rounding = 16 * EPS * float(squared_norms.max())

    def evaluated(coefficients: FloatArray) -> tuple[FloatArray, float]:
        """Return squared distances from the centre, and the dual value, rounded to be safe."""
        centre = rows.T @ coefficients
        squared = np.maximum(squared_norms - 2 * (rows @ centre) + centre @ centre, 0.0)
        return squared + rounding, float(coefficients @ squared) - rounding

    coefficients = np.zeros(rows.shape[0])
    coefficients[squared_norms.argmax()] = 1.0
    squared_distances, squared_lower = evaluated(coefficients)
    while squared_distances.max() - squared_lower > tolerance * squared_distances.max():
        wider = _with_outer_rows(rows, coefficients, squared_distances - squared_lower)
        found = evaluated(wider)
        if found[1] <= squared_lower:
            # Rounding allows no more.
            break
        coefficients, (squared_distances, squared_lower) = wider, found
    farthest = squared_distances.max()
    radius, lower = np.sqrt(farthest), np.sqrt(max(min(squared_lower, farthest), 0.0))
    radius, lower = scaled_back([radius, lower], exponent).tolist()
    return Ball(radius, coefficients, lower)


def _with_outer_rows(rows: Any, coefficients: FloatArray, excess: FloatArray) -> FloatArray:
    """Return the optimum over the working rows and those that stick out most, or a step to it."""
    outer = np.flatnonzero((coefficients <= 0) & (excess >= excess.max() / 2))
    newcomers = outer[np.argsort(-excess[outer], kind="stable")[:_MAX_NEWCOMERS]]
    working = np.r_[np.flatnonzero(coefficients > 0), newcomers]
    present, gram = coefficients[working], dense(rows[working] @ rows[working].T)
    while True:
        target = _circumcentre(gram, present)
        negative = target < 0
        if not negative.any():
            break
        steps = present[negative] / (present[negative] - target[negative])
        present = np.maximum(present + steps.min() * (target - present), 0.0)
        keep = np.delete(np.arange(len(working)), np.flatnonzero(negative)[steps <= steps.min()])
        working, present, gram = working[keep], present[keep], gram[np.ix_(keep, keep)]
    found = np.zeros_like(coefficients)
    found[working] = target / target.sum()
    return found


def _circumcentre(gram: FloatArray, present: FloatArray) -> FloatArray:
    """Return affine coefficients of the point of the hull of rows that is equally far from all."""
    pole = int(present.argmax())
    others = np.delete(np.arange(len(gram)), pole)
    edges = gram[np.ix_(others, others)] + gram[pole, pole]
    edges -= gram[others, pole][:, None] + gram[pole, others][None, :]
    squared_lengths = np.diag(edges).copy()
    if squared_lengths.max(initial=0.0) <= 0:
        return present
    # A trace of ridge decides between the solutions where rows depend on each other.
    edges[np.diag_indices_from(edges)] += len(gram) * EPS * squared_lengths.max()
    coefficients = np.empty(len(gram))
    coefficients[others] = np.linalg.solve(edges, squared_lengths / 2)
    coefficients[pole] = 1 - coefficients[others].sum()
    return coefficients
