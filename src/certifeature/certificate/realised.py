"""Objectives, margins and radii with all and with the chosen columns."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certifeature import _utils as _memory
from certifeature._utils import FloatArray, one_thread
from certifeature.certificate.ball import minimum_enclosing_ball
from certifeature.certificate.certificate import Certificate, Realised
from certifeature.models.enclosure import Enclosure, SafeRows, enclose
from certifeature.models.margin import hard_margin
from certifeature.models.problem import Problem
from certifeature.models.support import Support
from certifeature.rows.matrix import near_origin, scaled_columns
from certifeature.sparsify import ColumnChoice

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
            X = rows.X[:, sample.indices]
            found: dict[str, Any] = {
                "margin_kept": proven.lambda_min,
                "objective_growth": proven.certain_growth,
                "radius_growth": proven.lambda_max,
            }
            if few:
                scaled = scaled_columns(near_origin(X), sample.scales)
                radii = self._radius, minimum_enclosing_ball(scaled).radius
                found |= dict(zip(("radius_full", "radius_selected"), radii, strict=True))
            if problem is not None:
                found |= self._for_labels(problem, X, sample.scales, proven.lambda_min)
            return Realised(**found)

    def _for_labels(
        self, problem: Problem, X: Any, scales: FloatArray, lambda_min: float
    ) -> dict[str, Any]:
        """Return margins and objectives with all columns, and with the selected X times scales."""
        (separations, full), model = self._full, self.found.model
        rows = SafeRows.of(X, None, scales)
        margins = _worst_margins(separations, rows, lambda_min)
        found: dict[str, Any] = {
            "loss": problem.loss,
            "C": float(np.max(getattr(model, "alpha", getattr(model, "C", np.nan)))),
            **dict(zip(("margin_full", "margin_selected"), margins, strict=True)),
        }
        selected = _objective(problem, rows, X, scales)
        found |= {"objective_full": full.lower, "objective_selected": selected.upper}
        if full.upper > 0 and selected.upper > 0:
            certain = selected.lower / selected.upper * (full.lower / full.upper)
            found["objective_gap"] = 1 - certain
        return found

    @cached_property
    def _radius(self) -> float:
        return minimum_enclosing_ball(self.found.rows.X).lower_bound

    @cached_property
    def _full(self) -> tuple[list[Separation], Enclosure]:
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


def _objective(
    problem: Problem, centred: SafeRows, X: Any, scales: FloatArray | None = None
) -> Enclosure:
    """Return bounds on the objective, summed over its parts."""
    rows = centred if problem.intercept is None else SafeRows.of(X, problem.intercept, scales)
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
