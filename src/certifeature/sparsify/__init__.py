"""Kernels that choose features from a basis: pure functions, one algorithm a file."""

from certifeature.sparsify.bss import bss
from certifeature.sparsify.choice import ColumnChoice, Steps
from certifeature.sparsify.lpsvm import LPSVMSolution, lpsvm
from certifeature.sparsify.rrqr import rrqr
from certifeature.sparsify.sampling import leverage_sample, leverage_scores, uniform

__all__ = [
    "ColumnChoice",
    "LPSVMSolution",
    "Steps",
    "bss",
    "leverage_sample",
    "leverage_scores",
    "lpsvm",
    "rrqr",
    "uniform",
]
