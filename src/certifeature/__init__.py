"""Provable feature selection for linear support vector machines.

The selectors are scikit-learn transformers; put one before a linear SVM in a pipeline.
"""

from certifeature.certificate import Certificate, certify
from certifeature.comparison import Comparison, compare
from certifeature.models import at_scale
from certifeature.selectors import (
    BSSSelector,
    BSSSelectorCV,
    LeverageScoreSelector,
    LPSVMSelector,
    RandomSelector,
    RRQRSelector,
)

__version__ = "0.1.0"

__all__ = [
    "BSSSelector",
    "BSSSelectorCV",
    "Certificate",
    "Comparison",
    "LPSVMSelector",
    "LeverageScoreSelector",
    "RRQRSelector",
    "RandomSelector",
    "at_scale",
    "certify",
    "compare",
]
