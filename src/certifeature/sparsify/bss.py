"""Deterministic single-set spectral sparsification (Batson, Spielman and Srivastava)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certifeature import _utils as _memory
from certifeature._progress import phase
from certifeature._utils import FloatArray, IntArray, as_count, check_choice, one_each
from certifeature.basis.basis import Vectors, as_vectors, squared_norms
from certifeature.sparsify.choice import ColumnChoice, Groups, Steps, checked_groups

Pick = tuple[int, FloatArray]


_SIGNS = np.array([1.0, -1.0])
_SIGNED = _SIGNS[:, None, None]
# Rounding must not reverse an inequality of matrices.
_ROUNDING = 1e-9


class Step:
    """Both barriers one step ahead: B⁻¹ = Δ − sign·ECEᵀ with E = ΔZ and C = (S + sign·ZᵀE)⁻¹.

    The forms 𝓛 and 𝓤 are B⁻²/gap − sign·B⁻¹: a diagonal and PHPᵀ, with the columns of E and ΔE in
    P. Arrays have both barriers first; vectors have their coordinates for each of them, or once if
    these are the same.

    Parameters
    ----------
    updates, signs : ndarray
        Zᵀ, and the diagonal of S.
    resolvents : ndarray of shape (2, n_components)
        The diagonals Δ.
    old_potentials : ndarray of shape (2,)
        Potentials before the step.
    """

    def __init__(
        self,
        updates: FloatArray,
        signs: FloatArray,
        resolvents: FloatArray,
        old_potentials: FloatArray,
    ) -> None:
        self._resolvents = resolvents
        self._spread = resolvents[:, None] * updates
        self._probes = np.concatenate([self._spread, resolvents[:, None] * self._spread], axis=1)
        # EᵀE is ZᵀΔE.
        met, overlap = np.split(updates @ self._probes.swapaxes(1, 2), 2, axis=2)
        self._core = np.linalg.inv(np.diag(signs) + _SIGNED * met)
        corrections = np.einsum("ijk,ijk->i", self._core, overlap)
        self.potentials = resolvents.sum(axis=1) - _SIGNS * corrections
        self.gaps = _SIGNS * (self.potentials - old_potentials)
        self._diagonals = self.diagonals(resolvents)
        weighted = self._core / self.gaps[:, None, None]
        inner, mixed = self._core + self._core @ overlap @ weighted, -_SIGNED * weighted
        self._cores = np.block([[inner, mixed], [mixed, np.zeros_like(mixed)]])

    def diagonals(self, resolvents: FloatArray) -> FloatArray:
        """Return the diagonals of 𝓛 and 𝓤 for diagonal B⁻¹ and the gaps of this step."""
        return resolvents * resolvents / self.gaps[:, None] - _SIGNS[:, None] * resolvents

    def inverses(self, vectors: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return VB⁻¹Vᵀ and VB⁻²Vᵀ for both barriers and the rows of V."""
        corrected = vectors @ self._spread.swapaxes(1, 2) @ self._core
        solved = self._resolvents[:, None] * vectors - _SIGNED * (corrected @ self._spread)
        return solved @ vectors.swapaxes(1, 2), solved @ solved.swapaxes(1, 2)

    def forms(self, vectors: FloatArray) -> FloatArray:
        """Return 𝓛 and 𝓤 for the rows of V."""
        met = vectors @ self._probes.swapaxes(1, 2)
        corrections = np.einsum("ijk,ijk->ij", met @ self._cores, met)
        return np.asarray((vectors**2 @ self._diagonals[:, :, None])[:, :, 0] + corrections)

    def surplus(self, vectors: FloatArray) -> FloatArray:
        """Return 𝓛 − 𝓤 for the rows of V, which is not negative for admissible ones."""
        lower, upper = self.forms(vectors)
        return np.asarray(lower - upper)

    def lowered(self, ceiling: FloatArray) -> FloatArray | None:
        """Return a lower diagonal above 𝓛 − 𝓤, or None if the given one is not proven above."""
        diagonal, n_own = _joined(self._diagonals, len(ceiling)), len(ceiling)
        room = ceiling - diagonal
        if room.min() <= 0:
            return None
        # The rest of the form relative to the room above the diagonal, on the span of the probes.
        n_joined, (_, n_probes, n_components) = 2 // n_own, self._probes.shape
        probes = self._probes / np.sqrt(room)[:, None]
        probes = probes.reshape(n_own, n_joined * n_probes, n_components)
        factors = np.asarray(np.linalg.qr(probes.swapaxes(1, 2), mode="r"))
        parts = factors.reshape(n_own, factors.shape[1], n_joined, n_probes).swapaxes(1, 2)
        cores = (_SIGNED * self._cores).reshape(n_own, n_joined, n_probes, n_probes)
        forms = (parts @ cores @ parts.swapaxes(2, 3)).sum(axis=1)
        share = np.linalg.eigvalsh(forms).max(initial=0.0) + _ROUNDING
        return None if share > 1 else diagonal + share * room


