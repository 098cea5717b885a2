"""Deterministic single-set spectral sparsification (Batson, Spielman and Srivastava)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certifeature.sparsify.sample import Sample
from certifeature.sparsify.validation import as_vectors, check_orthonormal, check_size

__all__ = ["bss"]

FloatArray = NDArray[np.float64]

# A column of negligible norm would need an enormous scale, which wrecks rows not seen here.
_NEGLIGIBLE_NORM = 1e-6
# Rank-one updates that are kept apart before the eigendecomposition is made anew.
_MOST_UPDATES = 32
# The lower barrier may come this much nearer to the old spectrum than it was when that was made.
_NEAREST_APPROACH = 0.1
# Columns looked at together, first; a scan that goes deeper doubles its stride.
_FIRST_BLOCK = 64


def bss(vectors: ArrayLike, n_select: int, *, priority: ArrayLike | None = None) -> Sample:
    r"""Choose columns so that the eigenvalues of M = VᵀRRᵀV stay near 1.

    .. math::

        \left(1-\sqrt{\ell/r}\right)^2 \le \lambda_i(V^T R R^T V)
        \le \left(1+\sqrt{\ell/r}\right)^2

    for V of shape (d, ℓ) with orthonormal columns and every r > ℓ. Each of the r steps picks, among
    the features that keep both barriers of the spectrum apart, the one of highest priority that was
    not picked before; where only picked ones are left, the best of those is picked again.

    Parameters
    ----------
    vectors : array-like of shape (n_features, n_components)
        Orthonormal columns; row i belongs to feature i.
    n_select : int
        Number of steps r, more than ``n_components``. At most so many features are chosen.
    priority : array-like of shape (n_features,), default=None
        Ranking among the admissible features, highest first, ties to the lower index; None ranks
        by the norms of the rows of V. The bounds hold for every ranking.

    Returns
    -------
    Sample
        Chosen features and their scales.

    Raises
    ------
    ValueError
        If the columns are not orthonormal or n_select is not larger than their number.

    References
    ----------
    Algorithm 1 of Paul, Magdon-Ismail and Drineas, *Feature Selection for Linear SVM with Provable
    Guarantees*, corrected: the scale of a pick is √t.

    Examples
    --------
    >>> import numpy as np
    >>> from certifeature.sparsify import bss
    >>> rng = np.random.default_rng(0)
    >>> V, _ = np.linalg.qr(rng.standard_normal((500, 10)))
    >>> sample = bss(V, 40)
    >>> chosen = V[sample.indices] * sample.weights[:, None]
    >>> eigenvalues = np.linalg.eigvalsh(chosen.T @ chosen)
    >>> bool(0.25 <= eigenvalues.min() and eigenvalues.max() <= 2.25)
    True
    """
    vectors = as_vectors(vectors)
    check_orthonormal(vectors)
    n_select = check_size(n_select)
    n_components = vectors.shape[1]
    if n_select <= n_components:
        raise ValueError(
            f"BSS needs more picks than directions: got n_select={n_select} for "
            f"{n_components} directions. Ask for at least {n_components + 1}, or give a basis "
            f"truncated to fewer than {n_select} directions."
        )
    ratio = np.sqrt(n_components / n_select)
    reach = np.sqrt(n_select * n_components)
    stretch = (1 + ratio) / (1 - ratio)
    lower = _Barrier(+1, -reach, step=1.0)
    upper = _Barrier(-1, stretch * reach, step=stretch)
    scan = _Scan(vectors, _ranking(vectors, priority))
    spectrum = _Spectrum(np.zeros((n_components, n_components)), lower, upper)
    scan.turn(spectrum.axes)
    energies: dict[int, float] = {}
    for _ in range(n_select):
        if spectrum.is_stale(lower):
            spectrum = _Spectrum(spectrum.matrix(), lower, upper)
            scan.turn(spectrum.axes)
        lower.advance(spectrum)
        upper.advance(spectrum)
        column, coordinates = scan.first_admissible(lower, upper)
        energy = 2 / (lower.value(coordinates)[0] + upper.value(coordinates)[0])
        lower.absorb(coordinates, energy)
        upper.absorb(coordinates, energy)
        spectrum.add(coordinates[0] * np.sqrt(energy))
        energies[column] = energies.get(column, 0.0) + energy
    scale = (1 - ratio) / n_select
    indices = np.fromiter(energies.keys(), dtype=np.intp, count=len(energies))
    weights = np.sqrt(np.fromiter(energies.values(), dtype=np.float64, count=len(energies)) * scale)
    return Sample(indices, weights)


def _ranking(vectors: FloatArray, priority: ArrayLike | None) -> NDArray[np.intp]:
    """Return the features worth looking at, best first."""
    norms = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    # Rounded, so that norms which are equal but for rounding tie, on every machine alike.
    scores = np.round(norms, 12) if priority is None else np.asarray(priority, dtype=np.float64)
    if scores.shape != norms.shape:
        raise ValueError(
            f"priority must have one value for each of the {len(norms)} features; "
            f"got shape {scores.shape}."
        )
    if np.isnan(scores).any():
        raise ValueError("priority contains NaN; every feature needs a rank.")
    order = np.argsort(-scores, kind="stable")
    return order[norms[order] > _NEGLIGIBLE_NORM * norms.max()]


class _Spectrum:
    """A = Q(D + ZZᵀ)Qᵀ: an eigendecomposition and the picks since."""

    def __init__(self, matrix: FloatArray, lower: _Barrier, upper: _Barrier) -> None:
        self._matrix = matrix
        # NumPy's, not SciPy's: wheels of the two bring a BLAS each, whose threads fight for cores.
        self.values, self.axes = np.linalg.eigh(matrix)
        self._updates = np.empty((len(matrix), _MOST_UPDATES))
        self._n_updates = 0
        self._first_distance = self._distance_to_next(lower)
        lower.settle(self.values)
        upper.settle(self.values)

    @property
    def updates(self) -> FloatArray:
        return self._updates[:, : self._n_updates]

    def add(self, update: FloatArray) -> None:
        self._updates[:, self._n_updates] = update
        self._n_updates += 1

    def matrix(self) -> FloatArray:
        picked = self.axes @ self.updates
        matrix: FloatArray = self._matrix + picked @ picked.T
        return matrix

    def is_stale(self, lower: _Barrier) -> bool:
        """Tell whether the updates are too many, or the old spectrum too near to a barrier.

        The barrier may even pass an old eigenvalue, since the updates have lifted it; the formulas
        would then subtract huge numbers from each other.
        """
        if self._n_updates == _MOST_UPDATES:
            return True
        nearest = _NEAREST_APPROACH * self._first_distance
        return self._n_updates > 0 and self._distance_to_next(lower) < nearest

    def _distance_to_next(self, lower: _Barrier) -> float:
        return float(self.values[0] - lower.position - lower.step)


class _Barrier:
    """One of the two barriers, as the resolvent B⁻¹ of B = sign·(A − position·I).

    With the sign both barriers obey the same formulas: value(v) = vᵀB⁻²v / gap − sign·vᵀB⁻¹v is 𝓛
    for the lower one and 𝓤 for the upper one, and gap is the change of the potential tr B⁻¹ in the
    step.
    """

    def __init__(self, sign: int, position: float, *, step: float) -> None:
        self.sign = sign
        self.position = position
        self.step = step

    def settle(self, eigenvalues: FloatArray) -> None:
        """Compute the potential at the present position from the spectrum of A."""
        self._potential = float(np.sum(1 / (self.sign * (eigenvalues - self.position))))

    def advance(self, spectrum: _Spectrum) -> None:
        """Move one step and prepare B⁻¹ = Δ − sign·ΔZ(I + sign·ZᵀΔZ)⁻¹ZᵀΔ."""
        self.position += self.step
        updates = spectrum.updates
        self._diagonal = 1 / (self.sign * (spectrum.values - self.position))
        self._spread = self._diagonal[:, None] * updates
        core = np.eye(updates.shape[1]) + self.sign * (updates.T @ self._spread)
        self._core = np.linalg.inv(core)
        correction = np.sum((self._spread.T @ self._spread) * self._core)
        potential = float(self._diagonal.sum() - self.sign * correction)
        self._gap = self.sign * (potential - self._potential)
        self._potential = potential

    def value(self, coordinates: FloatArray) -> FloatArray:
        """Return 𝓛 or 𝓤 for the rows of ``coordinates``, given in the eigenbasis."""
        inverse_form, square_form = self._forms(coordinates)
        value: FloatArray = square_form / self._gap - self.sign * inverse_form
        return value

    def absorb(self, coordinates: FloatArray, energy: float) -> None:
        """Correct the potential for a pick (Sherman and Morrison)."""
        inverse_form, square_form = self._forms(coordinates)
        signed = self.sign * energy
        self._potential -= float(signed * square_form[0] / (1 + signed * inverse_form[0]))

    def _forms(self, coordinates: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return vᵀB⁻¹v and vᵀB⁻²v for each row v."""
        solved = coordinates * self._diagonal
        inverse_form = np.einsum("ij,ij->i", solved, coordinates)
        met = coordinates @ self._spread
        corrected = met @ self._core
        inverse_form -= self.sign * np.einsum("ij,ij->i", met, corrected)
        solved -= self.sign * (corrected @ self._spread.T)
        return inverse_form, np.einsum("ij,ij->i", solved, solved)


