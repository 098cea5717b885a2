"""One cross-validation of whole pipelines; errors, choices and times are views of it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import chain
from time import perf_counter
from typing import Any, Self

import numpy as np
from joblib import delayed
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial.distance import pdist
from sklearn.base import clone
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import has_fit_parameter

from certifeature._utils import FloatArray, in_parallel, one_thread
from certifeature.evaluation.performance import Difference, Performance, performance
from certifeature.evaluation.splits import N_INNER, N_SEARCH, Split, Splits, splits_of
from certifeature.models.problem import predicts_numbers
from certifeature.models.support import capped, fit_at_scale, with_numbers
from certifeature.rows.rows import Rows, as_rows, come_in_blocks
from certifeature.sparsify.choice import ColumnChoice, as_column_choice

# Takes training rows, and returns what measures a choice of their columns.
Growth = Callable[[Rows], Callable[[ColumnChoice], float]]
# Name and number of features of a candidate.
Key = tuple[str, int | None]

# In place of a selector, all features are kept; in place of a model, nothing is predicted.
ALL_FEATURES = "passthrough"
# C is tuned among these multiples of that of the model.
_FACTORS = (0.01, 0.1, 1.0, 10.0, 100.0)


@dataclass(frozen=True, eq=False)
class Candidate:
    """A pipeline to cross-validate, at one or several numbers of features.

    Attributes
    ----------
    name : str
        Name of the candidate.
    pipeline : Pipeline
        Its last step is a linear model, the step before it a selector; "passthrough" keeps all
        features, or predicts nothing. Pipelines that hold the same transformers before these
        steps share their fits.
    sizes : tuple of int or None
        Numbers of features, which share a fit where the selector has ``choices_of_sizes``. None
        leaves the number to the selector. Where a selector finds its own number, only so many of
        its features are used, best first.
    tuned : bool
        Whether C is tuned by inner folds, for each size its own; otherwise it is that of the model.
    search : bool
        Whether the number of features is one of the sizes too, that inner folds find with C; see
        `search_size`. There is one outcome then, for the size None.
    draws : bool
        Whether the selector gets another ``random_state`` in every fold.
    shuffled : bool
        Whether labels are shuffled, as a control.
    n_repeats : int or None
        In how many of the repeated cross-validations it takes part; None is all of them.
    """

    name: str
    pipeline: Pipeline
    sizes: tuple[int | None, ...] = (None,)
    tuned: bool = False
    search: bool = False
    draws: bool = False
    shuffled: bool = False
    n_repeats: int | None = None

    @classmethod
    def of(
        cls, name: str, selector: Any, model: Any, preprocessing: Any = None, **options: Any
    ) -> Self:
        """Return the candidate for a selector, a model, and perhaps a transformer before them."""
        steps = [("preprocess", preprocessing), ("select", selector), ("model", model)]
        return cls(name, Pipeline(steps[preprocessing is None :]), **options)

    @property
    def keys(self) -> list[Key]:
        """Name and size of each of its outcomes."""
        return [(self.name, size) for size in ((None,) if self.search else self.sizes)]


@dataclass(frozen=True, eq=False)
class Outcome:
    """One candidate with one number of features on one split.

    Attributes
    ----------
    chosen : ndarray of shape (n_chosen,)
        IntArray of the features, best first, among those that the selector gets.
    seconds : float
        Time of the selection; what several sizes share counts for each of them.
    predicted : ndarray of shape (n_test,)
        Classes, or numbers.
    scores : ndarray of shape (n_test, n_classes) or None
        How much each row seems to belong to each class, in sorted order.
    error : float
        Share of wrong classes, or 1 - R² where numbers are predicted, with the variance of all
        targets; NaN if nothing is predicted.
    error_at_cost : float
        The same at the C of the model, where C is tuned.
    score : float or None
        What the scorer returns, where there is one.
    growth : float or None
        Bound on the growth of the training objective, where it was asked for.
    """

    chosen: NDArray[np.intp]
    seconds: float
    predicted: NDArray[Any] | None = None
    scores: FloatArray | None = None
    error: float = np.nan
    error_at_cost: float = np.nan
    score: float | None = None
    growth: float | None = None


@dataclass(frozen=True, eq=False)
class CrossValidation:
    """Outcomes of all candidates and sizes on all splits.

    Attributes
    ----------
    outcomes : dict of (str, int or None) to tuple of Outcome
        By name and size of the candidate; an outcome for each split that it takes part in.
    y : ndarray of shape (n_samples,) or None
        Labels or targets.
    splits : Splits
        The splits.
    random_state : int
        Seed of whatever was drawn.
    regression : bool
        Whether numbers were predicted, so that errors are 1 - R².
    n_features : int
        Number of features that the selectors choose from.
    """

    outcomes: dict[Key, tuple[Outcome, ...]]
    y: Any
    splits: Splits
    random_state: int
    regression: bool
    n_features: int

    @property
    def measure(self) -> str:
        """What the errors are: "error", the share of wrong classes, or "1 - R2"."""
        return "1 - R2" if self.regression else "error"

    @property
    def first(self) -> Self:
        """The first of the repeated cross-validations, which all candidates take part in."""
        n_folds = self.splits.n_folds
        outcomes = {key: of_key[:n_folds] for key, of_key in self.outcomes.items()}
        splits = replace(self.splits, pairs=self.splits.pairs[:n_folds], n_repeats=1)
        return replace(self, outcomes=outcomes, splits=splits)

    def errors(self, name: str, size: int | None = None) -> tuple[float, ...]:
        """Return the test error of each split."""
        return tuple(outcome.error for outcome in self.outcomes[name, size])

    def chosen(self, name: str, size: int | None = None) -> tuple[tuple[int, ...], ...]:
        """Return the features that were chosen on each split, best first."""
        return tuple(tuple(outcome.chosen.tolist()) for outcome in self.outcomes[name, size])

    def difference(self, first: Key, second: Key) -> Difference:
        """Return the error of one candidate minus that of another, by their names and sizes."""
        errors, splits = (self.errors(*first), self.errors(*second)), self.splits
        return Difference.of(*errors, splits.test_share, self.measure, splits.weights)

    def performance(self, name: str, size: int | None = None) -> Performance:
        """Return how well a candidate predicts, with confidence intervals."""
        outcomes = self.outcomes[name, size]
        predicted: Any = [outcome.predicted for outcome in outcomes]
        scores = [outcome.scores for outcome in outcomes]
        return performance(self.y, self.splits, predicted, scores, regression=self.regression)


def masks_of(chosen: Sequence[Any], n_features: int) -> FloatArray:
    """Return selections, given by their indices, as rows of 0 and 1.

    The mean over the rows is the selection frequency of each feature.
    """
    masks = np.zeros((len(chosen), n_features))
    for mask, indices in zip(masks, chosen, strict=True):
        mask[list(indices)] = 1
    return masks


def jaccard_index(masks: FloatArray) -> float:
    """Return the mean of |A ∩ B|/|A ∪ B| over pairs of selections, which are rows of 0 and 1."""
    return float(1 - pdist(masks > 0, "jaccard").mean())


def nogueira_index(frequencies: FloatArray, n_selections: int) -> float:
    """Return the stability that is corrected for chance; NaN of one choice, of all and of none."""
    share = frequencies.mean()
    if n_selections == 1 or share in (0, 1):
        return float("nan")
    spread = n_selections / (n_selections - 1) * np.mean(frequencies * (1 - frequencies))
    return float(1 - spread / (share * (1 - share)))


def fold_seed(random_state: int, repeat: int, fold: int, draw: int = 0) -> int:
    """Return the seed of a random method on one fold."""
    return int(np.random.SeedSequence([random_state, repeat, fold, draw]).generate_state(1)[0] >> 1)


def size_parameter(selector: Any) -> str | None:
    """Return the parameter that sets the number of features, if a selector has one."""
    known = selector.get_params(deep=False)
    names = ("n_features_to_select", "max_features", "k")
    return next((name for name in names if name in known), None)


def table_and_rows(X: Any, y: Any, **options: Any) -> tuple[Any, Rows]:
    """Return data that can be split, and the same as rows that are checked.

    Parameters
    ----------
    X, y
        Data with labels, or targets.
    **options : dict
        Passed to `certifeature.rows.rows.as_rows`.
    """
    if come_in_blocks(X):
        raise ValueError(
            "cross-validation needs rows in memory, not in blocks or a Dask collection; give a "
            "sample of the rows, such as X[:1000].compute()."
        )
    if y is None:
        # The wording that scikit-learn's checks expect.
        raise ValueError("cross-validation requires y to be passed, but the target y is None.")
    rows = as_rows(X, y, **options)
    # Names are known to data frames only, and a selector may want them.
    return X if hasattr(X, "columns") else rows.X, rows


def table_and_labels(
    X: Any, y: Any, preprocessing: Any = None, *, real_valued: bool
) -> tuple[Any, NDArray[Any]]:
    """Return data that can be split, checked unless they are preprocessed first, and labels.

    Parameters
    ----------
    X, y
        Data with labels, or targets.
    preprocessing : transformer, default=None
        What turns X into numbers; it may impute missing values, or encode categories.
    real_valued : bool
        Whether y holds targets.
    """
    if preprocessing is not None and not come_in_blocks(X):
        if sparse.issparse(X):
            X = X.tocsr()
        elif not hasattr(X, "columns"):
            X = np.asarray(X)
        _, rows = table_and_rows(np.zeros((X.shape[0], 1)), y, real_valued=real_valued)
    else:
        X, rows = table_and_rows(X, y, real_valued=real_valued)
    return X, rows.labels


@dataclass(frozen=True, eq=False)
class SizeSearch:
    """Errors of several numbers of features in folds, with C tuned for each.

    Attributes
    ----------
    sizes : tuple of int
        Numbers of features, in ascending order.
    errors : ndarray of shape (n_sizes, n_folds)
        Test errors at the best C of each size.
    factors : ndarray of shape (n_sizes,)
        What the C of the model is multiplied by for it.
    """

    sizes: tuple[Any, ...]
    errors: FloatArray
    factors: FloatArray

    @property
    def means(self) -> FloatArray:
        """Mean error of each size."""
        return np.asarray(self.errors.mean(axis=1))

    @property
    def standard_error(self) -> float:
        """Standard error of the lowest mean."""
        errors = self.errors[int(self.means.argmin())]
        # One fold has no deviation.
        return float(errors.std() / np.sqrt(max(len(errors) - 1, 1)))

    @property
    def place(self) -> int:
        """Place of the size that is chosen, the first within one standard error of the best."""
        means = self.means
        return int(np.flatnonzero(means <= means.min() + self.standard_error)[0])

    @property
    def size(self) -> int:
        """The size that is chosen."""
        return int(self.sizes[self.place])

    @property
    def best(self) -> int:
        """The size of the lowest mean, of equal ones the smallest."""
        return int(self.sizes[int(self.means.argmin())])


def cross_validate(
    X: Any,
    y: NDArray[Any] | None,
    candidates: Sequence[Candidate],
    splits: Splits,
    *,
    random_state: int = 0,
    n_jobs: int | None = None,
    growth: Growth | None = None,
    scorer: Callable[..., float] | None = None,
) -> CrossValidation:
    """Fit every candidate to the training rows of each split, and predict the test rows.

    Each pipeline is fitted anew on each split, once for all of its sizes where its selector allows
    it; nothing is learnt from test rows. The candidates of a split run in one process, one after
    the other, so that they can share what they have in common.

    Parameters
    ----------
    X : ndarray, sparse array or matrix, data frame, of shape (n_samples, n_features)
        Data that were checked, as far as the pipelines do not do it.
    y : ndarray of shape (n_samples,) or None
        Labels or targets; None where nothing is predicted.
    candidates : sequence of Candidate
        What to cross-validate.
    splits : Splits
        Training and test rows.
    random_state : int, default=0
        Seed of inner folds, shuffled labels, and selectors that draw.
    n_jobs : int, default=None
        Number of processes, on which the result does not depend.
    growth : callable, default=None
        Takes training rows, as the selectors get them, and returns a function that takes a choice
        and returns a bound on the growth of the objective.
    scorer : callable, default=None
        Scorer of scikit-learn.
    """
    run = _Run(X, y, candidates, splits, random_state, growth, scorer)
    calls = [delayed(run.on_split)(place) for place in range(len(splits.pairs))]
    found = in_parallel(calls, "folds", n_jobs=n_jobs)
    keys = [key for candidate in candidates for key in candidate.keys]
    outcomes = {key: tuple(part[key] for _, part in found if key in part) for key in keys}
    return CrossValidation(outcomes, y, splits, random_state, run.regression, found[0][0])


def search_size(
    X: Any,
    y: NDArray[Any],
    candidate: Candidate,
    *,
    groups: NDArray[Any] | None = None,
    random_state: int = 0,
) -> SizeSearch:
    """Find a number of features on all rows, as a candidate with ``search`` does in each fold.

    The size is the smallest one whose mean error over five folds is within one standard error of
    the lowest, with C tuned for each size. The transformers before the selector are fitted to the
    training rows of each fold.

    Parameters
    ----------
    X, y : ndarray, sparse array or matrix, data frame
        Rows with labels or targets, as `cross_validate` takes them.
    candidate : Candidate
        A pipeline with several sizes.
    groups : ndarray of shape (n_samples,), default=None
        Group of each row.
    random_state : int, default=0
        Seed of the folds.
    """
    run = _Run(X, y, [candidate], Splits([], groups=groups), random_state)
    everything = np.arange(len(y)), np.empty(0, dtype=np.intp)
    fold = _Fold(run, y, everything, [candidate], random_state)
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fold.search(candidate)


@dataclass(frozen=True, eq=False)
class _Run:
    """All that a process needs to know to work on a split."""

    X: Any
    y: Any
    candidates: Sequence[Candidate]
    splits: Splits
    random_state: int
    growth: Growth | None = None
    scorer: Callable[..., float] | None = None

    @property
    def regression(self) -> bool:
        """Whether the candidates predict numbers."""
        return any(predicts_numbers(candidate.pipeline[-1]) for candidate in self.candidates)

    def error(self, y: NDArray[Any], predicted: NDArray[Any]) -> float:
        """Return the share of wrong classes, or 1 - R² with the variance of all targets."""
        if not self.regression:
            return float((predicted != y).mean())
        deviations = np.abs(self.y - self.y.mean())
        # Squares must not overflow.
        scale = deviations.max()
        return float((((predicted - y) / scale) ** 2).mean() / ((deviations / scale) ** 2).mean())

    def on_split(self, place: int) -> tuple[int, dict[Key, Outcome]]:
        """Return the number of features, and the outcomes of the candidates on one split."""
        repeat, fold_number = divmod(place, self.splits.n_folds)
        drawn = fold_seed(self.random_state, repeat, fold_number)
        taking_part = [c for c in self.candidates if c.n_repeats is None or repeat < c.n_repeats]
        # One thread, so that sums are rounded alike however many processes there are.
        with one_thread(), warnings.catch_warnings():
            # What is measured is how well a pipeline does, converged or not.
            warnings.simplefilter("ignore")
            alike: dict[Any, list[Candidate]] = {}
            for candidate in taking_part:
                first = (id(step) for _, step in candidate.pipeline.steps[:-2])
                alike.setdefault((candidate.shuffled, *first), []).append(candidate)
            outcomes: dict[Key, Outcome] = {}
            # One at a time, so that the transformed rows of one fold only are in memory.
            for (shuffled, *_), candidates in alike.items():
                labels = self._shuffled(place) if shuffled else self.y
                fold = _Fold(self, labels, self.splits.pairs[place], candidates, drawn)
                for candidate in candidates:
                    # Bounds are hardly worth computing again on nearly the same rows.
                    found = fold.outcomes(candidate, growth=repeat == 0 and not shuffled)
                    outcomes |= zip(candidate.keys, found, strict=True)
            return fold.n_features, outcomes

    def _shuffled(self, place: int) -> NDArray[Any]:
        """Return labels that are shuffled, but stay on their side of the split.

        Groups whose rows have one label each exchange these; otherwise labels move within groups.
        """
        rng = np.random.default_rng([self.random_state, place])
        labels, groups = self.y.copy(), self.splits.groups
        for part in self.splits.pairs[place]:
            own = self.y[part]
            keys = np.arange(len(part)) if groups is None else groups[part]
            _, first, group = np.unique(keys, return_index=True, return_inverse=True)
            if (own == own[first][group]).all():
                labels[part] = rng.permutation(own[first])[group]
            else:
                order = rng.permutation(len(part))
                order = order[np.argsort(group[order], kind="stable")]
                labels[part[np.argsort(group, kind="stable")]] = own[order]
        return labels


class _Fold:
    """One split of the rows, and the steps before the selector, fitted to its training rows."""

    def __init__(
        self, run: _Run, y: Any, split: Split, candidates: Sequence[Candidate], seed: int
    ) -> None:
        self._run, self._labels, self._split = run, y, split
        self._candidates, self._seed = candidates, seed
        parts: Any = [None if y is None else y[part] for part in split]
        self._y, self._y_test = parts
        groups = run.splits.groups
        self._groups = None if groups is None else groups[split[0]]
        # Candidates may share models and choices.
        self._chosen, self._predicted = cache(self._choices), cache(self._prediction)
        self._inner_folds = cache(self._new_inner_folds)

    @cached_property
    def _transformed(self) -> tuple[Any, Any]:
        """Training and test rows as the selector gets them."""
        known, unseen = (_safe_indexing(self._run.X, part) for part in self._split)
        steps = self._candidates[0].pipeline.steps[:-2]
        if not steps:
            return known, unseen
        transformer = clone(Pipeline(steps))
        return transformer.fit_transform(known, self._y), transformer.transform(unseen)

    @property
    def n_features(self) -> int:
        """Number of features that there are to choose from."""
        return int(self._transformed[0].shape[1])

    def outcomes(self, candidate: Candidate, *, growth: bool) -> Iterator[Outcome]:
        """Yield the outcome of a candidate for each of its sizes, or for the one that it finds."""
        selector, model = (step for _, step in candidate.pipeline.steps[-2:])
        sizes, factors = candidate.sizes, np.ones(len(candidate.sizes))
        if candidate.search or candidate.tuned:
            search = self.search(candidate)
            factors = search.factors
            if candidate.search:
                sizes, factors = (search.size,), factors[[search.place]]
        for size, factor in zip(sizes, factors, strict=True):
            choice, seconds = self._chosen(selector, candidate.draws)[size]
            found = {} if model == ALL_FEATURES else dict(self._predicted(model, choice, factor))
            if found and candidate.tuned:
                found["error_at_cost"] = self._predicted(model, choice, 1.0)["error"]
            if found and growth and self._run.growth is not None:
                found["growth"] = self._growth(choice)
            yield Outcome(choice.indices, seconds, **found)

    def _choices(self, selector: Any, draws: bool) -> dict[Any, tuple[ColumnChoice, float]]:
        """Return the choices of a selector, best features first, and how long each took.

        All sizes are chosen at once that candidates with this selector ask for.
        """
        sharing = (c.sizes for c in self._candidates if c.pipeline[-2] is selector)
        sizes = list(dict.fromkeys(chain.from_iterable(sharing)))
        start, (known, _) = perf_counter(), self._transformed
        if draws:
            selector = clone(selector).set_params(random_state=self._seed)
        if hasattr(selector, "choices_of_sizes") and None not in sizes:
            choices = selector.choices_of_sizes(known, self._y, sizes)
        else:
            choices = (self._choice(selector, size) for size in sizes)
        shared, found = perf_counter() - start, {}
        for size in sizes:
            start = perf_counter()
            found[size] = next(choices), shared + perf_counter() - start
        return found

    def _choice(self, selector: Any, size: int | None) -> ColumnChoice:
        n_features, (known, _) = self.n_features, self._transformed
        if selector == ALL_FEATURES:
            return ColumnChoice(np.arange(n_features), np.ones(n_features))
        selector, parameter = clone(selector), size_parameter(selector)
        if size is not None and parameter is not None:
            selector.set_params(**{parameter: size})
        grouped = self._groups is not None and has_fit_parameter(selector, "groups")
        options: dict[str, Any] = {"groups": self._groups} if grouped else {}
        with_numbers(selector, known).fit(known, self._y, **options)
        if not selector.get_support().any():
            return ColumnChoice(np.empty(0, dtype=np.intp), np.empty(0))
        choice = as_column_choice(selector, n_features)
        return ColumnChoice(choice.indices[:size], choice.scales[:size])

    def search(self, candidate: Candidate) -> SizeSearch:
        """Return what inner folds of the training rows say about the sizes and C of a candidate.

        Features are chosen anew in every inner fold, at the C of the model: with those chosen on
        all training rows, every C would look too good.
        """
        selector, model = (step for _, step in candidate.pipeline.steps[-2:])
        sizes, model = candidate.sizes, capped(model)
        tried = np.array(_FACTORS if candidate.tuned else (1.0,))
        folds = self._inner_folds(N_SEARCH if candidate.search else N_INNER)
        errors = np.empty((len(folds), len(sizes), len(tried)))
        for of_fold, fold in zip(errors, folds, strict=True):
            choices = fold._chosen(selector, candidate.draws)
            for row, size in zip(of_fold, sizes, strict=True):
                choice, _ = choices[size]
                row[:] = [fold._prediction(model, choice, f, scored=False)["error"] for f in tried]
        best = errors.mean(axis=0).argmin(axis=1)
        return SizeSearch(sizes, errors[:, np.arange(len(sizes)), best].T, tried[best])

    def _new_inner_folds(self, n_folds: int) -> list[_Fold]:
        options: dict[str, Any] = {"regression": self._run.regression, "groups": self._groups}
        splits = splits_of(self._y, self._y, n_folds, self._run.random_state, **options)
        rows = self._split[0]
        inner = ((rows[train], rows[test]) for train, test in splits.pairs)
        own = self._candidates, self._seed
        return [_Fold(self._run, self._labels, split, *own) for split in inner]

    def _prediction(
        self, model: Any, choice: ColumnChoice, factor: float, *, scored: bool = True
    ) -> dict[str, Any]:
        """Return what an outcome knows of the predictions for the test rows."""
        columns, scales = choice.indices, choice.scales
        known, unseen = self._rows
        numbers = predicts_numbers(model)
        if not len(columns):
            # Without features, the best guess is the mean, or the most frequent class.
            guess: Any = DummyRegressor() if numbers else DummyClassifier()
            fitted = guess.fit(known.X, self._y)
        else:
            if len(columns) < known.n_features or (scales != 1).any():
                known, unseen = (rows.columns(columns, scales) for rows in self._rows)
            fitted = fit_at_scale(model, known, self._y, factor)
        predicted = np.asarray(fitted.predict(unseen.X))
        found: dict[str, Any] = {"error": self._run.error(self._y_test, predicted)}
        if not scored:
            return found
        if not numbers:
            found["scores"] = class_scores(fitted, unseen.X, np.unique(self._run.y))
        if self._run.scorer is not None:
            found["score"] = float(self._run.scorer(fitted, unseen.X, self._y_test))
        return found | {"predicted": predicted}

    @cached_property
    def _rows(self) -> tuple[Rows, Rows]:
        """Training and test rows as the model gets them, checked."""
        known, unseen = self._transformed
        return as_rows(known), as_rows(unseen)

    @cached_property
    def _growth(self) -> Callable[[ColumnChoice], float]:
        assert self._run.growth is not None
        return cache(self._run.growth(Rows(self._rows[0].X, self._y)))


def class_scores(fitted: Any, X: Any, classes: NDArray[Any]) -> FloatArray | None:
    """Return how much rows seem to belong to each class; NaN for those that the model lacks."""
    if not hasattr(fitted, "decision_function"):
        # A guess is the same for all rows.
        return np.zeros((X.shape[0], len(classes)))
    scores = np.asarray(fitted.decision_function(X))
    if scores.ndim == 1:
        scores = np.column_stack([-scores, scores])
    if scores.shape[1] != len(fitted.classes_):
        # There is a score for each pair of classes.
        return None
    known = np.full((X.shape[0], len(classes)), np.nan)
    known[:, np.searchsorted(classes, fitted.classes_)] = scores
    return known
