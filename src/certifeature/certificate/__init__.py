"""Certificates: what a selection of features can cost, proven."""

from certifeature.certificate.certify import certify
from certifeature.certificate.model import APriori, Certificate, Measured, Realised, Regularised
from certifeature.certificate.optima import (
    Enclosure,
    hard_margin,
    hinge_objective,
    squared_hinge_objective,
)

__all__ = [
    "APriori",
    "Certificate",
    "Enclosure",
    "Measured",
    "Realised",
    "Regularised",
    "certify",
    "hard_margin",
    "hinge_objective",
    "squared_hinge_objective",
]
