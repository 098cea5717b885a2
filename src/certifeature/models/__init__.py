"""Linear models as mathematics: problems, losses, solvers, enclosures, support vectors."""

from certifeature.models.enclosure import Enclosure, enclose
from certifeature.models.losses import Loss, make_loss
from certifeature.models.margin import hard_margin
from certifeature.models.problem import default_model
from certifeature.models.ranking import stable_scores
from certifeature.models.support import at_scale, feature_weights

__all__ = [
    "Enclosure",
    "Loss",
    "at_scale",
    "default_model",
    "enclose",
    "feature_weights",
    "hard_margin",
    "make_loss",
    "stable_scores",
]
