"""Other methods, to compare with: leverage-score sampling, pivoted QR and uniform draws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certifeature.basis import Basis
from certifeature.certificate.promise import sampling_promise
from certifeature.models.support import Support
from certifeature.rows.rows import Rows
from certifeature.selectors.base import BaseSelector
from certifeature.selectors.fit import Picks, Ranking, Strategy
from certifeature.sparsify import ColumnChoice, leverage_scores
from certifeature.sparsify.rrqr import rrqr
from certifeature.sparsify.sampling import leverage_sample, uniform


class _LeverageStrategy(Strategy):
    """Draws in proportion to leverage scores."""

    def rank(self, rows: Rows | None, support: Support | None, basis: Basis) -> Ranking:
        return Ranking(self.groups.sums(leverage_scores(basis.vectors)))

    def choose(self, basis: Basis, mu: float | None, size: int, ranking: Ranking) -> Picks:
        options: Any = {"groups": self.groups.labels, "random_state": self.seed}
        sample = leverage_sample(basis.vectors, size, **options)
        n_components = basis.n_components
        promise = sampling_promise("leverage-score sampling", n_components, n_components, size)
        return Picks(sample, basis, promise)


@dataclass(kw_only=True, eq=False, repr=False)
class LeverageScoreSelector(BaseSelector):
    """Choose features at random, with probabilities in proportion to their leverage scores.

    The leverage score of feature i is ‖v_i‖², with V an orthonormal basis of the rows that
    features are chosen for (ℓ directions). Draws with p_i = ‖v_i‖²/ℓ, scaled by 1/√(r·p_i), keep
    VᵀRRᵀV at I on average.

    Parameters
    ----------
    n_features_to_select : int, float or "certified", default=100
        Number r of draws, a share of the features, or the fewest whose measured certificate keeps
        ``epsilon``. A feature drawn twice counts once, so the number chosen is mostly smaller.
    epsilon : float, default=0.5
        Tolerance of ``"certified"``, as for :class:`BSSSelector`.
    supervised : bool, default=True
        Whether the features are chosen for the support vectors of the model trained on all features
        (all rows for logistic and ridge regression), or for all rows without labels.
    estimator : estimator, default=None
        The linear model that features are chosen for: ``SVC(kernel="linear")``, ``LinearSVC``,
        ``LogisticRegression`` with an l2 penalty, ``RidgeClassifier``, or, for real-valued targets,
        ``Ridge`` or ``LinearSVR(loss="squared_epsilon_insensitive")``. None is
        the default of `BSSSelector`. With ``supervised=False`` it only says which model the bounds
        are for, and None stands for any.
    basis : {"auto", "exact", "truncated", "sketch"}, default="auto"
        How the row space is found: all of it; its ``n_components`` leading directions; or the span
        of ``n_components`` random combinations of the rows. "auto" is exact up to 2,000 directions
        and 2**28 values of V, and a sketch beyond.
    n_components : int, default=None
        Number of directions of a truncated or sketched basis; None takes 256 for
        a sketch.
    rescale : {"common", "each", False}, default="each"
        How `transform` scales the chosen columns: all by one factor, which makes up for what is
        left out, so that C keeps its meaning; each by a scale of its own, for the draws of it; or
        not at all.
    random_state : int, RandomState instance or None, default=0
        Seed for the draws, the sketch and LIBLINEAR; None draws anew at every call.
    feature_groups : list of lists, array-like of shape (n_features,) or callable, default=None
        Groups of features, such as the one-hot columns of a category, each of which is chosen or
        left out as a whole, with one scale: the columns of each group, as indices or names; or the
        label of each feature's group; or a function from the name of a feature to that label, such
        as ``lambda name: name.rpartition("_")[0]``. Features in no list, and those whose label is
        None or empty, are groups of one. ``n_features_to_select`` counts groups then.

    Attributes
    ----------
    indices_ : ndarray of shape (n_chosen,)
        Chosen features in the order of their choice.
    scales_ : ndarray of shape (n_chosen,)
        Scale that `transform` gives to each of ``indices_``.
    scores_ : ndarray of shape (n_features,)
        Leverage scores.
    n_features_to_select_ : int
        Number r of draws.
    support_rows_ : ndarray of shape (n_rows,)
        Rows of the training data that the features were chosen for.
    estimator_ : estimator or None
        The fitted model; None with ``supervised=False``.
    certificate_ : Certificate
        What the selection can cost: promised and measured. :func:`certify` adds what is realised.
    n_passes_, optimality_gap_ : int, float
        For support vectors found in blocks: passes over them, and the most by which the objective
        of the SVM can exceed the optimum, as a share of it.
    basis_ : BasisFacts
        Kind, number of directions, rank and exactness of the basis.
    fit_result_ : FitResult
        All that the fit found, for :func:`certify` to go on from.
    feature_groups_ : ndarray of shape (n_features,)
        Number of the group of each feature, by first features; only with ``feature_groups``.
    group_names_ : list of str
        Names of the groups: their labels, positions in the list, or single features.
    group_indices_ : ndarray of shape (n_chosen_groups,)
        Chosen groups in the order of their choice.
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where X has string column names.

    See Also
    --------
    BSSSelector : Keeps a better bound with fewer features, without randomness.

    References
    ----------
    .. [1] A. Dasgupta, P. Drineas, B. Harb, V. Josifovski and M. Mahoney, *Feature Selection
           Methods for Text Classification*, KDD 2007.

    Examples
    --------
    >>> from certifeature import LeverageScoreSelector
    >>> from certifeature.datasets import make_relevant_features
    >>> X, y = make_relevant_features(200, 1000, 40, random_state=0)
    >>> selector = LeverageScoreSelector(30, random_state=0).fit(X, y)
    >>> len(selector.indices_) <= 30
    True
    """

    _strategy = _LeverageStrategy

    feature_groups: Any = None


class _RRQRStrategy(Strategy):
    """Pivots of a QR factorisation of the rows."""

    def rank(self, rows: Rows | None, support: Support | None, basis: Basis) -> Ranking:
        return Ranking(np.linalg.norm(_compressed(basis), axis=0))

    def choose(self, basis: Basis, mu: float | None, size: int, ranking: Ranking) -> Picks:
        chosen = rrqr(_compressed(basis), size, ties=ranking.ties).indices
        # Pivoting gives no scales; this one makes the mean eigenvalue of M = VᵀRRᵀV equal to 1.
        scale = np.sqrt(basis.n_components) / np.linalg.norm(basis.vectors[chosen])
        return Picks(ColumnChoice(chosen, np.full(size, scale)), basis)


def _compressed(basis: Basis) -> NDArray[np.float64]:
    """Return ΣVᵀ, whose pivots are those of the rows: X = UΣVᵀ and U keeps all distances."""
    # Relative to the largest, so that squares of huge or tiny values stay in range.
    shares = basis.singular_values / basis.singular_values[0]
    return np.asarray((np.asarray(basis.vectors) * shares).T)


@dataclass(kw_only=True, eq=False, repr=False)
class RRQRSelector(BaseSelector):
    """Choose features by QR factorisation with column pivoting.

    Each choice is the column farthest from the span of those before it; beyond the rank the chosen
    columns are left out and the factorisation starts again.

    Parameters
    ----------
    n_features_to_select : int, float or "certified", default=100
        Number of features, a fraction of them, or the fewest, in the order of the pivots, whose
        measured certificate keeps ``epsilon``.
    epsilon : float, default=0.5
        Tolerance of ``"certified"``, as for :class:`BSSSelector`.
    supervised : bool, default=True
        Whether the features are chosen for the support vectors of the model trained on all features
        (all rows for logistic and ridge regression), or for all rows without labels.
    estimator : estimator, default=None
        The linear model that features are chosen for: ``SVC(kernel="linear")``, ``LinearSVC``,
        ``LogisticRegression`` with an l2 penalty, ``RidgeClassifier``, or, for real-valued targets,
        ``Ridge`` or ``LinearSVR(loss="squared_epsilon_insensitive")``. None is
        the default of `BSSSelector`. With ``supervised=False`` it only says which model the bounds
        are for, and None stands for any.
    basis : {"auto", "exact", "truncated", "sketch"}, default="auto"
        How the row space is found: all of it; its ``n_components`` leading directions; or the span
        of ``n_components`` random combinations of the rows. "auto" is exact up to 2,000 directions
        and 2**28 values of V, and a sketch beyond.
    n_components : int, default=None
        Number of directions of a truncated or sketched basis; None takes 256 for
        a sketch.
    rescale : {"common", "each", False}, default="common"
        How `transform` scales the chosen columns: all by one factor, which makes up for what is
        left out, so that C keeps its meaning; by the factor that brings the eigenvalues of VᵀRRᵀV
        to 1 on average; or not at all.
    random_state : int, RandomState instance or None, default=0
        Seed for the sketch and LIBLINEAR; None draws anew at every call.

    Attributes
    ----------
    indices_ : ndarray of shape (n_chosen,)
        Chosen features in the order of their choice.
    scales_ : ndarray of shape (n_chosen,)
        Scale that `transform` gives to each of ``indices_``.
    scores_ : ndarray of shape (n_features,)
        Norms of the columns, relative to the largest singular value of the rows: where pivoting
        begins.
    n_features_to_select_ : int
        Number of features asked for.
    support_rows_ : ndarray of shape (n_rows,)
        Rows of the training data that the features were chosen for.
    estimator_ : estimator or None
        The fitted model; None with ``supervised=False``.
    certificate_ : Certificate
        What the selection can cost: promised and measured. :func:`certify` adds what is realised.
    n_passes_, optimality_gap_ : int, float
        For support vectors found in blocks: passes over them, and the most by which the objective
        of the SVM can exceed the optimum, as a share of it.
    basis_ : BasisFacts
        Kind, number of directions, rank and exactness of the basis.
    fit_result_ : FitResult
        All that the fit found, for :func:`certify` to go on from.
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where X has string column names.

    References
    ----------
    .. [1] S. Chandrasekaran and I. Ipsen, *On Rank-Revealing Factorisations*, SIAM Journal on
           Matrix Analysis and Applications, 1994.

    Examples
    --------
    >>> from certifeature import RRQRSelector
    >>> from certifeature.datasets import make_relevant_features
    >>> X, y = make_relevant_features(200, 1000, 40, random_state=0)
    >>> RRQRSelector(30).fit_transform(X, y).shape
    (200, 30)
    """

    _strategy = _RRQRStrategy
    rescale: str | bool = "common"


class _UniformStrategy(Strategy):
    """Uniform draws without replacement."""

    def rank(self, rows: Rows | None, support: Support | None, basis: Basis) -> Ranking:
        return Ranking(np.full(len(self.groups), 1 / len(self.groups)))

    def choose(self, basis: Basis, mu: float | None, size: int, ranking: Ranking) -> Picks:
        n_groups = len(self.groups)
        coherence = n_groups * float(self.groups.sums(leverage_scores(basis.vectors)).max())
        promise = sampling_promise("uniform sampling", basis.n_components, coherence, size)
        return Picks(self.groups.columns(uniform(n_groups, size, self.seed)), basis, promise)


@dataclass(kw_only=True, eq=False, repr=False)
class RandomSelector(BaseSelector):
    """Choose features uniformly at random: the baseline of every other method.

    Parameters
    ----------
    n_features_to_select : int, float or "certified", default=100
        Number of features, a fraction of them, or the fewest whose measured certificate keeps
        ``epsilon``.
    epsilon : float, default=0.5
        Tolerance of ``"certified"``, as for :class:`BSSSelector`.
    supervised : bool, default=True
        Whether the features are chosen for the support vectors of the model trained on all features
        (all rows for logistic and ridge regression), or for all rows without labels.
    estimator : estimator, default=None
        The linear model that features are chosen for: ``SVC(kernel="linear")``, ``LinearSVC``,
        ``LogisticRegression`` with an l2 penalty, ``RidgeClassifier``, or, for real-valued targets,
        ``Ridge`` or ``LinearSVR(loss="squared_epsilon_insensitive")``. None is
        the default of `BSSSelector`. With ``supervised=False`` it only says which model the bounds
        are for, and None stands for any.
    basis : {"auto", "exact", "truncated", "sketch"}, default="auto"
        How the row space is found: all of it; its ``n_components`` leading directions; or the span
        of ``n_components`` random combinations of the rows. "auto" is exact up to 2,000 directions
        and 2**28 values of V, and a sketch beyond.
    n_components : int, default=None
        Number of directions of a truncated or sketched basis; None takes 256 for
        a sketch.
    rescale : {"common", "each", False}, default="each"
        How `transform` scales the chosen columns: all by one factor, which makes up for what is
        left out, so that C keeps its meaning; by √(d/r), which is right on average; or not at all.
    random_state : int, RandomState instance or None, default=0
        Seed for the draws, the sketch and LIBLINEAR; None draws anew at every call.
    feature_groups : list of lists, array-like of shape (n_features,) or callable, default=None
        Groups of features, such as the one-hot columns of a category, each of which is chosen or
        left out as a whole, with one scale: the columns of each group, as indices or names; or the
        label of each feature's group; or a function from the name of a feature to that label, such
        as ``lambda name: name.rpartition("_")[0]``. Features in no list, and those whose label is
        None or empty, are groups of one. ``n_features_to_select`` counts groups then.

    Attributes
    ----------
    indices_ : ndarray of shape (n_chosen,)
        Chosen features in the order of their choice.
    scales_ : ndarray of shape (n_chosen,)
        Scale that `transform` gives to each of ``indices_``.
    scores_ : ndarray of shape (n_features,)
        Probability of each feature in one draw.
    n_features_to_select_ : int
        Number of features asked for.
    support_rows_ : ndarray of shape (n_rows,)
        Rows of the training data that the features were chosen for.
    estimator_ : estimator or None
        The fitted model; None with ``supervised=False``.
    certificate_ : Certificate
        What the selection can cost: promised and measured. :func:`certify` adds what is realised.
    n_passes_, optimality_gap_ : int, float
        For support vectors found in blocks: passes over them, and the most by which the objective
        of the SVM can exceed the optimum, as a share of it.
    basis_ : BasisFacts
        Kind, number of directions, rank and exactness of the basis.
    fit_result_ : FitResult
        All that the fit found, for :func:`certify` to go on from.
    feature_groups_ : ndarray of shape (n_features,)
        Number of the group of each feature, by first features; only with ``feature_groups``.
    group_names_ : list of str
        Names of the groups: their labels, positions in the list, or single features.
    group_indices_ : ndarray of shape (n_chosen_groups,)
        Chosen groups in the order of their choice.
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where X has string column names.

    See Also
    --------
    LeverageScoreSelector : Draws the features that matter more often.

    Examples
    --------
    >>> from certifeature import RandomSelector
    >>> from certifeature.datasets import make_relevant_features
    >>> X, y = make_relevant_features(200, 1000, 40, random_state=0)
    >>> RandomSelector(30, random_state=0).fit_transform(X, y).shape
    (200, 30)
    """

    _strategy = _UniformStrategy
    feature_groups: Any = None
