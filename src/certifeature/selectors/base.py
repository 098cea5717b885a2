"""The estimator that all selectors share: parameters in, attributes out."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import validate_data

from certifeature.basis.digest import Digest
from certifeature.basis.span import BasisFacts, empty_digest
from certifeature.certificate import Certificate
from certifeature.rows.blocks import Block, RowBlocks, checked_rows
from certifeature.rows.dates import refuse_dates
from certifeature.rows.rows import Rows, as_rows
from certifeature.selectors.callbacks import telling_callbacks
from certifeature.selectors.columns import TakesColumns
from certifeature.selectors.method import Method, Request
from certifeature.selectors.notebook import ShownInNotebooks
from certifeature.selectors.parameters import CONSTRAINTS, check_together, requested_size
from certifeature.selectors.pipeline import Selection, run, select
from certifeature.selectors.prepared import Preparation
from certifeature.support.accepted import predicts_numbers

__all__ = ["BaseSelector"]


def _is_unsupervised(selector: Any) -> bool:
    if selector.supervised:
        raise AttributeError(
            "the support vectors of rows to come are not known, so partial_fit needs "
            "supervised=False."
        )
    return True


class BaseSelector(CallbackSupportMixin, TakesColumns, ShownInNotebooks):
    """Base of the selectors; a subclass says by which method features are chosen."""

    _parameter_constraints = CONSTRAINTS

    n_features_to_select: Any
    epsilon: float
    supervised: bool
    guarantee: str
    estimator: Any
    basis: str
    n_components: int | None
    rescale: Any
    random_state: Any
    n_features_in_: int
    n_features_to_select_: int
    basis_: BasisFacts
    certificate_: Certificate
    selection_: Selection
    _digest: Digest | None

    @abstractmethod
    def _method(self) -> Method:
        """Return the method that the parameters stand for, after a check of its own."""

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Choose features.

        Parameters
        ----------
        X : array-like, sparse array or matrix, of shape (n_samples, n_features), or blocks
            Training data. Rows that do not fit into memory come as a Dask array or data frame, or
            as `certifeature.rows.RowBlocks`, which bring their labels along.
        y : array-like of shape (n_samples,), default=None
            Class labels, or numbers for an estimator that predicts numbers; needed with
            ``supervised=True``, ignored otherwise.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the rows. The model gets them, a row of weight zero does not
            exist, and a row of weight 2 counts like two equal rows.

        Returns
        -------
        self : object
            Fitted selector.
        """
        method = self._checked_method(X, y)
        # With guarantee="full" all but the support rows are found in rounds, which are one phase.
        n_phases = 2 if self.guarantee == "full" else 4 + self.supervised
        tasks = self._init_callback_context(max_subtasks=n_phases)
        tasks.call_on_fit_task_begin(estimator=self, X=X, y=y)
        rows, method = self._admitted(X, y, sample_weight, method)
        with telling_callbacks(self, tasks):
            selection = run(rows, self._request(), method)
        self._learn(selection)
        tasks.call_on_fit_task_end(estimator=self, X=X, y=y)
        return self

    @available_if(_is_unsupervised)
    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Choose features again, with more rows.

        What is kept of the rows before are random combinations (and the rows themselves, while they
        are few), so this works with ``supervised=False`` only. All rows at once give the same
        choice.

        Parameters
        ----------
        X : {array-like, sparse array or matrix} of shape (n_samples, n_features)
            More rows.
        y : Ignored
            For the sake of the interface.

        Returns
        -------
        self : object
            Fitted selector.
        """
        self._validate_params()
        check_together(self)
        digest: Digest | None = getattr(self, "_digest", None)
        refuse_dates(X)
        X = validate_data(self, X, dtype=np.float64, accept_sparse="csr", reset=digest is None)
        settings = (self.basis, self.n_components)
        if digest is None:
            self._digest_settings, self._digest_seed = settings, self._seed()
            digest = empty_digest(self.n_features_in_, *settings, self._digest_seed)
        if settings != self._digest_settings:
            raise ValueError(
                "basis or n_components changed since the first rows; call fit to start again."
            )
        X = checked_rows(X, self.n_features_in_, "X")
        self._digest = digest = digest.added(Block(X, None, digest.n_rows))
        request = self._request(self._digest_seed)
        names = getattr(self, "feature_names_in_", None)
        method = self._method().of_features(self.n_features_in_, names)
        self._learn(select(Preparation(digest, None, request, method), request, method))
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = bool(self.supervised)
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _checked_method(self, X: Any, y: Any) -> Method:
        """Return the method, or raise if parameters do not suit each other, or labels are missing.

        Rows that partial_fit has seen are forgotten.
        """
        self._validate_params()
        check_together(self)
        method = self._method()
        if self.supervised and y is None and not isinstance(X, RowBlocks):
            raise ValueError(
                f"{type(self).__name__} with supervised=True requires y to be passed, but the "
                "target y is None; pass labels or set supervised=False."
            )
        self._digest = None
        return method

    def _admitted(self, X: Any, y: Any, sample_weight: Any, method: Method) -> tuple[Rows, Method]:
        """Return checked rows, whose features are known from now on, and the method for these."""
        if not self.supervised and isinstance(X, RowBlocks) and y is not None:
            raise ValueError("row blocks bring their labels along; leave y out (None).")
        rows = as_rows(
            X,
            y if self.supervised else None,
            sample_weight,
            estimator=self,
            real_valued=predicts_numbers(self.estimator),
        )
        return rows, method.of_features(rows.n_features, rows.feature_names)

    def _seed(self) -> int:
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _rescaling(self) -> Any:
        """Return how columns are scaled."""
        return self.rescale

    def _request(self, seed: int | None = None) -> Request:
        """Return what is asked for, given that the number of features is known."""
        return Request(
            requested_size(self.n_features_to_select, self.n_features_in_),
            self.epsilon,
            self.supervised,
            self.guarantee == "full",
            self.estimator,
            self.basis,
            self.n_components,
            self._rescaling(),
            self._seed() if seed is None else seed,
        )

    def _learn(self, selection: Selection) -> None:
        """Set what a fit found."""
        self.selection_ = selection
        self.scores_, self.basis_ = selection.ranking.scores, selection.basis
        self.indices_, self.weights_ = selection.sample.indices, selection.sample.weights
        for name, value in (
            ("reasons_", selection.sample.reasons),
            ("trusted_scores_", selection.ranking.trusted),
        ):
            self.__dict__.pop(name, None)
            if value is not None:
                setattr(self, name, value)
        self.n_features_to_select_, self.n_rounds_ = selection.size, selection.n_rounds
        self.certificate_ = selection.certificate
        support = selection.support
        self.estimator_ = None if support is None else support.model
        rows = selection.rows
        self.support_rows_ = np.arange(selection.basis.n_rows) if rows is None else rows.places
        for name in ("n_passes", "optimality_gap"):
            self.__dict__.pop(f"{name}_", None)
            if support is not None and getattr(support, name) is not None:
                setattr(self, f"{name}_", getattr(support, name))
