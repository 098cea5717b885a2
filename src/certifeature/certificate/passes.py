"""The bound with a ridge, by passes over rows in blocks.

Let X̃ be the chosen and scaled columns, K̃ = X̃X̃ᵀ, X₀ the other columns and w the scales. Then

    K + μI = X₀X₀ᵀ + (XₛXₛᵀ + μI) ≼ (ν + max(1, 1/min w²)) (K̃ + μI),

where ν is the largest eigenvalue of X₀ᵀ(K̃ + μI)⁻¹X₀, with which a product takes two passes. The
inverse takes a Gram matrix of the chosen columns only: (K̃ + μI)⁻¹ = (I − X̃(X̃ᵀX̃ + μI)⁻¹X̃ᵀ)/μ.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from certifeature._lanczos import FAILURE, largest_eigenvalue
from certifeature._progress import phase
from certifeature.certificate.certificate import Regularised
from certifeature.rows.blocks import Block, RowBlocks
from certifeature.rows.matrix import fingerprint
from certifeature.sparsify import Sample

__all__ = ["STEPS", "bound_in_blocks", "operator_rounding"]

FloatArray = NDArray[np.float64]

_EPS = float(np.finfo(np.float64).eps)
# Steps of Lanczos' method; each takes two passes over rows in blocks, after two for all of them.
STEPS = 12
_PASSES = 2 + 2 * STEPS


def bound_in_blocks(blocks: RowBlocks, sample: Sample, mu: float) -> Regularised:
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
    with phase("passes", _PASSES) as advance:
        return _bound_in_passes(_Scaled.down(blocks, advance), sample, mu)


def _bound_in_passes(rows: _Scaled, sample: Sample, mu: float) -> Regularised:
    chosen, scales = sample.indices, sample.weights[:, None]
    with np.errstate(over="ignore", under="ignore"):
        ridge = float(np.ldexp(mu, -2 * rows.exponent))
    spectrum, directions = np.linalg.eigh(scales * rows.gram(chosen) * scales.T)
    largest, smallest = float(scales.max()) ** 2, float(scales.min()) ** 2
    rounding = operator_rounding(len(chosen), rows.square_norm, spectrum[-1], ridge)
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

    others, probability = 0.0, 1.0
    n_features = rows.blocks.n_features
    if len(chosen) < n_features:
        identity = f"{rows.fingerprint} {sample.fingerprint} {ridge!r}"
        others = largest_eigenvalue(
            operator, n_features, STEPS, identity=identity, zeros=chosen, rounding=rounding
        ).upper
        probability = 1 - FAILURE
    lambda_min = float(1 / (others + max(1.0, 1 / smallest)))
    return Regularised(float(mu), lambda_min, max(1.0, largest), probability)


def operator_rounding(n_terms: int, square_norm: float, top: float, ridge: float) -> float:
    """Return what rounding may do to the operators: the chosen columns' own, blown up by 1/μ.

    It is infinite where a bound that counts it is not worth having, and squares may overflow.
    """
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        found = 8 * n_terms * _EPS * (1 + np.divide(square_norm, ridge))
        found = float(found * (1 + np.divide(top, ridge)) ** 1.5)
    return found if found < 1 / _EPS else np.inf


@dataclass(frozen=True, eq=False)
class _Scaled:
    """Rows over a power of 2, so that squares of their values stay in range."""

    blocks: RowBlocks
    exponent: int
    square_norm: float
    fingerprint: str
    advance: Callable[[], None]

    @classmethod
    def down(cls, blocks: RowBlocks, advance: Callable[[], None]) -> _Scaled:
        """Return rows over a power of 2; every pass over them is told."""
        sizes = blocks.collect(_size)
        advance()
        exponent = max(own for own, *_ in sizes)
        square_norm = sum(np.ldexp(s, 2 * (own - exponent)) for own, s, _ in sizes)
        return cls(blocks, exponent, square_norm, " ".join(own for *_, own in sizes), advance)

    def gram(self, columns: NDArray[np.intp]) -> FloatArray:
        """Return the inner products of some columns."""
        return self._sum(partial(_gram, columns))

    def times(self, V: FloatArray) -> FloatArray:
        """Return XᵀXV."""
        return self._sum(partial(_product, V))

    def _sum(self, function: Callable[[int, Block], FloatArray]) -> FloatArray:
        add = partial(_add, partial(function, self.exponent))
        total = self.blocks.accumulate(_Sum, add)
        self.advance()
        return np.asarray(total.values)


@dataclass(frozen=True, eq=False)
class _Sum:
    values: Any = 0.0

    def __sizeof__(self) -> int:
        return int(np.asarray(self.values).nbytes)

    def merged(self, other: _Sum) -> _Sum:
        return _Sum(self.values + other.values)


def _add(function: Callable[[Block], FloatArray], total: _Sum, block: Block) -> _Sum:
    return total.merged(_Sum(function(block)))


def _size(block: Block) -> tuple[int, float, str]:
    """Return the exponent of a block's largest value, its squared norm without that, a digest."""
    values = block.X.data if sparse.issparse(block.X) else block.X.ravel()
    exponent = int(np.frexp(np.abs(values).max(initial=0.0))[1])
    return exponent, float(np.sum(np.ldexp(values, -exponent) ** 2)), fingerprint(block.X)


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
