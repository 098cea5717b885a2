"""The chosen features, as they are shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import numpy as np
import typer

from certifeature.cli.assessment import Assessment
from certifeature.cli.certificates import certificate_values
from certifeature.cli.drawings import drawings
from certifeature.cli.loading import Loaded
from certifeature.cli.output import json_text, print_table, reproduction
from certifeature.cli.task import Choice, Task
from certifeature.models.problem import model_name, predicts_numbers
from certifeature.report import Feature, Report, methods_paragraph
from certifeature.report.contents import with_times_chosen
from certifeature.report.text import class_counts

__all__ = ["choice_json", "choice_report", "print_choice"]

_N_SHOWN = 20


def choice_report(
    task: Task,
    choice: Choice,
    n_folds: int | None,
    assessed: Assessment | None,
) -> Report:
    """Return the report of a choice: what was asked, what came of it, how it does beside others."""
    data, method, scaling = task.data, task.wishes.method.name, task.scale.value
    comparison, own = (assessed.comparison, assessed.own) if assessed else (None, None)
    classes = _classes(task)
    features = choice.features
    if own is not None:
        features = with_times_chosen(features, choice.sample, own)
    return Report(
        f"{len(choice.features)} of {data.n_features:,} features of {Path(data.source).name}",
        _asked(task, choice, n_folds),
        choice.certificate,
        features,
        comparison,
        own,
        methods_paragraph(
            choice.certificate,
            n_rows=data.n_rows,
            classes=classes,
            method=method,
            scaling=scaling,
            supervised=not task.wishes.unsupervised,
            own=own,
            comparison=comparison,
        ),
        reproduction(data, task.seed),
        {} if comparison is None else drawings(comparison),
        _described(data, classes),
    )


def _classes(task: Task) -> dict[str, int] | None:
    """Return how many rows each class has, where labels are in memory and no numbers."""
    y = task.data.y
    if y is None or predicts_numbers(task.model):
        return None
    names, counts = np.unique(y, return_counts=True)
    return dict(zip(map(str, names.tolist()), counts.tolist(), strict=True))


def _described(data: Loaded, classes: dict[str, int] | None) -> str:
    rows = f"{data.n_rows:,} rows"
    if classes is None:
        return rows
    counts = class_counts({name: f"{count:,}" for name, count in classes.items()})
    return f"{rows}: {counts}" if counts else f"{rows} of {len(classes)} classes"


def _asked(task: Task, choice: Choice, n_folds: int | None) -> dict[str, str]:
    wishes = task.wishes
    rows = "all rows" if wishes.unsupervised else "rows that matter"
    shares = "" if predicts_numbers(task.model) else ", each with all classes in equal shares"
    return {
        "Data": str(task.data),
        "Method": f"{wishes.method.name}, {rows}",
        "Number of features": str(choice.search or wishes.size),
        **wishes.given(),
        **({"Cross-validation": f"{n_folds} folds{shares}"} if n_folds else {}),
        "Scaling": task.scale.value,
        "Model": model_name(task.model),
    }


def print_choice(choice: Choice) -> None:
    """Print a table of the first features, and what they can cost."""
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


def choice_json(task: Task, choice: Choice) -> str:
    """Return everything as JSON."""
    data = task.data
    return json_text(
        {
            "data": {
                "source": data.source,
                "n_rows": data.n_rows,
                "n_features": data.n_features,
                "fingerprint": data.fingerprint,
            },
            "method": task.wishes.method.name,
            "seed": task.seed,
            "seconds": choice.seconds,
            "cross_validation": None if choice.search is None else choice.search.results,
            "features": [
                asdict(feature) | {"index": int(index)}
                for feature, index in zip(choice.features, choice.sample.indices, strict=True)
            ],
            "certificate": certificate_values(choice.certificate),
        }
    )
