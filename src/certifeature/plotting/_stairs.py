"""Stairs of how often features are chosen."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

__all__ = ["frequency_stairs", "random_stairs"]

FloatArray = NDArray[np.float64]


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
