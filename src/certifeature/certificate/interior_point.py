"""The dual of the hinge-loss SVM, solved by an interior point method."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

__all__ = ["hinge_multipliers"]

FloatArray = NDArray[np.float64]

_MAX_STEPS = 60
# Complementarity to stop at, as a share of the objective.
_TOLERANCE = 1e-12
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
        if gap <= _TOLERANCE * float(caps @ state.shares):
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
