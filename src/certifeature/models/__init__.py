"""Linear models as mathematics: problems, losses, solvers, enclosures, support vectors."""

from certifeature.models.enclosure import Enclosure, enclose
from certifeature.models.losses import Loss, make_loss
from certifeature.models.margin import hard_margin
from certifeature.models.problem import Problem, default_model
from certifeature.models.ranking import stable_scores
from certifeature.models.support import (
    Support,
    at_scale,
    cascade,
    feature_weights,
    fit_model,
    support_rows,
)

__all__ = [
    "Enclosure",
    "Loss",
    "Problem",
    "Support",
    "at_scale",
    "cascade",
    "default_model",
    "enclose",
    "feature_weights",
    "fit_model",
    "hard_margin",
    "make_loss",
    "stable_scores",
    "support_rows",
]
