"""Methods of feature selection, compared by cross-validation on the same folds."""

from certifeature.compare.cross_validation import compare
from certifeature.compare.methods import FULL_DATA, METHODS, Method, method_named, methods_for
from certifeature.compare.result import Comparison, Contender

__all__ = [
    "FULL_DATA",
    "METHODS",
    "Comparison",
    "Contender",
    "Method",
    "compare",
    "method_named",
    "methods_for",
]
