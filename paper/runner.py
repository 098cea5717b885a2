"""Measures what a study lacks, in parallel, and can be killed and started again."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

from paper.store import Store, alone
from paper.study import Cell, Fold, Study
from paper.trial import measure_fold

__all__ = ["run"]


def run(study: Study, path: str | Path, *, n_jobs: int = -1) -> list[dict[str, Any]]:
    """Measure every cell of a study on every fold, but for those already on file.

    Parameters
    ----------
    study : Study
        What to measure.
    path : str or Path
        File of records. What it holds already is not measured again; what it holds of other
        studies is left alone.
    n_jobs : int, default=-1
        Number of worker processes; -1 takes all cores.

    Returns
    -------
    list of dict
        Key and measurements of each cell on each fold, in the order of the study, whatever was
        measured when.
    """
    path = Path(path)
    with alone(path):
        store = Store(path)
        plan = [(fold, cell) for fold in study.folds() for cell in study.cells()]
        work: dict[Any, tuple[Fold, list[Cell]]] = {}
        for fold, cell in plan:
            if not _serves(store.get(study.key(fold, cell)), study):
                # Cells share the preparation of a fold. A single split is large, its cells long.
                unit = fold if fold.task.n_train is None else (fold, cell)
                work.setdefault(unit, (fold, []))[1].append(cell)
        # A fold brings its task along; the others stay here.
        bare = replace(study, tasks=())
        results = Parallel(n_jobs, return_as="generator_unordered")(
            delayed(measure_fold)(bare, fold, cells) for fold, cells in work.values()
        )
        for records in _with_progress(results, len(work)):
            store.add(records)
    found = (store.get(study.key(fold, cell)) for fold, cell in plan)
    return [record["key"] | record["measured"] for record in found if record is not None]


def _serves(record: dict[str, Any] | None, study: Study) -> bool:
    """Tell whether a record has all that the study asks for."""
    if record is None:
        return False
    wanted = record["key"]["size"] in study.features_at
    return not wanted or record["measured"]["features"] is not None


def _with_progress(results: Iterable[Any], total: int) -> Iterator[Any]:
    """Yield results, and show a bar on a terminal."""
    if total == 0 or not sys.stderr.isatty():
        yield from results
        return
    try:
        from rich.console import Console
        from rich.progress import track
    except ImportError:
        yield from results
        return
    yield from track(results, "folds", total, console=Console(stderr=True), transient=True)
