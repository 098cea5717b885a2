"""The truth about smooth losses: Newton's method in many digits, and weak duality.

The primal problem is min ½‖W‖² + Σ cᵢφᵢ(fᵢ) with scores f = AW, or AW + b with a free b. For slopes
s = φ'(f) of any scores, −½‖Aᵀ(cs)‖² − Σ cᵢφᵢ*(sᵢ) is no more than the optimum, given Σ cᵢsᵢ = 0 for
a free b.
"""

from typing import NamedTuple

import gmpy2
import numpy as np
from gmpy2 import mpfr

from soak.digits import ONE, ZERO, backward, cholesky, exact, forward, full
from soak.truth import LARGEST_COST, Truth, squared_norms
from soak.verdict import Undecided

_MAX_STEPS = 150
_CLOSE = mpfr(10) ** -60
_EXP, _LOG, _LOG1P = (
    np.frompyfunc(function, 1, 1) for function in (gmpy2.exp, gmpy2.log, gmpy2.log1p)
)


class Optimum(NamedTuple):
    """An enclosure of the optimal value, scores near the optimum, and how near, at the most.

    That is known of scores without a free intercept only; otherwise it is infinite.
    """

    value: Truth
    scores: np.ndarray
    error: np.ndarray


def smooth_optimum(X, loss, costs, intercept):
    """Enclose an optimum; the intercept is the value of a constant feature, or None where free."""
    own = np.asarray(costs) > 0
    X, loss, costs = exact(X)[own], loss.of(own), exact(costs)[own]
    free = intercept is None
    if free and loss.has_no_minimum():
        # A free intercept alone makes the loss as small as one likes.
        return Optimum(Truth(ZERO, ZERO), full((len(X), loss.n_outputs), 0), full(len(X), "inf"))
    X = X - X[0] if free else np.column_stack([X, full(len(X), intercept)])
    size = max(squared_norms(X)) or ONE
    X, costs = X / gmpy2.sqrt(size), costs * size
    if max(costs) > LARGEST_COST:
        raise Undecided(f"costs of {float(max(costs)):.1e} for rows of norm 1")
    problem = _Problem(X, loss, costs, free)
    scores, primal = problem.minimised()
    dual = max(problem.dual(scores), ZERO)
    error = full(len(X), "inf")
    if not free:
        # The objective is strongly convex in the weights.
        distance = gmpy2.sqrt(2 * max(primal - dual, ZERO))
        error = distance * np.array([gmpy2.sqrt(square) for square in squared_norms(X)])
    return Optimum(Truth(dual / size, primal / size), scores, error)


class _Problem:
    """Rows, of which a free intercept makes a last column of ones without a penalty."""

    def __init__(self, X, loss, costs, free):
        self._X, self._loss, self._costs, self._free = X, loss, costs, free
        self._Z = np.column_stack([X, full(len(X), 1)]) if free else X
        n_columns, n_outputs = self._Z.shape[1], loss.n_outputs
        self._penalty = full((n_columns, n_outputs), 1)
        self._moves = np.ones((n_columns, n_outputs), dtype=bool)
        if free:
            self._penalty[-1] = ZERO
            # Intercepts that all rise together change no lead of one class over another.
            self._moves[-1, 0] = n_outputs == 1

    def minimised(self):
        """Return the scores and the objective where Newton's method ends."""
        weights = full(self._penalty.shape, 0)
        value = self._value(weights)
        for _ in range(_MAX_STEPS):
            gradient, step = self._step(weights)
            slope = (gradient * step).sum()
            if -slope <= _CLOSE * value:
                break
            length = ONE
            while self._value(weights + length * step) > value + length * slope / 1000:
                length = length / 2
                if length < _CLOSE:
                    return self._Z @ weights, value
            weights = weights + length * step
            value = self._value(weights)
        return self._Z @ weights, value

    def dual(self, scores):
        """Return the dual value of the slopes at some scores, once they sum to zero."""
        slopes = self._loss.slopes(scores)
        if self._free:
            room = self._costs * self._loss.room(slopes)
            widest = max(range(len(room)), key=room.__getitem__)
            slopes[widest] = slopes[widest] - self._costs @ slopes / self._costs[widest]
        combined = self._X.T @ (self._costs[:, None] * slopes)
        value = -(combined * combined).sum() / 2 - self._costs @ self._loss.conjugates(slopes)
        return ZERO if gmpy2.is_nan(value) else value

    def _value(self, weights):
        losses = self._loss.values(self._Z @ weights)
        return (self._penalty * weights * weights).sum() / 2 + self._costs @ losses

    def _step(self, weights):
        scores = self._Z @ weights
        slopes = self._costs[:, None] * self._loss.slopes(scores)
        gradient = self._penalty * weights + self._Z.T @ slopes
        curvatures = self._costs[:, None, None] * self._loss.curvatures(scores)
        n_outputs = self._loss.n_outputs
        blocks = [
            [self._Z.T @ (curvatures[:, a, b][:, None] * self._Z) for b in range(n_outputs)]
            for a in range(n_outputs)
        ]
        moves = self._moves.T.ravel()
        hessian = np.block(blocks) + np.diag(self._penalty.T.ravel())
        factor = cholesky(hessian[np.ix_(moves, moves)])
        step = full(len(moves), 0)
        step[moves] = -backward(factor, forward(factor, gradient.T.ravel()[moves]))
        return gradient, step.reshape(n_outputs, -1).T


