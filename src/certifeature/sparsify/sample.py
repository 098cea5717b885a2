"""What a sparsification kernel returns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["EmptySampleError", "Sample"]


class EmptySampleError(ValueError):
    """Chance left no feature at all."""


@dataclass(frozen=True, eq=False)
class Sample:
    """Chosen features and the scale of each: the matrix R of X·R.

    Attributes
    ----------
    indices : ndarray of shape (n_chosen,)
        Distinct feature indices in the order of their first pick.
    weights : ndarray of shape (n_chosen,)
        Positive scale of each chosen feature.
    """

    indices: NDArray[np.intp]
    weights: NDArray[np.float64]
