"""Tables 2 and 3: the words that are chosen in every fold."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any, Literal

import numpy as np

from certifeature._files import write_text
from paper.figures import about, web_study
from paper.output import csv_text, markdown_table
from paper.runner import run
from paper.summary import group
from paper.tasks import Task, web_tasks

__all__ = ["table2_3"]

_METHODS = ("BSS, paper", "leverage sampling", "BSS")
_N_WORDS = 8


def table2_3(
    data: Path,
    out: Path,
    *,
    size: int = 300,
    n_repeats: int = 10,
    n_folds: int = 10,
    weighting: Literal["none", "tfidf"] = "tfidf",
    n_jobs: int = -1,
    seed: int = 0,
) -> list[Path]:
    """List the words that are chosen in every fold; return the files of the tables.

    The records of :func:`paper.figures.figures` serve here too.

    Parameters
    ----------
    data, out
        As for :func:`paper.figures.figures`.
    size : int
        Number of features.
    n_repeats, n_folds, weighting, n_jobs, seed
        As for :func:`paper.figures.figures`.
    """
    tasks = [task for task in web_tasks(data) if task.feature_names is not None]
    study = web_study(tasks, [size], n_repeats, n_folds, weighting, seed, _METHODS)
    records = run(study, out / "figures.jsonl", n_jobs=n_jobs)
    grouped = group(records, "task", "method")
    rows, shown = [], []
    for number, task in enumerate(tasks, 1):
        words = [_words_in_every_fold(grouped[task.name, m], task) for m in _METHODS]
        rows.append((number, task.name, *(" ".join(found) for found in words)))
        cells = (f"{', '.join(found[:_N_WORDS])} ({len(found)})" for found in words)
        shown.append((number, task.name, *cells))
    header = ("", "task", *_METHODS)
    text = (
        f"{about(tasks, study)}Words chosen in every one of the {n_repeats * n_folds} training "
        f"sets, for r = {size} and the support vectors: the first {_N_WORDS}, in the order in "
        "which the method chose them, and how many there are.\n\n" + markdown_table(header, shown)
    )
    write_text(out / "words.md", text)
    write_text(out / "words.csv", csv_text(header, rows))
    return [out / "words.md", out / "words.csv"]


def _words_in_every_fold(records: list[dict[str, Any]], task: Task) -> list[str]:
    """Return the words that all records chose, in the mean order of their choice."""
    places: dict[int, list[int]] = defaultdict(list)
    for record in records:
        for place, feature in enumerate(record["features"]):
            places[feature].append(place)
    always = [feature for feature, found in places.items() if len(found) == len(records)]
    always.sort(key=lambda feature: (np.mean(places[feature]), feature))
    assert task.feature_names is not None
    return [str(task.feature_names[feature]) for feature in always]
