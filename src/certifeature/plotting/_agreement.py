"""Measures of how similar selections are."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

__all__ = ["frequency_stairs", "jaccard_index", "nogueira_index", "random_stairs"]

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


def frequency_stairs(frequencies: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the corners of the frequencies in percent, highest first, down to zero."""
    heights = np.sort(frequencies[frequencies > 0])[::-1]
    return _corners(np.arange(1.0, len(heights) + 1), heights)


def random_stairs(frequencies: FloatArray, n_selections: int) -> tuple[FloatArray, FloatArray]:
    """Return the corners that random selections of the same mean size give on average."""
    times = np.arange(n_selections, 0, -1)
    expected = len(frequencies) * binom.sf(times - 1, n_selections, frequencies.mean())
    return _corners(expected, times / n_selections)


def _corners(ends: FloatArray, heights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return where stairs have corners, with heights that reach to these ends."""
    places = np.concatenate([[0.0], ends, ends[-1:]])
    return places, 100 * np.concatenate([heights[:1], heights, [0.0]])