class _Scan:
    """Looks through the features in order of rank; the unpicked first, then the picked."""

    def __init__(self, vectors: FloatArray, ranking: NDArray[np.intp]) -> None:
        self._vectors = vectors
        self._ranking = ranking
        self._free = np.ones(len(ranking), dtype=bool)

    def turn(self, axes: FloatArray) -> None:
        """Go over to the coordinates of a new eigenbasis."""
        self._axes = axes
        self._places = np.flatnonzero(self._free)
        self._turned = np.empty((0, axes.shape[0]))
        self._picked_turned: FloatArray | None = None

    def first_admissible(self, lower: _Barrier, upper: _Barrier) -> tuple[int, FloatArray]:
        """Return the feature to pick and its coordinates."""
        for places, coordinates in self._blocks():
            admissible = self._free[places] & (lower.value(coordinates) >= upper.value(coordinates))
            if admissible.any():
                hit = int(admissible.argmax())
                self._free[places[hit]] = False
                self._picked_turned = None
                return int(self._ranking[places[hit]]), coordinates[hit : hit + 1]
        return self._repeated(lower, upper)

    def _repeated(self, lower: _Barrier, upper: _Barrier) -> tuple[int, FloatArray]:
        """Return the best of the features that were picked before."""
        places = np.flatnonzero(~self._free)
        if self._picked_turned is None:
            self._picked_turned = self._vectors[self._ranking[places]] @ self._axes
        coordinates = self._picked_turned
        admissible = lower.value(coordinates) >= upper.value(coordinates)
        if not admissible.any():
            raise ValueError(
                "no admissible feature is left, although theory promises one: the columns of "
                "vectors are orthonormal only to rounding that BSS cannot bear. "
                "Orthonormalise them, for instance with numpy.linalg.qr."
            )
        hit = int(admissible.argmax())
        return int(self._ranking[places[hit]]), coordinates[hit : hit + 1]

    def _blocks(self) -> Iterator[tuple[NDArray[np.intp], FloatArray]]:
        """Yield the unpicked features block by block, and remember their coordinates."""
        start, size = 0, _FIRST_BLOCK
        while start < len(self._places):
            stop = min(start + size, len(self._places))
            if stop > len(self._turned):
                columns = self._ranking[self._places[len(self._turned) : stop]]
                self._turned = np.vstack([self._turned, self._vectors[columns] @ self._axes])
            yield self._places[start:stop], self._turned[start:stop]
            start, size = stop, 2 * size
