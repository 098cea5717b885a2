"""What the selectors ask of a linear model: rows that matter, its weights, orders of features."""

from certifeature.support.arom import arom_scores
from certifeature.support.cascade import Cascade, cascade
from certifeature.support.costs import row_costs
from certifeature.support.elimination import elimination_order
from certifeature.support.fitted import feature_weights, support_rows
from certifeature.support.model import default_model, fit_model
from certifeature.support.stability import stable_scores

__all__ = [
    "Cascade",
    "arom_scores",
    "cascade",
    "default_model",
    "elimination_order",
    "feature_weights",
    "fit_model",
    "row_costs",
    "stable_scores",
    "support_rows",
]
