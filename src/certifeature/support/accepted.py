"""Which models features can be chosen for."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, is_classifier
from sklearn.linear_model import (
    LogisticRegression,
    LogisticRegressionCV,
    Ridge,
    RidgeClassifier,
)
from sklearn.svm import LinearSVR

from certifeature._parameters import as_positive
from certifeature.support.costs import cost_of

__all__ = ["REMEDY", "check_model", "predicts_numbers"]

_TUBE = "squared_epsilon_insensitive"
REMEDY = (
    "use one of SVC(kernel='linear'), NuSVC(kernel='linear'), LinearSVC, LogisticRegression with "
    "an l2 penalty or RidgeClassifier, and for real-valued targets Ridge or "
    f"LinearSVR(loss='{_TUBE}'), all of scikit-learn; or set supervised=False."
)


def predicts_numbers(model: Any) -> bool:
    """Tell whether the targets of a model are numbers, rather than classes."""
    return isinstance(model, Ridge | LinearSVR)


def check_model(model: Any) -> None:
    """Raise unless an estimator can be a linear model that the guarantees hold for."""
    name = type(model).__name__
    is_other = isinstance(model, BaseEstimator) and not is_classifier(model)
    if (is_other and not predicts_numbers(model)) or isinstance(model, LogisticRegressionCV):
        raise ValueError(f"features cannot be chosen for {name}; {REMEDY}")
    kernel = getattr(model, "kernel", "linear")
    if kernel != "linear":
        raise ValueError(
            f"the guarantees hold for linear models; got {name} with kernel={kernel!r}. "
            "Use kernel='linear'."
        )
    if isinstance(model, LogisticRegression):
        _check_penalty(model)
    elif isinstance(model, Ridge | RidgeClassifier):
        _check_ridge(model)
    elif isinstance(model, LinearSVR):
        _check_tube(model)
    if not isinstance(model, Ridge | RidgeClassifier) and cost_of(model) is not None:
        as_positive(f"C of {name}", model.C)
    weights = getattr(model, "class_weight", None)
    for label, weight in weights.items() if isinstance(weights, Mapping) else ():
        if not isinstance(weight, Real) or not 0 < float(weight) < np.inf:
            raise ValueError(
                f"class_weight of {name} gives the class {label!r} the weight {weight!r}, and "
                "weights must be finite and positive. If its rows should not count, leave them out."
            )


def _check_penalty(model: LogisticRegression) -> None:
    if model.penalty not in ("deprecated", "l2"):
        raise ValueError(
            f"LogisticRegression with penalty={model.penalty!r} is not l2-regularised, which the "
            "guarantees need; use l1_ratio=0 and a finite C."
        )
    if model.l1_ratio not in (0, None):
        raise ValueError(
            f"LogisticRegression with l1_ratio={model.l1_ratio!r} is not l2-regularised alone, "
            f"which the guarantees need; use l1_ratio=0. Or {REMEDY}"
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
        raise ValueError(f"features cannot be chosen for LinearSVR(loss={model.loss!r}); {REMEDY}")
    if not isinstance(model.epsilon, Real) or not 0 <= float(model.epsilon) < np.inf:
        raise ValueError(
            f"epsilon of LinearSVR must be finite and not negative; got {model.epsilon!r}."
        )
