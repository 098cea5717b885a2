"""Errors on new data, estimated by cross-validation."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

import numpy as np
from joblib import delayed
from numpy.typing import NDArray
from scipy.stats import binom
from sklearn.base import clone, is_regressor
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import r2_score
from sklearn.utils import _safe_indexing, check_array, check_consistent_length

from certifeature._resources import in_parallel, one_thread
from certifeature.evaluation.intervals import Difference, shown_error
from certifeature.evaluation.splits import Split, splits_of
from certifeature.models import default_model, fit_model
from certifeature.rows.rows import Rows, as_rows, come_in_blocks, one_dimensional
from certifeature.sparsify.choice import as_column_choice

__all__ = [
    "NewData",
    "as_sentences",
    "new_data_errors",
]


@dataclass(frozen=True)
class NewData:
    """Cross-validated errors with the chosen and with all features.

    They estimate the error on new rows of the same kind; unlike the bounds of a certificate, they
    prove nothing.

    Attributes
    ----------
    measure : {"error", "1 - R2"}
        What an error is: the share of rows with a wrong class or, of real-valued targets, 1 - R².
    n_folds, n_repeats : int
        Folds of a cross-validation, and how often it was repeated with other folds.
    n_features : int
        Features there are.
    n_selected : tuple of int
        How many were chosen in each fold.
    errors_selected, errors_full : tuple of float
        Test error of each fold with the chosen and with all features.
    error_selected, error_full : float
        Their means.
    difference : float
        ``error_selected - error_full``: above 0, all features did better.
    interval : tuple of (float, float), or None
        Confidence interval of the difference, by `corrected_interval`, that of shares within -1 and
        1. None if the difference is the same in all folds, which says nothing about how much it
        varies.
    confidence : float
        Confidence of the interval.
    test_share : float
        n_test/n_train of the folds.
    errors_shuffled : tuple of float
        Test error of each fold with features chosen for, and a model trained on, shuffled labels.
    shuffled_error : float
        Their mean.
    classes : tuple of str
        Names of the classes; none of real-valued targets.
    n_tested, n_wrong : tuple of int
        How many test rows of all folds belong to each class, and how many of them the model on the
        chosen features takes for another.
    chance_error : float
        Error without features: that of always the most frequent class or, of real-valued targets,
        of always their mean.
    """

    measure: str
    n_folds: int
    n_repeats: int
    n_features: int
    n_selected: tuple[int, ...]
    errors_selected: tuple[float, ...]
    errors_full: tuple[float, ...]
    error_selected: float
    error_full: float
    difference: float
    interval: tuple[float, float] | None
    confidence: float
    test_share: float
    errors_shuffled: tuple[float, ...]
    shuffled_error: float
    classes: tuple[str, ...]
    n_tested: tuple[int, ...]
    n_wrong: tuple[int, ...]
    chance_error: float

    @property
    def against_full(self) -> Difference:
        """The difference to all features, and how sure it is."""
        return Difference(self.difference, self.interval, self.confidence, self.measure)

    @property
    def verdict(self) -> str:
        """Which does better: "tie", "selected", "full", or "unclear" where nothing varies."""
        verdict = self.against_full.verdict
        return {"lower": "selected", "higher": "full"}.get(verdict, verdict)

    @property
    def learnt(self) -> bool:
        """Whether the error is below that of shuffled labels or of chance by more than luck.

        Few folds say little of the first. The second is a binomial test of the rows that are put
        into a wrong class, against always the most frequent one.
        """
        against = self.against_shuffled
        if against.verdict == "lower" or (against.verdict == "unclear" and against.mean < 0):
            return True
        n_rows = sum(self.n_tested) // self.n_repeats
        n_wrong = round(sum(self.n_wrong) / self.n_repeats)
        return bool(n_rows and binom.cdf(n_wrong, n_rows, self.chance_error) <= 1 - self.confidence)

    @property
    def against_shuffled(self) -> Difference:
        """The difference to shuffled labels."""
        return Difference.of(
            self.errors_selected, self.errors_shuffled, self.test_share, self.measure
        )

    @property
    def size(self) -> str:
        """How many features were chosen, in words: "100", or "80 to 120" if folds differ."""
        fewest, most = min(self.n_selected), max(self.n_selected)
        return f"{fewest}" if fewest == most else f"{fewest} to {most}"

    def shown(self, error: float) -> str:
        """Return an error as people read it: in percent, but for 1 - R².

        Parameters
        ----------
        error : float
            An error.
        """
        return shown_error(error, self.measure)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, fit for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """Return the errors that `to_dict` was called on.

        Parameters
        ----------
        values : dict
            As `to_dict` returns it; lists, as JSON has them, will do for tuples.
        """
        parts: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in values.items()
        }
        return cls(**parts)


_VERDICTS = {
    "tie": "a tie",
    "selected": "in favour of the chosen features",
    "full": "in favour of all features",
    "unclear": "which leaves open how much it varies",
}


def as_sentences(new_data: NewData | None) -> list[str]:
    """Return what was found in at most two sentences; none if nothing was.

    Parameters
    ----------
    new_data : NewData or None
        What was found.
    """
    if new_data is None:
        return []
    n = new_data
    repeats = f", {n.n_repeats} times" if n.n_repeats > 1 else ""
    name = "error" if n.measure == "error" else "1 - R²"
    return [
        f"New data, estimated by {n.n_folds}-fold cross-validation{repeats}, features chosen anew "
        f"in each fold: {name} {n.shown(n.error_selected)} with {n.size} features, "
        f"{n.shown(n.error_full)} with all {n.n_features}; difference {n.against_full} "
        f"({n.against_full.shown_interval()}), {_VERDICTS[n.verdict]}.",
        f"With shuffled labels the {name} is {n.shown(n.shuffled_error)} "
        f"(chance: {n.shown(n.chance_error)}).",
    ]


@dataclass(frozen=True, eq=False)
class _Procedure:
    """How features are chosen and a model is trained on them."""

    selector: Any
    model: Any
    scaler: Any
    max_features: int | None


@dataclass(frozen=True)
class _Outcome:
    """What one fold gave; the error with all features is None where nobody asked for it."""

    n_selected: int
    predicted: NDArray[Any]
    error_selected: float
    error_full: float | None


def new_data_errors(
    X: Any,
    y: Any,
    selector: Any,
    *,
    model: Any = None,
    cv: Any = 5,
    scaler: Any = None,
    max_features: int | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
) -> NewData:
    """Cross-validate a selection together with the model that is trained on it.

    In every fold features are chosen from the training rows alone, and the model is trained on
    these features, and on all, and tested on the rest. Then the same again with shuffled labels,
    for which the error should be about that of chance, or worse.

    Parameters
    ----------
    X : array-like, sparse array or matrix, data frame, of shape (n_samples, n_features)
        Data with all features.
    y : array-like of shape (n_samples,)
        Class labels, or real-valued targets of a model that is a regressor.
    selector : selector
        Anything with ``fit`` and ``get_support`` that scikit-learn can clone, fitted or not.
        Columns get the scales of a selector of this library, and stay as they are otherwise. What
        its parameters know of the labels, such as scores given as ``order``, is not forgotten.
    model : estimator, default=None
        Linear model; None takes that of the selectors for the number of rows.
    cv : int, cross-validation generator or iterable, default=5
        The folds: a number of folds, which are shuffled and have the classes in equal shares, or
        what scikit-learn takes for ``cv``, such as the splits of a
        `sklearn.model_selection.GroupKFold`.
    scaler : transformer, default=None
        Fitted to the training rows of each fold, before anything else. The selector then sees an
        array without names.
    max_features : int, default=None
        At most so many of the chosen features are used, best first.
    seed : int, default=0
        Seed of folds that are given by their number, and of the shuffled labels.
    n_jobs : int, default=None
        Number of processes, on which the result does not depend.

    Returns
    -------
    NewData
        Errors with the chosen and with all features, and how sure their difference is.

    Notes
    -----
    Labels are shuffled among the training rows and among the test rows of each fold, so that
    classes keep their shares.

    Shuffled labels cannot reveal a leak through the link of rows and labels: several rows of one
    patient in different folds, or features that were chosen beforehand. Give the splits of a
    `sklearn.model_selection.GroupKFold` for the first, and all features for the second.

    Examples
    --------
    >>> from certifeature import BSSSelector
    >>> from certifeature.datasets import make_relevant_features
    >>> X, y = make_relevant_features(100, 300, 20, random_state=0)
    >>> found = new_data_errors(X, y, BSSSelector(30), cv=4)
    >>> found.n_selected
    (30, 30, 30, 30)
    >>> found.error_selected < found.chance_error
    True
    """
    if come_in_blocks(X):
        raise ValueError(
            "cross-validation needs rows in memory, and these come in blocks; leave cv out, or "
            "give a sample of the rows."
        )
    if y is None:
        raise ValueError("y is None: cross-validation compares predictions with labels; pass them.")
    _check_repeatable(selector)
    regression = model is not None and is_regressor(model)
    rows = _with_targets(X, y) if regression else as_rows(X, y)
    assert rows.y is not None
    model = default_model(0) if model is None else model
    splits, n_repeats = splits_of(rows.X, rows.y, cv, seed, regression)
    # Names are known to data frames only, and a selector may want them.
    table = X if hasattr(X, "columns") and scaler is None else rows.X
    procedure = _Procedure(clone(selector), model, scaler, max_features)
    shuffled = [_shuffled(rows, split, [seed, place]) for place, split in enumerate(splits)]
    calls = [
        delayed(_outcome)(procedure, table, labelled, split, full=labelled is rows)
        for labelled, split in [
            *((rows, split) for split in splits),
            *zip(shuffled, splits, strict=True),
        ]
    ]
    outcomes = in_parallel(calls, "folds, with true and with shuffled labels", n_jobs=n_jobs)
    return _summary(rows, outcomes, splits, n_repeats, regression)


def _check_repeatable(selector: Any) -> None:
    """Raise unless features can be chosen again, from other rows."""
    if not all(hasattr(selector, name) for name in ("fit", "get_support", "get_params")):
        raise ValueError(
            f"features must be chosen anew in every fold, and {type(selector).__name__} is no "
            "selector that can do it: with columns that were chosen on all rows the error would "
            "look too good. Give a selector with fit and get_support, or leave cv out."
        )
    parameters = selector.get_params()
    frozen = any(isinstance(value, FrozenEstimator) for value in parameters.values())
    if frozen or parameters.get("prefit", False):
        raise ValueError(
            f"features must be chosen anew in every fold, and {type(selector).__name__} takes them "
            "from a model that was fitted beforehand; give the model unfitted (prefit=False), or "
            "leave cv out."
        )


def _with_targets(X: Any, y: Any) -> Rows:
    """Return rows with real numbers, which are no labels, but may be targets."""
    targets = check_array(one_dimensional(y), ensure_2d=False, dtype=np.float64, input_name="y")
    check_consistent_length(X, targets)
    return replace(as_rows(X), y=targets)


def _shuffled(rows: Rows, split: Split, seed: Sequence[int]) -> Rows:
    """Return rows whose labels are shuffled, but stay on their side of the split."""
    rng = np.random.default_rng(seed)
    assert rows.y is not None
    labels = rows.y.copy()
    for part in split:
        labels[part] = rng.permutation(labels[part])
    return replace(rows, y=labels)


def _outcome(procedure: _Procedure, table: Any, rows: Rows, split: Split, full: bool) -> _Outcome:
    """Return the errors on the test rows of a fold, of which nothing else knows."""
    # One thread, so that sums are rounded alike however many processes there are.
    with one_thread(), warnings.catch_warnings():
        # What is measured is how well the procedure does, converged or not.
        warnings.simplefilter("ignore")
        known, unseen = map(rows.take, split)
        if procedure.scaler is None:
            seen = _safe_indexing(table, split[0])
        else:
            scaler = clone(procedure.scaler).fit(known.X)
            known, unseen = (replace(r, X=scaler.transform(r.X)) for r in (known, unseen))
            seen = known.X
        selector = clone(procedure.selector).fit(seen, known.y)
        model = procedure.model
        error_full = _error(model, _predicted(model, known, unseen), unseen) if full else None
        if not selector.get_support().any():
            # Without features, the best guess is the most frequent class, or the mean.
            guess = DummyRegressor() if is_regressor(model) else DummyClassifier()
            predicted = guess.fit(known.X, known.y).predict(unseen.X)
            return _Outcome(0, predicted, _error(model, predicted, unseen), error_full)
        sample, limit = as_column_choice(selector, rows.n_features), procedure.max_features
        columns, scales = sample.indices[:limit], sample.scales[:limit]
        reduced = (part.columns(columns, scales) for part in (known, unseen))
        predicted = _predicted(model, *reduced)
        return _Outcome(len(columns), predicted, _error(model, predicted, unseen), error_full)


def _predicted(model: Any, known: Rows, unseen: Rows) -> NDArray[Any]:
    assert known.y is not None
    return np.asarray(fit_model(clone(model), known.X, known.y).predict(unseen.X))


def _error(model: Any, predicted: NDArray[Any], unseen: Rows) -> float:
    if is_regressor(model):
        return 1 - float(r2_score(unseen.y, predicted))
    return float(np.mean(predicted != unseen.y))


def _summary(
    rows: Rows,
    outcomes: Sequence[_Outcome],
    splits: Sequence[Split],
    n_repeats: int,
    regression: bool,
) -> NewData:
    true, shuffled = outcomes[: len(splits)], outcomes[len(splits) :]
    selected = np.array([outcome.error_selected for outcome in true])
    full = np.array([outcome.error_full for outcome in true], dtype=np.float64)
    by_chance = np.array([outcome.error_selected for outcome in shuffled])
    n_train, n_test = (sum(len(split[side]) for split in splits) for side in (0, 1))
    assert rows.y is not None
    most_frequent = np.unique(rows.y, return_counts=True)[1].max()
    tested = rows.y[np.concatenate([test for _, test in splits])]
    wrong = tested != np.concatenate([outcome.predicted for outcome in true])
    classes = [] if regression else np.unique(rows.y).tolist()
    measure = "1 - R2" if regression else "error"
    difference = Difference.of(selected.tolist(), full.tolist(), n_test / n_train, measure)
    return NewData(
        measure=measure,
        n_folds=len(splits) // n_repeats,
        n_repeats=n_repeats,
        n_features=rows.n_features,
        n_selected=tuple(outcome.n_selected for outcome in true),
        errors_selected=tuple(selected.tolist()),
        errors_full=tuple(full.tolist()),
        error_selected=float(selected.mean()),
        error_full=float(full.mean()),
        difference=difference.mean,
        interval=difference.interval,
        confidence=difference.confidence,
        test_share=n_test / n_train,
        errors_shuffled=tuple(by_chance.tolist()),
        shuffled_error=float(by_chance.mean()),
        classes=tuple(map(str, classes)),
        n_tested=tuple(int((tested == name).sum()) for name in classes),
        n_wrong=tuple(int(wrong[tested == name].sum()) for name in classes),
        chance_error=1.0 if regression else float(1 - most_frequent / rows.n_rows),
    )
