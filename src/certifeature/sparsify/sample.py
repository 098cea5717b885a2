"""What a sparsification kernel returns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from certifeature.rows.matrix import fingerprint

__all__ = ["EmptySampleError", "Sample", "Steps"]


class EmptySampleError(ValueError):
    """Chance left no feature at all."""


@dataclass(frozen=True, eq=False)
class Steps:
    """The steps of BSS, which adds energy·vvᵀ to a matrix in each.

    Attributes
    ----------
    features : ndarray of shape (n_steps,)
        The feature of each step; one may come again.
    energies : ndarray of shape (n_steps,)
        How much of it is added.
    coverage : ndarray of shape (n_components,) or None
        Share of each direction that had to be covered; None for all of each.
    """

    features: NDArray[np.intp]
    energies: NDArray[np.float64]
    coverage: NDArray[np.float64] | None = None


@dataclass(frozen=True, eq=False)
class Sample:
    """Chosen features and the scale of each: the matrix R of X·R.

    Attributes
    ----------
    indices : ndarray of shape (n_chosen,)
        Distinct feature indices in the order of their first pick.
    weights : ndarray of shape (n_chosen,)
        Positive scale of each chosen feature.
    steps : Steps or None
        How it came about, step by step; of BSS only.
    reasons : ndarray of shape (n_chosen,) or None
        Why each is in: "fixed", "trusted", "cover" or "next"; of `certifeature.BSSSelector` only.
    """

    indices: NDArray[np.intp]
    weights: NDArray[np.float64]
    steps: Steps | None = None
    reasons: NDArray[np.str_] | None = None

    @property
    def fingerprint(self) -> str:
        """A digest of the chosen features and their scales."""
        return fingerprint(np.column_stack([self.indices, self.weights]))
