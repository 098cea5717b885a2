"""From records of single folds to figures of tables."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata, wilcoxon

__all__ = ["Rival", "as_percent", "by_task", "group", "mean_and_deviation", "rivalry"]

Record = dict[str, Any]


@dataclass(frozen=True)
class Rival:
    """How a method does over many tasks.

    Attributes
    ----------
    mean_error : float
        Over tasks.
    mean_rank : float
        Among all methods, 1 for the lowest error; ties share their ranks.
    wins, ties, losses : int
        Tasks where the reference has a higher, the same, a lower error.
    p_value : float or None
        Wilcoxon's signed-rank test of the differences to the reference; None for itself.
    """

    mean_error: float
    mean_rank: float
    wins: int
    ties: int
    losses: int
    p_value: float | None


def group(records: Iterable[Record], *names: str) -> dict[Any, list[Record]]:
    """Return the records by the values of some of their fields, in order of appearance."""
    groups: dict[Any, list[Record]] = defaultdict(list)
    for record in records:
        groups[tuple(record[name] for name in names)].append(record)
    return dict(groups)


def mean_and_deviation(
    records: Sequence[Record], error: str = "error"
) -> tuple[float, float | None]:
    """Return the mean over folds and draws, and the deviation of the means of the repeats.

    A fold has 15 to 28 test rows, so that the errors of single folds say little. Where nothing is
    repeated, the deviation is that of the draws, and None for a single draw.
    """
    repeats = group(records, "repeat")
    parts = repeats if len(repeats) > 1 else group(records, "draw")
    means = [np.mean([record[error] for record in part]) for part in parts.values()]
    deviation = float(np.std(means, ddof=1)) if len(means) > 1 else None
    return float(np.mean([record[error] for record in records])), deviation


def as_percent(mean: float, deviation: float | None) -> str:
    """Return mean and deviation as a cell of a table."""
    shown = "" if deviation is None else f" ({100 * deviation:.2f})"
    return f"{100 * mean:.2f}{shown}"


def by_task(records: Iterable[Record], error: str = "error") -> dict[str, float]:
    """Return the mean error of each task."""
    return {
        task: float(np.mean([record[error] for record in part]))
        for (task,), part in group(records, "task").items()
    }


def rivalry(errors: dict[str, dict[str, float]], reference: str) -> dict[str, Rival]:
    """Compare methods over tasks.

    Parameters
    ----------
    errors : dict of dict
        Method → task → error; all methods have the same tasks.
    reference : str
        The method that the others are compared with.
    """
    tasks = list(errors[reference])
    # Rounded, so that means which are equal but for rounding tie.
    table = np.round([[errors[method][task] for task in tasks] for method in errors], 9)
    ranks = rankdata(table, axis=0).mean(axis=1)
    own = table[list(errors).index(reference)]
    return {
        method: Rival(
            float(row.mean()),
            float(rank),
            int((row < own).sum()),
            int((row == own).sum()),
            int((row > own).sum()),
            None if method == reference else _p_value(row - own),
        )
        for method, row, rank in zip(errors, table, ranks, strict=True)
    }


def _p_value(differences: NDArray[np.float64]) -> float:
    return float(wilcoxon(differences).pvalue) if differences.any() else 1.0
