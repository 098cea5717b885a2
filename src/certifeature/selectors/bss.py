"""Deterministic selection by single-set spectral sparsification."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

from numpy.typing import ArrayLike
from sklearn.utils._param_validation import Interval, Options, StrOptions

from certifeature.selectors.base import BaseSelector
from certifeature.selectors.covering import BSSMethod
from certifeature.selectors.order import BY_COVERAGE, LABELLED, ORDERS
from certifeature.selectors.parameters import CONSTRAINTS

__all__ = ["BSSSelector"]

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
    weights_ : ndarray of shape (n_chosen,)
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
    selection_ : Selection
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
