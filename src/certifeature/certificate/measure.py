"""What a selection can cost, by eigenvalues that are rounded to be safe."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from certifeature.basis import Basis
from certifeature.certificate.certificate import Certificate, Regularised
from certifeature.sparsify import Sample
from certifeature.support.loss import Target

__all__ = [
    "extreme_eigenvalues",
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
        # Where λK ≼ K̃ ≼ ΛK, the same holds with μI added to both, once λ ≤ 1 ≤ Λ.
        regularised = replace(
            regularised,
            lambda_min=max(regularised.lambda_min, min(1.0, bounds[0])),
            lambda_max=min(regularised.lambda_max, max(1.0, bounds[1])),
            hinge=target.hinge,
        )
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
    )


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
    ridge = max(float(mu / largest / largest), _TINY)
    damping = shares / np.hypot(shares, np.sqrt(ridge))
    matrix = damping[:, None] * _gram(basis, sample) * damping
    matrix[np.diag_indices_from(matrix)] += 1 - damping**2
    eigenvalues = np.linalg.eigvalsh(matrix)
    # The error of a direction is damped along with the direction.
    slack = _rounding(basis, sample) * float((damping / np.hypot(shares, np.sqrt(ridge))).max())
    lower, upper = float(eigenvalues[0]) - slack, float(eigenvalues[-1]) + slack
    # Let K' belong to XVVᵀ, and e be the norm of X − XVVᵀ. K + μI ≼ (1 + e²/μ)(K' + μI), and K̃ + μI
    # differs from K̃' + μI by no more than the share w·e/√μ of it (and its square, above).
    missed = basis.left_out / largest / np.sqrt(ridge)
    share = float(sample.weights.max()) * missed
    lower *= max(0.0, 1 - share) / (1 + missed**2)
    upper *= 1 + share + share**2
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
