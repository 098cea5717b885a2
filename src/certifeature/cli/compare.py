"""``certifeature compare``: methods compared on the same folds."""

from __future__ import annotations

import csv
import io
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from certifeature._files import write_text
from certifeature.cli.drawings import drawings
from certifeature.cli.labels import check_classes
from certifeature.cli.loading import Loaded, Scaling, check_scaling, load
from certifeature.cli.options import (
    CostOption,
    DataArgument,
    DropOption,
    FormatOption,
    IdOption,
    JSONOption,
    MethodsOption,
    ModelOption,
    Models,
    ReportOption,
    ScaleOption,
    SeedOption,
    TargetOption,
    TransposeOption,
    linear_model,
)
from certifeature.cli.output import check_writable, json_text, reproduction
from certifeature.cli.progress import showing
from certifeature.cli.scales import scaling_or_note
from certifeature.cli.source import Source
from certifeature.comparison import Comparison, compare, method_named
from certifeature.report import Report, write_report

__all__ = ["compare_command"]


def compare_command(
    data: DataArgument,
    sizes: Annotated[
        list[int], typer.Option("-k", help="Number of features to choose; may be repeated.")
    ],
    target: TargetOption = None,
    id: IdOption = None,
    drop: DropOption = None,
    transpose: TransposeOption = False,
    methods: MethodsOption = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write the table to this .csv or .json file."),
    ] = None,
    report: ReportOption = None,
    repeats: Annotated[
        int, typer.Option(help="How often to cross-validate, each time with new folds.", min=1)
    ] = 1,
    folds: Annotated[int, typer.Option(help="Number of folds.", min=2)] = 5,
    tune: Annotated[
        bool,
        typer.Option(
            help="Find the errors at a tuned C too, by inner folds, which takes about three times "
            "as long.",
        ),
    ] = True,
    scale: ScaleOption = None,
    model: ModelOption = Models.svm,
    cost: CostOption = 1.0,
    seed: SeedOption = 0,
    jobs: Annotated[int, typer.Option(help="Number of processes; -1 uses all cores.")] = -1,
    format: FormatOption = None,
    as_json: JSONOption = False,
) -> None:
    """Compare test error, time and measured growth of the methods by cross-validation.

    \b
    Examples:
      certifeature compare genes.csv -t tumour -k 50 -k 100 --scale standard
      certifeature compare pages.svm -k 300 -m bss -m rfe -m l1 --report report.html
    """
    names = [method_named(name).name for name in methods] if methods else None
    source = Source(data, target, format, id, drop, transpose)
    check_writable(output, report, inputs=source.inputs())
    if output is not None and output.suffix not in (".csv", ".json"):
        raise ValueError(
            f"{output}: the table can be written as .csv or .json; give such a file name."
        )
    with showing("reading"):
        # Columns are scaled again in each fold, by its training rows.
        loaded = load(source, needs_labels=True)
    estimator = linear_model(model, loaded.y, cost, seed)
    check_classes(loaded.y, model)
    scaling = scaling_or_note(loaded.X, scale)
    check_scaling(loaded.X, scaling)
    with showing("comparing methods"):
        comparison = compare(
            loaded.X,
            loaded.y,
            sorted(sizes),
            methods=names,
            estimator=estimator,
            scaling=scaling.value,
            tune=tune,
            n_repeats=repeats,
            cv=folds,
            random_state=seed,
            n_jobs=jobs,
        )
    if output is not None:
        write_text(output, _table(comparison, output.suffix))
    if report is not None:
        write_report(_report(loaded, comparison, scaling, str(estimator)), report)
    if as_json:
        typer.echo(json_text(_plain(comparison)), nl=False)
    else:
        typer.echo(str(comparison))


def _plain(comparison: Comparison) -> dict[str, Any]:
    """Return all but the features that were chosen in each fold, which are many."""
    values = asdict(comparison)
    for contender in values["contenders"]:
        del contender["chosen"]
    return values


def _table(comparison: Comparison, suffix: str) -> str:
    """Return the comparison as CSV, a line for each method and size, or as JSON."""
    records = comparison.to_records()
    if suffix == ".json":
        return json_text(records)
    text = io.StringIO()
    writer = csv.DictWriter(text, list(records[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue()


def _report(loaded: Loaded, comparison: Comparison, scaling: Scaling, model: str) -> Report:
    asked = {
        "Data": str(loaded),
        "Cross-validation": f"{comparison.n_repeats} × {comparison.n_folds} folds",
        "Scaling": scaling.value,
        "Model": model,
    }
    title = f"Selectors compared on {Path(loaded.source).name}"
    how, figures = reproduction(loaded, comparison.random_state), drawings(comparison)
    return Report(title, asked, comparison=comparison, reproduction=how, figures=figures)
