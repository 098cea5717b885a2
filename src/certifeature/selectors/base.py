"""The base class of the selectors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field
from html import escape
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_array, check_random_state
from sklearn.utils._param_validation import HasMethods, Interval, Options, RealNotInt, StrOptions
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted, validate_data

from certifeature._progress import CallbackSupportMixin, fit_task, with_callbacks
from certifeature._utils import FloatArray
from certifeature.certificate.certificate import as_sentences
from certifeature.models.problem import check_model, predicts_numbers
from certifeature.rows.blocks import RowBlocks
from certifeature.rows.dask import chosen_columns, column_names
from certifeature.rows.matrix import original_columns, refuse_dates, scaled_columns
from certifeature.rows.rows import as_rows, come_in_blocks, warn_if_unscaled
from certifeature.selectors.fit import Fit, FitResult, Strategy
from certifeature.sparsify import ColumnChoice

# Those that several selectors have, each by itself.
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
    "feature_groups": ["array-like", callable, None],
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


class CertifiedSelector(SelectorMixin, BaseEstimator):
    """A selector whose diagram in a notebook ends with its certificate's first line, if any."""

    indices_: NDArray[np.intp]
    n_features_in_: int

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = bool(getattr(self, "supervised", True))
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        certificate: Any = getattr(self, "certificate_", None)
        if certificate is not None and "text/html" in bundle:
            bundle["text/html"] += f"<p>{escape(as_sentences(certificate)[0])}</p>"
        return bundle

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[self.indices_] = True
        return mask


@contextmanager
def fitting(estimator: Any) -> Iterator[Any]:
    """Yield a copy to fit, whose fitted attributes the estimator gets together if nothing fails."""
    fitted = copy(estimator)
    fitted.__dict__ = _other_attributes(estimator)
    yield fitted
    estimator.__dict__ = vars(fitted) | _other_attributes(estimator)


def _other_attributes(estimator: Any) -> dict[str, Any]:
    return {name: value for name, value in vars(estimator).items() if not name.endswith("_")}


class TakesColumns(CertifiedSelector):
    """A selector that takes the columns that it has chosen, times their scales."""

    rescale: Any
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

    @property
    def support_(self) -> NDArray[np.bool_]:
        """Mask of the chosen features."""
        return self._get_support_mask()

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


