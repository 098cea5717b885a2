"""The paragraph for a paper."""

from __future__ import annotations

import sklearn

import certifeature
from certifeature.report.contents import Report, in_groups
from certifeature.report.text import template


def methods_paragraph(report: Report) -> str:
    """Return how features were chosen and tested, and what was found, with references.

    Parameters
    ----------
    report : Report
        A report with a certificate and a number of rows.

    Examples
    --------
    >>> from certifeature import BSSSelector, certify
    >>> from certifeature.datasets import make_relevant_features
    >>> X, y = make_relevant_features(60, 200, 10, random_state=0)
    >>> certificate = certify(BSSSelector(30).fit(X, y))
    >>> text = methods_paragraph(Report("Genes", n_rows=60, certificate=certificate))
    >>> text.partition(" for ")[0]
    'Of 200 features of 60 samples, 30 were chosen'
    """
    shares = [f.frequency for f, _ in in_groups(report.features) if f.frequency is not None]
    values = {"version": certifeature.__version__, "scikit_learn": sklearn.__version__}
    return template("methods.txt").render(report=report, shares=shares, **values).strip()
