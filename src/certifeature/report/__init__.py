"""Reports: one HTML file that shows a selection, its certificate and how to repeat it."""

from certifeature.report.contents import Report, features_of
from certifeature.report.page import write_report

__all__ = ["Report", "features_of", "write_report"]
