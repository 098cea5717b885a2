"""Bases that call themselves exact."""

import numpy as np

from certifeature.basis import exact_basis
from soak.data import draw_case, in_other_clothes
from soak.digits import backward, cholesky, exact, forward, roots
from soak.spectra import singular_values
from soak.verdict import Violation

_ORTHONORMAL = 1e-8
# Of a column; what is lost beyond it is a direction, not rounding.
_UNAVOIDABLE = 1e-13
_LARGEST_LOSS = 1e-6
# Singular values of columns of norm 1: above, a direction for certain.
_CERTAIN = 1e-10


def bases_span_the_rows(rng):
    """V is orthonormal, and an exact one spans every column of X, however small beside others."""
    case = draw_case(rng, (1, 10), (1, 10))
    X = in_other_clothes(rng, case.X)
    basis = exact_basis(X)
    rows = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=float)
    V = np.asarray(basis.vectors)
    defect = np.abs(V.T @ V - np.eye(V.shape[1])).max()
    if defect > _ORTHONORMAL:
        raise Violation(f"VᵀV is off by {defect:.1e}")
    if not basis.exact:
        return
    loss = _largest_loss(rows, V)
    if loss > _LARGEST_LOSS:
        raise Violation(f"exact, but {float(loss):.1e} of a column lies outside the span")
    n_certain = sum(value > _CERTAIN for value in singular_values(_with_unit_columns(rows)))
    if basis.rank < n_certain:
        raise Violation(f"exact with rank {basis.rank}, but the rank is at least {n_certain}")


def _largest_loss(X, V):
    """Return the largest norm of a column outside the span of V, as a share of that column of X.

    The entries of V have as many digits as others, so beside a column that is 10¹⁶ times as large
    no column can be held; that much is not counted. Whether its direction is there, the rank tells.
    """
    X, V = exact(X), exact(V)
    # V is orthonormal to working accuracy only, its span is what it is.
    factor = cholesky(V.T @ V)
    rest = X - backward(factor, forward(factor, (X @ V).T)).T @ V.T
    lost, there_is = (roots((matrix * matrix).sum(axis=0)) for matrix in (rest, X))
    unavoidable = _UNAVOIDABLE * max(there_is)
    pairs = zip(lost, there_is, strict=True)
    return max((a / b for a, b in pairs if a > unavoidable), default=0)


def _with_unit_columns(X):
    X = X[:, X.any(axis=0)]
    # In two steps, since squares of huge or tiny values leave the range.
    X = X / np.abs(X).max(axis=0)
    return X / np.linalg.norm(X, axis=0)
