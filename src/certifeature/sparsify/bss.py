"""Deterministic single-set spectral sparsification (Batson, Spielman and Srivastava)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certifeature import _utils as _memory
from certifeature._progress import phase
from certifeature._utils import as_count, check_choice, one_each
from certifeature.basis.basis import Vectors, as_vectors, squared_norms
from certifeature.sparsify.choice import ColumnChoice, Groups, Steps, checked_groups

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]
Pick = tuple[int, FloatArray]


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

    def __init__(
        self, matrix: FloatArray, max_picks: int, barriers: Barriers, rank: int = 1
    ) -> None:
        self._matrix = matrix
        self.values, self.axes = barriers.eigenvalues(matrix)
        lifts = barriers.lifts(self.values, max_picks)
        self.lifted = self.values + lifts
        low = np.flatnonzero(lifts)
        self._n_lifts, self._max_picks = len(low), max_picks
        # The last pick may be a group, and begin just below the limit.
        self._updates = np.zeros((len(low) + max_picks - 1 + rank, len(lifts)))
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
        """Add the vectors of a pick, in the coordinates of the axes."""
        start = self._n_lifts + self.n_picks
        self._updates[start : start + len(pick)] = pick
        self.n_picks += len(pick)

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
        if self.n_picks >= self._max_picks:
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

    def spectrum(self, matrix: FloatArray, max_picks: int, rank: int = 1) -> Spectrum:
        """Return the spectrum of A, and compute the potentials from it.

        It takes up to ``max_picks`` vectors, of picks that have up to ``rank`` each.
        """
        spectrum = Spectrum(matrix, max_picks, self, rank)
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
        """Move the barriers after a pick; return its energy t, by which A grows by t·Σvvᵀ."""
        inverse_forms, square_forms = step.forms(pick)
        inverse, square = np.einsum("kii->k", inverse_forms), np.einsum("kii->k", square_forms)
        energy = 2 / float((square / step.gaps - _SIGNS * inverse).sum())
        # The potentials after the pick, by the formula of Woodbury.
        cores = np.eye(len(pick)) + energy * _SIGNED * inverse_forms
        fall = np.einsum("kii->k", np.linalg.solve(cores, square_forms))
        self._potentials = step.potentials - energy * _SIGNS * fall
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

    def forms(self, vectors: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return VB⁻¹Vᵀ and VB⁻²Vᵀ for both barriers and the rows of V."""
        spread = self._probes[:2]
        corrected = vectors @ spread.transpose(0, 2, 1) @ self._core
        solved = self.resolvents[:, None, :] * vectors - _SIGNED * (corrected @ spread)
        return solved @ vectors.T, solved @ solved.transpose(0, 2, 1)

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


# The head holds the best unpicked features, one of which mostly is admissible: so many values in
# total, and at least so many features. Only a few are examined if the last pick was beyond it.
_HEAD_VALUES, _LEAST_HEAD = 2**21, 1024
_SMALL_HEAD = 64
# Features examined together: half as many as in the last step, at least a few. A scan of all
# features doubles its blocks from the first size to the largest number of values.
_FIRST_LOOK = 8
_FIRST_BLOCK = 256
_LARGEST_BLOCK = 2**20
# So many blocks of survivors are joined, up to a number of values.
_MANY_BLOCKS = 16
_LARGEST_JOINED = 2**23
NOTHING_ADMISSIBLE = (
    "no admissible feature is left, although theory promises one: the columns of vectors are "
    "orthonormal only to rounding that BSS cannot bear. Orthonormalise them, for instance with "
    "numpy.linalg.qr."
)


class Block(NamedTuple):
    """Groups by their places, and the features of one after those of the other.

    Vectors are in the coordinates of the eigenbasis, and come with their squares.
    """

    places: IntArray
    sizes: IntArray
    vectors: FloatArray
    squares: FloatArray

    def totals(self, values: FloatArray) -> FloatArray:
        """Return the sums over each group of values of its features."""
        if len(values) == len(self.sizes):
            return values
        return np.asarray(np.add.reduceat(values, np.cumsum(self.sizes) - self.sizes))

    def those(self, kept: NDArray[np.bool_]) -> Block:
        """Return some of the groups."""
        features = kept if len(kept) == len(self.vectors) else np.repeat(kept, self.sizes)
        vectors, squares = self.vectors[features], self.squares[features]
        return Block(self.places[kept], self.sizes[kept], vectors, squares)

    def pick(self, number: Any) -> Pick:
        """Return the place of a group, and its vectors."""
        end = int(self.sizes[: number + 1].sum())
        return self.places[number], self.vectors[end - self.sizes[number] : end]


