"""``certifeature select``, ``certify`` and ``demo``: features chosen, or given, and certified."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from certifeature._files import write_text
from certifeature.cli.assessment import Assessment, assess, folds_of, n_folds_for
from certifeature.cli.features import feature_list, features_text, read_features
from certifeature.cli.loading import DataOptions, Loaded, Scaling, scaled, scaling_or_note
from certifeature.cli.options import (
    CROSS_VALIDATED,
    JSONOption,
    ModelOptions,
    ReportOption,
    SelectOptions,
    with_options,
)
from certifeature.cli.output import (
    certificate_values,
    check_data_file,
    check_writable,
    drawings,
    json_text,
    print_table,
    reproduction,
    showing,
    write_data,
)
from certifeature.cli.task import Choice, Task, certified, choose, read
from certifeature.datasets import load_docstrings
from certifeature.models.problem import model_name, predicts_numbers
from certifeature.report import Feature, Report, features_of, methods_paragraph, write_report
from certifeature.report.contents import with_times_chosen
from certifeature.report.text import class_counts
from certifeature.rows.matrix import fingerprint, scaled_columns

_N_SHOWN = 20
_DEMO_SIZE = 300
_DEMO_PACKAGES = ("numpy", "scipy")
_DEMO_FOLDS = 3


@with_options
def select_command(
    *,
    data: DataOptions,
    options: SelectOptions,
    model: ModelOptions,
    stream: Annotated[bool, typer.Option("--stream")] = False,
    cv: Annotated[int | None, typer.Option(metavar="FOLDS", min=0)] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o")] = None,
    write: Annotated[Path | None, typer.Option("--write", "-w")] = None,
    report: ReportOption = None,
    as_json: JSONOption = False,
) -> None:
    """Choose features, with a bound on what it can cost.

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

    Parameters
    ----------
    stream
        Read the files one at a time, once for each pass over the rows, for data that do not fit
        into memory. Works with methods of this library, and without --scale, --cv and --write.
    cv
        Estimate the error on new data by cross-validation with this number of folds. Features are
        chosen anew in each fold, for the true and for shuffled labels. A report uses five folds by
        default; 0 turns this off.
    output
        Write the names and scales of the chosen features to this file; if it ends in .csv, as a
        table with rank, weight and more. - prints them.
    write
        Write the chosen columns, scaled, to this .svm, .csv, .tsv or .npz file.
    """
    options.check()
    if cv == 1:
        raise ValueError("--cv 1 leaves no training rows; ask for 2 folds or more, or 0 for none.")
    in_memory = {
        f"--method {options.method}": not options.entry.ours,
        "-k cv": options.size == CROSS_VALIDATED,
        f"--scale {model.scale}": model.scale not in (None, Scaling.none),
        "--cv": cv,
        "--write": write,
    }
    for option in (name for name, is_given in in_memory.items() if stream and is_given):
        raise ValueError(f"{option} needs all rows in memory; leave it or --stream out.")
    to_stdout = str(output) == "-"
    if to_stdout and as_json:
        raise ValueError("-o - and --json both print to standard output; choose one.")
    lists = (value[1:] for value in options.keep or () if value.startswith("@"))
    check_writable(None if to_stdout else output, write, report, inputs=(*data.inputs(), *lists))
    loaded, estimator = read(data, model, unsupervised=options.unsupervised, stream=stream)
    check_data_file(write, loaded)
    scaling = Scaling.none if stream else scaling_or_note(loaded.X, model.scale)
    task = Task(loaded, options, estimator, scaling, model.seed)
    if cv is None and report is not None and not options.unsupervised:
        cv = n_folds_for(task)
    folds = folds_of(task, cv) if cv else None
    assessed = Assessment(choose(task))
    if folds is not None:
        assessed = assess(task, assessed.choice, folds, beside=report is not None)
    choice = assessed.choice
    if output is not None and not to_stdout:
        write_text(output, features_text(choice.features, output))
    if write is not None:
        columns = choice.columns.indices
        reduced = scaled_columns(task.scaled.X[:, columns], choice.columns.scales)
        write_data(write, replace(loaded, X=reduced, names=loaded.names[columns]))
    if report is not None:
        write_report(_report(task, assessed, cv), report)
    if to_stdout:
        sys.stdout.write(feature_list(choice.features))
    elif as_json:
        typer.echo(_json(task, choice), nl=False)
    else:
        _print(choice)
        if report is not None:
            typer.echo(f"Report: {report}")


@with_options
def certify_command(
    *,
    data: DataOptions,
    features: Annotated[Path, typer.Option("--features", "-f")],
    unsupervised: Annotated[bool, typer.Option("--unsupervised")] = False,
    model: ModelOptions,
    report: ReportOption = None,
    as_json: JSONOption = False,
) -> None:
    """Certify how much a given list of features can cost.

    \b
    The list may come from any method. Columns without a name are called by their number,
    from 0. There is no --cv here: a given list of features cannot be chosen anew in each
    fold, so its errors would be too low.

    \b
    Examples:
      certifeature certify genes.csv -t tumour -f chosen.txt --scale standard
      certifeature certify pages.svm -f chosen.txt --json

    Parameters
    ----------
    features
        File with one feature name per line; a scale may follow after a tab. Or a .csv file with
        columns named feature and scale, as select -o writes.
    unsupervised
        Certify for all rows, without labels.
    """
    check_writable(report, inputs=(*data.inputs(), features))
    loaded, estimator = read(data, model, unsupervised=unsupervised)
    columns = read_features(features, loaded.names)
    scaling = scaling_or_note(loaded.X, model.scale)
    with showing("certifying"):
        loaded = scaled(loaded, scaling)
        certificate, fitted = certified(loaded, columns, estimator, unsupervised=unsupervised)
    if report is not None:
        asked = {"Data": str(loaded), "Features": str(features)}
        asked |= {"Scaling": scaling.value, "Model": str(estimator)}
        chosen = features_of(columns, loaded.names, model=fitted)
        title = f"Certificate for {len(chosen)} features of {Path(loaded.source).name}"
        how = reproduction(loaded, model.seed)
        write_report(Report(title, asked, certificate, chosen, reproduction=how), report)
    if as_json:
        typer.echo(json_text(certificate_values(certificate)), nl=False)
    else:
        typer.echo(str(certificate))


def demo_command(
    report: Annotated[
        Path, typer.Option("--report", "-r", help="Write the report to this HTML file.")
    ] = Path("certifeature-demo.html"),
) -> None:
    """Write a report on data that need no download.

    The 300 words are chosen that tell NumPy's docstrings from SciPy's.

    \b
    Example:
      certifeature demo
    """
    check_writable(report)
    with showing("collecting docstrings"):
        docs: Any = load_docstrings(packages=_DEMO_PACKAGES)
    y = np.array(_DEMO_PACKAGES)[docs.target]
    source = f"docstrings of {' and '.join(_DEMO_PACKAGES)}"
    data = Loaded(docs.data, y, docs.feature_names, source, fingerprint(docs.data))
    typer.echo(f"{source}: {data.n_rows:,} texts, {data.n_features:,} words")
    task = Task(data, SelectOptions(str(_DEMO_SIZE)), ModelOptions().estimator(y))
    assessed = assess(task, choose(task), folds_of(task, _DEMO_FOLDS), beside=True)
    choice, comparison = assessed.choice, assessed.comparison
    typer.echo(f"first choices: {' '.join(feature.name for feature in choice.features[:12])}")
    typer.echo(f"\n{choice.certificate}\n")
    assert comparison is not None
    typer.echo(str(comparison.of_size(_DEMO_SIZE)))
    write_report(_report(task, assessed, _DEMO_FOLDS), report)
    typer.echo(f"\nReport: {report}")


def _report(task: Task, assessed: Assessment, n_folds: int | None) -> Report:
    """Return the report of a choice: the options, the result, and a comparison with others."""
    data, options, choice = task.data, task.options, assessed.choice
    comparison, own, features = assessed.comparison, assessed.own, choice.features
    if own is not None:
        features = with_times_chosen(features, choice.columns, own)
    classes, shares = None, ""
    if not predicts_numbers(task.model):
        classes, shares = _classes(data), ", each with all classes in equal shares"
    rows = "all rows" if options.unsupervised else "rows that matter"
    asked = {
        "Data": str(data),
        "Method": f"{options.method}, {rows}",
        "Number of features": str(choice.search or options.size),
        **options.given(),
        **({"Cross-validation": f"{n_folds} folds{shares}"} if n_folds else {}),
        "Scaling": task.scaling.value,
        "Model": model_name(task.model),
    }
    paragraph = methods_paragraph(
        choice.certificate,
        n_rows=data.n_rows,
        classes=classes,
        method=options.method,
        scaling=task.scaling.value,
        supervised=not options.unsupervised,
        own=own,
        comparison=comparison,
    )
    described = f"{data.n_rows:,} rows"
    if classes is not None:
        counts = class_counts({name: f"{count:,}" for name, count in classes.items()})
        described += f": {counts}" if counts else f" of {len(classes)} classes"
    return Report(
        f"{len(features)} of {data.n_features:,} features of {Path(data.source).name}",
        asked,
        choice.certificate,
        features,
        comparison,
        own,
        methods=paragraph,
        reproduction=reproduction(data, task.seed),
        figures={} if comparison is None else drawings(comparison),
        data=described,
    )


def _classes(data: Loaded) -> dict[str, int] | None:
    """Return the number of rows of each class, if the labels are in memory."""
    if data.y is None:
        return None
    names, counts = np.unique(data.y, return_counts=True)
    return dict(zip(map(str, names.tolist()), counts.tolist(), strict=True))


def _print(choice: Choice) -> None:
    """Print a table of the first features, and the certificate."""
    features = choice.features
    columns: dict[str, Callable[[Feature], str]] = {
        "feature": lambda f: f.name,
        "rank": lambda f: str(f.rank),
        "scale": lambda f: f"{f.scale:.3g}",
        "|w|": lambda f: "" if f.weight is None else f"{f.weight:.3g}",
        "points to": lambda f: f.label or "",
    }
    if any(f.why for f in features):
        columns["why"] = lambda f: f.why or ""
    rows = ([cell(f) for cell in columns.values()] for f in features[:_N_SHOWN])
    title = f"{len(features)} features chosen in {choice.seconds:.1f} s"
    if len(features) > _N_SHOWN:
        title += f"; the first {_N_SHOWN}"
    if choice.search is not None:
        typer.echo(str(choice.search))
    print_table(columns, rows, title=title)
    typer.echo(f"\n{choice.certificate}")


def _json(task: Task, choice: Choice) -> str:
    """Return everything as JSON."""
    names = ("source", "n_rows", "n_features", "fingerprint")
    chosen = zip(choice.features, choice.columns.indices.tolist(), strict=True)
    return json_text(
        {
            "data": {name: getattr(task.data, name) for name in names},
            "method": task.options.method,
            "seed": task.seed,
            "seconds": choice.seconds,
            "cross_validation": None if choice.search is None else choice.search.results,
            "features": [asdict(feature) | {"index": index} for feature, index in chosen],
            "certificate": certificate_values(choice.certificate),
        }
    )
