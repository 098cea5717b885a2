"""Objectives, margins and radii with all and with the chosen columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.svm import SVC, LinearSVC, LinearSVR

from certifeature import _resources as _memory
from certifeature._resources import one_thread
from certifeature.certificate.ball import minimum_enclosing_ball
from certifeature.certificate.certificate import Certificate, Realised
from certifeature.models.enclosure import (
    Enclosure,
    SafeRows,
    hinge_objective,
    logistic_objective,
    multinomial_objective,
    squared_hinge_objective,
    tube_objective,
)
from certifeature.models.margin import hard_margin
from certifeature.models.problem import intercept_of, loss_of, predicts_numbers
from certifeature.models.support import Support
from certifeature.sparsify import ColumnChoice

__all__ = [
    "FullModel",
    "binary_problems",
]


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


class FullModel:
    """What all features attain on the rows of a model, beside which selections are held.

    It is computed once, however many selections there are.

    Parameters
    ----------
    found : Support
        The rows and the model. Not all classes need be among the labels.
    """

    def __init__(self, found: Support) -> None:
        self.found = found

    def realised(self, sample: ColumnChoice, proven: Certificate) -> Realised | None:
        """Return what full and selected features attain; None of rows that are too many.

        What is proven already, solvers need not find.
        """
        rows = self.found.rows
        if rows.in_blocks or rows.n_rows > _memory.MAX_GRAM:
            return None
        # Solvers make many small products, for which threads would wait where cores are busy.
        with one_thread():
            return self._beside(rows.columns(sample.indices, sample.scales).X, proven)

    def _beside(self, X: Any, proven: Certificate) -> Realised:
        """Return what full features attain, and rows X with the selected ones."""
        rows, model = self.found.rows, self.found.model
        radii = self._radius, minimum_enclosing_ball(X).radius
        if rows.y is None or self.found.costs is None or not isinstance(model, _KNOWN):
            return Realised(None, None, None, None, None, None, *radii, proven.proven)
        full_margins, full_objective = self._full
        selected = SafeRows.of(X, None)
        margins = _worst_margins(full_margins, selected, proven.lambda_min)
        objectives = full_objective, self._bound(selected, X, "upper")
        parameter = getattr(model, "alpha", None)
        strength = float(model.C if parameter is None else np.max(parameter))
        return Realised(self._loss, strength, *margins, *objectives, *radii, proven.proven)

    @cached_property
    def _radius(self) -> float:
        return minimum_enclosing_ball(self.found.rows.X).lower_bound

    @cached_property
    def _loss(self) -> str:
        return loss_of(self.found.model, len(self.found.classes))

    @cached_property
    def _intercept(self) -> float | None:
        return intercept_of(self.found.model)

    @cached_property
    def _problems(self) -> list[_Problem]:
        found = self.found
        if predicts_numbers(found.model):
            return []
        assert found.rows.y is not None
        assert found.costs is not None
        return list(binary_problems(found.model, found.rows.y, found.costs, found.classes))

    @cached_property
    def _full(self) -> tuple[list[tuple[_Problem, Enclosure]], float | None]:
        """The margins of problems that have one, and a number that the objective is not below.

        Both at once, so that inner products of the rows are computed once, and not kept.
        """
        rows = SafeRows.of(self.found.rows.X, None)
        margins = [
            (problem, hard_margin(rows.take(problem.rows), problem.signs))
            for problem in self._problems
            if problem.has_both_classes
        ]
        return (
            [(problem, margin) for problem, margin in margins if margin is not None],
            self._bound(rows, self.found.rows.X, "lower"),
        )

    def _bound(self, centred: SafeRows, X: Any, side: str) -> float | None:
        """Return the lower or upper bound of the objective; None of one that is not enclosed."""
        model = self.found.model
        if getattr(model, "multi_class", "ovr") != "ovr" or getattr(model, "penalty", "l2") == "l1":
            return None
        rows = centred if self._intercept is None else SafeRows.of(X, self._intercept)
        return sum(getattr(enclosure, side) for enclosure in self._objectives(rows))

    def _objectives(self, rows: SafeRows) -> list[Enclosure]:
        """Enclose the objectives that the model minimises, for rows with some features."""
        y, costs, model = self.found.rows.y, self.found.costs, self.found.model
        assert y is not None
        assert costs is not None
        if predicts_numbers(model):
            epsilon = float(model.epsilon) if isinstance(model, LinearSVR) else 0.0
            cost = costs[:, 0]
            return [tube_objective(rows, y, cost, intercept=self._intercept, epsilon=epsilon)]
        if self._loss == "multinomial":
            own = y[:, None] == self.found.classes
            return [multinomial_objective(rows, own, costs[:, 0], intercept=self._intercept)]
        return [_of_signs(rows, p, self._loss, self._intercept) for p in self._problems]


def binary_problems(
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
    full_margins: list[tuple[_Problem, Enclosure]], selected: SafeRows, lambda_min: float
) -> tuple[float | None, float | None]:
    """Return the hard margins, full and selected, of the problem that loses most."""
    worst: tuple[float | None, float | None] = (None, None)
    least = np.inf
    for problem, full in full_margins:
        found = hard_margin(selected.take(problem.rows), problem.signs)
        kept = 0.0 if found is None else found.lower
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
