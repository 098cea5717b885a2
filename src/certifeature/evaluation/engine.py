"""One cross-validation of whole pipelines; errors, choices and times are views of it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations
from time import perf_counter
from typing import Any, Self

import numpy as np
from joblib import delayed
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.metrics import r2_score
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

from certifeature._utils import in_parallel, one_thread
from certifeature.evaluation.splits import N_INNER, Split, Splits, splits_of
from certifeature.models.problem import predicts_numbers
from certifeature.models.support import capped, fit_at_scale, with_numbers
from certifeature.rows.rows import Rows, as_rows, come_in_blocks
from certifeature.sparsify.choice import ColumnChoice, as_column_choice

FloatArray = NDArray[np.float64]
# Takes training rows, and returns what measures a choice of their columns.
Growth = Callable[[Rows], Callable[[ColumnChoice], float]]

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
    draws : bool
        Whether the selector gets another ``random_state`` in every fold.
    shuffled : bool
        Whether labels are shuffled, as a control.
    """

    name: str
    pipeline: Pipeline
    sizes: tuple[int | None, ...] = (None,)
    tuned: bool = False
    draws: bool = False
    shuffled: bool = False

    @classmethod
    def of(cls, name: str, selector: Any, model: Any, scaler: Any = None, **options: Any) -> Self:
        """Return the candidate for a selector and a model, and perhaps a scaler before them."""
        steps = [("scale", scaler), ("select", selector), ("model", model)]
        return cls(name, Pipeline(steps[scaler is None :]), **options)


@dataclass(frozen=True, eq=False)
class Outcome:
    """One candidate with one number of features on one split.

    Attributes
    ----------
    chosen : ndarray of shape (n_chosen,)
        Indices of the features, best first, among those that the selector gets.
    seconds : float
        Time of the selection; what several sizes share counts for each of them.
    predicted : ndarray of shape (n_test,)
        Classes, or numbers.
    error : float
        Share of wrong classes, or 1 - R² where numbers are predicted; NaN if nothing is predicted.
    score : float or None
        What the scorer returns, where there is one.
    growth : float or None
        Bound on the growth of the training objective, where it was asked for.
    """

    chosen: NDArray[np.intp]
    seconds: float
    predicted: NDArray[Any] | None = None
    error: float = np.nan
    score: float | None = None
    growth: float | None = None


@dataclass(frozen=True, eq=False)
class CrossValidation:
    """Outcomes of all candidates and sizes on all splits.

    Attributes
    ----------
    outcomes : dict of (str, int or None) to tuple of Outcome
        By name and size of the candidate; an outcome for each split.
    y : ndarray of shape (n_samples,) or None
        Labels or targets.
    splits : Splits
        The splits.
    random_state : int
        Seed of whatever was drawn.
    regression : bool
        Whether numbers were predicted, so that errors are 1 - R².
    """

    outcomes: dict[tuple[str, int | None], tuple[Outcome, ...]]
    y: NDArray[Any] | None
    splits: Splits
    random_state: int
    regression: bool

    @property
    def measure(self) -> str:
        """What the errors are: "error", the share of wrong classes, or "1 - R2"."""
        return "1 - R2" if self.regression else "error"

    def errors(self, name: str, size: int | None = None) -> tuple[float, ...]:
        """Return the test error of each split."""
        return tuple(outcome.error for outcome in self.outcomes[name, size])

    def chosen(self, name: str, size: int | None = None) -> tuple[tuple[int, ...], ...]:
        """Return the features that were chosen on each split, best first."""
        return tuple(tuple(outcome.chosen.tolist()) for outcome in self.outcomes[name, size])


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
    shares = [np.minimum(a, b).sum() / np.maximum(a, b).sum() for a, b in combinations(masks, 2)]
    return float(np.mean(shares))


