"""Which models features can be chosen for."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.svm import SVC, LinearSVC, LinearSVR

from certifeature._parameters import as_positive

__all__ = ["ACCEPTED", "check_model", "predicts_numbers"]

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
