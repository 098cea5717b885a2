"""Plots, as display classes in the style of scikit-learn; they need matplotlib."""

from certifeature.plotting.certificate import CertificateDisplay
from certifeature.plotting.curves import ComparisonDisplay
from certifeature.plotting.stability import StabilityDisplay

__all__ = ["CertificateDisplay", "ComparisonDisplay", "StabilityDisplay"]
