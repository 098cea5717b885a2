"""The third layer: margins, objectives and radii, computed for full and for selected features."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.svm import SVC, LinearSVC

from certifeature.ball import minimum_enclosing_ball
from certifeature.certificate.model import Realised
from certifeature.svm import Enclosure, hard_margin, hinge_objective, squared_hinge_objective

__all__ = ["realise"]

FloatArray = NDArray[np.float64]
_Binary = tuple[NDArray[np.intp], FloatArray]


def realise(X: Any, X_selected: Any, y: Any, svm: Any, costs: FloatArray | None) -> Realised:
    """Return what full and selected features attain on the same rows."""
    radii = minimum_enclosing_ball(X).lower_bound, minimum_enclosing_ball(X_selected).radius
    if y is None or costs is None or not isinstance(svm, SVC | LinearSVC):
        return Realised(None, None, None, None, None, None, *radii)
    kernels = _kernel(X), _kernel(X_selected)
    problems = list(_binary_problems(svm, y))
    margins = _worst_margins(kernels, problems)
    objectives = _objectives(kernels, problems, svm, costs)
    return Realised(getattr(svm, "loss", "hinge"), float(svm.C), *margins, *objectives, *radii)


def _kernel(X: Any) -> FloatArray:
    kernel = X @ X.T
    return kernel.toarray() if sparse.issparse(kernel) else kernel


def _binary_problems(svm: Any, y: NDArray[Any]) -> Iterator[_Binary]:
    """Yield rows and signs of the problems that the SVM solves: pairs, or one against the rest."""
    classes = np.unique(y)
    if len(classes) == 2 or isinstance(svm, SVC):
        for second in range(len(classes)):
            for first in range(second):
                rows = np.flatnonzero((y == classes[first]) | (y == classes[second]))
                yield rows, np.where(y[rows] == classes[first], 1.0, -1.0)
        return
    for label in classes:
        yield np.arange(len(y)), np.where(y == label, 1.0, -1.0)


def _worst_margins(
    kernels: tuple[FloatArray, FloatArray], problems: list[_Binary]
) -> tuple[float | None, float | None]:
    """Return the hard margins, full and selected, of the problem that loses most."""
    worst: tuple[float | None, float | None] = (None, None)
    least = np.inf
    for rows, signs in problems:
        # Since LIBLINEAR penalises the intercept, its support may lack a class.
        if abs(signs.sum()) == len(signs):
            continue
        full, selected = (hard_margin(kernel[np.ix_(rows, rows)], signs) for kernel in kernels)
        if full is None:
            continue
        ratio = 0.0 if selected is None else selected.lower / full.upper
        if ratio < least:
            least = ratio
            worst = (full.upper, None if selected is None else selected.lower)
    return worst


def _objectives(
    kernels: tuple[FloatArray, FloatArray], problems: list[_Binary], svm: Any, costs: FloatArray
) -> tuple[float | None, float | None]:
    """Return the sums of the optimal objectives, full rounded down and selected rounded up."""
    one_vs_rest = getattr(svm, "multi_class", "ovr") == "ovr"
    if not one_vs_rest or getattr(svm, "penalty", "l2") != "l2":
        return None, None
    enclosures = [
        [
            _objective(kernel[np.ix_(rows, rows)], signs, costs[rows], svm)
            for rows, signs in problems
        ]
        for kernel in kernels
    ]
    return sum(e.lower for e in enclosures[0]), sum(e.upper for e in enclosures[1])


def _objective(kernel: FloatArray, signs: FloatArray, costs: FloatArray, svm: Any) -> Enclosure:
    if isinstance(svm, SVC):
        return hinge_objective(kernel, signs, costs, free_intercept=True)
    if svm.fit_intercept:
        kernel = kernel + float(svm.intercept_scaling) ** 2
    if svm.loss == "hinge":
        return hinge_objective(kernel, signs, costs, free_intercept=False)
    return squared_hinge_objective(kernel, signs, costs)
