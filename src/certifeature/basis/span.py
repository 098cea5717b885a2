"""Bases of rows in memory, in blocks and on a cluster."""

from __future__ import annotations

from copy import copy, deepcopy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import svds

from certifeature import _resources as _memory
from certifeature._validation import as_count
from certifeature.basis.basis import (
    Basis,
    condensed_rows,
    implicit_row_space,
    row_space,
    scaled_row_space,
)
from certifeature.basis.leading import leading_basis
from certifeature.rows.blocks import Block, RowBlocks, stacked
from certifeature.rows.matrix import TOO_LARGE, normalised, refusing_overflow, stored_bytes
from certifeature.rows.rows import Rows

__all__ = [
    "BasisFacts",
    "RowSummary",
    "Sketch",
    "check_n_components",
    "empty_digest",
    "exact_basis",
    "gaussian_rows",
    "leading_span",
    "sketched_basis",
    "span",
    "truncated_basis",
]


FloatArray = NDArray[np.float64]

# Rows that share one random stream, so that a sketch does not depend on how the rows are cut.
_STREAM_ROWS = 256
# Random numbers that are drawn at a time.
_NUMBERS_AT_ONCE = 2**21
# Columns whose sums stay in the cache.
_COLUMNS_AT_ONCE = 2**14
_SMALLEST, _LARGEST = 1e-50, 1e50


