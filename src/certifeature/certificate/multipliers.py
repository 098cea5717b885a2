"""Points of the dual problem of an SVM, as solvers find them."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from certifeature.support.newton import solved

__all__ = [
    "CLOSE",
    "MAX_DIRECT",
    "OVERFLOW_IS_WIDE",
    "Enclosure",
    "balanced",
    "bordered_solution",
    "libsvm_multipliers",
]

FloatArray = NDArray[np.float64]

_TOLERANCE = 1e-6
_MAX_ITERATIONS = 200_000
# Up to so many rows or features slower methods are worth while.
MAX_DIRECT = 1000
# Relative difference of two bounds that nobody minds.
CLOSE = 1e-6
# Whatever overflows on the way leaves a bound as wide as it was.
OVERFLOW_IS_WIDE = np.errstate(over="ignore", invalid="ignore", divide="ignore")


class Enclosure(NamedTuple):
    """A number that lies between two computed ones."""

    lower: float
    upper: float


def libsvm_multipliers(kernel: FloatArray, signs: FloatArray, costs: FloatArray) -> FloatArray:
    """Return multipliers that meet the constraints of the dual for a free intercept, by LIBSVM."""
    if abs(signs.sum()) == len(signs):
        return np.zeros(len(signs))
    # LIBSVM wants neither tiny costs nor tiny kernels.
    unit = min(float(costs.max()), 1.0)
    svm = SVC(kernel="precomputed", C=1.0, tol=_TOLERANCE, max_iter=_MAX_ITERATIONS)
    with warnings.catch_warnings():
        # An early stop widens the enclosure, which says so itself.
        warnings.simplefilter("ignore", ConvergenceWarning)
        svm.fit(kernel * unit, signs, sample_weight=np.maximum(costs / unit, 1e-300))
    alpha = np.zeros(len(signs))
    alpha[svm.support_] = np.abs(svm.dual_coef_[0]) * unit
    return balanced(np.minimum(alpha, costs), signs)


def balanced(alpha: FloatArray, signs: FloatArray) -> FloatArray:
    """Return multipliers of equal sums over the classes; smaller ones stay feasible."""
    positive, negative = alpha[signs > 0].sum(), alpha[signs < 0].sum()
    least = min(positive, negative)
    if least == 0:
        return np.zeros_like(alpha)
    return np.asarray(alpha * np.where(signs > 0, least / positive, least / negative))


def bordered_solution(kernel: FloatArray, right: FloatArray, total: float) -> FloatArray:
    """Return the β of sum ``total`` for which Kβ differs from the right side by a constant."""
    n_rows = len(kernel)
    size = np.sqrt(max(float(np.diag(kernel).max(initial=0.0)), np.finfo(np.float64).tiny))
    system = np.zeros((n_rows + 1, n_rows + 1))
    system[:-1, :-1] = kernel / size**2
    system[-1, :-1] = system[:-1, -1] = 1.0
    return solved(system, np.append(right / size**2, total))[:-1]
