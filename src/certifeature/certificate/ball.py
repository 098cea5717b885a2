"""The smallest ball around the rows of a data matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certifeature._utils import as_positive
from certifeature.rows.matrix import (
    dense,
    finite_rows,
    near_origin,
    normalised,
    scaled_back,
    stored_values,
)

FloatArray = NDArray[np.float64]

_EPS = float(np.finfo(np.float64).eps)
# Rows that join the working set in one round.
_MAX_NEWCOMERS = 256
_MAX_ROUNDS = 10_000


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
        if self.radius == 0:
            return 0.0
        return 1 - (self.lower_bound / self.radius) ** 2


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
    problem = _Problem(rows)
    for _ in range(_MAX_ROUNDS):
        squared_distances, squared_lower = problem.evaluate()
        farthest = squared_distances.max()
        if farthest - squared_lower <= tolerance * farthest or not problem.improve(
            squared_distances, squared_lower
        ):
            break
    radius, lower = np.sqrt(farthest), np.sqrt(max(min(squared_lower, farthest), 0.0))
    radius, lower = scaled_back([radius, lower], exponent).tolist()
    return Ball(radius, problem.coefficients, lower)


class _Problem:
    """The dual problem: its point a, and Gram matrices of the rows that were ever of use."""

    def __init__(self, rows: Any) -> None:
        self._rows = rows
        self._squared_norms = np.asarray((rows * rows).sum(axis=1)).ravel()
        self._rounding = 16 * _EPS * float(self._squared_norms.max())
        self._seen = np.empty(0, dtype=np.intp)
        self._gram = np.empty((0, 0))
        self.coefficients = np.zeros(rows.shape[0])
        self.coefficients[self._squared_norms.argmax()] = 1.0

    def evaluate(self) -> tuple[FloatArray, float]:
        """Return squared distances from the centre, and the dual value, rounded to be safe."""
        centre = self._rows.T @ self.coefficients
        squared = self._squared_norms - 2 * (self._rows @ centre) + centre @ centre
        squared = np.maximum(squared, 0.0)
        return squared + self._rounding, float(self.coefficients @ squared) - self._rounding

    def improve(self, squared_distances: FloatArray, dual_value: float) -> bool:
        """Raise the dual value; return False where rounding allows no more."""
        before = self.coefficients
        self.coefficients = self._with_outer_rows(squared_distances, dual_value)
        if self.evaluate()[1] > dual_value:
            return True
        self.coefficients = self._shifted(before, squared_distances)
        return self.evaluate()[1] > dual_value

    def _with_outer_rows(self, squared_distances: FloatArray, dual_value: float) -> FloatArray:
        """Return the optimum over the working rows and the outermost others, or a step to it."""
        excess = squared_distances - dual_value
        working = self.coefficients > 0
        outer = np.flatnonzero(~working & (excess >= excess.max() / 2))
        newcomers = outer[np.argsort(-excess[outer], kind="stable")[:_MAX_NEWCOMERS]]
        rows = np.r_[np.flatnonzero(working), newcomers]
        present = self.coefficients[rows]
        while True:
            target = self._circumcentre(rows, present)
            negative = target < 0
            if not negative.any():
                present = target
                break
            steps = present[negative] / (present[negative] - target[negative])
            present = np.maximum(present + steps.min() * (target - present), 0.0)
            blocking = np.flatnonzero(negative)[steps <= steps.min()]
            keep = np.setdiff1d(np.arange(len(rows)), blocking)
            rows, present = rows[keep], present[keep]
        coefficients = np.zeros_like(self.coefficients)
        coefficients[rows] = present / present.sum()
        return coefficients

    def _circumcentre(self, rows: NDArray[np.intp], present: FloatArray) -> FloatArray:
        """Return affine coefficients of the point of their hull that is equally far from all."""
        if len(rows) == 1:
            return np.ones(1)
        gram = self._gram_of(rows)
        pole = int(present.argmax())
        others = np.delete(np.arange(len(rows)), pole)
        edges = gram[np.ix_(others, others)] + gram[pole, pole]
        edges -= gram[others, pole][:, None] + gram[pole, others][None, :]
        squared_lengths = np.diag(edges).copy()
        if squared_lengths.max() <= 0:
            return present
        # A trace of ridge decides between the solutions where rows depend on each other.
        edges[np.diag_indices_from(edges)] += len(rows) * _EPS * squared_lengths.max()
        coefficients = np.empty(len(rows))
        coefficients[others] = np.linalg.solve(edges, squared_lengths / 2)
        coefficients[pole] = 1 - coefficients[others].sum()
        return coefficients

    def _shifted(self, coefficients: FloatArray, squared_distances: FloatArray) -> FloatArray:
        """Return a pairwise Frank–Wolfe step: weight goes from the innermost to the outermost."""
        outermost = int(squared_distances.argmax())
        innermost = int(np.where(coefficients > 0, squared_distances, np.inf).argmin())
        gram = self._gram_of(np.array([outermost, innermost]))
        squared_edge = gram[0, 0] + gram[1, 1] - 2 * gram[0, 1]
        if squared_edge <= 0:
            return coefficients
        slope = squared_distances[outermost] - squared_distances[innermost]
        step = min(slope / (2 * squared_edge), coefficients[innermost])
        shifted = coefficients.copy()
        shifted[outermost] += step
        shifted[innermost] -= step
        return shifted

    def _gram_of(self, rows: NDArray[np.intp]) -> FloatArray:
        """Return inner products of the given rows; each row is multiplied once only."""
        new = np.setdiff1d(rows, self._seen)
        if new.size:
            seen = np.r_[self._seen, new]
            added = dense(self._rows[new] @ self._rows[seen].T)
            gram = np.empty((len(seen), len(seen)))
            gram[: len(self._seen), : len(self._seen)] = self._gram
            gram[len(self._seen) :] = added
            gram[:, len(self._seen) :] = added.T
            self._seen, self._gram = seen, gram
        order = np.argsort(self._seen)
        places = order[np.searchsorted(self._seen, rows, sorter=order)]
        return self._gram[np.ix_(places, places)]
