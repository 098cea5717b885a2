"""Methods of others that the selectors are compared with."""

from certifeature.baselines.lpsvm import LPSVMSolution, lpsvm

__all__ = ["LPSVMSolution", "lpsvm"]
