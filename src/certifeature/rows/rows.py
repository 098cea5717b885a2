"""The rows of a data matrix with their labels, weights and names, wherever they are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.sparsefuncs import mean_variance_axis
from sklearn.utils.validation import validate_data

from certifeature._utils import FloatArray, one_each, warn
from certifeature.rows.blocks import Block, RowBlocks
from certifeature.rows.dask import DaskBlocks
from certifeature.rows.matrix import (
    Centred,
    canonical_csr,
    column_digests,
    exponent_of,
    fingerprint,
    is_dask,
    near_origin,
    ranks,
    refuse_dates,
    scaled_columns,
    stored_bytes,
    stored_values,
    times_power_of_two,
    with_dense_columns,
)
from certifeature.rows.names import warn_of_roles

_SMALLEST_WEIGHT = 1e-12
# Beyond this ratio of standard deviations, the widest columns decide alone.
_MAX_RATIO = 10.0
# To which variances that are equal but for rounding are so, relative to themselves.
_DIGITS = 9


@dataclass(frozen=True, eq=False)
class Spread:
    """Means of columns, and sums of squared distances from them, of rows over 2^exponent.

    No square then leaves the range of numbers.

    Attributes
    ----------
    count : int
        Number of rows.
    means, squares : ndarray of shape (n_features,)
        Means, and sums of squared distances; with weights, so many times their mean.
    exponent : int
        The exponent.
    digests : ndarray of shape (2, n_features)
        Of rows in blocks, `Rows.digests`.

    Examples
    --------
    >>> import numpy as np
    >>> Spread.of(np.array([[0.0, 1.0], [2.0, 1.0]])).size()
    1.0
    """

    count: int = 0
    means: Any = 0.0
    squares: Any = 0.0
    exponent: int = -2000
    digests: Any = 0

    @classmethod
    def of(cls, X: Any, sample_weight: FloatArray | None = None) -> Spread:
        """Return the spread of rows, in memory or in blocks.

        Parameters
        ----------
        X : ndarray, CSR array or RowBlocks of shape (n_samples, n_features)
            Rows. Those in blocks are read once.
        sample_weight : ndarray of shape (n_samples,), default=None
            Weights of rows in memory.
        """
        if isinstance(X, RowBlocks):
            return X.accumulate(cls, lambda total, block: total.merged(_spread_of(block)))
        # The variances of sparse columns are computed about their means.
        return _spread_about(X if sparse.issparse(X) else near_origin(X), sample_weight)

    @property
    def variances(self) -> FloatArray:
        """Mean squared distance of each column from its mean, over 4^exponent."""
        # Of sparse rows, rounding may leave less than nothing.
        return np.maximum(self.squares / max(self.count, 1), 0.0)

    @property
    def deviations(self) -> FloatArray:
        """Standard deviation of each column, exactly zero where it is constant."""
        return np.asarray(np.ldexp(np.sqrt(self.variances), self.exponent))

    def size(self, columns: NDArray[np.intp] | None = None, scales: Any = 1.0) -> float:
        """Return the root mean squared distance of the rows from their mean.

        Parameters
        ----------
        columns : ndarray of int, default=None
            The columns that count; None for all.
        scales : ndarray or float, default=1.0
            Scales of these columns.
        """
        variances = self.variances if columns is None else self.variances[columns]
        largest = float(np.max(scales, initial=0.0))
        if not largest > 0:
            return 0.0
        total = float(np.sum(variances * (np.asarray(scales) / largest) ** 2))
        return float(np.ldexp(np.sqrt(total) * largest, self.exponent))

    def __sizeof__(self) -> int:
        return int(np.asarray(self.means).nbytes + np.asarray(self.squares).nbytes)

    def merged(self, other: Spread) -> Spread:
        """Return the spread of both sets of rows (Chan, Golub and LeVeque).

        Parameters
        ----------
        other : Spread
            Of other rows.
        """
        if not self.count or not other.count:
            return self if self.count else other
        exponent, count = max(self.exponent, other.exponent), self.count + other.count
        first, second = (np.ldexp(part.means, part.exponent - exponent) for part in (self, other))
        inside = sum(
            np.ldexp(part.squares, 2 * (part.exponent - exponent)) for part in (self, other)
        )
        apart = second - first
        squares = inside + apart**2 * (self.count * other.count / count)
        means = first + apart * (other.count / count)
        return Spread(count, means, squares, exponent, self.digests + other.digests)


def _spread_of(block: Block) -> Spread:
    return replace(_spread_about(block.X), digests=_digests(block))


def _spread_about(X: Any, sample_weight: FloatArray | None = None) -> Spread:
    """Return the spread of rows in memory, which may be far from the origin."""
    n_rows, exponent = X.shape[0], exponent_of(X)
    X = times_power_of_two(X, -exponent)
    with np.errstate(under="ignore"):
        if sparse.issparse(X):
            X = sparse.csr_matrix(X)
            means, variances = mean_variance_axis(X, axis=0, weights=sample_weight)
        else:
            means = np.average(X, axis=0, weights=sample_weight)
            variances = np.average((X - means) ** 2, axis=0, weights=sample_weight)
        return Spread(n_rows, means, n_rows * variances, exponent)


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of data, in memory or in blocks, with labels and weights.

    Attributes
    ----------
    X : ndarray, CSR array or RowBlocks of shape (n_samples, n_features)
        The rows; blocks contain their labels.
    y : ndarray of shape (n_samples,) or None
        Labels of rows in memory.
    sample_weight : ndarray of shape (n_samples,) or None
        Positive weights of rows in memory.
    indices : ndarray of shape (n_samples,) or None
        Positions of the rows in the data that were passed in.
    feature_names : ndarray or None
        Names of the columns, if they have any.
    """

    X: Any
    y: NDArray[Any] | None = None
    sample_weight: FloatArray | None = None
    indices: NDArray[np.intp] | None = None
    feature_names: NDArray[Any] | None = None

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) if self.in_blocks else stored_bytes(self.X)

    @property
    def in_blocks(self) -> bool:
        """Whether the rows are not in memory."""
        return isinstance(self.X, RowBlocks)

    @property
    def n_rows(self) -> int:
        """Number of rows; counting those of blocks may take a pass over them."""
        return int(self.X.n_rows if self.in_blocks else self.X.shape[0])

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.X.n_features if self.in_blocks else self.X.shape[1])

    @property
    def labels(self) -> NDArray[Any]:
        """The labels, or numbers; an error if there are none."""
        if self.y is None:
            raise ValueError("y is None: a model needs labels.")
        return self.y

    @property
    def places(self) -> NDArray[np.intp]:
        """Positions of the rows in the data that were passed in."""
        return np.arange(self.n_rows) if self.indices is None else self.indices

    @cached_property
    def fingerprint(self) -> str | None:
        """Digest of values, labels and weights; None for rows in blocks."""
        if self.in_blocks:
            return None
        labels = [] if self.y is None else self.y.tolist()
        weights = [] if self.sample_weight is None else self.sample_weight.tolist()
        kind = "sparse" if sparse.issparse(self.X) else "dense"
        told = blake2b(repr((labels, weights)).encode()).hexdigest()
        return f"{kind} {fingerprint(self.X)} {told}"

    @cached_property
    def spread(self) -> Spread:
        """How far the rows are from their mean; rows in blocks are read once for it."""
        return Spread.of(self.X, self.sample_weight)

    @cached_property
    def digests(self) -> NDArray[np.uint64]:
        """Digests of each column, with and without the places of its values.

        Those of rows in blocks come with the spread.
        """
        return self.spread.digests if self.in_blocks else _digests(Block(self.X, None, 0))

    @cached_property
    def column_ranks(self) -> NDArray[np.intp]:
        """Ranks of the columns by their values, wherever rows and columns stand.

        The one of the largest variance comes first; digests tell others apart. Equal columns have
        equal ranks. Where others have equal digests, rows are told apart by these, and then columns
        by the rows.
        """
        places, contents = self.digests
        n_before, n_columns = 0, len(np.unique(places))
        while n_before < (n_told := len(np.unique(contents))) < n_columns:
            retell = partial(_digests_by, contents)
            n_before, block = n_told, Block(self.X, None, 0)
            contents = self.X.summed(retell) if self.in_blocks else retell(block)
        with np.errstate(divide="ignore"):
            sizes = np.round(np.log(self.spread.variances), _DIGITS)
        return ranks(*np.array([-sizes, contents], dtype=np.float64))

    def centred(self) -> Rows:
        """Return rows less their mean, which is not written out for sparse columns near the origin.

        A free intercept makes up for the difference, so that nothing else changes for its model.
        Rows that are all equal stay as they are, since nothing would be left of them.
        """
        X, spread = self.X, self.spread
        if self.in_blocks:
            # Of other columns, at least half of the square of their norm is left.
            far = np.flatnonzero(spread.means**2 > spread.variances)
            move = partial(_less, np.ldexp(spread.means, spread.exponent), far)
            return replace(self, X=X.mapped(move, X.n_features)) if spread.squares.any() else self
        if sparse.issparse(X) and 2 * X.nnz >= X.shape[0] * X.shape[1]:
            X = X.toarray()
        X = near_origin(X)
        if not sparse.issparse(X):
            # Their mean is rounding, but a direction of its own.
            X = X - np.average(X, axis=0, weights=self.sample_weight)
        if not stored_values(X).any():
            return self
        if sparse.issparse(X):
            ones = np.ones(X.shape[0])
            weights = ones if self.sample_weight is None else self.sample_weight
            X = Centred(X, ones, X.T @ (weights / weights.sum()))
        return replace(self, X=X)

    def written_out(self) -> Rows:
        """Return the rows without what is subtracted from them implicitly."""
        return replace(self, X=self.X.stored) if isinstance(self.X, Centred) else self

    def take(self, chosen: NDArray[np.intp]) -> Rows:
        """Return some rows of those in memory."""
        return replace(
            self,
            X=self.X[chosen],
            y=None if self.y is None else self.y[chosen],
            sample_weight=None if self.sample_weight is None else self.sample_weight[chosen],
            indices=self.places[chosen],
        )

    def together(self, max_rows: int) -> Rows | None:
        """Return the rows in memory with their labels, or None if they are in blocks and many."""
        if not self.in_blocks:
            return self
        few = self.X.together_if_few(max_rows)
        return None if few is None else Rows(few[0], few[1], feature_names=self.feature_names)

    def columns(self, chosen: NDArray[np.intp], scales: FloatArray) -> Rows:
        """Return scaled columns; those of blocks are computed when they are read."""
        if self.in_blocks:
            return replace(self, X=self.X.with_columns(chosen, scales), feature_names=None)
        return replace(self, X=scaled_columns(self.X[:, chosen], scales), feature_names=None)

    def weighted(self) -> Any:
        """Return the rows in memory times the roots of their weights, over the largest root.

        A row of weight 2 then counts like two equal rows in every Gram matrix.
        """
        if self.sample_weight is None:
            return self.X
        # A row of tiny weight still belongs to the row space.
        shares = self.sample_weight / self.sample_weight.max()
        roots = np.sqrt(np.maximum(shares, _SMALLEST_WEIGHT))
        if isinstance(self.X, Centred):
            return Centred(sparse.diags_array(roots) @ self.X.stored, roots, self.X.right)
        is_sparse = sparse.issparse(self.X)
        return sparse.diags_array(roots) @ self.X if is_sparse else self.X * roots[:, None]