def nogueira_index(masks: FloatArray) -> float:
    """Return the stability that is corrected for chance; NaN where all features are chosen."""
    frequencies, n_selections = masks.mean(axis=0), len(masks)
    share = frequencies.mean()
    if share == 1:
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
        raise ValueError("cross-validation needs rows in memory, not in blocks; give a sample.")
    if y is None:
        # The wording that scikit-learn's checks expect.
        raise ValueError("cross-validation requires y to be passed, but the target y is None.")
    rows = as_rows(X, y, **options)
    # Names are known to data frames only, and a selector may want them.
    return X if hasattr(X, "columns") else rows.X, rows


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
    keys = [(candidate.name, size) for candidate in candidates for size in candidate.sizes]
    outcomes = dict(zip(keys, zip(*found, strict=True), strict=True))
    return CrossValidation(outcomes, y, splits, random_state, run.regression)


@dataclass(frozen=True, eq=False)
class _Run:
    """All that a process needs to know to work on a split."""

    X: Any
    y: NDArray[Any] | None
    candidates: Sequence[Candidate]
    splits: Splits
    random_state: int
    growth: Growth | None
    scorer: Callable[..., float] | None

    @property
    def regression(self) -> bool:
        """Whether the candidates predict numbers."""
        return any(predicts_numbers(candidate.pipeline[-1]) for candidate in self.candidates)

    def on_split(self, place: int) -> list[Outcome]:
        """Return the outcomes of the candidates on one split, each at all of its sizes."""
        drawn = fold_seed(self.random_state, *divmod(place, self.splits.n_folds))
        # One thread, so that sums are rounded alike however many processes there are.
        with one_thread(), warnings.catch_warnings():
            # What is measured is how well a pipeline does, converged or not.
            warnings.simplefilter("ignore")
            alike: dict[Any, list[Candidate]] = {}
            for candidate in self.candidates:
                first = (id(step) for _, step in candidate.pipeline.steps[:-2])
                alike.setdefault((candidate.shuffled, *first), []).append(candidate)
            outcomes: dict[str, list[Outcome]] = {}
            # One at a time, so that the transformed rows of one fold only are in memory.
            for (shuffled, *_), candidates in alike.items():
                labels = self._shuffled(place) if shuffled else self.y
                steps, split = candidates[0].pipeline.steps[:-2], self.splits.pairs[place]
                fold = _Fold(self, (self.X, labels, self.splits.groups), split, steps)
                outcomes |= {c.name: list(fold.outcomes(c, drawn)) for c in candidates}
            return [outcome for c in self.candidates for outcome in outcomes[c.name]]

    def _shuffled(self, place: int) -> NDArray[Any]:
        """Return labels that are shuffled, but stay on their side of the split.

        Groups whose rows have one label each exchange these; otherwise labels move within groups.
        """
        rng = np.random.default_rng([self.random_state, place])
        assert self.y is not None
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
    """Training and test rows of one split, transformed by the steps before the selector."""

    def __init__(self, run: _Run, data: tuple[Any, ...], split: Split, steps: Any = ()) -> None:
        self._run, (X, y, groups) = run, data
        self._known, self._unseen = (_safe_indexing(X, part) for part in split)
        self._y, self._y_test = (None if y is None else y[part] for part in split)
        self._groups = None if groups is None else groups[split[0]]
        if steps:
            transformer = clone(Pipeline(steps))
            self._known = transformer.fit_transform(self._known, self._y)
            self._unseen = transformer.transform(self._unseen)
        self._known_choices: dict[int, dict[int | None, tuple[ColumnChoice, float]]] = {}
        # Candidates may share models and choices.
        self._predicted = cache(self._prediction)

    def outcomes(self, candidate: Candidate, drawn: int) -> Iterator[Outcome]:
        """Yield the outcome of a candidate for each of its sizes."""
        selector, model = (step for _, step in candidate.pipeline.steps[-2:])
        asked = selector, candidate.sizes, drawn if candidate.draws else None
        choices = self._choices(*asked)
        factors = self._tuned(model, *asked) if candidate.tuned else [1.0] * len(choices)
        for (choice, seconds), factor in zip(choices, factors, strict=True):
            found = {} if model == ALL_FEATURES else dict(self._predicted(model, choice, factor))
            if found and self._run.growth is not None and not candidate.shuffled:
                found["growth"] = self._growth(choice)
            yield Outcome(choice.indices, seconds, **found)

    def _choices(
        self, selector: Any, sizes: Sequence[int | None], seed: int | None
    ) -> list[tuple[ColumnChoice, float]]:
        """Return the choice of each size, best features first, and how long it took.

        Candidates with the same selector share its choices.
        """
        known = self._known_choices.setdefault(id(selector), {})
        missing = [size for size in sizes if size not in known]
        if missing:
            known.update(zip(missing, self._new_choices(selector, missing, seed), strict=True))
        return [known[size] for size in sizes]

    def _new_choices(
        self, selector: Any, sizes: Sequence[int | None], seed: int | None
    ) -> Iterator[tuple[ColumnChoice, float]]:
        start = perf_counter()
        if seed is not None:
            selector = clone(selector).set_params(random_state=seed)
        if hasattr(selector, "choices_of_sizes") and None not in sizes:
            choices = selector.choices_of_sizes(self._known, self._y, sizes)
        else:
            choices = (self._choice(selector, size) for size in sizes)
        shared = perf_counter() - start
        for _ in sizes:
            start = perf_counter()
            yield next(choices), shared + perf_counter() - start

    def _choice(self, selector: Any, size: int | None) -> ColumnChoice:
        n_features = self._known.shape[1]
        if selector == ALL_FEATURES:
            return ColumnChoice(np.arange(n_features), np.ones(n_features))
        selector, parameter = clone(selector), size_parameter(selector)
        if size is not None and parameter is not None:
            selector.set_params(**{parameter: size})
        with_numbers(selector, self._known).fit(self._known, self._y)
        if not selector.get_support().any():
            return ColumnChoice(np.empty(0, dtype=np.intp), np.empty(0))
        choice = as_column_choice(selector, n_features)
        return ColumnChoice(choice.indices[:size], choice.scales[:size])

    def _tuned(self, model: Any, *asked: Any) -> list[float]:
        """Return, for each size, what to multiply C by, as inner folds of the training rows prefer.

        Features are chosen anew in every inner fold, at the C of the model: with those chosen on
        all training rows, every C would look too good. Of equally good ones, the smallest is taken.
        """
        model = capped(model)
        errors = np.zeros((len(asked[1]), len(_FACTORS)))
        for inner in self._inner_folds:
            for row, (choice, _) in zip(errors, inner._choices(*asked), strict=True):
                # Close enough to the optimum to tell which C is good.
                found = (inner._prediction(model, choice, f, exact=False) for f in _FACTORS)
                row += [prediction["error"] for prediction in found]
        return [_FACTORS[place] for place in errors.argmin(axis=1)]

    @cached_property
    def _inner_folds(self) -> list[_Fold]:
        assert self._y is not None
        options: dict[str, Any] = {"regression": self._run.regression, "groups": self._groups}
        splits = splits_of(self._y, self._y, N_INNER, self._run.random_state, **options)
        data = self._known, self._y, self._groups
        return [_Fold(self._run, data, split) for split in splits.pairs]

    def _prediction(
        self, model: Any, choice: ColumnChoice, factor: float, *, exact: bool = True
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
            assert self._y is not None
            fitted = fit_at_scale(model, known, self._y, factor, exact=exact)
        y, scorer = self._y_test, self._run.scorer
        predicted = np.asarray(fitted.predict(unseen.X))
        error = 1 - r2_score(y, predicted) if numbers else (predicted != y).mean()
        score = None if scorer is None else float(scorer(fitted, unseen.X, y))
        return {"predicted": predicted, "error": float(error), "score": score}

    @cached_property
    def _rows(self) -> tuple[Rows, Rows]:
        """Training and test rows as the model gets them, checked."""
        return as_rows(self._known), as_rows(self._unseen)

    @cached_property
    def _growth(self) -> Callable[[ColumnChoice], float]:
        assert self._run.growth is not None
        return cache(self._run.growth(Rows(self._rows[0].X, self._y)))
