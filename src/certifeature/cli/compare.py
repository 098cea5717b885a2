"""``certifeature compare``: methods compared on the same folds."""

from __future__ import annotations

import csv
import io
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from certifeature._files import write_text
from certifeature.cli.loading import DataOptions, check_scaling, scaling_or_note
from certifeature.cli.options import (
    JSONOption,
    MethodOption,
    ModelOptions,
    ReportOption,
    with_options,
)
from certifeature.cli.output import check_writable, drawings, json_text, reproduction, showing
from certifeature.cli.task import read
from certifeature.comparison import Comparison, compare, method_named
from certifeature.report import Report, write_report


@with_options
def compare_command(
    *,
    data: DataOptions,
    sizes: Annotated[list[int], typer.Option("-k")],
    methods: Annotated[list[str] | None, MethodOption] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o")] = None,
    report: ReportOption = None,
    repeats: Annotated[int, typer.Option(min=1)] = 1,
    cv: Annotated[int, typer.Option(metavar="FOLDS", min=2)] = 5,
    tune: bool = True,
    model: ModelOptions,
    jobs: int = -1,
    as_json: JSONOption = False,
) -> None:
    """Compare methods by cross-validation.

    The table shows the test error, the time and the certified bound of each method.

    \b
    Examples:
      certifeature compare genes.csv -t tumour -k 50 -k 100 --scale standard
      certifeature compare pages.svm -k 300 -m bss -m rfe -m l1 --report report.html

    Parameters
    ----------
    sizes
        Number of features to choose; may be repeated.
    methods
        Method to compare; may be repeated. The default is all: {methods}; for ridge regression, all
        except {classifiers}.
    output
        Write the table to this .csv or .json file.
    repeats
        Number of cross-validations, each with new folds.
    cv
        Number of folds.
    tune
        Compute the errors with a tuned C too, by inner folds, which takes about three times as
        long.
    jobs
        Number of processes; -1 uses all cores.
    """
    names = [method_named(name).name for name in methods] if methods else None
    check_writable(output, report, inputs=data.inputs())
    if output is not None and output.suffix not in (".csv", ".json"):
        raise ValueError(f"{output}: tables are written as .csv or .json; give such a file name.")
    # Columns are scaled again in each fold, by its training rows.
    loaded, estimator = read(data, model)
    scaling = scaling_or_note(loaded.X, model.scale)
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
            cv=cv,
            n_jobs=jobs,
            random_state=model.seed,
        )
    if output is not None:
        write_text(output, _table(comparison, output.suffix))
    if report is not None:
        asked = {
            "Data": str(loaded),
            "Cross-validation": f"{comparison.n_repeats} × {comparison.n_folds} folds",
            "Scaling": scaling.value,
            "Model": str(estimator),
        }
        title = f"Selectors compared on {Path(loaded.source).name}"
        how, figures = reproduction(loaded, model.seed), drawings(comparison)
        content = Report(title, asked, comparison=comparison, reproduction=how, figures=figures)
        write_report(content, report)
    if as_json:
        # Hundreds of chosen features in each fold are left out.
        values = asdict(comparison)
        for contender in values["contenders"]:
            del contender["chosen"]
        typer.echo(json_text(values), nl=False)
    else:
        typer.echo(str(comparison))


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