class Scan:
    """Search for the best admissible group: unpicked ones first, then picked ones.

    Parameters
    ----------
    vectors : ndarray or ImplicitVectors of shape (n_features, n_components)
        V.
    groups : Groups
        The groups of the features.
    ranking : ndarray
        The groups to examine, best first. A place is an index into it.
    n_ranked : int
        Number of those that come before picked groups; the others come after them.
    chosen : ndarray
        Groups that count as picked from the start.
    """

    def __init__(
        self, vectors: Vectors, groups: Groups, ranking: IntArray, n_ranked: int, chosen: IntArray
    ) -> None:
        self._vectors, self._groups = vectors, groups
        self._ranking, self._n_ranked = ranking, n_ranked
        self._free = ~np.isin(ranking, chosen)
        self._went_deep, self._depth = False, 0

    def turn(self, spectrum: Spectrum, ceiling: FloatArray) -> None:
        """Change to the coordinates of a new eigenbasis, and to a diagonal above the next forms."""
        self._spectrum = spectrum
        n_head = max(_LEAST_HEAD, _HEAD_VALUES // len(ceiling))
        free = np.flatnonzero(self._free[: self._n_ranked])
        self._head, self._has_all = free[:n_head], len(free) <= n_head
        self._head_features, self._head_sizes = self._groups.members(self._ranking[self._head])
        self._head_ends = np.concatenate([[0], np.cumsum(self._head_sizes)])
        shape = 2, len(self._head_features), len(ceiling)
        self._head_vectors, self._head_squares = np.empty(shape)
        self._n_turned = 0
        self.ceiling = ceiling
        self._shortlist = Shortlist(self._turned, self._ranking, ceiling, self._vectors)

    def _turned(self, places: IntArray) -> Block:
        """Return groups with their coordinates in the eigenbasis."""
        features, sizes = self._groups.members(self._ranking[places])
        vectors = self._spectrum.turned(self._vectors[features])
        return Block(places, sizes, vectors, vectors**2)

    def near_top(self, step: Step) -> Pick | None:
        """Return the first admissible group among the best unpicked ones, if there is one."""
        n_head = min(_SMALL_HEAD, len(self._head)) if self._went_deep else len(self._head)
        start, size = 0, max(_FIRST_LOOK, self._depth // 2)
        while start < n_head:
            stop = min(start + size, n_head)
            block = self._head_block(start, stop)
            admissible = block.totals(step.surplus.at(block.vectors, block.squares)) >= 0
            hits = np.flatnonzero(admissible & self._free[block.places])
            if hits.size:
                self._depth = start + int(hits[0])
                return self._picked(*block.pick(hits[0]))
            start, size = stop, 2 * size
        looked_at_all = self._has_all and n_head == len(self._head)
        return self._again(step.surplus) if looked_at_all else None

    def _again(self, surplus: QuadraticForm) -> Pick | None:
        """Return the first admissible group among the picked ones, if there is one."""
        block = self._turned(np.flatnonzero(~self._free))
        hits = np.flatnonzero(block.totals(surplus.at(block.vectors, block.squares)) >= 0)
        return self._picked(*block.pick(hits[0])) if hits.size else None

    def _head_block(self, start: int, stop: int) -> Block:
        """Return a part of the head; coordinates are computed when they are first needed."""
        if stop > self._n_turned:
            n_needed = min(max(stop, 2 * self._n_turned, _SMALL_HEAD), len(self._head))
            new = slice(*self._head_ends[[self._n_turned, n_needed]])
            vectors = self._vectors[self._head_features[new]]
            self._head_vectors[new] = self._spectrum.turned(vectors)
            np.square(self._head_vectors[new], out=self._head_squares[new])
            self._n_turned = n_needed
        part = slice(*self._head_ends[[start, stop]])
        vectors, squares = self._head_vectors[part], self._head_squares[part]
        return Block(self._head[start:stop], self._head_sizes[start:stop], vectors, squares)

    def anywhere(self, surplus: QuadraticForm, ceiling: FloatArray) -> Pick:
        """Return the first admissible group of all, for a form below the ceiling."""
        picked: list[Pick] = []
        last_resort: list[Pick] = []
        for listed in self._shortlist.blocks():
            block = listed.those(listed.totals(listed.squares @ ceiling) >= 0)
            hits = np.flatnonzero(block.totals(surplus.at(block.vectors, block.squares)) >= 0)
            for hit in hits:
                place, vectors = block.pick(hit)
                if not self._free[place]:
                    picked.append((place, vectors))
                elif place < self._n_ranked:
                    self._went_deep = bool(place > self._head[-1])
                    return self._picked(place, vectors)
                else:
                    last_resort.append((place, vectors))
            if picked and (block.places >= self._n_ranked).any():
                break
        if not picked and not last_resort:
            raise ValueError(NOTHING_ADMISSIBLE)
        return self._picked(*(picked or last_resort)[0])

    def _picked(self, place: int, vectors: FloatArray) -> Pick:
        self._free[place] = False
        return int(self._ranking[place]), vectors


class Shortlist:
    """The groups that may be admissible while the quadratic form stays below a ceiling.

    vᵀNv ≤ vᵀRv for N ≼ R, so that a group is ruled out where the sum of the right sides is
    negative. The list grows as deep into the ranking as scans go.
    """

    def __init__(
        self,
        turned: Callable[[IntArray], Block],
        ranking: IntArray,
        ceiling: FloatArray,
        vectors: Vectors,
    ) -> None:
        self._turned, self._n_places, self._ceiling = turned, len(ranking), ceiling
        self._end, self._stride = 0, _FIRST_BLOCK
        self._longest = max(1, _LARGEST_BLOCK // vectors.shape[1])
        in_memory = vectors.size if isinstance(vectors, np.ndarray) else 0
        self._n_values, self._max_values = 0, max(_memory.MAX_LISTED, in_memory)
        self._blocks: list[Block] = []

    def blocks(self) -> Iterator[Block]:
        """Yield the blocks on the list, best first, and then those of the other groups."""
        if len(self._blocks) >= _MANY_BLOCKS and self._n_values <= _LARGEST_JOINED:
            self._blocks = [Block(*map(np.concatenate, zip(*self._blocks, strict=True)))]
        yield from self._blocks
        start, stride = self._end, self._stride
        while start < self._n_places:
            block = self._turned(np.arange(start, min(start + stride, self._n_places)))
            block = block.those(block.totals(block.squares @ self._ceiling) >= 0)
            listed = self._end == start
            start, stride = start + stride, min(2 * stride, self._longest)
            if listed and self._n_values + block.vectors.size <= self._max_values:
                self._blocks.append(block)
                self._end, self._stride = start, stride
                self._n_values += block.vectors.size
            yield block


# Ratios that are equal but for rounding tie.
_DIGITS = 9
# Number of steps between two searches of all features, and of features examined in between.
_STEPS, _NEAREST = 8, 512


class WidestScan(Scan):
    """Search for the group of the largest 𝓛/𝓤, whatever its rank.

    These ratios change little from step to step. All groups are examined in the first two steps
    and then in every eighth, and in between those that were the best then.
    """

    _n_steps, _n_since = 0, 0

    def turn(self, spectrum: Spectrum, ceiling: FloatArray) -> None:
        """Change to the coordinates of a new eigenbasis."""
        self._spectrum, self._n_since = spectrum, _STEPS
        self._all = self._turned(np.arange(len(self._ranking)))

    def near_top(self, step: Step) -> Pick | None:
        """Return the unpicked group of the largest ratio, or the picked one if none is left."""
        is_recent = self._n_since < min(_STEPS, self._n_steps)
        pick = self._widest(step, self._near) if is_recent else None
        self._n_steps, self._n_since = self._n_steps + 1, self._n_since + 1
        return self._picked(*(pick or self._widest_of_all(step)))

    def _widest_of_all(self, step: Step) -> Pick:
        ratios = self._ratios(step, self._all)
        free = np.where(self._free, ratios, 0.0)
        near = np.zeros(len(free), dtype=bool)
        # Stable, so that the better rank comes first among equal ratios.
        near[np.argsort(-free, kind="stable")[:_NEAREST]] = True
        self._near, self._n_since = self._all.those(near), 1
        if ratios.max() < 1:
            raise ValueError(NOTHING_ADMISSIBLE)
        return self._all.pick(int(np.argmax(free if free.max() >= 1 else ratios)))

    def _widest(self, step: Step, block: Block) -> Pick | None:
        """Return the unpicked group of the largest ratio among some, if one is admissible."""
        ratios = np.where(self._free[block.places], self._ratios(step, block), 0.0)
        best = int(np.argmax(ratios))
        return block.pick(best) if ratios[best] >= 1 else None

    def _ratios(self, step: Step, block: Block) -> FloatArray:
        lower, upper = map(block.totals, step.both_forms(block.vectors, block.squares))
        ratios = np.divide(lower, upper, out=np.zeros(len(lower)), where=upper > 0)
        return np.asarray(np.round(ratios, _DIGITS))


# A column of negligible norm would need an enormous scale, which spoils rows outside the basis.
_NEGLIGIBLE_NORM = 1e-6
# Picks between eigendecompositions: at least so many, or this share of √(rℓ), the number of steps
# between the barriers and the spectrum at the start.
_SHORTEST_WINDOW, _SHORTEST_SOFT_WINDOW = 32, 24
_WINDOW_PER_REACH = 0.045
# With coverage there are two eigendecompositions. So many picks, times the power 2/3 of the number
# of directions, cost about as much.
_WINDOW_PER_DIRECTION = 1.2
# Walls are reciprocals of shares: a tiny share would swamp the others by rounding.
LEAST_COVERAGE = 1e-6
# Room under the ceiling that rules features out: at first, the factor after a whole window, the
# factor when it did not last for half a window, the least that rounding needs, and the most.
_FIRST_ROOM = 0.01
_LESS_ROOM, _MORE_ROOM = 0.9, 3.0
_LEAST_ROOM, _MAX_ROOM = 1e-3, 100.0


def bss(
    vectors: ArrayLike,
    n_select: int,
    *,
    groups: ArrayLike | None = None,
    coverage: ArrayLike | None = None,
    priority: ArrayLike | str | None = None,
    chosen: ArrayLike | None = None,
) -> ColumnChoice:
    r"""Choose columns so that the eigenvalues of M = VᵀRRᵀV stay near 1.

    .. math::

        \left(1-\sqrt{\ell/r}\right)^2 \le \lambda_i(V^T R R^T V)
        \le \left(1+\sqrt{\ell/r}\right)^2

    for V of shape (d, ℓ) with orthonormal columns and every r > ℓ. Each of the r steps picks, among
    the features that keep both barriers of the spectrum apart, the one of highest priority that was
    not picked before; where only picked ones are left, the best of those is picked again.

    Features that belong together can be picked in groups, each with one scale. The bounds are the
    same, with r the number of picks of groups; how large they are does not matter.

    A regularised model does not need all directions equally. With a share w that it needs of each,
    W = diag(w), and D = Σw instead of ℓ,

    .. math::

        \left(1-\sqrt{D/r}\right)^2 I \preceq W^{1/2} V^T R R^T V W^{1/2} + I - W
        \preceq \left(1+\sqrt{D/r}\right)^2 I.

    Parameters
    ----------
    vectors : array-like or ImplicitVectors of shape (n_features, n_components)
        Orthonormal columns; row i belongs to feature i.
    n_select : int
        Number of steps r, more than ``n_components``, or than the sum of ``coverage``; an upper
        bound on the number of chosen features, or groups.
    groups : array-like of int, of shape (n_features,), default=None
        Number of the group of each feature, from 0 on. None makes each feature a group.
    coverage : array-like of shape (n_components,), default=None
        Share w of each direction that has to be covered, above 0 and up to 1, such as σ²/(σ² + μ)
        for a singular value σ of the rows and a model of strong convexity μ. Shares below
        1e-6 count as that. None covers all directions alike.
    priority : array-like of shape (n_groups,) or "cover", default=None
        Ranking of the admissible features, or groups, highest first, with ties to the lower index;
        None ranks by the norms of the rows of V. Features of priority −∞ are a last resort, after
        those that were picked before. "cover" takes the feature that leaves most room between the
        barriers: the eigenvalues end up closest to each other, and all features are examined in
        every eighth step. The bounds hold for every ranking.
    chosen : array-like of int, default=None
        Features, or groups, that are chosen already. They are picked only where no other one is
        admissible.

    Returns
    -------
    ColumnChoice
        Chosen features, their scales, and the steps.

    Raises
    ------
    ValueError
        If the columns are not orthonormal or n_select is not larger than their number, or than
        the sum of the coverage.

    References
    ----------
    Algorithm 1 of Paul, Magdon-Ismail and Drineas, *Feature Selection for Linear SVM with Provable
    Guarantees*, corrected: the scale of a pick is √t.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> V, _ = np.linalg.qr(rng.standard_normal((500, 10)))
    >>> sample = bss(V, 40)
    >>> chosen = V[sample.indices] * sample.scales[:, None]
    >>> eigenvalues = np.linalg.eigvalsh(chosen.T @ chosen)
    >>> bool(0.25 <= eigenvalues.min() and eigenvalues.max() <= 2.25)
    True
    """
    vectors = as_vectors(vectors)
    n_select = as_count("n_select", n_select)
    n_components = vectors.shape[1]
    shares = None if coverage is None else _shares(coverage, n_components)
    dimension = n_components if shares is None else float(shares.sum())
    if n_select <= dimension:
        raise ValueError(
            f"BSS needs more picks than directions: got n_select={n_select} for "
            f"{dimension:g} directions. Ask for at least {int(dimension) + 1}, or give a basis "
            f"truncated to fewer than {n_select} directions, or a smaller coverage."
        )
    parts = checked_groups(groups, len(vectors))
    chosen = np.asarray(() if chosen is None else chosen, dtype=np.intp)
    ratio = np.sqrt(dimension / n_select)
    reach = np.sqrt(n_select * dimension)
    stretch = (1 + ratio) / (1 - ratio)
    positions, steps = np.array([-reach, stretch * reach]), np.array([1.0, stretch])
    walls = None if shares is None else reach * (1 / shares - 1)
    search = Scan
    if isinstance(priority, str):
        check_choice("priority", priority, ("cover",))
        search, priority = WidestScan, None
    scan = search(vectors, parts, *_ranking(vectors, parts, priority), chosen)
    start = np.zeros((n_components, n_components))
    window = _window(reach, walls)
    made = _picks(scan, Barriers(positions, steps, walls), start, window, parts.largest)
    picks, energies = np.empty(n_select, dtype=np.intp), np.empty(n_select)
    with phase("BSS picks", n_select) as advance:
        for number in range(n_select):
            picks[number], energies[number] = next(made)
            advance()
    squares = energies * ((1 - ratio) / n_select)
    return parts.columns(ColumnChoice.of_picks(picks, squares, Steps(picks, energies)))


def _window(reach: float, walls: NDArray[np.float64] | None) -> int:
    """Return the number of picks between two eigendecompositions."""
    shortest = _SHORTEST_WINDOW
    if walls is not None:
        shortest = max(_SHORTEST_SOFT_WINDOW, int(_WINDOW_PER_DIRECTION * len(walls) ** (2 / 3)))
    return max(shortest, int(_WINDOW_PER_REACH * reach))


def _picks(
    scan: Scan, barriers: Barriers, start: NDArray[np.float64], window: int, rank: int
) -> Iterator[tuple[int, float]]:
    """Yield groups and their energies: A grows from the start by energy·Σvvᵀ."""
    spectrum = barriers.spectrum(start, window, rank)
    room = _FIRST_ROOM
    while True:
        if spectrum.is_stale(barriers):
            spectrum = barriers.spectrum(spectrum.matrix(), window, rank)
            room = max(_LESS_ROOM * room, _LEAST_ROOM)
        step = barriers.step(spectrum)
        if spectrum.n_picks == 0:
            scan.turn(spectrum, barriers.ceiling(spectrum, step, window, room))
        pick = scan.near_top(step)
        if pick is None:
            ceiling = step.surplus.lowered(scan.ceiling)
            if ceiling is None:
                # The features that were ruled out may have become admissible.
                if spectrum.n_picks < window // 2:
                    room = min(_MORE_ROOM * room, _MAX_ROOM)
                spectrum = barriers.spectrum(spectrum.matrix(), window, rank)
                step = barriers.step(spectrum)
                scan.turn(spectrum, barriers.ceiling(spectrum, step, window, room))
                ceiling = barriers.ceiling(spectrum, step, 0, _LEAST_ROOM)
            pick = scan.anywhere(step.surplus, ceiling)
        group, vectors = pick
        energy = barriers.accept(step, vectors)
        spectrum.add(vectors * np.sqrt(energy))
        yield group, energy


def _shares(coverage: ArrayLike, n_components: int) -> NDArray[np.float64]:
    """Return the checked shares of directions that have to be covered, none below the least."""
    shares = one_each("coverage", coverage, n_components, "directions")
    if not ((shares > 0) & (shares <= 1)).all():
        given = f"got values from {shares.min():g} to {shares.max():g}"
        raise ValueError(f"coverage must be above 0 and up to 1; {given}.")
    return np.maximum(shares, LEAST_COVERAGE)


def _ranking(
    vectors: Vectors, groups: Groups, priority: ArrayLike | None
) -> tuple[NDArray[np.intp], int]:
    """Return the groups to examine, best first, and how many of them are no last resort."""
    norms = np.sqrt(groups.sums(squared_norms(vectors)))
    # Rounded, so that norms that are equal up to rounding tie on every machine.
    scores = np.round(norms, 12) if priority is None else priority
    scores = one_each("priority", scores, len(norms), groups.called)
    if np.isnan(scores).any():
        raise ValueError("priority contains NaN; every feature needs a rank.")
    order = np.argsort(-scores, kind="stable")
    order = order[norms[order] > _NEGLIGIBLE_NORM * norms.max()]
    return order, int((scores[order] > -np.inf).sum())
