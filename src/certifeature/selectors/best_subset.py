"""Selection of the features with the smallest training objective."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils._param_validation import Options, StrOptions

from certifeature.models import feature_weights
from certifeature.models.problem import Problem, with_scale
from certifeature.models.subset import SubsetProblem
from certifeature.models.support import Support
from certifeature.rows.rows import Rows
from certifeature.selectors.base import CONSTRAINTS, BaseSelector
from certifeature.selectors.fit import Picks, Ranking, Strategy
from certifeature.sparsify import ColumnChoice
from certifeature.sparsify.choice import as_indices

# Relative gap at which the relaxation is near enough to start exchanges from it.
_NEAR = 3e-2
# Least share that a feature starts from, as a part of the largest.
_SMALL = 1e-6


class _SubsetStrategy(Strategy):
    """Rounds the relaxation of the best subset, and improves it by exchanges."""

    uses_directions, default_cost = False, "soft"
    support: Any = None

    def __init__(self, selector: Any, given: Rows, seed: int = 0) -> None:
        super().__init__(selector, given, seed)
        fixed = () if selector.fixed_features is None else selector.fixed_features
        names = given.feature_names
        self.fixed = self.groups.of(as_indices(fixed, given.n_features, names, "fixed_features"))

    def of_rows(self, rows: Rows, support: Support | None) -> _SubsetStrategy:
        """Return the strategy for the rows among which support vectors were found."""
        strategy = copy(self)
        strategy.support = support
        return strategy

    def rank(self, rows: Rows | None, support: Any, basis: Any) -> Ranking:
        """Return the weights of the model on all features."""
        return Ranking(self.groups.scores(feature_weights(support.model, support.problem)))

    def choose(self, basis: Any, mu: float | None, size: int, ranking: Ranking) -> Picks:
        """Choose the groups with nearly the smallest objective."""
        if len(self.fixed) > size:
            raise ValueError(
                f"fixed_features names {len(self.fixed)} {self.groups.called}, more than the "
                f"{size} that are to be chosen; fix fewer, or raise n_features_to_select."
            )
        sets, largest = self._sets(size, ranking), float(ranking.scores.max())
        start = ranking.scores / largest if largest else np.ones(len(ranking.scores))
        relaxed = sets.relax(size, np.maximum(start, _SMALL), tolerance=_NEAR)
        chosen, fit = sets.splice(sets.rounded(relaxed, size))
        weights = sets.sizes(fit.weights)
        chosen = chosen[np.lexsort((-weights[chosen], ~sets.fixed[chosen]))]
        reasons = np.where(sets.fixed[chosen], "fixed", "best")
        return Picks(self.groups.columns(ColumnChoice(chosen, np.ones(size), None, reasons)), basis)

    def _sets(self, size: int, ranking: Ranking) -> SubsetProblem:
        """Return the objectives of sets, at the C for columns of so many largest weights."""
        rows, support = self.support.candidates, self.support
        first, _ = self.groups.members(ranking.best(ranking.scores, size))
        spread = support.spread or rows.spread
        model = with_scale(support.asked, spread.size(first) or spread.size())
        problem = Problem.of(model, rows.labels, rows.sample_weight, classes=support.classes)
        return SubsetProblem.of(rows.X, problem, self.groups.labels, self.fixed, ranking.ties)


class BestSubsetSelector(BaseSelector):
    r"""Choose the features with nearly the smallest training objective of any set of their size.

    Of all sets S of k features, that of least

    .. math:: P(S) = \min_{w, b} \tfrac12 \|w\|^2 + C \sum_i \ell(y_i, x_i \cdot w + b),
              \quad w_j = 0 \text{ for } j \notin S

    is sought: its relaxation is rounded, and the set improved by exchanges. `certify` bounds how
    much better any other set of k features could be, mostly by less than one percent where there
    are as many features as rows.

    Parameters
    ----------
    n_features_to_select : int or float, default=100
        Number of features, or share of them.
    estimator : estimator, default=None
        The linear model whose objective counts; None is an SVM that does not depend on the units
        of X and is softer than that of `BSSSelector`, so that choices recur more and are closer to
        the best: ``LinearSVC(C="soft", dual=False, intercept_scaling=np.inf)``; or ridge regression
        with ``alpha="soft"``, where y has decimals, or more different numbers than half of the
        rows. With ``C="hard"`` the margin counts, and hardly any slack is left.
    rescale : {"common", False}, default="common"
        Whether `transform` multiplies the chosen columns by one common factor, which brings short
        rows, such as texts of unit norm, back to the size that they had.
    fixed_features : array-like, default=None
        Always-included features, as indices, names or a boolean mask, with their groups; they
        count towards ``n_features_to_select``.
    feature_groups : list of lists, array-like of shape (n_features,) or callable, default=None
        Groups of features that are chosen or left out as a whole, as for `BSSSelector`;
        ``n_features_to_select`` counts groups then.

    Attributes
    ----------
    support_ : ndarray of bool, of shape (n_features,)
        Mask of the chosen features.
    indices_ : ndarray of shape (n_chosen,)
        Chosen features, those of largest weight first.
    n_features_ : int
        Number of chosen features.
    ranking_ : ndarray of shape (n_features,)
        Rank of each feature: 1 for those chosen, the others by ``scores_``.
    reasons_ : ndarray of shape (n_chosen,)
        "fixed" for always-included features, "best" for others.
    scales_ : ndarray of shape (n_chosen,)
        Scale that `transform` gives to each of ``indices_``.
    scores_ : ndarray of shape (n_features,)
        Sizes of the weights of the model on all features.
    estimator_ : estimator
        The model, fitted to all features.
    certificate_ : Certificate
        Bounds on what the choice costs for any labels; :func:`certify` adds what is proven for
        these labels: the realised cost, and how close the choice is to the best.
    fit_result_ : FitResult
        Everything that the fit found; `certify` continues from it.
    feature_groups_, group_names_, group_indices_
        As for `BSSSelector`; only with ``feature_groups``.
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X has string column names.

    See Also
    --------
    BSSSelector : Keeps the objective for any labels, and the distances of the rows.
    at_scale : What ``C="soft"`` and ``C="hard"`` are for some rows.
    certify : Bounds how much better other sets could be.

    References
    ----------
    .. [1] J. Zhu, C. Wen, J. Zhu, H. Zhang and X. Wang, *A polynomial algorithm for best-subset
           selection problem*, PNAS 117, 33117-33123, 2020.

    Examples
    --------
    >>> from certifeature import BestSubsetSelector, certify
    >>> from certifeature.datasets import make_relevant_features
    >>> X, y = make_relevant_features(100, 500, 20, random_state=0)
    >>> selector = BestSubsetSelector(50).fit(X, y)
    >>> selector.transform(X).shape
    (100, 50)
    >>> certify(X, y, selector).optimality.ratio > 0.9
    True
    """

    _strategy = _SubsetStrategy
    _parameter_constraints = {  # noqa: RUF012
        "n_features_to_select": CONSTRAINTS["n_features_to_select"][:2],
        "estimator": CONSTRAINTS["estimator"],
        "rescale": [StrOptions({"common"}), Options(bool, {False})],
        "fixed_features": ["array-like", None],
        "feature_groups": CONSTRAINTS["feature_groups"],
    }

    def __init__(
        self,
        n_features_to_select: int | float = 100,
        *,
        estimator: Any = None,
        rescale: str | bool = "common",
        fixed_features: ArrayLike | None = None,
        feature_groups: Any = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.estimator = estimator
        self.rescale = rescale
        self.fixed_features = fixed_features
        self.feature_groups = feature_groups
