"""Comparison of selection methods on the same folds."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.feature_selection import RFE, SelectKBest, f_classif, f_regression
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, LinearSVC, l1_min_c

from certifeature import selectors
from certifeature.certificate.certificate import shown_bound
from certifeature.certificate.measured import Measurable
from certifeature.certificate.optimality import ratios_to_best
from certifeature.certificate.rounding import number, rounded_down
from certifeature.evaluation import Difference, Performance
from certifeature.evaluation.engine import (
    ALL_FEATURES,
    Candidate,
    CrossValidation,
    Key,
    cross_validate,
    nogueira_index,
    size_parameter,
    table_and_labels,
)
from certifeature.evaluation.new_data import FULL_DATA, cost_in_words
from certifeature.evaluation.performance import measure_name
from certifeature.evaluation.splits import Splits, splits_of, tuning_problem
from certifeature.models import at_scale, default_model, feature_weights
from certifeature.models.problem import (
    SCALE,
    check_model,
    cost_of,
    is_scaled,
    predicts_numbers,
    solver_of,
    with_scale,
)
from certifeature.models.support import capped, find_support
from certifeature.rows.rows import Rows, as_rows, warn_if_unscaled
from certifeature.selectors.base import CertifiedSelector, fitted_to_sizes
from certifeature.sparsify import ColumnChoice

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from certifeature.plotting import ComparisonDisplay

__all__ = ["FULL_DATA", "METHODS", "Comparison", "Contender", "SelectionMethod", "compare"]


# How often the C of a sparse SVM is doubled, from where the first weight is not zero.
_MAX_DOUBLINGS = 20
# (number of features or "certified", model, seed) → selector
Maker = Callable[[Any, Any, int], Any]


@dataclass(frozen=True)
class SelectionMethod:
    """A way to choose features.

    Attributes
    ----------
    name : str
        Name in tables and on the command line.
    make : callable
        Makes the selector from number of features, model and seed.
    own_size : bool
        Whether it takes no number of features, but finds its own.
    ours : bool
        Whether it is a selector of this library that takes "certified" for the number of features,
        and can choose for all rows without labels.
    needs_classes : bool
        Whether it is a classifier of its own, that cannot choose for a model that predicts numbers.
    draws : bool
        Whether its choice is random, so that each fold gets another seed.
    """

    name: str
    make: Maker
    own_size: bool = False
    ours: bool = False
    needs_classes: bool = False
    draws: bool = False


def _ours(name: str, kind: Any, *, draws: bool = False, **parameters: Any) -> SelectionMethod:
    """Return the method of a selector of this library that chooses for the model."""

    def make(size: Any, model: Any, seed: int) -> Any:
        return kind(size, estimator=model, random_state=seed, **parameters)

    return SelectionMethod(name, make, ours=True, draws=draws)


def _make_bss_paper(size: Any, model: Any, seed: int) -> Any:
    # The paper is about hinge losses, for which all directions count alike, at the usual C.
    svm: Any = SVC(kernel="linear", C=1.0 if is_scaled(model) else cost_of(model))
    fixed: Any = {"order": "leverage", "trust": 0, "rescale": "each"}
    return selectors.BSSSelector(size, estimator=svm, random_state=seed, **fixed)


def _make_lpsvm(_: Any, model: Any, seed: int) -> Any:
    return selectors.LPSVMSelector(C=1.0 if is_scaled(model) else cost_of(model))


class L1Selector(CertifiedSelector):
    """The features with the largest weights of a sparse SVM, at the smallest C that keeps enough.

    C starts where the first weight is not zero, and doubles until there are as many as asked for.

    Parameters
    ----------
    n_features_to_select : int
        Number of features; there are fewer if the path ends before.
    """

    def __init__(self, n_features_to_select: int) -> None:
        self.n_features_to_select = n_features_to_select

    def fit(self, X: Any, y: Any) -> Self:
        """Follow the path of C; rows X and labels y."""
        cost, size = l1_min_c(X, y), self.n_features_to_select
        for doublings in range(1, _MAX_DOUBLINGS + 1):
            model = LinearSVC(penalty="l1", dual=False, C=cost * 2**doublings, random_state=0)
            weights = feature_weights(model.fit(X, y))
            if np.count_nonzero(weights) >= size:
                break
        best = np.argsort(-weights, kind="stable")[:size]
        self.indices_, self.n_features_in_ = best[weights[best] > 0], X.shape[1]
        return self


class RFEOfSizes(RFE):
    """Scikit-learn's RFE, which drops a tenth of all features at a time, at several sizes."""

    def __init__(self, estimator: Any, *, n_features_to_select: int) -> None:
        super().__init__(estimator, n_features_to_select=n_features_to_select, step=0.1)

    def choices_of_sizes(self, X: Any, y: Any, sizes: Sequence[int]) -> Iterator[ColumnChoice]:
        """Return an iterator over the choices for several numbers of features, as `fit` makes them.

        The first steps, that all of them have in common, are done once.
        """
        model, n_features = self.estimator, X.shape[1]
        model, has_own_cost = at_scale(X, model), not is_scaled(model)
        if has_own_cost and solver_of(model) == "liblinear":
            # Its other solvers may never end where C is large.
            model.set_params(dual=True)
        step = max(1, int(self.step * n_features))
        n_common = n_features - max(0, n_features - max(sizes)) // step * step
        common = RFE(model, n_features_to_select=n_common, step=step).fit(X, y)
        kept, rows = common.get_support(indices=True), common.transform(X)

        def choice(size: int) -> ColumnChoice:
            last = RFE(model, n_features_to_select=size, step=step).fit(rows, y)
            return ColumnChoice(kept[last.get_support()], np.ones(size))

        return map(choice, sizes)


