"""Provable feature selection for linear support vector machines.

The selectors are scikit-learn transformers; put one before a linear SVM in a pipeline.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from certifeature.certificate.certificate import Certificate
    from certifeature.certificate.certify import certify
    from certifeature.comparison import Comparison, compare
    from certifeature.models import at_scale
    from certifeature.selectors import (
        BestSubsetSelector,
        BSSSelector,
        LeverageScoreSelector,
        LPSVMSelector,
        RandomSelector,
        RRQRSelector,
        SelectorCV,
    )
else:

    def __getattr__(name):
        # Nothing is imported before it is used, so that the command can be stopped as it starts.
        if name in __all__:
            homes = map(import_module, (f"{__name__}.{home}" for home in _HOMES))
            return next(vars(home)[name] for home in homes if name in home.__all__)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__():
        return [*globals(), *__all__]


_HOMES = ("certificate", "comparison", "models", "selectors")
__version__ = "0.1.0"

__all__ = [
    "BSSSelector",
    "BestSubsetSelector",
    "Certificate",
    "Comparison",
    "LPSVMSelector",
    "LeverageScoreSelector",
    "RRQRSelector",
    "RandomSelector",
    "SelectorCV",
    "at_scale",
    "certify",
    "compare",
]
