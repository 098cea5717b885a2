"""Deterministic selection by spectral sparsification."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import Interval, Options, StrOptions

from certifeature.basis import Basis
from certifeature.basis.basis import row_blocks, squared_norms
from certifeature.certificate import APriori
from certifeature.certificate.promise import (
    bss_promise,
    effective_dimension,
    ridge_cut,
    ridge_promise,
)
from certifeature.models.support import Support
from certifeature.rows.rows import Rows
from certifeature.selectors.base import CONSTRAINTS, BaseSelector
from certifeature.selectors.fit import Choice, Method, Ranking
from certifeature.selectors.ranking import (
    BY_COVERAGE,
    LABELLED,
    ORDERS,
    checked_scores,
    feature_scores,
    missing_classes,
    with_faint_last,
)
from certifeature.sparsify import ColumnChoice, bss
from certifeature.sparsify.choice import as_indices

__all__ = [
    "BSSMethod",
    "BSSSelector",
]


FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]

# Directions that BSS covers for each of its picks, where it cannot cover all: by itself, and beside
# features that are in anyway.
_COVERED_ALONE, _COVERED_BESIDE = 0.5, 0.6
# Unless proof matters, so many features for each pick are looked at, and some at least, before BSS
# comes back to those that it has.
_LOOKED_AT, _LEAST_LOOKED_AT = 16, 1024
# For a soft model, so many directions are covered at least, and as many as there are picks.
_FEW_DIRECTIONS = 256
# Where they are found by themselves: one for two picks, but neither fewer nor more than this.
_FEWEST_LEADING, _MAX_LEADING = 100, 128


@dataclass(frozen=True, eq=False)
class BSSMethod(Method):
    """The top of a trusted order, and BSS for what that leaves uncovered.

    Attributes
    ----------
    head, fill : str, array-like or callable
        The order that is trusted, and the one in which BSS looks at features.
    trust : float
        Share of the picks that is taken from the top of the trusted order.
    fixed : array-like or None
        Features that are in whatever happens.
    for_proof : bool
        Whether a bound for all directions matters more than the number of features. Then all are
        covered as soon as they can be, and BSS may come back to features; otherwise as many are
        chosen as are asked for.
    may_cut : bool
        Whether directions may be left out where they are no fewer than picks, for a model that
        needs them all.
    automatic : bool
        Whether the orders may be replaced where they cannot be had.
    n_jobs : int or None
        Number of processes for orders that fit often.
    """

    head: Any
    fill: Any
    trust: float
    fixed: Any
    for_proof: bool
    may_cut: bool
    automatic: bool
    n_jobs: int | None

    def of_features(self, n_features: int, names: NDArray[Any] | None) -> BSSMethod:
        """Return the method with fixed features as indices."""
        for order in (self.head, self.fill):
            if not isinstance(order, str) and not callable(order):
                checked_scores(order, n_features)
        fixed = np.empty(0, dtype=np.intp)
        if self.fixed is not None:
            fixed = as_indices(self.fixed, n_features, names, "fixed_features")
        return replace(self, fixed=fixed)

    @property
    def ranks_directions(self) -> bool:
        """Whether one of the orders looks at coverage."""
        return any(isinstance(o, str) and o in BY_COVERAGE for o in (self.head, self.fill))

    def rank(self, rows: Rows | None, support: Support | None, basis: Basis, seed: int) -> Ranking:
        """Return both orders; nothing is ranked twice."""
        head, fill = self.head, self.fill
        if self.automatic and support and missing_classes(support, support.rows).size:
            head = fill = "coef"
        scores = feature_scores(fill, rows, support, basis, seed, self.n_jobs)
        if self.trust == 0 or head is fill:
            return Ranking(scores, scores)
        return Ranking(scores, feature_scores(head, rows, support, basis, seed, self.n_jobs))

    def enough(self, basis: Basis, mu: float | None, epsilon: float) -> int:
        """Return a number of features for which the lower bound of BSS is 1 − epsilon."""
        if self.trust == 1:
            return len(basis.vectors)
        dimension = float(basis.n_components)
        if mu is not None:
            dimension = effective_dimension(basis.singular_values, mu)
        # (1 - sqrt(D/r))² >= 1 - epsilon, solved for r without cancellation for a small epsilon.
        ratio = epsilon / (1 + np.sqrt(1 - epsilon))
        n_picks = np.ceil(dimension / ratio**2)
        return int(min(np.ceil(n_picks / (1 - self.trust)) + len(self.fixed), len(basis.vectors)))

    def n_leading(self, size: int) -> int | None:
        """Return half of the number of picks, if that is moderate; all, where proof matters."""
        if self.for_proof:
            return None
        n_picks = size - self._n_kept(size)
        return int(np.clip(n_picks // 2, _FEWEST_LEADING, _MAX_LEADING))

    def fewest(self, basis: Basis) -> int:
        """Return the number of features with which BSS has more picks than directions."""
        if self.trust == 1:
            return len(basis.vectors)
        size = len(self.fixed) + int((basis.n_components + 1) / (1 - self.trust))
        while size - self._n_kept(size) <= basis.n_components:
            size += 1
        return size

    def kept(self, ranking: Ranking, size: int) -> tuple[IntArray, NDArray[np.str_]]:
        """Return the features that are in whatever BSS does, and why each of them is."""
        if len(self.fixed) > size:
            raise ValueError(
                f"fixed_features names {len(self.fixed)} features, more than the {size} that are "
                "to be chosen; fix fewer, or raise n_features_to_select."
            )
        assert ranking.trusted is not None
        best = np.argsort(-ranking.trusted, kind="stable")
        trusted = best[~np.isin(best, self.fixed)][: self._n_kept(size) - len(self.fixed)]
        reasons = np.repeat(["fixed", "trusted"], [len(self.fixed), len(trusted)])
        return np.concatenate([self.fixed, trusted]), reasons

    def _n_kept(self, size: int) -> int:
        # Rounded, since 0.1 · 30 is a little more than 3 in floating point.
        n_fixed = len(self.fixed)
        return n_fixed + int(np.ceil(round(self.trust * (size - n_fixed), 9)))

    def everything(self, n_features: int) -> ColumnChoice:
        """Return all features; those that are not fixed cover what the others leave."""
        indices = np.arange(n_features)
        reasons = np.where(np.isin(indices, self.fixed), "fixed", "cover")
        return replace(super().everything(n_features), reasons=reasons)

    def covered(self, basis: Basis, kept: IntArray, n_picks: int) -> Basis:
        """Return the directions that so many picks can cover beside the features that are in.

        Where they are too few for all, these are the ones along which the other features have most
        energy: the leading eigenvectors of Σ(I − M)Σ, with M = VᵀV of the features that are in.
        """
        n_components = basis.n_components
        n_covered = max(1, int((_COVERED_BESIDE if len(kept) else _COVERED_ALONE) * n_picks))
        if n_components <= n_covered:
            return basis
        if n_picks > n_components and (self.for_proof or not self.may_cut):
            return basis
        if not self.may_cut:
            what = "rank of the rows" if basis.exact else "number of directions"
            raise ValueError(
                f"n_features_to_select={n_picks + len(kept)} leaves BSS {n_picks} picks, not more "
                f"than the {what}, {n_components}, so it cannot cover them all. Ask for more "
                "features, or leave basis='auto' and n_components=None, which cuts the basis to "
                "fit."
            )
        if not len(kept):
            return basis.truncated(n_covered)
        shares = basis.singular_values / basis.singular_values[0]
        scaled = basis.vectors[kept] * shares
        energy = np.diag(shares**2) - scaled.T @ scaled
        axes = np.linalg.eigh(energy)[1][:, ::-1]
        return basis.turned(np.ascontiguousarray(axes[:, :n_covered]))

    def choose(
        self, basis: Basis, mu: float | None, size: int, ranking: Ranking, seed: int
    ) -> Choice:
        """Keep some features, and let BSS pick the others."""
        kept, reasons = self.kept(ranking, size)
        n_picks = size - len(kept)
        if n_picks == 0:
            return Choice(ColumnChoice(kept, np.ones(size), None, reasons), basis)
        if mu is None:
            picked, covered, promise = self._flat(basis, kept, n_picks, ranking)
        else:
            picked, covered, promise = self._soft(basis, mu, kept, n_picks, ranking)
        sample = _together(kept, reasons, picked)
        return Choice(
            sample if self.for_proof else self._filled_up(sample, ranking, size), covered, promise
        )

    def _cut(self, priority: FloatArray, n_picks: int) -> FloatArray:
        """Return the priority with a last resort: features that rank far below all picks."""
        n_looked_at = max(_LEAST_LOOKED_AT, _LOOKED_AT * n_picks)
        if self.for_proof or n_looked_at >= len(priority):
            return priority
        # Ties with the last that is looked at are looked at, too: no order of columns counts.
        last = np.partition(priority, -n_looked_at)[-n_looked_at]
        return np.where(priority >= last, priority, -np.inf)

    def _fills_by(self, name: str) -> bool:
        # An order may be an array, too.
        return isinstance(self.fill, str) and self.fill == name

    def _soft(
        self, basis: Basis, mu: float, kept: IntArray, n_picks: int, ranking: Ranking
    ) -> tuple[ColumnChoice, Basis, APriori]:
        """Cover each direction as far as a soft model needs it, and picks can."""
        cut = ridge_cut(basis.spectrum, mu, n_picks)
        n_covered = max(_FEW_DIRECTIONS, n_picks)
        head = basis.truncated(n_covered) if n_covered < basis.n_components else basis
        shares, rest = np.split(cut.shares, [head.n_components])
        priority: Any = "cover"
        if not self._fills_by("cover"):
            scores = ranking.scores
            if self._fills_by("leverage"):
                # That of a soft model: directions that it does not need count for less.
                parts = [block**2 @ shares for _, block in row_blocks(head.vectors)]
                scores = np.asarray(np.round(np.concatenate(parts), 12), dtype=np.float64)
            priority = self._cut(with_faint_last(scores, head, basis), n_picks)
        picked = bss(head.vectors, n_picks, coverage=shares, priority=priority, chosen=kept)
        tail = None
        if basis.outside is not None:
            tail = basis.outside.tail(mu * cut.stretch, picked.indices, picked.scales)
        elif len(rest):
            scaled = basis.vectors[picked.indices][:, head.n_components :] * np.sqrt(rest)
            scaled *= picked.scales[:, None]
            energy = float(np.linalg.eigvalsh(scaled @ scaled.T)[-1])
            tail = float(rest[0]), energy, 0.0, 0.0
        promise = ridge_promise(float(shares.sum()), n_picks, cut.stretch, tail)
        if basis.outside is not None:
            promise = replace(promise, probability=basis.outside.probability)
        return picked, basis, promise

    def _flat(
        self, basis: Basis, kept: IntArray, n_picks: int, ranking: Ranking
    ) -> tuple[ColumnChoice, Basis, APriori | None]:
        """Cover all directions alike, or as many as picks can."""
        covered = self.covered(basis, kept, n_picks)
        priority: Any = "cover"
        if not self._fills_by("cover"):
            # Leverage is that in the directions which are to be covered.
            norms = np.round(squared_norms(covered.vectors), 12)
            scores = norms if self._fills_by("leverage") else ranking.scores
            priority = self._cut(with_faint_last(scores, covered, basis), n_picks)
        if n_picks == 1:
            # BSS begins with two picks; its first alone can match one direction exactly.
            best = bss(covered.vectors, 2, priority=priority, chosen=kept).indices[:1]
            return ColumnChoice(best, 1 / np.abs(covered.vectors[best][:, 0])), covered, None
        picked = bss(covered.vectors, n_picks, priority=priority, chosen=kept)
        if not covered.exact:
            return picked, covered, None
        promise = bss_promise(covered.n_components, n_picks)
        if len(kept) or not self.for_proof:
            # What is in anyway, or fills up, adds no more than the identity, with a scale of 1.
            promise = replace(promise, lambda_max=promise.lambda_max + 1)
        return picked, covered, promise

    def _filled_up(self, sample: ColumnChoice, ranking: Ranking, size: int) -> ColumnChoice:
        """Return as many features as are asked for, with the next best ones added."""
        assert sample.reasons is not None
        best = np.argsort(-ranking.scores, kind="stable")
        more = best[~np.isin(best, sample.indices)][: size - len(sample.indices)]
        return replace(
            sample,
            indices=np.concatenate([sample.indices, more]),
            scales=np.concatenate([sample.scales, np.ones(len(more))]),
            reasons=np.concatenate([sample.reasons, np.repeat("next", len(more))]),
        )


def _together(kept: IntArray, reasons: NDArray[np.str_], picked: ColumnChoice) -> ColumnChoice:
    """Return features that are in anyway, and those picked by BSS.

    The former are as they are in the data, so that they make no direction longer than it was.
    """
    squares = picked.scales**2
    new = ~np.isin(picked.indices, kept)
    again = np.isin(kept, picked.indices)
    totals = np.ones(len(kept))
    totals[again] += squares[[np.flatnonzero(picked.indices == f)[0] for f in kept[again]]]
    return ColumnChoice(
        np.concatenate([kept, picked.indices[new]]),
        np.sqrt(np.concatenate([totals, squares[new]])),
        picked.steps,
        np.concatenate([reasons, np.repeat("cover", int(new.sum()))]),
    )


# What "auto" stands for, where the order needs labels.
_TRUST = 0.5


class BSSSelector(BaseSelector):
    r"""Choose features: the top of a trusted order, and what covers the rest, with a certificate.

    Some features are in anyway: those that are fixed, and a share of the picks from the top of an
    order that is trusted. The others are picked by single-set spectral sparsification (BSS). For V,
    an orthonormal basis of the rows that matter (ℓ directions), r > ℓ picks and their scales R have

    .. math::

        \left(1-\sqrt{\ell/r}\right)^2 \le \lambda_i(V^T R R^T V)
        \le \left(1+\sqrt{\ell/r}\right)^2,

    which bounds what a linear SVM on X·R can lose of its margin. A soft model (squared hinge,
    logistic or squared loss) does not need all directions alike: with its effective dimension in
    the place of ℓ there is a bound on its objective for every r. Features that are in anyway never
    lower the first bound. Among the features that keep the bounds, BSS takes those that rank
    highest.

    Parameters
    ----------
    n_features_to_select : int, float or "certified", default=100
        Number of features, a share of them, or about the fewest whose measured certificate keeps
        ``epsilon``.
    fixed_features : array-like, default=None
        Features that are chosen in any case: indices, names or a boolean mask. They count.
    trust : float or "auto", default="auto"
        Share of the picks that is taken straight from the top of the order, without regard to what
        they cover. 0 is the algorithm of the paper, 1 the plain top of the order. "auto" is ½, and
        0 for orders that look at coverage alone.
    order : str, array-like, callable, or a pair of these, default="auto"
        How features are ranked: those that are trusted, and those among which BSS picks. Of a pair
        the first is for the trusted ones. The bounds are the same for every ranking. Unless
        ``rescale="each"`` or "certified" is asked for, BSS looks at the best 16 features for each
        of its picks (1,024 at least) before it comes back to one that it has, and only then at
        others.

        - "stable": by how large the weights of the SVM are against how much they vary over
          subsamples of the rows;
        - "arom": by repeated reweighting, four fits that drive most weights to zero;
        - "coef": by the weights of the SVM, joined over classes;
        - "rfe": by recursive elimination on the support rows, in halving steps;
        - "leverage": by leverage score, which is the rule of the paper and needs no labels;
        - "cover": by no ranking; BSS picks what leaves most room between its bounds, which makes
          for the best certificate and needs no labels;
        - "auto": "cover" for "certified"; otherwise ("stable", "coef") if supervised, and
          "leverage" if not; and "coef" where no support row is of some class;
        - array-like of shape (n_features,): the highest first;
        - callable: gets the rows that matter and their labels (None if unsupervised) and returns
          such an array; the score functions of :mod:`sklearn.feature_selection` fit.
    rescale : {"auto", "common", "each", False}, default="auto"
        How `transform` scales the chosen columns: all by one factor, which makes up for what is
        left out, so that C keeps its meaning; each by its own scale R, for which the bounds above
        hold; or not at all. "auto" is "each" for "certified", and "common" otherwise.
    epsilon : float, default=0.5
        What ``"certified"`` keeps to: on the rows that matter the objective of the model grows by
        no more than 1/(1 − ε), for certain. For a model that may be any, the squared hard margin
        shrinks by no more than this share, too.
    supervised : bool, default=True
        Whether the features are chosen for the rows that matter to the model trained on all
        features (the support vectors of an SVM, all rows for logistic and ridge regression), or for
        all rows without labels.
    guarantee : {"support", "full"}, default="support"
        Rows that the certificate of a supervised selection covers. "full" selects again with the
        support vectors of the reduced model taken in, until it has no others; the bounds then hold
        for all rows.
    estimator : estimator, default=None
        The linear model that features are chosen for: ``SVC(kernel="linear")``, ``LinearSVC``,
        ``LogisticRegression`` with an l2 penalty, ``RidgeClassifier``, or, for real-valued targets,
        ``Ridge`` or ``LinearSVR(loss="squared_epsilon_insensitive")``. None takes
        ``LinearSVC(dual=True)``. With ``supervised=False`` it only tells which model the bounds are
        for, and None stands for any.
    basis : {"auto", "exact", "truncated", "sketch"}, default="auto"
        How the row space is found: all of it; its ``n_components`` leading directions; or the span
        of ``n_components`` random combinations of the rows. "auto" is exact up to 512 directions.
        Of more it takes 100 to 128 leading ones, for a soft model, a given number of features and a
        common scale; otherwise it is exact up to 2,000 directions and 2**28 values of V, and a
        sketch beyond, and of rows in blocks. For a model that needs all directions alike (a
        hinge loss, or none that is named), unless "exact" is asked for by name, the basis is cut
        where picks are too few: to six directions for ten picks beside features that are in
        anyway, to five for ten picks otherwise. With ``rescale="each"`` and for "certified" it is
        left whole as long as there are more picks than directions.
    n_components : int, default=None
        Number of directions of a truncated or sketched basis; None takes 256 for a sketch.
    n_jobs : int, default=None
        Number of processes for the fits of "stable". It does not change what is chosen.
    random_state : int, RandomState instance or None, default=0
        Seeds the subsamples of "stable", the sketch and LIBLINEAR. With an int, the default among
        them, the result is the same at every call.

    Attributes
    ----------
    indices_ : ndarray of shape (n_chosen,)
        Chosen features in the order of their choice.
    reasons_ : ndarray of shape (n_chosen,)
        Why each of ``indices_`` is in: "fixed"; "trusted", at the top of the order; to "cover" what
        these leave; or "next" in the order, where BSS came back to features that it had.
    scales_ : ndarray of shape (n_chosen,)
        Scale that `transform` gives to each of ``indices_``.
    scores_ : ndarray of shape (n_features,)
        The order in which BSS looks at features, highest first.
    trusted_scores_ : ndarray of shape (n_features,)
        The order that is trusted, highest first.
    n_features_to_select_ : int
        Number of features that were asked for. With ``rescale="each"`` fewer may be chosen, since
        BSS may come back to a feature.
    support_rows_ : ndarray of shape (n_rows,)
        Rows of the training data that the features were chosen for.
    estimator_ : estimator or None
        The fitted model; None with ``supervised=False``.
    certificate_ : Certificate
        What the selection can cost: promised and measured. :func:`certify` adds what is realised.
    n_rounds_ : int
        Number of selections, 1 unless ``guarantee="full"``.
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

    See Also
    --------
    LeverageScoreSelector : Chooses at random, in proportion to leverage scores.
    certifeature.sparsify.bss : The algorithm itself.

    Notes
    -----
    For a model that needs all directions alike, the lower bound above holds for the rows
    ``support_rows_`` if ``basis_.exact`` and ``rescale="each"``, with r the number of picks that
    are left to BSS; so does the upper one, if nothing is fixed or trusted. A basis that is
    truncated, sketched or cut to fit promises nothing about the directions that it leaves out.
    ``certificate_`` is measured for what was chosen, in either case, and has the promise for the
    model at hand.

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
    [15, 15]
    """

    _parameter_constraints = CONSTRAINTS | {
        "fixed_features": ["array-like", None],
        "trust": [Interval(Real, 0, 1, closed="both"), StrOptions({"auto"})],
        "order": [StrOptions(set(ORDERS)), "array-like", callable],
        "rescale": [StrOptions({"auto", "common", "each"}), Options(bool, {False})],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        n_features_to_select: int | float | str = 100,
        *,
        fixed_features: ArrayLike | None = None,
        trust: float | str = "auto",
        order: Any = "auto",
        rescale: str | bool = "auto",
        epsilon: float = 0.5,
        supervised: bool = True,
        guarantee: str = "support",
        estimator: Any = None,
        basis: str = "auto",
        n_components: int | None = None,
        n_jobs: int | None = None,
        random_state: Any = 0,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.fixed_features = fixed_features
        self.trust = trust
        self.order = order
        self.rescale = rescale
        self.epsilon = epsilon
        self.supervised = supervised
        self.guarantee = guarantee
        self.estimator = estimator
        self.basis = basis
        self.n_components = n_components
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _method(self) -> BSSMethod:
        head, fill = self._orders()
        if not self.supervised:
            for order in (head, fill):
                if isinstance(order, str) and order in LABELLED:
                    raise ValueError(
                        f"order={order!r} ranks features by the weights of SVMs, so it needs "
                        "supervised=True; use order='leverage', 'cover', an array or a callable."
                    )
        trust = self.trust
        if isinstance(trust, str):
            by_coverage = isinstance(head, str) and head in BY_COVERAGE
            trust = 0.0 if by_coverage else _TRUST
        elif trust > 0 and isinstance(head, str) and head == "cover":
            raise ValueError(
                f"order='cover' ranks no features, so none can be trusted; got trust={trust}. "
                "Set trust=0, or give the trusted order first: order=('stable', 'cover')."
            )
        return BSSMethod(
            head,
            fill,
            float(trust),
            self.fixed_features,
            for_proof=self._rescaling() == "each" or self._is_certified,
            may_cut=self.basis != "exact" and (self.n_components is None or trust > 0),
            automatic=isinstance(self.order, str) and self.order == "auto",
            n_jobs=self.n_jobs,
        )

    @property
    def _is_certified(self) -> bool:
        return isinstance(self.n_features_to_select, str)

    def _rescaling(self) -> Any:
        if isinstance(self.rescale, str) and self.rescale == "auto":
            return "each" if self._is_certified else "common"
        return self.rescale

    def _orders(self) -> tuple[Any, Any]:
        """Return the order that is trusted, and the one in which BSS looks at features."""
        order = self.order
        if isinstance(order, str) and order == "auto":
            if self._is_certified:
                # The tightest bound takes the fewest features.
                return "cover", "cover"
            return ("stable", "coef") if self.supervised else ("leverage", "leverage")
        # Numbers are an array of scores.
        is_pair = isinstance(order, tuple) and not all(isinstance(part, Real) for part in order)
        if isinstance(order, list):
            is_pair = any(isinstance(part, str) for part in order)
        if not is_pair:
            return order, order
        names = {part for part in order if isinstance(part, str)}
        if len(order) != 2 or not names <= set(ORDERS) - {"auto"}:
            known = ", ".join(repr(name) for name in ORDERS[1:])
            raise ValueError(
                "order takes a pair: what is trusted, and what BSS looks at, each an array, a "
                f"callable or one of {known}; got {order!r}."
            )
        return order[0], order[1]