def _make_univariate(size: Any, model: Any, _: int) -> Any:
    return SelectKBest(f_regression if predicts_numbers(model) else f_classif, k=size)


def _make_random(size: Any, _: Any, seed: int) -> Any:
    # It looks at no row, so a basis of one direction will do.
    basis: Any = {"supervised": False, "basis": "sketch", "n_components": 1}
    return selectors.RandomSelector(size, rescale=False, random_state=seed, **basis)


def _make_subset(size: Any, model: Any, _: int) -> Any:
    name = "alpha" if hasattr(model, "alpha") else "C"
    if is_scaled(model) and getattr(model, name) == SCALE:
        # As where no model is given.
        model = clone(model).set_params(**{name: "soft"})
    return selectors.BestSubsetSelector(size, estimator=model)


_METHODS = (
    _ours("bss", selectors.BSSSelector),
    SelectionMethod("subset", _make_subset),
    SelectionMethod("bss-paper", _make_bss_paper, ours=True, needs_classes=True),
    _ours("leverage", selectors.LeverageScoreSelector, draws=True),
    _ours("rrqr", selectors.RRQRSelector, rescale=False),
    SelectionMethod("rfe", lambda size, model, _: RFEOfSizes(model, n_features_to_select=size)),
    SelectionMethod("lpsvm", _make_lpsvm, own_size=True, needs_classes=True),
    SelectionMethod("l1", lambda size, *_: L1Selector(size), needs_classes=True),
    SelectionMethod("univariate", _make_univariate),
    SelectionMethod("random", _make_random, ours=True, draws=True),
)

METHODS = {method.name: method for method in _METHODS}


def method_named(name: str) -> SelectionMethod:
    """Return the method of this name, or say which names there are."""
    if name not in METHODS:
        raise ValueError(f"method {name!r} is unknown; choose from {', '.join(METHODS)}.")
    return METHODS[name]


def _as_method(given: Any) -> SelectionMethod:
    """Return a method, given itself, its name, or a selector."""
    if isinstance(given, SelectionMethod):
        return given
    if not hasattr(given, "get_params"):
        return method_named(given)
    name, parameter = type(given).__name__, size_parameter(given)
    if parameter is None:
        asked = "n_features_to_select, max_features or k"
        raise ValueError(f"{name} has no parameter {asked} to set the size by; leave it out.")
    return SelectionMethod(name, lambda size, *_: clone(given).set_params(**{parameter: size}))


