"""Errors on new data, estimated by cross-validation."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, astuple, dataclass, field
from itertools import chain
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline

from certifeature.evaluation.engine import (
    ALL_FEATURES,
    Candidate,
    CrossValidation,
    cross_validate,
    nogueira_index,
    table_and_labels,
)
from certifeature.evaluation.performance import (
    Difference,
    Performance,
    measure_name,
    performance,
    shown_error,
)
from certifeature.evaluation.splits import Splits, checked_groups, splits_of, tuning_problem
from certifeature.models.problem import default_model, predicts_numbers

# Name of the model on all features in a comparison.
FULL_DATA = "full data"
# Names of candidates: the choice, all features, and the choice for shuffled labels.
_SELECTED, _ALL, _SHUFFLED = "selected", "all features", "selected, labels shuffled"


@dataclass(frozen=True)
class NewData:
    """Performance on other rows with the chosen and with all features; ``str`` gives a verdict.

    It estimates the error on new rows of the same kind, by cross-validation or from a held-out part
    of the rows; unlike the bounds of a certificate, it proves nothing.

    Attributes
    ----------
    measure : {"error", "1 - R2"}
        What an error is: the share of rows with a wrong class or, of real-valued targets, 1 - R².
    n_folds, n_repeats : int
        Folds of a cross-validation, and how often it was repeated with other folds; 1 and 1 for a
        held-out part.
    n_groups : int or None
        Number of groups of rows that stayed together; None without groups.
    n_features : int
        Features there are.
    n_selected : tuple of int
        How many were chosen in each fold.
    times_chosen : dict of int to int
        In how many folds each feature was chosen, if in any; empty for a held-out part.
    selected, full : Performance
        Performance of the model with the chosen and with all features.
    against_full : Difference
        Error with the chosen features minus error with all of them.
    shuffled_error : float or None
        Error with features chosen for, and a model trained on, shuffled labels, at the C of the
        model, in one cross-validation; None for a held-out part.
    chance_error : float
        Error without features: that of always the most frequent class or, of real-valued targets,
        of always their mean.
    tuned : bool
        Whether C was tuned by inner folds, on training rows alone, for the chosen and for all
        features; otherwise it is that of the model.
    note : str
        Which classes have fewer rows than there are folds, if any.
    """

    measure: str
    n_folds: int
    n_repeats: int
    n_groups: int | None
    n_features: int
    n_selected: tuple[int, ...]
    times_chosen: dict[int, int] = field(repr=False)
    selected: Performance
    full: Performance
    against_full: Difference
    shuffled_error: float | None
    chance_error: float
    tuned: bool
    note: str = ""

    @classmethod
    def from_result(cls, result: CrossValidation, size: int | None = None, *, tuned: bool) -> Self:
        """Return what a cross-validation of `new_data_candidates` says.

        Parameters
        ----------
        result : CrossValidation
            Result for these candidates, and perhaps for others.
        size : int, default=None
            Number of chosen features, as the candidates have it.
        tuned : bool
            Whether C was tuned.
        """
        y, splits, chosen = result.y, result.splits, result.chosen(_SELECTED, size)
        assert y is not None
        _, counts = np.unique(y, return_counts=True)
        return cls(
            measure=result.measure,
            n_folds=splits.n_folds,
            n_repeats=splits.n_repeats,
            n_groups=None if splits.groups is None else len(np.unique(splits.groups)),
            n_features=result.n_features,
            n_selected=tuple(map(len, chosen)),
            times_chosen=dict(Counter(chain.from_iterable(chosen))),
            selected=result.performance(_SELECTED, size),
            full=result.performance(_ALL),
            against_full=result.difference((_SELECTED, size), (_ALL, None)),
            shuffled_error=float(np.mean(result.errors(_SHUFFLED, size))),
            chance_error=1.0 if result.regression else float(1 - counts.max() / len(y)),
            tuned=tuned,
            note=splits.note,
        )

    @classmethod
    def held_out(
        cls,
        y: NDArray[Any],
        selected: tuple[NDArray[Any], Any],
        full: tuple[NDArray[Any], Any],
        *,
        n_features: int,
        n_selected: int,
        groups: Any = None,
    ) -> Self:
        """Return how well two models predict the classes of a held-out part of the rows.

        Parameters
        ----------
        y : ndarray of shape (n_samples,)
            The classes.
        selected, full : tuple of ndarray
            Predictions of the model on the chosen, and on all features, and their scores for each
            class (or None), as `certifeature.evaluation.performance.performance` takes them.
        n_features, n_selected : int
            Features there are, and that were chosen.
        groups : array-like of shape (n_samples,), default=None
            Group of each row.
        """
        groups = None if groups is None else checked_groups(groups, len(y))
        splits = Splits([(np.empty(0, dtype=np.intp), np.arange(len(y)))], groups=groups)
        ours, theirs = (
            performance(y, splits, [predicted], [scores]) for predicted, scores in (selected, full)
        )
        wrong, wrong_by_all = ((predicted != y).astype(float) for predicted, _ in (selected, full))
        return cls(
            measure="error",
            n_folds=1,
            n_repeats=1,
            n_groups=None if groups is None else len(np.unique(groups)),
            n_features=n_features,
            n_selected=(n_selected,),
            times_chosen={},
            selected=ours,
            full=theirs,
            against_full=Difference.of_rows(wrong, wrong_by_all, groups),
            shuffled_error=None,
            chance_error=float(1 - np.unique(y, return_counts=True)[1].max() / len(y)),
            tuned=False,
        )

    @property
    def is_held_out(self) -> bool:
        """Whether a part of the rows was held out, instead of a cross-validation."""
        return self.n_folds == 1

    @property
    def cost(self) -> str:
        """Which C the errors are for, in words; those of shuffled labels are not tuned."""
        return cost_in_words(self.tuned)

    @property
    def better_than_chance(self) -> bool:
        """Whether the predictions are better than chance by more than luck.

        The interval of the area under the ROC curve is then above ½; where there is none, that of
        the error is below `chance_error`; of numbers, see `Performance.beats_mean`.
        """
        auc = self.selected.auc
        if self.selected.beats_mean is not None:
            return self.selected.beats_mean
        return self.selected.error.ends[1] < self.chance_error if auc is None else auc.ends[0] > 0.5

    @property
    def size(self) -> str:
        """How many features were chosen, in words: "100", or "80 to 120" if folds differ."""
        fewest, most = min(self.n_selected), max(self.n_selected)
        return f"{fewest}" if fewest == most else f"{fewest} to {most}"

    @property
    def design(self) -> str:
        """The folds, or the held-out part, in words."""
        if self.is_held_out:
            rows = f"{self.selected.n_rows:,} held-out rows"
            if self.n_groups is None:
                return rows
            return f"{rows} of {self.n_groups:,} group{'s' * (self.n_groups != 1)}"
        repeats = f"{self.n_repeats} × " if self.n_repeats > 1 else ""
        grouped = "" if self.n_groups is None else f" of {self.n_groups:,} groups of rows"
        return f"{repeats}{self.n_folds}-fold cross-validation{grouped}"

    @property
    def stability(self) -> float:
        """Agreement of the choices of the folds: 0 for random ones, 1 if they are all the same.

        It is the measure of Nogueira, Sechidis and Brown; NaN where all features are chosen, and
        for a held-out part.
        """
        if self.is_held_out:
            return float("nan")
        shares = np.zeros(self.n_features)
        n_choices = len(self.n_selected)
        shares[list(self.times_chosen)] = np.array(list(self.times_chosen.values())) / n_choices
        return nogueira_index(shares, n_choices)

    def sentences(self) -> list[str]:
        """Return the verdict: one sentence on chance, one on all features, and notes."""
        name = measure_name(self.measure)
        return [
            self._against_chance(name),
            self._against_full(name),
            *([f"Of some classes there are {self.note}."] if self.note else []),
        ]

    def __str__(self) -> str:
        return " ".join(self.sentences())

    def _against_chance(self, name: str) -> str:
        performance, chance = self.selected, self.shown(self.chance_error)
        interval = performance.error.shown(self.measure).replace("(", "(95 % interval ")
        found = f"{name} {interval}"
        if performance.n_wrong is not None:
            about = "about " if self.n_repeats > 1 else ""
            wrong = f"{about}{performance.n_wrong:.0f} of {performance.n_rows:,} rows wrong"
            found = f"{wrong}, {found}"
        if performance.auc is not None:
            auc = performance.auc
            found += "; AUC {:.2f} ({:.2f} to {:.2f})".format(*astuple(auc))
        baseline = (
            "always the most frequent class" if self.measure == "error" else "always the mean"
        )
        where = f"in {self.design}, {self.cost}, with {self.size} features"
        verdict = "Better than chance"
        if not self.better_than_chance:
            verdict = "Not shown to be better than chance, so do not rely on this choice"
        elif self.measure == "error" and performance.error.ends[1] >= self.chance_error:
            verdict = "Better than chance at ranking rows (AUC), not shown to be at naming classes"
        return f"{verdict}: {where}, {found}; {baseline} has {chance}."

    def _against_full(self, name: str) -> str:
        difference, everything = self.against_full, f"all {self.n_features:,} features"
        verdicts = {
            "at par": f"At par with {everything}",
            "lower": f"Better than {everything}",
            "higher": f"Worse than {everything}",
            "not shown": f"No difference to {everything} is shown",
        }
        full = f"these have {name} {self.shown(self.full.error.value)}"
        if self.full.auc is not None:
            full += f" and AUC {self.full.auc.value:.2f}"
        text = f"{verdicts[difference.verdict]}: {full}, difference {difference}"
        if interval := difference.shown_interval():
            text += f" ({interval})"
        if difference.verdict == "not shown" and difference.visible and self.measure == "error":
            visible = difference.signed(difference.visible).lstrip("+")
            text += f"; rows like these show a difference of {visible} points in four of five cases"
        return f"{text}."

    def shown(self, error: float) -> str:
        """Return an error as text: a percentage or, of 1 - R², R².

        Parameters
        ----------
        error : float
            An error.
        """
        return shown_error(error, self.measure)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, fit for JSON, with the verdict in words."""
        verdict = {
            "better_than_chance": self.better_than_chance,
            "against_all_features": self.against_full.verdict,
            "stability": self.stability,
            "sentences": self.sentences(),
        }
        return {"verdict": verdict, **asdict(self)}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """Return the performance that `to_dict` was called on.

        Parameters
        ----------
        values : dict
            As `to_dict` returns it; lists and texts, as JSON has them, will do for tuples and keys.
        """
        parts = {name: value for name, value in values.items() if name != "verdict"}
        parts["n_selected"] = tuple(values["n_selected"])
        parts["times_chosen"] = {int(name): n for name, n in values["times_chosen"].items()}
        for name in ("selected", "full"):
            parts[name] = Performance.from_dict(values[name])
        parts["against_full"] = Difference.from_dict(values["against_full"])
        return cls(**parts)


