"""How similar selections are that were made on different rows."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

__all__ = ["jaccard_index", "nogueira_index"]

FloatArray = NDArray[np.float64]


def jaccard_index(masks: FloatArray) -> float:
    """Return the mean of |A ∩ B|/|A ∪ B| over pairs of selections, which are rows of 0 and 1."""
    shares = [np.minimum(a, b).sum() / np.maximum(a, b).sum() for a, b in combinations(masks, 2)]
    return float(np.mean(shares))


def nogueira_index(masks: FloatArray) -> float:
    """Return the stability that is corrected for chance; NaN where all features are chosen."""
    frequencies, n_selections = masks.mean(axis=0), len(masks)
    share = frequencies.mean()
    if share == 1:
        return float("nan")
    spread = n_selections / (n_selections - 1) * np.mean(frequencies * (1 - frequencies))
    return float(1 - spread / (share * (1 - share)))
