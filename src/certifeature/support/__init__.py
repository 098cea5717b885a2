"""What the selectors ask of a linear SVM: its support rows, its weights, an elimination order."""

from certifeature.support.cascade import Cascade, cascade
from certifeature.support.elimination import elimination_order
from certifeature.support.fitted import feature_weights, share_outside, support_rows
from certifeature.support.svm import default_svm, fit_svm, row_costs

__all__ = [
    "Cascade",
    "cascade",
    "default_svm",
    "elimination_order",
    "feature_weights",
    "fit_svm",
    "row_costs",
    "share_outside",
    "support_rows",
]
