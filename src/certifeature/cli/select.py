"""``certifeature select``: choose features."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import numpy as np
import typer

from certifeature._files import write_text
from certifeature.certificate import NewData, new_data_errors
from certifeature.certificate.selection import as_sample
from certifeature.cli.assessment import assess, n_folds_for
from certifeature.cli.certificates import certified
from certifeature.cli.choice import Choice, Search, choice_json, choice_report, print_choice
from certifeature.cli.choosing import (
    CROSS_VALIDATED,
    KeepOption,
    OrderOption,
    RescaleOption,
    SizeOption,
    TrustOption,
    Wishes,
    selector_for,
)
from certifeature.cli.features import describe, feature_list
from certifeature.cli.loading import Loaded, Scaling, load, load_blocks, scaled, to_scale
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
from certifeature.cli.output import (
    check_data_file,
    check_writable,
    write_data,
)
from certifeature.cli.progress import showing
from certifeature.cli.source import Source
from certifeature.compare import method_named
from certifeature.report import write_report
from certifeature.rows.matrix import scaled_columns
from certifeature.sparsify import Sample

__all__ = ["select_command"]

# With more rows, the realised layer of the certificate takes longer than the selection.
_MAX_ROWS_REALISED = 5000


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
        typer.Option("--output", "-o", help="Write names and scales to this file; - prints them."),
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
    scale: ScaleOption = Scaling.none,
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
    wishes = Wishes(method_named(method), size, unsupervised, named, order, trust, rescale)
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
    if cv is None and report is not None and not unsupervised:
        cv = n_folds_for(loaded.y, estimator)
    new_data = _new_data(loaded, wishes, estimator, scale, seed, cv) if cv else None
    read, loaded = loaded, scaled(loaded, scale)
    choice = _chosen(loaded, wishes, estimator, seed, new_data)
    if output is not None:
        text = feature_list(choice.features)
        sys.stdout.write(text) if to_stdout else write_text(output, text)
    if write is not None:
        columns, scales = choice.sample.indices, choice.sample.weights
        reduced = scaled_columns(loaded.X[:, columns], scales)
        write_data(write, replace(loaded, X=reduced, names=loaded.names[columns]))
    if report is not None:
        asked = {
            "Data": str(loaded),
            "Method": f"{method}, {'all rows' if unsupervised else 'rows that matter'}",
            "Number of features": str(choice.search or size),
            **wishes.given(),
            **({"Cross-validation": f"{cv} folds"} if cv else {}),
            "Scaling": scale.value,
            "Model": str(estimator),
        }
        assessed = None
        n_chosen = len(choice.features)
        if cv and n_chosen < loaded.n_features and not wishes.method.own_size:
            with showing("comparing with other methods"):
                assessed = assess(read, wishes, n_chosen, estimator, scale, n_folds=cv, seed=seed)
        page = choice_report(
            loaded, choice, asked, seed, method=method, scaling=scale.value, assessed=assessed
        )
        write_report(page, report)
    if as_json:
        typer.echo(choice_json(loaded, choice, method, seed), nl=False)
    elif not to_stdout:
        print_choice(choice)


def _check_streams(wishes: Wishes, scale: Scaling, cv: int | None, write: Path | None) -> None:
    """Raise, before any long work, if something is asked that needs all rows in memory."""
    options = {
        f"--method {wishes.method.name}": not wishes.method.ours,
        "-k cv": wishes.size == CROSS_VALIDATED,
        f"--scale {scale}": scale is not Scaling.none,
        "--cv": bool(cv),
        "--write": write is not None,
    }
    for option, given in options.items():
        if given:
            raise ValueError(
                f"{option} needs all rows in memory, and --stream reads them file by file; leave "
                "one of them out."
            )


def _new_data(
    loaded: Loaded, wishes: Wishes, model: Any, scale: Scaling, seed: int, n_folds: int
) -> NewData:
    """Return errors on rows that neither the scaling nor the choice has seen."""
    if loaded.y is None:
        raise ValueError(
            f"{loaded.source}: --cv compares predictions with labels, and there are none; name "
            "them with --target, or leave --cv out."
        )
    X, scaler = to_scale(loaded.X, scale)
    with showing(f"cross-validating in {n_folds} folds"):
        return new_data_errors(
            X,
            loaded.y,
            selector_for(wishes, loaded, model, seed),
            model=model,
            cv=n_folds,
            scaler=scaler,
            max_features=int(wishes.size) if wishes.method.own_size else None,
            seed=seed,
            n_jobs=-1,
        )


def _chosen(
    loaded: Loaded, wishes: Wishes, model: Any, seed: int, new_data: NewData | None
) -> Choice:
    """Fit the selector that is asked for, and certify what it chose."""
    selector = selector_for(wishes, loaded, model, seed)
    start = perf_counter()
    with showing(f"choosing from {loaded.n_features:,} features"):
        selector.fit(loaded.X, None if wishes.unsupervised else loaded.y)
    seconds = perf_counter() - start
    search = None
    if wishes.size == CROSS_VALIDATED:
        results = {name: np.asarray(part).tolist() for name, part in selector.cv_results_.items()}
        search, selector = Search(int(selector.n_features_), results), selector.selector_
    if not selector.get_support().any():
        raise ValueError("no feature was chosen: the weights are all zero. Raise C.")
    sample = as_sample(selector, loaded.n_features)
    if wishes.method.own_size:
        # The largest weights come first.
        n_asked = int(wishes.size)
        sample = Sample(sample.indices[:n_asked], sample.weights[:n_asked])
    with showing("certifying"):
        certificate, fitted = certified(
            loaded,
            sample,
            model,
            selector=selector,
            unsupervised=wishes.unsupervised,
            realised=loaded.n_rows <= _MAX_ROWS_REALISED,
        )
    features = describe(sample, loaded.names, fitted)
    return Choice(sample, features, replace(certificate, new_data=new_data), seconds, search)
