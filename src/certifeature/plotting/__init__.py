"""Plots, as display classes in the style of scikit-learn; they need matplotlib."""

from certifeature.plotting.certificate import CertificateDisplay
from certifeature.plotting.curves import ErrorCurveDisplay, GrowthCurveDisplay
from certifeature.plotting.rank import RankDisplay
from certifeature.plotting.stability import StabilityDisplay

__all__ = [
    "CertificateDisplay",
    "ErrorCurveDisplay",
    "GrowthCurveDisplay",
    "RankDisplay",
    "StabilityDisplay",
]
