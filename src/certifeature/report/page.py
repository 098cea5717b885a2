"""The page itself: one HTML file that needs nothing else."""

from __future__ import annotations

import math
import os
from base64 import b64encode
from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import sklearn

import certifeature
from certifeature._files import write_text
from certifeature.evaluation.performance import Estimate
from certifeature.report.contents import EVERY_BEST_SET, Feature, Report, features_csv, in_groups
from certifeature.report.text import asset, decimals, template


def render(report: Report) -> str:
    """Return a report as one HTML page.

    The page loads nothing, runs no script but its own, and shows all names as plain text. It can be
    printed, and read without scripts; with them, the features can be sorted and filtered.

    Parameters
    ----------
    report : Report
        What to show.

    Returns
    -------
    str
        HTML.

    Examples
    --------
    >>> from certifeature import BSSSelector, certify
    >>> from certifeature.datasets import make_relevant_features
    >>> from certifeature.report.contents import Feature, Report
    >>> X, y = make_relevant_features(60, 200, 10, random_state=0)
    >>> selector = BSSSelector(30).fit(X, y)
    >>> chosen = zip(selector.indices_, selector.scales_, strict=True)
    >>> features = [Feature(i, f"column {j}", scale) for i, (j, scale) in enumerate(chosen, 1)]
    >>> page = render(Report("A try", certificate=certify(X, y, selector), features=features))
    >>> "with these 30 features" in page
    True
    """
    style, script = asset("page.css"), asset("page.js")
    # A link that holds what it leads to.
    table = b64encode(features_csv(report.features).encode()).decode()
    is_told = report.certificate is not None and report.n_rows is not None
    return template("page.html").render(
        report=report,
        version=certifeature.__version__,
        policy=_policy(style, script),
        style=style,
        script=script,
        reasons=Counter(feature.why for feature, _ in in_groups(report.features)),
        features=_feature_rows(report.features),
        table=f"data:text/csv;base64,{table}",
        curves=_curves(report),
        every_best_set=EVERY_BEST_SET,
        paragraph=methods_paragraph(report) if is_told else "",
    )


def _curves(report: Report) -> dict[str, dict[str, dict[int, Estimate]]]:
    """Return the errors to draw, by the kind of curve, its name, and the number of features."""
    found: dict[str, dict[str, dict[int, Estimate]]] = {"search": {}, "comparison": {}}
    if (search := report.search) is not None:
        means = zip(search.sizes, search.means.tolist(), strict=True)
        found["search"][report.method] = {size: Estimate(mean, mean, mean) for size, mean in means}
    for other in report.comparison.contenders if report.comparison else ():
        if other.size is not None:
            of_method = found["comparison"].setdefault(other.method, {})
            of_method[other.size] = other.performance.error
    # One point is no curve.
    return {kind: c for kind, c in found.items() if max(map(len, c.values()), default=0) > 1}


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


def write_report(report: Report, path: str | os.PathLike[str]) -> None:
    """Write a report to an HTML file, whole or not at all.

    Parameters
    ----------
    report : Report
        What to show.
    path : path-like
        Where to; missing folders are made, and a file that is there is replaced.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from certifeature.report.contents import Report, in_groups
    >>> with TemporaryDirectory() as folder:
    ...     write_report(Report("Nothing yet"), Path(folder) / "report.html")
    ...     (Path(folder) / "report.html").read_text(encoding="utf-8")[:15]
    '<!DOCTYPE html>'
    """
    write_text(Path(path), render(report))


def _feature_rows(features: Sequence[Feature]) -> list[dict[str, Any]]:
    """Return features as rows, those that were chosen most often first, then by rank.

    Numbers are there as shown, and exactly, to sort by. A group of columns is one row.
    """
    rows = [vars(feature) | {"columns": columns} for feature, columns in in_groups(features)]
    rows.sort(key=lambda row: -(row["frequency"] or 0.0))
    for name in ("scale", "weight"):
        for row, text in zip(rows, decimals([row[name] for row in rows]), strict=True):
            is_known = row[name] is not None and math.isfinite(row[name])
            row |= {name: text, f"exact_{name}": repr(float(row[name])) if is_known else ""}
    return rows


def _policy(style: str, script: str) -> str:
    """Return a Content-Security-Policy that allows these two, and no more."""
    return (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
