"""Loss functions of linear models: values, derivatives and conjugates, with bounds on rounding.

A model minimises ½‖W‖² + Σ cᵢφᵢ(fᵢ) over weights W, with the scores f = AW of its rows, or
f = AW + b with a free intercept. For any multipliers β, −½‖Aᵀβ‖² − Σ cᵢφᵢ*(−βᵢ/cᵢ) is no more than
the optimum, given that they sum to 0 for a free intercept; at the optimum β = −cφ'(f).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from certifeature._utils import EPS, TINY, FloatArray
from certifeature.rows.matrix import near_origin

# More than a product or a quotient loses to underflow.
UNDERFLOW = 1024 * EPS * TINY
# Of a smoothed hinge, as a share of its cost.
_LEAST_CURVATURE = 1e-6
# Most by which exp, log and the like are wrong, as a share of what they return.
_FUNCTIONS = 32 * EPS


@dataclass(frozen=True, eq=False)
class Local:
    """A loss near some scores: its slopes, and its second derivatives.

    Attributes
    ----------
    slopes, curvature : ndarray of shape (n_samples, n_columns)
        Derivatives by each score; of the second ones the diagonal, or what it would be if
        there were no ``shares``.
    shares : ndarray of shape (n_samples, n_columns) or None
        Where columns are coupled: the second derivatives are diag(curvature) − curvature·sharesᵀ.
    """

    slopes: FloatArray
    curvature: FloatArray
    shares: FloatArray | None = None

    def take(self, rows: NDArray[np.intp]) -> Local:
        """Return the same for some of the rows."""
        shares = None if self.shares is None else self.shares[rows]
        return Local(self.slopes[rows], self.curvature[rows], shares)

    def bent(self, change: FloatArray) -> FloatArray:
        """Return the second derivatives times a change of the scores."""
        bent = self.curvature * change
        if self.shares is not None:
            bent -= self.curvature * (self.shares * change).sum(axis=1, keepdims=True)
        return bent

    def pair(self, first: int, second: int) -> FloatArray:
        """Return the second derivatives by two of the scores of each row."""
        value = self.curvature[:, first] if first == second else np.zeros(len(self.slopes))
        if self.shares is None:
            return value
        return value - self.curvature[:, first] * self.shares[:, second]


@dataclass(frozen=True, eq=False)
class Loss(ABC):
    """Σ cᵢφᵢ of scores of shape (n_samples, n_columns).

    Attributes
    ----------
    targets : ndarray
        What the scores of each row are to be: numbers, signs −1 and +1, or a mask of classes.
    costs : ndarray of shape (n_samples,)
        The constants c.
    """

    targets: NDArray[Any]
    costs: FloatArray

    # The conjugate of cφ is so strongly convex, times 1/c.
    convexity: ClassVar[float]
    # Whether the loss is quadratic where it is not zero.
    quadratic: ClassVar[bool] = False

    @property
    def n_columns(self) -> int:
        """Number of scores of each row."""
        return 1

    @property
    def smooth(self) -> bool:
        """Whether the loss has slopes and curvature."""
        return True

    def take(self, rows: NDArray[np.intp]) -> Self:
        """Return the loss of some of the rows."""
        return replace(self, targets=self.targets[rows], costs=self.costs[rows])

    def normalised(self, *, free: bool) -> tuple[Self, int]:
        """Return the loss of scores over 2^e that has the same optimum over 4^e, and e.

        With a free intercept, scores may be moved by a constant.
        """
        return self, 0

    @abstractmethod
    def at(self, scores: FloatArray) -> Local:
        """Return the loss near some scores."""

    @abstractmethod
    def value(self, scores: FloatArray, errors: FloatArray | float = 0.0) -> float:
        """Return the loss of scores that are wrong by at most so much, or more."""

    @abstractmethod
    def feasible(self, beta: FloatArray) -> FloatArray:
        """Return the nearest multipliers whose conjugate is finite; smaller ones are so too."""

    @abstractmethod
    def conjugate(self, beta: FloatArray) -> tuple[float, float]:
        """Return the part of −Σ cᵢφᵢ*(−βᵢ/cᵢ) that is linear in a multiple of β, and the rest.

        It is the first less the second. The first is rounded down, the second, a square, up.
        Multipliers are feasible, and need not be exact, but to (2n + 16)·EPS of themselves.
        """

    @abstractmethod
    def dual_values(self, linear: float, squares: FloatArray | float) -> FloatArray:
        """Return the dual values of the best multiples of multipliers, or less.

        Parameters
        ----------
        linear : float
            As `conjugate` returns it, summed over problems that share a multiple.
        squares : ndarray or float
            Squares as it returns them, each with the ½‖Aᵀβ‖² of some columns, or more.
        """

    def dual(self, beta: FloatArray, half_square: float) -> float:
        """Return the dual value of feasible multipliers β or a multiple of them, or less.

        The half square is at least ½‖Aᵀβ‖².
        """
        linear, square = self.conjugate(beta)
        return float(self.dual_values(linear, square + half_square))

    def smoothed(self, reach: float) -> Loss:
        """Return a loss that has slopes and curvature, near this one."""
        return self

    def excess(self, scores: FloatArray) -> FloatArray:
        """Return how far scores are inside of where there is a loss; less than 0 beyond."""
        return np.full(len(scores), np.inf)

    def escapes(self, low: FloatArray, high: FloatArray) -> NDArray[np.bool_]:
        """Tell which rows have no loss, whatever their scores between two bounds are."""
        return np.zeros(len(low), dtype=bool)

    def stretch(self, scores: FloatArray, errors: FloatArray) -> float:
        """Return what to multiply scores by, so that those which nearly lose nothing do."""
        return 1.0


@dataclass(frozen=True, eq=False)
class ExcessLoss(Loss):
    """Σ cᵢ max(0, dᵢ − ε)ᵖ of distances d = |t − f| from targets, or d = t(t − f) for signs t.

    Hinge, squared hinge, squared loss, and squared loss with a tube. The conjugate is
    −βt + ε|β| + β²/(4c) for p = 2; for p = 1 the last term is the constraint |β| ≤ c. Of signs, tβ
    is not negative.
    """

    epsilon: float = 0.0
    signed: bool = False
    power: int = 2

    convexity: ClassVar[float] = 0.5
    quadratic: ClassVar[bool] = True

    @property
    def smooth(self) -> bool:
        """Whether the loss has slopes and curvature."""
        return self.power == 2

    def smoothed(self, reach: float) -> Loss:
        """Return the loss, or a hinge that is quadratic up to so far from its kink."""
        if self.smooth:
            return self
        return SmoothedHinge(self.targets, self.costs, signed=True, power=1, reach=reach)

    def normalised(self, *, free: bool) -> tuple[ExcessLoss, int]:
        """Return the loss with targets of at most 1, each rounded once."""
        if self.signed:
            return self, 0
        targets, exponent = self.targets, 0
        # A free intercept takes in a point that targets are moved by.
        for move in (np.asarray, near_origin) if free else (np.asarray,):
            targets = move(targets[:, None])[:, 0]
            more = int(np.frexp(np.abs(targets).max(initial=0.0))[1])
            targets, exponent = np.ldexp(targets, -more), exponent + more
        with np.errstate(under="ignore"):
            epsilon = float(np.ldexp(self.epsilon, -exponent))
        return replace(self, targets=targets, epsilon=epsilon), exponent

    def sides(self, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return on which side targets are of scores, −1 or +1, and their distances."""
        targets = self.targets.reshape(scores.shape)
        sides = targets if self.signed else np.sign(targets - scores)
        return sides, sides * (targets - scores)

    def excess(self, scores: FloatArray) -> FloatArray:
        """Return how far scores are inside of where there is a loss; less than 0 beyond."""
        return np.asarray(self.sides(scores)[1][:, 0] - self.epsilon)

    def at(self, scores: FloatArray) -> Local:
        """Return the loss near some scores, for p = 2."""
        targets = self.targets.reshape(scores.shape)
        sides = targets if self.signed else np.sign(targets - scores)
        excess = np.maximum(sides * (targets - scores) - self.epsilon, 0.0)
        costs = 2 * self.costs.reshape(scores.shape)
        outside = excess > 0 if self.signed or self.epsilon else np.ones_like(excess)
        return Local(-costs * sides * excess, costs * outside)

    def value(self, scores: FloatArray, errors: FloatArray | float = 0.0) -> float:
        """Return the loss of scores that are wrong by at most so much, or more."""
        distances = self.sides(scores)[1] + errors
        distances = distances + 4 * EPS * (np.abs(self.targets)[:, None] + np.abs(scores))
        excess = np.maximum(0.0, distances - self.epsilon * (1 - 2 * EPS))[:, 0]
        return float(self.costs @ (excess**self.power + TINY)) * (1 + (len(excess) + 8) * EPS)

    def feasible(self, beta: FloatArray) -> FloatArray:
        """Return the nearest multipliers whose conjugate is finite."""
        if not self.signed:
            return beta
        targets = self.targets[:, None]
        most = self.costs[:, None] if self.power == 1 else np.inf
        return np.asarray(targets * np.clip(targets * beta, 0.0, most))

    def conjugate(self, beta: FloatArray) -> tuple[float, float]:
        """Return βᵀt − ε‖β‖₁, and Σ β²/(4c) for p = 2."""
        beta, n_rows = beta[:, 0], len(beta)
        sizes = np.abs(beta)
        total = float(beta @ self.targets) - self.epsilon * float(sizes.sum())
        total -= (4 * n_rows + 16) * EPS * float(sizes @ (np.abs(self.targets) + self.epsilon))
        total -= (n_rows + 1) * UNDERFLOW * (1 + float(sizes.max(initial=0.0)))
        if self.power == 1:
            return total, 0.0
        square = float(beta @ (beta / (4 * self.costs))) * (1 + (4 * n_rows + 16) * EPS)
        return total, square + (n_rows + 1) * UNDERFLOW

    def dual_values(self, linear: float, squares: FloatArray | float) -> FloatArray:
        """Return the dual values of the best multiples; for p = 1 these are at most 1."""
        squares = np.asarray(squares)
        if not linear > 0:
            return np.zeros_like(squares)
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            values = linear * (linear / (4 * squares))
        if self.power == 1:
            values = np.where(linear >= 2 * squares, linear - squares, values)
        return np.where(np.isfinite(squares) & np.isfinite(values), values * (1 - 8 * EPS), 0.0)

    def escapes(self, low: FloatArray, high: FloatArray) -> NDArray[np.bool_]:
        """Tell which rows have no loss, whatever their scores between two bounds are."""
        if self.signed:
            return np.where(self.targets > 0, low >= 1, high <= -1)
        off = np.maximum(high - self.targets, self.targets - low)
        return np.asarray(off <= self.epsilon - 4 * EPS * np.abs(self.targets))

    def stretch(self, scores: FloatArray, errors: FloatArray) -> float:
        """Return what to multiply scores by, so that those which nearly lose nothing do."""
        if not self.signed:
            return 1.0
        margins = self.targets[:, None] * scores - errors
        return float(1 / margins[np.abs(margins - 1) < 1e-4].min(initial=1.0))


