"""Certificates: what a selection of features can cost, proven."""

from certifeature.certificate.ball import Ball, minimum_enclosing_ball
from certifeature.certificate.certificate import APriori, Certificate, Realised, Regularised
from certifeature.certificate.certify import certify

__all__ = [
    "APriori",
    "Ball",
    "Certificate",
    "Realised",
    "Regularised",
    "certify",
    "minimum_enclosing_ball",
]
