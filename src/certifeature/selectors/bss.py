"""Deterministic selection by single-set spectral sparsification."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certifeature._parameters import check_choice
from certifeature.basis import Basis
from certifeature.basis.vectors import squared_norms
from certifeature.certificate import APriori
from certifeature.certificate.measure import bss_promise
from certifeature.selectors.base import BaseSelector
from certifeature.selectors.data import Rows
from certifeature.sparsify import Sample, bss
from certifeature.svm import elimination_order, feature_weights

__all__ = ["BSSSelector"]

_ORDERS = ("auto", "coef", "rfe", "leverage")
_SMALLEST_SHARE_SEEN = 0.1


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
        The ranking of ``order``, highest first; −inf for a feature of which the basis, where it had
        to be cut, sees less than a tenth.
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

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if isinstance(self.order, str):
            check_choice("order", self.order, _ORDERS)
            if self.order in ("rfe", "coef") and not self.supervised:
                raise ValueError(
                    f"order={self.order!r} ranks features by the weights of an SVM, so it needs "
                    "supervised=True; use order='leverage', an array or a callable."
                )

    def _check_width(self) -> None:
        if not isinstance(self.order, str) and not callable(self.order):
            self._checked_scores(self.order)

    def _cut(self, basis: Basis, kind: str, n_select: int | None) -> tuple[Basis, str]:
        """Return a basis with fewer directions than there will be picks."""
        basis, kind = super()._cut(basis, kind, n_select)
        if n_select is None or n_select >= len(basis.vectors):
            return basis, kind
        if basis.n_components < n_select or basis.n_components == 1:
            return basis, kind
        if self.basis != "exact" and self.n_components is None:
            kind = "sketch" if kind == "sketch" else "truncated"
            return basis.truncated(max(1, n_select // 2)), kind
        what = "rank of the rows" if basis.exact else "number of directions"
        raise ValueError(
            f"n_features_to_select={n_select} is not more than the {what}, {basis.n_components}, "
            f"so BSS cannot cover them all. Ask for at least {basis.n_components + 1} features, or "
            "leave basis='auto' and n_components=None, which cuts the basis to fit."
        )

    def _promise(self, basis: Basis, n_select: int) -> APriori | None:
        return bss_promise(basis.n_components, n_select) if n_select > 1 else None

    def _most_needed(self, basis: Basis) -> int:
        if not self.rescale:
            return super()._most_needed(basis)
        # (1 - sqrt(l/r))² >= 1 - epsilon, solved for r without cancellation for a small epsilon.
        ratio = self.epsilon / (1 + np.sqrt(1 - self.epsilon))
        return int(min(np.ceil(basis.n_components / ratio**2), self.n_features_in_))

    def _fewest_possible(self, basis: Basis) -> int:
        return basis.n_components + 1

    def _rank(self, rows: Rows, basis: Basis, whole: Basis) -> NDArray[np.float64]:
        scores = self._scores(rows, basis)
        if basis.n_components == whole.n_components:
            return scores
        # The scale of a feature that lies mostly in the directions cut off would fit what little
        # is left of it, and blow up the rest.
        seen, there_is = (squared_norms(b.vectors) for b in (basis, whole))
        return np.where(seen < _SMALLEST_SHARE_SEEN * there_is, -np.inf, scores)

    def _scores(self, rows: Rows, basis: Basis) -> NDArray[np.float64]:
        if callable(self.order) or (isinstance(self.order, str) and self.order == "rfe"):
            self._check_classes(rows)
        if not isinstance(self.order, str):
            return self._own_scores(rows)
        if self.order == "leverage" or not self.supervised:
            return np.round(squared_norms(basis.vectors), 12)
        if self.order == "rfe":
            return elimination_order(self.estimator_, rows.X, rows.y, rows.sample_weight)
        return feature_weights(self.estimator_)

    def _check_classes(self, rows: Rows) -> None:
        """Raise an error if rows that come in blocks support no boundary of some class."""
        if rows.y is None:
            return
        missing = np.setdiff1d(getattr(self.estimator_, "classes_", rows.y), rows.y)
        if missing.size:
            raise ValueError(
                f"no support row has the class {missing.tolist()[0]!r}, and order={self.order!r} "
                "needs rows of all classes; use order='coef'."
            )

    def _own_scores(self, rows: Rows) -> NDArray[np.float64]:
        """Return the scores of an order that is an array or a callable."""
        scores: Any = self.order
        if callable(scores):
            if rows.X is None:
                raise ValueError(
                    "order is a function of all rows, and these come in blocks; use "
                    "order='leverage' or an array."
                )
            scores = scores(rows.X, rows.y)
            # The score functions of sklearn.feature_selection return p-values too, and NaN for
            # constant features.
            scores = np.asarray(scores[0] if isinstance(scores, tuple) else scores, dtype=float)
            scores = np.where(np.isnan(scores), -np.inf, scores)
        return self._checked_scores(scores)

    def _checked_scores(self, scores: Any) -> NDArray[np.float64]:
        scores = np.asarray(scores, dtype=np.float64)
        if scores.shape != (self.n_features_in_,):
            raise ValueError(
                f"order must give one score for each of the {self.n_features_in_} features; "
                f"got shape {scores.shape}."
            )
        if np.isnan(scores).any() or not np.isfinite(scores).any():
            raise ValueError("order gives no usable scores: they are NaN or all infinite.")
        return scores

    def _sample(self, basis: Basis, n_select: int, seed: int) -> Sample:
        if n_select > 1:
            return bss(basis.vectors, n_select, priority=self.scores_)
        # BSS begins with two picks; its first alone can match one direction exactly.
        best = bss(basis.vectors, 2, priority=self.scores_).indices[:1]
        return Sample(best, 1 / np.abs(basis.vectors[best][:, 0]))
