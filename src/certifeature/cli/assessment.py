"""The choice beside others on the same folds, for the report."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certifeature.cli.choosing import method_for
from certifeature.cli.features import kept_features
from certifeature.cli.loading import to_scale
from certifeature.cli.progress import showing
from certifeature.cli.task import Choice, Task
from certifeature.compare import Comparison, Contender, compare
from certifeature.compare.fold import N_INNER
from certifeature.support.accepted import predicts_numbers

__all__ = ["assess", "n_folds_for"]

_RIVALS = ("bss", "rfe", "univariate")
# Errors are compared at so many times the number of features, too.
_MULTIPLES = (0.25, 0.5, 2)
_N_FOLDS = 5


def n_folds_for(y: NDArray[Any] | None, model: Any) -> int | None:
    """Return the number of folds of a report: five, or as many as the rows allow, or None."""
    if y is None:
        return None
    n_folds = min(_N_FOLDS, _fewest(y, model))
    return n_folds if n_folds > 1 else None


def _can_tune(y: NDArray[Any] | None, model: Any, n_folds: int) -> bool:
    """Return whether the training rows of each fold can be split into inner folds."""
    assert y is not None
    fewest = _fewest(y, model)
    return fewest - -(-fewest // n_folds) >= N_INNER


def _fewest(y: NDArray[Any], model: Any) -> int:
    """Return how many folds there can be: one for each row of the rarest class, or two rows."""
    if predicts_numbers(model):
        return len(y) // 2
    return int(np.unique(y, return_counts=True)[1].min())


def assess(task: Task, choice: Choice, n_folds: int) -> tuple[Comparison, Contender] | None:
    """Return the choice and others at several sizes, and the choice at its own.

    At its own size errors are also found at a tuned C, where the classes have rows enough. A choice
    of all features has nothing beside it, nor has one by a method that finds its own number.
    """
    data, size = task.data, len(choice.features)
    own = method_for(task.wishes, data, task.model, task.seed)
    if size == data.n_features or own.own_size:
        return None
    X, _ = to_scale(data.X, task.scale)
    options: dict[str, Any] = {
        "methods": [own, *(name for name in _RIVALS if name != own.name)],
        "estimator": task.model,
        "scaling": task.scale.value,
        "n_folds": n_folds,
        "seed": task.seed,
    }
    tune = _can_tune(data.y, task.model, n_folds)
    with showing("comparing with other methods"):
        at_size = compare(X, data.y, [size], tune=tune, **options)
    contenders = list(at_size.contenders)
    fewest = max(1, len(kept_features(task.wishes.keep, data.names)))
    others = {round(size * multiple) for multiple in _MULTIPLES} - {size}
    sizes = sorted(other for other in others if fewest <= other < data.n_features)
    if sizes:
        with showing("comparing other numbers of features"):
            contenders += compare(X, data.y, sizes, tune=False, **options).contenders[1:]
    names = [contender.method for contender in at_size.contenders]
    contenders.sort(key=lambda c: (names.index(c.method), c.size or 0))
    return replace(at_size, contenders=tuple(contenders)), at_size.contenders[1]
