"""Certificates: what a selection of features can cost, proven."""

from certifeature.certificate.certify import certify
from certifeature.certificate.model import APriori, Certificate, Realised, Regularised

__all__ = ["APriori", "Certificate", "Realised", "Regularised", "certify"]
