"""A linear model as mathematics: its loss, costs, intercept and strong convexity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.svm import SVC, LinearSVC, LinearSVR
from sklearn.utils import compute_class_weight

from certifeature._validation import as_positive

__all__ = [
    "ACCEPTED",
    "ALL_ROWS_MATTER",
    "ModelBound",
    "check_model",
    "cost_of",
    "intercept_of",
    "loss_of",
    "model_name",
    "predicts_numbers",
    "ridge_of",
    "row_costs",
    "with_cost_times",
]


# The certificates are proven for these classes and no others. A subclass may minimise anything.
ACCEPTED = (SVC, LinearSVC, LogisticRegression, RidgeClassifier, Ridge, LinearSVR)
_TUBE = "squared_epsilon_insensitive"
_REMEDY = (
    "use one of SVC(kernel='linear'), LinearSVC, LogisticRegression with an l2 penalty or "
    "RidgeClassifier, and for real-valued targets Ridge or "
    f"LinearSVR(loss='{_TUBE}'), all of scikit-learn; or set supervised=False without an "
    "estimator, which chooses for any linear model."
)


def predicts_numbers(model: Any) -> bool:
    """Tell whether the targets of a model are numbers, rather than classes."""
    return isinstance(model, Ridge | LinearSVR)


def check_model(model: Any) -> None:
    """Raise unless an estimator is a linear model that the guarantees are proven for."""
    name = type(model).__name__
    if type(model) not in ACCEPTED:
        raise ValueError(
            f"features cannot be chosen or certified for {name}; {_inner_model(model)}{_REMEDY}"
        )
    if isinstance(model, SVC) and model.kernel != "linear":
        raise ValueError(
            f"the guarantees hold for linear models; got {name} with kernel={model.kernel!r}. "
            "Use kernel='linear'."
        )
    if isinstance(model, LinearSVC) and model.penalty != "l2":
        raise ValueError(
            f"the guarantees hold for l2 penalties; got {name} with penalty={model.penalty!r}. "
            "Use penalty='l2'."
        )
    if isinstance(model, LogisticRegression):
        _check_penalty(model)
    elif isinstance(model, LinearSVR):
        _check_tube(model)
    if isinstance(model, Ridge | RidgeClassifier):
        _check_ridge(model)
    else:
        as_positive(f"C of {name}", model.C)
    if isinstance(model, LinearSVC | LinearSVR) and model.fit_intercept:
        as_positive(f"intercept_scaling of {name}", model.intercept_scaling)
    weights = getattr(model, "class_weight", None)
    for label, weight in weights.items() if isinstance(weights, Mapping) else ():
        if not isinstance(weight, Real) or not 0 < float(weight) < np.inf:
            raise ValueError(
                f"class_weight of {name} gives the class {label!r} the weight {weight!r}, and "
                "weights must be finite and positive. If its rows should not count, leave them out."
            )


def _inner_model(model: Any) -> str:
    """Return what to pass in the place of an estimator that has the model inside."""
    if hasattr(model, "steps"):
        return (
            "pass its last step as the model, and the rows as that step gets them "
            "(pipeline[:-1].fit_transform(X)); "
        )
    if hasattr(model, "cv") and hasattr(model, "estimator"):
        return "pass the best_estimator_ that the search found; "
    if hasattr(model, "estimator") or hasattr(model, "estimators"):
        return "pass the linear model that it is made of; "
    return ""


def _check_penalty(model: LogisticRegression) -> None:
    if model.penalty not in ("deprecated", "l2"):
        raise ValueError(
            f"LogisticRegression with penalty={model.penalty!r} is not l2-regularised, which the "
            "guarantees need; use l1_ratio=0 and a finite C."
        )
    if model.l1_ratio not in (0, None):
        raise ValueError(
            f"LogisticRegression with l1_ratio={model.l1_ratio!r} is not l2-regularised alone, "
            f"which the guarantees need; use l1_ratio=0. Or {_REMEDY}"
        )


def _check_ridge(model: Ridge | RidgeClassifier) -> None:
    name = type(model).__name__
    alpha = np.asarray(model.alpha)
    is_right = alpha.dtype.kind in "fiu" and alpha.ndim <= 1 and alpha.size
    if not is_right or not ((alpha > 0) & (alpha < np.inf)).all():
        raise ValueError(
            f"alpha of {name} must be positive and finite; got {model.alpha!r}. Without a penalty "
            "there is no guarantee: give a small alpha."
        )
    if model.positive:
        raise ValueError(
            f"{name} with positive=True is not free to choose its weights, so the guarantees do "
            "not hold; use positive=False."
        )


def _check_tube(model: LinearSVR) -> None:
    if model.loss != _TUBE:
        raise ValueError(f"features cannot be chosen for LinearSVR(loss={model.loss!r}); {_REMEDY}")
    if not isinstance(model.epsilon, Real) or not 0 <= float(model.epsilon) < np.inf:
        raise ValueError(
            f"epsilon of LinearSVR must be finite and not negative; got {model.epsilon!r}."
        )


# The conjugate of a loss times c is so strongly convex, times 1/c. That of the hinge is not, but as
# its multipliers are no larger than c, the ridge of the squared hinge serves it nearly as well.
_CONVEXITY = {
    "hinge": 0.5,
    "squared_hinge": 0.5,
    "squared": 0.5,
    "squared_epsilon_insensitive": 0.5,
    "logistic": 4.0,
    "multinomial": 2.0,
}
# Losses that no row escapes, however well it fits.
ALL_ROWS_MATTER = ("squared", "logistic", "multinomial")


@dataclass(frozen=True)
class ModelBound:
    """What a certificate has to know of a model, which may be any.

    Attributes
    ----------
    name : str or None
        As `model_name` returns it.
    mu : float or None
        As `ridge_of` returns it.
    hinge : bool
        Whether its loss is the hinge.
    converged : bool
        Whether it was trained to its optimum, if it was trained at all.
    """

    name: str | None = None
    mu: float | None = None
    hinge: bool = False
    converged: bool = True

    @property
    def soft_mu(self) -> float | None:
        """How strongly convex its dual is; None if it is not."""
        return None if self.hinge else self.mu


def loss_of(model: Any, n_classes: int = 2) -> str:
    """Return the name of a model's loss; "other" if only a bound for all directions covers it.

    Parameters
    ----------
    model : estimator
        Linear model.
    n_classes : int, default=2
        Number of classes that it is to tell apart.

    Examples
    --------
    >>> from sklearn.svm import LinearSVC
    >>> loss_of(LinearSVC())
    'squared_hinge'
    """
    if isinstance(model, Ridge | RidgeClassifier):
        return "squared"
    if isinstance(model, LogisticRegression):
        return "logistic" if n_classes <= 2 or model.solver == "liblinear" else "multinomial"
    if isinstance(model, LinearSVR):
        return str(model.loss)
    if isinstance(model, LinearSVC) and model.multi_class == "ovr" and model.penalty == "l2":
        return str(model.loss)
    return "hinge" if isinstance(model, SVC) else "other"


def model_name(model: Any) -> str:
    """Return a model's name with the constant that weighs its loss against the size of weights.

    Parameters
    ----------
    model : estimator
        Linear model.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> model_name(Ridge(alpha=10))
    'Ridge(alpha=10)'
    """
    known = model.get_params() if hasattr(model, "get_params") else {}
    constants = {name: known[name] for name in ("C", "alpha") if np.isscalar(known.get(name))}
    given = ", ".join(f"{name}={value:g}" for name, value in constants.items())
    return f"{type(model).__name__}({given})"


def intercept_of(model: Any) -> float | None:
    """Return the feature whose weight a model's intercept is, 0 if it has none, None if it is free.

    LIBLINEAR penalises the intercept as the weight of a constant feature; others do not.

    Parameters
    ----------
    model : estimator
        Linear model.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.svm import LinearSVC
    >>> intercept_of(LinearSVC()), intercept_of(Ridge(fit_intercept=False)), intercept_of(Ridge())
    (1.0, 0.0, None)
    """
    if not getattr(model, "fit_intercept", True):
        return 0.0
    of_liblinear = isinstance(model, LinearSVC | LinearSVR)
    if of_liblinear or getattr(model, "solver", None) == "liblinear":
        return float(model.intercept_scaling)
    return None


def ridge_of(loss: str, costs: NDArray[np.float64] | None) -> float | None:
    """Return the ridge μ of the bound for a model: its conjugate is μ-strongly convex, or a hinge.

    That of ½‖w‖² + Σ cᵢ·loss is μ/max(c)-strongly convex, with μ that of the loss. Rows times the
    roots of their weights have the same μ as rows without.

    Parameters
    ----------
    loss : str
        As `loss_of` returns it.
    costs : ndarray or None
        The constants c, without weights of single rows.

    Returns
    -------
    float or None
        None if there is no such bound.

    Examples
    --------
    >>> import numpy as np
    >>> ridge_of("squared_hinge", np.full((3, 1), 10.0))
    0.05
    """
    if loss not in _CONVEXITY or costs is None:
        return None
    return _CONVEXITY[loss] / float(costs.max())


FloatArray = NDArray[np.float64]


def cost_of(model: Any) -> float:
    """Return the parameter C of a model.

    Ridge regression minimises ½‖w‖² + C·Σ(y − f)² with C = 1/(2·alpha); of several, it is the
    largest.
    """
    if isinstance(model, Ridge | RidgeClassifier):
        return float(1 / (2 * np.min(model.alpha)))
    return float(model.C)


def with_cost_times(model: Any, factor: float) -> Any:
    """Return an unfitted copy of a model whose C is so many times as large."""
    if isinstance(model, Ridge | RidgeClassifier):
        return clone(model).set_params(alpha=np.asarray(model.alpha) / factor)
    return clone(model).set_params(C=factor * model.C)


def row_costs(
    model: Any,
    y: NDArray[Any],
    sample_weight: FloatArray | None = None,
    classes: NDArray[Any] | None = None,
) -> FloatArray:
    """Return what a model multiplies the loss of each row by.

    Parameters
    ----------
    model : estimator
        Linear model, whose objective is a multiple of ½‖w‖² + Σ cᵢ·loss.
    y : ndarray of shape (n_samples,)
        Labels, or numbers.
    sample_weight : ndarray of shape (n_samples,), default=None
        Weights of the rows.
    classes : ndarray of shape (n_classes,), default=None
        The classes, in ascending order, where not all of them are among the labels.

    Returns
    -------
    ndarray of shape (n_samples, n_problems)
        ``C``, or 1/(2·alpha) for ridge regression, times the weight of the row and of its class.
        There is one column, but where several classes are set against the rest one by one: then
        each has a column. In those of LIBLINEAR only its own rows have the weight of their class.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.svm import SVC
    >>> row_costs(SVC(C=2, class_weight={1: 10}), np.array([0, 1, 1])).ravel()
    array([ 2., 20., 20.])
    """
    factor = np.array([cost_of(model)])
    if isinstance(model, Ridge | LinearSVR):
        costs = np.ones((len(y), 1))
    else:
        classes = np.unique(y) if classes is None else classes
        weights = _class_weights(model, classes, y, sample_weight)
        places = np.searchsorted(classes, y)
        if len(classes) > 2 and isinstance(model, LinearSVC) and model.multi_class == "ovr":
            costs = np.where(places[:, None] == np.arange(len(classes)), weights, 1.0)
        else:
            costs = weights[places][:, None]
        if len(classes) > 2 and isinstance(model, RidgeClassifier):
            costs = np.repeat(costs, len(classes), axis=1)
    if isinstance(model, Ridge | RidgeClassifier):
        factor = 1 / (2 * np.atleast_1d(np.asarray(model.alpha, dtype=float)))
        if len(factor) not in (1, costs.shape[1]):
            raise ValueError(
                f"{type(model).__name__} has {len(factor)} values of alpha for {costs.shape[1]} "
                "targets; give one for each, or a single number."
            )
    if sample_weight is not None:
        costs = costs * sample_weight[:, None]
    return np.asarray(factor * costs)


def _class_weights(
    model: Any, classes: NDArray[Any], y: NDArray[Any], sample_weight: FloatArray | None
) -> FloatArray:
    given = getattr(model, "class_weight", None)
    if isinstance(given, str):
        # LIBSVM and ridge regression count rows, the others weigh them.
        weight = sample_weight if isinstance(model, LinearSVC | LogisticRegression) else None
        return np.asarray(compute_class_weight(given, classes=classes, y=y, sample_weight=weight))
    return np.array([(given or {}).get(label, 1.0) for label in classes.tolist()], dtype=float)