@dataclass(frozen=True, eq=False)
class SmoothedHinge(ExcessLoss):
    """Σ cᵢh(1 − sᵢfᵢ) with h(d) = d²/(2ρ) for 0 ≤ d ≤ ρ and d − ρ/2 beyond; ρ is the reach.

    It is at most ρ/2 below the hinge, and its multipliers are feasible for that.
    """

    reach: float = 1.0

    quadratic: ClassVar[bool] = False

    @property
    def smooth(self) -> bool:
        """Whether the loss has slopes and curvature."""
        return True

    def at(self, scores: FloatArray) -> Local:
        """Return the loss near some scores."""
        sides, distances = self.sides(scores)
        costs = self.costs[:, None]
        within = (distances > 0) & (distances < self.reach)
        slopes = -costs * sides * np.clip(distances / self.reach, 0.0, 1.0)
        # Where no row is within reach, steps need some curvature to find the best intercept.
        return Local(slopes, costs * np.where(within, 1 / self.reach, _LEAST_CURVATURE))


@dataclass(frozen=True, eq=False)
class LogisticLoss(Loss):
    """Σ cᵢ log(1 + exp(−sᵢfᵢ)) for signs s."""

    convexity: ClassVar[float] = 4.0

    def at(self, scores: FloatArray) -> Local:
        """Return the loss near some scores."""
        signs, costs = self.targets[:, None], self.costs[:, None]
        margins = signs * scores
        wrong = expit(-margins)
        return Local(-costs * signs * wrong, costs * wrong * expit(margins))

    def value(self, scores: FloatArray, errors: FloatArray | float = 0.0) -> float:
        """Return the loss of scores that are wrong by at most so much, or more."""
        leads = self._leads(scores, np.zeros_like(scores) + errors)
        n_rows, n_leads = leads.shape
        largest = np.maximum(leads.max(axis=1), 0.0)
        # Of the terms exp(0) and exp(lead) the largest is taken out.
        terms = np.exp(np.column_stack([np.zeros(n_rows), leads]) - largest[:, None])
        terms[np.arange(n_rows), terms.argmax(axis=1)] = 0.0
        losses = (largest + np.log1p(terms.sum(axis=1))) * (1 + _FUNCTIONS + n_leads * EPS)
        return float(self.costs @ (losses + n_leads * TINY)) * (1 + (n_rows + 8) * EPS)

    def feasible(self, beta: FloatArray) -> FloatArray:
        """Return multipliers a little smaller than the costs, which rounding must not exceed."""
        signs, most = self.targets[:, None], 1 - (4 * len(beta) + 16) * EPS
        return np.asarray(signs * np.clip(signs * beta, 0.0, most * self.costs[:, None]))

    def conjugate(self, beta: FloatArray) -> tuple[float, float]:
        """Return Σ cᵢ·entropy of the shares of other classes, and of what they leave, or less.

        Shares that are wrong by the factor 1 + δ change the entropy H by at most δ(H + 64t), with t
        their sum: −x·log(x) is concave, so that for differences d it changes by at most
        −d·log(d) + d.
        """
        shares = self._shares(beta)
        n_rows, n_shares = shares.shape
        totals = shares.sum(axis=1)
        parts = -shares * np.log(np.maximum(shares, TINY))
        left = 1 - totals
        rest = left * np.log1p(-totals, out=np.zeros(n_rows), where=left > 0)
        entropy = parts.sum(axis=1) - rest
        wrong = (4 * n_rows + n_shares + 32) * EPS + _FUNCTIONS
        entropy -= wrong * (2 * entropy + 64 * totals) + 1024 * n_shares * TINY
        total = float(self.costs @ entropy)
        return total - n_rows * EPS * float(self.costs @ np.abs(entropy)) - TINY, 0.0

    def dual_values(self, linear: float, squares: FloatArray | float) -> FloatArray:
        """Return the dual values of the multipliers themselves."""
        return np.asarray(linear - squares)

    def _leads(self, scores: FloatArray, errors: FloatArray) -> FloatArray:
        """Return by how much other classes are ahead of a row's own, or more."""
        return np.asarray(-self.targets[:, None] * scores + errors)

    def _shares(self, beta: FloatArray) -> FloatArray:
        """Return the shares of the classes that are not a row's own."""
        return np.asarray(np.abs(beta) / self.costs[:, None])


