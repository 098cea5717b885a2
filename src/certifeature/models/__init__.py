"""Linear models as mathematics: problems, losses, solvers, enclosures, support vectors."""

from certifeature.models.enclosure import (
    Enclosure,
    hinge_objective,
    logistic_objective,
    multinomial_objective,
    squared_hinge_objective,
    tube_objective,
)
from certifeature.models.fitting import default_model, fit_model
from certifeature.models.margin import hard_margin
from certifeature.models.problem import row_costs
from certifeature.models.ranking import arom_scores, elimination_order, stable_scores
from certifeature.models.support import Cascade, cascade, feature_weights, support_rows

__all__ = [
    "Cascade",
    "Enclosure",
    "arom_scores",
    "cascade",
    "default_model",
    "elimination_order",
    "feature_weights",
    "fit_model",
    "hard_margin",
    "hinge_objective",
    "logistic_objective",
    "multinomial_objective",
    "row_costs",
    "squared_hinge_objective",
    "stable_scores",
    "support_rows",
    "tube_objective",
]
