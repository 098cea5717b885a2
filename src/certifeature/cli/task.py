"""From options and data to a fitted selector, its certificate, and its cross-validated errors."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone

from certifeature.certificate import Certificate, certify
from certifeature.certificate.certify import measured, with_realised
from certifeature.cli.features import kept_features
from certifeature.cli.labels import check_classes
from certifeature.cli.loading import Loaded, Scaling, load, load_blocks, scaled, to_scale
from certifeature.cli.options import CROSS_VALIDATED, ModelOptions, SelectOptions
from certifeature.cli.output import showing
from certifeature.cli.source import Source
from certifeature.comparison import Comparison, Contender, Method, compare, methods_for
from certifeature.evaluation import NewData, new_data_errors
from certifeature.evaluation.splits import splits_of
from certifeature.models import fit_model
from certifeature.models.problem import predicts_numbers
from certifeature.models.support import find_support
from certifeature.report import Feature, features_of
from certifeature.rows.rows import as_rows
from certifeature.selectors import BSSSelectorCV, FitResult
from certifeature.sparsify import ColumnChoice
from certifeature.sparsify.choice import as_column_choice

# With more rows, the realised layer of the certificate takes longer than the selection.
_MAX_ROWS_REALISED = 5000
_RIVALS = ("bss", "rfe", "univariate")
# Errors are compared at these multiples of the number of features, too.
_MULTIPLES = (0.25, 0.5, 2)
_N_FOLDS = 5


def read(
    source: Source, options: ModelOptions, *, unsupervised: bool = False, stream: bool = False
) -> tuple[Loaded, Any]:
    """Return the data and the unfitted model; raise if the labels do not suit the model."""
    with showing("reading"):
        data = (load_blocks if stream else load)(source, needs_labels=not unsupervised)
    model = options.estimator(data.y)
    if not unsupervised:
        check_classes(data.y, options.model)
    return data, model


@dataclass(frozen=True, eq=False)
class Task:
    """Data as they were read, and what to do with them."""

    data: Loaded
    options: SelectOptions
    model: Any
    scaling: Scaling = Scaling.none
    seed: int = 0

    @cached_property
    def scaled(self) -> Loaded:
        """The data with their columns scaled; the scales are learnt from all rows."""
        return scaled(self.data, self.scaling)

    @cached_property
    def kept(self) -> list[int]:
        """The features that are always included."""
        return kept_features(self.options.keep or (), self.data.names)

    def method(self) -> Method:
        """Return the method with all options, for any number of features."""
        options, model, seed = self.options, self.model, self.seed
        (method,) = methods_for(model, [options.method])
        parameters, make = dict(options.parameters), method.make
        assert make is not None  # Only full data have none.
        if method.ours:
            parameters |= {"basis": "auto", "n_components": None}
        if options.keep:
            parameters["fixed_features"] = self.kept

        def make_with_options(size: Any, _: Any, drawn: int) -> Any:
            selector = make(size, model, drawn if method.draws else seed)
            # Random choices need no model and no basis, but their certificates do.
            if method.ours and selector.estimator is None:
                selector.set_params(estimator=model)
            return selector.set_params(**parameters)

        return replace(
            method, make=make_with_options, rows="all" if options.unsupervised else method.rows
        )

    def selector(self) -> Any:
        """Return the unfitted selector, after `SelectOptions.check`."""
        size, n_features = self.options.size, self.data.n_features
        if size.isdecimal() and int(size) > n_features:
            raise ValueError(
                f"-k {size} is more than the {n_features} columns of {self.data.source}."
            )
        if size.isdecimal() and len(self.kept) > int(size):
            raise ValueError(
                f"--keep names {len(self.kept)} features, more than -k {size}; name fewer, or "
                "raise -k."
            )
        make = self.method().make
        assert make is not None
        if size == CROSS_VALIDATED:
            return BSSSelectorCV(make(n_features, self.model, self.seed))
        return make(int(size) if size.isdecimal() else size, self.model, self.seed)


@dataclass(frozen=True, eq=False)
class Search:
    """The number of features that cross-validation found, and the scores of all numbers."""

    n_features: int
    results: dict[str, list[float]]

    def __str__(self) -> str:
        place = self.results["n_features"].index(self.n_features)
        mean, deviation = (self.results[f"{name}_test_score"][place] for name in ("mean", "std"))
        return f"{self.n_features} features by cross-validation: score {mean:.3f} ± {deviation:.3f}"


@dataclass(frozen=True, eq=False)
class Choice:
    """The chosen features, their certificate, and how long it took to choose them."""

    columns: ColumnChoice
    features: list[Feature]
    certificate: Certificate
    seconds: float
    search: Search | None


def choose(task: Task, n_folds: int | None = None) -> Choice:
    """Fit the selector and certify its choice, with errors on new data from so many folds."""
    new_data = estimate(task, n_folds) if n_folds else None
    data, options = task.scaled, task.options
    selector = task.selector()
    start = perf_counter()
    with showing(f"choosing from {data.n_features:,} features"):
        selector.fit(data.X, None if options.unsupervised else data.y)
    seconds = perf_counter() - start
    search = None
    if options.size == CROSS_VALIDATED:
        results = {name: np.asarray(part).tolist() for name, part in selector.cv_results_.items()}
        search, selector = Search(int(selector.n_features_), results), selector.selector_
    if not selector.get_support().any():
        raise ValueError("no feature was chosen: the weights are all zero. Raise C.")
    columns = as_column_choice(selector, data.n_features)
    if options.entry.own_size:
        # The largest weights come first.
        n_asked = int(options.size)
        columns = ColumnChoice(columns.indices[:n_asked], columns.weights[:n_asked])
    with showing("certifying"):
        certificate, model = certified(
            data,
            columns,
            task.model,
            selector=selector,
            unsupervised=options.unsupervised,
            realised=data.n_rows <= _MAX_ROWS_REALISED,
        )
    features = features_of(columns, data.names, model=model)
    return Choice(columns, features, replace(certificate, new_data=new_data), seconds, search)


def certified(
    data: Loaded,
    columns: ColumnChoice,
    model: Any,
    *,
    selector: Any = None,
    unsupervised: bool = False,
    realised: bool = True,
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
    realised : bool, default=True
        Whether to compute margins, objectives and radii too.
    """
    known: FitResult | None = getattr(selector, "fit_result_", None)
    if unsupervised:
        certificate = certify(
            data.X,
            data.y,
            columns.indices if known is None else selector,
            weights=columns.weights if known is None else None,
            estimator=None if data.y is None else model,
            rows="all",
            realised=realised,
        )
        return certificate, None if data.y is None else fit_model(clone(model), data.X, data.y)
    if known is not None and str(selector.estimator) != str(model):
        # The selector looked at the support vectors of another model.
        known = None
    rows = as_rows(data.X, data.y, real_valued=predicts_numbers(model))
    support = None if known is None else known.support
    if support is None:
        support = find_support(rows, model)
    if known is not None and known.certificate.exact:
        certificate = known.certificate
    else:
        certificate = measured(support, columns, "support")
    if realised:
        certificate = with_realised(certificate, support, columns, rows)
    return certificate, support.model


