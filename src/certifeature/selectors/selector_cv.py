"""Number of features by cross-validation."""

from __future__ import annotations

from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.metrics import check_scoring
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold, check_cv
from sklearn.utils._param_validation import Interval

from certifeature.evaluation.engine import Candidate, SizeSearch, cross_validate, table_and_rows
from certifeature.evaluation.splits import Splits, checked_groups
from certifeature.models.problem import default_model, predicts_numbers
from certifeature.models.support import fit_at_scale, for_scikit_learn
from certifeature.selectors.base import TakesColumns, fitting
from certifeature.selectors.best_subset import BestSubsetSelector
from certifeature.selectors.bss import BSSSelector

_OF_GROUPS = ("feature_groups_", "group_names_", "group_indices_")
_SERIES = np.array([1, 2, 5, 10, 20, 50, 100, 200, 500, 1000])


def default_sizes(n_features: int, fewest: int = 10) -> NDArray[np.intp]:
    """Return the sizes to compare: the fewest, round numbers to half of the features, and all."""
    series = _SERIES[(fewest < _SERIES) & (n_features / 2 >= _SERIES)]
    return np.unique(np.minimum([fewest, *series, n_features], n_features))


@dataclass(kw_only=True, eq=False, repr=False)
class SelectorCV(TakesColumns):
    """Choose features by another selector, and how many by cross-validation.

    In every fold features are chosen from the training rows alone, for several sizes; a model on
    them is scored on the rest. The size is the smallest one whose mean score is within one standard
    error of the best, or that of the best.

    Parameters
    ----------
    selector : BSSSelector or BestSubsetSelector, default=None
        What chooses; its ``n_features_to_select`` is ignored. None takes ``BSSSelector()``. Its
        ``estimator``, or the default of `BSSSelector`, is the model that is scored.
    min_features_to_select : int, default=10
        The smallest size.
    sizes : array-like of int, default=None
        Sizes to compare. None takes 10, 20, 50, 100, 200, 500 and 1000 from
        ``min_features_to_select`` to half of the features, and all features.
    cv : int, cross-validation generator or iterable, default=None
        The folds, as everywhere in scikit-learn: None takes five, stratified for
        classifiers. If `fit` gets groups, a number of folds keeps the rows of a group together.
    scoring : str or callable, default=None
        What is compared; None takes the score of the model: accuracy, or R² for numbers.
    one_standard_error : bool, default=True
        Whether to take the smallest size within one standard error of the best mean score; False
        takes the best, of equal ones the smallest.
    n_jobs : int, default=None
        Number of processes for the folds.

    Attributes
    ----------
    n_features_ : int
        Number of features that was found.
    selector_ : BSSSelector or BestSubsetSelector
        Fitted to all rows, for that number. It has the certificate.
    estimator_ : estimator
        The model, fitted to the chosen columns of all rows.
    support_ : ndarray of shape (n_features,)
        Mask of the chosen features.
    indices_, scales_, reasons_, certificate_
        Those of ``selector_``.
    feature_groups_, group_names_, group_indices_
        Those of ``selector_`` if it has ``feature_groups``, else None; sizes count groups then.
    cv_results_ : dict of ndarray
        With a value for each size, in ascending order: ``n_features``, ``mean_test_score``,
        ``std_test_score``, and ``split0_test_score`` and so on of the folds.
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where X has string column names.

    See Also
    --------
    BSSSelector, BestSubsetSelector : Choose a given number of features.
    sklearn.feature_selection.RFECV : The same for recursive elimination, with the best mean score.

    Notes
    -----
    The score of the size that was found is that of the best of several, and a little too good. For
    an honest estimate, cross-validate the whole of this selector.

    Where scikit-learn's metadata routing is enabled, groups that are given to a pipeline, or to
    `sklearn.model_selection.cross_validate` as ``params={"groups": groups}``, reach `fit`.

    Examples
    --------
    >>> from certifeature import BestSubsetSelector, SelectorCV
    >>> from certifeature.datasets import make_relevant_features
    >>> X, y = make_relevant_features(200, 1000, 20, random_state=0)
    >>> search = SelectorCV(cv=3).fit(X, y)
    >>> search.cv_results_["n_features"].tolist()
    [10, 20, 50, 100, 200, 500, 1000]
    >>> search.transform(X).shape == (200, search.n_features_)
    True
    >>> best = SelectorCV(BestSubsetSelector(), cv=3, one_standard_error=False).fit(X, y)
    >>> scores = best.cv_results_["mean_test_score"]
    >>> best.n_features_ == int(best.cv_results_["n_features"][scores.argmax()])
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "selector": [BSSSelector, BestSubsetSelector, None],
        "min_features_to_select": [Interval(Integral, 1, None, closed="left")],
        "sizes": ["array-like", None],
        "cv": ["cv_object"],
        "scoring": [str, callable, None],
        "one_standard_error": ["boolean"],
        "n_jobs": [Integral, None],
    }

    selector: BSSSelector | BestSubsetSelector | None = field(default=None, kw_only=False)
    min_features_to_select: int = 10
    sizes: ArrayLike | None = None
    cv: Any = None
    scoring: Any = None
    one_standard_error: bool = True
    n_jobs: int | None = None

    # Metadata routing passes groups on without being asked to.
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"groups": True}

    def fit(self, X: Any, y: Any, *, groups: Any = None) -> Self:
        """Find the number of features, and choose them.

        Parameters
        ----------
        X : {array-like, sparse array or matrix} of shape (n_samples, n_features)
            Training data.
        y : array-like of shape (n_samples,)
            Class labels, or numbers for an estimator that predicts numbers.
        groups : array-like of shape (n_samples,), default=None
            Group of each row, such as a patient, for the folds.

        Returns
        -------
        self : object
            Fitted selector.
        """
        with fitting(self) as fitted:
            fitted._search(X, y, groups)
        return self

    def _search(self, X: Any, y: Any, groups: Any) -> None:
        """Find the number of features, choose them, and fit the model."""
        self._validate_params()
        selector = BSSSelector() if self.selector is None else self.selector
        numbers = predicts_numbers(selector.estimator, y)
        table, rows = table_and_rows(X, y, estimator=self, real_valued=numbers)
        method = selector._strategy(selector, rows)
        sizes = self._sizes(len(method.fixed), len(method.groups))
        model = default_model(y) if selector.estimator is None else selector.estimator
        cv, labels = self.cv, rows.labels
        if groups is not None:
            groups = checked_groups(groups, rows.n_rows)
            if cv is None or isinstance(cv, Integral):
                kind = GroupKFold if numbers else StratifiedGroupKFold
                cv = kind(5 if cv is None else cv)
        folds = check_cv(cv, labels, classifier=not numbers).split(rows.X, labels, groups)
        splits, scorer = Splits(list(folds), groups=groups), check_scoring(model, self.scoring)
        candidate = Candidate.of("search", selector, model, sizes=tuple(sizes.tolist()))
        result = cross_validate(
            table, labels, [candidate], splits, n_jobs=self.n_jobs, scorer=scorer
        )
        scores = np.array([[o.score for o in outcomes] for outcomes in result.outcomes.values()])
        self.cv_results_ = {
            "n_features": sizes,
            "mean_test_score": scores.mean(axis=1),
            "std_test_score": scores.std(axis=1),
            **{f"split{number}_test_score": fold for number, fold in enumerate(scores.T)},
        }
        search = SizeSearch(candidate.sizes, -scores, np.ones(len(sizes)))
        self.n_features_ = search.size if self.one_standard_error else search.best
        self.selector_ = clone(selector).set_params(n_features_to_select=self.n_features_)
        self.selector_.fit(X, y)
        for name in ("indices_", "scales_", "reasons_", "certificate_", *_OF_GROUPS):
            setattr(self, name, getattr(self.selector_, name, None))
        # In the order of X, as `transform` returns them.
        order = np.argsort(self.indices_)
        chosen = rows.columns(self.indices_[order], self.scales_[order])
        fitted = fit_at_scale(model, chosen, labels)
        self.estimator_ = for_scikit_learn(fitted, chosen.spread.size())

    def _columns_and_scales(self) -> tuple[NDArray[np.intp], NDArray[np.float64] | None]:
        return self.selector_._columns_and_scales()

    def _sizes(self, n_fixed: int, n_features: int) -> NDArray[np.intp]:
        """Return the sizes to compare, in ascending order."""
        if self.sizes is None:
            # No size can be smaller than the number of always-included features.
            sizes = default_sizes(n_features, max(self.min_features_to_select, n_fixed))
        else:
            sizes = np.asarray(self.sizes)
            if sizes.ndim != 1 or sizes.dtype.kind not in "iu" or not sizes.size or sizes.min() < 1:
                raise ValueError(f"sizes must be positive whole numbers; got {self.sizes!r}.")
        if sizes.min() < n_fixed:
            fixed = f"{n_fixed} features are fixed"
            raise ValueError(f"sizes has {sizes.min()}, and {fixed}; raise it or fix fewer.")
        return np.unique(np.minimum(sizes, n_features)).astype(np.intp)
