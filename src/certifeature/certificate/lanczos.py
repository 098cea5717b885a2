"""The bound with a ridge, of rows with too many directions for a basis.

Nothing is needed of the rows X but products with them. Let X̃ be the chosen and scaled columns, and
K̃ = X̃X̃ᵀ. Of rows in memory, the bound is the largest eigenvalue of GᵀH(K + μI)HG with the inverse
H = (K̃ + μI)⁻¹ and G = (X̃, √μI), since GGᵀ = K̃ + μI. The inverse takes a Gram matrix of the chosen
columns only: (K̃ + μI)⁻¹ = (I − X̃(X̃ᵀX̃ + μI)⁻¹X̃ᵀ)/μ. Of rows in blocks such a product would take
four passes; `bound_in_blocks` has one that takes two.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from certifeature._lanczos import FAILURE, LargestEigenvalue, largest_eigenvalue
from certifeature.certificate.certificate import Certificate, Regularised
from certifeature.certificate.measure import hinge_kept, n_kept, without_basis
from certifeature.certificate.passes import STEPS, bound_in_blocks, operator_rounding
from certifeature.rows.blocks import RowBlocks
from certifeature.rows.matrix import fingerprint, scaled_columns
from certifeature.sparsify import Sample
from certifeature.support.loss import Target

__all__ = ["bound_in_memory", "certificate_by_products", "soft_bound"]

FloatArray = NDArray[np.float64]

_EPS = float(np.finfo(np.float64).eps)
# Where a matrix is factorised to be certain: up to so many rows, whose inner products take so many
# multiplications; and by how much a bound is above what was found first.
_MAX_CERTAIN_ROWS, _QUICK_GRAM, _NEARLY = 1500, 1e8, 1.01


def certificate_by_products(
    rows: Any, sample: Sample, kind: str, n_rows: int, target: Target
) -> Certificate:
    """Return the second layer for rows with too many directions for a basis.

    Parameters
    ----------
    rows : ndarray, CSR array or RowBlocks
        Rows.
    sample : Sample
        Chosen columns and their scales.
    kind : {"support", "all"}
        What the rows are.
    n_rows : int
        Their number.
    target : Target
        The model, which may be any.
    """
    n_features = rows.n_features if isinstance(rows, RowBlocks) else rows.shape[1]
    n_fixed, n_trusted = n_kept(sample)
    return Certificate(
        kind,
        n_rows,
        None,
        n_features,
        len(sample.indices),
        True,
        *without_basis(sample, n_features),
        soft_bound(rows, sample, target),
        n_fixed=n_fixed,
        n_trusted=n_trusted,
        model=target.name,
        converged=target.converged,
    )


def soft_bound(rows: Any, sample: Sample, target: Target) -> Regularised | None:
    """Bound the eigenvalues for a model; None if it is none that a ridge serves.

    Parameters
    ----------
    rows : ndarray, CSR array or RowBlocks
        Rows.
    sample : Sample
        Chosen columns and their scales.
    target : Target
        The model.
    """
    if target.mu is None:
        return None
    bound = bound_in_blocks if isinstance(rows, RowBlocks) else bound_in_memory
    found = bound(rows, sample, target.mu)
    return replace(found, hinge_kept=hinge_kept(found)) if target.hinge else found


def bound_in_memory(X: Any, sample: Sample, mu: float) -> Regularised:
    """Bound the generalised eigenvalues of (K̃ + μI, K + μI) of rows in memory.

    Parameters
    ----------
    X : {ndarray, CSR array} of shape (n_samples, n_features)
        Rows.
    sample : Sample
        Chosen columns and their scales.
    mu : float
        The ridge μ.
    """
    largest = max(1.0, float(sample.weights.max()) ** 2)
    if len(sample.indices) == X.shape[1] and (sample.weights == 1).all():
        return Regularised(float(mu), 1.0, 1.0)
    rows, chosen, ridge = _scaled_down(X, sample, mu)
    if not np.isfinite(ridge):
        # Beside such a ridge the rows are nothing.
        return Regularised(float(mu), 1.0, largest)
    gram = chosen.T @ chosen
    gram = gram.toarray() if sparse.issparse(gram) else gram
    n_chosen = len(gram)
    top = float(np.abs(gram).sum(axis=1).max())
    rounding = operator_rounding(n_chosen + _longest_row(rows), _square_norm(rows), top, ridge)
    # Equal columns of large scales would have no inverse, either.
    if not np.isfinite(rounding) or n_chosen * _EPS * top >= ridge:
        return Regularised(float(mu), 0.0, largest)
    gram[np.diag_indices_from(gram)] += ridge
    inverse, root = np.linalg.inv(gram), np.sqrt(ridge)
    # Products with few vectors are quicker from columns to rows, either way.
    columns = rows.T.tocsr().T if sparse.issparse(rows) else rows

    def solved(V: FloatArray) -> FloatArray:
        """Return μ(K̃ + μI)⁻¹V."""
        return V - chosen @ (inverse @ (chosen.T @ V))

    def operator(V: FloatArray) -> FloatArray:
        V = solved(chosen @ V[:n_chosen] + root * V[n_chosen:]) / ridge
        V = solved(columns @ (rows.T @ V) / ridge + V)
        return np.vstack([chosen.T @ V, root * V])

    identity = f"{fingerprint(rows)} {sample.fingerprint} {ridge!r}"
    size = n_chosen + X.shape[0]
    bounds = largest_eigenvalue(operator, size, STEPS, identity=identity, rounding=rounding)
    growth, probability = bounds.upper, 1 - FAILURE
    if _gram_is_quick(rows):
        certain = _certain_growth(rows, chosen, ridge, bounds)
        if certain is not None:
            growth, probability = certain, 1.0
    return Regularised(float(mu), min(1.0, 1 / growth), largest, probability)


def _gram_is_quick(rows: Any) -> bool:
    """Tell whether inner products of all rows take no longer than what was done already."""
    n_rows, n_columns = rows.shape
    if n_rows > _MAX_CERTAIN_ROWS:
        return False
    counts = np.bincount(rows.indices, minlength=n_columns) if sparse.issparse(rows) else n_rows
    return float(np.sum(np.square(np.broadcast_to(counts, n_columns), dtype=float))) <= _QUICK_GRAM


def _certain_growth(
    rows: Any, chosen: Any, ridge: float, bounds: LargestEigenvalue
) -> float | None:
    """Return a ν for which ν(K̃ + μI) − (K + μI) has a Cholesky factor, so that it is definite.

    What rounding can do is taken off its diagonal first.
    """
    products = [part @ part.T for part in (rows, chosen)]
    gram, reduced = (p.toarray() if sparse.issparse(p) else p for p in products)
    for growth in (_NEARLY * max(bounds.found, 1.0), bounds.upper):
        matrix = growth * reduced - gram
        largest = growth * float(np.trace(reduced)) + float(np.trace(gram))
        largest += len(gram) * growth * ridge
        slack = 8 * (len(gram) + _longest_row(rows)) * _EPS * largest
        matrix[np.diag_indices_from(matrix)] += (growth - 1) * ridge - slack
        try:
            np.linalg.cholesky(matrix)
        except np.linalg.LinAlgError:
            continue
        return growth
    return None


def _scaled_down(X: Any, sample: Sample, mu: float) -> tuple[Any, Any, float]:
    """Return rows over a power of 2, the chosen columns of these, and μ to suit."""
    values = X.data if sparse.issparse(X) else X
    exponent = int(np.frexp(np.abs(values).max(initial=0.0))[1])
    values = np.ldexp(values, -exponent)
    rows = values
    if sparse.issparse(X):
        rows = sparse.csr_array((values, X.indices, X.indptr), shape=X.shape)
    with np.errstate(over="ignore", under="ignore"):
        ridge = float(np.ldexp(mu, -2 * exponent))
    return rows, scaled_columns(rows[:, sample.indices], sample.weights), ridge


def _longest_row(X: Any) -> int:
    """Return the number of values in the longest row, which may all be rounded."""
    return int(np.diff(X.indptr).max()) if sparse.issparse(X) else int(X.shape[1])


def _square_norm(X: Any) -> float:
    values = X.data if sparse.issparse(X) else X
    return float(np.sum(values**2))