def methods_for(model: Any, names: Sequence[Any] | None = None) -> list[SelectionMethod]:
    """Return the methods of these names, or all that can choose for a model.

    Parameters
    ----------
    model : estimator
        Linear model.
    names : sequence of str, selector or SelectionMethod, default=None
        Names of methods, selectors or methods, that must be able to choose for it.
    """
    numbers = predicts_numbers(model)
    if names is None:
        return [method for method in METHODS.values() if not (numbers and method.needs_classes)]
    if isinstance(names, str):
        raise ValueError(f"methods={names!r} is one name; give a list, [{names!r}].")
    methods: dict[str, SelectionMethod] = {}
    for method in map(_as_method, dict.fromkeys(names)):
        if numbers and method.needs_classes:
            able = ", ".join(method.name for method in methods_for(model))
            apart = f"{method.name} tells classes apart, and {type(model).__name__} predicts"
            raise ValueError(f"{apart} numbers; choose from {able}.")
        # Two selectors of one class are two methods.
        n_alike = sum(other.partition(" (")[0] == method.name for other in methods)
        name = f"{method.name} ({n_alike + 1})" if n_alike else method.name
        methods[name] = replace(method, name=name)
    return list(methods.values())


_MEASURED = ("error_at_cost", "stability", "seconds", "optimality", "growth")
_LEGEND = {
    "stability": "agreement of the folds on the features: 0 for random ones, 1 for the same",
    "optimality": "the training objective of any as many features is at least this share of that "
    "of those chosen on all rows, for one C for each number of features",
    "growth": "upper bound on the ratio of training objectives (chosen over all features) for any "
    "labels of the rows that determine the model, with probability 0.99 or more; median of the "
    "folds; > 10: no useful bound",
}


@dataclass(frozen=True, eq=False)
class Contender:
    """How one method does with one number of features.

    Attributes
    ----------
    method : str
        Name of the method.
    size : int or None
        Number of features asked for; None for a method that finds its own, and for full data.
    n_features : float
        Number of features chosen, on average over the folds.
    performance : Performance
        How well it predicts, with confidence intervals; with C tuned by inner folds or that of the
        model, as the comparison has it.
    errors : tuple of float
        Test error of each fold: the share of wrong classes, or 1 - R² where numbers are predicted.
    seconds : float
        Median time of a selection.
    growth : float
        Upper bound on the ratio of training objectives, chosen over all features, for any labels
        of the training rows that determine the model: the median of the folds of the first
        cross-validation, with inf for a fold without a bound.
    chosen : tuple of tuple of int
        The features chosen in each fold, best first; empty for full data.
    error_at_cost : float or None
        The error at the C of the model, where C is tuned.
    stability : float
        Agreement of the choices of the folds: 0 for random ones, 1 if they are all the same; NaN
        where all features are chosen.
    optimality : float
        How close the choice on all rows is to the best: the least training objective that any as
        many features can have is at least this share of its own. All methods are compared at one C
        for each number of features. NaN if that was not computed.
    """

    method: str
    size: int | None
    n_features: float
    performance: Performance
    errors: tuple[float, ...] = field(repr=False)
    seconds: float
    growth: float
    # Hundreds of numbers for each fold are nothing to look at.
    chosen: tuple[tuple[int, ...], ...] = field(default=(), repr=False)
    error_at_cost: float | None = None
    stability: float = np.nan
    optimality: float = np.nan

    @property
    def error(self) -> float:
        """The error over all test rows."""
        return self.performance.error.value