def _less(means: FloatArray, far: NDArray[np.intp], X: Any) -> Any:
    """Return the rows of a block less the means; sparse ones are moved where these are far."""
    if not sparse.issparse(X):
        return X - means
    near = means.copy()
    near[far] = 0.0
    moved = with_dense_columns(X, far, X[:, far].toarray() - means[far])
    return Centred(moved, np.ones(X.shape[0]), near)


def scaling_needed(X: Any, deviations: FloatArray) -> tuple[str, str]:
    """Return the scaling that columns need, "standard" or "tfidf", and why; "" and "" if none.

    Columns that do not vary do not count.
    """
    values, varying = stored_values(X), deviations[deviations > 0]
    mostly_zero = np.count_nonzero(values) <= X.shape[0] * X.shape[1] / 2
    if values.size and mostly_zero and (values >= 0).all() and (values % 1 == 0).all():
        return "tfidf", "the values look like counts, most of them zero"
    # Sparse rows are texts as a rule, and a word that varies little is rare.
    is_text = sparse.issparse(X) and mostly_zero
    if not is_text and varying.size and varying.max() > _MAX_RATIO * varying.min():
        low, high = (f"{float(f'{end:.3g}'):,g}" for end in (varying.min(), varying.max()))
        return "standard", f"the features have standard deviations from {low} to {high}"
    return "", ""


