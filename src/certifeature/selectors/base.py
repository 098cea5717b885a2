"""The base class of the selectors."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from copy import copy
from functools import cache
from html import escape
from importlib import metadata
from numbers import Integral, Real
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.callback import CallbackContext, CallbackSupportMixin, with_callbacks
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_array, check_random_state
from sklearn.utils._param_validation import HasMethods, Interval, Options, RealNotInt, StrOptions
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from certifeature._progress import Report, listening
from certifeature.basis.span import BasisFacts, RowSummary, empty_digest
from certifeature.certificate import Certificate
from certifeature.certificate.certificate import as_sentences
from certifeature.models.problem import check_model, predicts_numbers
from certifeature.rows.blocks import Block, RowBlocks, checked_rows
from certifeature.rows.dask import chosen_columns, column_names
from certifeature.rows.matrix import original_columns, refuse_dates, scaled_columns
from certifeature.rows.rows import Rows, as_rows, come_in_blocks
from certifeature.selectors.fit import (
    FitResult,
    Method,
    Preparation,
    Request,
    run,
    samples_of_sizes,
    select,
    selections_of_sizes,
)
from certifeature.sparsify import ColumnChoice

__all__ = [
    "CONSTRAINTS",
    "BaseSelector",
    "ShownInNotebooks",
    "TakesColumns",
    "as_one_task",
    "check_together",
    "fitted_to_sizes",
    "requested_size",
    "telling_callbacks",
]


# Those that all selectors have, each by itself.
CONSTRAINTS: dict[str, list[Any]] = {
    "n_features_to_select": [
        Interval(Integral, 1, None, closed="left"),
        Interval(RealNotInt, 0, 1, closed="right"),
        StrOptions({"certified"}),
    ],
    "epsilon": [Interval(Real, 0, 1, closed="neither")],
    "supervised": ["boolean"],
    "guarantee": [StrOptions({"support", "full"})],
    "estimator": [HasMethods("fit"), None],
    "basis": [StrOptions({"auto", "exact", "truncated", "sketch"})],
    "n_components": [Interval(Integral, 1, None, closed="left"), None],
    "rescale": [StrOptions({"common", "each"}), Options(bool, {False})],
    "random_state": ["random_state"],
}


def check_together(selector: Any) -> None:
    """Raise if parameters that are right by themselves make no sense together."""
    if isinstance(selector.n_features_to_select, bool):
        raise ValueError(
            "n_features_to_select counts features, or is a share of them; "
            f"got {selector.n_features_to_select}."
        )
    if selector.guarantee == "full" and not selector.supervised:
        raise ValueError(
            "supervised=False covers all rows as it is; guarantee='full' needs supervised=True."
        )
    if selector.estimator is not None:
        check_model(selector.estimator)
    if selector.basis == "exact" and selector.n_components is not None:
        raise ValueError(
            f"basis='exact' has as many directions as the rows have rank, so "
            f"n_components={selector.n_components} says nothing; use basis='truncated'."
        )
    if selector.basis == "truncated" and selector.n_components is None:
        raise ValueError("basis='truncated' needs n_components, the number of directions to keep.")


def requested_size(value: Any, n_features: int) -> int | None:
    """Return the number of features asked for, or None for ``"certified"``."""
    if isinstance(value, str):
        return None
    return int(value) if isinstance(value, Integral) else max(1, int(float(value) * n_features))


FloatArray = NDArray[np.float64]


class TakesColumns(SelectorMixin):
    """Takes the columns that a fit has chosen, times their scales."""

    rescale: Any
    n_features_in_: int
    indices_: NDArray[np.intp]
    scales_: FloatArray

    def transform(self, X: Any) -> Any:
        """Return the chosen columns of X, in the order of X, times their scales.

        With ``rescale=False`` they are returned as they are, integers and booleans included.

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
        columns, scales = self._columns_and_scales()
        if come_in_blocks(X):
            self._check_blocks(X)
            if isinstance(X, RowBlocks):
                return X.with_columns(columns, np.ones(len(columns)) if scales is None else scales)
            return chosen_columns(X, columns, scales)
        refuse_dates(X)
        values = validate_data(
            self, X, dtype=_types(scales), accept_sparse=("csr", "csc"), reset=False
        )
        if scales is not None:
            return scaled_columns(values[:, columns], scales.astype(values.dtype))
        as_frame = _get_output_config("transform", estimator=self)["dense"] != "default"
        # An array would bring the columns of a data frame to one type.
        return X.iloc[:, columns] if as_frame and hasattr(X, "iloc") else values[:, columns]

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
        columns, scales = self._columns_and_scales()
        X = check_array(X, dtype=_types(scales), accept_sparse=("csr", "csc"))
        if X.shape[1] != len(columns):
            raise ValueError(
                f"X has {X.shape[1]} columns, but {len(columns)} features were chosen; "
                "give what transform returned."
            )
        if scales is not None:
            X = scaled_columns(X, (1 / scales).astype(X.dtype))
        return original_columns(X, columns, self.n_features_in_)

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[self.indices_] = True
        return mask

    def _columns_and_scales(self) -> tuple[NDArray[np.intp], FloatArray | None]:
        """Return the chosen columns in the order of X, and their scales unless they have none."""
        order = np.argsort(self.indices_)
        scales = self.scales_[order]
        plain = not self.rescale and (scales == 1).all()
        return self.indices_[order], None if plain else scales

    def _check_blocks(self, X: Any) -> None:
        """Raise unless blocks have the features that the selector was fitted to."""
        n_features = X.n_features if isinstance(X, RowBlocks) else X.shape[1]
        if n_features != self.n_features_in_:
            raise ValueError(
                f"the blocks have {n_features} features, but {type(self).__name__} was fitted to "
                f"{self.n_features_in_}."
            )
        names = X.feature_names if isinstance(X, RowBlocks) else column_names(X)
        expected = getattr(self, "feature_names_in_", None)
        if names is not None and expected is not None and not np.array_equal(names, expected):
            raise ValueError(
                f"the features have other names, or another order, than those that "
                f"{type(self).__name__} was fitted to."
            )


