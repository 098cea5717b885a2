"""Dense and sparse matrices: scaling by powers of two, norms of columns, canonical orders."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date, time, timedelta
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import norm as sparse_norm
from sklearn.utils import gen_batches
from sklearn.utils.extmath import row_norms as norms_of_rows

from certifeature import _utils as _memory
from certifeature._utils import TINY, FloatArray, IntArray

# Squares of the values of a column with a smaller norm may underflow to zero.
SMALLEST_NORM = 1e-140
TOO_LARGE = (
    "X has values so large that sums or multiples of them overflow. Scale X first, for instance "
    "with sklearn.preprocessing.MaxAbsScaler."
)


def is_dask(X: Any) -> bool:
    """Tell whether something is a Dask collection, without importing Dask."""
    return hasattr(X, "__dask_graph__")


class Centred:
    """Sparse rows less multiples of one row, S − abᵀ, which is never written out.

    Parameters
    ----------
    stored : sparse array of shape (n_samples, n_features)
        S.
    left, right : ndarray of shape (n_samples,) and (n_features,)
        The multiples a, and the row b: the mean, but for what the columns of S are less already.

    Examples
    --------
    >>> rows = Centred(sparse.csr_array([[2.0, 0.0], [0.0, 0.0]]), np.ones(2), np.array([1.0, 0.0]))
    >>> np.asarray(rows), rows.T @ np.ones(2)
    (array([[ 1.,  0.],
           [-1.,  0.]]), array([0., 0.]))
    """

    __array_ufunc__ = None
    ndim = 2

    def __init__(self, stored: Any, left: NDArray[Any], right: NDArray[Any]) -> None:
        self.stored, self.left, self.right = stored, left, right
        self.shape = stored.shape

    @property
    def T(self) -> Centred:  # noqa: N802
        """The transpose."""
        return Centred(self.stored.T, self.right, self.left)

    def tocsr(self) -> Centred:
        """Return the same with S by rows."""
        return Centred(self.stored.tocsr(), self.left, self.right)

    def copy(self) -> Centred:
        """Return the same with a copy of S."""
        return Centred(self.stored.copy(), self.left, self.right)

    def __getitem__(self, key: Any) -> Centred:
        rows, columns = key if isinstance(key, tuple) else (key, slice(None))
        return Centred(self.stored[rows][:, columns], self.left[rows], self.right[columns])

    def __matmul__(self, other: Any) -> NDArray[Any]:
        if isinstance(other, Centred):
            inner = dense(self.stored @ other.stored) - np.outer(self @ other.left, other.right)
            return inner - np.outer(self.left, other.stored.T @ self.right)
        return np.asarray(self.stored @ other - np.multiply.outer(self.left, self.right @ other))

    def __rmatmul__(self, other: Any) -> NDArray[Any]:
        return np.asarray((self.T @ other.T).T)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.asarray(self.stored.toarray() - np.outer(self.left, self.right), dtype=dtype)


def transposed(X: Any) -> Any:
    """Return Xᵀ, by rows if it is sparse, whose products with many columns are quick."""
    return X.T if isinstance(X, np.ndarray) else X.T.tocsr()


def row_norms(X: Any) -> NDArray[np.float64]:
    """Return the norms of the rows of a dense or sparse array."""
    if not isinstance(X, Centred):
        return np.asarray(norms_of_rows(X))
    stored, left, right = X.stored.tocsr(), X.left, X.right
    rows = np.repeat(np.arange(X.shape[0]), np.diff(stored.indptr))
    # Where nothing is stored there are squares of −ab: all of them, less those where there is.
    shift = left[rows] * right[stored.indices]
    there = np.bincount(rows, (stored.data - shift) ** 2, X.shape[0])
    taken = np.bincount(rows, right[stored.indices] ** 2, X.shape[0])
    return np.sqrt(there + left**2 * np.maximum(np.sum(right**2) - taken, 0.0))


def size_of(X: Any) -> float:
    """Return the norm of all values, or of the parts that are subtracted from each other."""
    size = float(np.linalg.norm(stored_values(X)))
    if isinstance(X, Centred):
        size += float(np.linalg.norm(X.left) * np.linalg.norm(X.right))
    return size


def as_float64(X: Any) -> Any:
    """Return X in float64, as a canonical CSR array if it is sparse, without changing X."""
    if isinstance(X, Centred):
        return X
    if sparse.issparse(X):
        return canonical_csr(sparse.csr_array(X, dtype=np.float64))
    return np.asarray(X, dtype=np.float64)


def finite_rows(X: Any, name: str = "X") -> Any:
    """Return X in float64 as `as_float64` does, or raise if it is no matrix of finite numbers."""
    rows = as_float64(X)
    if rows.ndim != 2:
        raise ValueError(f"{name} must have two dimensions, rows and features; got {rows.ndim}.")
    if not np.isfinite(stored_values(rows)).all():
        raise ValueError(f"{name} contains NaN or infinity; impute or remove those values first.")
    return rows


def dense(X: Any) -> NDArray[Any]:
    """Return a dense or sparse array as a dense one."""
    return np.asarray(X.toarray() if sparse.issparse(X) else X)


def stored_values(X: Any) -> NDArray[Any]:
    """Return the values of a dense array, or those that a sparse array stores."""
    X = X.stored if isinstance(X, Centred) else X
    return np.asarray(X.data if sparse.issparse(X) else X)


def exponent_of(X: Any) -> int:
    """Return the e for which the largest magnitude is in [2^(e − 1), 2^e); 0 for zeros."""
    return int(np.frexp(np.abs(stored_values(X)).max(initial=0.0))[1])


def times_power_of_two(X: Any, exponent: int) -> Any:
    """Return X·2^exponent, dense or CSR; without rounding while values stay in range."""
    if isinstance(X, Centred):
        stored = times_power_of_two(X.stored, exponent)
        return Centred(stored, X.left, np.ldexp(X.right, exponent))
    values = np.ldexp(stored_values(X), exponent)
    if not sparse.issparse(X):
        return values
    return sparse.csr_array((values, X.indices, X.indptr), shape=X.shape)


def normalised(X: Any) -> tuple[Any, int]:
    """Return X·2^-e in float64 with largest magnitude in [1/2, 1), and e.

    Sparse input gives a CSR array, dense input an ndarray. X is not changed.
    """
    rows = finite_rows(X)
    if not stored_values(rows).any():
        raise ValueError(
            f"X of shape {rows.shape} is zero everywhere, so there is nothing to select; "
            "at least one non-zero value is needed."
        )
    exponent = exponent_of(rows)
    return times_power_of_two(rows, -exponent), exponent


@contextmanager
def refusing_overflow() -> Iterator[None]:
    """Turn an overflow into an error that names the remedy."""
    try:
        with np.errstate(over="raise"):
            yield
    except FloatingPointError as error:
        raise ValueError(TOO_LARGE) from error


def scaled_back(values: Any, exponent: int) -> Any:
    """Return values·2^e, which undoes what `normalised` did."""
    with np.errstate(over="ignore"):
        values = np.ldexp(values, exponent)
    if not np.isfinite(values).all():
        raise ValueError(TOO_LARGE)
    return values


def canonical_csr(X: Any) -> Any:
    """Return CSR data without duplicate entries, with the 32-bit indices that LIBSVM wants."""
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    if X.indices.dtype != np.int32 and max(*X.shape, X.nnz) <= np.iinfo(np.int32).max:
        indices, indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
        X = type(X)((X.data, indices, indptr), shape=X.shape)
    return X


def times_gram(rows: Any, columns: Any = None) -> Callable[[NDArray[Any]], NDArray[Any]]:
    """Return the function V ↦ XXᵀV, which never holds as many values as X has columns.

    Parameters
    ----------
    rows : ndarray or CSR array
        X.
    columns : CSR array, default=None
        Xᵀ, if it is known.
    """
    if isinstance(rows, Centred):
        inner = times_gram(rows.stored, columns and columns.stored)
        met = rows.stored @ rows.right
        mixed = met - np.sum(rows.right**2) * rows.left
        return lambda V: inner(V) - np.outer(rows.left, met @ V) - np.outer(mixed, rows.left @ V)
    if not sparse.issparse(rows):
        return lambda V: np.asarray(rows @ (rows.T @ V))
    columns = rows.T.tocsr() if columns is None else columns
    parts = []
    # Products with a few vectors stay in the cache.
    for some in gen_batches(columns.shape[0], max(1, _memory.VECTORS_AT_ONCE // 8)):
        ends = columns.indptr[some.start : some.stop + 1]
        stored = slice(ends[0], ends[-1])
        shape = len(ends) - 1, rows.shape[0]
        part, transposed = sparse.csr_array(shape), sparse.csc_array(shape[::-1])
        for view in (part, transposed):
            # Slices are copies, and so are parts of arrays that a sparse array is made of.
            view.data, view.indices = columns.data[stored], columns.indices[stored]
            view.indptr = ends - ends[0]
        parts.append((part, transposed))

    def product(V: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(sum(transposed @ (part @ V) for part, transposed in parts))

    return product


def near_origin(rows: Any) -> Any:
    """Return rows less a point among them, in columns that are not zero in half of sparse rows.

    A column of huge values that hardly differ, or not at all, then does not drown the others.
    Columns with many zeros are near the origin as they are. Every difference is rounded once,
    relative to itself.
    """
    if isinstance(rows, Centred):
        return near_origin(rows.stored)
    if not rows.shape[0]:
        return rows
    with refusing_overflow():
        if not sparse.issparse(rows):
            return rows - (rows[0] + (rows - rows[0]).mean(axis=0))
        counts = np.bincount(rows.indices, minlength=rows.shape[1])
        columns = np.flatnonzero(2 * counts > rows.shape[0])
        return with_dense_columns(rows, columns, near_origin(rows[:, columns].toarray()))


def with_dense_columns(rows: Any, columns: NDArray[np.intp], values: NDArray[Any]) -> Any:
    """Return sparse rows with other values in some columns."""
    if not columns.size:
        return rows
    kept = sparse.csr_array(rows, copy=True)
    kept.data[np.isin(kept.indices, columns)] = 0.0
    kept.eliminate_zeros()
    return canonical_csr(kept + original_columns(sparse.csr_array(values), columns, rows.shape[1]))


def column_norms(X: Any) -> NDArray[np.float64]:
    """Return the norms of the columns of a dense or CSR array; no square leaves the range."""

    def norms_of(X: Any) -> NDArray[np.float64]:
        if isinstance(X, Centred):
            return row_norms(X.T)
        return np.asarray((sparse_norm if sparse.issparse(X) else np.linalg.norm)(X, axis=0))

    with np.errstate(over="ignore", under="ignore"):
        norms = norms_of(X)
    values = abs(X.stored if isinstance(X, Centred) else X)
    largest = dense(values.max(axis=0)).ravel() if X.shape[0] else np.zeros(X.shape[1])
    if (np.isfinite(norms) & (norms > SMALLEST_NORM) | (largest == 0)).all():
        return norms
    scales = np.divide(1.0, largest, out=np.zeros(len(largest)), where=largest > TINY)
    norms = largest * norms_of(scaled_columns(X, scales))
    # Of values that have lost digits, the largest tells about how long a column is.
    return np.where(largest > TINY, norms, largest)


def scaled_columns(X: Any, scales: NDArray[Any]) -> Any:
    """Return X with its columns scaled, of the same kind and format (ndarray, CSR or CSC)."""
    if isinstance(X, Centred):
        return Centred(scaled_columns(X.stored, scales), X.left, X.right * scales)
    with refusing_overflow():
        if not sparse.issparse(X):
            return X * scales
        scaled = X.copy()
        factors = scales[X.indices] if X.format == "csr" else np.repeat(scales, np.diff(X.indptr))
        scaled.data = X.data * factors
        return scaled


def original_columns(X: Any, columns: NDArray[np.intp], n_features: int) -> Any:
    """Return X with its columns put back to their places among columns of zeros."""
    shape = (X.shape[0], n_features)
    if sparse.issparse(X):
        X = X.tocsr()
        return type(X)((X.data, columns[X.indices], X.indptr), shape=shape)
    restored = np.zeros(shape, dtype=X.dtype)
    restored[:, columns] = X
    return restored


def column_digests(X: Any, origin: int | NDArray[np.uint64] = 0) -> NDArray[np.uint64]:
    """Return numbers that are equal for equal columns of a dense or sparse array.

    Sums of hashed values times numbers for their rows, modulo 2^64: no rounding depends on where a
    column stands, and digests of some rows add up to those of all. A row has the number of its
    place, from the origin on; or, if there are numbers for the columns, one that follows from these
    and its values, wherever they stand.
    """
    X, sums = sparse.csr_array(X) if sparse.issparse(X) else X, np.zeros(X.shape[1], np.uint64)
    n_rows = X.shape[0] * _memory.VECTORS_AT_ONCE // max(stored_values(X).size, 1)
    for some in gen_batches(X.shape[0], max(1, n_rows)):
        part = X[some]
        # Added to 0, so that zeros of both signs are equal; the hash of 0 is 0.
        hashed = _mixed((stored_values(part) + 0.0).view(np.uint64))
        if sparse.issparse(part):
            hashed = sparse.csr_array((hashed, part.indices, part.indptr), part.shape)
        if isinstance(origin, int):
            numbers = np.arange(1 + some.start, 1 + some.stop, dtype=np.uint64) + np.uint64(origin)
        else:
            numbers = hashed @ origin
        sums += hashed.T @ _mixed(numbers)
    return sums


def _mixed(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return numbers whose bits all depend on those of the input, as splitmix64 mixes them."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        bits ^= bits >> np.uint64(shift)
        bits *= np.uint64(factor)
    bits ^= bits >> np.uint64(31)
    return bits


def fingerprint(X: Any) -> str:
    """Return a digest that tells whether two matrices of one kind hold the same values."""
    digest = blake2b(str(X.shape).encode(), digest_size=16)
    parts = [X.stored, X.left, X.right] if isinstance(X, Centred) else [X]
    for part in parts:
        for values in (part.data, part.indices, part.indptr) if sparse.issparse(part) else (part,):
            digest.update(np.ascontiguousarray(values).data)
    return digest.hexdigest()


def stored_bytes(X: Any) -> int:
    """Return the memory that the values of a dense or CSR array take."""
    X = X.stored if isinstance(X, Centred) else X
    return int(X.data.nbytes + X.indices.nbytes if sparse.issparse(X) else X.nbytes)


def ranks(*keys: FloatArray) -> IntArray:
    """Return the ranks that keys give, from 0 for the smallest; the first key counts most.

    Equal keys have equal ranks.
    """
    worst_first = np.lexsort(keys[::-1])
    table = np.array(keys)[:, worst_first]
    differs = (table[:, 1:] != table[:, :-1]).any(axis=0)
    found = np.empty(len(worst_first), dtype=np.intp)
    found[worst_first] = np.concatenate([[0], np.cumsum(differs)])
    return found


# Decimals by which rows are compared, so that rounding does not tell them apart.
_DIGITS = 9


def class_numbers(rows: Any, y: NDArray[Any], sample_weight: FloatArray | None = None) -> IntArray:
    """Return the number of the class of each row, from 0, by what its rows are and not by its name.

    Classes are ordered by the weight of their rows, and then by weighted sums over these: of their
    lengths, of all values, of their products with the sum of all rows and their squares; and, where
    all these are alike, by where values stand.

    Parameters
    ----------
    rows : {ndarray, CSR array} of shape (n_samples, n_features)
        Rows of moderate size, as `normalised` returns them.
    y : ndarray of shape (n_samples,)
        Labels.
    sample_weight : ndarray of shape (n_samples,), default=None
        Weights of the rows; a row of weight 2 counts like two rows.
    """
    labels = np.unique(y, return_inverse=True)[1]
    lengths, ones = row_norms(rows), np.ones(rows.shape[1])
    weights = np.ones(len(labels)) if sample_weight is None else sample_weight
    middle = rows @ (rows.T @ weights) / max(float(weights @ lengths), TINY)
    facts = (np.ones(len(labels)), lengths, rows @ ones, middle, middle**2, _landmark(rows))
    sums = [np.bincount(labels, weights * fact) for fact in facts]
    scales = [max(float(weights @ np.abs(fact)), TINY) for fact in facts]
    keys = [np.round(own / scale, _DIGITS) for own, scale in zip(sums, scales, strict=True)]
    numbers = np.empty(len(sums[0]), dtype=np.intp)
    numbers[np.lexsort(keys[::-1])] = np.arange(len(numbers))
    return numbers[labels]


def canonical_order(
    rows: Any, y: NDArray[Any], sample_weight: FloatArray | None, *, numbers: bool = False
) -> IntArray:
    """Return an order of the rows that depends on where neither rows nor columns stand.

    Rows are told apart by their class or number, their length, the sum of their values, and their
    products with the sums of the classes, or of all rows times their numbers; then by how all of
    these are around them, in the images under XXᵀ. Keys are rounded relative to what they could be
    at most, for the sum of a class may be no more than rounding itself. Rows that are still alike
    are told apart by where their values stand.

    Parameters
    ----------
    rows : {ndarray, CSR array} of shape (n_samples, n_features)
        Rows of moderate size, as `normalised` returns them.
    y : ndarray of shape (n_samples,)
        Numbers of classes, as `class_numbers` returns them, or targets.
    sample_weight : ndarray of shape (n_samples,) or None
        Weights of the rows.
    numbers : bool, default=False
        Whether y holds targets.
    """
    n_features = rows.shape[1]
    if numbers:
        members = (y / max(np.abs(y).max(initial=0.0), TINY))[:, None]
    else:
        members = (y[:, None] == np.arange(y.max() + 1)).astype(float)
    lengths = row_norms(rows)
    units = np.where(lengths > 0, lengths, 1.0)[:, None]
    total = lengths.sum()
    sums = rows.T @ members / total
    products = rows @ np.column_stack([np.full(n_features, n_features**-0.5), sums]) / units
    images = rows @ (rows.T @ products / total) / units
    places = _landmark(rows)[:, None] / units
    keys = np.hstack([places, images, products, np.log(units), lengths[:, None] > 0])
    weights = [] if sample_weight is None else [sample_weight]
    # Weights come last: repeated rows stand together, whatever their weights.
    return np.lexsort((*weights, *np.round(keys, _DIGITS).T, y))


def _landmark(rows: Any) -> FloatArray:
    """Return a number that tells rows apart by where their values stand."""
    return np.asarray(rows @ np.random.default_rng(0).standard_normal(rows.shape[1]))


_TEMPORAL = (date, time, timedelta, np.datetime64, np.timedelta64)
_MOST_NAMED = 5


def refuse_dates(X: Any) -> None:
    """Raise if an array or a data frame has columns of dates, times or durations.

    As numbers they would count days or nanoseconds from an arbitrary day.
    """
    found = list(_temporal_columns(X))
    if not found:
        return
    more = f" and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
    raise ValueError(
        f"X has dates, times or durations in column{'s' if len(found) > 1 else ''} "
        f"{', '.join(map(repr, found[:_MOST_NAMED]))}{more}, and numbers are needed. Drop such "
        "columns, or convert them to numbers, such as days since a date."
    )


def _temporal_columns(X: Any) -> Iterator[Any]:
    """Yield the names of such columns; those of arrays go by their numbers."""
    if hasattr(X, "columns") and hasattr(X, "dtypes"):
        # Only the columns of pandas in memory can be looked through for Python objects.
        in_memory = hasattr(X, "iloc") and not is_dask(X)
        for place, (name, dtype) in enumerate(zip(X.columns, X.dtypes, strict=True)):
            of_objects = in_memory and dtype.kind == "O"
            if _is_temporal(dtype) or (of_objects and _has_temporal(X.iloc[:, place])):
                yield name
    elif getattr(X, "ndim", None) == 2:
        if _is_temporal(getattr(X, "dtype", None)):
            yield from range(X.shape[1])
        elif isinstance(X, np.ndarray) and X.dtype.kind == "O":
            yield from (place for place, values in enumerate(X.T) if _has_temporal(values))


def _is_temporal(dtype: Any) -> bool:
    """Tell whether a type of NumPy, pandas or Polars is one of dates, times or durations."""
    if hasattr(dtype, "is_temporal"):
        return bool(dtype.is_temporal())
    return getattr(dtype, "kind", None) in ("m", "M")


def _has_temporal(values: Any) -> bool:
    return any(isinstance(value, _TEMPORAL) for value in values)
