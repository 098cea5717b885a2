"""One cross-validation of a choice: its error on new data, and other methods beside it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace

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
from certifeature.evaluation.engine import Candidate, cross_validate
from certifeature.evaluation.new_data import SELECTED, SHUFFLED
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
        raise ValueError(
            f"{data.source}: --cv compares predictions with labels, and there are none; name "
            "them with --target, or leave --cv out."
        )
    return splits_of(data.y, data.y, n_folds, task.seed, regression=predicts_numbers(task.model))


def n_folds_for(task: Task) -> int | None:
    """Return the number of folds of a report: five, or as many as the rows allow, or None."""
    for n_folds in range(_N_FOLDS, 1, -1):
        with suppress(ValueError):
            return folds_of(task, n_folds).n_folds
    return None


def assess(task: Task, choice: Choice, splits: Splits, *, beside: bool) -> Assessment:
    """Cross-validate the choice, all features and shuffled labels, and others at several sizes.

    Parameters
    ----------
    task, choice : Task, Choice
        What was asked, and what was chosen.
    splits : Splits
        The folds.
    beside : bool
        Whether to compare other methods and sizes. At the size of the choice C is tuned, too, where
        the classes have rows enough. A choice of all features has nothing beside it, nor has one by
        a method that finds its own number.
    """
    data, model, seed = task.data, capped(task.model), task.seed
    X, scaler = to_scale(data.X, task.scaling)
    own = task.method()
    size = len(choice.features)
    beside = beside and size < data.n_features and not own.own_size
    assert data.y is not None
    regression = predicts_numbers(model)
    tunable = tuning_problem(data.y, splits, seed, regression=regression) is None
    candidates = candidates_for(
        [own, *methods_for(model, [r for r in _RIVALS if r != own.name])] if beside else [],
        _sizes(task, size),
        model,
        scaler=scaler,
        tuned=[size] if beside and tunable else (),
        random_state=seed,
    )
    compared = list(candidates)
    asked = int(task.options.size) if task.options.size.isdecimal() else None
    if beside and asked == size:
        selected = candidates[1]
    else:
        # A search for the number of features is repeated in every fold.
        options = {"sizes": (asked,), "draws": own.draws}
        selected = Candidate.of(SELECTED, task.selector(), model, scaler, **options)
        candidates.append(selected)
    candidates.append(selected.control(SHUFFLED, asked))
    with showing(f"cross-validating in {splits.n_folds} folds"):
        growth = growth_for(model) if beside else None
        result = cross_validate(
            X, data.y, candidates, splits, random_state=seed, n_jobs=-1, growth=growth
        )
    new_data = NewData.from_result(result, data.n_features, selected.name, asked)
    choice = replace(choice, certificate=replace(choice.certificate, new_data=new_data))
    if not beside:
        return Assessment(choice)
    own_result = Contender.from_result(result, own.name, size)
    return Assessment(choice, Comparison.from_result(result, compared), own_result)


def _sizes(task: Task, size: int) -> list[int]:
    """Return the numbers of features to compare: that of the choice, fewer, and more."""
    fewest = max(1, len(task.kept))
    sizes = {round(size * multiple) for multiple in _MULTIPLES}
    return sorted(other for other in sizes if fewest <= other < task.data.n_features)
