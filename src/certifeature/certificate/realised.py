"""Objectives, margins and radii with all and with the chosen columns."""

from __future__ import annotations

from dataclasses import replace
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
        """Return what all and the selected features attain; None for rows in blocks.

        Above ``MAX_GRAM`` rows radii and hard margins are skipped, which need all inner products
        of the rows. The objective of a smooth loss needs products with the rows only; for other
        losses, and without labels, the result is None there. No ratio is returned that is worse
        than ``proven``.
        """
        rows, problem = self.found.rows, self.found.problem
        if problem is not None and (problem.y is None or problem.costs is None):
            problem = None
        few = rows.n_rows <= _memory.MAX_GRAM
        if rows.in_blocks or not (few or (problem is not None and problem.is_smooth)):
            return None
        # Solvers make many small products, for which threads would wait where cores are busy.
        with one_thread():
            X = rows.columns(sample.indices, sample.scales).X
            found = Realised(measured=proven.proven)
            if few:
                radii = self._radius, minimum_enclosing_ball(X).radius
                found = replace(found, radius_full=radii[0], radius_selected=radii[1])
            if problem is None:
                return found
            return self._with_labels(found, problem, X, proven, few=few)

    def _with_labels(
        self, found: Realised, problem: Problem, X: Any, proven: Certificate, *, few: bool
    ) -> Realised:
        """Add the objective, and the margin of few rows, with all and with the selected X."""
        model = self.found.model
        separations, full = self._full
        rows = SafeRows.of(X, None)
        if few:
            margins = _worst_margins(separations, rows, proven.lambda_min)
            found = replace(found, margin_full=margins[0], margin_selected=margins[1])
        strength = float(np.max(getattr(model, "alpha", getattr(model, "C", np.nan))))
        found = replace(found, loss=problem.loss, C=strength)
        selected = _objective(problem, rows, X)
        if full is None or selected is None:
            return found
        uppers = selected.upper, full.upper
        certain = selected.lower / uppers[0] * (full.lower / uppers[1]) if all(uppers) else 1.0
        return replace(
            found,
            objective_full=full.lower,
            objective_selected=selected.upper,
            objective_gap=1 - certain,
        )

    @cached_property
    def _radius(self) -> float:
        return minimum_enclosing_ball(self.found.rows.X).lower_bound

    @cached_property
    def _full(self) -> tuple[list[Separation], Enclosure | None]:
        """The margins of classes that have one, if rows are few, and bounds on the objective.

        Both at once, so that inner products of the rows are computed once, and not kept.
        """
        X, problem = self.found.rows.X, self.found.problem
        assert problem is not None
        rows = SafeRows.of(X, None)
        separations = []
        has_margins = len(problem.classes) and self.found.rows.n_rows <= _memory.MAX_GRAM
        for members, signs in problem.splits if has_margins else ():
            # Since LIBLINEAR penalises the intercept, its support may lack a class.
            has_both = abs(signs.sum()) < len(signs)
            margin = hard_margin(rows.take(members), signs) if has_both else None
            if margin is not None:
                separations.append((members, signs, margin))
        return separations, _objective(problem, rows, X)


def _objective(problem: Problem, centred: SafeRows, X: Any) -> Enclosure | None:
    """Return bounds on the objective, summed over its parts; None for a loss without bounds."""
    if problem.loss == "other":
        return None
    rows = centred if problem.intercept is None else SafeRows.of(X, problem.intercept)
    # From zero, and not from the weights of a model: bounds are then the same to the last digit,
    # however the model was trained.
    found = [
        enclose(rows.take(part.rows), part.loss, intercept=problem.intercept)
        for part in problem.parts
    ]
    return Enclosure(*np.sum(found, axis=0).tolist())


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
