"""The third layer: margins, objectives and radii, computed for full and for selected features."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import SVC, LinearSVC

from certifeature.certificate.ball import minimum_enclosing_ball
from certifeature.certificate.certificate import Certificate, Realised
from certifeature.certificate.multipliers import Enclosure
from certifeature.certificate.objectives import hinge_objective, squared_hinge_objective
from certifeature.certificate.safe_rows import SafeRows
from certifeature.certificate.separation import hard_margin

__all__ = ["realise"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class _Problem:
    """Rows, signs and costs of one of the binary problems that an SVM solves."""

    rows: NDArray[np.intp]
    signs: FloatArray
    costs: FloatArray

    @property
    def has_both_classes(self) -> bool:
        """Whether there is anything to separate.

        Since LIBLINEAR penalises the intercept, its support may lack a class.
        """
        return bool(abs(self.signs.sum()) < len(self.signs))


def realise(
    X: Any,
    X_selected: Any,
    y: NDArray[Any] | None,
    svm: Any,
    costs: FloatArray | None,
    classes: NDArray[Any],
    proven: Certificate,
) -> Realised:
    """Return what full and selected features attain on the same rows.

    The costs are those of `certifeature.support.row_costs`. Not all classes need be among the
    labels. What is proven already, solvers need not find.
    """
    radii = minimum_enclosing_ball(X).lower_bound, minimum_enclosing_ball(X_selected).radius
    if y is None or costs is None or not isinstance(svm, SVC | LinearSVC):
        return Realised(None, None, None, None, None, None, *radii, proven.proven)
    problems = list(_binary_problems(svm, y, costs, classes))
    centred = SafeRows.of(X, None), SafeRows.of(X_selected, None)
    margins = _worst_margins(centred, problems, proven.lambda_min)
    objectives: tuple[float | None, float | None] = (None, None)
    if getattr(svm, "multi_class", "ovr") == "ovr" and getattr(svm, "penalty", "l2") == "l2":
        if not isinstance(svm, SVC):
            constant = float(svm.intercept_scaling) if svm.fit_intercept else 0.0
            centred = SafeRows.of(X, constant), SafeRows.of(X_selected, constant)
        full, selected = ([_objective(rows, p, svm) for p in problems] for rows in centred)
        objectives = sum(e.lower for e in full), sum(e.upper for e in selected)
    loss = getattr(svm, "loss", "hinge")
    return Realised(loss, float(svm.C), *margins, *objectives, *radii, proven.proven)


def _binary_problems(
    svm: Any, y: NDArray[Any], costs: FloatArray, classes: NDArray[Any]
) -> Iterator[_Problem]:
    """Yield the problems that the SVM solves: pairs, or one class against the rest."""
    if len(classes) == 2 or isinstance(svm, SVC):
        for second in range(len(classes)):
            for first in range(second):
                rows = np.flatnonzero((y == classes[first]) | (y == classes[second]))
                signs = np.where(y[rows] == classes[first], 1.0, -1.0)
                yield _Problem(rows, signs, costs[rows, 0])
        return
    for place, label in enumerate(classes):
        yield _Problem(np.arange(len(y)), np.where(y == label, 1.0, -1.0), costs[:, place])


def _worst_margins(
    pair: tuple[SafeRows, SafeRows], problems: list[_Problem], lambda_min: float
) -> tuple[float | None, float | None]:
    """Return the hard margins, full and selected, of the problem that loses most."""
    worst: tuple[float | None, float | None] = (None, None)
    least = np.inf
    for problem in problems:
        if not problem.has_both_classes:
            continue
        full, selected = (hard_margin(rows.take(problem.rows), problem.signs) for rows in pair)
        if full is None:
            continue
        kept = 0.0 if selected is None else selected.lower
        kept = max(kept, np.sqrt(lambda_min) * full.lower)
        if kept / full.upper < least:
            least = kept / full.upper
            worst = (full.upper, kept or None)
    return worst


def _objective(rows: SafeRows, problem: _Problem, svm: Any) -> Enclosure:
    rows = rows.take(problem.rows)
    if isinstance(svm, SVC):
        return hinge_objective(rows, problem.signs, problem.costs, intercept=None)
    if svm.loss == "hinge":
        return hinge_objective(rows, problem.signs, problem.costs, intercept=rows.constant)
    return squared_hinge_objective(rows, problem.signs, problem.costs, intercept=rows.constant)
