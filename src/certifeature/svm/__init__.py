"""What the selectors ask of a linear SVM: its support rows, its weights, an elimination order."""

from certifeature.svm.cascade import Cascade, cascade
from certifeature.svm.costs import row_costs
from certifeature.svm.elimination import elimination_order
from certifeature.svm.fitting import default_svm, fit_svm
from certifeature.svm.lpsvm import LPSVMSolution, lpsvm
from certifeature.svm.support import feature_weights, share_outside, support_rows

__all__ = [
    "Cascade",
    "LPSVMSolution",
    "cascade",
    "default_svm",
    "elimination_order",
    "feature_weights",
    "fit_svm",
    "lpsvm",
    "row_costs",
    "share_outside",
    "support_rows",
]
