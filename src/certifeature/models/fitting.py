"""Training of scikit-learn's linear models, to the optimum where possible."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import LinAlgWarning
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, LinearSVC, LinearSVR

from certifeature._validation import warn
from certifeature.models.problem import check_model, predicts_numbers, row_costs
from certifeature.models.solver import (
    MAX_DIRECT,
    has_gradient,
    has_smooth_loss,
    move_smooth_to_optimum,
    move_to_optimum,
)
from certifeature.rows.rows import real_targets

__all__ = [
    "capped",
    "check_row_norms",
    "default_model",
    "fit_converges",
    "fit_model",
    "warn_of_no_optimum",
]


FloatArray = NDArray[np.float64]

# Data that were not scaled can keep a solver busy for days. LIBSVM changes two multipliers in a
# step; the other solvers pass over all rows in an iteration.
_MAX_STEPS, _MAX_PASSES = 1_000_000, 100_000
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
    >>> default_model(0)
    LinearSVC(dual=True, random_state=0)
    """
    # The primal solver, which dual="auto" takes for more rows than features, stops so early that
    # rows on the margin seem to lie beyond it.
    return LinearSVC(dual=True, random_state=random_state)


def capped(model: Any) -> Any:
    """Return an unfitted copy of a model whose solver ends, converged or not."""
    return clone(model).set_params(max_iter=_capped_iterations(model))


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
    >>> X, y = np.array([[-1.0], [1.0]]), np.array([0, 1])
    >>> fit_model(default_model(0), X, y).coef_.round(6)
    array([[0.8]])
    """
    fit_converges(model, X, y, sample_weight)
    return model


def fit_converges(
    model: Any, X: Any, y: NDArray[Any], sample_weight: NDArray[np.float64] | None = None
) -> bool:
    """Fit a linear model as `fit_model` does, and tell whether it reached its optimum.

    A warning tells it, too.
    """
    check_model(model)
    y = _checked_targets(model, y)
    check_row_norms(X)
    weights = {} if sample_weight is None else {"sample_weight": sample_weight}
    if has_smooth_loss(model) or has_gradient(model):
        _fit_roughly(model, X, y, weights)
        costs = row_costs(model, y, sample_weight)
        move = move_to_optimum if has_smooth_loss(model) else move_smooth_to_optimum
        reached = move(model, X, y, costs)
    else:
        tolerances = _TOLERANCES if isinstance(model, SVC) else (model.tol,)
        reached = any(_fit_closely(model, X, y, weights, tolerance) for tolerance in tolerances)
    if not reached:
        warn_of_no_optimum(model)
    return reached


def warn_of_no_optimum(model: Any) -> None:
    """Warn that a solver stopped short of the optimum."""
    warn(
        f"{type(model).__name__} did not reach its optimum, so its support rows are uncertain, and "
        "what is chosen for it may depend on the order of rows; scale X, for instance with "
        "sklearn.preprocessing.MaxAbsScaler, or penalise more (a lower C, a larger alpha).",
        ConvergenceWarning,
    )


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
        temporary: dict[str, Any] = {"max_iter": _capped_iterations(model)}
        if isinstance(model, LinearSVC | LinearSVR):
            # LIBLINEAR's primal problem is much quicker of many rows and few columns; there, what
            # follows is quicker still.
            tall = X.shape[1] <= min(X.shape[0], MAX_DIRECT)
            is_soft = tall and model.C * _largest_row_norm(X) ** 2 <= _SOFT
            temporary["tol"] = max(model.tol, _ROUGH) if is_soft else model.tol
            temporary["dual"] = "auto"
        with _set_for_now(model, temporary):
            model.fit(X, y, **weights)


def _fit_closely(
    svm: Any, X: Any, y: NDArray[Any], weights: dict[str, Any], tolerance: float
) -> bool:
    """Fit to a tolerance at which the support hardly depends on the order of rows.

    Return whether it was reached. LIBSVM keeps inner products in single precision, which may
    forbid it; rows that are not scaled can keep either solver busy for days.
    """
    temporary = {
        "tol": min(svm.tol, tolerance),
        "max_iter": _capped_iterations(svm),
    }
    with _set_for_now(svm, temporary), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        svm.fit(X, y, **weights)
    for other in (w for w in caught if not issubclass(w.category, ConvergenceWarning)):
        warnings.warn_explicit(other.message, other.category, other.filename, other.lineno)
    return not any(issubclass(w.category, ConvergenceWarning) for w in caught)


def _capped_iterations(model: Any) -> int | None:
    """Return at most how many iterations a solver may take; LIBSVM takes -1 for no limit."""
    if model.max_iter is None:
        return None
    limit = _MAX_STEPS if isinstance(model, SVC) else _MAX_PASSES
    return int(limit if model.max_iter < 0 else min(model.max_iter, limit))


@contextmanager
def _set_for_now(model: Any, parameters: dict[str, Any]) -> Iterator[None]:
    """Set parameters of a model, and set them back at the end."""
    given = {name: getattr(model, name) for name in parameters}
    model.set_params(**parameters)
    try:
        yield
    finally:
        model.set_params(**given)


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
