"""How a linear model is trained, and which one by default."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import LinAlgWarning
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC, LinearSVC
from sklearn.utils.validation import has_fit_parameter

from certifeature._warnings import warn
from certifeature.rows.rows import real_targets
from certifeature.support.accepted import predicts_numbers
from certifeature.support.costs import row_costs
from certifeature.support.newton import (
    MAX_DIRECT,
    UNCERTAIN,
    has_smooth_loss,
    move_to_optimum,
)
from certifeature.support.smooth import has_gradient, move_smooth_to_optimum

__all__ = ["MAX_ITERATIONS", "check_row_norms", "default_model", "fit_model"]

FloatArray = NDArray[np.float64]

# Data that were not scaled can keep LIBSVM busy for days; it warns when it gives up.
MAX_ITERATIONS = 1_000_000
# LIBSVM keeps inner products in single precision and never ends when they overflow.
_LARGEST_ROW_NORM = 1e18
# Where LIBLINEAR stops if the steps after it are cheap, and few since rows have some slack: its
# cost, for rows of norm 1, is no more than this.
_ROUGH, _SOFT = 0.1, 1e4
# Of the margins of LIBSVM's solutions, the closer one first; its own default is 1e-3.
_TOLERANCES = (1e-8, 1e-5)


def default_model(random_state: int) -> LinearSVC:
    """Return an unfitted linear SVM with the squared hinge loss, whose growth has a bound.

    Parameters
    ----------
    random_state : int
        Seed of LIBLINEAR's coordinate order.

    Examples
    --------
    >>> from certifeature.support import default_model
    >>> default_model(0)
    LinearSVC(dual=True, random_state=0)
    """
    # The primal solver, which dual="auto" takes for more rows than features, stops so early that
    # rows on the margin seem to lie beyond it.
    return LinearSVC(dual=True, random_state=random_state)


def fit_model(
    model: Any, X: Any, y: NDArray[Any], sample_weight: NDArray[np.float64] | None = None
) -> Any:
    """Fit a linear model, or say why it cannot be.

    Models with a smooth loss (squared hinge, logistic, squared, squared with a tube) are taken to
    their optimum, beyond where scikit-learn's solvers stop, and a `sklearn.svm.SVC` close to it,
    beyond its own tolerance: what is chosen for a model must not depend on the order of the rows.

    Parameters
    ----------
    model : estimator
        Unfitted linear model.
    X : {ndarray, sparse array or matrix} of shape (n_samples, n_features)
        Training data.
    y : ndarray of shape (n_samples,)
        Labels of at least two classes, or finite numbers for a model that predicts numbers.
    sample_weight : ndarray of shape (n_samples,), default=None
        Weights of the rows.

    Returns
    -------
    estimator
        The fitted model.

    Examples
    --------
    >>> import numpy as np
    >>> from certifeature.support import default_model, fit_model
    >>> X, y = np.array([[-1.0], [1.0]]), np.array([0, 1])
    >>> fit_model(default_model(0), X, y).coef_.round(6)
    array([[0.8]])
    """
    y = _checked_targets(model, y)
    check_row_norms(X)
    if sample_weight is not None and not has_fit_parameter(model, "sample_weight"):
        raise ValueError(
            f"{type(model).__name__} takes no sample_weight; leave it out or use a model that "
            "takes it, such as sklearn.svm.LinearSVC."
        )
    weights = {} if sample_weight is None else {"sample_weight": sample_weight}
    if isinstance(model, SVC):
        if not any(_fit_closely(model, X, y, weights, tolerance) for tolerance in _TOLERANCES):
            warn(UNCERTAIN, ConvergenceWarning)
            model.fit(X, y, **weights)
        return model
    if not has_smooth_loss(model) and not has_gradient(model):
        return model.fit(X, y, **weights)
    _fit_roughly(model, X, y, weights)
    costs = row_costs(model, y, sample_weight)
    assert costs is not None
    move = move_to_optimum if has_smooth_loss(model) else move_smooth_to_optimum
    return move(model, X, y, costs)


def check_row_norms(X: Any) -> None:
    """Raise if rows are so long that LIBSVM would never end."""
    norm = _largest_row_norm(X)
    if norm > _LARGEST_ROW_NORM:
        raise ValueError(
            f"X has rows of norm up to {norm:.0e}; beyond {_LARGEST_ROW_NORM:.0e} the inner "
            "products of a linear model overflow. Scale X first, for instance with "
            "sklearn.preprocessing.MaxAbsScaler, or set supervised=False."
        )


def _checked_targets(model: Any, y: NDArray[Any]) -> NDArray[Any]:
    """Return labels of several classes, or finite numbers, whichever a model predicts."""
    if predicts_numbers(model):
        return real_targets(y)
    classes = np.unique(y)
    if len(classes) < 2:
        raise ValueError(
            f"y has one class only, {classes[0]!r}; a classifier needs at least two. "
            "Pass rows of both classes, or set supervised=False."
        )
    return y


def _fit_roughly(model: Any, X: Any, y: NDArray[Any], weights: dict[str, Any]) -> None:
    """Fit a model that is taken to its optimum afterwards, however near its own solver comes."""
    with warnings.catch_warnings():
        # Where a solver stopped, and how it got there, does not matter in the end.
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", LinAlgWarning)
        warnings.filterwarnings("ignore", '"sag" solver requires many iterations')
        warnings.filterwarnings("ignore", "Singular matrix in solving dual problem")
        if not hasattr(model, "dual") or isinstance(model, LogisticRegression):
            model.fit(X, y, **weights)
            return
        given = {"dual": model.dual, "tol": model.tol}
        try:
            # LIBLINEAR's primal problem is much quicker of many rows and few columns; there, what
            # follows is quicker still.
            tall = X.shape[1] <= min(X.shape[0], MAX_DIRECT)
            is_soft = tall and model.C * _largest_row_norm(X) ** 2 <= _SOFT
            tol = max(model.tol, _ROUGH) if is_soft else model.tol
            model.set_params(dual="auto", tol=tol).fit(X, y, **weights)
        finally:
            model.set_params(**given)


def _fit_closely(
    svm: SVC, X: Any, y: NDArray[Any], weights: dict[str, Any], tolerance: float
) -> bool:
    """Fit by LIBSVM to a tolerance at which the support hardly depends on the order of rows.

    Return whether it was reached. LIBSVM keeps inner products in single precision, which may
    forbid it.
    """
    given = {"tol": svm.tol, "max_iter": svm.max_iter}
    limit = MAX_ITERATIONS if svm.max_iter < 0 else min(svm.max_iter, MAX_ITERATIONS)
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
    X = X.tocsr() if sparse.issparse(X) else X
    values = X.data if sparse.issparse(X) else X
    largest = float(np.abs(values).max(initial=0.0))
    if largest == 0:
        return 0.0
    squares = (values / largest) ** 2
    if sparse.issparse(X):
        squares = sparse.csr_array((squares, X.indices, X.indptr), shape=X.shape)
        return largest * float(np.sqrt((squares @ np.ones(X.shape[1])).max()))
    return largest * float(np.sqrt(squares.sum(axis=1).max()))
