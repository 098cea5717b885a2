"""Bases of the rows of X: exact, truncated, from a sketch."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse.linalg import svds

from certifeature.basis.basis import Basis
from certifeature.basis.row_space import condensed_rows, implicit_row_space, row_space
from certifeature.basis.sketch import MAX_VALUES, Sketch, check_n_components, gaussian_rows
from certifeature.basis.uneven import uneven_row_space
from certifeature.rows.matrix import normalised

__all__ = ["exact_basis", "sketched_basis", "truncated_basis"]

# Above this many rows and columns a full eigendecomposition gives way to Lanczos iteration.
_LARGEST_GRAM = 4096
# Above this many values, two gigabytes, a tall matrix is condensed first.
_MAX_TALL_VALUES = 2**28


def exact_basis(X: Any) -> Basis:
    """Return the right singular vectors of X that belong to non-zero singular values.

    A direction counts if more than the last digits of some column of X depend on it. The sizes of
    the columns do not matter, so a column of dates does not hide the others.

    Parameters
    ----------
    X : {array-like, sparse array or matrix} of shape (n_samples, n_features)
        Finite, not all zero.

    Returns
    -------
    Basis
        With as many components as X has rank. It is ``exact``, unless X is so large that V is made
        row by row and has directions that cannot be told from rounding that way.

    Examples
    --------
    >>> import numpy as np
    >>> from certifeature.basis import exact_basis
    >>> basis = exact_basis([[3.0, 0.0, 0.0], [0.0, 0.0, 2.0], [3.0, 0.0, 2.0]])
    >>> basis.rank, basis.exact
    (2, True)
    >>> bool(np.allclose(basis.vectors.T @ basis.vectors, np.eye(2)))
    True
    """
    rows, exponent = normalised(X)
    if rows.shape[0] > 2 * rows.shape[1] and rows.shape[0] * rows.shape[1] > _MAX_TALL_VALUES:
        # Slower, but nothing as large as the rows has to be dense.
        rows = condensed_rows(rows)
    if _is_large(rows, min(rows.shape)):
        return Basis.of_rows(implicit_row_space(rows), exponent)
    space = row_space(rows)
    return Basis.of_rows(space if space.whole else uneven_row_space(rows), exponent)


def truncated_basis(X: Any, n_components: int) -> Basis:
    """Return the right singular vectors of X with the largest singular values.

    Parameters
    ----------
    X : {array-like, sparse array or matrix} of shape (n_samples, n_features)
        Finite, not all zero.
    n_components : int
        Number of directions to keep. From the rank of X on, nothing is cut and the basis is exact.

    Returns
    -------
    Basis
        What it leaves out is the least that any basis of this size can leave out.

    Examples
    --------
    >>> from certifeature.basis import truncated_basis
    >>> basis = truncated_basis([[3.0, 0.0, 0.0], [0.0, 0.0, 2.0]], 1)
    >>> basis.vectors.shape, basis.rank, basis.exact
    ((3, 1), 2, False)
    """
    n_components = check_n_components(n_components)
    rows, exponent = normalised(X)
    fewest = min(rows.shape)
    if n_components < fewest and (fewest > _LARGEST_GRAM or _is_large(rows, fewest)):
        # Lanczos needs a start; a fixed one keeps the result a function of X alone.
        start = np.random.default_rng(0).standard_normal(fewest)
        left, _, _ = svds(rows, k=n_components, v0=start, solver="arpack")
        if _is_large(rows, n_components):
            return Basis.of_combinations(implicit_row_space(rows, left), n_components, exponent)
        return Basis.of_combinations(row_space((rows.T @ left).T), n_components, exponent)
    return exact_basis(X).truncated(n_components)


def sketched_basis(X: Any, n_components: int, *, random_state: int = 0) -> Basis:
    """Return the row space of GX, with G a Gaussian matrix of ``n_components`` rows.

    The entries of G that belong to a row of X depend on the seed and on the number of that row
    only.

    Parameters
    ----------
    X : {array-like, sparse array or matrix} of shape (n_samples, n_features)
        Finite, not all zero.
    n_components : int
        Number t of rows of G. From the number of rows of X on, a sketch would save nothing and the
        exact basis is returned.
    random_state : int, default=0
        Seed of G.

    Returns
    -------
    Basis
        With at most ``n_components`` directions.

    References
    ----------
    Algorithm 2 of Paul, Magdon-Ismail and Drineas, *Feature Selection for Linear SVM with Provable
    Guarantees*.

    Examples
    --------
    >>> import numpy as np
    >>> from certifeature.basis import sketched_basis
    >>> X = np.random.default_rng(0).standard_normal((50, 200))
    >>> basis = sketched_basis(X, 8, random_state=1)
    >>> basis.vectors.shape, basis.rank, basis.exact
    ((200, 8), None, False)
    """
    n_components = check_n_components(n_components)
    rows, exponent = normalised(X)
    if n_components >= rows.shape[0]:
        return exact_basis(X)
    if _is_large(rows, n_components):
        gaussian = gaussian_rows(0, rows.shape[0], n_components, random_state)
        return Basis.of_combinations(implicit_row_space(rows, gaussian), n_components, exponent)
    sketch = Sketch(rows.shape[1], n_components, random_state)
    sketch.add(rows, 0)
    return sketch.basis(exponent)


def _is_large(rows: Any, n_components: int) -> bool:
    """Tell whether V is large, and its coefficients smaller than V."""
    n_rows, n_features = rows.shape
    return bool(n_rows < n_features and n_features * n_components > MAX_VALUES)
