"""Reports: one HTML file that shows a selection, its certificate and how to repeat it."""

from certifeature.report.contents import Feature, Report, features_of
from certifeature.report.page import render, write_report
from certifeature.report.sentences import methods_paragraph

__all__ = ["Feature", "Report", "features_of", "methods_paragraph", "render", "write_report"]
