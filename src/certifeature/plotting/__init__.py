"""Plots, as display classes in the style of scikit-learn; they need matplotlib."""

from certifeature.plotting.certificate import CertificateDisplay
from certifeature.plotting.error_curve import ErrorCurveDisplay
from certifeature.plotting.growth_curve import GrowthCurveDisplay
from certifeature.plotting.rank import RankDisplay
from certifeature.plotting.stability import StabilityDisplay

__all__ = [
    "CertificateDisplay",
    "ErrorCurveDisplay",
    "GrowthCurveDisplay",
    "RankDisplay",
    "StabilityDisplay",
]
