"""The barriers of BSS and their quadratic forms."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

# Rounding must not reverse an inequality of matrices.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class QuadraticForm:
    """v ↦ vᵀ(diag(n) + EHEᵀ + EKFᵀ + FKEᵀ)v, with E, F, H and K for each of the two barriers.

    If it is split, the first half of the coordinates belongs to the lower barrier, and the second
    half to the upper one.
    """

    diagonal: FloatArray
    probes: FloatArray
    inner: FloatArray
    mixed: FloatArray
    split: bool

    def at(self, vectors: FloatArray, squares: FloatArray) -> FloatArray:
        """Return the values for the rows of ``vectors``, given their squares.

        The matrix of the form is used for many rows if it is smaller than the probes.
        """
        _, n_probes, n_coordinates = self.probes.shape
        width = n_coordinates // 2 if self.split else n_coordinates
        by_probes = 4 * n_probes * (width + n_probes)
        by_matrix = width * n_coordinates
        if len(vectors) * (by_probes - by_matrix) <= 2 * n_probes * width * (width + 2 * n_probes):
            return np.asarray(squares @ self.diagonal + self.corrections(vectors).sum(axis=0))
        values = np.zeros(len(vectors))
        for own, matrix in self._matrices:
            part = vectors[:, own]
            values += np.einsum("ij,ij->i", part @ matrix, part)
        return values

    @cached_property
    def _matrices(self) -> list[tuple[slice, FloatArray]]:
        """The form as matrices, with the coordinates that each of them acts on."""
        n_coordinates = len(self.diagonal)
        half = n_coordinates // 2
        owns = [slice(half), slice(half, None)] if self.split else [slice(None), slice(None)]
        found = []
        for part, own in enumerate(owns):
            inner, outer = self.probes[part, :, own], self.probes[2 + part, :, own]
            met = inner.T @ self.inner[part] + 2 * outer.T @ self.mixed[part]
            found.append((own, met @ inner))
        if not self.split:
            found = [(slice(None), found[0][1] + found[1][1])]
        for own, matrix in found:
            matrix[np.diag_indices_from(matrix)] += self.diagonal[own]
        return found

    def corrections(self, vectors: FloatArray) -> FloatArray:
        """Return the part of each barrier in the correction."""
        met = products(vectors, self.probes, self.split)
        inner, outer = met[:2], met[2:]
        half = inner @ (self.inner / 2) + outer @ self.mixed
        return 2 * np.einsum("ijk,ijk->ij", half, inner)

    def lowered(self, ceiling: FloatArray) -> FloatArray | None:
        """Return a lower diagonal above this form, or None if the given one is not proven above."""
        room = ceiling - self.diagonal
        if room.min() <= 0:
            return None
        # The rest of the form relative to the room above the diagonal, on the span of the probes.
        _, n_updates, n_components = self.probes.shape
        probes = (self.probes / np.sqrt(room)).reshape(4 * n_updates, n_components)
        factor = np.asarray(np.linalg.qr(probes.T, mode="r"))
        parts = factor.reshape(len(factor), 4, n_updates).transpose(1, 0, 2)
        inner, outer = parts[:2], parts[2:]
        mixed = inner @ self.mixed @ outer.transpose(0, 2, 1)
        forms = inner @ self.inner @ inner.transpose(0, 2, 1) + mixed + mixed.transpose(0, 2, 1)
        share = np.linalg.eigvalsh(forms.sum(axis=0)).max(initial=0.0) + _ROUNDING
        return None if share > 1 else self.diagonal + share * room


def products(vectors: FloatArray, probes: FloatArray, split: bool) -> FloatArray:
    """Return the products of vectors with the probes E and F of both barriers."""
    n_parts, n_probes, n_coordinates = probes.shape
    if not split:
        met = vectors @ probes.reshape(n_parts * n_probes, n_coordinates).T
        return np.asarray(met.reshape(len(vectors), n_parts, n_probes).transpose(1, 0, 2))
    # The other half of a probe is zero.
    half = n_coordinates // 2
    met = np.empty((n_parts, len(vectors), n_probes))
    for part in range(n_parts):
        own = slice(half) if part % 2 == 0 else slice(half, None)
        np.matmul(vectors[:, own], probes[part, :, own].T, out=met[part])
    return met


_SIGNS = np.array([1.0, -1.0])
_SIGNED = _SIGNS[:, None, None]
# The lower barrier may come as near to the old spectrum as this share of its first distance.
_NEAREST_APPROACH = 0.1
# Eigenvalues that the lower barrier would come near to within a window are lifted to so many
# windows above it, but not beyond the middle of the barriers. There are few of them, since the
# reciprocals of their distances sum to less than 1.
_LIFT = 2.0
_NEAR = 0.25


class Spectrum:
    """A = Q(D + ZSZᵀ)Qᵀ: an eigendecomposition and the picks since.

    The lower barrier soon passes an eigenvalue close to it, even if a pick has raised that
    eigenvalue in A, and the formulas would then subtract huge numbers. So D holds a higher value,
    and a column of Z with sign −1 in S takes the difference back. The picks have sign +1.
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
        """Add a pick, in the coordinates of the axes."""
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
        """Return whether the picks are too many, or D is too near to a barrier."""
        if self._n_lifts + self.n_picks == len(self._updates):
            return True
        nearest = _NEAREST_APPROACH * self._first_distance
        return self.n_picks > 0 and barriers.distance_after_step(self.lifted) < nearest