def _joined(diagonals: FloatArray, n_own: int) -> FloatArray:
    """Return the diagonals of 𝓛 − 𝓤: one, or one for the coordinates of each barrier."""
    signed = _SIGNS[:, None] * diagonals
    return np.asarray(signed.reshape(n_own, 2 // n_own, -1).sum(axis=1))


# The lower barrier may come as near to the old spectrum as this share of its first distance.
_NEAREST_APPROACH = 0.1
# Eigenvalues that the lower barrier would come near to within a window are lifted to so many
# windows above it, but not beyond the middle of the barriers. There are few of them, since the
# reciprocals of their distances sum to less than 1.
_LIFT = 2.0
_NEAR = 0.25


class Barriers:
    """Two barriers around the spectrum of A = Q(D + ZSZᵀ)Qᵀ, and their potentials tr B⁻¹.

    QDQᵀ is an eigendecomposition, and the picks since are columns of Z with sign +1 in S. The lower
    barrier soon passes an eigenvalue close to it, even if a pick has raised that eigenvalue in A,
    and the formulas would then subtract huge numbers. So D holds a higher value, and a column of Z
    with sign −1 takes the difference back.

    Parameters
    ----------
    positions, steps : ndarray of shape (2,)
        First positions, and the distance that they move in each step.
    matrix : ndarray of shape (n_components, n_components)
        A at the start.
    window : int
        Number of picked vectors between two eigendecompositions.
    rank : int, default=1
        Largest number of vectors of a pick.
    walls : ndarray of shape (n_components,), default=None
        Wall of a barrier in each direction, for steps of 1; None for none. With walls, each barrier
        has an eigendecomposition of its own.

    Attributes
    ----------
    axes : ndarray of shape (1 or 2, n_components, n_components)
        Q.
    n_picks : int
        Number of vectors picked since the eigendecomposition.
    """

    def __init__(
        self,
        positions: FloatArray,
        steps: FloatArray,
        matrix: FloatArray,
        window: int,
        rank: int = 1,
        walls: FloatArray | None = None,
    ) -> None:
        self._positions, self._steps, self._window, self._rank = positions, steps, window, rank
        self._walls = np.zeros((1, 1, 1))
        if walls is not None:
            self._walls = (_SIGNS * steps)[:, None, None] * np.diag(walls)
        self._decompose(matrix)

    def refresh(self) -> None:
        """Start from a new eigendecomposition of A."""
        picked = self._updates[0, self._n_lifts : self._n_lifts + self.n_picks] @ self.axes[0].T
        self._decompose(self._matrix + picked.T @ picked)

    def _decompose(self, matrix: FloatArray) -> None:
        self._matrix = matrix
        # NumPy's eigh, not SciPy's: their wheels bring a BLAS each, whose threads compete.
        self._values, self.axes = np.linalg.eigh(matrix + self._walls)
        self._potentials = (1 / self._distances(self._values, 0)).sum(axis=1)
        below, above = self._distances(self._values, 1)
        room = np.minimum(_LIFT * self._window, (below + above) / 2)
        lifts = np.where(below < _NEAR * room, room - below, 0.0)
        self._lifted = self._values.copy()
        self._lifted[0] += lifts
        low = np.flatnonzero(lifts)
        self._n_lifts, self.n_picks = len(low), 0
        # The last pick may be a group, and begin just below the limit.
        n_updates = len(low) + self._window - 1 + self._rank
        self._updates = np.zeros((len(self.axes), n_updates, len(matrix)))
        self._updates[0, np.arange(len(low)), low] = np.sqrt(lifts[low])
        self._signs = np.ones(n_updates)
        self._signs[: len(low)] = -1
        self._first_distance = self._next_distance()

    def _next_distance(self) -> float:
        """Return the distance of the lower barrier from D after the next step."""
        return float(self._distances(self._lifted, 1)[0].min())

    def is_stale(self) -> bool:
        """Return whether the picks are too many, or D is too near to a barrier."""
        nearest = _NEAREST_APPROACH * self._first_distance
        return self.n_picks >= self._window or (
            self.n_picks > 0 and self._next_distance() < nearest
        )

    def step(self) -> Step:
        """Return the barriers one step ahead."""
        used, resolvents = self._n_lifts + self.n_picks, 1 / self._distances(self._lifted, 1)
        return Step(self._updates[:, :used], self._signs[:used], resolvents, self._potentials)

    def ceiling(self, step: Step, n_steps: int, room: float) -> FloatArray:
        """Guess a diagonal above 𝓛 − 𝓤 in this step and the next ones.

        The forms are largest where nothing is picked and the lower barrier approaches (up to half
        its distance to an eigenvalue). Picks that mix directions need some room, given as a share
        of the mean size of 𝓛 and 𝓤.
        """
        distances = self._distances(self._values, 1)
        coming = np.maximum(self._distances(self._values, 1 + n_steps), distances / 2)
        now, later = step.diagonals(1 / distances), step.diagonals(1 / coming)
        n_own = len(self.axes)
        return np.maximum(_joined(now, n_own), _joined(later, n_own)) + room * np.abs(now).mean()

    def accept(self, step: Step, pick: FloatArray) -> float:
        """Move the barriers after a pick; return its energy t, by which A grows by t·Σvvᵀ."""
        inverse_forms, square_forms = step.inverses(pick)
        inverse, square = np.einsum("kii->k", inverse_forms), np.einsum("kii->k", square_forms)
        energy = 2 / float((square / step.gaps - _SIGNS * inverse).sum())
        # The potentials after the pick, by the formula of Woodbury.
        cores = np.eye(pick.shape[1]) + energy * _SIGNED * inverse_forms
        fall = np.einsum("kii->k", np.linalg.solve(cores, square_forms))
        self._potentials = step.potentials - energy * _SIGNS * fall
        self._positions = self._positions + self._steps
        self.add(np.sqrt(energy) * pick)
        return energy

    def add(self, pick: FloatArray) -> None:
        """Add the vectors of a pick to A, in the coordinates of the axes."""
        start = self._n_lifts + self.n_picks
        self.n_picks += pick.shape[1]
        self._updates[:, start : self._n_lifts + self.n_picks] = pick

    def _distances(self, values: FloatArray, n_steps: int) -> FloatArray:
        """Return the distances of eigenvalues from the barriers some steps ahead."""
        ahead = self._positions + n_steps * self._steps
        return _SIGNS[:, None] * (values - ahead[:, None])


# Unpicked groups at the top of the ranking, one of which mostly is admissible; only the first few
# are examined if the last pick was beyond all of these. Blocks of them, and of all groups, double
# from the first size; the largest has so many values.
_HEAD, _SMALL_HEAD = 1024, 64
_FIRST_LOOK, _FIRST_BLOCK, _LARGEST_BLOCK = 16, 256, 2**20
NOTHING_ADMISSIBLE = (
    "no admissible feature is left, although theory promises one: the columns of vectors are "
    "orthonormal only to rounding that BSS cannot bear. Orthonormalise them, for instance with "
    "numpy.linalg.qr."
)


class Block(NamedTuple):
    """Groups by their places, and the features of one after those of the other.

    Vectors are in the coordinates of the eigenbasis of each barrier.
    """

    places: IntArray
    sizes: IntArray
    vectors: FloatArray

    def totals(self, values: FloatArray) -> FloatArray:
        """Return the sums over each group of values of its features."""
        return np.asarray(np.add.reduceat(values, np.cumsum(self.sizes) - self.sizes))

    def admissible(self, step: Step) -> NDArray[np.bool_]:
        """Tell which groups are admissible in a step."""
        return self.totals(step.surplus(self.vectors)) >= 0

    def below(self, ceiling: FloatArray) -> Block:
        """Return the groups that are not ruled out by a diagonal above 𝓛 − 𝓤."""
        values = (self.vectors**2 @ ceiling[:, :, None]).sum(axis=(0, 2))
        return self.those(self.totals(values) >= 0)

    def those(self, kept: NDArray[np.bool_]) -> Block:
        """Return some of the groups."""
        vectors = self.vectors[:, np.repeat(kept, self.sizes)]
        return Block(self.places[kept], self.sizes[kept], vectors)

    def pick(self, number: Any) -> Pick:
        """Return the place of a group, and its vectors."""
        end = int(self.sizes[: number + 1].sum())
        return int(self.places[number]), self.vectors[:, end - self.sizes[number] : end]


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
        self._went_deep = False
        in_memory = vectors.size if isinstance(vectors, np.ndarray) else 0
        self._max_values = max(_memory.MAX_LISTED, in_memory)

    def turn(self, axes: FloatArray, ceiling: FloatArray) -> None:
        """Change to the coordinates of new eigenbases, and to a diagonal above the next forms."""
        self._axes, self.ceiling = axes, ceiling
        self._top = np.flatnonzero(self._free[: self._n_ranked])[:_HEAD]
        self._head: list[Block] = []
        self._shortlist: list[Block] = []
        self._n_values, self._end, self._stride = 0, 0, _FIRST_BLOCK

    def _turned(self, places: IntArray) -> Block:
        """Return groups with their coordinates in the eigenbases."""
        features, sizes = self._groups.members(self._ranking[places])
        return Block(places, sizes, self._vectors[features] @ self._axes)

    def near_top(self, step: Step) -> Pick | None:
        """Return the first admissible group among the best unpicked ones, if there is one."""
        for block in self._best_blocks():
            hits = np.flatnonzero(block.admissible(step) & self._free[block.places])
            if hits.size:
                return self._picked(*block.pick(hits[0]))
        return None

    def _best_blocks(self) -> Iterator[Block]:
        """Yield blocks of unpicked groups; their coordinates are computed when first needed."""
        start, number, size = 0, 0, _FIRST_LOOK
        while start < (_SMALL_HEAD if self._went_deep else len(self._top)):
            if number == len(self._head):
                self._head.append(self._turned(self._top[start : start + size]))
            yield self._head[number]
            start, number, size = start + size, number + 1, 2 * size

    def anywhere(self, step: Step, ceiling: FloatArray) -> Pick:
        """Return the first admissible group of all, for a diagonal above 𝓛 − 𝓤."""
        picked: list[Pick] = []
        last_resort: list[Pick] = []
        for listed in self._listed_blocks():
            block = listed.below(ceiling)
            for hit in np.flatnonzero(block.admissible(step)):
                place, vectors = block.pick(hit)
                if not self._free[place]:
                    picked.append((place, vectors))
                elif place < self._n_ranked:
                    self._went_deep = bool(place > self._top[-1])
                    return self._picked(place, vectors)
                else:
                    last_resort.append((place, vectors))
            if picked and (block.places >= self._n_ranked).any():
                break
        if not picked and not last_resort:
            raise ValueError(NOTHING_ADMISSIBLE)
        return self._picked(*(picked or last_resort)[0])

    def _listed_blocks(self) -> Iterator[Block]:
        """Yield the groups that the scan's own ceiling does not rule out, best first.

        As many of them as there is room for are kept, as deep into the ranking as scans went.
        """
        yield from self._shortlist
        start, stride, n_places = self._end, self._stride, len(self._ranking)
        longest = max(1, _LARGEST_BLOCK // self._vectors.shape[1])
        while start < n_places:
            block = self._turned(np.arange(start, min(start + stride, n_places)))
            block = block.below(self.ceiling)
            is_next = self._end == start
            start, stride = start + stride, min(2 * stride, longest)
            if is_next and self._n_values + block.vectors.size <= self._max_values:
                self._shortlist.append(block)
                self._end, self._stride = start, stride
                self._n_values += block.vectors.size
            yield block

    def _picked(self, place: int, vectors: FloatArray) -> Pick:
        self._free[place] = False
        return int(self._ranking[place]), vectors


# Ratios that are equal but for rounding tie.
_DIGITS = 9
# Number of steps between two searches of all features, and of features examined in between.
_STEPS, _NEAREST = 8, 512


class WidestScan(Scan):
    """Search for the group of the largest 𝓛/𝓤, whatever its rank.

    These ratios change little from step to step. All groups are examined in the first two steps
    and then in every eighth, and in between those that were the best then.
    """

    _near: Block
    _n_steps, _n_since = 0, 0

    def turn(self, axes: FloatArray, ceiling: FloatArray) -> None:
        """Change to the coordinates of new eigenbases."""
        self._axes, self._n_since = axes, _STEPS
        self._all = self._turned(np.arange(len(self._ranking)))

    def near_top(self, step: Step) -> Pick | None:
        """Return the unpicked group of the largest ratio, or the picked one if none is left."""
        is_recent = self._n_since < min(_STEPS, self._n_steps)
        self._n_steps, self._n_since = self._n_steps + 1, self._n_since + 1
        if is_recent:
            ratios = np.where(self._free[self._near.places], self._ratios(step, self._near), 0.0)
            if ratios.max() >= 1:
                return self._picked(*self._near.pick(int(np.argmax(ratios))))
        ratios = self._ratios(step, self._all)
        free = np.where(self._free, ratios, 0.0)
        near = np.zeros(len(free), dtype=bool)
        # Stable, so that the better rank comes first among equal ratios.
        near[np.argsort(-free, kind="stable")[:_NEAREST]] = True
        self._near, self._n_since = self._all.those(near), 1
        if ratios.max() < 1:
            raise ValueError(NOTHING_ADMISSIBLE)
        return self._picked(*self._all.pick(int(np.argmax(free if free.max() >= 1 else ratios))))

    def _ratios(self, step: Step, block: Block) -> FloatArray:
        lower, upper = map(block.totals, step.forms(block.vectors))
        ratios = np.divide(lower, upper, out=np.zeros(len(lower)), where=upper > 0)
        return np.asarray(np.round(ratios, _DIGITS))


# A column of negligible norm would need an enormous scale, which spoils rows outside the basis.
_NEGLIGIBLE_NORM = 1e-6
# Picks between eigendecompositions: at least so many, or this share of √(rℓ), the number of steps
# between the barriers and the spectrum at the start. With walls there are two eigendecompositions;
# so many picks, times the power 2/3 of the number of directions, cost about as much.
_SHORTEST_WINDOW, _SHORTEST_WITH_WALLS = 32, 24
_WINDOW_PER_REACH, _WINDOW_PER_DIRECTION = 0.045, 1.2
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
    ties: ArrayLike | None = None,
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
        Ranking of the admissible features, or groups, highest first;
        None ranks by the norms of the rows of V. Features of priority −∞ are a last resort, after
        those that were picked before. "cover" takes the feature that leaves most room between the
        barriers: the eigenvalues end up closest to each other, and all features are examined in
        every eighth step. The bounds hold for every ranking.
    chosen : array-like of int, default=None
        Features, or groups, that are chosen already. They are picked only where no other one is
        admissible.
    ties : array-like of shape (n_groups,), default=None
        Ranks of features, or groups, of which the lowest is taken among equal ones. None takes the
        one of the lowest index.

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
    scan = search(vectors, parts, *_ranking(vectors, parts, priority, ties), chosen)
    start = np.zeros((n_components, n_components))
    shortest = _SHORTEST_WINDOW
    if walls is not None:
        per_direction = int(_WINDOW_PER_DIRECTION * n_components ** (2 / 3))
        shortest = max(_SHORTEST_WITH_WALLS, per_direction)
    window = max(shortest, int(_WINDOW_PER_REACH * reach))
    barriers = Barriers(positions, steps, start, window, parts.largest, walls)
    made = _picks(scan, barriers, window)
    picks, energies = np.empty(n_select, dtype=np.intp), np.empty(n_select)
    with phase("BSS picks", n_select) as advance:
        for number in range(n_select):
            picks[number], energies[number] = next(made)
            advance()
    squares = energies * ((1 - ratio) / n_select)
    return parts.columns(ColumnChoice.of_picks(picks, squares, Steps(picks, energies)))


def _picks(scan: Scan, barriers: Barriers, window: int) -> Iterator[tuple[int, float]]:
    """Yield groups and their energies: A grows by energy·Σvvᵀ."""
    room = _FIRST_ROOM
    while True:
        if barriers.is_stale():
            barriers.refresh()
            room = max(_LESS_ROOM * room, _LEAST_ROOM)
        step = barriers.step()
        if barriers.n_picks == 0:
            scan.turn(barriers.axes, barriers.ceiling(step, window, room))
        pick = scan.near_top(step)
        if pick is None:
            ceiling = step.lowered(scan.ceiling)
            if ceiling is None:
                # The features that were ruled out may have become admissible.
                if barriers.n_picks < window // 2:
                    room = min(_MORE_ROOM * room, _MAX_ROOM)
                barriers.refresh()
                step = barriers.step()
                scan.turn(barriers.axes, barriers.ceiling(step, window, room))
                ceiling = barriers.ceiling(step, 0, _LEAST_ROOM)
            pick = scan.anywhere(step, ceiling)
        group, vectors = pick
        yield group, barriers.accept(step, vectors)


def _shares(coverage: ArrayLike, n_components: int) -> NDArray[np.float64]:
    """Return the checked shares of directions that have to be covered, none below the least."""
    shares = one_each("coverage", coverage, n_components, "directions")
    if not ((shares > 0) & (shares <= 1)).all():
        given = f"got values from {shares.min():g} to {shares.max():g}"
        raise ValueError(f"coverage must be above 0 and up to 1; {given}.")
    return np.maximum(shares, LEAST_COVERAGE)


def _ranking(
    vectors: Vectors, groups: Groups, priority: ArrayLike | None, ties: ArrayLike | None
) -> tuple[NDArray[np.intp], int]:
    """Return the groups to examine, best first, and how many of them are no last resort."""
    norms = np.sqrt(groups.sums(squared_norms(vectors)))
    # Rounded, so that norms that are equal up to rounding tie on every machine.
    scores = np.round(norms, 12) if priority is None else priority
    scores = one_each("priority", scores, len(norms), groups.called)
    if np.isnan(scores).any():
        raise ValueError("priority contains NaN; every feature needs a rank.")
    ranks = np.zeros(len(scores)) if ties is None else np.asarray(ties)
    order = np.lexsort((ranks, -scores))
    order = order[norms[order] > _NEGLIGIBLE_NORM * norms.max()]
    return order, int((scores[order] > -np.inf).sum())
