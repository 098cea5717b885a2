"""Bases of rows, wherever the rows are: exact, truncated, from a sketch."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse.linalg import svds

from certifeature import _memory
from certifeature.basis.basis import Basis
from certifeature.basis.digest import Digest
from certifeature.basis.leading import leading_basis
from certifeature.basis.row_space import condensed_rows, implicit_row_space, row_space
from certifeature.basis.sketch import Sketch, check_n_components, gaussian_rows
from certifeature.basis.uneven import uneven_row_space
from certifeature.rows.matrix import normalised
from certifeature.rows.rows import Rows

__all__ = [
    "BasisFacts",
    "empty_digest",
    "exact_basis",
    "leading_span",
    "sketched_basis",
    "span",
    "truncated_basis",
]

_DEFAULT_SKETCH = 256


@dataclass(frozen=True)
class BasisFacts:
    """What the basis of a fitted selector was.

    Attributes
    ----------
    kind : {"exact", "truncated", "sketch"}
        How it was computed.
    n_rows : int
        Number of rows that it stands for.
    n_components : int
        Number of its directions.
    rank : int or None
        Rank of the rows, None where it was not computed.
    exact : bool
        Whether it spans all that the rows span, so that the guarantees hold for these rows.
    """

    kind: str
    n_rows: int
    n_components: int
    rank: int | None
    exact: bool

    def cut_to(self, basis: Basis) -> BasisFacts:
        """Return the facts of what features were chosen for in the end.

        Parameters
        ----------
        basis : Basis
            Directions that were covered.
        """
        kind = self.kind
        if kind == "exact" and basis.n_components < self.n_components:
            kind = "truncated"
        return replace(self, kind=kind, n_components=basis.n_components, exact=basis.exact)


def leading_span(
    rows: Rows, kind: str, n_components: int | None, n_leading: int
) -> tuple[Basis, BasisFacts] | None:
    """Return so many leading directions of rows in memory, where "auto" may leave it at these.

    None where all directions are found as quickly, or the leading ones cannot be told from the
    others.

    Parameters
    ----------
    rows : Rows
        In memory.
    kind, n_components
        As for `span`.
    n_leading : int
        Number of leading directions.
    """
    if kind != "auto" or n_components is not None:
        return None
    matrix = rows.weighted()
    # Less than half of the directions are quicker found by themselves.
    if min(matrix.shape) <= max(_memory.MAX_QUICK_GRAM, 2 * n_leading):
        return None
    leading = leading_basis(matrix, n_leading)
    if leading is None:
        return None
    return leading, BasisFacts("truncated", rows.n_rows, n_leading, None, False)


def span(
    rows: Rows | Digest, kind: str, n_components: int | None, seed: int
) -> tuple[Basis, BasisFacts]:
    """Return the widest basis that a kind calls for, and what "auto" stands for.

    A truncated basis is left whole where that is feasible, so that the selection can be measured
    against all that the rows span.

    Parameters
    ----------
    rows : Rows or Digest
        In memory, in blocks, or what was kept of rows that are gone.
    kind : {"auto", "exact", "truncated", "sketch"}
        How the basis is found.
    n_components : int or None
        Number of directions of a truncated or sketched one.
    seed : int
        Of a sketch.
    """
    if isinstance(rows, Rows) and rows.in_blocks:
        rows = empty_digest(rows.n_features, kind, n_components, seed).taken(rows.X)
    n_rows = rows.n_rows
    if isinstance(rows, Digest) and rows.sketch is not None:
        basis, kind = rows.sketch.basis(), "sketch"
    else:
        matrix = rows.matrix() if isinstance(rows, Digest) else rows.weighted()
        fewest = min(matrix.shape)
        n_values = fewest * matrix.shape[1]
        if kind == "auto":
            fits = fewest <= _memory.MAX_GRAM_UNASKED and n_values <= _memory.MAX_ARRAY
            kind = "sketch" if not fits else "exact" if n_components is None else "truncated"
        if kind == "sketch":
            basis = sketched_basis(matrix, n_components or _DEFAULT_SKETCH, random_state=seed)
        elif (
            kind == "truncated"
            and n_components is not None
            and (fewest > _memory.MAX_GRAM or n_values > _memory.MAX_ARRAY)
        ):
            basis = truncated_basis(matrix, n_components)
        else:
            basis = exact_basis(matrix)
    return basis, BasisFacts(kind, n_rows, basis.n_components, basis.rank, basis.exact)


def empty_digest(n_features: int, kind: str, n_components: int | None, seed: int) -> Digest:
    """Return what takes in rows in blocks, enough of them for a basis of this kind."""
    n_combinations = n_components or _DEFAULT_SKETCH
    if kind == "sketch":
        return Digest(n_features, n_combinations, seed, max_features=0, max_rows=n_combinations)
    return Digest(
        n_features,
        n_combinations,
        seed,
        max_features=_memory.MAX_GRAM_UNASKED,
        max_rows=_memory.MAX_GRAM_UNASKED,
        may_sketch=kind == "auto",
    )


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
    if rows.shape[0] > 2 * rows.shape[1] and rows.shape[0] * rows.shape[1] > _memory.MAX_ARRAY:
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
    if n_components < fewest and (fewest > _memory.MAX_GRAM or _is_large(rows, fewest)):
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
    return bool(n_rows < n_features and n_features * n_components > _memory.MAX_VECTORS)
