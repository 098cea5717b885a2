"""The frame that all selectors share: rows → basis → sample → X·R."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_array, check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from certifeature._labels import one_dimensional
from certifeature._matrix import canonical_csr, fingerprint, scaled_columns
from certifeature._parameters import as_count, check_choice
from certifeature._warnings import warn
from certifeature.basis import Basis
from certifeature.blocks import RowBlocks
from certifeature.certificate import APriori, Certificate
from certifeature.certificate.certify import measured_certificate
from certifeature.certificate.measure import extreme_eigenvalues
from certifeature.dask import is_dask
from certifeature.selectors.blockwise import BlockwiseMixin
from certifeature.selectors.data import Rows, checked_weights, original_columns
from certifeature.selectors.parameters import check_epsilon, check_size, requested_size
from certifeature.selectors.subspace import BasisFacts, row_space
from certifeature.sparsify import Sample
from certifeature.sparsify.sample import EmptySampleError
from certifeature.svm import default_svm, fit_svm, row_costs, share_outside, support_rows
from certifeature.svm.checks import check_svm

__all__ = ["BaseSelector"]

FloatArray = NDArray[np.float64]

_MOST_ROUNDS = 20
_LARGEST_SHARE_OUTSIDE = 0.05


class BaseSelector(BlockwiseMixin, CallbackSupportMixin, SelectorMixin, BaseEstimator):
    """Base of the selectors; a subclass chooses features from a basis.

    Subclasses set their parameters, define `_rank` and `_sample`, and may have a `_promise`.
    """

    n_features_to_select: Any
    epsilon: float
    supervised: bool
    guarantee: str
    estimator: Any
    basis: str
    n_components: int | None
    rescale: bool
    random_state: Any
    n_features_in_: int
    n_features_to_select_: int
    certificate_: Certificate

    @abstractmethod
    def _rank(self, rows: Rows, basis: Basis, whole: Basis) -> FloatArray:
        """Return a score for each feature; the higher, the sooner it is considered.

        ``basis`` is what features are chosen for, cut from ``whole``.
        """

    @abstractmethod
    def _sample(self, basis: Basis, n_select: int, seed: int) -> Sample:
        """Choose features, fewer than there are."""

    def _promise(self, basis: Basis, n_select: int) -> APriori | None:
        """Return what is known of a scaled sample of this size before it is made."""
        return None

    def _most_needed(self, basis: Basis) -> int:
        """Return a number of features that keeps epsilon for certain."""
        return self.n_features_in_

    def _fewest_possible(self, basis: Basis) -> int:
        """Return the number of features below which nothing can be kept."""
        return basis.n_components

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Choose features.

        Parameters
        ----------
        X : array-like, sparse array or matrix, of shape (n_samples, n_features), or blocks
            Training data. Rows that do not fit into memory come as a Dask array or data frame, or
            as `certifeature.blocks.RowBlocks`, which bring their labels along.
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
        # Rows that partial_fit has seen are forgotten, as is what a cascade left behind.
        self._digest = None
        for name in ("n_passes_", "optimality_gap_"):
            self.__dict__.pop(name, None)
        tasks = self._init_callback_context(max_subtasks=None if self.guarantee == "full" else 3)
        tasks.call_on_fit_task_begin(estimator=self, X=X, y=y)
        self.n_rounds_ = 1
        if isinstance(X, RowBlocks) or is_dask(X):
            self._fit_blocks(X, y, sample_weight, tasks)
        else:
            self._fit_arrays(*self._validated(X, y, sample_weight), tasks)
        tasks.call_on_fit_task_end(estimator=self, X=X, y=y)
        return self

    def transform(self, X: Any) -> Any:
        """Return the chosen columns of X, in the order of X, times their scales.

        Parameters
        ----------
        X : array-like, sparse array or matrix, of shape (n_samples, n_features), or blocks
            Data.

        Returns
        -------
        ndarray, sparse array or matrix, of shape (n_samples, n_chosen), or blocks
            Reduced data, of the kind of X; blocks are reduced when they are read.
        """
        check_is_fitted(self)
        if isinstance(X, RowBlocks) or is_dask(X):
            return self._transform_blocks(X)
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
        check_size(self.n_features_to_select)
        check_choice("supervised", self.supervised, (True, False))
        check_epsilon(self.epsilon)
        check_choice("basis", self.basis, ("auto", "exact", "truncated", "sketch"))
        check_choice("guarantee", self.guarantee, ("support", "full"))
        if self.guarantee == "full" and not self.supervised:
            raise ValueError(
                "supervised=False covers all rows as it is; guarantee='full' needs supervised=True."
            )
        if self.n_components is not None:
            as_count("n_components", self.n_components)
        check_choice("rescale", self.rescale, (True, False))
        if self.supervised and self.estimator is not None:
            check_svm(self.estimator)
        if self.basis == "exact" and self.n_components is not None:
            raise ValueError(
                f"basis='exact' has as many directions as the rows have rank, so "
                f"n_components={self.n_components} says nothing; use basis='truncated'."
            )
        if self.basis == "truncated" and self.n_components is None:
            raise ValueError(
                "basis='truncated' needs n_components, the number of directions to keep."
            )

    def _check_width(self) -> None:
        """Raise if a parameter does not suit the number of features."""

    def _validated(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
        if self.supervised and y is None:
            raise ValueError(
                f"{type(self).__name__} with supervised=True requires y to be passed, but the "
                "target y is None; pass class labels or set supervised=False."
            )
        options = {"dtype": np.float64, "accept_sparse": "csr"}
        if self.supervised:
            X, y = validate_data(self, X, one_dimensional(y), **options)
            check_classification_targets(y)
        else:
            X, y = validate_data(self, X, **options), None
        self._check_width()
        if sparse.issparse(X):
            X = canonical_csr(X)
        if sample_weight is not None:
            sample_weight = checked_weights(sample_weight, X.shape[0])
        return X, y, sample_weight

    def _fit_arrays(self, X: Any, y: Any, sample_weight: Any, tasks: Any) -> None:
        """Choose features for rows in memory."""
        seed = self._seed()
        with self._task(tasks, "find rows"):
            everyone, rows = self._find_rows(X, y, sample_weight, seed)
        self._select(everyone, rows, seed, tasks)
        if self.guarantee == "full":
            self._cover_all(everyone, rows, seed, tasks)

    def _find_rows(self, X: Any, y: Any, sample_weight: Any, seed: int) -> tuple[Rows, Rows]:
        """Return all rows, but those of weight zero, and the rows that matter."""
        everyone = Rows(X, y, sample_weight, np.arange(X.shape[0]))
        if sample_weight is not None:
            everyone = everyone.take(np.flatnonzero(sample_weight > 0))
        if not self.supervised:
            self.estimator_ = None
            return everyone, everyone
        svm = default_svm(len(everyone.y), seed) if self.estimator is None else self.estimator
        self.estimator_ = fit_svm(clone(svm), everyone.X, everyone.y, everyone.sample_weight)
        return everyone, everyone.take(support_rows(self.estimator_, everyone.X, everyone.y))

    def _select(self, everyone: Rows, rows: Rows, seed: int, tasks: Any) -> None:
        """Choose features for the rows, and set what is learnt."""
        n_select = requested_size(self.n_features_to_select, self.n_features_in_)
        with self._task(tasks, "compute basis"):
            whole, kind = row_space(rows.weighted(), self.basis, self.n_components, seed)
            basis, kind = self._cut(whole, kind, n_select)
        if whole.exact:
            self._check_support(whole)
        n_rows = len(rows.indices)
        self.basis_ = BasisFacts(kind, n_rows, basis.n_components, basis.rank, basis.exact)
        with self._task(tasks, "choose features"):
            self.scores_ = self._rank(_with_all_classes(rows, everyone), basis, whole)
            sample = self._choose(basis, n_select, seed)
        # Weights of rows change their lengths, and with them what C means.
        costs = row_costs(self.estimator_, everyone.y) if rows.sample_weight is None else None
        own = np.isin(everyone.indices, rows.indices)
        self._learn(sample, basis, whole, rows, None if costs is None else float(costs[own].max()))

    def _seed(self) -> int:
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _learn(
        self, sample: Sample, basis: Basis, whole: Basis, rows: Rows, cost: float | None
    ) -> None:
        """Set what is learnt: the choice, and what it can cost."""
        self.support_rows_ = rows.indices
        self.indices_, self.weights_ = sample.indices, sample.weights
        promises = basis.exact and self.rescale and self.n_features_to_select_ < self.n_features_in_
        kind = "support" if self.supervised else "all"
        certificate = measured_certificate(whole, sample, kind, len(rows.indices), cost)
        promise = self._promise(basis, self.n_features_to_select_) if promises else None
        self.certificate_ = replace(certificate, a_priori=promise)
        self._rows_fingerprint = None if rows.X is None else fingerprint(rows.X)

    def _check_support(self, basis: Basis) -> None:
        """Warn if the weights of the SVM do not lie in the span of its support rows."""
        outside = share_outside(self.estimator_, basis.vectors)
        if outside > _LARGEST_SHARE_OUTSIDE:
            warn(
                f"{100 * outside:.0f} % of the weights of {type(self.estimator_).__name__} lie "
                "outside the span of its support rows, so these are not all: it has not converged, "
                "or is no SVM with an l2 penalty. Scale X, let it iterate longer, or use "
                "LinearSVC(dual=True)."
            )

    def _cover_all(self, everyone: Rows, rows: Rows, seed: int, tasks: Any) -> None:
        """Take in the support rows of the reduced model, until it has no others."""
        while True:
            with self._task(tasks, "check all rows"):
                reduced = scaled_columns(everyone.X[:, self.indices_], self.weights_)
                svm = clone(self.estimator_)
                fit_svm(svm, reduced, everyone.y, everyone.sample_weight)
                needed = everyone.indices[support_rows(svm, reduced, everyone.y)]
            covered = bool(np.isin(needed, rows.indices).all())
            if covered or self.n_rounds_ == _MOST_ROUNDS:
                break
            grown = np.union1d(needed, rows.indices)
            rows = everyone.take(np.flatnonzero(np.isin(everyone.indices, grown)))
            self._select(everyone, rows, seed, tasks)
            self.n_rounds_ += 1
        self.certificate_ = replace(self.certificate_, covers_all_rows=covered)
        if not covered:
            warn(
                f"guarantee='full' was not reached in {_MOST_ROUNDS} rounds: the certificate "
                f"covers {len(rows.indices)} of {len(everyone.indices)} rows. "
                "Ask for more features."
            )

    def _cut(self, basis: Basis, kind: str, n_select: int | None) -> tuple[Basis, str]:
        """Return the directions that the features are chosen for."""
        if kind == "truncated" and self.n_components is not None:
            basis = basis.truncated(self.n_components)
        return basis, kind

    def _choose(self, basis: Basis, n_select: int | None, seed: int) -> Sample:
        n_features = self.n_features_in_
        wanted = self._fewest_that_keep(basis, seed) if n_select is None else n_select
        self.n_features_to_select_ = min(wanted, n_features)
        if wanted < n_features:
            return self._scaled_sample(basis, wanted, seed)
        reason, remedy = (
            (f"epsilon={self.epsilon} takes", "Ask for a larger epsilon or a number of features.")
            if n_select is None
            else (f"n_features_to_select={self.n_features_to_select!r} means", "Ask for fewer.")
        )
        warn(f"{reason} {wanted} features and X has {n_features}: all are kept, unscaled. {remedy}")
        return Sample(np.arange(n_features), np.ones(n_features))

    def _fewest_that_keep(self, basis: Basis, seed: int) -> int:
        """Return the smallest number of features whose measured λ is at least 1 − epsilon.

        Doubling finds a number that is enough, bisection the smallest, to one part in 64: a
        sample of one more feature is a new sample, and λ does not rise without setbacks.
        """

        def keeps(size: int) -> bool:
            try:
                sample = self._scaled_sample(basis, size, seed)
            except EmptySampleError:
                return False
            return extreme_eigenvalues(basis, sample)[0] >= 1 - self.epsilon

        most = min(self._most_needed(basis), self.n_features_in_)
        enough = min(self._fewest_possible(basis), most)
        too_few = enough - 1
        while enough < most and not keeps(enough):
            too_few, enough = enough, min(2 * enough, most)
        while enough - too_few > max(1, enough // 64):
            middle = (too_few + enough) // 2
            too_few, enough = (too_few, middle) if keeps(middle) else (middle, enough)
        return enough

    def _scaled_sample(self, basis: Basis, n_select: int, seed: int) -> Sample:
        sample = self._sample(basis, n_select, seed)
        if self.rescale:
            return sample
        return Sample(sample.indices, np.ones_like(sample.weights))

    @contextmanager
    def _task(self, tasks: Any, name: str) -> Iterator[None]:
        task = tasks.subcontext(task_name=name)
        task.call_on_fit_task_begin(estimator=self)
        yield
        task.call_on_fit_task_end(estimator=self)


def _with_all_classes(rows: Rows, everyone: Rows) -> Rows:
    """Return rows to rank features by: all of them where the support lacks a class."""
    if everyone.y is None or len(np.unique(rows.y)) == len(np.unique(everyone.y)):
        return rows
    return everyone
