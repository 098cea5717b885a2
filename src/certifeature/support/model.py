"""A linear SVM: whether it is one, what its rows cost, and how it is trained."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, LinearSVC
from sklearn.utils import compute_class_weight
from sklearn.utils.validation import has_fit_parameter

from certifeature._parameters import as_positive
from certifeature._warnings import warn
from certifeature.support.newton import UNCERTAIN, has_smooth_loss, move_to_optimum

__all__ = [
    "FEW_ROWS",
    "REMEDY",
    "check_model",
    "cost_of",
    "default_model",
    "fit_model",
    "row_costs",
]

FloatArray = NDArray[np.float64]

REMEDY = (
    "use sklearn.svm.SVC(kernel='linear'), sklearn.svm.LinearSVC or another linear SVM, "
    "or supervised=False."
)
# Up to here LIBSVM's exact support vectors cost no more than LIBLINEAR's approximate ones.
FEW_ROWS = 1000
# Data that were not scaled can keep LIBSVM busy for days; it warns when it gives up.
_MAX_ITERATIONS = 1_000_000
# LIBSVM keeps inner products in single precision and never ends when they overflow.
_LARGEST_ROW_NORM = 1e18
# Of the margins of LIBSVM's solutions, the closer one first; its own default is 1e-3.
_TOLERANCES = (1e-8, 1e-5)


def check_model(svm: Any) -> None:
    """Raise unless an estimator can be a linear SVM for which every class counts."""
    name = type(svm).__name__
    if isinstance(svm, BaseEstimator) and not is_classifier(svm):
        raise ValueError(f"{name} is not a classifier; {REMEDY}")
    kernel = getattr(svm, "kernel", "linear")
    if kernel != "linear":
        raise ValueError(
            f"the guarantees hold for linear SVMs; got {name} with kernel={kernel!r}. "
            "Use kernel='linear'."
        )
    if cost_of(svm) is not None:
        as_positive(f"C of {name}", svm.C)
    weights = getattr(svm, "class_weight", None)
    for label, weight in weights.items() if isinstance(weights, Mapping) else ():
        if not isinstance(weight, Real) or not 0 < float(weight) < np.inf:
            raise ValueError(
                f"class_weight of {name} gives the class {label!r} the weight {weight!r}, and "
                "weights must be finite and positive. If its rows should not count, leave them out."
            )


def cost_of(svm: Any) -> float | None:
    """Return the parameter C of an SVM, or None if it has none.

    That of a `sklearn.svm.NuSVC`, which has none, is an attribute nevertheless, and 0.
    """
    return svm.get_params().get("C") if hasattr(svm, "get_params") else getattr(svm, "C", None)


def row_costs(
    svm: Any,
    y: NDArray[Any],
    sample_weight: FloatArray | None = None,
    classes: NDArray[Any] | None = None,
) -> FloatArray | None:
    """Return what an SVM multiplies the loss of each row by, or None if it has no C.

    Parameters
    ----------
    svm : estimator
        Linear SVM.
    y : ndarray of shape (n_samples,)
        Labels.
    sample_weight : ndarray of shape (n_samples,), default=None
        Weights of the rows.
    classes : ndarray of shape (n_classes,), default=None
        The classes, in ascending order, where not all of them are among the labels.

    Returns
    -------
    ndarray of shape (n_samples, n_problems) or None
        ``C`` times the weight of the row and of its class. There is one column, but where LIBLINEAR
        sets several classes against the rest one by one: then each has a column, in which only
        its own rows have the weight of their class.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.svm import SVC
    >>> from certifeature.support import row_costs
    >>> row_costs(SVC(C=2, class_weight={1: 10}), np.array([0, 1, 1])).ravel()
    array([ 2., 20., 20.])
    """
    C = cost_of(svm)
    if C is None:
        return None
    classes = np.unique(y) if classes is None else classes
    weights = _class_weights(svm, classes, y, sample_weight)
    places = np.searchsorted(classes, y)
    if len(classes) > 2 and isinstance(svm, LinearSVC) and svm.multi_class == "ovr":
        costs = np.where(places[:, None] == np.arange(len(classes)), weights, 1.0)
    else:
        costs = weights[places][:, None]
    if sample_weight is not None:
        costs = costs * sample_weight[:, None]
    return np.asarray(float(C) * costs)


def _class_weights(
    svm: Any, classes: NDArray[Any], y: NDArray[Any], sample_weight: FloatArray | None
) -> FloatArray:
    given = getattr(svm, "class_weight", None)
    if isinstance(given, str):
        # LIBSVM counts rows, LIBLINEAR weighs them.
        weight = sample_weight if isinstance(svm, LinearSVC) else None
        return np.asarray(compute_class_weight(given, classes=classes, y=y, sample_weight=weight))
    return np.array([(given or {}).get(label, 1.0) for label in classes.tolist()], dtype=float)


def default_model(n_rows: int, random_state: int) -> Any:
    """Return an unfitted linear SVM: LIBSVM for few rows, LIBLINEAR for many.

    Parameters
    ----------
    n_rows : int
        Number of training rows.
    random_state : int
        Seed of LIBLINEAR's coordinate order.

    Examples
    --------
    >>> from certifeature.support import default_model
    >>> default_model(20_000, 0)
    LinearSVC(dual=True, random_state=0)
    """
    if n_rows <= FEW_ROWS:
        return SVC(kernel="linear", max_iter=_MAX_ITERATIONS)
    # The primal solver, which dual="auto" takes for more rows than features, stops so early that
    # rows on the margin seem to lie beyond it.
    return LinearSVC(dual=True, random_state=random_state)


def fit_model(
    svm: Any, X: Any, y: NDArray[Any], sample_weight: NDArray[np.float64] | None = None
) -> Any:
    """Fit an SVM, or say why it cannot be.

    A `sklearn.svm.LinearSVC` with the squared hinge loss is taken to its optimum, beyond where
    LIBLINEAR stops, and a `sklearn.svm.SVC` close to it, beyond its own tolerance: what is chosen
    for the support rows must not depend on the order of the rows.

    Parameters
    ----------
    svm : estimator
        Unfitted linear SVM.
    X : {ndarray, sparse array or matrix} of shape (n_samples, n_features)
        Training data.
    y : ndarray of shape (n_samples,)
        Labels of at least two classes.
    sample_weight : ndarray of shape (n_samples,), default=None
        Weights of the rows.

    Returns
    -------
    estimator
        The fitted SVM.

    Examples
    --------
    >>> import numpy as np
    >>> from certifeature.support import default_model, fit_model
    >>> X, y = np.array([[-1.0], [1.0]]), np.array([0, 1])
    >>> fit_model(default_model(2, 0), X, y).coef_
    array([[1.]])
    """
    classes = np.unique(y)
    if len(classes) < 2:
        raise ValueError(
            f"y has one class only, {classes[0]!r}; an SVM needs at least two. "
            "Pass rows of both classes, or set supervised=False."
        )
    norm = _largest_row_norm(X)
    if norm > _LARGEST_ROW_NORM:
        raise ValueError(
            f"X has rows of norm up to {norm:.0e}; beyond {_LARGEST_ROW_NORM:.0e} the inner "
            "products of an SVM overflow. Scale X first, for instance with "
            "sklearn.preprocessing.MaxAbsScaler, or set supervised=False."
        )
    if sample_weight is not None and not has_fit_parameter(svm, "sample_weight"):
        raise ValueError(
            f"{type(svm).__name__} takes no sample_weight; leave it out or use an SVM that "
            "takes it, such as sklearn.svm.LinearSVC."
        )
    weights = {} if sample_weight is None else {"sample_weight": sample_weight}
    if isinstance(svm, SVC):
        if not any(_fit_closely(svm, X, y, weights, tolerance) for tolerance in _TOLERANCES):
            warn(UNCERTAIN, ConvergenceWarning)
            svm.fit(X, y, **weights)
        return svm
    if not has_smooth_loss(svm):
        return svm.fit(X, y, **weights)
    given = svm.dual
    with warnings.catch_warnings():
        # Where LIBLINEAR stopped, and how it got there, does not matter if the optimum is reached
        # in the end; the primal problem is much quicker of many rows and few columns.
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            svm.set_params(dual="auto").fit(X, y, **weights)
        finally:
            svm.set_params(dual=given)
    costs = row_costs(svm, y, sample_weight)
    assert costs is not None
    return move_to_optimum(svm, X, y, costs)


def _fit_closely(
    svm: SVC, X: Any, y: NDArray[Any], weights: dict[str, Any], tolerance: float
) -> bool:
    """Fit by LIBSVM to a tolerance at which the support hardly depends on the order of rows.

    Return whether it was reached. LIBSVM keeps inner products in single precision, which may
    forbid it.
    """
    given = {"tol": svm.tol, "max_iter": svm.max_iter}
    limit = _MAX_ITERATIONS if svm.max_iter < 0 else min(svm.max_iter, _MAX_ITERATIONS)
    try:
        svm.set_params(tol=min(svm.tol, tolerance), max_iter=limit)
        with warnings.catch_warnings():
            warnings.simplefilter("error", ConvergenceWarning)
            svm.fit(X, y, **weights)
    except ConvergenceWarning:
        return False
    finally:
        svm.set_params(**given)
    return True


def _largest_row_norm(X: Any) -> float:
    """Return the largest norm of a row, safe from overflow on the way."""
    values = X.data if sparse.issparse(X) else X
    largest = float(np.abs(values).max(initial=0.0))
    if largest == 0:
        return 0.0
    shares = X / largest
    squares = shares.multiply(shares) if sparse.issparse(shares) else shares * shares
    return largest * float(np.sqrt(np.asarray(squares.sum(axis=1)).max()))
