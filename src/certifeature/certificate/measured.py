"""Measured spectral bounds of a choice of columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from certifeature import _utils as _memory
from certifeature._progress import phase
from certifeature._utils import EPS, TINY, FloatArray
from certifeature.basis.basis import FAILURE, Basis
from certifeature.basis.span import RowSummary, exact_basis, largest_eigenvalue
from certifeature.certificate.certificate import Certificate, Regularised
from certifeature.models.problem import ModelBound
from certifeature.models.support import Support
from certifeature.rows.blocks import Block, RowBlocks
from certifeature.rows.matrix import (
    Centred,
    dense,
    exponent_of,
    fingerprint,
    scaled_columns,
    size_of,
    times_gram,
    times_power_of_two,
)
from certifeature.sparsify import ColumnChoice


def hinge_kept(regularised: Regularised) -> float:
    """Return the share of which the objective of a hinge loss with the ridge 1/(2C) is left."""
    kept = min(1.0, regularised.lambda_min)
    return kept * (1 + kept) / 2


def _hinge_kept(basis: Basis, sample: ColumnChoice, flat: float, mu: float) -> float:
    """Return the same by the bound λ for all directions.

    With a ridge of c/(2C), λ(1 − c(1 − λ)/2) of the objective is left: all of λ but for the little
    that c needs to cover what the basis leaves out.
    """
    best = 0.0
    for part in 10.0 ** np.arange(0, -13, -2):
        kept = _with_ridge(basis, sample, flat, part * mu)
        best = max(best, kept * (1 - part * (1 - kept) / 2))
    return float(best)


def _with_ridge(basis: Basis, sample: ColumnChoice, flat: float, mu: float) -> float:
    """Return what λ says with a ridge: where K̃ ≽ λK, the same holds with μI added, once λ ≤ 1.

    λ is that of rows without what the basis leaves out of them, unless it follows from the scales.
    """
    lower, _ = left_out_factors(basis, sample, mu)
    by_scales, _ = without_basis(sample, len(basis.vectors))
    return max(min(1.0, by_scales), min(1.0, flat) * lower)


@np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore")
def left_out_factors(basis: Basis, sample: ColumnChoice, mu: float) -> tuple[float, float]:
    """Return by how much bounds with a ridge shrink and grow for what the basis leaves out of X.

    Let K' belong to XVVᵀ, and e be the norm of X − XVVᵀ. K + μI ≼ (1 + e²/μ)(K' + μI), and K̃ + μI
    differs from K̃' + μI by no more than the share w·e/√μ of it (and its square, above).
    """
    if basis.left_out is None:
        return 0.0, np.inf
    missed = float(basis.left_out / np.sqrt(mu)) if basis.left_out else 0.0
    share = float(sample.scales.max()) * missed
    if not np.isfinite(missed) or not share < 1:
        return 0.0, np.inf
    return (1 - share) / (1 + missed**2), 1 + share + share**2


def extreme_eigenvalues(basis: Basis, sample: ColumnChoice) -> tuple[float, float]:
    """Return λ, rounded down, and Λ, rounded up, of M = VᵀRRᵀV."""
    eigenvalues = np.linalg.eigvalsh(_gram(basis, sample))
    slack = spectrum_rounding(basis, sample)
    # These hold whatever rounding does to the basis.
    least, most = without_basis(sample, len(basis.vectors))
    return max(float(eigenvalues[0]) - slack, least), min(float(eigenvalues[-1]) + slack, most)


def spectrum_rounding(basis: Basis, sample: ColumnChoice) -> float:
    """Return by how much rounding of V may change λ and Λ of a choice, most for weak directions."""
    with np.errstate(divide="ignore", over="ignore"):
        weakest = basis.singular_values[-1] / basis.singular_values[0]
        return float(np.divide(_rounding(basis, sample), weakest))


def without_basis(sample: ColumnChoice, n_features: int) -> tuple[float, float]:
    """Return bounds of λ and Λ that hold for all rows: those of the scales.

    Columns times scales are never more than the largest scale times all columns, and all columns
    together never less than the smallest.
    """
    squares = sample.scales**2
    return float(squares.min()) if len(squares) == n_features else 0.0, float(squares.max())


@np.errstate(over="ignore", under="ignore")
def regularised_eigenvalues(
    basis: Basis, sample: ColumnChoice, mu: float, n_rows: int
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
    if ridge < TINY:
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


def _gram(basis: Basis, sample: ColumnChoice) -> FloatArray:
    chosen = basis.vectors[sample.indices] * sample.scales[:, None]
    return np.asarray(chosen.T @ chosen)


def _rounding(basis: Basis, sample: ColumnChoice) -> float:
    """Return the error of M from rounding in V, for directions as strong as the first."""
    return 8 * basis.n_components * EPS * float(np.max(sample.scales)) ** 2


def soft_bound(
    rows: Any, sample: ColumnChoice, target: ModelBound, columns: Any = None
) -> Regularised | None:
    """Bound the eigenvalues for a model; None if it is none that a ridge serves.

    Parameters
    ----------
    rows : ndarray, CSR array or RowBlocks
        Rows.
    sample : ColumnChoice
        Chosen columns and their scales.
    target : ModelBound
        The model.
    columns : CSR array, default=None
        What `bound_in_memory` takes.
    """
    if target.mu is None:
        return None
    if isinstance(rows, RowBlocks):
        found = measured_in_blocks(rows, sample, target.mu)
    else:
        found = bound_in_memory(rows, sample, target.mu, columns)
    return replace(found, hinge_kept=hinge_kept(found)) if target.hinge else found


def bound_in_memory(X: Any, sample: ColumnChoice, mu: float, columns: Any = None) -> Regularised:
    """Bound the generalised eigenvalues of (K̃ + μI, K + μI) of rows in memory.

    Parameters
    ----------
    X : {ndarray, CSR array} of shape (n_samples, n_features)
        Rows.
    sample : ColumnChoice
        Chosen columns and their scales.
    mu : float
        The ridge μ.
    columns : CSR array, default=None
        Xᵀ over the power of 2 that brings its values below 1, if X is sparse and this is known.
    """
    largest = max(1.0, float(sample.scales.max()) ** 2)
    if len(sample.indices) == X.shape[1] and (sample.scales == 1).all():
        return Regularised(float(mu), 1.0, 1.0)
    exponent = exponent_of(X)
    rows = times_power_of_two(X, -exponent)
    chosen = scaled_columns(rows[:, sample.indices], sample.scales)
    with np.errstate(over="ignore", under="ignore"):
        ridge = float(np.ldexp(mu, -2 * exponent))
    if not np.isfinite(ridge):
        # Beside such a ridge the rows are nothing.
        return Regularised(float(mu), 1.0, largest)
    gram = dense(chosen.T @ chosen)
    n_chosen = len(gram)
    top = float(np.abs(gram).sum(axis=1).max())
    square_norm = size_of(rows) ** 2
    rounding = operator_rounding(n_chosen + _longest_row(rows), square_norm, top, ridge)
    # Equal columns of large scales would have no inverse, either.
    if not np.isfinite(rounding) or n_chosen * EPS * top >= ridge:
        return Regularised(float(mu), 0.0, largest)
    gram[np.diag_indices_from(gram)] += ridge
    inverse, root, squared = np.linalg.inv(gram), np.sqrt(ridge), times_gram(rows, columns)

    def solved(V: FloatArray) -> FloatArray:
        """Return μ(K̃ + μI)⁻¹V."""
        return V - chosen @ (inverse @ (chosen.T @ V))

    def operator(V: FloatArray) -> FloatArray:
        V = solved(chosen @ V[:n_chosen] + root * V[n_chosen:]) / ridge
        V = solved(squared(V) / ridge + V)
        return np.vstack([chosen.T @ V, root * V])

    identity = f"{fingerprint(rows)} {_digest(sample)} {ridge!r}"
    size = n_chosen + X.shape[0]
    # Millions of columns fill the memory.
    del rows
    upper = largest_eigenvalue(operator, size, STEPS, identity=identity, rounding=rounding)
    return Regularised(float(mu), min(1.0, 1 / upper), largest, 1 - FAILURE)


def _digest(columns: ColumnChoice) -> str:
    return fingerprint(np.column_stack([columns.indices, columns.scales]))


def _longest_row(X: Any) -> int:
    """Return the number of values in the longest row, which may all be rounded."""
    if isinstance(X, Centred):
        # Sums over all columns are made in pairs.
        return _longest_row(X.stored) + X.shape[1].bit_length() + 32
    return int(np.diff(X.indptr).max()) if sparse.issparse(X) else int(X.shape[1])


# Steps of Lanczos' method; each takes two passes over rows in blocks, after two for all of them.
STEPS = 12
_PASSES = 2 + 2 * STEPS


def measured_in_blocks(blocks: RowBlocks, sample: ColumnChoice, mu: float) -> Regularised:
    """Bound the generalised eigenvalues of (K̃ + μI, K + μI) in 26 passes.

    Parameters
    ----------
    blocks : RowBlocks
        Rows.
    sample : ColumnChoice
        Chosen columns and their scales.
    mu : float
        The ridge μ.
    """
    with phase("passes", _PASSES) as advance:
        rows = _Scaled(blocks, advance)
        chosen, scales = sample.indices, sample.scales[:, None]
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

        others, probability, n_features = 0.0, 1.0, blocks.n_features
        if len(chosen) < n_features:
            identity = f"{rows.fingerprint} {_digest(sample)} {ridge!r}"
            others = largest_eigenvalue(
                operator, n_features, STEPS, identity=identity, zeros=chosen, rounding=rounding
            )
            probability = 1 - FAILURE
        lambda_min = float(1 / (others + max(1.0, 1 / smallest)))
        return Regularised(float(mu), lambda_min, max(1.0, largest), probability)


def operator_rounding(n_terms: int, square_norm: float, top: float, ridge: float) -> float:
    """Return what rounding may do to the operators: the chosen columns' own, blown up by 1/μ.

    It is infinite where a bound that counts it is not worth having, and squares may overflow.
    """
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        found = 8 * n_terms * EPS * (1 + np.divide(square_norm, ridge))
        found = float(found * (1 + np.divide(top, ridge)) ** 1.5)
    return found if found < 1 / EPS else np.inf


class _Scaled:
    """Rows over a power of 2, so that squares stay in range; every pass over them is reported."""

    def __init__(self, blocks: RowBlocks, advance: Callable[[], None]) -> None:
        self._blocks, self._advance = blocks, advance
        exponents, squares, digests = zip(*blocks.collect(_size), strict=True)
        advance()
        self.exponent = max(exponents)
        scaled = np.ldexp(squares, 2 * (np.array(exponents) - self.exponent))
        self.square_norm = float(sum(scaled))
        self.fingerprint = " ".join(digests)

    def gram(self, columns: NDArray[np.intp]) -> FloatArray:
        """Return the inner products of some columns."""
        return self._sum(partial(_gram_in_blocks, columns))

    def times(self, V: FloatArray) -> FloatArray:
        """Return XᵀXV."""
        return self._sum(partial(_product, V))

    def _sum(self, function: Callable[[int, Block], FloatArray]) -> FloatArray:
        total = self._blocks.summed(partial(function, self.exponent))
        self._advance()
        return total


def _size(block: Block) -> tuple[int, float, str]:
    """Return the exponent of a block's largest value, its squared norm without that, a digest."""
    exponent = exponent_of(block.X)
    square = size_of(times_power_of_two(block.X, -exponent)) ** 2
    return exponent, square, fingerprint(block.X)


