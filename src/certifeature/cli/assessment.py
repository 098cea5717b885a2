"""The choice beside others on the same folds, for the report."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

from certifeature.cli.choosing import method_for
from certifeature.cli.features import kept_features
from certifeature.cli.loading import to_scale
from certifeature.cli.progress import showing
from certifeature.cli.task import Choice, Task
from certifeature.comparison import Comparison, Contender, compare
from certifeature.evaluation.splits import splits_of
from certifeature.models.problem import predicts_numbers

__all__ = ["assess", "n_folds_for"]

_RIVALS = ("bss", "rfe", "univariate")
# Errors are compared at so many times the number of features, too.
_MULTIPLES = (0.25, 0.5, 2)
_N_FOLDS = 5


def n_folds_for(task: Task) -> int | None:
    """Return the number of folds of a report: five, or as many as the rows allow, or None."""
    y = task.data.y
    if y is None:
        return None
    numbers = predicts_numbers(task.model)
    for n_folds in range(_N_FOLDS, 1, -1):
        with suppress(ValueError):
            splits_of(y, y, n_folds, task.seed, numbers)
            return n_folds
    return None


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
    with showing("comparing with other methods"):
        at_size = compare(X, data.y, [size], tune="auto", **options)
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