@dataclass(frozen=True, eq=False)
class Comparison:
    """Methods compared, full data first; ``print`` shows a table.

    Attributes
    ----------
    contenders : tuple of Contender
        In the order of the methods, each by size.
    splits : Splits
        The folds.
    random_state : int
        Their seed.
    measure : {"error", "1 - R2"}
        What the errors are.
    tuned : bool
        Whether C was tuned by inner folds, for all contenders; otherwise it is that of the model.
    note : str
        Why C was not tuned, where that was asked for, and which classes are rare.

    Examples
    --------
    >>> from certifeature import compare
    >>> from certifeature.datasets import make_relevant_features
    >>> X, y = make_relevant_features(60, 200, 10, random_state=0)
    >>> found = compare(X, y, [20], methods=["bss"], cv=3, n_repeats=1)
    >>> print(str(found).splitlines()[0])
    1 × 3-fold cross-validation, with C tuned by inner folds
    >>> print(found.difference(found.contenders[1], found.contenders[0]).verdict)
    at par
    """

    contenders: tuple[Contender, ...]
    splits: Splits = field(repr=False)
    random_state: int = 0
    measure: str = "error"
    tuned: bool = False
    note: str = ""

    @classmethod
    def from_result(
        cls,
        result: CrossValidation,
        candidates: Sequence[Candidate],
        optimality: Mapping[Key, float],
        note: str | None = None,
    ) -> Self:
        """Return the comparison of some of the candidates of a cross-validation.

        Parameters
        ----------
        result : CrossValidation
            What `certifeature.evaluation.engine.cross_validate` returns, with growth.
        candidates : sequence of Candidate
            Those to compare, in this order.
        optimality : mapping of (str, int or None) to float
            What `optimality_for` returns.
        note : str, default=None
            Why C was not tuned, where that was asked for.
        """
        contenders, tuned = [], all(candidate.tuned for candidate in candidates)
        names = list(dict.fromkeys(candidate.name for candidate in candidates))
        keys = {key for candidate in candidates for key in candidate.keys}
        for name, size in sorted(keys, key=lambda key: (names.index(key[0]), key[1] or 0)):
            outcomes, chosen = result.outcomes[name, size], result.chosen(name, size)
            growths = [outcome.growth for outcome in outcomes if outcome.growth is not None]
            at_cost = [outcome.error_at_cost for outcome in outcomes]
            weights = result.splits.weights
            times = np.bincount([*chain.from_iterable(chosen)], minlength=result.n_features)
            contenders.append(
                Contender(
                    name,
                    size,
                    n_features=float(np.mean([*map(len, chosen)])),
                    performance=result.performance(name, size),
                    errors=result.errors(name, size),
                    seconds=float(np.median([outcome.seconds for outcome in outcomes])),
                    growth=float(np.median(growths)),
                    chosen=() if name == FULL_DATA else chosen,
                    error_at_cost=float(np.average(at_cost, weights=weights)) if tuned else None,
                    stability=nogueira_index(times / len(chosen), len(chosen)),
                    optimality=optimality.get((name, size), np.nan),
                )
            )
        notes = "; ".join(part for part in (note, result.splits.note) if part)
        seed, measure = result.random_state, result.measure
        return cls(tuple(contenders), result.splits, seed, measure, tuned, notes)

    def __str__(self) -> str:
        name = "error (95 % interval)" if self.measure == "error" else measure_name(self.measure)
        header = ["method", "asked", "features", name, "AUC", "stability", "seconds", "optimality"]
        rows = [
            [
                c.method,
                "" if c.size is None else str(c.size),
                f"{c.n_features:.0f}",
                c.performance.error.shown(self.measure),
                f"{c.performance.auc.value:.2f}" if c.performance.auc else "",
                "" if np.isnan(c.stability) else f"{c.stability:z.2f}",
                f"{c.seconds:.2f}",
                "" if np.isnan(c.optimality) else number(rounded_down(c.optimality)),
                shown_bound(c.growth),
            ]
            for c in self.contenders
        ]
        table = zip([*header, "growth"], *rows, strict=True)
        columns = [(name, *cells) for name, *cells in table if any(cells)]
        widths = [max(map(len, column)) for column in columns]
        lines = [
            "  ".join([name.ljust(widths[0]), *map(str.rjust, numbers, widths[1:])])
            for name, *numbers in zip(*columns, strict=True)
        ]
        lines += [f"{name}: {_LEGEND[name]}" for name, *_ in columns if name in _LEGEND]
        title = f"{self.n_repeats} × {self.n_folds}-fold cross-validation, {self.cost}"
        return "\n".join([title, *([self.note] if self.note else []), *lines])

    @property
    def n_repeats(self) -> int:
        """Number of cross-validations."""
        return self.splits.n_repeats

    @property
    def n_folds(self) -> int:
        """Number of folds in each."""
        return self.splits.n_folds

    @property
    def cost(self) -> str:
        """Which C the errors are for, in words."""
        return cost_in_words(self.tuned)

    @property
    def full(self) -> Contender | None:
        """The model on all features, if it is among the contenders."""
        return next((c for c in self.contenders if c.method == FULL_DATA), None)

    def of_size(self, size: int) -> Self:
        """Return the comparison of this number of features alone, with full data.

        Parameters
        ----------
        size : int
            Number of features asked for.
        """
        kept = tuple(c for c in self.contenders if c.size == size or c.method == FULL_DATA)
        return replace(self, contenders=kept)

    def difference(self, first: Contender, second: Contender) -> Difference:
        """Return the first error minus the second, with a confidence interval.

        Parameters
        ----------
        first, second : Contender
            Two of the contenders.
        """
        splits, errors = self.splits, (first.errors, second.errors)
        return Difference.of(*errors, splits.test_share, self.measure, splits.weights)

    def to_records(self) -> list[dict[str, Any]]:
        """Return a dict of numbers for each contender, errors with their intervals."""
        return [
            {"method": c.method, "size": c.size, "n_features": c.n_features}
            | c.performance.to_record()
            | {name: getattr(c, name) for name in _MEASURED}
            for c in self.contenders
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, fit for JSON."""
        names = ("n_repeats", "n_folds", "random_state", "measure", "tuned", "note")
        pairs = zip(self.to_records(), self.contenders, strict=True)
        contenders = [record | {"errors": list(c.errors)} for record, c in pairs]
        return {name: getattr(self, name) for name in names} | {"contenders": contenders}

    def to_frame(self) -> Any:
        """Return :meth:`to_records` as a pandas data frame, a row for each contender."""
        try:
            import pandas as pd
        except ImportError as error:
            remedy = "pip install pandas, or take to_records(), which are dicts"
            raise ImportError(f"to_frame needs pandas: {remedy}.") from error
        return pd.DataFrame(self.to_records()).astype({"size": "Int64"})

    def plot(self, ax: Axes | None = None, **kwargs: Any) -> ComparisonDisplay:
        """Plot the test errors against the number of features, a curve for each method.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw in; None makes a figure.
        **kwargs : dict
            Passed to :meth:`matplotlib.axes.Axes.plot` for the curve of each method.

        Returns
        -------
        ComparisonDisplay
            The plot. ``ComparisonDisplay(comparison, growth=True)`` draws bounds on the growth.

        Examples
        --------
        >>> import matplotlib.pyplot as plt
        >>> from certifeature import compare
        >>> from certifeature.datasets import make_relevant_features
        >>> X, y = make_relevant_features(60, 200, 10, random_state=0)
        >>> options = {"methods": ["bss", "random"], "cv": 3, "n_repeats": 1}
        >>> display = compare(X, y, [10, 30], **options).plot()
        >>> display.ax_.get_ylabel()
        'test error (%)'
        >>> plt.close(display.figure_)
        """
        from certifeature.plotting import ComparisonDisplay

        return ComparisonDisplay(self).plot(ax, **kwargs)


def compare(
    X: Any,
    y: Any,
    sizes: Sequence[int],
    *,
    methods: Sequence[Any] | None = None,
    estimator: Any = None,
    preprocessing: Any = None,
    tune: bool = True,
    cv: Any = 5,
    n_repeats: int | None = None,
    groups: Any = None,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> Comparison:
    """Cross-validate methods of feature selection on the same folds.

    In every fold each method chooses features in the training rows. A linear model that sees only
    these is tested on the other rows, and the choice is certified for the rows that
    determine the model on all features.

    Parameters
    ----------
    X : {array-like, sparse array or matrix} of shape (n_samples, n_features)
        Data.
    y : array-like of shape (n_samples,)
        Labels, or numbers for a model that predicts numbers.
    sizes : sequence of int
        Numbers of features to choose, fewer than there are.
    methods : sequence of str or selector, default=None
        Some of "bss", "subset" (`BestSubsetSelector`), "bss-paper" (BSS as published), "leverage",
        "rrqr", "rfe", "lpsvm", "l1", "univariate" and "random", or selectors with a parameter
        ``n_features_to_select``, ``max_features`` or ``k``; None takes all that have names. For a
        model that predicts numbers that is without "bss-paper", "lpsvm" and "l1", which are
        classifiers.
    estimator : estimator, default=None
        Linear model, as the selectors take it; None takes their default for these labels.
    preprocessing : transformer, default=None
        What the rows go through first, fitted to the training rows of each fold, such as a scaler,
        or a pipeline that imputes missing values and scales.
    tune : bool, default=True
        Whether C is tuned for each method, and for all features: with few features another C is
        best than with many, so that one C for all would favour some. In every fold C is the best of
        a hundredth to a hundred times that of the model, by three inner folds in which features are
        chosen anew. It takes about three times as long. Where classes have too few rows for inner
        folds, and for False, C is that of the model; ``tuned`` of the result tells which.
    cv : int, cross-validation generator or iterable, default=5
        The folds: a number of folds, which are shuffled and have the classes in equal shares, or
        what scikit-learn takes for ``cv``.
    n_repeats : int, default=None
        Number of cross-validations, each with other folds, where ``cv`` is a number. None takes ten
        for up to 200 rows, and fewer for more: 2,000 over their number.
    groups : array-like of shape (n_samples,), default=None
        Group of each row, such as a patient; a number of folds keeps the rows of a group together.
    random_state : int, default=0
        Seed of the folds and of the methods; random ones ("leverage" and "random") get another
        seed in every fold.
    n_jobs : int, default=None
        Number of processes; None takes one, and -1 all cores. The result does not depend on it.

    Returns
    -------
    Comparison
        Errors, stability, times, how close choices are to the best, and measured growth; print it,
        or see ``to_frame()``. Errors are shares of wrong classes, or 1 - R² where numbers are
        predicted.

    See Also
    --------
    certifeature.plotting.ComparisonDisplay : Plots the errors.
    certifeature.certify : The errors of one selector, on the same folds.

    Notes
    -----
    "bss" and "subset" multiply the chosen columns by one factor, which makes up for those left out;
    others do not. With C tuned that hardly counts; at the C of the model it is part of the
    difference.

    Examples
    --------
    >>> from certifeature import compare
    >>> from certifeature.datasets import make_relevant_features
    >>> X, y = make_relevant_features(60, 200, 10, random_state=0)
    >>> comparison = compare(X, y, [20], methods=["bss", "rfe"], cv=3, n_repeats=1)
    >>> [contender.method for contender in comparison.contenders]
    ['full data', 'bss', 'rfe']
    """
    model = default_model(y) if estimator is None else estimator
    check_model(model)
    model = capped(model)
    chosen, regression = methods_for(model, methods), predicts_numbers(model)
    table, y = table_and_labels(X, y, preprocessing, real_valued=regression)
    _check_sizes(sizes, table.shape[1] if preprocessing is None else np.inf)
    if preprocessing is None:
        warn_if_unscaled(as_rows(table))
    options: Any = {"regression": regression, "n_repeats": n_repeats, "groups": groups}
    splits = splits_of(y, y, cv, random_state, **options)
    problem = tuning_problem(y, splits, random_state, regression=regression) if tune else None
    options = {"tuned": tune and problem is None, "random_state": random_state}
    candidates = candidates_for(chosen, sizes, model, preprocessing=preprocessing, **options)
    run: Any = {"growth": growth_for(model), "n_jobs": n_jobs, "random_state": random_state}
    result = cross_validate(table, y, candidates, splits, **run)
    optimality = optimality_for(table, y, candidates, random_state)
    return Comparison.from_result(result, candidates, optimality, problem)


def candidates_for(
    methods: Sequence[SelectionMethod],
    sizes: Iterable[int],
    model: Any,
    *,
    preprocessing: Any = None,
    tuned: bool = False,
    random_state: int = 0,
) -> list[Candidate]:
    """Return pipelines to cross-validate: all features, and each method at each size.

    Parameters
    ----------
    methods : sequence of SelectionMethod
        How to choose.
    sizes : iterable of int
        Numbers of features, for methods that take one.
    model : estimator
        Linear model.
    preprocessing : transformer, default=None
        First step of all pipelines.
    tuned : bool, default=False
        Whether C is tuned.
    random_state : int, default=0
        Seed of the methods.
    """
    sizes = tuple(dict.fromkeys(sizes))
    made = [Candidate.of(FULL_DATA, ALL_FEATURES, model, preprocessing, tuned=tuned)]
    for method in methods:
        selector = method.make(max(sizes, default=1), clone(model), random_state)
        options: dict[str, Any] = {"sizes": (None,) if method.own_size else sizes, "tuned": tuned}
        options["draws"] = method.draws
        made.append(Candidate.of(method.name, selector, model, preprocessing, **options))
    return made


def optimality_for(
    X: Any, y: NDArray[Any], candidates: Sequence[Candidate], random_state: int = 0
) -> dict[Key, float]:
    """Return how close the choices of candidates on all rows are to the best of their size.

    It is the least training objective that any as many features can have, or less, over that of the
    choice. All choices of one size are compared at one C: that of the model for the columns that
    `BestSubsetSelector` chooses.

    Parameters
    ----------
    X, y
        Data, as `certifeature.evaluation.engine.cross_validate` takes them.
    candidates : sequence of Candidate
        Pipelines of the same transformers and model, but for the selector.
    random_state : int, default=0
        Seed of the methods that draw.
    """
    (*steps, _, (_, model)), everything = candidates[0].pipeline.steps, np.arange(len(y))
    choosing = [
        replace(
            c, pipeline=Pipeline([*c.pipeline.steps[:-1], ("model", ALL_FEATURES)]), tuned=False
        )
        for c in candidates
        if c.name != FULL_DATA
    ]
    if not choosing:
        return {}
    splits = Splits([(everything, everything)])
    result = cross_validate(X, y, choosing, splits, random_state=random_state)
    shares: dict[Key, float] = {}
    by_size: dict[int, list[Key]] = {}
    for key, (outcome,) in result.outcomes.items():
        if 0 < len(outcome.chosen) < result.n_features:
            by_size.setdefault(max(key[1] or 0, len(outcome.chosen)), []).append(key)
    if not by_size:
        return {}
    with warnings.catch_warnings():
        # They were given for the folds, if they are worth it.
        warnings.simplefilter("ignore")
        transformed = clone(Pipeline(steps)).fit_transform(X, y) if steps else X
        rows = Rows(as_rows(transformed).X, y)
        subset, sizes = selectors.BestSubsetSelector(estimator=model), sorted(by_size)
        for size, best in zip(sizes, fitted_to_sizes(subset, rows.X, y, sizes), strict=True):
            own = with_scale(model, rows.spread.size(best.indices_))
            choices = [result.outcomes[key][0].chosen for key in by_size[size]]
            shares |= zip(by_size[size], ratios_to_best(rows, own, choices), strict=True)
    return shares


def growth_for(model: Any) -> Callable[[Rows], Callable[[ColumnChoice], float]]:
    """Return what measures the growth of a model's objective on the rows that determine it.

    It is the measured growth of a certificate; inf if there is no bound.
    """
    return partial(_growth_on, model)


def _growth_on(model: Any, rows: Rows) -> Callable[[ColumnChoice], float]:
    found = find_support(rows, model)
    measurable = Measurable.of_support(found, found.kind)

    def growth(choice: ColumnChoice) -> float:
        if not choice.indices.size:
            return float(np.inf)
        if len(choice.indices) == rows.n_features and (choice.scales == 1).all():
            return 1.0
        return measurable.certificate(found.at_own_scale(choice)).measured_growth

    return growth


def _check_sizes(sizes: Any, n_features: float) -> None:
    if not isinstance(sizes, Iterable):
        raise ValueError(f"sizes={sizes!r} is one number; give a list, [{sizes!r}].")
    impossible = [size for size in sizes if not 1 <= size < n_features]
    if impossible:
        chosen = f"{impossible[0]} features cannot be chosen from {n_features}"
        raise ValueError(f"{chosen}; ask for 1 to {n_features - 1}.")
