"""The admissible feature that leaves most room between the barriers, found by looking at all."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from certifeature.basis.basis import row_blocks
from certifeature.sparsify.bss.barriers import Spectrum, Step
from certifeature.sparsify.bss.scan import Pick, Scan

__all__ = ["WidestScan"]

# Ratios that are equal but for rounding tie.
_DIGITS = 9


class WidestScan(Scan):
    """Finds the feature of the largest 𝓛/𝓤, whatever its rank."""

    def turn(self, spectrum: Spectrum, ceiling: NDArray[np.float64]) -> None:
        """Go over to the coordinates of a new eigenbasis; nothing is ruled out."""
        turned = [spectrum.turned(block) for _, block in row_blocks(self._vectors)]
        self._all = np.concatenate(turned)[self._ranking]
        self._squares = self._all**2

    def near_top(self, step: Step) -> Pick:
        """Return the unpicked feature of the largest ratio, or the picked one if none is left."""
        lower, upper = step.both_forms(self._all, self._squares)
        ratios = np.divide(lower, upper, out=np.zeros(len(lower)), where=upper > 0)
        free = np.where(self._free & (ratios >= 1), ratios, 0.0)
        place = int(np.argmax(np.round(free if free.any() else ratios, _DIGITS)))
        return self._pick(place, self._all[place])