@dataclass(kw_only=True, eq=False, repr=False)
class BaseSelector(CallbackSupportMixin, TakesColumns):
    """Base class of the selectors; a subclass supplies the algorithm.

    The fields are the parameters. The constructor assigns them and does nothing else, as
    scikit-learn asks; a subclass adds its own ones, or another default.
    """

    _parameter_constraints = CONSTRAINTS
    # The algorithm.
    _strategy: ClassVar[type[Strategy]]
    # Not a parameter of every selector.
    guarantee = "support"

    n_features_to_select: int | float | str = field(default=100, kw_only=False)
    epsilon: float = 0.5
    supervised: bool = True
    estimator: Any = None
    basis: str = "auto"
    n_components: int | None = None
    rescale: str | bool = "each"
    random_state: Any = 0

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Choose features.

        Parameters
        ----------
        X : array-like, sparse array or matrix, of shape (n_samples, n_features), or blocks
            Training data. Rows that do not fit into memory can be passed as a Dask array or data
            frame, or as `certifeature.rows.RowBlocks`, which contain the labels.
        y : array-like of shape (n_samples,), default=None
            Class labels, or numbers for a regressor; required with ``supervised=True``, ignored
            otherwise.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the rows, passed on to the model. Rows of weight 0 are ignored,
            and a row of weight 2 counts like two equal rows.

        Returns
        -------
        self : object
            Fitted selector.
        """
        # With guarantee="full" all but the support vectors are found in rounds, which are one
        # phase.
        n_phases = 2 if self.guarantee == "full" else 4 + bool(self.supervised)
        with fit_task(self, n_phases=n_phases, X=X, y=y), fitting(self) as fitted:
            fit = Fit.of(fitted._checked(X, y, sample_weight))
            choose = fit.result_for_all_rows if self.guarantee == "full" else fit.result
            fitted._learn(choose(self.n_features_to_select))
        return self

    @property
    def n_features_(self) -> int:
        """Number of chosen features."""
        check_is_fitted(self)
        return len(self.indices_)

    @property
    def ranking_(self) -> NDArray[np.intp]:
        """Rank of each feature: 1 for those chosen, the others by their scores."""
        groups, ranking = self.fit_result_.groups, self.fit_result_.ranking
        ranks = np.ones(len(groups), dtype=np.intp)
        others = np.setdiff1d(np.arange(len(groups)), groups.of(self.indices_))
        assert ranking.ties is not None
        order = np.lexsort((ranking.ties[others], -ranking.scores[others]))
        ranks[others[order]] = np.arange(2, len(others) + 2)
        return groups.spread(ranks)

    def _checked(self, X: Any, y: Any, sample_weight: Any = None) -> Strategy:
        """Check parameters and data, and set the number and names of the features."""
        self._validate_params()
        check_together(self)
        if self.supervised and y is None and not isinstance(X, RowBlocks):
            raise ValueError(
                f"{type(self).__name__} with supervised=True requires y to be passed, but the "
                "target y is None; pass labels or set supervised=False."
            )
        # Row blocks contain their labels, and refuse others.
        labels = y if self.supervised or isinstance(X, RowBlocks) else None
        numbers = predicts_numbers(self.estimator, labels)
        rows = as_rows(X, labels, sample_weight, estimator=self, real_valued=numbers)
        warn_if_unscaled(rows)
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        return self._strategy(self, rows, seed)

    def _rescaling(self) -> Any:
        """Return how columns are scaled."""
        return self.rescale

    def choices_of_sizes(self, X: Any, y: Any, sizes: Sequence[int]) -> Iterator[ColumnChoice]:
        """Return an iterator over the choices for several numbers of features, without a fit.

        Work that does not depend on the number is done once, before the first choice.

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
        # A subclass may have a fit of its own, and the rounds for all rows depend on the size.
        if type(self).fit is not BaseSelector.fit or self.guarantee == "full":
            fits = fitted_to_sizes(self, X, y, sizes)
            return (ColumnChoice(fitted.indices_, fitted.scales_) for fitted in fits)
        known = clone(self).set_params(n_features_to_select=int(sizes[0]))
        fit = Fit.of(known._checked(X, y))
        fit.directions(int(sizes[0]))
        return map(fit.columns, map(int, sizes))

    def _learn(self, result: FitResult) -> None:
        """Set the attributes that a fit determines."""
        self.fit_result_ = result
        groups, ranking, reasons = result.groups, result.ranking, result.columns.reasons
        self.scores_, self.basis_ = groups.spread(ranking.scores), result.basis
        self.indices_, self.scales_ = result.columns.indices, result.columns.scales
        self.n_features_to_select_, self.n_rounds_ = result.size, result.n_rounds
        self.certificate_, support, rows = result.certificate, result.support, result.rows
        self.estimator_ = None if support is None else support.estimator
        n_rows = 0 if result.basis is None else result.basis.n_rows
        self.support_rows_ = np.arange(n_rows) if rows is None else rows.places
        trusted, in_groups = ranking.trusted, groups.labels is not None
        optional = {
            "reasons_": None if reasons is None else reasons[groups.firsts(self.indices_)],
            "trusted_scores_": None if trusted is None else groups.spread(trusted),
            "feature_groups_": groups.labels,
            "group_names_": groups.names,
            "group_indices_": groups.of(self.indices_) if in_groups else None,
            "n_passes_": getattr(support, "n_passes", None),
            "optimality_gap_": getattr(support, "optimality_gap", None),
        }
        for name, value in optional.items():
            if value is not None:
                setattr(self, name, value)


def fitted_to_sizes(selector: Any, X: Any, y: Any, sizes: Sequence[int]) -> Iterator[Any]:
    """Yield a fitted copy of a selector for each size, equal to one fitted by itself.

    Selectors of this library share the work that does not depend on the size.

    Parameters
    ----------
    selector : selector
        Selector with the parameter ``n_features_to_select``.
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
    fit = Fit.of(known._checked(X, y))
    choose = fit.result_for_all_rows if known.guarantee == "full" else fit.result
    for size in sizes:
        fitted = copy(known).set_params(n_features_to_select=size)
        fitted._learn(choose(size))
        yield fitted
