"""``certifeature compare``: methods beside each other on the same folds."""

from __future__ import annotations

import io
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from certifeature._files import write_text
from certifeature.cli.data import Loaded, Scaling, check_scaling, load
from certifeature.cli.options import (
    CostOption,
    DataArgument,
    FormatOption,
    JSONOption,
    ReportOption,
    ScaleOption,
    SeedOption,
    TargetOption,
    linear_svm,
)
from certifeature.cli.output import (
    check_writable,
    json_text,
    print_table,
    reproduction,
    working,
)
from certifeature.cli.select import Method
from certifeature.experiments import Comparison, Contender, compare
from certifeature.experiments.output import csv_text
from certifeature.report import Report, write_report

__all__ = ["compare_command", "print_comparison"]

_HEADER = ("method", "asked", "features", "error", "deviation", "seconds", "lambda", "kappa")


def compare_command(
    data: DataArgument,
    sizes: Annotated[list[int], typer.Option("-k", help="Number of features; may be repeated.")],
    target: TargetOption = None,
    methods: Annotated[
        list[Method] | None,
        typer.Option("--method", "-m", help="One of the methods; may be repeated (all)."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the table to this .csv or .json.")
    ] = None,
    report: ReportOption = None,
    repeats: Annotated[int, typer.Option(help="Cross-validations.", min=1)] = 1,
    folds: Annotated[int, typer.Option(help="Folds of each.", min=2)] = 5,
    scale: ScaleOption = Scaling.none,
    cost: CostOption = 1.0,
    seed: SeedOption = 0,
    jobs: Annotated[int, typer.Option(help="Worker processes; -1 takes all cores.")] = -1,
    format: FormatOption = None,
    as_json: JSONOption = False,
) -> None:
    """Cross-validate error, time and certificate of every method.

    \b
    Examples:
      certifeature compare genes.csv -t tumour -k 50 -k 100 --scale standard
      certifeature compare pages.svm -k 300 -m bss -m rfe -m l1 --report report.html
    """
    check_writable(output, report, inputs=(data,))
    if output is not None and output.suffix not in (".csv", ".json"):
        raise ValueError(f"{output}: the table is written as .csv or .json; name such a file.")
    with working("reading"):
        # Columns are scaled in every fold anew, by its training rows.
        loaded = load(data, target=target, format=format, scaling=Scaling.none, needs_labels=True)
        check_scaling(loaded.X, scale)
    _check(loaded, sizes, folds)
    comparison = compare(
        loaded.X,
        loaded.y,
        sorted(set(sizes)),
        methods=list(dict.fromkeys(method.value for method in methods or Method)),
        estimator=linear_svm(loaded.X.shape[0], cost, seed),
        weighting=scale.value,
        n_repeats=repeats,
        n_folds=folds,
        n_jobs=jobs,
        seed=seed,
    )
    rows = [_values(contender) for contender in comparison.contenders]
    if output is not None:
        records = [dict(zip(_HEADER, row, strict=True)) for row in rows]
        text = csv_text(_HEADER, rows) if output.suffix == ".csv" else json_text(records)
        write_text(output, text)
    if report is not None:
        write_report(_report(loaded, comparison, scale, cost), report)
    if as_json:
        typer.echo(json_text(asdict(comparison)), nl=False)
    else:
        print_comparison(comparison)


def print_comparison(comparison: Comparison) -> None:
    """Print a table of all contenders."""
    rows = (
        (
            c.method,
            "" if c.size is None else str(c.size),
            f"{c.n_features:.0f}",
            f"{c.mean_error:.3f} ± {c.deviation:.3f}",
            f"{c.seconds:.2f}",
            f"{c.lambda_min:.2g}",
            f"{c.condition:.2g}",
        )
        for c in comparison.contenders
    )
    folds = f"{comparison.n_repeats} × {comparison.n_folds}-fold cross-validation"
    header = ("method", "asked", "features", "error", "seconds", "λ", "κ")
    print_table(header, rows, title=folds)


def _check(loaded: Loaded, sizes: list[int], folds: int) -> None:
    for size in sizes:
        if not 1 <= size < loaded.X.shape[1]:
            raise ValueError(
                f"-k {size} is not between 1 and the {loaded.X.shape[1]} columns of "
                f"{loaded.source}, less one."
            )
    assert loaded.y is not None  # They were asked for.
    fewest = np.unique(loaded.y, return_counts=True)[1].min()
    if fewest < folds:
        raise ValueError(f"a class has {fewest} rows only; ask for at most so many --folds.")


def _values(contender: Contender) -> tuple[object, ...]:
    return (
        contender.method,
        contender.size,
        contender.n_features,
        contender.mean_error,
        contender.deviation,
        contender.seconds,
        contender.lambda_min,
        contender.condition,
    )


def _report(loaded: Loaded, comparison: Comparison, scale: Scaling, cost: float) -> Report:
    asked = {
        "Data": str(loaded),
        "Cross-validation": f"{comparison.n_repeats} × {comparison.n_folds} folds",
        "Scaling": scale.value,
        "C of the SVM": f"{cost:g}",
    }
    title = f"Selectors compared on {Path(loaded.source).name}"
    drawing = {"Test error against the number of features": _drawing(comparison)}
    how = reproduction(loaded, comparison.seed)
    return Report(title, asked, comparison=comparison, reproduction=how, figures=drawing)


def _drawing(comparison: Comparison) -> str:
    """Return the error curves as SVG."""
    from matplotlib.figure import Figure

    from certifeature.plotting import ErrorCurveDisplay

    figure = Figure(figsize=(8, 4.5), layout="constrained")
    ErrorCurveDisplay.from_comparison(comparison, ax=figure.subplots())
    text = io.StringIO()
    figure.savefig(text, format="svg")
    return text.getvalue()