def warn_if_unscaled(rows: Rows) -> None:
    """Warn if columns of rows in memory need to be scaled first."""
    if rows.in_blocks:
        return
    scaling, found = scaling_needed(rows.X, rows.spread.deviations)
    if scaling:
        remedy = {
            "standard": "sklearn.preprocessing.StandardScaler gives all the same weight",
            "tfidf": "sklearn.feature_extraction.text.TfidfTransformer weighs rare ones more",
        }[scaling]
        warn(f"{found}; {remedy}. Put it before features are chosen, or ignore this warning.")


def _digests(block: Block) -> NDArray[np.uint64]:
    alike = np.ones(block.X.shape[1], dtype=np.uint64)
    return np.array([column_digests(block.X, block.first_row), column_digests(block.X, alike)])


def _digests_by(numbers: NDArray[np.uint64], block: Block) -> NDArray[np.uint64]:
    return column_digests(block.X, numbers)


def come_in_blocks(X: Any) -> bool:
    """Tell whether rows come in blocks: row blocks, or a Dask collection."""
    return isinstance(X, RowBlocks) or is_dask(X)


def as_rows(
    X: Any,
    y: Any = None,
    sample_weight: Any = None,
    *,
    estimator: Any = None,
    real_valued: bool = False,
) -> Rows:
    """Validate data and return them as rows in float64.

    Parameters
    ----------
    X : array-like, sparse array or matrix, data frame, Dask collection or RowBlocks
        The rows.
    y : array-like of shape (n_samples,), default=None
        Labels, or numbers.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights; rows of weight zero are left out.
    estimator : estimator, default=None
        Estimator whose number and names of features are set.
    real_valued : bool, default=False
        Whether y holds numbers, rather than labels of classes.
    """
    refuse_dates(X)
    if come_in_blocks(X):
        return _rows_in_blocks(X, y, sample_weight, estimator)
    names = np.asarray(X.columns) if hasattr(X, "columns") else None
    options = {"accept_sparse": "csr", "dtype": np.float64}
    labels = None if y is None else one_dimensional(y)
    if estimator is None:
        X = check_array(X, **options)
    elif labels is None:
        X = validate_data(estimator, X, **options)
    else:
        X, labels = validate_data(estimator, X, labels, **options)
    if estimator is not None and names is not None:
        warn_of_roles(X, names.tolist())
    if labels is not None:
        check_consistent_length(X, labels)
        if real_valued:
            labels = real_targets(labels)
        else:
            check_classification_targets(labels)
    rows = Rows(canonical_csr(X) if sparse.issparse(X) else X, labels, feature_names=names)
    if sample_weight is None:
        return rows
    weights = _checked_weights(sample_weight, rows.n_rows)
    return replace(rows, sample_weight=weights).take(np.flatnonzero(weights > 0))


