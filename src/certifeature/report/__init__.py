"""Reports: one HTML file that shows a selection, its certificate and how to repeat it."""

from certifeature.report.contents import Feature, Report
from certifeature.report.page import render, write_report

__all__ = ["Feature", "Report", "render", "write_report"]
