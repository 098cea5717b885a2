"""Bounds that are known before a choice is measured."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq, minimize_scalar

from certifeature._utils import TINY, FloatArray
from certifeature.certificate.certificate import APriori
from certifeature.sparsify.bss import LEAST_COVERAGE

# Where growth is looked at before the best place is narrowed down.
_GRID = 64


@dataclass(frozen=True, eq=False)
class RidgeCut:
    """Shares of directions that some picks can cover.

    Attributes
    ----------
    shares : ndarray of shape (n_components,)
        σ²/(σ² + μ′) for each singular value σ.
    stretch : float
        μ′/μ, which is 1 where picks are enough for the model's own μ.
    """

    shares: FloatArray
    stretch: float


def ridge_cut(singular_values: FloatArray, mu: float, n_picks: int) -> RidgeCut:
    """Return the shares for which BSS limits the growth of the objective most.

    With μ′ ≥ μ and D(μ′) < r it grows at most (μ′/μ)/(1 − √(D(μ′)/r))² times. This rises with μ′
    once D(μ′) is below r/4, and D(μ′) ≤ Σσ²/μ′, so the best μ′ is below 4Σσ²/r.

    Parameters
    ----------
    singular_values : ndarray of shape (n_components,)
        Singular values of the rows, in descending order.
    mu : float
        Strong convexity of the dual of the model.
    n_picks : int
        Picks r of BSS.
    """

    def log_growth(log_stretch: float) -> float:
        dimension = float(_shares(singular_values, mu, np.exp(log_stretch)).sum())
        if dimension >= n_picks:
            # Larger than any other, and finite, so that a search can compute with it.
            return 1e6
        return log_stretch - 2 * float(np.log1p(-np.sqrt(dimension / n_picks)))

    squares = (singular_values / singular_values[0]) ** 2
    furthest = np.log(4 * squares.sum() / n_picks) - np.log(_ridge(singular_values, mu))
    grid = np.linspace(0.0, max(0.0, float(furthest)) + 1e-3, _GRID)
    best = int(np.argmin([log_growth(place) for place in grid]))
    bounds = grid[max(best - 1, 0)], grid[min(best + 1, _GRID - 1)]
    found = minimize_scalar(log_growth, bounds=bounds, method="bounded").x
    log_stretch = min((0.0, float(found), float(grid[best])), key=log_growth)
    stretch = float(np.exp(log_stretch))
    return RidgeCut(_shares(singular_values, mu, stretch), stretch)


def effective_dimension(singular_values: FloatArray, mu: float) -> float:
    """Return D(μ), the number of directions that a soft model needs."""
    return float(_shares(singular_values, mu, 1.0).sum())


def _shares(singular_values: FloatArray, mu: float, stretch: float) -> FloatArray:
    squares = (singular_values / singular_values[0]) ** 2
    shares = squares / (squares + stretch * _ridge(singular_values, mu))
    return np.asarray(np.maximum(shares, LEAST_COVERAGE))


def _ridge(singular_values: FloatArray, mu: float) -> float:
    """Return μ relative to the largest eigenvalue, so that squares stay in range."""
    largest = float(singular_values[0])
    with np.errstate(over="ignore", under="ignore"):
        return min(max(mu / largest / largest, TINY), 1 / TINY)


# Chance that the bounds of a random selection fail, half for each side.
_FAILURE = 0.01


def bss_promise(n_components: int, n_picks: int) -> APriori:
    """Return what BSS promises for every basis of this size."""
    ratio = np.sqrt(n_components / n_picks)
    bounds = float((1 - ratio) ** 2), float((1 + ratio) ** 2)
    return APriori("BSS", n_picks, n_components, *bounds, 1.0)


def sampling_promise(
    method: str, n_components: int, coherence: float, n_picks: int
) -> APriori | None:
    """Return what the matrix Chernoff bounds promise of random draws, or None for too few.

    P(λ < 1 − ε) ≤ ℓ·exp(−(r/coherence)·((1 − ε)ln(1 − ε) + ε)), and
    P(Λ > 1 + ε) ≤ ℓ·exp(−(r/coherence)·((1 + ε)ln(1 + ε) − ε)).
    """
    needed = coherence / n_picks * np.log(2 * n_components / _FAILURE)
    if needed >= 1:
        return None
    below = brentq(lambda loss: loss + (1 - loss) * np.log1p(-loss) - needed, 0.0, 1 - 1e-16)
    above = brentq(lambda gain: (1 + gain) * np.log1p(gain) - gain - needed, 0.0, 10.0)
    return APriori(method, n_picks, n_components, 1 - below, 1 + above, 1 - _FAILURE)
