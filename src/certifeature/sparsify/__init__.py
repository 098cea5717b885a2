"""Kernels that choose features from a basis: pure functions, one algorithm a file."""

from certifeature.sparsify.bss import bss
from certifeature.sparsify.leverage import leverage_sample, leverage_scores
from certifeature.sparsify.rrqr import rrqr
from certifeature.sparsify.sample import Sample, Steps
from certifeature.sparsify.uniform import uniform

__all__ = ["Sample", "Steps", "bss", "leverage_sample", "leverage_scores", "rrqr", "uniform"]
