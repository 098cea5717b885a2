"""``certifeature demo``: from data to report, on data that come with the packages."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from certifeature.cli.certificates import certified
from certifeature.cli.features import describe
from certifeature.cli.loading import Loaded
from certifeature.cli.options import Models, linear_model
from certifeature.cli.output import check_writable, reproduction
from certifeature.cli.progress import showing
from certifeature.compare import compare
from certifeature.datasets import load_docstrings
from certifeature.report import Report, write_report
from certifeature.rows.matrix import fingerprint
from certifeature.selectors import BSSSelector

__all__ = ["demo_command"]

_SIZE = 300
_PACKAGES = ("numpy", "scipy")
_METHODS = ("bss", "rfe", "l1", "random")


def demo_command(
    report: Annotated[
        Path, typer.Option("--report", "-r", help="Write the report to this HTML file.")
    ] = Path("certifeature-demo.html"),
) -> None:
    """Choose 300 words that tell NumPy's docstrings from SciPy's, and write a report.

    \b
    Example:
      certifeature demo
    """
    check_writable(report)
    with showing("collecting docstrings"):
        docs: Any = load_docstrings(packages=_PACKAGES)
    y = np.array(_PACKAGES)[docs.target]
    source = f"docstrings of {' and '.join(_PACKAGES)}"
    data = Loaded(docs.data, y, docs.feature_names, source, fingerprint(docs.data))
    n_rows, n_words = docs.data.shape
    typer.echo(f"{source}: {n_rows:,} texts, {n_words:,} words")
    svm = linear_model(Models.svm, y, 1.0)
    with showing(f"choosing {_SIZE} words"):
        selector = BSSSelector(_SIZE, estimator=svm, random_state=0).fit(docs.data, y)
    with showing("certifying"):
        sample = selector.selection_.sample
        certificate, fitted = certified(data, sample, svm, selector=selector)
    features = describe(sample, docs.feature_names, fitted)
    typer.echo(f"first choices: {' '.join(feature.name for feature in features[:12])}")
    typer.echo(f"\n{certificate}\n")
    with showing("comparing methods"):
        comparison = compare(docs.data, y, [_SIZE], methods=_METHODS, estimator=svm, n_folds=3)
    typer.echo(str(comparison))
    asked = {
        "Data": f"{source}: {n_rows:,} texts, {n_words:,} words",
        "Method": "bss, support vectors",
        "Number of features": str(_SIZE),
        "Model": str(svm),
    }
    title = f"{len(features)} of {n_words:,} words"
    how = reproduction(data, 0)
    page = Report(title, asked, certificate, features, comparison, reproduction=how)
    write_report(page, report)
    typer.echo(f"\nreport: {report}")
