"""BSS for few directions: both barriers are inverted anew in each step, which is quick then."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from certifeature.basis.basis import Vectors
from certifeature.sparsify.bss.scan import NOTHING_ADMISSIBLE

__all__ = ["FewDirections"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]

_SIGNS = np.array([1.0, -1.0])
# Features that are looked at together, twice as many each time; and the best features, of which
# coordinates are kept in order of rank.
_FIRST_LOOK = 128
_LARGEST_LOOK = 8192
_KEPT = 8192


class FewDirections:
    """A, the barriers around it, and the features in order of rank.

    With B = sign·(A − position·I) + wall for the lower barrier (sign +1) and the upper one (−1),
    𝓛 and 𝓤 are the forms of B⁻²/gap − sign·B⁻¹, where the gap is what a step of the barrier
    changes its potential tr B⁻¹ by.

    Parameters
    ----------
    vectors : ndarray or ImplicitVectors of shape (n_features, n_components)
        V.
    ranking : ndarray
        The features to look at, best first.
    chosen : ndarray
        Features that count as picked from the start.
    positions, steps : ndarray of shape (2,)
        Where the barriers are at first, and by how much each step moves them.
    walls : ndarray of shape (n_components,)
        Wall of a barrier in each direction, for steps of 1.
    """

    def __init__(
        self,
        vectors: Vectors,
        ranking: IntArray,
        chosen: IntArray,
        positions: FloatArray,
        steps: FloatArray,
        walls: FloatArray,
    ) -> None:
        self._vectors = vectors
        self._ranking = ranking
        self._free = ~np.isin(ranking, chosen)
        self._top = vectors[ranking[:_KEPT]]
        self._positions, self._steps = positions, steps
        self._walls = steps[:, None] * walls
        self._matrix = np.zeros((len(walls), len(walls)))
        self._potentials = (1 / (self._walls - (_SIGNS * positions)[:, None])).sum(axis=1)

    def pick(self) -> tuple[int, float]:
        """Move the barriers on; return the next feature, and by how much of it A grows."""
        self._positions = self._positions + self._steps
        barriers = _SIGNS[:, None, None] * self._matrix
        diagonal = np.arange(len(self._matrix))
        barriers[:, diagonal, diagonal] += self._walls - (_SIGNS * self._positions)[:, None]
        inverses = np.linalg.inv(barriers)
        squares = inverses @ inverses
        potentials = np.trace(inverses, axis1=1, axis2=2)
        gaps = _SIGNS * (potentials - self._potentials)
        forms = squares / gaps[:, None, None] - _SIGNS[:, None, None] * inverses
        place, vector = self._first_admissible(forms[0] - forms[1])
        self._free[place] = False
        energy = 2 / float(vector @ (forms[0] + forms[1]) @ vector)
        # The potentials after the pick, by the formula of Sherman and Morrison.
        signed = _SIGNS * energy
        self._potentials = potentials - signed * (squares @ vector @ vector) / (
            1 + signed * (inverses @ vector @ vector)
        )
        self._matrix += energy * np.outer(vector, vector)
        return int(self._ranking[place]), energy

    def _first_admissible(self, surplus: FloatArray) -> tuple[int, FloatArray]:
        """Return the first feature whose form is not negative: the unpicked first."""
        repeat = None
        start, size = 0, _FIRST_LOOK
        while start < len(self._ranking):
            stop = min(start + size, len(self._ranking))
            vectors = self._in_order(start, stop)
            values = np.einsum("ij,ij->i", vectors @ surplus, vectors)
            hits = np.flatnonzero(values >= 0)
            free = hits[self._free[start + hits]]
            if free.size:
                return start + int(free[0]), vectors[free[0]]
            if repeat is None and hits.size:
                repeat = start + int(hits[0]), vectors[hits[0]]
            start, size = stop, min(2 * size, _LARGEST_LOOK)
        if repeat is None:
            raise ValueError(NOTHING_ADMISSIBLE)
        return repeat

    def _in_order(self, start: int, stop: int) -> FloatArray:
        """Return rows of V in order of rank."""
        if stop <= len(self._top):
            return self._top[start:stop]
        return np.asarray(self._vectors[self._ranking[start:stop]])
