"""Errors on new data, estimated by cross-validation."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
from scipy.stats import binom
from sklearn.frozen import FrozenEstimator

from certifeature.evaluation.engine import (
    ALL_FEATURES,
    Candidate,
    CrossValidation,
    cross_validate,
    table_and_rows,
)
from certifeature.evaluation.intervals import CONCLUSIONS, Difference, shown_error
from certifeature.evaluation.splits import splits_of, tuning_problem
from certifeature.models.problem import default_model, predicts_numbers

# Name of the model on all features in a comparison.
FULL_DATA = "full data"
# Names of candidates: the choice, all features, and the choice for shuffled labels.
_SELECTED, _ALL, _SHUFFLED = "selected", "all features", "selected, labels shuffled"


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
    tuned : bool
        Whether C was tuned by inner folds, on training rows alone, for the chosen and for all
        features; otherwise it is that of the model. It is the latter for shuffled labels.
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
    tuned: bool
    chance_error: float

    @classmethod
    def from_result(
        cls, result: CrossValidation, n_features: int, size: int | None = None, *, tuned: bool
    ) -> Self:
        """Return what a cross-validation of `new_data_candidates` says.

        Parameters
        ----------
        result : CrossValidation
            Result for these candidates, and perhaps for others.
        n_features : int
            Number of all features.
        size : int, default=None
            Number of chosen features, as the candidates have it.
        tuned : bool
            Whether C was tuned.
        """
        y, splits, outcomes = result.y, result.splits, result.outcomes[_SELECTED, size]
        assert y is not None
        keys = ((_SELECTED, size), (_ALL, None), (_SHUFFLED, size))
        selected, full, shuffled = (result.errors(*key) for key in keys)
        difference = Difference.of(selected, full, splits.test_share, result.measure)
        classes, counts = np.unique(y, return_counts=True)
        chance_error = 1.0 if result.regression else float(1 - counts.max() / len(y))
        classes = classes[:0] if result.regression else classes
        tested = np.concatenate([y[test] for _, test in splits.pairs])
        wrong = tested != np.concatenate([outcome.predicted for outcome in outcomes])
        return cls(
            measure=result.measure,
            n_folds=splits.n_folds,
            n_repeats=splits.n_repeats,
            n_features=n_features,
            n_selected=tuple(len(outcome.chosen) for outcome in outcomes),
            errors_selected=selected,
            errors_full=full,
            error_selected=float(np.mean(selected)),
            error_full=float(np.mean(full)),
            difference=difference.mean,
            interval=difference.interval,
            confidence=difference.confidence,
            test_share=splits.test_share,
            errors_shuffled=shuffled,
            shuffled_error=float(np.mean(shuffled)),
            classes=tuple(map(str, classes.tolist())),
            n_tested=tuple(int((tested == label).sum()) for label in classes),
            n_wrong=tuple(int(wrong[tested == label].sum()) for label in classes),
            tuned=tuned,
            chance_error=chance_error,
        )

    @property
    def cost(self) -> str:
        """Which C the errors are for, in words; those of shuffled labels are not tuned."""
        return cost_in_words(self.tuned)

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
        errors = self.errors_selected, self.errors_shuffled
        return Difference.of(*errors, self.test_share, self.measure)

    @property
    def size(self) -> str:
        """How many features were chosen, in words: "100", or "80 to 120" if folds differ."""
        fewest, most = min(self.n_selected), max(self.n_selected)
        return f"{fewest}" if fewest == most else f"{fewest} to {most}"

    def shown(self, error: float) -> str:
        """Return an error as text: a percentage, or 1 - R² as it is.

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
        parts: Any = {k: tuple(v) if isinstance(v, list) else v for k, v in values.items()}
        return cls(**parts)


def cost_in_words(tuned: bool) -> str:
    """Return which C errors are for: one tuned by inner folds, or that of the model."""
    return "with C tuned by inner folds" if tuned else "at the C of the model"


