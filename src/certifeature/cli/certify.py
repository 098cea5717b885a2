"""``certifeature certify``: a certificate for a selection made by anything."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from certifeature.cli.certificates import certificate_values, certified
from certifeature.cli.features import read_features
from certifeature.cli.loading import Source, check_classes, load, scaled, scaling_or_note
from certifeature.cli.options import (
    CostOption,
    DataArgument,
    DropOption,
    FormatOption,
    IdOption,
    JSONOption,
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
from certifeature.report import Report, features_of, write_report

__all__ = ["certify_command"]


def certify_command(
    data: DataArgument,
    features: Annotated[
        Path,
        typer.Option(
            "--features",
            "-f",
            help="File with one feature name per line; a scale may follow after a tab. Or a .csv "
            "file with columns named feature and scale, as select -o writes.",
        ),
    ],
    target: TargetOption = None,
    id: IdOption = None,
    drop: DropOption = None,
    transpose: TransposeOption = False,
    unsupervised: Annotated[
        bool, typer.Option("--unsupervised", help="Certify for all rows, without labels.")
    ] = False,
    report: ReportOption = None,
    scale: ScaleOption = None,
    model: ModelOption = Models.svm,
    cost: CostOption = 1.0,
    seed: SeedOption = 0,
    format: FormatOption = None,
    as_json: JSONOption = False,
) -> None:
    """Say what a selection of features can cost, whoever made it.

    \b
    Columns without a name are called by their number, from 0. There is no --cv here: a list
    of features cannot be chosen anew in every fold, and its errors would look too good.

    \b
    Examples:
      certifeature certify genes.csv -t tumour -f chosen.txt --scale standard
      certifeature certify pages.svm -f chosen.txt --json
    """
    source = Source(data, target, format, id, drop, transpose)
    check_writable(report, inputs=(*source.inputs(), features))
    with showing("reading"):
        loaded = load(source, needs_labels=not unsupervised)
        sample = read_features(features, loaded.names)
    estimator = linear_model(model, loaded.y, cost, seed)
    if not unsupervised:
        check_classes(loaded.y, model)
    scaling = scaling_or_note(loaded.X, scale)
    with showing("certifying"):
        loaded = scaled(loaded, scaling)
        certificate, fitted = certified(loaded, sample, estimator, unsupervised=unsupervised)
    if report is not None:
        asked = {
            "Data": str(loaded),
            "Features": str(features),
            "Scaling": scaling.value,
            "Model": str(estimator),
        }
        chosen = features_of(sample, loaded.names, model=fitted)
        title = f"Certificate for {len(chosen)} features of {Path(loaded.source).name}"
        how = reproduction(loaded, seed)
        page = Report(title, asked, certificate, chosen, reproduction=how)
        write_report(page, report)
    if as_json:
        typer.echo(json_text(certificate_values(certificate)), nl=False)
    else:
        typer.echo(str(certificate))
