"""One cross-validation of whole pipelines, and what it says about errors on new data."""

from certifeature.evaluation.new_data import NewData, new_data_errors
from certifeature.evaluation.performance import (
    Difference,
    Estimate,
    Performance,
    corrected_interval,
)

__all__ = [
    "Difference",
    "Estimate",
    "NewData",
    "Performance",
    "corrected_interval",
    "new_data_errors",
]
