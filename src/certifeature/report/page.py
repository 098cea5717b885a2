"""The page itself: one HTML file that needs nothing else."""

from __future__ import annotations

import os
from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import certifeature
from certifeature._files import write_text
from certifeature.certificate.certificate import as_sentences
from certifeature.evaluation.new_data import as_sentences as new_data_sentences
from certifeature.report.contents import Report
from certifeature.report.sentences import is_searched, rows_of, verdict
from certifeature.report.tables import (
    beside_rows,
    constants,
    error_rows,
    facts,
    feature_rows,
    features_csv,
    layers,
    method_rows,
)
from certifeature.report.text import MISSING, one_line, typeset, visible

if TYPE_CHECKING:
    from jinja2 import Template


_HEADINGS = {
    "summary": "In short",
    "features": "The chosen features",
    "figures": "How many features?",
    "comparison": "Beside other methods",
    "certificate": "What is proven",
    "new_data": "What to expect on new data",
    "methods": "For a paper",
    "words": "Words",
    "asked": "What was asked",
    "reproduction": "How to repeat it",
}


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
    >>> "30 of 200 features" in page
    True
    """
    certificate = report.certificate
    sentences = [] if certificate is None else as_sentences(certificate)
    if report.new_data is not None:
        # What is no proof has a section of its own.
        sentences.pop()
    style, script = _asset("page.css"), _asset("page.js")
    said, known = verdict(report), facts(report)
    given = {name for name in _HEADINGS if getattr(report, name, None)}
    if said or known:
        given |= {"summary", "words"}
    return _template().render(
        report=report,
        version=certifeature.__version__,
        policy=_policy(style, script),
        style=style,
        script=script,
        sections={name: text for name, text in _HEADINGS.items() if name in given},
        rows=rows_of(certificate) if certificate else "",
        searched=is_searched(report),
        verdict=said,
        facts=known,
        beside=beside_rows(report),
        sentences=sentences,
        layers=layers(certificate, sentences) if certificate else [],
        constants=constants(certificate) if certificate else {},
        estimates=new_data_sentences(report.new_data),
        errors=error_rows(report.new_data) if report.new_data else [],
        features=feature_rows(report.features),
        n_folds=len(report.own.chosen) if report.own else 0,
        table=_link("text/csv", features_csv(report.features)),
        methods=method_rows(report.comparison) if report.comparison else [],
        figures={caption: _link("image/svg+xml", svg) for caption, svg in report.figures.items()},
        missing=MISSING,
    )


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


@cache
def _template() -> Template:
    try:
        from jinja2 import Environment, StrictUndefined
        from markupsafe import Markup
    except ImportError as error:
        raise ImportError("reports need jinja2: pip install 'certifeature[report]'.") from error

    def shown(value: Any) -> Any:
        return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value

    environment = Environment(
        autoescape=True,
        # Every value passes here on its way into the page, so that none can be forgotten.
        finalize=shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"one_line": one_line, "typeset": typeset}
    return environment.from_string(_asset("page.html"))


@cache
def _asset(name: str) -> str:
    return files("certifeature.report").joinpath(name).read_text(encoding="utf-8")


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
