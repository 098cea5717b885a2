"""``certifeature doctor``: what is in a file, and what to do about it."""

from __future__ import annotations

import shlex
from typing import Any

import typer

from certifeature.cli.findings import (
    Findings,
    advice,
    findings,
    likely_target,
    looks_transposed,
    predict_numbers,
)
from certifeature.cli.options import (
    DataArgument,
    DropOption,
    FormatOption,
    IdOption,
    JSONOption,
    TargetOption,
    TransposeOption,
)
from certifeature.cli.output import json_text
from certifeature.cli.progress import showing
from certifeature.cli.source import Source
from certifeature.io._common import first_few
from certifeature.io.tables import Survey

__all__ = ["doctor_command"]

_N_CLASSES = 10
_SIZE = 100


def doctor_command(
    data: DataArgument,
    target: TargetOption = None,
    id: IdOption = None,
    drop: DropOption = None,
    transpose: TransposeOption = False,
    format: FormatOption = None,
    as_json: JSONOption = False,
) -> None:
    """Say what is in a file, what stands in the way, and which command to try.

    \b
    Examples:
      certifeature doctor genes.csv -t tumour
      certifeature doctor expression.tsv --transpose -t tumour
    """
    source = Source(data, target, format, id, drop, transpose)
    with showing("reading"):
        kind, survey = source.survey()
    with showing("looking"):
        found = findings(survey)
    said = advice(survey, found, kind, transposed=transpose)
    command = _command(source, survey, found, kind)
    if as_json:
        typer.echo(json_text(_values(source, kind, survey, found, said, command)), nl=False)
        return
    for line in (*_facts(source, kind, survey, found), *(f"! {line}" for line in said)):
        typer.echo(line)
    fill = ", when the missing values are filled in" if found.n_missing else ""
    typer.echo(f"Try{fill}: {command}")


def _facts(source: Source, kind: str, survey: Survey, found: Findings) -> list[str]:
    n_rows, n_numeric = survey.X.shape
    # What a sample and a feature are in the file.
    rows, columns = ("columns", "rows") if source.transpose else ("rows", "columns")
    shape = f"{n_rows:,} {rows}, {survey.n_columns:,} {columns}"
    lines = [f"{' '.join(source.paths)}: {kind}, {shape}"]
    if survey.id is not None:
        lines.append(f"{rows[:-1]} names: {survey.id or 'the header'}")
    if found.classes is not None:
        lines.append(f"labels: {_classes(survey.target, found, rows)}")
    texts = f", and {len(survey.texts):,} of text" if survey.texts else ""
    lines.append(f"features: {n_numeric:,} of numbers{texts}")
    if found.n_missing:
        places = first_few(list(found.n_missing), 4)
        n_missing = sum(found.n_missing.values())
        lines.append(f"missing or infinite values: {n_missing:,}, in {places}")
    if found.constant:
        lines.append(f"constant: {first_few(found.constant, 4)}")
    if found.deviations.size:
        low, high = found.deviations.min(), found.deviations.max()
        lines.append(f"standard deviations: {low:.3g} to {high:.3g}")
    lines.append(f"equal {rows}: {found.n_repeated or 'none'}")
    return [*lines, f"select would {_default(survey, found)}"]


def _default(survey: Survey, found: Findings) -> str:
    """Return what happens to these data without any option but --target."""
    if survey.labels is None or survey.texts or found.n_missing:
        return "refuse the data as they are"
    model = "ridge regression" if predict_numbers(found) else "a linear SVM"
    return f"choose from {survey.X.shape[1]:,} features, not scaled, for {model} with C = 1"


def _classes(target: str | None, found: Findings, rows: str) -> str:
    name = f"{target}, " if target is not None else ""
    counts = found.classes or {}
    if predict_numbers(found):
        decimals = " with decimals" if any(float(label) % 1 for label in counts) else ""
        return f"{name}numbers{decimals}, {len(counts):,} different"
    shown = [
        f"{label!r} in {n} {rows if n > 1 else rows[:-1]}"
        for label, n in list(counts.items())[:_N_CLASSES]
    ]
    left = len(counts) - len(shown)
    return name + ", ".join(shown) + (f" and {left} more classes" if left else "")


def _command(source: Source, survey: Survey, found: Findings, kind: str) -> str:
    """Return the command that would choose features of these data, or tell more of them."""
    if looks_transposed(survey, kind):
        form = ["--format", source.format] if source.format else []
        return shlex.join(["certifeature", "doctor", *source.paths, *form, "--transpose"])
    target = source.target or likely_target(survey)
    if target is None and survey.labels is None:
        target = "ROW" if source.transpose else "COLUMN"
    n_rows = survey.X.shape[0]
    ids = [text.name for text in survey.texts if text.n_different == n_rows] + found.row_numbers
    row_names = source.id if source.id is not None else next(iter(ids), None)
    left_out = [text.name for text in survey.texts if text.name not in (row_names, target)]
    left_out += [name for name in found.row_numbers if name != row_names]
    dropped = [*source.dropped, *left_out]
    n_features = survey.X.shape[1]
    options: dict[str, str | None] = {
        "--format": source.format,
        "--target": target,
        "--id": row_names,
        "--drop": ",".join(dropped) or None,
        "--scale": found.scaling,
        "--model": "ridge" if predict_numbers(found) else None,
        "-k": str(min(_SIZE, max(1, n_features // 2))),
    }
    given = [part for name, value in options.items() if value for part in (name, value)]
    across = ["--transpose"] if source.transpose else []
    return shlex.join(["certifeature", "select", *source.paths, *across, *given])


def _values(
    source: Source,
    kind: str,
    survey: Survey,
    found: Findings,
    said: list[str],
    command: str,
) -> dict[str, Any]:
    deviations = found.deviations
    return {
        "source": source.paths,
        "kind": kind,
        "n_rows": int(survey.X.shape[0]),
        "n_columns": survey.n_columns,
        "n_numeric_features": int(survey.X.shape[1]),
        "target": survey.target,
        "classes": found.classes,
        "text_columns": {text.name: text.example for text in survey.texts},
        "missing": found.n_missing,
        "constant": found.constant,
        "deviations": [float(deviations.min()), float(deviations.max())]
        if deviations.size
        else None,
        "n_repeated_rows": found.n_repeated,
        "advice": said,
        "command": command,
    }