def as_sentences(new_data: NewData | None) -> list[str]:
    """Return what was found in at most two sentences; none if nothing was.

    Parameters
    ----------
    new_data : NewData or None
        What was found.
    """
    n = new_data
    if n is None:
        return []
    repeats = f", {n.n_repeats} times" if n.n_repeats > 1 else ""
    name = "error" if n.measure == "error" else "1 - R²"
    return [
        f"New data, estimated by {n.n_folds}-fold cross-validation{repeats}, features chosen anew "
        f"in each fold, {n.cost}: {name} {n.shown(n.error_selected)} with {n.size} "
        f"features, {n.shown(n.error_full)} with all {n.n_features}; difference {n.against_full} "
        f"({n.against_full.shown_interval()}), {CONCLUSIONS[n.against_full.verdict]}.",
        f"With shuffled labels the {name} is {n.shown(n.shuffled_error)} "
        f"(chance: {n.shown(n.chance_error)}).",
    ]


def new_data_errors(
    X: Any,
    y: Any,
    selector: Any,
    *,
    model: Any = None,
    cv: Any = 5,
    groups: Any = None,
    scaler: Any = None,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> NewData:
    """Cross-validate a selection together with the model that is trained on it.

    In every fold features are chosen from the training rows alone, and the model is trained on
    these features, and on all, and tested on the rest. C is tuned for both, by inner folds of the
    training rows in which features are chosen anew, if classes have enough rows for these. Then the
    same again with shuffled labels, at the C of the model, for which the error should be about that
    of chance, or worse.

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
        Linear model; None is the default of `BSSSelector`.
    cv : int, cross-validation generator or iterable, default=5
        The folds: a number of folds, which are shuffled and have the classes in equal shares, or
        what scikit-learn takes for ``cv``.
    groups : array-like of shape (n_samples,), default=None
        Group of each row, such as a patient. A number of folds then keeps the rows of a group
        together, and groups exchange their labels where these are shuffled.
    scaler : transformer, default=None
        Fitted to the training rows of each fold, before anything else; it may be a pipeline.
    random_state : int, default=0
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
    patient in different folds, or features that were chosen beforehand. Give ``groups`` for the
    first, and all features for the second.

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
    _check_repeatable(selector)
    model = default_model() if model is None else model
    regression = predicts_numbers(model)
    table, rows = table_and_rows(X, y, real_valued=regression)
    assert rows.y is not None
    splits = splits_of(rows.X, rows.y, cv, random_state, regression=regression, groups=groups)
    tuned = tuning_problem(rows.y, splits, random_state, regression=regression) is None
    candidates = new_data_candidates(selector, model, scaler, tuned=tuned)
    seeded: dict[str, Any] = {"random_state": random_state, "n_jobs": n_jobs}
    result = cross_validate(table, rows.y, candidates, splits, **seeded)
    return NewData.from_result(result, rows.n_features, tuned=tuned)


def new_data_candidates(
    selector: Any,
    model: Any,
    scaler: Any = None,
    *,
    tuned: bool,
    size: int | None = None,
    draws: bool = False,
) -> list[Candidate]:
    """Return what `NewData` is about: a choice, all features, and the choice for shuffled labels.

    Parameters
    ----------
    selector, model, scaler : selector, estimator, transformer or None
        Steps of the pipelines.
    tuned : bool
        Whether C is tuned for the true labels.
    size : int, default=None
        Number of features to choose; None leaves it to the selector.
    draws : bool, default=False
        Whether the selector gets another seed in every fold.
    """
    options: dict[str, Any] = {"sizes": (size,), "draws": draws}
    return [
        Candidate.of(_SELECTED, selector, model, scaler, tuned=tuned, **options),
        Candidate.of(_ALL, ALL_FEATURES, model, scaler, tuned=tuned),
        Candidate.of(_SHUFFLED, selector, model, scaler, shuffled=True, **options),
    ]


def _check_repeatable(selector: Any) -> None:
    """Raise unless features can be chosen again, from other rows."""
    anew = f"features must be chosen anew in every fold, and {type(selector).__name__}"
    if not all(hasattr(selector, name) for name in ("fit", "get_support", "get_params")):
        raise ValueError(
            f"{anew} is no selector that can do it; for columns chosen on all rows the error would "
            "look too good. Give a selector with fit and get_support, or leave cv out."
        )
    parameters = selector.get_params()
    frozen = any(isinstance(value, FrozenEstimator) for value in parameters.values())
    if frozen or parameters.get("prefit", False):
        raise ValueError(
            f"{anew} takes them from a model that was fitted beforehand; give the model unfitted "
            "(prefit=False), or leave cv out."
        )
