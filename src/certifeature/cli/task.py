"""From options and data to a choice of features, its certificate, and its error on new data."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from time import perf_counter
from typing import Any

import numpy as np

from certifeature.certificate import Certificate
from certifeature.certificate.certify import Certifier
from certifeature.cli.loading import (
    DataOptions,
    Loaded,
    kept_features,
    labels_of,
    load,
    note_few_rows,
)
from certifeature.cli.options import CROSS_VALIDATED, GROUPED, ModelOptions, SelectOptions
from certifeature.cli.output import showing
from certifeature.cli.preparing import scaling_or_note
from certifeature.comparison import (
    Comparison,
    SelectionMethod,
    candidates_for,
    growth_for,
    methods_for,
)
from certifeature.evaluation import NewData
from certifeature.evaluation.engine import Candidate, SizeSearch, cross_validate, search_size
from certifeature.evaluation.new_data import new_data_candidates
from certifeature.evaluation.splits import Splits, splits_of, tuning_problem
from certifeature.models.problem import is_scaled, predicts_numbers
from certifeature.models.support import capped, fit_at_scale, with_numbers
from certifeature.report import features_of
from certifeature.report.contents import Feature, with_frequencies
from certifeature.rows.rows import Rows
from certifeature.selectors.selector_cv import default_sizes
from certifeature.sparsify import ColumnChoice
from certifeature.sparsify.choice import as_column_choice

_RIVALS = ("bss", "rfe", "univariate")
# Errors are also compared at these multiples of the number of features.
_MULTIPLES = (0.25, 0.5, 1, 2)
_N_FOLDS = 5


def read(
    source: DataOptions,
    options: ModelOptions,
    *,
    unsupervised: bool = False,
    stream: bool = False,
    held_out: float | None = None,
) -> tuple[Loaded, Any]:
    """Return the data and the unfitted model; raise if the labels do not suit the model.

    The data are not scaled yet: how they will be is part of their preprocessing.
    """
    with showing("reading"):
        data = load(source, needs_labels=not unsupervised, stream=stream)
        if stream:
            data = data.streamed(held_out, options.seed, options.scale)
    estimator = options.estimator(data.y, supervised=not unsupervised)
    if stream:
        return data, estimator
    if data.y is not None and not predicts_numbers(estimator):
        note_few_rows(data.y)
    return data.scaled(scaling_or_note(data.prepared().X, options.scale)), estimator


@dataclass(frozen=True, eq=False)
class Task:
    """Data as they were read, and what to do with them."""

    data: Loaded
    options: SelectOptions
    model: Any
    seed: int = 0

    @cached_property
    def kept(self) -> list[int]:
        """The features that are always included."""
        return kept_features(self.options.keep or (), self.data.names)

    @cached_property
    def groups(self) -> list[str] | None:
        """The label of the group that each feature is chosen with, "" if alone; None without."""
        labels = list(self.data.column_groups)
        if self.options.group_by is not None:
            given = labels or self.data.n_features * [""]
            labels = labels_of(self.options.group_by, self.data.names, given)
        return labels if self.options.entry.name in GROUPED and any(labels) else None

    @property
    def n_choices(self) -> int:
        """Number of features, or of groups of features, that there are to choose from."""
        return self.n_groups_of(range(self.data.n_features))

    def n_groups_of(self, features: Iterable[int]) -> int:
        """Return how many groups some features are of."""
        labels = self.groups or self.data.n_features * [""]
        return len({labels[feature] or feature for feature in features})

    def method(self) -> SelectionMethod:
        """Return the method with all options, for any number of features."""
        options, model, seed = self.options, self.model, self.seed
        (method,) = methods_for(model, [options.method])
        parameters, make = dict(options.parameters), method.make
        if method.ours:
            parameters |= {"basis": "auto", "n_components": None}
        if options.keep:
            parameters["fixed_features"] = self.kept
        if self.groups is not None:
            parameters["feature_groups"] = self.groups

        def make_with_options(size: Any, *_: Any) -> Any:
            selector = make(size, model, seed)
            # Random choices need no model and no basis, but their certificates do.
            if method.ours and selector.estimator is None:
                selector.set_params(estimator=model)
            return selector.set_params(**parameters)

        return replace(method, make=make_with_options)

    def selector(self) -> Any:
        """Return the unfitted selector, after `SelectOptions.check`."""
        size, n_choices = self.options.size, self.n_choices
        what = "columns" if self.groups is None else "groups of columns"
        if size.isdecimal() and int(size) > n_choices:
            raise ValueError(f"-k {size} is more than the {n_choices} {what}; ask for fewer.")
        if size.isdecimal() and (n_kept := self.n_groups_of(self.kept)) > int(size):
            raise ValueError(f"--keep names {n_kept} features, more than -k {size}; raise -k.")
        if size == CROSS_VALIDATED:
            # The number is set by whoever searches for it.
            size = str(n_choices)
        return self.method().make(int(size) if size.isdecimal() else size, self.model, self.seed)

    @cached_property
    def sizes(self) -> tuple[int | None, ...]:
        """Numbers of features among which cross-validation chooses; None is up to the selector."""
        size = self.options.size
        if size == CROSS_VALIDATED:
            return tuple(
                default_sizes(self.n_choices, max(10, self.n_groups_of(self.kept))).tolist()
            )
        return (int(size) if size.isdecimal() else None,)


@dataclass(frozen=True, eq=False)
class Choice:
    """The chosen features, their certificate, how long it took to choose them, and others.

    The model is the one on all features, None without labels.
    """

    columns: ColumnChoice
    features: list[Feature]
    certificate: Certificate
    model: Any
    seconds: float
    search: SizeSearch | None
    comparison: Comparison | None = None


def choose(task: Task) -> Choice:
    """Fit the selector and certify its choice."""
    data, options = task.data.prepared(), task.options
    selector = task.selector()
    start, search = perf_counter(), None
    with showing(f"choosing from {data.n_features:,} features"):
        if options.size == CROSS_VALIDATED:
            search = search_for(task, selector)
            selector.set_params(n_features_to_select=search.size)
        selector = with_numbers(selector, data.X)
        selector.fit(data.X, None if options.unsupervised else data.y)
    seconds = perf_counter() - start
    if not selector.get_support().any():
        raise ValueError("no feature was chosen: the weights are all zero. Raise C.")
    columns = as_column_choice(selector, data.n_features)
    if options.entry.own_size:
        # The largest weights come first.
        n_asked = int(options.size)
        columns = ColumnChoice(columns.indices[:n_asked], columns.scales[:n_asked])
    unsupervised = options.unsupervised
    with showing("certifying"):
        # The best subset is that of a softer model; the paper's algorithm has a C of its own.
        support = getattr(getattr(selector, "fit_result_", None), "support", None)
        own = None if support is None else support.asked
        chosen_for = own if is_scaled(own) else task.model
        certificate, model = certified(
            data, columns, chosen_for, selector=selector, unsupervised=unsupervised
        )
    named: Any = {"group_names": getattr(selector, "group_names_", None)}
    named["optimality"] = certificate.optimality
    features = features_of(columns, data.names, model=model, **named)
    return Choice(columns, features, certificate, model, seconds, search)


def search_for(task: Task, selector: Any) -> SizeSearch:
    """Return what folds of all rows say about the number of features."""
    data, seed, model = task.data, task.seed, capped(task.model)
    assert data.y is not None
    regression = predicts_numbers(model)
    whole = Splits([(np.arange(len(data.y)), np.empty(0, dtype=np.intp))], groups=data.groups)
    problem = tuning_problem(data.y, whole, seed, regression=regression)
    options: Any = {"sizes": task.sizes, "search": True, "tuned": problem is None}
    candidate = Candidate.of("search", selector, model, data.preprocessing, **options)
    return search_size(data.X, data.y, candidate, groups=data.groups, random_state=seed)


def certified(
    data: Loaded,
    columns: ColumnChoice,
    model: Any,
    *,
    selector: Any = None,
    unsupervised: bool = False,
) -> tuple[Certificate, Any]:
    """Return the certificate of a choice, and the model on all features (None without labels).

    Parameters
    ----------
    data : Loaded
        Rows that the choice was made for.
    columns : ColumnChoice
        The choice.
    model : estimator
        Unfitted linear model.
    selector : selector, default=None
        The fitted selector that made the choice, if there is one. Results of a selector of this
        library are not computed again.
    unsupervised : bool, default=False
        Whether to certify for all rows instead of the support vectors.
    """
    rows = "all" if unsupervised else "support"
    # Streams have their labels in the blocks.
    asked = None if unsupervised and data.y is None else model
    certifier = Certifier.of_data(data.X, data.y, asked, rows, fitted=selector)
    certificate = certifier.certificate(columns, selector, optimality=True)
    if unsupervised:
        return certificate, None if data.y is None else fit_at_scale(model, Rows(data.X), data.y)
    return certificate, certifier.support.model


# Cross-validation


def chosen(task: Task, n_folds: int | None, n_repeats: int | None, *, beside: bool) -> Choice:
    """Choose features, and estimate the error on new data; None is as many folds as a report has.

    Without a report, and without labels in memory, None is no cross-validation, as 0 is.
    """
    stream = task.data.stream
    if n_folds is None and beside and stream is None and not task.options.unsupervised:
        n_folds = n_folds_for(task)
    # Folds that cannot be made are an error before any long work.
    folds = folds_of(task, n_folds, n_repeats) if n_folds else None
    choice = choose(task)
    if stream is not None and stream.held_out is not None:
        with showing("predicting held-out rows"):
            new_data = stream.errors(choice.columns, task.model, choice.model)
        return replace(choice, certificate=replace(choice.certificate, new_data=new_data))
    return choice if folds is None else assess(task, choice, folds, beside=beside)


def folds_of(task: Task, n_folds: int, n_repeats: int | None = None) -> Splits:
    """Return the folds of the rows, or raise; None repeats them often where rows are few."""
    data = task.data
    if data.y is None:
        raise ValueError(f"{data.source}: there are no labels; give --target, or leave --cv out.")
    options: Any = {"regression": predicts_numbers(task.model), "n_repeats": n_repeats}
    return splits_of(data.y, data.y, n_folds, task.seed, groups=data.groups, **options)


def n_folds_for(task: Task) -> int | None:
    """Return the number of folds of a report: five, or as many as the rows allow, or None."""
    for n_folds in range(_N_FOLDS, 1, -1):
        with suppress(ValueError):
            return folds_of(task, n_folds).n_folds
    return None


def assess(task: Task, choice: Choice, splits: Splits, *, beside: bool) -> Choice:
    """Cross-validate the choice, all features and shuffled labels, and others at several sizes.

    C is tuned for each method, where the classes have enough rows.

    Parameters
    ----------
    task, choice : Task, Choice
        The task, and the choice.
    splits : Splits
        The folds.
    beside : bool
        Whether to compare other methods and sizes. A choice of all features has nothing beside it,
        nor has one by a method that finds its own number.
    """
    data, model, seed = task.data, capped(task.model), task.seed
    own, size = task.method(), choice.certificate.n_groups or len(choice.features)
    asked = int(task.options.size) if task.options.size.isdecimal() else None
    beside = beside and size < task.n_choices and not own.own_size
    # A search for the number of features is repeated in every fold.
    selector, compared, growth = task.selector(), [], None
    assert data.y is not None
    problem = tuning_problem(data.y, splits, seed, regression=predicts_numbers(model))
    if beside:
        methods = [own, *methods_for(model, [name for name in _RIVALS if name != own.name])]
        tuned: Any = {"tuned": problem is None, "random_state": seed}
        compared = candidates_for(
            methods, _sizes(task, size), model, preprocessing=data.preprocessing, **tuned
        )
        if asked == size:
            # Its choices are those of the comparison.
            selector = compared[1].pipeline[-2]
        # Only the choice itself and all features, in the verdict, need all repeats.
        compared = [replace(candidate, n_repeats=1) for candidate in compared]
        growth = growth_for(model)
    own_options: Any = {"tuned": problem is None, "sizes": task.sizes, "draws": own.draws}
    own_candidates = new_data_candidates(selector, model, data.preprocessing, **own_options)
    with showing(f"cross-validating in {splits.n_folds} folds"):
        seeded: Any = {"random_state": seed, "n_jobs": -1, "growth": growth}
        result = cross_validate(data.X, data.y, [*compared, *own_candidates], splits, **seeded)
    new_data = NewData.from_result(result, asked, tuned=problem is None)
    certificate = replace(choice.certificate, new_data=new_data)
    features = with_frequencies(choice.features, choice.columns, new_data)
    comparison = None
    if beside:
        comparison = Comparison.from_result(result.first, compared, {}, problem)
    return replace(choice, certificate=certificate, features=features, comparison=comparison)


def _sizes(task: Task, size: int) -> list[int]:
    """Return the numbers of features to compare: that of the choice, fewer, and more."""
    fewest = max(1, task.n_groups_of(task.kept))
    sizes = {round(size * multiple) for multiple in _MULTIPLES}
    return sorted(other for other in sizes if fewest <= other < task.n_choices)
