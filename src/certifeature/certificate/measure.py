"""What a selection can cost, by eigenvalues that are rounded to be safe."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from certifeature import _memory
from certifeature.basis import Basis
from certifeature.certificate.certificate import Certificate, Regularised
from certifeature.sparsify import Sample
from certifeature.support.loss import Target

__all__ = [
    "basis_pays",
    "extreme_eigenvalues",
    "hinge_kept",
    "left_out_factors",
    "measured_certificate",
    "n_kept",
    "regularised_eigenvalues",
    "without_basis",
]

FloatArray = NDArray[np.float64]

_EPS = float(np.finfo(np.float64).eps)
_TINY = float(np.finfo(np.float64).tiny)


def measured_certificate(
    basis: Basis, sample: Sample, rows: str, n_rows: int, target: Target
) -> Certificate:
    """Return the second layer for rows whose basis is known, and a model that may be any."""
    n_features = len(basis.vectors)
    bounds = (
        extreme_eigenvalues(basis, sample) if basis.exact else without_basis(sample, n_features)
    )
    regularised = None
    if target.mu is not None:
        regularised = regularised_eigenvalues(basis, sample, target.mu, n_rows)
    if regularised is not None:
        flat = _with_ridge(basis, sample, bounds[0], regularised.mu)
        regularised = replace(
            regularised,
            lambda_min=max(regularised.lambda_min, flat),
            lambda_max=min(regularised.lambda_max, max(1.0, float(sample.weights.max()) ** 2)),
        )
        if target.hinge:
            kept = _hinge_kept(basis, sample, bounds[0], regularised.mu)
            regularised = replace(regularised, hinge_kept=max(kept, hinge_kept(regularised)))
    sizes = (n_rows, basis.rank, n_features, len(sample.indices))
    n_fixed, n_trusted = n_kept(sample)
    return Certificate(
        rows,
        *sizes,
        basis.exact,
        *bounds,
        regularised,
        n_fixed=n_fixed,
        n_trusted=n_trusted,
        model=target.name,
        converged=target.converged,
    )


def basis_pays(n_directions: int, n_chosen: int) -> bool:
    """Tell whether a basis is quick to find, or there is something that only a basis can prove.

    Without one there is a bound with a ridge, by products with the rows. λ is zero where fewer
    features are chosen than there are directions, unless these are fewer than rows and columns.
    """
    return n_directions <= _memory.MAX_QUICK_GRAM or n_chosen >= n_directions


def hinge_kept(regularised: Regularised) -> float:
    """Return the share of which the objective of a hinge loss with the ridge 1/(2C) is left."""
    kept = min(1.0, regularised.lambda_min)
    return kept * (1 + kept) / 2


def _hinge_kept(basis: Basis, sample: Sample, flat: float, mu: float) -> float:
    """Return the same by the bound λ for all directions.

    With a ridge of c/(2C), λ(1 − c(1 − λ)/2) of the objective is left: all of λ but for the little
    that c needs to cover what the basis leaves out.
    """
    best = 0.0
    for part in 10.0 ** np.arange(0, -13, -2):
        kept = _with_ridge(basis, sample, flat, part * mu)
        best = max(best, kept * (1 - part * (1 - kept) / 2))
    return float(best)


def _with_ridge(basis: Basis, sample: Sample, flat: float, mu: float) -> float:
    """Return what λ says with a ridge: where K̃ ≽ λK, the same holds with μI added, once λ ≤ 1.

    λ is that of rows without what the basis leaves out of them, unless it follows from the scales.
    """
    lower, _ = left_out_factors(basis, sample, mu)
    by_scales, _ = without_basis(sample, len(basis.vectors))
    return max(min(1.0, by_scales), min(1.0, flat) * lower)


@np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore")
def left_out_factors(basis: Basis, sample: Sample, mu: float) -> tuple[float, float]:
    """Return by how much bounds with a ridge shrink and grow for what the basis leaves out of X.

    Let K' belong to XVVᵀ, and e be the norm of X − XVVᵀ. K + μI ≼ (1 + e²/μ)(K' + μI), and K̃ + μI
    differs from K̃' + μI by no more than the share w·e/√μ of it (and its square, above).
    """
    if basis.left_out is None:
        return 0.0, np.inf
    missed = float(basis.left_out / np.sqrt(mu)) if basis.left_out else 0.0
    share = float(sample.weights.max()) * missed
    if not np.isfinite(missed) or not share < 1:
        return 0.0, np.inf
    return (1 - share) / (1 + missed**2), 1 + share + share**2


def n_kept(sample: Sample) -> tuple[int, int]:
    """Return how many features of a sample are fixed, and how many are trusted."""
    if sample.reasons is None:
        return 0, 0
    return int((sample.reasons == "fixed").sum()), int((sample.reasons == "trusted").sum())


def extreme_eigenvalues(basis: Basis, sample: Sample) -> tuple[float, float]:
    """Return λ, rounded down, and Λ, rounded up, of M = VᵀRRᵀV."""
    eigenvalues = np.linalg.eigvalsh(_gram(basis, sample))
    shares = basis.singular_values / basis.singular_values[0]
    with np.errstate(divide="ignore"):
        slack = float(np.divide(_rounding(basis, sample), shares[-1]))
    # These hold whatever rounding does to the basis.
    least, most = without_basis(sample, len(basis.vectors))
    return max(float(eigenvalues[0]) - slack, least), min(float(eigenvalues[-1]) + slack, most)


def without_basis(sample: Sample, n_features: int) -> tuple[float, float]:
    """Return bounds of λ and Λ that hold for all rows: those of the scales.

    Columns times scales are never more than the largest scale times all columns, and all columns
    together never less than the smallest.
    """
    squares = sample.weights**2
    return float(squares.min()) if len(squares) == n_features else 0.0, float(squares.max())


@np.errstate(over="ignore", under="ignore")
def regularised_eigenvalues(
    basis: Basis, sample: Sample, mu: float, n_rows: int
) -> Regularised | None:
    """Return the extreme generalised eigenvalues of (K̃ + μI, K + μI), rounded to be safe.

    With X = UΣVᵀ they are those of (ΣMΣ + μI, Σ² + μI); outside the range of U both are μI. What
    the basis leaves out of X is counted; None if that is not known.
    """
    if basis.left_out is None:
        return None
    # Relative to the largest, so that squares of huge or tiny values stay in range.
    largest = basis.singular_values[0]
    shares = basis.singular_values / largest
    ridge = float(mu / largest / largest)
    if ridge < _TINY:
        return Regularised(float(mu), 0.0, np.inf)
    damping = shares / np.hypot(shares, np.sqrt(ridge))
    matrix = damping[:, None] * _gram(basis, sample) * damping
    matrix[np.diag_indices_from(matrix)] += 1 - damping**2
    eigenvalues = np.linalg.eigvalsh(matrix)
    # The error of one direction is damped by that, and met by the damping of another.
    slack = _rounding(basis, sample) * float(damping.max() / np.hypot(shares, np.sqrt(ridge)).min())
    least, most = left_out_factors(basis, sample, mu)
    lower = max(0.0, float(eigenvalues[0]) - slack) * least
    upper = (float(eigenvalues[-1]) + slack) * most
    if n_rows > basis.n_components:
        lower, upper = min(lower, 1.0), max(upper, 1.0)
    return Regularised(float(mu), float(max(lower, 0.0)), float(upper))


def _gram(basis: Basis, sample: Sample) -> FloatArray:
    chosen = basis.vectors[sample.indices] * sample.weights[:, None]
    gram: FloatArray = chosen.T @ chosen
    return gram


def _rounding(basis: Basis, sample: Sample) -> float:
    """Return the error of M from rounding in V, for directions as strong as the first."""
    return 8 * basis.n_components * _EPS * float(np.max(sample.weights)) ** 2
