"""The frame that all selectors share: rows → basis → sample → X·R."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_array, check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from certifeature.basis import Basis, exact_basis, sketched_basis, truncated_basis
from certifeature.selectors.data import (
    Rows,
    canonical_csr,
    checked_weights,
    original_columns,
    scaled_columns,
)
from certifeature.selectors.parameters import (
    check_choice,
    check_count,
    check_epsilon,
    requested_size,
)
from certifeature.sparsify import Sample
from certifeature.svm import default_svm, fit_svm, support_rows

__all__ = ["BaseSelector", "BasisFacts"]

FloatArray = NDArray[np.float64]

# The largest exact basis that basis="auto" computes: directions, and entries of V (2 GiB).
_MOST_EXACT_DIRECTIONS = 2000
_MOST_EXACT_ENTRIES = 2**28
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


class BaseSelector(CallbackSupportMixin, SelectorMixin, BaseEstimator):
    """Base of the selectors; a subclass chooses features from a basis.

    Subclasses set their parameters, and define `_rank`, `_promised_size` and `_sample`.
    """

    _kinds_of_basis: ClassVar[tuple[str, ...]] = ("auto", "exact", "truncated", "sketch")

    n_features_to_select: Any
    epsilon: float
    supervised: bool
    estimator: Any
    basis: str
    n_components: int | None
    random_state: Any

    @abstractmethod
    def _promised_size(self, basis: Basis) -> int:
        """Return the number of features that promises epsilon."""

    @abstractmethod
    def _rank(self, rows: Rows, basis: Basis) -> FloatArray:
        """Return a score for each feature; the higher, the sooner it is considered."""

    @abstractmethod
    def _sample(self, basis: Basis, n_select: int, seed: int) -> Sample:
        """Choose features, fewer than there are."""

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Choose features.

        Parameters
        ----------
        X : {array-like, sparse array or matrix} of shape (n_samples, n_features)
            Training data.
        y : array-like of shape (n_samples,), default=None
            Class labels; needed with ``supervised=True``, ignored otherwise.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the rows. The SVM gets them, a row of weight zero does not
            exist, and a row of weight 2 counts like two equal rows.

        Returns
        -------
        self : object
            Fitted selector.
        """
        self._check_parameters()
        tasks = self._init_callback_context(max_subtasks=3)
        tasks.call_on_fit_task_begin(estimator=self, X=X, y=y)
        X, y, sample_weight = self._validated(X, y, sample_weight)
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        with self._task(tasks, "find rows"):
            rows = self._find_rows(X, y, sample_weight, seed)
        n_select = requested_size(self.n_features_to_select, X.shape[1])
        with self._task(tasks, "compute basis"):
            basis, kind = self._compute_basis(rows.weighted(), n_select, seed)
        self.basis_ = BasisFacts(
            kind, len(rows.indices), basis.n_components, basis.rank, basis.exact
        )
        with self._task(tasks, "choose features"):
            self.scores_ = self._rank(rows, basis)
            sample = self._choose(basis, n_select, seed)
        self.support_rows_ = rows.indices
        self.indices_ = sample.indices
        self.weights_ = (
            sample.weights if getattr(self, "rescale", True) else np.ones_like(sample.weights)
        )
        tasks.call_on_fit_task_end(estimator=self, X=X, y=y)
        return self

    def transform(self, X: Any) -> Any:
        """Return the chosen columns of X, in the order of X, times their scales.

        Parameters
        ----------
        X : {array-like, sparse array or matrix} of shape (n_samples, n_features)
            Data.

        Returns
        -------
        {ndarray, sparse array or matrix} of shape (n_samples, n_chosen)
            Reduced data, of the kind of X.
        """
        check_is_fitted(self)
        X = validate_data(
            self, X, dtype=(np.float64, np.float32), accept_sparse=("csr", "csc"), reset=False
        )
        columns, scales = self._columns_and_scales()
        return scaled_columns(X[:, columns], scales.astype(X.dtype))

    def inverse_transform(self, X: Any) -> Any:
        """Undo the scales and put zeros where features were left out.

        Parameters
        ----------
        X : {array-like, sparse array or matrix} of shape (n_samples, n_chosen)
            Reduced data.

        Returns
        -------
        {ndarray, sparse array or matrix} of shape (n_samples, n_features)
            Data with the original columns.
        """
        check_is_fitted(self)
        X = check_array(X, dtype=(np.float64, np.float32), accept_sparse=("csr", "csc"))
        columns, scales = self._columns_and_scales()
        if X.shape[1] != len(columns):
            raise ValueError(
                f"X has {X.shape[1]} columns, but {len(columns)} features were chosen; "
                "give what transform returned."
            )
        unscaled = scaled_columns(X, (1 / scales).astype(X.dtype))
        return original_columns(unscaled, columns, self.n_features_in_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = bool(self.supervised)
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[self.indices_] = True
        return mask

    def _columns_and_scales(self) -> tuple[NDArray[np.intp], FloatArray]:
        order = np.argsort(self.indices_)
        return self.indices_[order], self.weights_[order]

    def _check_parameters(self) -> None:
        check_choice("supervised", self.supervised, (True, False))
        check_epsilon(self.epsilon)
        check_choice("basis", self.basis, self._kinds_of_basis)
        check_count("n_components", self.n_components)
        if self.basis == "exact" and self.n_components is not None:
            raise ValueError(
                f"basis='exact' has as many directions as the rows have rank, so "
                f"n_components={self.n_components} says nothing; use basis='truncated'."
            )

    def _validated(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
        if self.supervised and y is None:
            raise ValueError(
                f"{type(self).__name__} with supervised=True requires y to be passed, but the "
                "target y is None; pass class labels or set supervised=False."
            )
        options = {"dtype": np.float64, "accept_sparse": "csr"}
        if self.supervised:
            X, y = validate_data(self, X, y, **options)
            check_classification_targets(y)
        else:
            X, y = validate_data(self, X, **options), None
        if sparse.issparse(X):
            X = canonical_csr(X)
        if sample_weight is not None:
            sample_weight = checked_weights(sample_weight, X.shape[0])
        return X, y, sample_weight

    def _find_rows(self, X: Any, y: Any, sample_weight: Any, seed: int) -> Rows:
        """Return the support rows, or all rows; a row of weight zero does not exist."""
        rows = Rows(X, y, sample_weight, np.arange(X.shape[0]))
        if sample_weight is not None:
            rows = rows.take(np.flatnonzero(sample_weight > 0))
        if not self.supervised:
            self.estimator_ = None
            return rows
        svm = default_svm(len(rows.y), seed) if self.estimator is None else clone(self.estimator)
        self.estimator_ = fit_svm(svm, rows.X, rows.y, rows.sample_weight)
        return rows.take(support_rows(self.estimator_, rows.X, rows.y))

    def _compute_basis(self, rows: Any, n_select: int | None, seed: int) -> tuple[Basis, str]:
        kind, n_components = self.basis, self.n_components
        if kind == "auto":
            fits = (
                min(rows.shape) <= _MOST_EXACT_DIRECTIONS
                and min(rows.shape) * rows.shape[1] <= _MOST_EXACT_ENTRIES
            )
            kind = "sketch" if not fits else "exact" if n_components is None else "truncated"
        if kind == "sketch":
            size = _DEFAULT_SKETCH if n_components is None else n_components
            return sketched_basis(rows, size, random_state=seed), kind
        if kind == "exact":
            return exact_basis(rows), kind
        if n_components is None:
            raise ValueError(
                "basis='truncated' needs n_components, the number of directions to keep."
            )
        return truncated_basis(rows, n_components), kind

    def _choose(self, basis: Basis, n_select: int | None, seed: int) -> Sample:
        n_features = self.n_features_in_
        wanted = self._promised_size(basis) if n_select is None else n_select
        self.n_features_to_select_ = min(wanted, n_features)
        if wanted < n_features:
            return self._sample(basis, wanted, seed)
        reason, remedy = (
            (f"epsilon={self.epsilon} takes", "Ask for a larger epsilon or a number of features.")
            if n_select is None
            else (f"n_features_to_select={self.n_features_to_select!r} means", "Ask for fewer.")
        )
        warnings.warn(
            f"{reason} {wanted} features and X has {n_features}: all are kept, unscaled. {remedy}",
            UserWarning,
            stacklevel=4,
        )
        return Sample(np.arange(n_features), np.ones(n_features))

    @contextmanager
    def _task(self, tasks: Any, name: str) -> Iterator[None]:
        task = tasks.subcontext(task_name=name)
        task.call_on_fit_task_begin(estimator=self)
        yield
        task.call_on_fit_task_end(estimator=self)
