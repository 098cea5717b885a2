"""Certificates: what a selection of features can cost, proven."""

from certifeature.certificate.ball import Ball, minimum_enclosing_ball
from certifeature.certificate.certificate import (
    APriori,
    Certificate,
    Measured,
    Realised,
    Regularised,
)
from certifeature.certificate.certify import certify
from certifeature.certificate.cross_validated import new_data_errors
from certifeature.certificate.difference import Difference, corrected_interval
from certifeature.certificate.logistic_objectives import logistic_objective, multinomial_objective
from certifeature.certificate.multipliers import Enclosure
from certifeature.certificate.new_data import NewData
from certifeature.certificate.objectives import hinge_objective, squared_hinge_objective
from certifeature.certificate.separation import hard_margin
from certifeature.certificate.tube_objectives import tube_objective

__all__ = [
    "APriori",
    "Ball",
    "Certificate",
    "Difference",
    "Enclosure",
    "Measured",
    "NewData",
    "Realised",
    "Regularised",
    "certify",
    "corrected_interval",
    "hard_margin",
    "hinge_objective",
    "logistic_objective",
    "minimum_enclosing_ball",
    "multinomial_objective",
    "new_data_errors",
    "squared_hinge_objective",
    "tube_objective",
]
