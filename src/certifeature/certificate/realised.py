"""Objectives, margins and radii with all and with the chosen columns."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certifeature import _utils as _memory
from certifeature._utils import one_thread
from certifeature.certificate.ball import minimum_enclosing_ball
from certifeature.certificate.certificate import Certificate, Realised
from certifeature.models.enclosure import Enclosure, SafeRows, enclose
from certifeature.models.margin import hard_margin
from certifeature.models.problem import Problem
from certifeature.models.support import Support
from certifeature.sparsify import ColumnChoice

FloatArray = NDArray[np.float64]
# Rows and signs of two classes that have a hard margin, and the margin.
Separation = tuple[NDArray[np.intp], FloatArray, Enclosure]


class FullModel:
    """What all features attain on the rows of a model, with which selections are compared.

    It is computed once, however many selections there are.

    Parameters
    ----------
    found : Support
        The rows and the model. Not all classes need be among the labels.
    """

    def __init__(self, found: Support) -> None:
        self.found = found

    def realised(self, sample: ColumnChoice, proven: Certificate) -> Realised | None:
        """Return what full and selected features attain; None if there are too many rows.

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
        radii = self._radius, minimum_enclosing_ball(X).radius
        problem, model = self.found.problem, self.found.model
        if problem is None or problem.y is None or problem.costs is None:
            return Realised(None, None, None, None, None, None, *radii, proven.proven)
        separations, full_objective = self._full
        selected = SafeRows.of(X, None)
        margins = _worst_margins(separations, selected, proven.lambda_min)
        objectives = full_objective, _objective(problem, selected, X, "upper")
        strength = float(np.max(getattr(model, "alpha", getattr(model, "C", np.nan))))
        return Realised(problem.loss, strength, *margins, *objectives, *radii, proven.proven)

    @cached_property
    def _radius(self) -> float:
        return minimum_enclosing_ball(self.found.rows.X).lower_bound

    @cached_property
    def _full(self) -> tuple[list[Separation], float | None]:
        """The margins of classes that have one, and a lower bound on the objective.

        Both at once, so that inner products of the rows are computed once, and not kept.
        """
        X, problem = self.found.rows.X, self.found.problem
        assert problem is not None
        rows = SafeRows.of(X, None)
        separations = []
        for members, signs in problem.splits if len(problem.classes) else ():
            # Since LIBLINEAR penalises the intercept, its support may lack a class.
            has_both = abs(signs.sum()) < len(signs)
            margin = hard_margin(rows.take(members), signs) if has_both else None
            if margin is not None:
                separations.append((members, signs, margin))
        return separations, _objective(problem, rows, X, "lower")


def _objective(problem: Problem, centred: SafeRows, X: Any, side: str) -> float | None:
    """Return the lower or upper bound of the objective; None of one that is not enclosed."""
    if problem.loss == "other":
        return None
    rows = centred if problem.intercept is None else SafeRows.of(X, problem.intercept)
    # From zero, and not from the weights of a model: bounds are then the same to the last digit,
    # however the model was trained.
    found = (
        enclose(rows.take(part.rows), part.loss, intercept=problem.intercept)
        for part in problem.parts
    )
    return sum(getattr(enclosure, side) for enclosure in found)


def _worst_margins(
    separations: list[Separation], selected: SafeRows, lambda_min: float
) -> tuple[float | None, float | None]:
    """Return the hard margins, full and selected, of the classes that lose most."""
    worst: tuple[float | None, float | None] = (None, None)
    least = np.inf
    for members, signs, full in separations:
        found = hard_margin(selected.take(members), signs)
        kept = 0.0 if found is None else found.lower
        kept = max(kept, np.sqrt(lambda_min) * full.lower)
        if kept / full.upper < least:
            least = kept / full.upper
            worst = (full.upper, kept or None)
    return worst
