"""The chosen features, as they are shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from itertools import chain
from pathlib import Path

import typer

from certifeature.certificate import Certificate
from certifeature.cli.certificates import certificate_values
from certifeature.cli.drawings import drawings
from certifeature.cli.loading import Loaded
from certifeature.cli.output import json_text, print_table, reproduction
from certifeature.compare import Comparison, Contender
from certifeature.report import Feature, Report, methods_paragraph
from certifeature.sparsify import Sample

__all__ = ["Choice", "Search", "choice_json", "choice_report", "print_choice"]

_N_SHOWN = 20


@dataclass(frozen=True, eq=False)
class Choice:
    """The chosen features, what they can cost, and how long it took to choose them."""

    sample: Sample
    features: list[Feature]
    certificate: Certificate
    seconds: float
    search: Search | None


@dataclass(frozen=True, eq=False)
class Search:
    """The number of features that cross-validation found, and the scores of all numbers."""

    n_features: int
    results: dict[str, list[float]]

    def __str__(self) -> str:
        place = self.results["n_features"].index(self.n_features)
        mean, deviation = (self.results[f"{name}_test_score"][place] for name in ("mean", "std"))
        return f"{self.n_features} features by cross-validation: score {mean:.3f} ± {deviation:.3f}"


def choice_report(
    loaded: Loaded,
    choice: Choice,
    asked: dict[str, str],
    seed: int,
    *,
    method: str,
    scaling: str,
    assessed: tuple[Comparison, Contender] | None,
) -> Report:
    """Return the report of a choice, given what was asked, and how it does beside others."""
    n_chosen, source = len(choice.features), Path(loaded.source).name
    comparison, own = (None, None) if assessed is None else assessed
    return Report(
        f"{n_chosen} of {loaded.n_features:,} features of {source}",
        asked,
        choice.certificate,
        choice.features if own is None else _counted(choice, own),
        comparison,
        own,
        methods_paragraph(
            choice.certificate,
            n_rows=loaded.n_rows,
            method=method,
            scaling=scaling,
            own=own,
            comparison=comparison,
        ),
        reproduction(loaded, seed),
        {} if comparison is None else drawings(comparison),
    )


def _counted(choice: Choice, own: Contender) -> list[Feature]:
    """Return the features with the number of folds in which each was chosen anew."""
    counts = Counter(chain.from_iterable(own.chosen))
    return [
        replace(feature, times_chosen=counts[int(index)])
        for feature, index in zip(choice.features, choice.sample.indices, strict=True)
    ]


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


def choice_json(loaded: Loaded, choice: Choice, method: str, seed: int) -> str:
    """Return everything as JSON."""
    return json_text(
        {
            "data": {
                "source": loaded.source,
                "n_rows": loaded.n_rows,
                "n_features": loaded.n_features,
                "fingerprint": loaded.fingerprint,
            },
            "method": method,
            "seed": seed,
            "seconds": choice.seconds,
            "cross_validation": None if choice.search is None else choice.search.results,
            "features": [
                asdict(feature) | {"index": int(index)}
                for feature, index in zip(choice.features, choice.sample.indices, strict=True)
            ],
            "certificate": certificate_values(choice.certificate),
        }
    )
