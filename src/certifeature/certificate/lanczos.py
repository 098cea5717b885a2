"""The bound with a ridge, of rows with too many directions for a basis.

Of the rows X nothing is needed but products with them, block by block. With X̃ the chosen and scaled
columns, X₀ the others and w the scales,

    K + μI = X₀X₀ᵀ + (XₛXₛᵀ + μI) ≼ (ν + max(1, 1/min w²)) (K̃ + μI),

where ν is the largest eigenvalue of X₀ᵀ(K̃ + μI)⁻¹X₀ and K̃ = X̃X̃ᵀ. The inverse takes a Gram matrix of
the chosen columns only: (K̃ + μI)⁻¹ = (I − X̃(X̃ᵀX̃ + μI)⁻¹X̃ᵀ)/μ.

A block Lanczos method finds ν from below. From a random start it does not fall short by much: see
`_largest_shortfall`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from certifeature.certificate.certificate import Regularised
from certifeature.certificate.measure import hinge_kept
from certifeature.rows.blocks import Block, RowBlocks
from certifeature.sparsify import Sample
from certifeature.support.loss import Target

__all__ = ["regularised_bound", "soft_bound"]

FloatArray = NDArray[np.float64]

_EPS = float(np.finfo(np.float64).eps)
_STEPS, _WIDTH = 12, 4
# Chance that the largest eigenvalue is above its bound.
_FAILURE = 0.01
# Share of a vector that is no more than rounding.
_NEGLIGIBLE = 1e-10


def soft_bound(blocks: RowBlocks, sample: Sample, target: Target) -> Regularised | None:
    """Bound the eigenvalues for a model; None if it is none that a ridge serves.

    Parameters
    ----------
    blocks : RowBlocks
        Rows.
    sample : Sample
        Chosen columns and their scales.
    target : Target
        The model.
    """
    if target.mu is None:
        return None
    found = regularised_bound(blocks, sample, target.mu)
    return replace(found, hinge_kept=hinge_kept(found)) if target.hinge else found


def regularised_bound(blocks: RowBlocks, sample: Sample, mu: float) -> Regularised:
    """Bound the generalised eigenvalues of (K̃ + μI, K + μI) in 26 passes.

    Parameters
    ----------
    blocks : RowBlocks
        Rows.
    sample : Sample
        Chosen columns and their scales.
    mu : float
        The ridge μ.
    """
    rows = _Scaled.down(blocks)
    chosen, scales = sample.indices, sample.weights[:, None]
    with np.errstate(over="ignore", under="ignore"):
        ridge = float(np.ldexp(mu, -2 * rows.exponent))
    spectrum, directions = np.linalg.eigh(scales * rows.gram(chosen) * scales.T)
    largest, smallest = float(scales.max()) ** 2, float(scales.min()) ** 2
    with np.errstate(over="ignore", divide="ignore"):
        rounding = 8 * len(chosen) * _EPS * np.divide(rows.square_norm, ridge)
        rounding *= 1 + np.divide(spectrum[-1], ridge)
    if not np.isfinite(rounding):
        return Regularised(float(mu), 0.0, max(1.0, largest))
    inverse = directions / (np.maximum(spectrum, 0.0) + ridge) @ directions.T

    def operator(V: FloatArray) -> FloatArray:
        """Return X₀ᵀ(K̃ + μI)⁻¹X₀V."""
        V = V.copy()
        V[chosen] = 0.0
        V[chosen] = -scales * (inverse @ (scales * rows.times(V)[chosen]))
        image = rows.times(V) / ridge
        image[chosen] = 0.0
        return image

    n_others = blocks.n_features - len(chosen)
    others, probability = 0.0, 1.0
    if n_others:
        start = np.random.default_rng(0).standard_normal((blocks.n_features, _WIDTH))
        start[chosen] = 0.0
        found = _largest_ritz_value(operator, start)
        others = (found + rounding) / (1 - _largest_shortfall(n_others))
        probability = 1 - _FAILURE
    lambda_min = float(1 / (others + max(1.0, 1 / smallest)))
    return Regularised(float(mu), lambda_min, max(1.0, largest), probability)


def _largest_ritz_value(operator: Callable[[FloatArray], FloatArray], start: FloatArray) -> float:
    """Return the largest eigenvalue of a symmetric operator on the Krylov space of a start."""
    newest = np.linalg.qr(start)[0]
    basis, images = newest, operator(newest)
    for _ in range(_STEPS - 1):
        newest = _orthonormal(images[:, -newest.shape[1] :], basis)
        if not newest.shape[1]:
            break
        basis, images = np.hstack([basis, newest]), np.hstack([images, operator(newest)])
    projected = basis.T @ images
    return float(np.linalg.eigvalsh((projected + projected.T) / 2)[-1])


def _orthonormal(vectors: FloatArray, basis: FloatArray) -> FloatArray:
    """Return an orthonormal basis of what vectors have outside another, beyond rounding."""
    rest = vectors - basis @ (basis.T @ vectors)
    directions, sizes, _ = np.linalg.svd(rest, full_matrices=False)
    directions = directions[:, sizes > _NEGLIGIBLE * np.linalg.norm(vectors)]
    # Once more, since rounding left a part of the other basis.
    return np.linalg.qr(directions - basis @ (basis.T @ directions))[0]


def _largest_shortfall(dimension: int) -> float:
    """Return the ε such that a Ritz value is at least (1 − ε)ν, but for the chance of failure.

    Let b be the share of the top eigenvector in a unit start vector, and k the steps. If the Ritz
    value is less, then |b| < 1/cosh((2k − 1) artanh √ε), by the Chebyshev polynomial of degree
    2k − 1. For a vector that points anywhere that has a chance of at most √(2·dimension/π) times
    the bound, and several starts have to fail all at once.
    """
    largest_share = min(1.0, _FAILURE ** (1 / _WIDTH) / np.sqrt(2 * dimension / np.pi))
    return float(np.tanh(np.arccosh(1 / largest_share) / (2 * _STEPS - 1)) ** 2)


@dataclass(frozen=True, eq=False)
class _Scaled:
    """Rows over a power of 2, so that squares of their values stay in range."""

    blocks: RowBlocks
    exponent: int
    square_norm: float

    @classmethod
    def down(cls, blocks: RowBlocks) -> _Scaled:
        sizes = blocks.collect(_size)
        exponent = max(own for own, _ in sizes)
        return cls(blocks, exponent, sum(np.ldexp(s, 2 * (own - exponent)) for own, s in sizes))

    def gram(self, columns: NDArray[np.intp]) -> FloatArray:
        """Return the inner products of some columns."""
        return self._sum(partial(_gram, columns))

    def times(self, V: FloatArray) -> FloatArray:
        """Return XᵀXV."""
        return self._sum(partial(_product, V))

    def _sum(self, function: Callable[[int, Block], FloatArray]) -> FloatArray:
        add = partial(_add, partial(function, self.exponent))
        return np.asarray(self.blocks.accumulate(_Sum, add).values)


@dataclass(frozen=True, eq=False)
class _Sum:
    values: Any = 0.0

    def __sizeof__(self) -> int:
        return int(np.asarray(self.values).nbytes)

    def merged(self, other: _Sum) -> _Sum:
        return _Sum(self.values + other.values)


def _add(function: Callable[[Block], FloatArray], total: _Sum, block: Block) -> _Sum:
    return total.merged(_Sum(function(block)))


def _size(block: Block) -> tuple[int, float]:
    """Return the exponent of the largest value of a block, and its squared norm without that."""
    values = block.X.data if sparse.issparse(block.X) else block.X.ravel()
    exponent = int(np.frexp(np.abs(values).max(initial=0.0))[1])
    return exponent, float(np.sum(np.ldexp(values, -exponent) ** 2))


def _gram(columns: NDArray[np.intp], exponent: int, block: Block) -> FloatArray:
    part = block.X[:, columns]
    if sparse.issparse(part):
        part.data = np.ldexp(part.data, -exponent)
        return np.asarray((part.T @ part).toarray())
    part = np.ldexp(part, -exponent)
    return np.asarray(part.T @ part)


def _product(V: FloatArray, exponent: int, block: Block) -> FloatArray:
    image = np.ldexp(block.X @ V, -exponent)
    return np.ldexp(block.X.T @ image, -exponent)
