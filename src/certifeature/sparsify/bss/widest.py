"""The admissible feature that leaves most room between the barriers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from certifeature.basis.basis import row_blocks
from certifeature.sparsify.bss.barriers import Spectrum, Step
from certifeature.sparsify.bss.scan import NOTHING_ADMISSIBLE, Pick, Scan

__all__ = ["WidestScan"]

FloatArray = NDArray[np.float64]

# Ratios that are equal but for rounding tie.
_DIGITS = 9
# How many steps pass between two looks at all features, and how many features are looked at
# meanwhile.
_STEPS, _NEAREST = 8, 512


class WidestScan(Scan):
    """Finds the feature of the largest 𝓛/𝓤, whatever its rank.

    These ratios change little from step to step. All features are looked at in the first two steps
    and then in every eighth, and in between those that were the best then.
    """

    _n_steps, _n_since = 0, 0

    def turn(self, spectrum: Spectrum, ceiling: FloatArray) -> None:
        """Go over to the coordinates of a new eigenbasis."""
        turned = [spectrum.turned(block) for _, block in row_blocks(self._vectors)]
        self._all = np.concatenate(turned)[self._ranking]
        self._squares = self._all**2
        self._n_since = _STEPS

    def near_top(self, step: Step) -> Pick:
        """Return the unpicked feature of the largest ratio, or the picked one if none is left."""
        place = None
        if self._n_since < min(_STEPS, self._n_steps):
            place = self._widest(step, self._near)
        if place is None:
            place = self._widest_of_all(step)
        self._n_steps, self._n_since = self._n_steps + 1, self._n_since + 1
        return self._pick(place, self._all[place])

    def _widest_of_all(self, step: Step) -> int:
        ratios = self._ratios(step, np.arange(len(self._all)))
        free = np.where(self._free, ratios, 0.0)
        # Stable, so that of equal ratios the better rank comes first.
        self._near = np.sort(np.argsort(-free, kind="stable")[:_NEAREST])
        self._n_since = 0
        if ratios.max() < 1:
            raise ValueError(NOTHING_ADMISSIBLE)
        return int(np.argmax(free if free.max() >= 1 else ratios))

    def _widest(self, step: Step, places: NDArray[np.intp]) -> int | None:
        """Return the unpicked feature of the largest ratio among some, if one is admissible."""
        ratios = np.where(self._free[places], self._ratios(step, places), 0.0)
        best = int(np.argmax(ratios))
        return int(places[best]) if ratios[best] >= 1 else None

    def _ratios(self, step: Step, places: NDArray[np.intp]) -> FloatArray:
        lower, upper = step.both_forms(self._all[places], self._squares[places])
        ratios = np.divide(lower, upper, out=np.zeros(len(lower)), where=upper > 0)
        return np.round(ratios, _DIGITS)
