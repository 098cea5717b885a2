"""The spectrum of the matrix that BSS builds up, and the two barriers that enclose it.

Between eigendecompositions A = Q(D + ZSZᵀ)Qᵀ with D diagonal, S = diag(±1) and a narrow Z. In the
coordinates of Q, moving a barrier changes a diagonal only, and Z enters by the formula of Woodbury.
Every array over barriers has two rows: the lower one with sign +1, the upper one with sign −1. With
B = sign·(A − position·I), which is positive definite for both, they obey the same formulas.

Directions that need no full coverage have walls: the lower barrier is further down there, and the
upper one further up, B = sign·(A − position·I) + wall. Then each barrier sees A in an eigenbasis of
its own; the coordinates of both stand side by side, and a barrier is infinitely far from those of
the other.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from certifeature.sparsify.bss.forms import QuadraticForm, products

__all__ = ["Barriers", "Spectrum", "Step"]

FloatArray = NDArray[np.float64]

_SIGNS = np.array([1.0, -1.0])
_SIGNED = _SIGNS[:, None, None]
# The lower barrier may come this much nearer to the old spectrum than it was when that was made.
_NEAREST_APPROACH = 0.1
# Eigenvalues that it would come near to in a window are taken to be so many windows above it, but
# not beyond the middle of the barriers. There are few: their reciprocal distances sum to less than
# 1.
_LIFT = 2.0
_NEAR = 0.25


class Spectrum:
    """A = Q(D + ZSZᵀ)Qᵀ: an eigendecomposition and the picks since.

    An eigenvalue near the lower barrier would soon be passed by it, although a pick has lifted it
    meanwhile, and the formulas would subtract huge numbers from each other. So D has it higher than
    it is, and a column of Z with sign −1 in S takes that back. The picks have sign +1.
    """

    def __init__(self, matrix: FloatArray, max_picks: int, barriers: Barriers) -> None:
        self._matrix = matrix
        self.values, self.axes = barriers.eigenvalues(matrix)
        lifts = barriers.lifts(self.values, max_picks)
        self.lifted = self.values + lifts
        low = np.flatnonzero(lifts)
        self._n_lifts = len(low)
        self._updates = np.zeros((len(low) + max_picks, len(lifts)))
        self._updates[np.arange(len(low)), low] = np.sqrt(lifts[low])
        self._signs = np.ones(len(self._updates))
        self._signs[: len(low)] = -1
        self.n_picks = 0
        self._first_distance = barriers.distance_after_step(self.lifted)

    @property
    def updates(self) -> FloatArray:
        """Zᵀ, a row for each update."""
        return self._updates[: self._n_lifts + self.n_picks]

    @property
    def signs(self) -> FloatArray:
        """The diagonal of S."""
        return self._signs[: self._n_lifts + self.n_picks]

    def add(self, pick: FloatArray) -> None:
        """Take in a pick, in the coordinates of the axes."""
        self._updates[self._n_lifts + self.n_picks] = pick
        self.n_picks += 1

    def matrix(self) -> FloatArray:
        """Return A."""
        n_components = len(self._matrix)
        picked = self.updates[self._n_lifts :, :n_components]
        if self.axes is not None:
            picked = picked @ self.axes[:, :n_components].T
        return np.asarray(self._matrix + picked.T @ picked)

    @property
    def split(self) -> bool:
        """Whether each barrier has axes of its own."""
        return self.values.shape[1] > len(self._matrix)

    def turned(self, vectors: FloatArray) -> FloatArray:
        """Return the coordinates of vectors along the axes."""
        return vectors if self.axes is None else vectors @ self.axes

    def is_stale(self, barriers: Barriers) -> bool:
        """Tell whether the picks are too many, or D too near to a barrier."""
        if self._n_lifts + self.n_picks == len(self._updates):
            return True
        nearest = _NEAREST_APPROACH * self._first_distance
        return self.n_picks > 0 and barriers.distance_after_step(self.lifted) < nearest


class Barriers:
    """Where the barriers are, and the potentials tr B⁻¹ there.

    Parameters
    ----------
    positions, steps : ndarray of shape (2,)
        Where they are at first, and by how much each step moves them.
    walls : ndarray of shape (n_components,), default=None
        Wall of a barrier in each direction, for steps of 1; None for none.
    """

    def __init__(
        self,
        positions: FloatArray,
        steps: FloatArray,
        walls: FloatArray | None = None,
    ) -> None:
        self._positions = positions
        self._steps = steps
        self._walls = walls

    def eigenvalues(self, matrix: FloatArray) -> tuple[FloatArray, FloatArray | None]:
        """Return what each barrier has to keep clear of, and along which axes.

        No axes stand for the coordinates that there are.
        """
        if self._walls is None:
            # NumPy's, not SciPy's: wheels of the two bring a BLAS each, whose threads fight for
            # cores.
            values, axes = np.linalg.eigh(matrix)
            return np.array([values, values]), axes
        walls = np.outer(_SIGNS * self._steps, self._walls)
        if not matrix.any():
            return walls, None
        below, axes_below = np.linalg.eigh(matrix + np.diag(walls[0]))
        above, axes_above = np.linalg.eigh(matrix + np.diag(walls[1]))
        far = np.full(len(matrix), np.inf)
        values = np.array([np.concatenate([below, far]), np.concatenate([-far, above])])
        return values, np.hstack([axes_below, axes_above])

    def distance_after_step(self, values: FloatArray) -> float:
        """Return how far below the spectrum the lower barrier will be."""
        return float(values[0].min() - self._positions[0] - self._steps[0])

    def lifts(self, values: FloatArray, n_steps: int) -> FloatArray:
        """Return by how much to lift eigenvalues so that the lower barrier meets none of them."""
        below, above = self._distances(values, 1)
        room = np.minimum(_LIFT * n_steps, (below + above) / 2)
        return np.where(below < _NEAR * room, room - below, 0.0)

    def spectrum(self, matrix: FloatArray, max_picks: int) -> Spectrum:
        """Return the spectrum of A, and compute the potentials from it."""
        spectrum = Spectrum(matrix, max_picks, self)
        self._potentials = (1 / self._distances(spectrum.values, 0)).sum(axis=1)
        return spectrum

    def step(self, spectrum: Spectrum) -> Step:
        """Return what the next step looks like."""
        resolvents = 1 / self._distances(spectrum.lifted, 1)
        updates, signs = spectrum.updates, spectrum.signs
        return Step(resolvents, updates, signs, self._potentials, spectrum.split)

    def ceiling(self, spectrum: Spectrum, step: Step, n_steps: int, room: float) -> FloatArray:
        """Guess a diagonal above the quadratic forms 𝓛 − 𝓤 of this step and some more.

        They are largest where nothing is picked and the lower barrier comes ever nearer (of its
        distance to an eigenvalue half is left, at least). What picks mix into other directions
        needs some room, in parts of the mean size of 𝓛 and 𝓤.
        """
        distances = self._distances(spectrum.values, 1)
        coming = np.maximum(self._distances(spectrum.values, 1 + n_steps), distances / 2)
        now, later = step.diagonal_forms(1 / distances), step.diagonal_forms(1 / coming)
        ceiling: FloatArray = np.maximum(now[0] - now[1], later[0] - later[1])
        return ceiling + room * np.abs(now).mean()

    def accept(self, step: Step, pick: FloatArray) -> float:
        """Move on, with a vector picked; return by how much of it A grows."""
        inverse_forms, square_forms = step.forms(pick)
        energy = 2 / float((square_forms / step.gaps - _SIGNS * inverse_forms).sum())
        # The potentials after the pick, by the formula of Sherman and Morrison.
        signed = _SIGNS * energy
        self._potentials = step.potentials - signed * square_forms / (1 + signed * inverse_forms)
        self._positions = self._positions + self._steps
        return energy

    def _distances(self, values: FloatArray, n_steps: int) -> FloatArray:
        """Return how far eigenvalues are from the barriers some steps ahead."""
        ahead = self._positions + n_steps * self._steps
        return _SIGNS[:, None] * (values - ahead[:, None])


class Step:
    """Both barriers one step ahead: B⁻¹ = Δ − sign·ECEᵀ with E = ΔZ and C = (S + sign·ZᵀE)⁻¹."""

    def __init__(
        self,
        resolvents: FloatArray,
        updates: FloatArray,
        signs: FloatArray,
        old_potentials: FloatArray,
        split: bool,
    ) -> None:
        self.resolvents = resolvents
        # Eᵀ for both barriers, then Fᵀ with F = ΔE.
        powers = np.concatenate([resolvents, resolvents * resolvents])
        self._probes = powers[:, None, :] * updates
        self._split = split
        met = products(updates, self._probes, split)
        self._core = np.linalg.inv(np.diag(signs) + _SIGNED * met[:2])
        # EᵀE is ZᵀF.
        self._overlap = met[2:]
        corrections = np.einsum("ijk,ijk->i", self._core, self._overlap)
        self.potentials = resolvents.sum(axis=1) - _SIGNS * corrections
        self.gaps = _SIGNS * (self.potentials - old_potentials)

    def forms(self, vector: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return vᵀB⁻¹v and vᵀB⁻²v for both barriers."""
        spread = self._probes[:2]
        corrected = (spread @ vector)[:, None, :] @ self._core
        solved = self.resolvents * vector - _SIGNS[:, None] * (corrected @ spread)[:, 0, :]
        return solved @ vector, np.einsum("ij,ij->i", solved, solved)

    def diagonal_forms(self, resolvents: FloatArray) -> FloatArray:
        """Return the diagonals of 𝓛 and 𝓤 for diagonal B⁻¹ and the gaps of this step."""
        return resolvents * resolvents / self.gaps[:, None] - _SIGNS[:, None] * resolvents

    @cached_property
    def _cores(self) -> tuple[FloatArray, FloatArray]:
        """H and K of both barriers, whose form is a diagonal, EHEᵀ and −sign·(EKFᵀ + FKEᵀ).

        The form of a barrier is B⁻²/gap − sign·B⁻¹.
        """
        weighted = self._core / self.gaps[:, None, None]
        return self._core + self._core @ self._overlap @ weighted, weighted

    @cached_property
    def surplus(self) -> QuadraticForm:
        """𝓛 − 𝓤, whose sign tells whether a vector is admissible."""
        inner, mixed = self._cores
        lower, upper = self.diagonal_forms(self.resolvents)
        return QuadraticForm(lower - upper, self._probes, _SIGNED * inner, -mixed, self._split)

    def both_forms(self, vectors: FloatArray, squares: FloatArray) -> FloatArray:
        """Return 𝓛 and 𝓤 of the rows of ``vectors``, whose squares are given too."""
        inner, mixed = self._cores
        form = QuadraticForm(self.resolvents[0], self._probes, inner, -_SIGNED * mixed, self._split)
        return self.diagonal_forms(self.resolvents) @ squares.T + form.corrections(vectors)
