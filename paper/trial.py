"""One fold: what every cell gives on it, as records."""

from __future__ import annotations

import platform
import warnings
from collections.abc import Sequence
from importlib.metadata import version
from time import perf_counter
from typing import Any

from threadpoolctl import threadpool_limits

from certifeature.comparison import TrainedFold, draw_seed
from paper.study import Cell, Fold, Study

__all__ = ["measure_fold"]

_VERSIONS = {
    "python": platform.python_version(),
    **{name: version(name) for name in ("certifeature", "numpy", "scipy", "scikit-learn")},
}


def measure_fold(study: Study, fold: Fold, cells: Sequence[Cell]) -> list[dict[str, Any]]:
    """Return a record for each cell: its key, test errors, certificate, time and versions."""
    # One thread, so that sums are rounded alike however many workers there are.
    with threadpool_limits(1):
        split = fold.task.split(fold.repeat, fold.number, study.n_folds, study.seed)
        task = fold.task
        trained = TrainedFold(study.svm, task.X, task.y, split, study.weighting, study.seed)
        return [
            {
                "key": study.key(fold, cell),
                "measured": _measured(study, fold, trained, cell),
                "versions": _VERSIONS,
            }
            for cell in cells
        ]


def _measured(study: Study, fold: Fold, trained: TrainedFold, cell: Cell) -> dict[str, Any]:
    """Return what is measured of one choice; SVMs are trained on all rows, and on the support."""
    rows = cell.method.rows
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        start = perf_counter()
        seed = draw_seed(study.seed, fold.repeat, fold.number, cell.draw)
        sample = trained.choose(cell.method, cell.size, seed)
        seconds = perf_counter() - start
        error = trained.error(sample)
        on_support = trained.error(sample, "support") if rows == "support" else None
    lambda_min, lambda_max = trained.eigenvalues(sample, rows)
    return {
        "error": error,
        "error_on_support": on_support,
        "n_features": len(sample.indices),
        "n_rows": trained.n_rows(rows),
        "lambda_min": lambda_min,
        "lambda_max": lambda_max,
        "features": sample.indices.tolist() if cell.size in study.features_at else None,
        "seconds": seconds,
        "warnings": sorted({w.category.__name__ for w in caught}),
    }
