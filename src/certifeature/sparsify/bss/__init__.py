"""Deterministic single-set spectral sparsification (Batson, Spielman and Srivastava)."""

from certifeature.sparsify.bss.kernel import bss

__all__ = ["bss"]
