"""Splits of the rows into training and test rows."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import model_selection
from sklearn.model_selection import check_cv

# Inner folds that C is tuned by, and those that also search for the number of features.
N_INNER, N_SEARCH = 3, 5
# Models of different folds share training rows, and those of new data would not. By simulation
# (benchmarks/intervals.py), n errors vary as much as those of this share of n independent rows.
_INDEPENDENT = 2 / 3
# Most repeats of a cross-validation, and number of rows tested in all repeats together.
_MAX_REPEATS, _N_TESTED = 10, 2000
# Rare classes that are named.
_N_SHOWN = 5
# Training rows, and test rows.
Split = tuple[NDArray[np.intp], NDArray[np.intp]]


@dataclass(frozen=True, eq=False)
class Splits:
    """The splits of one or several cross-validations.

    Attributes
    ----------
    pairs : sequence of tuple of ndarray
        Training rows and test rows of each split, those of one cross-validation after the other.
    n_repeats : int
        Number of cross-validations.
    groups : ndarray or None
        Group of each row, where no group is on both sides of a split.
    note : str
        Which classes have fewer rows than there are folds, if any.
    """

    pairs: Sequence[Split]
    n_repeats: int = 1
    groups: NDArray[Any] | None = None
    note: str = ""

    @property
    def n_folds(self) -> int:
        """Number of splits of each cross-validation."""
        return len(self.pairs) // self.n_repeats

    @property
    def independent(self) -> float:
        """How many independent rows a test row is worth: one if there is one split only."""
        return 1.0 if self.n_folds == 1 else _INDEPENDENT

    @property
    def weights(self) -> list[int]:
        """Number of test rows of each split."""
        return [len(test) for _, test in self.pairs]

    @property
    def test_share(self) -> float:
        """n_test/n_train, over all splits: 1/(k - 1) for k folds."""
        n_train, n_test = (sum(len(split[side]) for split in self.pairs) for side in (0, 1))
        return n_test / n_train


def splits_of(
    X: Any,
    y: NDArray[Any],
    cv: Any,
    random_state: int,
    *,
    regression: bool,
    n_repeats: int | None = 1,
    groups: Any = None,
) -> Splits:
    """Return the splits for ``cv``, or raise if they cannot be made as asked.

    Parameters
    ----------
    X : {ndarray, sparse array or matrix} of shape (n_samples, n_features)
        Rows.
    y : ndarray of shape (n_samples,)
        Their labels or targets.
    cv : int, cross-validation generator or iterable
        Number of folds, which are shuffled and have the classes in equal shares; or splits, as
        scikit-learn takes them. Where a class has fewer rows than there are folds, some folds
        test none of it.
    random_state : int
        Seed for folds that are given by their number.
    regression : bool
        Whether there are targets instead of labels.
    n_repeats : int or None, default=1
        Number of cross-validations, for folds that are given by their number. None takes ten for up
        to 200 rows (or groups of rows), and fewer for more: 2,000 over their number.
    groups : array-like of shape (n_samples,), default=None
        Group of each row, such as a patient; the rows of a group stay together.
    """
    classes = np.unique(y)
    if not regression and len(classes) < 2:
        raise ValueError(f"y has one class only, {classes.tolist()[0]!r}; pass two or more.")
    if regression and len(classes) < 2:
        raise ValueError(f"all targets are {classes[0]:g}, so there is no R²; pass others.")
    groups = None if groups is None else checked_groups(groups, len(y))
    note = ""
    if isinstance(cv, Integral):
        units = np.arange(len(y)) if groups is None else groups
        note = _check_n_folds(y, units, int(cv), regression)
        if n_repeats is None:
            n_repeats = min(_MAX_REPEATS, max(1, _N_TESTED // len(np.unique(units))))
        name = f"{'' if regression else 'Stratified'}{'' if groups is None else 'Group'}KFold"
        kind, seeds = getattr(model_selection, name), _seeds(random_state, n_repeats)
        splitters = [kind(int(cv), shuffle=True, random_state=seed) for seed in seeds]
    elif n_repeats not in (None, 1):
        repeated = f"n_repeats={n_repeats} repeats a number of folds, and cv={cv!r} is none"
        raise ValueError(f"{repeated}; give RepeatedStratifiedKFold, or the like.")
    else:
        splitters = [check_cv(cv, y, classifier=not regression)]
        n_repeats = int(getattr(splitters[0], "n_repeats", 1))
    places = np.arange(len(y))
    with warnings.catch_warnings():
        # Classes with fewer rows than folds are in the note.
        warnings.filterwarnings("ignore", message="The least populated class")
        # Splits may be indices or masks.
        pairs = [
            (places[train], places[test])
            for splitter in splitters
            for train, test in splitter.split(X, y, groups)
        ]
    if len(pairs) < 2:
        raise ValueError(f"cv={cv!r} splits the rows once at most; an interval needs two splits.")
    for number, split in enumerate(pairs, start=1):
        _check_split(y, groups, split, number, regression)
    return Splits(pairs, n_repeats, groups, note)


def checked_groups(groups: Any, n_rows: int) -> NDArray[Any]:
    """Return the number of the group of each row.

    Parameters
    ----------
    groups : array-like of shape (n_samples,)
        Numbers, texts, or both.
    n_rows : int
        Number of rows.
    """
    known = np.asarray(groups)
    if known.shape != (n_rows,):
        raise ValueError(f"groups has shape {known.shape}; give a group for each of {n_rows} rows.")
    names = known.tolist()
    for row, name in enumerate(names):
        if name is None or name != name or name == "":
            raise ValueError(f"row {row} has no group; give each row one, its own if it is alone.")
    # Numbers and texts may be mixed, and have no order.
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return np.array([numbers[name] for name in names])


def _seeds(random_state: int, n_repeats: int) -> list[int]:
    """Return the seeds for the folds of each cross-validation; the first keeps its own."""
    drawn = (np.random.SeedSequence([random_state, repeat]) for repeat in range(1, n_repeats))
    return [random_state, *(int(seed.generate_state(1)[0]) for seed in drawn)]


def _check_n_folds(y: NDArray[Any], units: NDArray[Any], n_folds: int, regression: bool) -> str:
    """Raise if there are too many folds; return which classes have fewer rows than folds."""
    if n_folds < 2:
        raise ValueError(f"cv={n_folds} folds are too few; ask for at least 2.")
    n_units = len(np.unique(units))
    grouped = n_units < len(y)
    labels, counts = np.unique(y, return_counts=True)
    if grouped and n_folds > n_units:
        most, reason, remedy = n_units, f"there are {n_units} groups only", "bring rows of more"
    elif regression:
        most, reason, remedy = len(y), f"there are {_rows(len(y))} only", "bring more rows"
    else:
        most, remedy = counts.max(), "bring more rows"
        reason = f"the largest class has {_rows(most)} only"
    if n_folds > most:
        fewer = f"ask for at most {most} folds, or " if most > 1 else ""
        raise ValueError(f"{reason}, too few for cv={n_folds} folds; {fewer}{remedy}.")
    if regression or counts.min() >= n_folds:
        return ""
    rare = [(str(labels[i]), int(counts[i])) for i in np.flatnonzero(counts < n_folds)]
    shown = ", ".join(f"{label!r} ({_rows(count)})" for label, count in rare[:_N_SHOWN])
    left = f" and {len(rare) - _N_SHOWN} others" if len(rare) > _N_SHOWN else ""
    return f"fewer rows than the {n_folds} folds, so that some folds test none: {shown}{left}"


def _check_split(
    y: NDArray[Any], groups: NDArray[Any] | None, split: Split, number: int, regression: bool
) -> None:
    """Raise if nothing can be learnt or tested in a fold, or if its test rows are known."""
    train, test = split
    n_both = len(np.intersect1d(train, test))
    if not train.size or not test.size or n_both:
        sides = (
            f"{_rows(len(train))} for training and {_rows(len(test))} for tests, {n_both} of them"
        )
        raise ValueError(f"fold {number} has {sides} in both; give some of each, and none in both.")
    if groups is not None and np.isin(groups[test], groups[train]).any():
        raise ValueError(
            f"fold {number} has a group on both sides; give a number of folds, or GroupKFold."
        )
    if regression:
        return
    known = np.unique(y[train])
    if len(known) < 2:
        lack = f"the training rows of fold {number} are all of class {known.tolist()[0]!r}"
        raise ValueError(f"{lack}; give fewer folds, or bring more rows of the others.")


def _rows(count: int) -> str:
    return f"{count} row{'' if count == 1 else 's'}"


def tuning_problem(
    y: NDArray[Any], splits: Splits, random_state: int, *, regression: bool
) -> str | None:
    """Return why there are no inner folds to tune C by, if so.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Labels or targets.
    splits : Splits
        The outer folds.
    random_state : int
        Seed of the inner folds.
    regression : bool
        Whether there are targets instead of labels.
    """
    groups = splits.groups
    for train, _ in splits.pairs:
        inner = None if groups is None else groups[train]
        try:
            splits_of(train, y[train], N_INNER, random_state, regression=regression, groups=inner)
        except ValueError as error:
            reason = str(error).partition(";")[0]
            return f"C is not tuned, for lack of {N_INNER} inner folds of training rows: {reason}"
    return None