@dataclass(frozen=True, eq=False)
class MultinomialLoss(LogisticLoss):
    """Σ cᵢ log(Σ_k exp(f_ik)/exp(f_i,own)), with a mask that tells the own class of each row."""

    convexity: ClassVar[float] = 2.0

    @property
    def n_columns(self) -> int:
        """Number of classes."""
        return int(self.targets.shape[1])

    def normalised(self, *, free: bool) -> tuple[MultinomialLoss, int]:
        """Return the loss without classes that have no rows, if the intercept is free.

        Such a class is as good as absent once its intercept is low enough.
        """
        used = self.targets.any(axis=0)
        if used.all() or not free:
            return self, 0
        return replace(self, targets=self.targets[:, used]), 0

    def at(self, scores: FloatArray) -> Local:
        """Return the loss near some scores."""
        shares = softmax(scores, axis=1)
        weighted = self.costs[:, None] * shares
        others = np.where(self.targets, 0.0, weighted)
        # One less the share of the own class, without cancellation.
        slopes = np.where(self.targets, -others.sum(axis=1, keepdims=True), others)
        return Local(slopes, weighted, shares)

    def feasible(self, beta: FloatArray) -> FloatArray:
        """Return multipliers whose shares sum to a little less than 1, and those of rows to 0."""
        shares, most = self._shares(beta), 1 - 8 * self.n_columns * EPS
        shares *= np.minimum(1.0, most / np.maximum(shares.sum(axis=1), most))[:, None]
        sums = shares.sum(axis=1, keepdims=True)
        return np.asarray(self.costs[:, None] * np.where(self.targets, sums, -shares))

    def _leads(self, scores: FloatArray, errors: FloatArray) -> FloatArray:
        own = self.targets
        leads = scores - scores[own][:, None] + 2 * (errors + errors[own][:, None])
        return np.where(own, -np.inf, leads)

    def _shares(self, beta: FloatArray) -> FloatArray:
        return np.where(self.targets, 0.0, np.abs(beta) / self.costs[:, None])