def cost_in_words(tuned: bool) -> str:
    """Return which C errors are for: one tuned by inner folds, or that of the model."""
    return "with C tuned by inner folds" if tuned else "at the C of the model"


def new_data_errors(
    X: Any,
    y: Any,
    selector: Any,
    *,
    model: Any = None,
    cv: Any = 5,
    n_repeats: int | None = None,
    groups: Any = None,
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
        Data with all features; values may be missing if the first step of a pipeline imputes them.
    y : array-like of shape (n_samples,)
        Class labels, or real-valued targets of a model that is a regressor.
    selector : selector or Pipeline
        Anything with ``fit`` and ``get_support`` that scikit-learn can clone, fitted or not; or a
        pipeline that ends with it, or with it and a model that is ignored, whose transformers are
        fitted to the training rows of each fold.
        Columns get the scales of a selector of this library, and stay as they are otherwise. What
        its parameters know of the labels, such as scores given as ``order``, is not forgotten.
    model : estimator, default=None
        Linear model; None is the default of `BSSSelector`.
    cv : int, cross-validation generator or iterable, default=5
        The folds: a number of folds, which are shuffled and have the classes in equal shares, or
        what scikit-learn takes for ``cv``.
    n_repeats : int, default=None
        Number of cross-validations, each with other folds, where ``cv`` is a number. None takes ten
        for up to 200 rows, and fewer for more: 2,000 over their number.
    groups : array-like of shape (n_samples,), default=None
        Group of each row, such as a patient. A number of folds then keeps the rows of a group
        together, and groups exchange their labels where these are shuffled.
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
    >>> found = new_data_errors(X, y, BSSSelector(30), cv=4, n_repeats=1)
    >>> found.n_selected
    (30, 30, 30, 30)
    >>> found.better_than_chance
    True

    Missing values are imputed inside the folds:

    >>> import numpy as np
    >>> from sklearn.impute import SimpleImputer
    >>> from sklearn.pipeline import make_pipeline
    >>> X[::7, 5] = np.nan
    >>> pipeline = make_pipeline(SimpleImputer(strategy="median"), BSSSelector(30))
    >>> new_data_errors(X, y, pipeline, cv=4, n_repeats=1).better_than_chance
    True
    """
    preprocessing = None
    if isinstance(selector, Pipeline):
        selector = up_to_selector(selector)
        preprocessing = selector[:-1] if len(selector) > 1 else None
        selector = selector[-1]
    _check_repeatable(selector)
    model = default_model(y) if model is None else model
    regression = predicts_numbers(model)
    table, y = table_and_labels(X, y, preprocessing, real_valued=regression)
    options: dict[str, Any] = {"n_repeats": n_repeats, "groups": groups, "regression": regression}
    splits = splits_of(y, y, cv, random_state, **options)
    tuned = tuning_problem(y, splits, random_state, regression=regression) is None
    candidates = new_data_candidates(selector, model, preprocessing, tuned=tuned)
    seeded: dict[str, Any] = {"random_state": random_state, "n_jobs": n_jobs}
    result = cross_validate(table, y, candidates, splits, **seeded)
    return NewData.from_result(result, tuned=tuned)


def new_data_candidates(
    selector: Any,
    model: Any,
    preprocessing: Any = None,
    *,
    tuned: bool,
    sizes: tuple[int | None, ...] = (None,),
    draws: bool = False,
) -> list[Candidate]:
    """Return what `NewData` is about: a choice, all features, and the choice for shuffled labels.

    Parameters
    ----------
    selector, model, preprocessing : selector, estimator, transformer or None
        Steps of the pipelines.
    tuned : bool
        Whether C is tuned for the true labels.
    sizes : tuple of int or None, default=(None,)
        Number of features to choose; None leaves it to the selector. Of several, each fold finds
        its own by inner folds.
    draws : bool, default=False
        Whether the selector gets another seed in every fold.
    """
    options: dict[str, Any] = {"sizes": sizes, "search": len(sizes) > 1, "draws": draws}
    # The control needs no repeats.
    control: dict[str, Any] = {"shuffled": True, "n_repeats": 1}
    return [
        Candidate.of(_SELECTED, selector, model, preprocessing, tuned=tuned, **options),
        Candidate.of(_ALL, ALL_FEATURES, model, preprocessing, tuned=tuned),
        Candidate.of(_SHUFFLED, selector, model, preprocessing, **control, **options),
    ]


def up_to_selector(pipeline: Pipeline) -> Pipeline:
    """Return a pipeline without the model that may come after its selector.

    Parameters
    ----------
    pipeline : Pipeline
        Fitted or not.
    """
    is_last = [hasattr(step, "get_support") for _, step in pipeline.steps[-2:]]
    if not any(is_last):
        names = ", ".join(type(step).__name__ for _, step in pipeline.steps)
        raise ValueError(
            f"the last steps of the pipeline ({names}) are no selector, nor a selector and a "
            "model; give the pipeline up to its selector, or the columns and X as it gets them."
        )
    return pipeline if is_last[-1] else pipeline[:-1]


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
