"""Deterministic single-set spectral sparsification (Batson, Spielman and Srivastava)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certifeature._progress import phase
from certifeature._validation import as_count, check_choice
from certifeature.basis.basis import Vectors, as_vectors, check_orthonormal, squared_norms
from certifeature.sparsify.bss.barriers import Barriers
from certifeature.sparsify.bss.scan import Scan, WidestScan
from certifeature.sparsify.choice import ColumnChoice, Steps

__all__ = ["LEAST_COVERAGE", "bss"]

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
        bound on the number of chosen features.
    coverage : array-like of shape (n_components,), default=None
        Share w of each direction that has to be covered, above 0 and up to 1, such as σ²/(σ² + μ)
        for a singular value σ of the rows and a model of strong convexity μ. Shares below
        1e-6 count as that. None covers all directions alike.
    priority : array-like of shape (n_features,) or "cover", default=None
        Ranking of the admissible features, highest first, with ties to the lower index; None ranks
        by the norms of the rows of V. Features of priority −∞ are a last resort, after those that
        were picked before. "cover" takes the feature that leaves most room between the barriers:
        the eigenvalues end up closest to each other, and all features are examined in every eighth
        step. The bounds hold for every ranking.
    chosen : array-like of int, default=None
        Features that are chosen already. They are picked only where no other one is admissible.

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
    check_orthonormal(vectors)
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
    chosen = np.asarray(() if chosen is None else chosen, dtype=np.intp)
    ratio = np.sqrt(dimension / n_select)
    reach = np.sqrt(n_select * dimension)
    stretch = (1 + ratio) / (1 - ratio)
    positions, steps = np.array([-reach, stretch * reach]), np.array([1.0, stretch])
    walls = None if shares is None else reach * (1 / shares - 1)
    if isinstance(priority, str):
        check_choice("priority", priority, ("cover",))
        scan: Scan = WidestScan(vectors, *_ranking(vectors, None), chosen)
    else:
        scan = Scan(vectors, *_ranking(vectors, priority), chosen)
    start = np.zeros((n_components, n_components))
    picks = _picks(scan, Barriers(positions, steps, walls), start, _window(reach, walls))
    features, energies = np.empty(n_select, dtype=np.intp), np.empty(n_select)
    with phase("BSS picks", n_select) as advance:
        for number in range(n_select):
            features[number], energies[number] = next(picks)
            advance()
    return _scaled(Steps(features, energies, shares), (1 - ratio) / n_select)


def _window(reach: float, walls: NDArray[np.float64] | None) -> int:
    """Return the number of picks between two eigendecompositions."""
    window = int(_WINDOW_PER_REACH * reach)
    if walls is None:
        return max(_SHORTEST_WINDOW, window)
    return max(_SHORTEST_SOFT_WINDOW, window, int(_WINDOW_PER_DIRECTION * len(walls) ** (2 / 3)))


def _picks(
    scan: Scan, barriers: Barriers, start: NDArray[np.float64], window: int
) -> Iterator[tuple[int, float]]:
    """Yield features and their energies: A grows from the start by energy·vvᵀ."""
    spectrum = barriers.spectrum(start, window)
    room = _FIRST_ROOM
    while True:
        if spectrum.is_stale(barriers):
            spectrum = barriers.spectrum(spectrum.matrix(), window)
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
                spectrum = barriers.spectrum(spectrum.matrix(), window)
                step = barriers.step(spectrum)
                scan.turn(spectrum, barriers.ceiling(spectrum, step, window, room))
                ceiling = barriers.ceiling(spectrum, step, 0, _LEAST_ROOM)
            pick = scan.anywhere(step.surplus, ceiling)
        feature, vector = pick
        energy = barriers.accept(step, vector)
        spectrum.add(vector * np.sqrt(energy))
        yield feature, energy


def _shares(coverage: ArrayLike, n_components: int) -> NDArray[np.float64]:
    """Return the checked shares of directions that have to be covered, none below the least."""
    shares = np.asarray(coverage, dtype=np.float64)
    if shares.shape != (n_components,) or not ((shares > 0) & (shares <= 1)).all():
        raise ValueError(
            f"coverage must have a share above 0 and up to 1 for each of the {n_components} "
            f"directions; got shape {shares.shape} with values from {shares.min(initial=np.inf):g} "
            f"to {shares.max(initial=-np.inf):g}."
        )
    return np.maximum(shares, LEAST_COVERAGE)


def _scaled(steps: Steps, scale: float) -> ColumnChoice:
    """Return the features of the steps, with the energies of each feature summed."""
    indices, first, places = np.unique(steps.features, return_index=True, return_inverse=True)
    order = np.argsort(first)
    totals = np.bincount(places, steps.energies)
    return ColumnChoice(indices[order], np.sqrt(totals[order] * scale), steps)


def _ranking(vectors: Vectors, priority: ArrayLike | None) -> tuple[NDArray[np.intp], int]:
    """Return the features to examine, best first, and how many of them are no last resort."""
    norms = np.sqrt(squared_norms(vectors))
    # Rounded, so that norms that are equal up to rounding tie on every machine.
    scores = np.round(norms, 12) if priority is None else np.asarray(priority, dtype=np.float64)
    if scores.shape != norms.shape:
        raise ValueError(
            f"priority must have one value for each of the {len(norms)} features; "
            f"got shape {scores.shape}."
        )
    if np.isnan(scores).any():
        raise ValueError("priority contains NaN; every feature needs a rank.")
    order = np.argsort(-scores, kind="stable")
    order = order[norms[order] > _NEGLIGIBLE_NORM * norms.max()]
    return order, int((scores[order] > -np.inf).sum())
