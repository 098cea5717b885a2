"""Feature selectors as scikit-learn transformers."""

from certifeature.selectors.baselines import LeverageScoreSelector, RandomSelector, RRQRSelector
from certifeature.selectors.best_subset import BestSubsetSelector
from certifeature.selectors.bss import BSSSelector
from certifeature.selectors.fit import FitResult
from certifeature.selectors.lpsvm import LPSVMSelector
from certifeature.selectors.selector_cv import SelectorCV

__all__ = [
    "BSSSelector",
    "BestSubsetSelector",
    "FitResult",
    "LPSVMSelector",
    "LeverageScoreSelector",
    "RRQRSelector",
    "RandomSelector",
    "SelectorCV",
]
