"""The rows that matter to fitted linear models, and the sizes of their weights."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.svm import SVC, LinearSVR

from certifeature.support.accepted import check_model
from certifeature.support.loss import ALL_ROWS_MATTER, loss_of

__all__ = [
    "dense_coef",
    "feature_weights",
    "margins",
    "near_margin",
    "ranks",
    "support_rows",
]

# Solvers stop at a tolerance, so a row on the margin may seem to lie a little behind it. A row too
# many does no harm: the guarantee for more rows holds for fewer.
_MARGIN_SLACK = 1e-3


def support_rows(model: Any, X: Any, y: NDArray[Any]) -> NDArray[np.intp]:
    """Return the rows that matter to a fitted model: it would be the same without the others.

    To logistic and ridge regression all rows matter.

    Parameters
    ----------
    model : estimator
        Fitted, of an accepted class. The support of ``LinearSVR`` are the rows on the edge
        of its tube and outside; that of an SVM are the rows on the margin of any of its binary
        problems or beyond, and those that LIBSVM lists in ``support_``.
    X, y : array-like
        The data it was fitted to.

    Returns
    -------
    ndarray of shape (n_support,)
        Row indices in ascending order.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> from certifeature.support import support_rows
    >>> X, y = [[-3.0], [-1.0], [1.0], [5.0]], [0, 0, 1, 1]
    >>> support_rows(SVC(kernel="linear", C=10).fit(X, y), X, y)
    array([1, 2])
    """
    check_model(model)
    if loss_of(model) in ALL_ROWS_MATTER:
        return np.arange(len(y))
    if isinstance(model, LinearSVR):
        return _outside_tube(model, X, np.asarray(y, dtype=np.float64))
    rows = np.flatnonzero(near_margin(margins(model, X, np.asarray(y))))
    if isinstance(model, SVC):
        # A solver that stopped early may have multipliers on rows beyond the margin.
        return np.union1d(model.support_, rows).astype(np.intp)
    if not rows.size:
        raise ValueError(
            f"{type(model).__name__} puts every row beyond its margin, so it is not the solution "
            "of an SVM; let it converge (more iterations, a smaller tolerance, scaled data)."
        )
    return rows


def _outside_tube(model: LinearSVR, X: Any, y: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the rows that a model does not predict to within its epsilon."""
    errors = np.abs(y - model.predict(X))
    rows = np.flatnonzero(errors >= (1 - _MARGIN_SLACK) * model.epsilon)
    if not rows.size:
        raise ValueError(
            f"LinearSVR predicts every row to within epsilon={model.epsilon:g}, so no row "
            "matters to it; lower epsilon."
        )
    return rows


def near_margin(margins: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Tell which rows lie on the margin or on its wrong side, in any binary problem."""
    return np.asarray((margins <= 1 + _MARGIN_SLACK).any(axis=1))


def margins(model: Any, X: Any, y: NDArray[Any]) -> NDArray[np.float64]:
    """Return the functional margin of each row (rows) in each binary problem (columns).

    A row that is not part of a problem is infinitely far from its margin.
    """
    if isinstance(model, SVC):
        return _margins_of_pairs(model, X, y)
    decisions = np.asarray(model.decision_function(X), dtype=np.float64)
    if decisions.ndim == 1:
        decisions = decisions[:, None]
        signs = np.where(y == model.classes_[1], 1.0, -1.0)[:, None]
        return decisions * signs
    own = y[:, None] == model.classes_[None, :]
    if getattr(model, "multi_class", "ovr") == "crammer_singer":
        rival = np.where(own, -np.inf, decisions).max(axis=1)
        return (decisions[own] - rival)[:, None]
    return np.where(own, decisions, -decisions)


def _margins_of_pairs(model: Any, X: Any, y: NDArray[Any]) -> NDArray[np.float64]:
    """Return margins of an SVM that sets every class against every other."""
    X = X if sparse.issparse(X) else np.asarray(X)
    decisions = X @ dense_coef(model).T + model.intercept_
    if len(model.classes_) == 2:
        # Of two classes scikit-learn takes the second for the positive one.
        decisions = -decisions
    columns = []
    for column, (first, second) in enumerate(itertools.combinations(model.classes_, 2)):
        signs = np.where(y == first, 1.0, -1.0)
        belongs = (y == first) | (y == second)
        columns.append(np.where(belongs, signs * decisions[:, column], np.inf))
    return np.column_stack(columns)


def feature_weights(model: Any) -> NDArray[np.float64]:
    """Return the size of each weight of a linear model, as the norm over its binary problems.

    Parameters
    ----------
    model : estimator
        Fitted, with ``coef_``.

    Returns
    -------
    ndarray of shape (n_features,)
        Rounded to 12 digits of the largest, so that weights which are equal but for rounding tie.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> from certifeature.support import feature_weights
    >>> feature_weights(SVC(kernel="linear").fit([[-1.0, 0.0], [1.0, 0.0]], [0, 1]))
    array([1., 0.])
    """
    if not hasattr(model, "coef_"):
        raise ValueError(
            f"{type(model).__name__} has no coef_ to rank features by; use order='leverage', "
            "an array or a callable, or an estimator with coef_."
        )
    weights = np.abs(dense_coef(model))
    largest = weights.max(initial=0.0)
    if largest == 0:
        return np.zeros(weights.shape[1])
    relative = np.sqrt(np.sum((weights / largest) ** 2, axis=0))
    return np.round(relative, 12) * largest


def dense_coef(model: Any) -> NDArray[np.float64]:
    """Return the weights of a fitted linear model, a line for each binary problem."""
    coef = model.coef_  # LIBSVM's are computed at every look.
    return np.atleast_2d(coef.toarray() if sparse.issparse(coef) else np.asarray(coef))


def ranks(*keys: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the ranks that keys give, from 0 for the smallest; the first key counts most.

    Equal keys have equal ranks.
    """
    worst_first = np.lexsort(keys[::-1])
    table = np.array(keys)[:, worst_first]
    differs = (table[:, 1:] != table[:, :-1]).any(axis=0)
    result = np.empty(len(worst_first))
    result[worst_first] = np.concatenate([[0], np.cumsum(differs)])
    return result
