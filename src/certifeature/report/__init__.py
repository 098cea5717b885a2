"""Reports: one HTML file that shows a selection, its certificate and how to repeat it."""

from certifeature.report.contents import Feature, Report, features_of
from certifeature.report.page import methods_paragraph, render, write_report

__all__ = ["Feature", "Report", "features_of", "methods_paragraph", "render", "write_report"]