def _types(scales: FloatArray | None) -> Any:
    """Return the types that columns may have: any that are numbers, unless they are scaled."""
    return "numeric" if scales is None else (np.float64, np.float32)


class ShownInNotebooks(BaseEstimator):
    """A diagram that links to the documentation and ends with what the certificate says first."""

    _doc_link_module = "certifeature"

    @property
    def _doc_link_template(self) -> str:
        """Address of the page of an estimator; empty, and so without a link, if there is none."""
        site = _documentation()
        return f"{site}/api/generated/certifeature.{{estimator_name}}.html" if site else ""

    def _html_repr(self) -> str:
        diagram: str = super()._html_repr()
        certificate: Any = getattr(self, "certificate_", None)
        if certificate is None:
            return diagram
        return f"{diagram}<p>{escape(as_sentences(certificate)[0])}</p>"


@cache
def _documentation() -> str:
    """Return the address that the package's metadata give for its documentation, or nothing."""
    try:
        addresses = metadata.metadata("certifeature").get_all("Project-URL") or []
    except metadata.PackageNotFoundError:
        return ""
    named = dict(address.split(", ", 1) for address in addresses)
    return named.get("Documentation", "").rstrip("/")


Result = TypeVar("Result")

_PERCENT = 100


def as_one_task(estimator: Any, name: str, work: Callable[[Any], Result]) -> Result:
    """Return what work makes of a copy of an estimator, as one task of the estimator's callbacks.

    Fits of the copy have no tasks of their own: they move this one along.

    Parameters
    ----------
    estimator : estimator
        With callbacks or without.
    name : str
        Of the task.
    work : callable
        Takes the copy; all that it does is one phase.
    """
    silent = clone(estimator)
    if not hasattr(estimator, "_skl_callbacks"):
        return work(silent)
    silent.set_callbacks()
    result: Result = _told(clone(estimator), name, lambda: work(silent))
    return result


@with_callbacks
def _told(estimator: Any, name: str, work: Callable[[], Result]) -> Result:
    task = estimator._init_callback_context(task_name=name, max_subtasks=1)
    task.call_on_fit_task_begin(estimator=estimator)
    with telling_callbacks(estimator, task):
        result = work()
    task.call_on_fit_task_end(estimator=estimator)
    return result


def telling_callbacks(estimator: Any, fit: CallbackContext) -> AbstractContextManager[None]:
    """Return a context whose phases become subtasks of a fit; none without callbacks."""
    if not hasattr(estimator, "_skl_callbacks"):
        return nullcontext()
    return listening(_Phases(estimator, fit).begin)


