"""Loss functions and their derivatives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

__all__ = [
    "Local",
    "LogisticLoss",
    "MultinomialLoss",
    "SmoothLoss",
    "SquaredHingeLoss",
    "TubeLoss",
]


FloatArray = NDArray[np.float64]


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


class SmoothLoss(Protocol):
    """Σ cᵢ·loss of scores, with a column for each thing that is predicted."""

    @property
    def n_columns(self) -> int:
        """Number of scores of each row."""
        ...

    def at(self, scores: FloatArray) -> Local:
        """Return the loss near scores of shape (n_samples, n_columns)."""
        ...


@dataclass(frozen=True, eq=False)
class TubeLoss:
    """Σ cᵢ max(0, |tᵢ − fᵢ| − ε)², squared loss for ε = 0."""

    targets: FloatArray
    costs: FloatArray
    epsilon: float = 0.0
    n_columns: int = 1

    def at(self, scores: FloatArray) -> Local:
        """Return the loss near scores of shape (n_samples, 1)."""
        errors = scores - self.targets[:, None]
        excess = np.maximum(np.abs(errors) - self.epsilon, 0.0)
        costs = 2 * self.costs[:, None]
        outside = (excess > 0) | (self.epsilon == 0)
        return Local(costs * np.sign(errors) * excess, costs * outside)


@dataclass(frozen=True, eq=False)
class SquaredHingeLoss:
    """Σ cᵢ max(0, 1 − sᵢfᵢ)² for signs s, the targets."""

    targets: FloatArray
    costs: FloatArray
    n_columns: int = 1

    def at(self, scores: FloatArray) -> Local:
        """Return the loss near scores of shape (n_samples, 1)."""
        signs, costs = self.targets[:, None], 2 * self.costs[:, None]
        slack = np.maximum(1 - signs * scores, 0.0)
        return Local(-costs * signs * slack, costs * (slack > 0))


@dataclass(frozen=True, eq=False)
class LogisticLoss:
    """Σ cᵢ log(1 + exp(−sᵢfᵢ)) for signs s."""

    signs: FloatArray
    costs: FloatArray
    n_columns: int = 1

    def at(self, scores: FloatArray) -> Local:
        """Return the loss near scores of shape (n_samples, 1)."""
        margins = self.signs[:, None] * scores
        costs = self.costs[:, None]
        wrong = expit(-margins)
        return Local(-costs * self.signs[:, None] * wrong, costs * wrong * expit(margins))


@dataclass(frozen=True, eq=False)
class MultinomialLoss:
    """Σ cᵢ log(Σ_k exp(f_ik)/exp(f_i,own)), with a mask that tells the own class of each row."""

    own: NDArray[np.bool_]
    costs: FloatArray

    @property
    def n_columns(self) -> int:
        """Number of classes."""
        return self.own.shape[1]

    def at(self, scores: FloatArray) -> Local:
        """Return the loss near scores of shape (n_samples, n_classes)."""
        shares = softmax(scores, axis=1)
        weighted = self.costs[:, None] * shares
        others = np.where(self.own, 0.0, weighted)
        # One less the share of the own class, without cancellation.
        slopes = np.where(self.own, -others.sum(axis=1, keepdims=True), others)
        return Local(slopes, weighted, shares)
