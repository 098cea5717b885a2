"""``certifeature select``: choose features."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from certifeature._files import write_text
from certifeature.cli.assessment import assess, folds_of, n_folds_for
from certifeature.cli.choice import choice_json, choice_report, print_choice
from certifeature.cli.choosing import (
    CROSS_VALIDATED,
    KeepOption,
    OrderOption,
    RescaleOption,
    SelectOptions,
    SizeOption,
    TrustOption,
)
from certifeature.cli.features import feature_list, features_text
from certifeature.cli.labels import check_classes
from certifeature.cli.loading import Scaling, load, load_blocks
from certifeature.cli.options import (
    CostOption,
    DataArgument,
    DropOption,
    FormatOption,
    IdOption,
    JSONOption,
    MethodOption,
    ModelOption,
    Models,
    ReportOption,
    ScaleOption,
    SeedOption,
    TargetOption,
    TransposeOption,
    linear_model,
)
from certifeature.cli.output import check_data_file, check_writable, write_data
from certifeature.cli.progress import showing
from certifeature.cli.scales import scaling_or_note
from certifeature.cli.source import Source
from certifeature.cli.task import Task, choose
from certifeature.comparison import method_named
from certifeature.report import write_report
from certifeature.rows.matrix import scaled_columns

__all__ = ["select_command"]


def select_command(
    data: DataArgument,
    size: SizeOption,
    target: TargetOption = None,
    id: IdOption = None,
    drop: DropOption = None,
    transpose: TransposeOption = False,
    stream: Annotated[
        bool,
        typer.Option(
            "--stream",
            help="Read the files one at a time, again for each pass over the rows, for data that "
            "do not fit into memory; without --scale, --cv and --write, by methods of this "
            "library.",
        ),
    ] = False,
    unsupervised: Annotated[
        bool, typer.Option("--unsupervised", help="Choose for all rows, without labels.")
    ] = False,
    method: MethodOption = "bss",
    keep: KeepOption = None,
    order: OrderOption = None,
    trust: TrustOption = None,
    rescale: RescaleOption = None,
    cv: Annotated[
        int | None,
        typer.Option(
            "--cv",
            metavar="FOLDS",
            help="Estimate the error on new data by cross-validation, with features chosen anew "
            "in each of so many folds, for the true and for shuffled labels. A report has five "
            "folds if none are given; 0 leaves them out.",
            min=0,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Write names and scales to this file; if it ends in .csv, as a table with rank, "
            "weight and the rest. - prints them.",
        ),
    ] = None,
    write: Annotated[
        Path | None,
        typer.Option(
            "--write",
            "-w",
            help="Write the chosen columns, scaled, to this .svm, .csv, .tsv or .npz file.",
        ),
    ] = None,
    report: ReportOption = None,
    scale: ScaleOption = None,
    model: ModelOption = Models.svm,
    cost: CostOption = 1.0,
    seed: SeedOption = 0,
    format: FormatOption = None,
    as_json: JSONOption = False,
) -> None:
    """Choose features, and say what the choice can cost.

    \b
    Examples:
      certifeature select genes.csv -t tumour -k 100 --scale standard
      certifeature select pages.svm.gz -k 300 -o chosen.txt --report report.html
      certifeature select genes.csv -t tumour -k cv --keep TP53,BRCA1 --order stable
      certifeature select genes.csv -t tumour -k 100 --cv 5
      certifeature select genes.csv -t tumour -k 100 --id patient --drop site,age
      certifeature select expression.tsv --transpose -t tumour -k 100 --scale standard
      certifeature select 'parts/*.svm' -k 300 --stream
      certifeature select counts.npz -k 500 --unsupervised --write reduced.npz
      certifeature select prices.csv -t price -k 50 --model ridge
      zcat pages.svm.gz | certifeature select - --format svmlight -k 300 --json
    """
    named = list(keep or ())
    wishes = SelectOptions(method_named(method), size, unsupervised, named, order, trust, rescale)
    wishes.check()
    if cv == 1:
        raise ValueError(
            "--cv 1 leaves nothing to test on; ask for 2 folds or more, or 0 for none."
        )
    if stream:
        _check_streams(wishes, scale, cv, write)
    to_stdout = str(output) == "-"
    if to_stdout and as_json:
        raise ValueError("-o - and --json both print to standard output; choose one.")
    lists = (value[1:] for value in named if value.startswith("@"))
    source = Source(data, target, format, id, drop, transpose)
    check_writable(None if to_stdout else output, write, report, inputs=(*source.inputs(), *lists))
    with showing("reading"):
        loaded = (load_blocks if stream else load)(source, needs_labels=not unsupervised)
    check_data_file(write, loaded)
    estimator = linear_model(model, loaded.y, cost, seed)
    if not unsupervised:
        check_classes(loaded.y, model)
    scaling = Scaling.none if stream else scaling_or_note(loaded.X, scale)
    task = Task(loaded, wishes, estimator, scaling, seed)
    if cv is None and report is not None and not unsupervised:
        cv = n_folds_for(task)
    splits = folds_of(task, cv) if cv else None
    choice = choose(task)
    assessed = None
    if splits is not None:
        assessed = assess(task, choice, splits, beside=report is not None)
        choice = assessed.choice
    if output is not None:
        if to_stdout:
            sys.stdout.write(feature_list(choice.features))
        else:
            write_text(output, features_text(choice.features, output))
    if write is not None:
        columns, scales = choice.sample.indices, choice.sample.weights
        reduced = scaled_columns(task.scaled.X[:, columns], scales)
        write_data(write, replace(loaded, X=reduced, names=loaded.names[columns]))
    if report is not None:
        write_report(choice_report(task, choice, cv, assessed), report)
    if as_json:
        typer.echo(choice_json(task, choice), nl=False)
    elif not to_stdout:
        print_choice(choice)
        if report is not None:
            typer.echo(f"Report: {report}")


def _check_streams(
    wishes: SelectOptions, scale: Scaling | None, cv: int | None, write: Path | None
) -> None:
    """Raise, before any long work, if something is asked that needs all rows in memory."""
    options = {
        f"--method {wishes.method.name}": not wishes.method.ours,
        "-k cv": wishes.size == CROSS_VALIDATED,
        f"--scale {scale}": scale not in (None, Scaling.none),
        "--cv": bool(cv),
        "--write": write is not None,
    }
    for option, given in options.items():
        if given:
            raise ValueError(
                f"{option} needs all rows in memory, and --stream reads them file by file; leave "
                "one of them out."
            )
