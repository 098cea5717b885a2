"""Deterministic selection by spectral sparsification."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import Interval, Options, StrOptions

from certifeature._utils import FloatArray, IntArray, one_each
from certifeature.basis.basis import Basis, row_blocks, squared_norms
from certifeature.certificate.promise import bss_promise, ridge_cut
from certifeature.models import feature_weights, stable_scores
from certifeature.models.support import Support
from certifeature.rows.matrix import ranks
from certifeature.rows.rows import Rows
from certifeature.selectors.base import CONSTRAINTS, BaseSelector
from certifeature.selectors.fit import Picks, Ranking, Strategy
from certifeature.sparsify import ColumnChoice, bss
from certifeature.sparsify.choice import Groups, TooFewError, as_indices

# Rankings by fits of models, and rankings that need no labels.
LABELLED = ("coef", "stable")
BY_COVERAGE = ("cover", "leverage")
ORDERS = ("auto", *LABELLED, *BY_COVERAGE)
_FAINT = 0.1


def with_faint_last(scores: FloatArray, basis: Basis, whole: Basis, groups: Groups) -> FloatArray:
    """Return ranks in which groups come last that lie mostly outside a cut basis.

    BSS would scale such a feature by its small part inside the basis, and so enlarge the part
    outside.
    """
    if basis.outside is not None:
        shares = groups.sums(basis.outside.energies)
    elif basis.n_components == whole.n_components:
        return scores
    else:
        seen, there_is = (groups.sums(squared_norms(b.vectors)) for b in (basis, whole))
        shares = np.divide(seen, there_is, out=np.zeros_like(seen), where=there_is > 0)
    visible = shares >= _FAINT * shares.max()
    return ranks(visible, scores).astype(np.float64)


def checked_scores(scores: Any, n_features: int) -> FloatArray:
    """Return usable scores, one for each feature."""
    scores = one_each("order", scores, n_features, "features")
    if np.isnan(scores).any() or not np.isfinite(scores).any():
        raise ValueError("order gives no usable scores: they are NaN or all infinite.")
    return scores


def _own_scores(order: Callable[..., Any], rows: Rows) -> FloatArray:
    scores = order(rows.X, rows.y)
    # The score functions of sklearn.feature_selection return p-values too, and NaN for constant
    # features.
    scores = np.asarray(scores[0] if isinstance(scores, tuple) else scores, dtype=float)
    return np.where(np.isnan(scores), -np.inf, scores)


def missing_classes(support: Support, rows: Rows) -> NDArray[Any]:
    """Return the classes without rows; none for a regressor."""
    return np.setdiff1d(support.classes, rows.y if rows.y is not None else [])


def _ranked_by(order: Any, rows: Rows | None, support: Support | None) -> Rows:
    """Return the support vectors, or all rows in memory if a class has no support vectors."""
    if support is None:
        if rows is None:
            raise ValueError(
                "order is a function of all rows, and these come in blocks; use order='leverage' "
                "or an array."
            )
        return rows
    ranked = support.rows
    if missing_classes(support, ranked).size:
        ranked = support.candidates
    missing = missing_classes(support, ranked)
    if missing.size:
        raise ValueError(
            f"the class {missing.tolist()[0]!r} has no support vectors, and order={order!r} needs "
            "rows of all classes; use order='coef'."
        )
    return ranked


# Directions that BSS covers for each of its picks, where it cannot cover all: alone, and beside
# always-included features.
_COVERED_ALONE, _COVERED_BESIDE = 0.5, 0.6
# Weights of more rows hardly depend on a subsample.
_FEW_ROWS = 1000
# Leading directions: one for two picks, within these limits, and at most four for each.
_FEWEST_LEADING, _MAX_LEADING = 100, 128


class BSSStrategy(Strategy):
    """The top of a ranking, and BSS for the directions that it leaves uncovered.

    Attributes
    ----------
    head, fill : str, array-like or callable
        Rankings for the trusted share and for BSS.
    trust : float or None
        Share of the features that is taken from the top of the first ranking; None takes what
        covering does not need, 1 − ½·min(1, r/n) of r features for n rows.
    fixed : ndarray of int
        Groups of the always-included features.
    for_proof : bool
        Whether the bound for all directions has priority over the number of features: BSS then
        covers all directions where it can, and may return fewer features than asked for.
    may_cut : bool
        Whether directions may be left out where there are no more picks than directions.
    n_rows : float
        Number of rows that features are chosen for, or the sum of their weights.
    """

    def __init__(self, selector: Any, given: Rows, seed: int = 0) -> None:
        super().__init__(selector, given, seed)
        self.head, self.fill = selector._orders()
        self.trust = _share_trusted(self.head, selector.trust)
        for order in (self.head, self.fill):
            if not isinstance(order, str) and not callable(order):
                checked_scores(order, given.n_features)
            if not selector.supervised and isinstance(order, str) and order in LABELLED:
                raise ValueError(
                    f"order={order!r} ranks features by the weights of SVMs, so it needs "
                    "supervised=True; use order='leverage', 'cover', an array or a callable."
                )
        fixed = () if selector.fixed_features is None else selector.fixed_features
        names = given.feature_names
        self.fixed = self.groups.of(as_indices(fixed, given.n_features, names, "fixed_features"))
        self.for_proof = selector._rescaling() == "each" or selector._is_certified
        has_room = selector.n_components is None or self.trust != 0
        self.may_cut = selector.basis != "exact" and has_room
        self.n_rows = 1.0

    def of_rows(self, rows: Rows, support: Support | None) -> BSSStrategy:
        """Return the strategy for rows that features are chosen for."""
        weights, found = rows.sample_weight, copy(self)
        found.n_rows = rows.n_rows if weights is None else float(weights.sum())
        return found

    @property
    def ranks_directions(self) -> bool:
        """Whether one of the rankings depends on the basis."""
        return any(isinstance(o, str) and o in BY_COVERAGE for o in (self.head, self.fill))

    def rank(self, rows: Rows | None, support: Any, basis: Basis) -> Ranking:
        """Return the scores for BSS and for the trusted share."""
        head, fill = self.head, self.fill
        automatic = isinstance(self.selector.order, str) and self.selector.order == "auto"
        if automatic and support and not self._can_subsample(support):
            head = fill = "coef"
        found = []
        for order in [fill] if self.trust == 0 or head is fill else [fill, head]:
            if not isinstance(order, str):
                if callable(order):
                    ranked = _ranked_by(order, rows, support)
                    if support and ranked is support.rows:
                        ranked = support.as_given
                    order = _own_scores(order, ranked)
                found.append(self.groups.scores(checked_scores(order, self.groups.n_features)))
            elif order in BY_COVERAGE:
                found.append(np.round(self.groups.sums(squared_norms(basis.vectors)), 12))
            elif order == "coef":
                found.append(self.groups.scores(feature_weights(support.model, support.problem)))
            else:
                ranked = _ranked_by(order, rows, support)
                labelled = (support.model, ranked.X, ranked.labels, ranked.sample_weight)
                found.append(stable_scores(*labelled, seed=self.seed, groups=self.groups.labels))
        return Ranking(found[0], found[-1], self._redundant(found[-1], support))

    def _can_subsample(self, support: Support) -> bool:
        """Tell whether subsamples of few rows, of all classes, show which weights are stable."""
        few = support.rows.n_rows <= _FEW_ROWS
        return few and not missing_classes(support, support.rows).size

    def _redundant(self, scores: FloatArray, support: Support | None) -> NDArray[np.bool_]:
        """Tell which features copy a better one, or are constant beside a free intercept.

        A group is redundant if all its features are.
        """
        known = self.given if support is None else support.candidates
        keys = known.digests[0]
        ordered = np.sort(keys)
        redundant = np.isin(keys, ordered[1:][ordered[1:] == ordered[:-1]])
        if redundant.any():
            best = np.argsort(-scores, kind="stable")
            best = np.concatenate([self.fixed, best[~np.isin(best, self.fixed)]])
            best, _ = self.groups.members(best)
            best = best[redundant[best]]
            redundant[best[np.unique(keys[best], return_index=True)[1]]] = False
        if support is not None and support.problem and support.problem.intercept is None:
            redundant |= known.spread.variances == 0
        return np.asarray(self.groups.sums((~redundant).astype(np.float64)) == 0)

    def n_leading(self, size: int) -> int | None:
        """Return half of the number of picks, within limits; None where all directions count."""
        if self.for_proof:
            return None
        n_picks = size - self._n_kept(size)
        n_leading = np.clip(n_picks // 2, _FEWEST_LEADING, _MAX_LEADING)
        return int(np.clip(4 * n_picks, 1, n_leading))

    def kept(self, ranking: Ranking, size: int) -> tuple[IntArray, NDArray[np.str_]]:
        """Return the groups that are not picked by BSS, and the reason for each."""
        if len(self.fixed) > size:
            raise TooFewError(
                f"fixed_features names {len(self.fixed)} {self.groups.called}, more than the "
                f"{size} that are to be chosen; fix fewer, or raise n_features_to_select."
            )
        assert ranking.trusted is not None
        n_kept = self._n_kept(size)
        best = ranking.best(ranking.trusted, n_kept)
        trusted = best[~np.isin(best, self.fixed)][: n_kept - len(self.fixed)]
        reasons = np.repeat(["fixed", "trusted"], [len(self.fixed), len(trusted)])
        return np.concatenate([self.fixed, trusted]), reasons

    def _n_kept(self, size: int) -> int:
        n_fixed, trust = len(self.fixed), self.trust
        if trust is None:
            trust = 1 - min(1.0, size / self.n_rows) / 2
        # Rounded, since 0.1 · 30 is a little more than 3 in floating point.
        return n_fixed + int(np.ceil(round(trust * (size - n_fixed), 9)))

    def everything(self) -> ColumnChoice:
        """Return all features, with their reasons."""
        everything = super().everything()
        chosen = everything.indices if everything.groups is None else everything.groups
        reasons = np.where(np.isin(chosen, self.fixed), "fixed", "cover")
        return replace(everything, reasons=reasons)

    def covered(self, basis: Basis, kept: IntArray, n_picks: int) -> Basis:
        """Return the directions that so many picks can cover beside the groups that are kept.

        If they cannot cover all, these are the directions along which the other features have most
        energy: the leading eigenvectors of Σ(I − M)Σ, with M = VᵀV of the kept features.
        """
        n_components = basis.n_components
        n_covered = max(1, int((_COVERED_BESIDE if len(kept) else _COVERED_ALONE) * n_picks))
        may_cover_all = n_picks > n_components and (self.for_proof or not self.may_cut)
        if n_components <= n_covered or may_cover_all:
            return basis
        if not self.may_cut:
            what = "rank of the rows" if basis.exact else "number of directions"
            raise TooFewError(
                f"n_features_to_select={n_picks + len(kept)} leaves BSS {n_picks} picks, not more "
                f"than the {what}, {n_components}, so it cannot cover them all. Ask for more "
                "features, or leave basis='auto' and n_components=None, which cuts the basis to "
                "fit."
            )
        if not len(kept):
            return basis.truncated(n_covered)
        shares = basis.singular_values / basis.singular_values[0]
        scaled = basis.vectors[self.groups.members(kept)[0]] * shares
        energy = np.diag(shares**2) - scaled.T @ scaled
        axes = np.linalg.eigh(energy)[1][:, ::-1]
        return basis.turned(np.ascontiguousarray(axes[:, :n_covered]))

    def choose(self, basis: Basis, mu: float | None, size: int, ranking: Ranking) -> Picks:
        """Keep the top of the ranking, and let BSS pick the others."""
        groups = self.groups
        kept, reasons = self.kept(ranking, size)
        n_picks = size - len(kept)
        if n_picks == 0:
            return Picks(groups.columns(ColumnChoice(kept, np.ones(size), None, reasons)), basis)
        if mu is None:
            covered, coverage = self.covered(basis, kept, n_picks), None
        else:
            cut = ridge_cut(basis.spectrum, mu, n_picks)
            covered, coverage = basis, cut.shares[: basis.n_components]
        picked = bss(
            covered.vectors,
            # Of two picks at least, the first alone can match one direction exactly.
            max(2, n_picks) if mu is None else n_picks,
            groups=groups.labels,
            coverage=coverage,
            priority=self._priority(ranking, covered, basis, coverage),
            chosen=kept,
            ties=ranking.ties,
        )
        promise = None
        if mu is None and n_picks == 1:
            best, _ = groups.members(groups.of(picked.indices[:1]))
            scale = 1 / np.linalg.norm(covered.vectors[best])
            picked = ColumnChoice(best, np.full(len(best), scale))
        elif mu is None:
            promise = bss_promise(covered.n_components, n_picks)
            if len(kept) or not self.for_proof:
                # The other features have scale 1, and add at most the identity.
                promise = replace(promise, lambda_max=promise.lambda_max + 1)
        new = groups.of(picked.indices)
        chosen, more = np.concatenate([kept, new]), np.empty(0, dtype=np.intp)
        if not self.for_proof:
            best = ranking.best(ranking.scores, size)
            more = best[~np.isin(best, chosen)][: size - len(np.unique(chosen))]
        squares = picked.scales[groups.firsts(picked.indices)] ** 2
        choice = ColumnChoice.of_picks(
            np.concatenate([chosen, more]),
            np.concatenate([np.ones(len(kept)), squares, np.ones(len(more))]),
            picked.steps,
            np.concatenate([reasons, np.repeat(["cover", "next"], [len(new), len(more)])]),
        )
        return Picks(groups.columns(choice), covered, promise)

    def _priority(self, ranking: Ranking, directions: Basis, whole: Basis, coverage: Any) -> Any:
        """Return the ranking for BSS and the directions it covers; redundant features have −∞."""
        if isinstance(self.fill, str) and self.fill == "cover":
            return "cover"
        scores = ranking.scores
        if isinstance(self.fill, str) and self.fill == "leverage":
            # Leverage within these directions; weak ones count for less.
            shares = np.ones(directions.n_components) if coverage is None else coverage
            parts = [block**2 @ shares for _, block in row_blocks(directions.vectors)]
            scores = np.round(self.groups.sums(np.concatenate(parts)), 12)
        scores = with_faint_last(scores, directions, whole, self.groups)
        return scores if ranking.redundant is None else np.where(ranking.redundant, -np.inf, scores)


def _share_trusted(head: Any, trust: float | str) -> float | None:
    """Return the share that is taken from the top of a ranking; None leaves it to the rows."""
    if isinstance(trust, str):
        return 0.0 if isinstance(head, str) and head in BY_COVERAGE else None
    if trust and isinstance(head, str) and head == "cover":
        raise ValueError(
            f"order='cover' ranks no features, so none can be trusted; got trust={trust}. "
            "Set trust=0, or give the trusted order first: order=('stable', 'cover')."
        )
    return float(trust)


@dataclass(kw_only=True, eq=False, repr=False)
class BSSSelector(BaseSelector):
    r"""Choose features by single-set spectral sparsification (BSS), with a certificate.

    Part of the features are the top of a ranking; BSS picks the others so that all of them together
    preserve the geometry of the training rows. ``transform`` returns the chosen columns of X, in
    their order in X; only those of short rows, such as texts of unit norm, are multiplied by a
    common factor (see ``rescale``).

    Parameters
    ----------
    n_features_to_select : int, float or "certified", default=100
        Number of features, a share of them, or the fewest found for which the objective provably
        grows by a factor of at most 1/(1 − ``epsilon``), for any labels.
    epsilon : float, default=0.5
        For "certified": 0.5 lets the objective double at most.
    supervised : bool, default=True
        Whether to choose for the rows that determine the model, or for all rows without labels.
    estimator : estimator, default=None
        The linear model to choose for; None is a soft SVM that does not depend on the units of X;
        or ridge regression, where y has decimals, or more different numbers than half of the rows.
    basis : {"auto", "exact", "truncated", "sketch"}, default="auto"
        Directions of the rows that BSS covers: all, the ``n_components`` leading ones, or
        ``n_components`` random combinations of the rows.
    n_components : int, default=None
        Number of directions of a truncated or sketched basis; None is 256 for a sketch.
    rescale : {"auto", "common", "each", False}, default="auto"
        Whether `transform` multiplies the chosen columns by one common factor, each by a scale of
        its own, or returns them as they are; "auto" is "each" for "certified", else "common".
    random_state : int, RandomState instance or None, default=0
        Seed for subsamples of the rows, for sketches and for LIBLINEAR.
    order : str, array-like, callable, or a pair of these, default="auto"
        Ranking of the features: "stable" or "coef" by weights of the model, "leverage" or "cover"
        by the geometry of the rows, your scores, or a function of the rows and labels that returns
        scores; of a pair, the first is for ``trust`` and the second for BSS.
    trust : float or "auto", default="auto"
        Share of the features that is taken straight from the top of the ranking; BSS picks the
        rest.
    fixed_features : array-like, default=None
        Always-included features, as indices, names or a boolean mask, with their groups; they
        count towards ``n_features_to_select``.
    guarantee : {"support", "full"}, default="support"
        Whether the certificate is about the support vectors of the model on all features, or about
        all rows, which takes a few more selections.
    feature_groups : list of lists, array-like of shape (n_features,) or callable, default=None
        Groups of features that are chosen or left out as a whole, such as the columns of a
        category: lists of indices or names, a label for each feature, or a function from a name to
        its label; ``n_features_to_select`` counts groups then.

    Attributes
    ----------
    support_ : ndarray of bool, of shape (n_features,)
        Mask of the chosen features.
    indices_ : ndarray of shape (n_chosen,)
        Chosen features in the order of their choice.
    n_features_ : int
        Number of chosen features. With ``rescale="each"`` it can be smaller than
        ``n_features_to_select_``, since BSS may pick a feature twice.
    ranking_ : ndarray of shape (n_features,)
        Rank of each feature: 1 for those chosen, the others by ``scores_``.
    reasons_ : ndarray of shape (n_chosen,)
        Why each of ``indices_``, or of ``group_indices_``, was chosen: "fixed", "trusted" (top of
        the ranking), "cover" (picked by BSS), or "next" (in the ranking, where BSS picked a feature
        twice).
    scales_ : ndarray of shape (n_chosen,)
        Scale that `transform` gives to each of ``indices_``.
    scores_, trusted_scores_ : ndarray of shape (n_features,)
        Scores by which BSS ranks features, and by which the share ``trust`` is taken; with
        ``feature_groups``, those of their groups.
    n_features_to_select_ : int
        Number of features that were asked for.
    support_rows_ : ndarray of shape (n_rows,)
        Rows of the training data that the features were chosen for.
    estimator_ : estimator or None
        The model, fitted to all features, with parameters with which scikit-learn reproduces it;
        None with ``supervised=False``.
    certificate_ : Certificate
        Bounds on what the choice costs, promised and measured. :func:`certify` adds the realised
        cost.
    n_rounds_ : int
        Number of selections, 1 unless ``guarantee="full"``.
    n_passes_, optimality_gap_ : int, float
        For rows in blocks: passes over them, and an upper bound on the relative excess of the
        model's objective over its optimum.
    basis_ : BasisFacts
        Kind, number of directions, rank and exactness of the basis.
    fit_result_ : FitResult
        Everything that the fit found; `certify` continues from it.
    feature_groups_ : ndarray of shape (n_features,)
        Number of the group of each feature, by first features; only with ``feature_groups``.
    group_names_ : list of str
        Names of the groups: their labels, positions in the list, or single features.
    group_indices_ : ndarray of shape (n_chosen_groups,)
        Chosen groups in the order of their choice.
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X has string column names.

    See Also
    --------
    LeverageScoreSelector : Chooses at random, in proportion to leverage scores.
    certifeature.sparsify.bss : The algorithm itself.

    Notes
    -----
    Let V be an orthonormal basis of the rows with ℓ directions, and R the scales of r > ℓ picks of
    BSS. Then

    .. math::

        \left(1-\sqrt{\ell/r}\right)^2 \le \lambda_i(V^T R R^T V)
        \le \left(1+\sqrt{\ell/r}\right)^2,

    whatever the ranking, which bounds the margin and the objective of a linear SVM on X·R. For
    squared hinge, logistic and squared losses the effective dimension takes the place of ℓ, so that
    there is a bound on the objective for every r. Always-included features do not lower the lower
    bound. The bounds are promised for the rows ``support_rows_`` if ``basis_.exact`` and
    ``rescale="each"``; ``certificate_`` is measured for the actual choice and its scales.

    **Model.** ``estimator`` is ``SVC(kernel="linear")``, ``LinearSVC``, ``LogisticRegression`` with
    an l2 penalty or ``RidgeClassifier``; for real-valued targets, ``Ridge`` or
    ``LinearSVR(loss="squared_epsilon_insensitive")``. ``C="scale"``, or ``alpha="scale"``, sets C
    by the scale of the rows (`certifeature.models.at_scale`). None has the squared hinge loss,
    C = 1/(2s²) with s² the mean squared distance of the rows from their mean, and an intercept that
    is not penalised. A logistic or ridge model depends on all rows, an SVM on its support vectors.
    With ``supervised=False`` the model is not trained, and None stands for any l2-regularised
    linear model.

    **Rankings.** "stable" are mean weights over subsamples of the rows, relative to their spread;
    "coef" are weights, where each of several classes counts by its number of rows; "leverage" are
    leverage scores; "cover" is none: BSS picks the feature that leaves most room between its
    bounds, for the tightest certificate. "auto" is "cover" for "certified"; otherwise, if
    supervised, ("stable", "coef") for up to 1,000 support vectors, and "coef" for more, or if some
    class has none; "leverage" if not supervised. A callable returns scores as the score functions
    of :mod:`sklearn.feature_selection` do; labels are None if unsupervised. The score of a group is
    the norm of the scores of its features, or the largest where some are negative. Exact copies of
    a chosen feature, and constant features if the intercept is free, are chosen only if no others
    are left.

    **Trust.** "auto" leaves BSS the share ½·min(1, r/n) of r features, with n rows that the model
    depends on: half if there are as many features as rows, and nearly none for far more rows,
    whose directions so few features cannot cover. It is 0 for "leverage" and "cover".

    **Scales.** The common factor is at least 1. It brings rows that are shorter than 1, such as
    texts of unit norm, back to the size that they had with all columns; standardised data come back
    as they are, and so do ``fixed_features``. "each" are the scales of BSS.

    **Groups.** All features of a group get one scale. Features in no list, and those whose label is
    None or empty, are groups of one. A function such as ``lambda name: name.rpartition("_")[0]``
    finds groups by the names of the features.

    **Rows.** ``guarantee="full"`` adds the support vectors of the reduced model and selects again,
    until there are no others.

    **Basis.** "auto" is exact up to 512 directions. Beyond, it takes 100 to 128 leading directions
    for a model with one of the losses above, a given number of features and a common scale;
    otherwise it is exact up to 2,000 directions and 2**28 values of V, and a sketch for more, and
    for rows in blocks. For a hinge loss, or if no model is named, the basis is cut to 6 directions
    for 10 picks (5 if no feature is always included), unless there are more picks than directions
    and either ``rescale="each"`` or "certified" is set.

    The paper's algorithm is ``estimator=SVC(kernel="linear"), order="leverage", trust=0,
    rescale="each"``.

    References
    ----------
    .. [1] S. Paul, M. Magdon-Ismail and P. Drineas, *Feature Selection for Linear SVM with
           Provable Guarantees*.
    .. [2] J. Batson, D. Spielman and N. Srivastava, *Twice-Ramanujan Sparsifiers*, STOC 2009.

    Examples
    --------
    >>> from certifeature import BSSSelector
    >>> from certifeature.datasets import make_relevant_features
    >>> X, y = make_relevant_features(200, 1000, 40, random_state=0)
    >>> selector = BSSSelector(30).fit(X, y)
    >>> selector.transform(X).shape
    (200, 30)
    >>> [int((selector.reasons_ == why).sum()) for why in ("trusted", "cover")]
    [28, 2]
    """

    _strategy = BSSStrategy
    _parameter_constraints = CONSTRAINTS | {
        "fixed_features": ["array-like", None],
        "trust": [Interval(Real, 0, 1, closed="both"), StrOptions({"auto"})],
        "order": [StrOptions(set(ORDERS)), "array-like", callable],
        "rescale": [StrOptions({"auto", "common", "each"}), Options(bool, {False})],
    }

    rescale: str | bool = "auto"
    order: Any = "auto"
    trust: float | str = "auto"
    fixed_features: ArrayLike | None = None
    guarantee: str = "support"
    feature_groups: Any = None

    @property
    def _is_certified(self) -> bool:
        return isinstance(self.n_features_to_select, str)

    def _rescaling(self) -> Any:
        if isinstance(self.rescale, str) and self.rescale == "auto":
            return "each" if self._is_certified else "common"
        return self.rescale

    def _orders(self) -> tuple[Any, Any]:
        """Return the rankings for the trusted share and for BSS."""
        order = self.order
        if isinstance(order, str) and order == "auto":
            if self._is_certified:
                # The tightest bound takes the fewest features.
                return "cover", "cover"
            return ("stable", "coef") if self.supervised else ("leverage", "leverage")
        # Numbers are an array of scores.
        if not isinstance(order, tuple | list) or all(isinstance(part, Real) for part in order):
            return order, order
        names = {part for part in order if isinstance(part, str)}
        if len(order) != 2 or not names <= set(ORDERS) - {"auto"}:
            known = ", ".join(repr(name) for name in ORDERS[1:])
            raise ValueError(
                "order takes a pair: what is trusted, and what BSS looks at, each an array, a "
                f"callable or one of {known}; got {order!r}."
            )
        return order[0], order[1]
