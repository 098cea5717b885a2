"""Cross-validation of a choice: its error on new data, and other methods on the same folds."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from certifeature.cli.loading import to_scale
from certifeature.cli.output import showing
from certifeature.cli.task import Choice, Task
from certifeature.comparison import Comparison, Contender, compare
from certifeature.evaluation import new_data_errors
from certifeature.evaluation.splits import splits_of
from certifeature.models.problem import predicts_numbers

_RIVALS = ("bss", "rfe", "univariate")
# Errors are compared at these multiples of the number of features, too.
_MULTIPLES = (0.25, 0.5, 2)
_N_FOLDS = 5


@dataclass(frozen=True, eq=False)
class Assessment:
    """A choice with its error on new data, and the comparison that it is part of, if any."""

    choice: Choice
    comparison: Comparison | None = None
    own: Contender | None = None


def folds_of(task: Task, n_folds: int) -> int:
    """Return the number of folds; raise if the rows cannot be split like this."""
    data = task.data
    if data.y is None:
        raise ValueError(
            f"{data.source}: --cv compares predictions with labels, and there are none; name "
            "them with --target, or leave --cv out."
        )
    splits_of(data.y, data.y, n_folds, task.seed, predicts_numbers(task.model))
    return n_folds


def n_folds_for(task: Task) -> int | None:
    """Return the number of folds of a report: five, or as many as the rows allow, or None."""
    for n_folds in range(_N_FOLDS, 1, -1):
        with suppress(ValueError):
            return folds_of(task, n_folds)
    return None


def assess(task: Task, choice: Choice, folds: int, *, beside: bool) -> Assessment:
    """Cross-validate a choice, and compare it with other methods and sizes.

    Parameters
    ----------
    task, choice : Task, Choice
        The task, and what was chosen.
    folds : int
        Number of folds.
    beside : bool
        Whether to compare other methods and sizes. At the size of the choice errors are computed
        with C tuned, too, if the classes have enough rows. There is nothing to compare if all
        features were chosen, or by a method that finds its own number.
    """
    data, options, size, own = task.data, task.options, len(choice.features), task.method()
    X, scaler = to_scale(data.X, task.scaling)
    with showing(f"cross-validating in {folds} folds"):
        new_data = new_data_errors(
            X,
            data.y,
            task.selector(),
            model=task.model,
            cv=folds,
            scaler=scaler,
            max_features=int(options.size) if own.own_size else None,
            seed=task.seed,
            n_jobs=-1,
        )
    choice = replace(choice, certificate=replace(choice.certificate, new_data=new_data))
    if not beside or size == data.n_features or own.own_size:
        return Assessment(choice)
    settings: dict[str, Any] = {
        "methods": [own, *(name for name in _RIVALS if name != own.name)],
        "estimator": task.model,
        "scaling": task.scaling.value,
        "n_folds": folds,
        "seed": task.seed,
    }
    with showing("comparing with other methods"):
        at_size = compare(X, data.y, [size], tune="auto", **settings)
    contenders = list(at_size.contenders)
    others = {round(size * multiple) for multiple in _MULTIPLES} - {size}
    smallest = max(1, len(task.kept))
    sizes = sorted(other for other in others if smallest <= other < data.n_features)
    if sizes:
        with showing("comparing other numbers of features"):
            contenders += compare(X, data.y, sizes, tune=False, **settings).contenders[1:]
    names = [contender.method for contender in at_size.contenders]
    contenders.sort(key=lambda c: (names.index(c.method), c.size or 0))
    comparison = replace(at_size, contenders=tuple(contenders))
    return Assessment(choice, comparison, at_size.contenders[1])
