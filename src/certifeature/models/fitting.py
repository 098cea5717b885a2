"""Training of scikit-learn's linear models, to the optimum where possible."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgWarning
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from certifeature._validation import warn
from certifeature.models.problem import Problem, check_model, predicts_numbers, solver_of
from certifeature.models.solver import MAX_DIRECT, minimise
from certifeature.rows.matrix import column_norms
from certifeature.rows.rows import real_targets

__all__ = [
    "capped",
    "check_row_norms",
    "default_model",
    "fit_converges",
    "fit_model",
    "move_to_optimum",
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


def capped(model: Any, max_steps: int = _MAX_STEPS) -> Any:
    """Return an unfitted copy of a model whose solver ends, converged or not.

    LIBSVM takes at most so many steps.
    """
    return clone(model).set_params(max_iter=_capped_iterations(model, max_steps))


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
    problem = Problem.of(model, y, sample_weight)
    if problem.is_smooth:
        _fit_roughly(model, X, y, weights)
        reached = move_to_optimum(model, X, problem)
    else:
        tolerances = _TOLERANCES if solver_of(model) == "libsvm" else (model.tol,)
        reached = any(_fit_closely(model, X, y, weights, tolerance) for tolerance in tolerances)
    if not reached:
        warn_of_no_optimum(model)
    return reached


def move_to_optimum(model: Any, X: Any, problem: Problem) -> bool:
    """Move a fitted model to its optimum; tell whether it got there.

    Solvers of scikit-learn stop at a tolerance, so their support rows depend on the order of the
    rows. The optimum is one, and what is chosen for it is the same however the rows come.

    Parameters
    ----------
    model : estimator
        Fitted; its weights are changed.
    X : {ndarray, CSR array} of shape (n_samples, n_features)
        The data it was fitted to.
    problem : Problem
        What it minimises, smooth.
    """
    X = X.astype(np.float64, copy=False)
    constant = 1.0 if problem.intercept is None else problem.intercept
    weights = np.zeros((X.shape[1] + 1, len(np.atleast_2d(model.coef_))))
    weights[:-1] = np.atleast_2d(model.coef_).T
    if constant:
        weights[-1] = np.asarray(model.intercept_) / constant
    all_reached = True
    for part in problem.parts:
        start = weights[:, part.columns]
        best, reached = minimise(X, part.loss, problem.intercept, start)
        weights[:, part.columns] = best
        all_reached &= reached
    model.coef_ = np.ascontiguousarray(weights[:-1].T).reshape(np.shape(model.coef_))
    if constant:
        values = constant * weights[-1]
        model.intercept_ = float(values[0]) if np.ndim(model.intercept_) == 0 else values
    return all_reached


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
        if solver_of(model) == "liblinear" and hasattr(model, "loss"):
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


def _capped_iterations(model: Any, max_steps: int = _MAX_STEPS) -> int | None:
    """Return at most how many iterations a solver may take; LIBSVM takes -1 for no limit."""
    if model.max_iter is None:
        return None
    limit = max_steps if solver_of(model) == "libsvm" else _MAX_PASSES
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
    return float(column_norms(X.astype(np.float64, copy=False).T).max(initial=0.0))
