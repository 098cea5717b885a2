"""The page itself: one HTML file that needs nothing else."""

from __future__ import annotations

import math
import os
from base64 import b64encode
from collections import Counter
from hashlib import sha256
from pathlib import Path

import certifeature
from certifeature._files import write_text
from certifeature.evaluation import NewData
from certifeature.report.contents import Report
from certifeature.report.sentences import rivals_of, verdict
from certifeature.report.tables import feature_rows, features_csv, ranked
from certifeature.report.text import MISSING, asset, class_counts, template


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
    own, new_data = report.own, report.new_data
    methods, lowest, widest = ranked(report.comparison) if report.comparison else ([], 0.0, 1.0)
    style, script, said = asset("page.css"), asset("page.js"), verdict(report)
    return template("page.html").render(
        report=report,
        version=certifeature.__version__,
        policy=_policy(style, script),
        style=style,
        script=script,
        verdict=said,
        reasons=Counter(feature.why for feature in report.features),
        wrong=_wrong(new_data) if new_data else "",
        stability=_stability(new_data) if new_data else "",
        beside=[own, *rivals_of(own, report.comparison)] if own and report.comparison else [],
        features=feature_rows(report.features),
        table=_link("text/csv", features_csv(report.features)),
        methods=methods,
        lowest=lowest,
        widest=widest,
        figures={caption: _link("image/svg+xml", svg) for caption, svg in report.figures.items()},
    )


def _wrong(n: NewData) -> str:
    """Return how many test rows of each class are taken for another, unless classes are many."""
    by_class = {
        name: (round((1 - n.selected.recalls[name].value) * count), count)
        for name, count in n.selected.n_of_class.items()
    }
    return class_counts(
        {name: f"{wrong:,} of {rows:,}" for name, (wrong, rows) in by_class.items()}
    )


def _stability(new_data: NewData) -> str:
    """Return how much the choices of the folds agree."""
    index = new_data.stability
    return f"{MISSING if math.isnan(index) else f'{index:.2f}'} (0 is random, 1 always the same)"


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
    >>> from certifeature.report.contents import Report
    >>> with TemporaryDirectory() as folder:
    ...     write_report(Report("Nothing yet"), Path(folder) / "report.html")
    ...     (Path(folder) / "report.html").read_text(encoding="utf-8")[:15]
    '<!DOCTYPE html>'
    """
    write_text(Path(path), render(report))


def _policy(style: str, script: str) -> str:
    """Return a Content-Security-Policy that allows these two, images in the page, and no more."""
    return (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _link(kind: str, text: str) -> str:
    """Return a link that holds what it leads to."""
    return f"data:{kind};base64,{b64encode(text.encode(errors='replace')).decode()}"