class Logistic:
    """φ(f) = log(1 + exp(−yf))."""

    n_outputs = 1

    def __init__(self, signs):
        self._signs = exact(signs)

    def of(self, rows):
        return Logistic(self._signs[rows])

    def has_no_minimum(self):
        return len(set(self._signs)) < 2

    def values(self, scores):
        leads = -self._signs * scores[:, 0]
        return np.maximum(leads, ZERO) + _LOG1P(_EXP(-np.abs(leads)))

    def slopes(self, scores):
        return (-self._signs * self._shares(scores))[:, None]

    def curvatures(self, scores):
        shares = self._shares(scores)
        return (shares * (1 - shares))[:, None, None]

    def conjugates(self, slopes):
        shares = -self._signs * slopes[:, 0]
        return _entropies(np.column_stack([shares, 1 - shares]))

    def room(self, slopes):
        shares = -self._signs * slopes[:, 0]
        return np.minimum(shares, 1 - shares)

    def _shares(self, scores):
        return 1 / (1 + _EXP(self._signs * scores[:, 0]))


class Multinomial:
    """φ(f) = log Σ exp(fₖ) − f of the row's own class; classes are columns of ``own``."""

    def __init__(self, own):
        self._own = np.asarray(own, dtype=bool)
        self.n_outputs = self._own.shape[1]

    def of(self, rows):
        return Multinomial(self._own[rows])

    def has_no_minimum(self):
        if self._own.any(axis=0).all():
            return False
        raise Undecided("a class has no rows")

    def values(self, scores):
        largest = scores.max(axis=1)
        sums = _EXP(scores - largest[:, None]).sum(axis=1)
        return _LOG(sums) + largest - scores[self._own]

    def slopes(self, scores):
        return self._shares(scores) - np.where(self._own, ONE, ZERO)

    def curvatures(self, scores):
        shares = self._shares(scores)
        squares = shares[:, :, None] * shares[:, None, :]
        return np.where(np.eye(self.n_outputs, dtype=bool), shares[:, :, None], ZERO) - squares

    def conjugates(self, slopes):
        return _entropies(slopes + np.where(self._own, ONE, ZERO))

    def room(self, slopes):
        return (slopes + np.where(self._own, ONE, ZERO)).min(axis=1)

    def _shares(self, scores):
        parts = _EXP(scores - scores.max(axis=1)[:, None])
        return parts / parts.sum(axis=1)[:, None]


class Tube:
    """φ(f) = max(0, |t − f| − ε)²."""

    n_outputs = 1

    def __init__(self, targets, epsilon=0.0):
        self._targets, self._epsilon = exact(targets), mpfr(epsilon)

    def of(self, rows):
        return Tube(self._targets[rows], self._epsilon)

    def has_no_minimum(self):
        return False

    def values(self, scores):
        return self._excess(scores) ** 2

    def slopes(self, scores):
        rises = np.where(scores[:, 0] > self._targets, ONE, -ONE)
        return (2 * rises * self._excess(scores))[:, None]

    def curvatures(self, scores):
        return np.where(self._excess(scores) > 0, 2 * ONE, ZERO)[:, None, None]

    def conjugates(self, slopes):
        s = slopes[:, 0]
        return s * self._targets + self._epsilon * np.abs(s) + s * s / 4

    def room(self, slopes):
        return full(len(slopes), 1)

    def _excess(self, scores):
        return np.maximum(np.abs(self._targets - scores[:, 0]) - self._epsilon, ZERO)


class SquaredHinge:
    """φ(f) = max(0, 1 − yf)²."""

    n_outputs = 1

    def __init__(self, signs):
        self._signs = exact(signs)

    def of(self, rows):
        return SquaredHinge(self._signs[rows])

    def has_no_minimum(self):
        return len(set(self._signs)) < 2

    def values(self, scores):
        return self._slack(scores) ** 2

    def slopes(self, scores):
        return (-2 * self._signs * self._slack(scores))[:, None]

    def curvatures(self, scores):
        return np.where(self._slack(scores) > 0, 2 * ONE, ZERO)[:, None, None]

    def conjugates(self, slopes):
        s = slopes[:, 0]
        return self._signs * s + s * s / 4

    def room(self, slopes):
        return np.abs(slopes[:, 0])

    def _slack(self, scores):
        return np.maximum(1 - self._signs * scores[:, 0], ZERO)


def _entropies(shares):
    """Return Σ p·log p of each row; NaN where a share is negative."""
    logs = _LOG(np.where(shares == 0, ONE, shares))
    return (shares * logs).sum(axis=1)