def one_dimensional(y: Any) -> NDArray[Any]:
    """Return labels as a 1d array, with a warning for a column vector.

    The warning points at the caller's line, which that of scikit-learn does not.
    """
    labels: NDArray[Any] = column_or_1d(y)
    if np.asarray(y).ndim == 2:
        warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of "
            "y to (n_samples,), for example using ravel().",
            DataConversionWarning,
        )
    return labels


def real_targets(y: NDArray[Any]) -> FloatArray:
    """Return targets as finite numbers."""
    try:
        targets = np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"y must be numbers for a model that predicts numbers; got {np.asarray(y).dtype}. For "
            "classes use a classifier, such as sklearn.linear_model.RidgeClassifier."
        ) from error
    if not np.isfinite(targets).all():
        raise ValueError("y contains NaN or infinity; remove those rows first.")
    return targets


def _rows_in_blocks(X: Any, y: Any, sample_weight: Any, estimator: Any) -> Rows:
    if sample_weight is not None:
        raise ValueError("rows in blocks have no weights; leave sample_weight out.")
    if isinstance(X, RowBlocks) and y is not None:
        raise ValueError("row blocks contain their labels; leave y out (None).")
    blocks = X if isinstance(X, RowBlocks) else DaskBlocks(X, y)
    names = blocks.feature_names
    if estimator is not None:
        estimator.n_features_in_ = blocks.n_features
        if names is not None:
            estimator.feature_names_in_ = np.asarray(names, dtype=object)
    return Rows(blocks, feature_names=names)


def _checked_weights(sample_weight: Any, n_samples: int) -> FloatArray:
    """Return one finite, non-negative weight for each row, at least one of them positive."""
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.ndim == 0:
        weights = np.full(n_samples, weights)
    weights = one_each("sample_weight", weights, n_samples, "rows")
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError("sample_weight must be finite and non-negative.")
    if not weights.any():
        raise ValueError("sample_weight is zero for every row; at least one must be positive.")
    return weights
