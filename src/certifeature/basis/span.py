"""Bases of rows in memory, in blocks and on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy, deepcopy
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, svds
from sklearn.utils import gen_batches

from certifeature import _utils as _memory
from certifeature._progress import phase
from certifeature._utils import FloatArray, as_count
from certifeature.basis.basis import (
    FAILURE,
    Basis,
    ImplicitVectors,
    Outside,
    Vectors,
    condensed_rows,
    implicit_row_space,
    row_blocks,
    row_space,
    scaled_row_space,
    squared_norms,
    turned,
    without,
)
from certifeature.rows.blocks import Block, RowBlocks, stacked
from certifeature.rows.matrix import (
    TOO_LARGE,
    finite_rows,
    normalised,
    ranks,
    refusing_overflow,
    row_norms,
    scaled_back,
    stored_bytes,
    stored_values,
    transposed,
)
from certifeature.rows.rows import Rows

_WIDTH = 4
# Hashed with what identifies an operator, so that no operator can be built against its own start.
_KEY = b"certifeature: start of Lanczos"
# Share of a vector that is no more than rounding error.
_NEGLIGIBLE = 1e-10


def largest_eigenvalue(
    operator: Callable[[FloatArray], FloatArray],
    size: int,
    n_steps: int,
    *,
    identity: str,
    zeros: Sequence[int] | NDArray[np.intp] = (),
    rounding: float = 0.0,
) -> float:
    """Return an upper bound of the largest eigenvalue that fails with a chance of 1 in 100.

    The start is drawn from a hash of the operator: it is the same for the same operator, and no
    operator can be chosen to suit it.

    Parameters
    ----------
    operator : callable
        The images of columns under a positive semidefinite matrix.
    size : int
        Length of the columns.
    n_steps : int
        How often it is called. For columns of length 2,000 the bounds are 5 parts in 100 apart
        after 12 calls, and 3 after 16.
    identity : str
        A digest of all that the operator depends on.
    zeros : sequence of int, default=()
        Places where all columns and images are zero.
    rounding : float, default=0.0
        By how much the images of unit vectors may be wrong.
    """
    seed = int.from_bytes(blake2b(identity.encode(), key=_KEY, digest_size=16).digest())
    start = np.random.default_rng(seed).standard_normal((size, _WIDTH))
    start[np.asarray(zeros, dtype=np.intp)] = 0.0
    found = _largest_ritz_value(operator, start, n_steps)
    upper = (found + rounding) / (1 - _largest_shortfall(size - len(zeros), n_steps))
    return float(upper)


def _largest_ritz_value(
    operator: Callable[[FloatArray], FloatArray], start: FloatArray, n_steps: int
) -> float:
    """Return the largest eigenvalue on the Krylov space of a start."""
    newest = np.linalg.qr(start)[0]
    with phase("Lanczos steps", n_steps) as advance:
        basis, images = newest, operator(newest)
        advance()
        for _ in range(n_steps - 1):
            newest = _orthonormal(images[:, -newest.shape[1] :], basis)
            if not newest.shape[1]:
                break
            basis, images = np.hstack([basis, newest]), np.hstack([images, operator(newest)])
            advance()
    projected = basis.T @ images
    return float(np.linalg.eigvalsh((projected + projected.T) / 2)[-1])


def _orthonormal(vectors: FloatArray, basis: FloatArray) -> FloatArray:
    """Return an orthonormal basis of what vectors have outside another, beyond rounding."""
    rest = without([basis], vectors)
    directions, sizes, _ = np.linalg.svd(rest, full_matrices=False)
    directions = directions[:, sizes > _NEGLIGIBLE * np.linalg.norm(vectors)]
    # Once more, since rounding left a part of the other basis.
    return np.linalg.qr(without([basis], directions))[0]


def _largest_shortfall(dimension: int, n_steps: int) -> float:
    """Return the ε such that a Ritz value is at least (1 − ε) times the truth, but for the chance.

    Let b be the share of the top eigenvector in a unit start vector, and k the steps. If the Ritz
    value is less, then |b| < 1/cosh((2k − 1) artanh √ε), by the Chebyshev polynomial of degree
    2k − 1. For a vector that points anywhere that has a chance of at most √(2·dimension/π) times
    the bound, and several starts have to fail all at once.
    """
    largest_share = min(1.0, FAILURE ** (1 / _WIDTH) / np.sqrt(2 * dimension / np.pi))
    return float(np.tanh(np.arccosh(1 / largest_share) / (2 * n_steps - 1)) ** 2)


# Directions that are weaker, relative to the first, may be rounding errors.
_WEAKEST = 1e-4
# To which rows that point the same way but for rounding do so.
_DIGITS = 9


def leading_basis(X: Any, n_components: int) -> Basis | None:
    """Return about the leading singular directions, and what is left outside.

    One step of subspace iteration from a random start finds directions with nearly all that the
    leading singular vectors have, in four products with the data.

    Parameters
    ----------
    X : {ndarray, CSR array} of shape (n_samples, n_features)
        Finite, not all zero.
    n_components : int
        Number of directions, fewer than rows and columns.

    Returns
    -------
    Basis or None
        None if the last of them are so weak, relative to the first, that they may be rounding.

    References
    ----------
    N. Halko, P. G. Martinsson and J. A. Tropp, "Finding structure with randomness: probabilistic
    algorithms for constructing approximate matrix decompositions", SIAM Review 53, 2011.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).standard_normal((50, 200))
    >>> basis = leading_basis(X, 8)
    >>> basis.vectors.shape, basis.exact
    ((200, 8), False)
    """
    rows, exponent = normalised(X)
    # Sparse columns whose products with many vectors are quick.
    columns = transposed(rows)
    places, lengths = _places(rows)
    n_distinct = int(places.max()) + 1
    numbers = np.random.default_rng(0).standard_normal((n_distinct, n_components))
    left = np.linalg.qr(_image(columns, lengths[:, None] * numbers[places])[0])[0]
    images, along, own = _image(columns, left)
    inner = left.T @ images
    squares, turn = np.linalg.eigh((inner + inner.T) / 2)
    squares, turn = squares[::-1], turn[:, ::-1]
    if not squares[-1] > _WEAKEST**2 * squares[0]:
        return None
    values, total = np.sqrt(squares), row_norms(columns) ** 2
    n_others = max(1, min(n_distinct, rows.shape[1]) - n_components)
    typical = min(np.sqrt(max(float(total.sum() - squares.sum()), 0.0) / n_others), values[-1])
    outside = Outside(
        scaled_back(np.full(n_others, typical), exponent),
        np.divide(own, total, out=np.zeros_like(own), where=total > 0),
        columns,
    )
    vectors = turned(along, turn / values)
    return Basis(vectors, scaled_back(values, exponent), None, False, None, outside)


def _places(rows: Any) -> tuple[NDArray[np.intp], FloatArray]:
    """Return a number for where each row points, whatever the order of rows and columns; and norms.

    Two rows are told apart by their products with the sum of all columns, with s = Σ‖x‖x, and with
    the image of s under XᵀX. So a row of norm √2 counts like two equal ones of norm 1.
    """
    n_features = rows.shape[1]
    lengths = row_norms(rows)
    energy = float(lengths @ lengths)
    total = rows.T @ lengths / energy
    spread = np.column_stack([np.full(n_features, n_features**-0.5), total])
    products = np.column_stack([rows @ spread, rows @ (rows.T @ (rows @ total)) / energy])
    keys = np.round(products / np.where(lengths > 0, lengths, 1.0)[:, None], _DIGITS)
    return ranks(*keys.T[::-1]), lengths


def _image(columns: Any, combinations: FloatArray) -> tuple[FloatArray, Vectors, FloatArray]:
    """Return XXᵀG, XᵀG and its squared row norms, for combinations G of the rows.

    XᵀG is implicit if it is large.
    """
    if columns.shape[0] * combinations.shape[1] <= _memory.MAX_VECTORS:
        along = columns @ combinations
        return columns.T @ along, along, squared_norms(along)
    implicit, image = ImplicitVectors(columns, combinations), np.zeros_like(combinations)
    norms = np.empty(columns.shape[0])
    for some, part in row_blocks(implicit):
        image += columns[some].T @ part
        norms[some] = squared_norms(part)
    return image, implicit, norms


# Rows that share one random stream, so that a sketch does not depend on how the rows are cut.
_STREAM_ROWS = 256
# Random numbers that are drawn at a time.
_NUMBERS_AT_ONCE = 2**21
# Columns whose sums stay in the cache.
_COLUMNS_AT_ONCE = 2**14
_SMALLEST, _LARGEST = 1e-50, 1e50
_DEFAULT_SKETCH = 256


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
        self._seed = seed
        # Transposed, since products of sparse matrices come with their long side first.
        self._values = np.zeros((n_features, as_count("n_components", n_components)))

    def add(self, X: Any, first_row: int) -> None:
        """Add rows.

        Parameters
        ----------
        X : ndarray or CSR array of shape (n_samples, n_features)
            Finite.
        first_row : int
            Place of the first of them among all rows.
        """
        n_features, n_components = self._values.shape
        n_streams = max(1, _NUMBERS_AT_ONCE // (n_components * _STREAM_ROWS))
        for some in gen_batches(X.shape[0], n_streams * _STREAM_ROWS):
            columns = transposed(X[some])
            used = np.arange(n_features)
            if sparse.issparse(X):
                # Short rows leave most columns empty.
                used = np.flatnonzero(np.diff(columns.indptr))
                columns = columns if len(used) == n_features else columns[used]
            gaussian = gaussian_rows(
                first_row + some.start, columns.shape[1], n_components, self._seed
            )
            with refusing_overflow():
                for part in gen_batches(len(used), _COLUMNS_AT_ONCE):
                    self._values[used[part]] += columns[part] @ gaussian

    def merged(self, other: Sketch) -> Sketch:
        """Return the sketch of both sets of rows; neither is changed."""
        both = copy(self)
        with refusing_overflow():
            both._values = self._values + other._values
        return both

    def __sizeof__(self) -> int:
        return self._values.nbytes

    def basis(self, exponent: int = 0) -> Basis:
        """Return the span of the combinations, of rows that were scaled down by 2**exponent."""
        rows, own = self._values.T, 0
        largest = max(rows.max(), -rows.min())
        if not np.isfinite(largest):
            # Products with sparse rows overflow without a warning.
            raise ValueError(TOO_LARGE)
        # Squares of other values are out of range, or there is nothing but zeros. A copy costs.
        if not _SMALLEST < largest < _LARGEST:
            rows, own = normalised(rows)
        make = implicit_row_space if rows.size > _memory.MAX_VECTORS else row_space
        return make(rows).at_scale(own + exponent, rows.shape[0])


def gaussian_rows(first: int, n_rows: int, n_components: int, seed: int) -> FloatArray:
    """Return the rows of Gᵀ that belong to rows of X."""
    streams = range(first // _STREAM_ROWS, -(-(first + n_rows) // _STREAM_ROWS))
    shape, offset = (_STREAM_ROWS, n_components), first - streams.start * _STREAM_ROWS
    parts = [np.random.default_rng([seed, stream]).standard_normal(shape) for stream in streams]
    return np.vstack(parts)[offset : offset + n_rows]


@dataclass(eq=False)
class RowSummary:
    """A summary of rows in blocks from which a basis can be computed.

    For few features it is a factor with the same row space, of at most twice as many rows as
    features. For many features it is a sketch, or the rows themselves while they are few.

    Parameters
    ----------
    n_features : int
        Columns of the rows.
    n_combinations : int
        Rows of the sketch.
    seed : int
        Seed of the sketch.
    max_features, max_rows : int
        Up to where there is a factor, and up to where the rows are kept.
    may_sketch : bool, default=True
        Whether a sketch will do.
    """

    n_features: int
    n_combinations: int
    seed: int
    max_features: int
    max_rows: int
    may_sketch: bool = True

    def __post_init__(self) -> None:
        self.n_rows = 0
        self._rows: list[Block] = []
        self.sketch: Sketch | None = None

    @classmethod
    def for_basis(
        cls, n_features: int, kind: str, n_components: int | None, seed: int
    ) -> RowSummary:
        """Return an empty summary from which a basis of this kind can be computed."""
        n_combinations = n_components or _DEFAULT_SKETCH
        if kind == "sketch":
            return cls(n_features, n_combinations, seed, 0, n_combinations)
        most = _memory.MAX_GRAM_UNASKED
        return cls(n_features, n_combinations, seed, most, most, may_sketch=kind == "auto")

    def taken(self, blocks: RowBlocks) -> RowSummary:
        """Return a summary of all blocks, each of which is read once."""
        return blocks.accumulate(lambda: deepcopy(self), RowSummary.added)

    def added(self, block: Block) -> RowSummary:
        """Add a block, and return the summary."""
        self.n_rows += block.X.shape[0]
        if self.sketch is not None:
            self.sketch.add(block.X, block.first_row)
        else:
            # A copy, since the caller may put other rows into the same array.
            self._rows.append(replace(block, X=block.X.copy()))
            self._shorten()
        return self

    def _shorten(self) -> None:
        """Put a factor in the place of rows, or their sketch if there are too many."""
        if self.n_features <= self.max_features:
            with refusing_overflow():
                self._rows = [Block(condensed_rows(self.matrix()), None, 0)]
        elif self.n_rows > self.max_rows:
            self.sketch, self._rows = self._sketched(), []

    def merged(self, other: RowSummary) -> RowSummary:
        """Return the summary of these rows followed by the others; neither is changed."""
        both = copy(self)
        both.n_rows = self.n_rows + other.n_rows
        if self.sketch is None and other.sketch is None:
            both._rows = self._rows + other._rows
            both._shorten()
        else:
            both.sketch, both._rows = self._sketched().merged(other._sketched()), []
        return both

    def __sizeof__(self) -> int:
        if self.sketch is not None:
            return self.sketch.__sizeof__()
        return sum(stored_bytes(block.X) for block in self._rows)

    def matrix(self) -> Any:
        """Return few rows with the row space and the inner products of columns of all.

        There are none once the rows were sketched.
        """
        return stacked([block.X for block in self._rows])

    def _sketched(self) -> Sketch:
        """Return the sketch of the rows, made of the rows themselves if there is none yet."""
        if self.sketch is not None:
            return self.sketch
        if not self.may_sketch:
            raise ValueError(
                f"an exact or truncated basis of more than {self.max_rows} rows with "
                f"{self.n_features} features needs them all in memory, and they come in blocks; "
                "use basis='sketch' or 'auto'."
            )
        sketch = Sketch(self.n_features, self.n_combinations, self.seed)
        for block in self._rows:
            sketch.add(block.X, block.first_row)
        return sketch


@dataclass(frozen=True)
class BasisFacts:
    """Kind and size of the basis of a fitted selector.

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
    """Return leading directions of rows in memory, if ``kind`` permits and it saves time.

    None is returned where all directions are computed as quickly, or where the leading ones are
    too weak to be separated from rounding errors.

    Parameters
    ----------
    rows : Rows
        Rows in memory.
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
    facts = BasisFacts("truncated", rows.n_rows, n_leading, None, False)
    return None if leading is None else (leading, facts)


def span(rows: Rows, kind: str, n_components: int | None, seed: int) -> tuple[Basis, BasisFacts]:
    """Return the basis of a kind, and its facts.

    A truncated basis is returned whole where that is feasible, so that a choice can be measured on
    all directions.

    Parameters
    ----------
    rows : Rows
        Rows in memory or in blocks.
    kind : {"auto", "exact", "truncated", "sketch"}
        How the basis is found.
    n_components : int or None
        Number of directions of a truncated or sketched one.
    seed : int
        Seed of a sketch.
    """
    empty = RowSummary.for_basis(rows.n_features, kind, n_components, seed)
    summary = empty.taken(rows.X) if rows.in_blocks else None
    n_rows = rows.n_rows if summary is None else summary.n_rows
    if summary is not None and summary.sketch is not None:
        basis, kind = summary.sketch.basis(), "sketch"
    else:
        matrix = rows.weighted() if summary is None else summary.matrix()
        fewest = min(matrix.shape)
        is_huge = fewest * matrix.shape[1] > _memory.MAX_ARRAY
        if kind == "auto":
            fits = fewest <= _memory.MAX_GRAM_UNASKED and not is_huge
            kind = "sketch" if not fits else "exact" if n_components is None else "truncated"
        if kind == "sketch":
            basis = sketched_basis(matrix, n_components or _DEFAULT_SKETCH, random_state=seed)
        elif kind == "truncated" and n_components and (fewest > _memory.MAX_GRAM or is_huge):
            basis = truncated_basis(matrix, n_components)
        else:
            basis = exact_basis(matrix)
    return basis, BasisFacts(kind, n_rows, basis.n_components, basis.rank, basis.exact)


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
        row by row and has directions as small as the rounding errors of that.

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
    n_values = np.count_nonzero(stored_values(rows))
    # Beside huge values others underflow to zero, and nothing is known of their directions.
    lost = exponent > 0 and n_values < np.count_nonzero(stored_values(finite_rows(X)))
    if rows.shape[0] > 2 * rows.shape[1] and rows.shape[0] * rows.shape[1] > _memory.MAX_ARRAY:
        # Slower, but nothing as large as the rows has to be dense.
        rows = condensed_rows(rows)
    if _is_large(rows, min(rows.shape)):
        basis = implicit_row_space(rows)
    else:
        basis = row_space(rows)
        basis = basis if basis.exact else scaled_row_space(rows)
    return replace(basis, exact=basis.exact and not lost).at_scale(exponent)


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
    n_components = as_count("n_components", n_components)
    rows, exponent = normalised(X)
    fewest = min(rows.shape)
    if n_components < fewest and (fewest > _memory.MAX_GRAM or _is_large(rows, fewest)):
        # Lanczos needs a start; a fixed one keeps the result a function of X alone.
        start = np.random.default_rng(0).standard_normal(fewest)
        products = (lambda v: rows @ v), (lambda v: rows.T @ v)
        operator = LinearOperator(rows.shape, *products, dtype=np.float64)
        left, _, _ = svds(operator, k=n_components, v0=start, solver="arpack")
        if _is_large(rows, n_components):
            return implicit_row_space(rows, left).at_scale(exponent, n_components)
        return row_space((rows.T @ left).T).at_scale(exponent, n_components)
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
    n_components = as_count("n_components", n_components)
    rows, exponent = normalised(X)
    if n_components >= rows.shape[0]:
        return exact_basis(X)
    if _is_large(rows, n_components):
        gaussian = gaussian_rows(0, rows.shape[0], n_components, random_state)
        return implicit_row_space(rows, gaussian).at_scale(exponent, n_components)
    sketch = Sketch(rows.shape[1], n_components, random_state)
    sketch.add(rows, 0)
    return sketch.basis(exponent)


def _is_large(rows: Any, n_components: int) -> bool:
    """Tell whether V is large, and its coefficients smaller than V."""
    n_rows, n_features = rows.shape
    return bool(n_rows < n_features and n_features * n_components > _memory.MAX_VECTORS)
