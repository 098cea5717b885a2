"""One cross-validation of whole pipelines, and what it says about errors on new data."""

from certifeature.evaluation.intervals import Difference, corrected_interval
from certifeature.evaluation.new_data import NewData, new_data_errors

__all__ = ["Difference", "NewData", "corrected_interval", "new_data_errors"]