class _Phases:
    """A subtask for each phase; where steps are counted, one below it for every per cent of them.

    Phases inside of counted steps get no tasks, for there would be no end of them: they move those
    steps along.
    """

    def __init__(self, estimator: Any, fit: CallbackContext) -> None:
        self._estimator = estimator
        self._innermost = fit
        self._counted: _Counted | None = None

    @contextmanager
    def begin(self, name: str, total: int | None) -> Iterator[Report]:
        if self._counted is not None:
            yield self._counted.within_step(total)
            return
        around = self._innermost
        task = around.subcontext(task_name=name, max_subtasks=_PERCENT if total else None)
        task.call_on_fit_task_begin(estimator=self._estimator)
        self._innermost = task
        if total:
            self._counted = _Counted(self._estimator, task, total)
        try:
            yield _ignored if self._counted is None else self._counted.report
        finally:
            self._innermost, self._counted = around, None
        task.call_on_fit_task_end(estimator=self._estimator)


class _Counted:
    def __init__(self, estimator: Any, task: CallbackContext, total: int) -> None:
        self._estimator = estimator
        self._task = task
        self._total = total
        self._done = self._percent = 0

    def report(self, done: int) -> None:
        self._done = done
        self._reach(done)

    def within_step(self, total: int | None) -> Report:
        """Return what takes the number of smaller steps done, of those that make a part of one."""
        if not total:
            return _ignored
        before = self._done
        return lambda done: self._reach(before + done / total)

    def _reach(self, done: float) -> None:
        while self._percent < min(_PERCENT, int(_PERCENT * done / self._total)):
            task = self._task.subcontext()
            task.call_on_fit_task_begin(estimator=self._estimator)
            task.call_on_fit_task_end(estimator=self._estimator)
            self._percent += 1


def _ignored(done: int) -> None:
    pass


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
    fit_result_: FitResult
    _digest: RowSummary | None

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
        digest: RowSummary | None = getattr(self, "_digest", None)
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

    def choices_of_sizes(self, X: Any, y: Any, sizes: Sequence[int]) -> Iterator[ColumnChoice]:
        """Return an iterator over the choices for several numbers of features, without a fit.

        What does not depend on the number is computed once, before the first choice.

        Parameters
        ----------
        X, y
            Data, as `fit` takes them.
        sizes : sequence of int
            Numbers of features.

        Examples
        --------
        >>> from certifeature import BSSSelector
        >>> from certifeature.datasets import make_relevant_features
        >>> X, y = make_relevant_features(60, 300, 20, random_state=0)
        >>> [len(choice.indices) for choice in BSSSelector().choices_of_sizes(X, y, [10, 20])]
        [10, 20]
        """
        # A subclass may have a fit of its own, and rounds depend on the size.
        if type(self).fit is not BaseSelector.fit or self.guarantee == "full":
            fits = fitted_to_sizes(self, X, y, sizes)
            return (ColumnChoice(fitted.indices_, fitted.scales_) for fitted in fits)
        known = clone(self).set_params(n_features_to_select=int(sizes[0]))
        rows, method = known._admitted(X, y, None, known._checked_method(X, y))
        return samples_of_sizes(rows, known._request(), method, sizes)

    def _learn(self, selection: FitResult) -> None:
        """Set what a fit found."""
        self.fit_result_ = selection
        self.scores_, self.basis_ = selection.ranking.scores, selection.basis
        self.indices_, self.scales_ = selection.sample.indices, selection.sample.weights
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


def fitted_to_sizes(selector: Any, X: Any, y: Any, sizes: Sequence[int]) -> Iterator[Any]:
    """Yield a fitted copy of a selector for each size, just as if it were fitted by itself.

    Selectors of this library find once what does not depend on the size; others start again.

    Parameters
    ----------
    selector : selector
        With the parameter ``n_features_to_select``.
    X, y
        Data, as its ``fit`` takes them.
    sizes : sequence of int
        Numbers of features, increasing.

    Examples
    --------
    >>> from certifeature import BSSSelector
    >>> from certifeature.datasets import make_relevant_features
    >>> X, y = make_relevant_features(60, 300, 20, random_state=0)
    >>> [len(fitted.indices_) for fitted in fitted_to_sizes(BSSSelector(), X, y, [10, 20])]
    [10, 20]
    """
    # A subclass may have a fit of its own.
    if type(selector).fit is not BaseSelector.fit:
        for size in sizes:
            yield clone(selector).set_params(n_features_to_select=size).fit(X, y)
        return
    known = clone(selector).set_params(n_features_to_select=sizes[0])
    rows, method = known._admitted(X, y, None, known._checked_method(X, y))
    selections = selections_of_sizes(rows, known._request(), method, sizes)
    for size, selection in zip(sizes, selections, strict=True):
        fitted = copy(known).set_params(n_features_to_select=size)
        fitted._learn(selection)
        yield fitted
