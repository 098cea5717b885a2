"""Deterministic selection by single-set spectral sparsification."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import StrOptions

from certifeature.basis import Basis
from certifeature.certificate import APriori
from certifeature.certificate.measure import bss_promise
from certifeature.rows.rows import Rows
from certifeature.selectors.base import BaseSelector
from certifeature.selectors.order import ORDERS, checked_scores, feature_scores, with_faint_last
from certifeature.selectors.parameters import CONSTRAINTS
from certifeature.selectors.pipeline import Method
from certifeature.sparsify import Sample, bss

__all__ = ["BSSSelector"]

FloatArray = NDArray[np.float64]


class BSSSelector(BaseSelector):
    r"""Choose features by single-set spectral sparsification (BSS), without randomness.

    For V, an orthonormal basis of the rows that matter (ℓ directions), BSS chooses r > ℓ features
    and scales R such that

    .. math::

        \left(1-\sqrt{\ell/r}\right)^2 \le \lambda_i(V^T R R^T V)
        \le \left(1+\sqrt{\ell/r}\right)^2,

    and with it bounds what a linear SVM on X·R can lose of its margin. Among the features that keep
    the bound, it takes those that rank highest in ``order``.

    Parameters
    ----------
    n_features_to_select : int, float or "auto", default="auto"
        Number r of picks, a share of the features, or the fewest whose measured certificate keeps
        ``epsilon``. A feature picked twice counts once, so the number chosen may be smaller.
    epsilon : float, default=0.5
        What ``"auto"`` keeps to: on the rows that matter the squared hard margin shrinks by no
        more than this share, and the objective of a soft margin grows by no more than 1/(1 − ε).
        For that r = ⌈ℓ/(1 − √(1 − ε))²⌉ picks are always enough, and mostly far fewer are.
    supervised : bool, default=True
        Whether the features are chosen for the support vectors of an SVM trained on all features,
        or for all rows. Labels are needed for the first only.
    guarantee : {"support", "full"}, default="support"
        Rows that the certificate of a supervised selection covers. "full" selects again with the
        support vectors of the reduced model taken in, until it has no others; the bounds then hold
        for all rows.
    estimator : estimator, default=None
        The SVM whose support rows count: a classifier with ``support_``, or with a decision
        function and a hinge-type ``loss``. None takes ``SVC(kernel="linear")`` for up to 1,000
        rows and ``LinearSVC(dual=True)`` for more. Ignored with ``supervised=False``.
    order : {"auto", "coef", "rfe", "leverage"}, array-like or callable, default="auto"
        Ranking among the features that keep the bound; the bound is the same for every ranking.

        - "coef": by the weights of the SVM, joined over classes;
        - "rfe": by recursive elimination on the support rows, in halving steps;
        - "leverage": by leverage score, which is the rule of the paper and needs no labels;
        - "auto": "coef" if supervised, else "leverage";
        - array-like of shape (n_features,): the highest first;
        - callable: gets the rows that matter and their labels (None if unsupervised) and returns
          such an array; the score functions of :mod:`sklearn.feature_selection` fit.
    basis : {"auto", "exact", "truncated", "sketch"}, default="auto"
        How the row space is found: all of it; its ``n_components`` leading directions; or the span
        of ``n_components`` random combinations of the rows. "auto" is exact up to 2,000 directions
        and 2**28 values of V (cut to fit where there are no fewer directions than picks), and a
        sketch beyond.
    n_components : int, default=None
        Number of directions of a truncated or sketched basis; None takes 256
        for a sketch, and half the number of picks where there would be no fewer directions.
    rescale : bool, default=True
        Whether `transform` scales the chosen columns, so that inner products stay about what they
        were and C keeps its meaning, or returns them as they are.
    random_state : int, RandomState instance or None, default=None
        Seeds the sketch and LIBLINEAR. Give an int for the same result at every call.

    Attributes
    ----------
    indices_ : ndarray of shape (n_chosen,)
        Chosen features in the order of their choice.
    weights_ : ndarray of shape (n_chosen,)
        Scale that `transform` gives to each of ``indices_``.
    scores_ : ndarray of shape (n_features,)
        The ranking of ``order``, highest first. Where the basis had to be cut these are ranks, and
        features come last that lie ten times as much outside it as the one that lies least outside.
    n_features_to_select_ : int
        Number r of picks.
    support_rows_ : ndarray of shape (n_rows,)
        Rows of the training data that the features were chosen for.
    estimator_ : estimator or None
        The fitted SVM; None with ``supervised=False``.
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
    The bound above holds for the rows ``support_rows_`` if ``basis_.exact`` and ``rescale``; a
    truncated or sketched basis promises nothing about the directions that it leaves out.
    ``certificate_`` is measured for what was chosen, in either case.

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
    >>> selector.basis_.kind, selector.basis_.exact
    ('exact', True)
    """

    _parameter_constraints = CONSTRAINTS | {
        "order": [StrOptions(set(ORDERS)), "array-like", callable],
    }

    def __init__(
        self,
        n_features_to_select: int | float | str = "auto",
        *,
        epsilon: float = 0.5,
        supervised: bool = True,
        guarantee: str = "support",
        estimator: Any = None,
        order: str | ArrayLike | Callable[..., Any] = "auto",
        basis: str = "auto",
        n_components: int | None = None,
        rescale: bool = True,
        random_state: Any = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.epsilon = epsilon
        self.supervised = supervised
        self.guarantee = guarantee
        self.estimator = estimator
        self.order = order
        self.basis = basis
        self.n_components = n_components
        self.rescale = rescale
        self.random_state = random_state

    def _method(self) -> BSSMethod:
        if isinstance(self.order, str) and self.order in ("rfe", "coef") and not self.supervised:
            raise ValueError(
                f"order={self.order!r} ranks features by the weights of an SVM, so it needs "
                "supervised=True; use order='leverage', an array or a callable."
            )
        return BSSMethod(self.order, self.basis != "exact" and self.n_components is None)


@dataclass(frozen=True, eq=False)
class BSSMethod(Method):
    """BSS in an order of the features; the basis may be cut to fewer directions than picks."""

    order: str | ArrayLike | Callable[..., Any]
    may_cut: bool

    def check(self, n_features: int) -> None:
        if not isinstance(self.order, str) and not callable(self.order):
            checked_scores(self.order, n_features)

    def cut(self, basis: Basis, size: int | None) -> Basis:
        if size is None or size >= len(basis.vectors):
            return basis
        if basis.n_components < size or basis.n_components == 1:
            return basis
        if self.may_cut:
            return basis.truncated(max(1, size // 2))
        what = "rank of the rows" if basis.exact else "number of directions"
        raise ValueError(
            f"n_features_to_select={size} is not more than the {what}, {basis.n_components}, "
            f"so BSS cannot cover them all. Ask for at least {basis.n_components + 1} features, or "
            "leave basis='auto' and n_components=None, which cuts the basis to fit."
        )

    def rank(self, rows: Rows | None, svm: Any, basis: Basis, whole: Basis) -> FloatArray:
        return with_faint_last(feature_scores(self.order, rows, svm, basis), basis, whole)

    def promise(self, basis: Basis, size: int) -> APriori | None:
        return bss_promise(basis.n_components, size) if size > 1 else None

    def enough(self, basis: Basis, epsilon: float) -> int:
        # (1 - sqrt(l/r))² >= 1 - epsilon, solved for r without cancellation for a small epsilon.
        ratio = epsilon / (1 + np.sqrt(1 - epsilon))
        return int(min(np.ceil(basis.n_components / ratio**2), len(basis.vectors)))

    def fewest(self, basis: Basis) -> int:
        return basis.n_components + 1

    def sample(self, basis: Basis, size: int, scores: FloatArray, seed: int) -> Sample:
        if size > 1:
            return bss(basis.vectors, size, priority=scores)
        # BSS begins with two picks; its first alone can match one direction exactly.
        best = bss(basis.vectors, 2, priority=scores).indices[:1]
        return Sample(best, 1 / np.abs(basis.vectors[best][:, 0]))
