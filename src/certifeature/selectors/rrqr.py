"""Selection by QR factorisation with column pivoting."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from certifeature.basis import Basis
from certifeature.models.support import Support
from certifeature.rows.rows import Rows
from certifeature.selectors.base import BaseSelector
from certifeature.selectors.fit import Picks, Ranking, Strategy
from certifeature.sparsify import ColumnChoice, rrqr


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

    See Also
    --------
    certifeature.sparsify.rrqr : The factorisation itself.

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