class Sketch:
    """GX, with G a Gaussian matrix whose columns depend on the seed and the number of a row only.

    Parameters
    ----------
    n_features, n_components : int
        Columns of X, and rows of G.
    seed : int
        Seed of G.
    """

    def __init__(self, n_features: int, n_components: int, seed: int) -> None:
        self.n_rows = 0
        self._seed = seed
        # Transposed, since products of sparse matrices come with their long side first.
        self._values = np.zeros((n_features, check_n_components(n_components)))

    def add(self, X: Any, first_row: int) -> None:
        """Add rows.

        Parameters
        ----------
        X : ndarray or CSR array of shape (n_samples, n_features)
            Finite.
        first_row : int
            Place of the first of them among all rows.
        """
        n_components = self._values.shape[1]
        n_streams = max(1, _NUMBERS_AT_ONCE // (n_components * _STREAM_ROWS))
        for start in range(0, X.shape[0], n_streams * _STREAM_ROWS):
            part = X[start : start + n_streams * _STREAM_ROWS]
            gaussian = gaussian_rows(first_row + start, part.shape[0], n_components, self._seed)
            with refusing_overflow():
                if sparse.issparse(part):
                    self._add_sparse(part.T.tocsr(), gaussian)
                else:
                    self._values += part.T @ gaussian
        self.n_rows += X.shape[0]

    def _add_sparse(self, columns: Any, gaussian: FloatArray) -> None:
        """Add products with columns, a few of these at a time, and not with empty ones."""
        for start in range(0, columns.shape[0], _COLUMNS_AT_ONCE):
            some = columns[start : start + _COLUMNS_AT_ONCE]
            used = np.flatnonzero(np.diff(some.indptr))
            if 2 * len(used) > some.shape[0]:
                self._values[start : start + some.shape[0]] += some @ gaussian
            elif len(used):
                self._values[start + used] += some[used] @ gaussian

    def merged(self, other: Sketch) -> Sketch:
        """Return the sketch of both sets of rows; neither is changed."""
        both = copy(self)
        with refusing_overflow():
            both._values = self._values + other._values
        both.n_rows = self.n_rows + other.n_rows
        return both

    def __sizeof__(self) -> int:
        return self._values.nbytes

    def basis(self, exponent: int = 0) -> Basis:
        """Return the span of the combinations, of rows that were scaled down by 2**exponent."""
        rows, own = self._values.T, 0
        largest = max(rows.max(), -rows.min())
        if not np.isfinite(largest):
            # Products with sparse rows overflow without a word.
            raise ValueError(TOO_LARGE)
        # Squares of other values are out of range, or there is nothing but zeros. A copy costs.
        if not _SMALLEST < largest < _LARGEST:
            rows, own = normalised(rows)
        make = implicit_row_space if rows.size > _memory.MAX_VECTORS else row_space
        return Basis.of_combinations(make(rows), rows.shape[0], own + exponent)


def gaussian_rows(first: int, n_rows: int, n_components: int, seed: int) -> FloatArray:
    """Return the rows of Gᵀ that belong to rows of X."""
    streams = range(first // _STREAM_ROWS, -(-(first + n_rows) // _STREAM_ROWS))
    gaussian = np.vstack(
        [
            np.random.default_rng([seed, stream]).standard_normal((_STREAM_ROWS, n_components))
            for stream in streams
        ]
    )
    offset = first - streams.start * _STREAM_ROWS
    return gaussian[offset : offset + n_rows]


def check_n_components(n_components: int) -> int:
    """Return a number of directions as an int."""
    return as_count("n_components", n_components)


class RowSummary:
    """What a basis of the rows can be made of, whatever their number.

    Of few features there is a factor with the same row space, of twice as many rows at most. Of
    many features there is a sketch, and the rows themselves while they are few.

    Parameters
    ----------
    n_features : int
        Columns of the rows.
    n_combinations : int
        Rows of the sketch.
    seed : int
        Of the sketch.
    max_features, max_rows : int
        Up to where there is a factor, and up to where the rows are kept.
    may_sketch : bool, default=True
        Whether a sketch will do.
    """

    def __init__(
        self,
        n_features: int,
        n_combinations: int,
        seed: int,
        *,
        max_features: int,
        max_rows: int,
        may_sketch: bool = True,
    ) -> None:
        self.n_rows = 0
        self._n_features = n_features
        self._n_combinations = n_combinations
        self._seed = seed
        self._most_rows = max_rows
        self._may_sketch = may_sketch
        narrow = n_features <= max_features
        self._factor = np.zeros((0, n_features)) if narrow else None
        self._rows: list[Block] = []
        self.sketch: Sketch | None = None

    def taken(self, blocks: RowBlocks) -> RowSummary:
        """Return this digest, which is empty, with all blocks taken in; each is read once."""
        return blocks.accumulate(lambda: deepcopy(self), RowSummary.added)

    def added(self, block: Block) -> RowSummary:
        """Return this digest with a block taken in."""
        self.n_rows += block.X.shape[0]
        if self._factor is not None:
            with refusing_overflow():
                self._factor = condensed_rows(block.X, self._factor)
        elif self.sketch is not None:
            self.sketch.add(block.X, block.first_row)
        else:
            # A copy, since the caller may put other rows into the same array.
            self._rows.append(replace(block, X=block.X.copy()))
            if self.n_rows > self._most_rows:
                self.sketch, self._rows = self._sketched(), []
        return self

    def merged(self, other: RowSummary) -> RowSummary:
        """Return the digest of these rows and the others after them; neither is changed."""
        both = copy(self)
        both.n_rows = self.n_rows + other.n_rows
        if self._factor is not None and other._factor is not None:
            with refusing_overflow():
                both._factor = condensed_rows(other._factor, self._factor)
        elif self.sketch is None and other.sketch is None and both.n_rows <= self._most_rows:
            both._rows = self._rows + other._rows
        else:
            both.sketch, both._rows = self._sketched().merged(other._sketched()), []
        return both

    def __sizeof__(self) -> int:
        kept = [block.X for block in self._rows]
        if self._factor is not None:
            kept.append(self._factor)
        in_sketch = 0 if self.sketch is None else self.sketch.__sizeof__()
        return in_sketch + sum(map(stored_bytes, kept))

    def matrix(self) -> Any:
        """Return few rows with the row space and the inner products of columns of all.

        There are none once the rows were sketched.
        """
        if self._factor is not None:
            return self._factor
        return stacked([block.X for block in self._rows])

    def _sketched(self) -> Sketch:
        """Return the sketch of the rows, made of the rows themselves if there is none yet."""
        if self.sketch is not None:
            return self.sketch
        if not self._may_sketch:
            raise ValueError(
                f"an exact or truncated basis of more than {self._most_rows} rows with "
                f"{self._n_features} features needs them all in memory, and they come in blocks; "
                "use basis='sketch' or 'auto'."
            )
        sketch = Sketch(self._n_features, self._n_combinations, self._seed)
        for block in self._rows:
            sketch.add(block.X, block.first_row)
        return sketch


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
    rows: Rows | RowSummary, kind: str, n_components: int | None, seed: int
) -> tuple[Basis, BasisFacts]:
    """Return the widest basis that a kind calls for, and what "auto" stands for.

    A truncated basis is left whole where that is feasible, so that the selection can be measured
    against all that the rows span.

    Parameters
    ----------
    rows : Rows or RowSummary
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
    if isinstance(rows, RowSummary) and rows.sketch is not None:
        basis, kind = rows.sketch.basis(), "sketch"
    else:
        matrix = rows.matrix() if isinstance(rows, RowSummary) else rows.weighted()
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


def empty_digest(n_features: int, kind: str, n_components: int | None, seed: int) -> RowSummary:
    """Return what takes in rows in blocks, enough of them for a basis of this kind."""
    n_combinations = n_components or _DEFAULT_SKETCH
    if kind == "sketch":
        return RowSummary(n_features, n_combinations, seed, max_features=0, max_rows=n_combinations)
    return RowSummary(
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
    return Basis.of_rows(space if space.whole else scaled_row_space(rows), exponent)


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
