"""Deterministic single-set spectral sparsification (Batson, Spielman and Srivastava)."""

from certifeature.sparsify.bss.kernel import LEAST_COVERAGE, bss

__all__ = ["LEAST_COVERAGE", "bss"]
