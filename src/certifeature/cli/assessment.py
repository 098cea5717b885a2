"""One cross-validation of a choice: its error on new data, and other methods beside it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from certifeature.cli.loading import to_scale
from certifeature.cli.output import showing
from certifeature.cli.task import Choice, Task
from certifeature.comparison import (
    Comparison,
    Contender,
    candidates_for,
    growth_for,
    methods_for,
    tuning_problem,
)
from certifeature.evaluation import NewData
from certifeature.evaluation.engine import cross_validate
from certifeature.evaluation.new_data import new_data_candidates
from certifeature.evaluation.splits import Splits, splits_of
from certifeature.models.problem import predicts_numbers
from certifeature.models.support import capped

_RIVALS = ("bss", "rfe", "univariate")
# Errors are compared at so many times the number of features, too.
_MULTIPLES = (0.25, 0.5, 1, 2)
_N_FOLDS = 5


@dataclass(frozen=True, eq=False)
class Assessment:
    """A choice with its error on new data; the comparison that it is a part of, if there is one."""

    choice: Choice
    comparison: Comparison | None = None
    own: Contender | None = None


def folds_of(task: Task, n_folds: int) -> Splits:
    """Return the folds of the rows, or raise."""
    data = task.data
    if data.y is None:
        none = "--cv compares predictions with labels, and there are none"
        raise ValueError(f"{data.source}: {none}; name them with --target, or leave --cv out.")
    return splits_of(data.y, data.y, n_folds, task.seed, regression=predicts_numbers(task.model))


def n_folds_for(task: Task) -> int | None:
    """Return the number of folds of a report: five, or as many as the rows allow, or None."""
    for n_folds in range(_N_FOLDS, 1, -1):
        with suppress(ValueError):
            return folds_of(task, n_folds).n_folds
    return None


def assess(task: Task, choice: Choice, splits: Splits, *, beside: bool) -> Assessment:
    """Cross-validate the choice, all features and shuffled labels, and others at several sizes.

    The estimate for new data is at the C of the model, like the certificate that it belongs to. In
    the comparison C is tuned for each method, where the classes have rows enough.

    Parameters
    ----------
    task, choice : Task, Choice
        What was asked, and what was chosen.
    splits : Splits
        The folds.
    beside : bool
        Whether to compare other methods and sizes. A choice of all features has nothing beside it,
        nor has one by a method that finds its own number.
    """
    data, model, seed = task.data, capped(task.model), task.seed
    X, scaler = to_scale(data.X, task.scaling)
    own, size = task.method(), len(choice.features)
    asked = int(task.options.size) if task.options.size.isdecimal() else None
    beside = beside and size < data.n_features and not own.own_size
    # A search for the number of features is repeated in every fold.
    selector, compared, problem, growth = task.selector(), [], None, None
    if beside:
        assert data.y is not None
        regression = predicts_numbers(model)
        problem = tuning_problem(data.y, splits, seed, regression=regression)
        methods = [own, *methods_for(model, [name for name in _RIVALS if name != own.name])]
        tuned: Any = {"tuned": problem is None, "random_state": seed}
        compared = candidates_for(methods, _sizes(task, size), model, scaler=scaler, **tuned)
        if asked == size:
            # Its choices are those of the comparison.
            selector = compared[1].pipeline[-2]
        growth = growth_for(model)
    own_candidates = new_data_candidates(selector, model, scaler, size=asked, draws=own.draws)
    with showing(f"cross-validating in {splits.n_folds} folds"):
        seeded: Any = {"random_state": seed, "n_jobs": -1, "growth": growth}
        result = cross_validate(X, data.y, [*compared, *own_candidates], splits, **seeded)
    new_data = NewData.from_result(result, data.n_features, asked)
    choice = replace(choice, certificate=replace(choice.certificate, new_data=new_data))
    if not beside:
        return Assessment(choice)
    comparison = Comparison.from_result(result, compared, problem)
    found = {(c.method, c.size): c for c in comparison.contenders}
    return Assessment(choice, comparison, found[own.name, size])


def _sizes(task: Task, size: int) -> list[int]:
    """Return the numbers of features to compare: that of the choice, fewer, and more."""
    fewest = max(1, len(task.kept))
    sizes = {round(size * multiple) for multiple in _MULTIPLES}
    return sorted(other for other in sizes if fewest <= other < task.data.n_features)