LOSSES: dict[str, tuple[type[Loss], dict[str, Any]]] = {
    "hinge": (ExcessLoss, {"signed": True, "power": 1}),
    "squared_hinge": (ExcessLoss, {"signed": True}),
    "squared": (ExcessLoss, {}),
    "squared_epsilon_insensitive": (ExcessLoss, {}),
    "logistic": (LogisticLoss, {}),
    "multinomial": (MultinomialLoss, {}),
}


def make_loss(
    name: str, targets: NDArray[Any], costs: FloatArray, epsilon: float | None = None
) -> Loss:
    """Return a loss by its name.

    Parameters
    ----------
    name : str
        "hinge", "squared_hinge", "squared", "squared_epsilon_insensitive", "logistic" or
        "multinomial".
    targets : ndarray
        Signs −1 and +1 of shape (n_samples,) for the hinge losses and the logistic loss; a mask of
        shape (n_samples, n_classes) for the multinomial loss; otherwise numbers.
    costs : ndarray of shape (n_samples,)
        What the loss of each row is multiplied by, not negative.
    epsilon : float, default=None
        Half the width of the tube of "squared_epsilon_insensitive".

    Examples
    --------
    >>> import numpy as np
    >>> loss = make_loss("squared_hinge", np.array([1.0, -1.0]), np.ones(2))
    >>> round(loss.value(np.zeros((2, 1))), 6)
    2.0
    """
    kind, options = LOSSES[name]
    if name == "squared_epsilon_insensitive":
        options = {"epsilon": epsilon or 0.0}
    return kind(targets, costs, **options)
