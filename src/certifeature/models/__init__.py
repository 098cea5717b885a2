"""Linear models as mathematics: problems, losses, solvers, enclosures, support vectors."""

from certifeature.models.enclosure import Enclosure, enclose
from certifeature.models.losses import Loss, make_loss
from certifeature.models.margin import hard_margin
from certifeature.models.problem import Problem
from certifeature.models.ranking import arom_scores, elimination_order, stable_scores
from certifeature.models.support import (
    Cascade,
    cascade,
    default_model,
    feature_weights,
    fit_model,
    support_rows,
)

__all__ = [
    "Cascade",
    "Enclosure",
    "Loss",
    "Problem",
    "arom_scores",
    "cascade",
    "default_model",
    "elimination_order",
    "enclose",
    "feature_weights",
    "fit_model",
    "hard_margin",
    "make_loss",
    "stable_scores",
    "support_rows",
]