def _gram_in_blocks(columns: NDArray[np.intp], exponent: int, block: Block) -> FloatArray:
    part = times_power_of_two(block.X[:, columns], -exponent)
    return dense(part.T @ part)


def _product(V: FloatArray, exponent: int, block: Block) -> FloatArray:
    image = np.ldexp(block.X @ V, -exponent)
    return np.ldexp(block.X.T @ image, -exponent)


@dataclass(frozen=True, eq=False)
class Measurable:
    """Rows that choices of columns are measured on; their basis is computed once, if needed.

    Attributes
    ----------
    X : ndarray, CSR array, RowBlocks or None
        Rows, or others with the same inner products of columns; None if only a basis is known.
    kind : {"support", "all"}
        Which rows of the data they are.
    n_rows : int
        Number of rows.
    target : ModelBound
        The model, which may be any.
    """

    X: Any
    kind: str
    n_rows: int
    target: ModelBound

    @classmethod
    def of_support(cls, found: Support, kind: str) -> Self:
        """Return the rows of a model, in memory unless they are too many."""
        rows, few = found.rows, _memory.MAX_GRAM
        X, n_rows, n_features = rows.X, rows.n_rows, rows.n_features
        if rows.in_blocks and min(n_rows, n_features) <= few:
            X = RowSummary(n_features, 1, 0, few, few, may_sketch=False).taken(rows.X).matrix()
        return cls(X, kind, n_rows, found.target)

    def certificate(self, columns: ColumnChoice, basis: Basis | None = None) -> Certificate:
        """Return the measured certificate of a choice, by whichever way is quick and proves most.

        Parameters
        ----------
        columns : ColumnChoice
            Chosen columns and their scales.
        basis : Basis, default=None
            Directions of the rows, where they are known already.
        """
        known = None if basis is None or basis.outside is None else basis.outside.columns
        if basis is None or not (basis.exact or self.X is None):
            basis = self._quick_basis(len(columns.indices))
        if basis is None:
            X = self.X
            n_features = X.n_features if isinstance(X, RowBlocks) else X.shape[1]
            rank, exact, bounds = None, True, without_basis(columns, n_features)
            regularised = soft_bound(X, columns, self.target, known)
        else:
            n_features, rank, exact = len(basis.vectors), basis.rank, basis.exact
            measured = extreme_eigenvalues(basis, columns) if exact else None
            bounds = measured or without_basis(columns, n_features)
            regularised = self._regularised(basis, columns, bounds[0])
        # One for each feature, or for each group.
        first, n_groups = np.arange(len(columns.indices)), None
        if columns.groups is not None:
            first = np.unique(columns.groups, return_index=True)[1]
            n_groups = len(first)
        reasons = np.empty(0) if columns.reasons is None else columns.reasons[first]
        return Certificate(
            self.kind,
            self.n_rows,
            rank,
            n_features,
            len(columns.indices),
            exact,
            *bounds,
            regularised=regularised,
            n_fixed=int((reasons == "fixed").sum()),
            n_trusted=int((reasons == "trusted").sum()),
            n_groups=n_groups,
            model=self.target.name,
            factor=columns.factor,
            converged=self.target.converged,
        )

    def lambda_min(self, columns: ColumnChoice, basis: Basis, *, soft: bool) -> float:
        """Return λ of a choice: with the model's ridge if ``soft``, else for all directions."""
        bounds, mu = None, self.target.mu
        if soft and mu is not None:
            bounds = regularised_eigenvalues(basis, columns, mu, self.n_rows)
            if bounds is None and self.X is not None:
                bounds = soft_bound(self.X, columns, self.target)
        return extreme_eigenvalues(basis, columns)[0] if bounds is None else bounds.lambda_min

    def _regularised(self, basis: Basis, columns: ColumnChoice, flat: float) -> Regularised | None:
        """Return the bounds for the model, given the bound λ for all directions."""
        mu = self.target.mu
        found = mu and regularised_eigenvalues(basis, columns, mu, self.n_rows)
        if not mu or not found:
            return None
        found = replace(
            found,
            lambda_min=max(found.lambda_min, _with_ridge(basis, columns, flat, mu)),
            lambda_max=min(found.lambda_max, max(1.0, float(columns.scales.max()) ** 2)),
        )
        if self.target.hinge:
            kept = max(_hinge_kept(basis, columns, flat, mu), hinge_kept(found))
            found = replace(found, hinge_kept=kept)
        return found

    def _quick_basis(self, n_chosen: int) -> Basis | None:
        """Return a basis where it is quick to compute, or proves what nothing else does.

        Products with the rows give a bound with a ridge. λ is zero where fewer columns are chosen
        than there are directions, unless these are fewer than rows and columns.
        """
        if isinstance(self.X, RowBlocks):
            return None
        n_directions = min(self.X.shape)
        quick = n_directions <= _memory.MAX_QUICK_GRAM or n_chosen >= n_directions
        return self._basis if quick and n_directions <= _memory.MAX_GRAM else None

    @cached_property
    def _basis(self) -> Basis:
        return exact_basis(self.X)
