"""Kernels that choose features from a basis: pure functions, one algorithm a file."""

from certifeature.sparsify.bss import bss
from certifeature.sparsify.choice import ColumnChoice
from certifeature.sparsify.lpsvm import LPSVMSolution, lpsvm
from certifeature.sparsify.sampling import leverage_scores

__all__ = ["ColumnChoice", "LPSVMSolution", "bss", "leverage_scores", "lpsvm"]
