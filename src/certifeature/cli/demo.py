"""``certifeature demo``: from data to report, on data that come with the packages."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from certifeature.cli.assessment import assess, folds_of
from certifeature.cli.choice import choice_report
from certifeature.cli.choosing import SelectOptions
from certifeature.cli.loading import Loaded, Scaling
from certifeature.cli.options import Models, linear_model
from certifeature.cli.output import check_writable
from certifeature.cli.progress import showing
from certifeature.cli.task import Task, choose
from certifeature.comparison import method_named
from certifeature.datasets import load_docstrings
from certifeature.report import write_report
from certifeature.rows.matrix import fingerprint

__all__ = ["demo_command"]

_SIZE = 300
_PACKAGES = ("numpy", "scipy")
_N_FOLDS = 3


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
    wishes = SelectOptions(method_named("bss"), str(_SIZE), False, [], None, None, None)
    task = Task(data, wishes, linear_model(Models.svm, y, 1.0), Scaling.none, 0)
    assessed = assess(task, choose(task), folds_of(task, _N_FOLDS), beside=True)
    choice, comparison = assessed.choice, assessed.comparison
    typer.echo(f"first choices: {' '.join(feature.name for feature in choice.features[:12])}")
    typer.echo(f"\n{choice.certificate}\n")
    assert comparison is not None
    typer.echo(str(comparison.of_size(_SIZE)))
    write_report(choice_report(task, choice, _N_FOLDS, assessed), report)
    typer.echo(f"\nReport: {report}")
