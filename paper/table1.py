"""Table 1: which features of the synthetic data are chosen most often."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.svm import SVC

from certifeature._files import write_text
from certifeature.comparison import FULL_DATA
from paper.methods import KEEP_ALL, paper_methods, today_methods
from paper.output import markdown_table
from paper.runner import run
from paper.study import Study
from paper.summary import group
from paper.tasks import synthetic_task

__all__ = ["table1"]

_N_SHOWN = 5
# What the paper prints, by method, number of features r and number of relevant features k.
_PRINTED = {
    "BSS, paper": {
        (30, 40): "40, 39, 34, 36, 37",
        (30, 50): "50, 49, 48, 47, 44",
        (40, 40): "40, 39, 34, 37, 36",
        (40, 50): "50, 49, 48, 47, 44",
    },
    "leverage sampling": {
        (30, 40): "40, 39, 37, 36, 34",
        (30, 50): "50, 49, 48, 47, 46",
        (40, 40): "40, 39, 37, 31, 32",
        (40, 50): "50, 49, 48, 31, 47",
    },
    "RFE": {
        (30, 40): "40, 39, 38, 37, 36",
        (30, 50): "50, 49, 48, 47, 46",
        (40, 40): "40, 39, 38, 37, 36",
        (40, 50): "50, 49, 48, 47, 46",
    },
    "LPSVM": {
        (30, 40): "40, 39, 38, 37, 34",
        (30, 50): "50, 49, 48, 43, 40",
        (40, 40): "40, 39, 38, 37, 34",
        (40, 50): "50, 49, 48, 43, 40",
    },
    "RRQR": {
        (30, 40): "40, 30, 29, 28, 27",
        (30, 50): "50, 30, 29, 28, 27",
        (40, 40): "40, 39, 38, 37, 36",
        (40, 50): "50, 40, 39, 38, 37",
    },
}


def table1(
    out: Path,
    *,
    n_sets: int = 10,
    n_repeats: int = 10,
    n_folds: int = 10,
    n_samples: int = 200,
    n_features: int = 1000,
    n_relevant: Sequence[int] = (40, 50),
    sizes: Sequence[int] = (30, 40),
    n_jobs: int = -1,
    seed: int = 0,
) -> list[Path]:
    """Run the paper's experiment on synthetic data; return the files of the tables.

    Parameters
    ----------
    out : Path
        Folder for records and tables.
    n_sets : int
        Number of data sets for each number of relevant features.
    n_repeats, n_folds, n_samples, n_features, n_relevant, sizes
        As in the paper by default.
    n_jobs, seed
        Of the runner.
    """
    methods = [*paper_methods("support"), *today_methods("support", counts=False), KEEP_ALL]
    tasks = {
        (k, number): synthetic_task(k, number, n_samples, n_features)
        for k in n_relevant
        for number in range(n_sets)
    }
    study = Study(
        list(tasks.values()),
        methods,
        sizes,
        SVC(kernel="linear", C=1.0),
        n_repeats=n_repeats,
        n_folds=n_folds,
        seed=seed,
        features_at=(None, *sizes),
    )
    records = group(run(study, out / "table1.jsonl", n_jobs=n_jobs), "task", "method", "size")
    text = (
        f"Synthetic data, n = {n_samples}, d = {n_features}, {n_sets} sets for each number k of "
        f"relevant features; {n_repeats} × {n_folds}-fold cross-validation, LIBSVM, C = 1, "
        f"seed {seed}. The {_N_SHOWN} features chosen most often on the first set, best first; "
        "below them the paper's. Noise: share of the chosen features that are irrelevant, over all "
        "sets. Relevant sets: those whose most frequent features are all relevant. Error: mean "
        "over all sets, trained on all rows / on the support vectors.\n\n"
    )
    for size in sizes:
        for k in n_relevant:
            rows = []
            for method in methods:
                used = size if not method.own_size and method.make else None
                parts = [records[tasks[k, i].name, method.name, used] for i in range(n_sets)]
                rows.append(_row(method.name, parts, k))
                if printed := _PRINTED.get(method.name, {}).get((size, k)):
                    rows.append(("↳ as printed", printed, "", "", "", ""))
            header = ("method", "most frequent", "chosen", "noise", "relevant sets", "error, %")
            text += f"### r = {size}, k = {k}\n\n{markdown_table(header, rows)}\n"
    path = out / "table1.md"
    write_text(path, text)
    return [path]


def _row(name: str, parts: list[list[dict[str, Any]]], n_relevant: int) -> tuple[str, ...]:
    records = [record for part in parts for record in part]
    errors = " / ".join(
        f"{100 * np.mean([record[error] for record in records]):.2f}"
        for error in ("error", "error_on_support")
    )
    size = f"{np.mean([record['n_features'] for record in records]):.1f}"
    if name == FULL_DATA:
        return name, "", size, "", "", errors
    chosen = np.concatenate([record["features"] for record in records])
    tops = [_most_frequent(part) for part in parts]
    return (
        name,
        ", ".join(str(feature + 1) for feature in tops[0]),
        size,
        f"{np.mean(chosen >= n_relevant):.2f}",
        f"{sum(max(top) < n_relevant for top in tops)} of {len(tops)}",
        errors,
    )


def _most_frequent(records: list[dict[str, Any]]) -> list[int]:
    """Return the features chosen most often; of equals, those that the method chose earlier."""
    counts: Counter[int] = Counter()
    places: dict[int, int] = defaultdict(int)
    for record in records:
        for place, feature in enumerate(record["features"]):
            counts[feature] += 1
            places[feature] += place
    return sorted(counts, key=lambda f: (-counts[f], places[f] / counts[f], f))[:_N_SHOWN]
