"""What the selectors ask of a linear SVM: its support rows, its weights, an elimination order."""

from certifeature.svm.elimination import elimination_order
from certifeature.svm.fitting import default_svm, fit_svm
from certifeature.svm.support import feature_weights, support_rows

__all__ = ["default_svm", "elimination_order", "feature_weights", "fit_svm", "support_rows"]