class Barriers:
    """Positions of the two barriers, and their potentials tr B⁻¹.

    Parameters
    ----------
    positions, steps : ndarray of shape (2,)
        First positions, and the distance that they move in each step.
    walls : ndarray of shape (n_components,), default=None
        Wall of a barrier in each direction, for steps of 1; None for none.
    """

    def __init__(
        self, positions: FloatArray, steps: FloatArray, walls: FloatArray | None = None
    ) -> None:
        self._positions = positions
        self._steps = steps
        self._walls = walls

    def eigenvalues(self, matrix: FloatArray) -> tuple[FloatArray, FloatArray | None]:
        """Return the eigenvalues that each barrier must not reach, and their axes.

        None instead of axes stands for the present coordinates.
        """
        if self._walls is None:
            # NumPy's eigh, not SciPy's: their wheels bring a BLAS each, whose threads compete.
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
        """Return the distance of the lower barrier from the spectrum after the next step."""
        return float(values[0].min() - self._positions[0] - self._steps[0])

    def lifts(self, values: FloatArray, n_steps: int) -> FloatArray:
        """Return how far eigenvalues are lifted so that the lower barrier meets none of them."""
        below, above = self._distances(values, 1)
        room = np.minimum(_LIFT * n_steps, (below + above) / 2)
        return np.where(below < _NEAR * room, room - below, 0.0)

    def spectrum(self, matrix: FloatArray, max_picks: int) -> Spectrum:
        """Return the spectrum of A, and compute the potentials from it."""
        spectrum = Spectrum(matrix, max_picks, self)
        self._potentials = (1 / self._distances(spectrum.values, 0)).sum(axis=1)
        return spectrum

    def step(self, spectrum: Spectrum) -> Step:
        """Return the barriers one step ahead."""
        return Step(spectrum, 1 / self._distances(spectrum.lifted, 1), self._potentials)

    def ceiling(self, spectrum: Spectrum, step: Step, n_steps: int, room: float) -> FloatArray:
        """Guess a diagonal above the quadratic forms 𝓛 − 𝓤 of this step and the next ones.

        The forms are largest where nothing is picked and the lower barrier approaches (up to half
        its distance to an eigenvalue). Picks that mix directions need some room, given as a share
        of the mean size of 𝓛 and 𝓤.
        """
        distances = self._distances(spectrum.values, 1)
        coming = np.maximum(self._distances(spectrum.values, 1 + n_steps), distances / 2)
        now, later = step.diagonal_forms(1 / distances), step.diagonal_forms(1 / coming)
        ceiling: FloatArray = np.maximum(now[0] - now[1], later[0] - later[1])
        return ceiling + room * np.abs(now).mean()

    def accept(self, step: Step, pick: FloatArray) -> float:
        """Move the barriers after a pick; return its energy t, by which A grows by t·vvᵀ."""
        inverse_forms, square_forms = step.forms(pick)
        energy = 2 / float((square_forms / step.gaps - _SIGNS * inverse_forms).sum())
        # The potentials after the pick, by the formula of Sherman and Morrison.
        signed = _SIGNS * energy
        self._potentials = step.potentials - signed * square_forms / (1 + signed * inverse_forms)
        self._positions = self._positions + self._steps
        return energy

    def _distances(self, values: FloatArray, n_steps: int) -> FloatArray:
        """Return the distances of eigenvalues from the barriers some steps ahead."""
        ahead = self._positions + n_steps * self._steps
        return _SIGNS[:, None] * (values - ahead[:, None])


class Step:
    """Both barriers one step ahead: B⁻¹ = Δ − sign·ECEᵀ with E = ΔZ and C = (S + sign·ZᵀE)⁻¹."""

    def __init__(
        self, spectrum: Spectrum, resolvents: FloatArray, old_potentials: FloatArray
    ) -> None:
        self.resolvents, self._split = resolvents, spectrum.split
        # Eᵀ for both barriers, then Fᵀ with F = ΔE.
        powers = np.concatenate([resolvents, resolvents * resolvents])
        self._probes = powers[:, None, :] * spectrum.updates
        met = products(spectrum.updates, self._probes, self._split)
        self._core = np.linalg.inv(np.diag(spectrum.signs) + _SIGNED * met[:2])
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
        """𝓛 − 𝓤, which is not negative for admissible vectors."""
        inner, mixed = self._cores
        lower, upper = self.diagonal_forms(self.resolvents)
        return QuadraticForm(lower - upper, self._probes, _SIGNED * inner, -mixed, self._split)

    def both_forms(self, vectors: FloatArray, squares: FloatArray) -> FloatArray:
        """Return 𝓛 and 𝓤 for the rows of ``vectors``, given their squares."""
        inner, mixed = self._cores
        form = QuadraticForm(self.resolvents[0], self._probes, inner, -_SIGNED * mixed, self._split)
        return self.diagonal_forms(self.resolvents) @ squares.T + form.corrections(vectors)