def estimate(task: Task, n_folds: int) -> NewData:
    """Return errors on rows that neither the scaling nor the choice has seen."""
    data, options = task.data, task.options
    if data.y is None:
        raise ValueError(
            f"{data.source}: --cv compares predictions with labels, and there are none; name "
            "them with --target, or leave --cv out."
        )
    X, scaler = to_scale(data.X, task.scaling)
    with showing(f"cross-validating in {n_folds} folds"):
        return new_data_errors(
            X,
            data.y,
            task.selector(),
            model=task.model,
            cv=n_folds,
            scaler=scaler,
            max_features=int(options.size) if options.entry.own_size else None,
            seed=task.seed,
            n_jobs=-1,
        )


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
    """Compare a choice with other methods on the same folds, at its own and at other sizes.

    At its own size errors are also computed with C tuned, if the classes have enough rows. There is
    nothing to compare if all features were chosen, or by a method that finds its own number.

    Returns
    -------
    tuple of (Comparison, Contender) or None
        The comparison, and the choice in it.
    """
    data, size = task.data, len(choice.features)
    own = task.method()
    if size == data.n_features or own.own_size:
        return None
    X, _ = to_scale(data.X, task.scaling)
    options: dict[str, Any] = {
        "methods": [own, *(name for name in _RIVALS if name != own.name)],
        "estimator": task.model,
        "scaling": task.scaling.value,
        "n_folds": n_folds,
        "seed": task.seed,
    }
    with showing("comparing with other methods"):
        at_size = compare(X, data.y, [size], tune="auto", **options)
    contenders = list(at_size.contenders)
    others = {round(size * multiple) for multiple in _MULTIPLES} - {size}
    smallest = max(1, len(task.kept))
    sizes = sorted(other for other in others if smallest <= other < data.n_features)
    if sizes:
        with showing("comparing other numbers of features"):
            contenders += compare(X, data.y, sizes, tune=False, **options).contenders[1:]
    names = [contender.method for contender in at_size.contenders]
    contenders.sort(key=lambda c: (names.index(c.method), c.size or 0))
    return replace(at_size, contenders=tuple(contenders)), at_size.contenders[1]
