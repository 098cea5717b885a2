"""The third layer: margins, objectives and radii, computed for full and for selected features."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.svm import SVC, LinearSVC, LinearSVR

from certifeature.certificate.ball import minimum_enclosing_ball
from certifeature.certificate.certificate import Certificate, Realised
from certifeature.certificate.logistic_objectives import logistic_objective, multinomial_objective
from certifeature.certificate.multipliers import Enclosure
from certifeature.certificate.objectives import hinge_objective, squared_hinge_objective
from certifeature.certificate.safe_rows import SafeRows
from certifeature.certificate.separation import hard_margin
from certifeature.certificate.tube_objectives import tube_objective
from certifeature.support.accepted import predicts_numbers
from certifeature.support.loss import intercept_of, loss_of

__all__ = ["realise"]

FloatArray = NDArray[np.float64]

_KNOWN = SVC | LinearSVC | LogisticRegression | RidgeClassifier | Ridge | LinearSVR


@dataclass(frozen=True, eq=False)
class _Problem:
    """Rows, signs and costs of one of the binary problems that a model solves."""

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
    model: Any,
    costs: FloatArray | None,
    classes: NDArray[Any],
    proven: Certificate,
) -> Realised:
    """Return what full and selected features attain on the same rows.

    The costs are those of `certifeature.support.row_costs`. Not all classes need be among the
    labels. What is proven already, solvers need not find.
    """
    radii = minimum_enclosing_ball(X).lower_bound, minimum_enclosing_ball(X_selected).radius
    if y is None or costs is None or not isinstance(model, _KNOWN):
        return Realised(None, None, None, None, None, None, *radii, proven.proven)
    numbers = predicts_numbers(model)
    problems = [] if numbers else list(_binary_problems(model, y, costs, classes))
    centred = SafeRows.of(X, None), SafeRows.of(X_selected, None)
    margins = _worst_margins(centred, problems, proven.lambda_min)
    objectives: tuple[float | None, float | None] = (None, None)
    loss = loss_of(model, len(classes))
    if getattr(model, "multi_class", "ovr") == "ovr" and getattr(model, "penalty", "l2") != "l1":
        constant = intercept_of(model)
        if constant is not None:
            centred = SafeRows.of(X, constant), SafeRows.of(X_selected, constant)
        if numbers:
            epsilon = float(model.epsilon) if isinstance(model, LinearSVR) else 0.0
            full, selected = ([_of_numbers(rows, y, costs, constant, epsilon)] for rows in centred)
        elif loss == "multinomial":
            own = y[:, None] == classes
            full, selected = (
                [multinomial_objective(rows, own, costs[:, 0], intercept=constant)]
                for rows in centred
            )
        else:
            full, selected = (
                [_of_signs(rows, problem, loss, constant) for problem in problems]
                for rows in centred
            )
        objectives = sum(e.lower for e in full), sum(e.upper for e in selected)
    parameter = getattr(model, "alpha", None)
    strength = float(model.C if parameter is None else np.max(parameter))
    return Realised(loss, strength, *margins, *objectives, *radii, proven.proven)


def _binary_problems(
    model: Any, y: NDArray[Any], costs: FloatArray, classes: NDArray[Any]
) -> Iterator[_Problem]:
    """Yield the problems that the model solves: pairs, or one class against the rest."""
    if len(classes) == 2 or isinstance(model, SVC):
        for second in range(len(classes)):
            for first in range(second):
                rows = np.flatnonzero((y == classes[first]) | (y == classes[second]))
                signs = np.where(y[rows] == classes[first], 1.0, -1.0)
                yield _Problem(rows, signs, costs[rows, 0])
        return
    # Of several classes at once there is one column of costs.
    columns = np.broadcast_to(costs, (len(y), len(classes))).T
    for label, column in zip(classes, columns, strict=True):
        yield _Problem(np.arange(len(y)), np.where(y == label, 1.0, -1.0), column)


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


def _of_signs(rows: SafeRows, problem: _Problem, loss: str, intercept: float | None) -> Enclosure:
    """Enclose the objective of a binary problem."""
    part = rows.take(problem.rows), problem.signs, problem.costs
    if loss == "hinge":
        return hinge_objective(*part, intercept=intercept)
    if loss == "logistic":
        return logistic_objective(*part, intercept=intercept)
    if loss == "squared":
        return tube_objective(*part, intercept=intercept)
    assert intercept is not None  # LIBLINEAR's are penalised.
    return squared_hinge_objective(*part, intercept=intercept)


def _of_numbers(
    rows: SafeRows, y: NDArray[Any], costs: FloatArray, intercept: float | None, epsilon: float
) -> Enclosure:
    """Enclose the objective of a model that predicts numbers."""
    return tube_objective(rows, y, costs[:, 0], intercept=intercept, epsilon=epsilon)
