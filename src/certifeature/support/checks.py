"""What can be said of an SVM before it is trained."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, is_classifier

from certifeature._parameters import as_positive

__all__ = ["REMEDY", "check_svm", "cost_of"]

REMEDY = (
    "use sklearn.svm.SVC(kernel='linear'), sklearn.svm.LinearSVC or another linear SVM, "
    "or supervised=False."
)


def check_svm(svm: Any) -> None:
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
