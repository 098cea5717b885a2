"""Splits of the rows into training and test rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import model_selection
from sklearn.model_selection import check_cv

# C is tuned over so many inner folds.
N_INNER = 3
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
    """

    pairs: Sequence[Split]
    n_repeats: int = 1
    groups: NDArray[Any] | None = None

    @property
    def n_folds(self) -> int:
        """Number of splits of each cross-validation."""
        return len(self.pairs) // self.n_repeats

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
    n_repeats: int = 1,
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
        scikit-learn takes them.
    random_state : int
        Seed for folds that are given by their number.
    regression : bool
        Whether there are targets instead of labels.
    n_repeats : int, default=1
        Number of cross-validations, for folds that are given by their number.
    groups : array-like of shape (n_samples,), default=None
        Group of each row, such as a patient; the rows of a group stay together.
    """
    classes = np.unique(y)
    if not regression and len(classes) < 2:
        raise ValueError(f"y has one class only, {classes.tolist()[0]!r}; pass two or more.")
    if isinstance(cv, bool):
        raise ValueError(f"cv must be a number of folds, or splits; got {cv!r}.")
    groups = None if groups is None else np.asarray(groups)
    if isinstance(cv, Integral):
        _check_n_folds(y if groups is None else groups, int(cv), regression, groups is not None)
        name = f"{'' if regression else 'Stratified'}{'' if groups is None else 'Group'}KFold"
        kind, seeds = getattr(model_selection, name), _seeds(random_state, n_repeats)
        splitters = [kind(int(cv), shuffle=True, random_state=seed) for seed in seeds]
    elif n_repeats != 1:
        repeated = f"n_repeats={n_repeats} repeats a number of folds, and cv={cv!r} is none"
        raise ValueError(f"{repeated}; give RepeatedStratifiedKFold, or the like.")
    else:
        splitters = [check_cv(cv, y, classifier=not regression)]
        n_repeats = int(getattr(splitters[0], "n_repeats", 1))
    places = np.arange(len(y))
    # Splits may be indices or masks.
    pairs = [
        (places[train], places[test])
        for splitter in splitters
        for train, test in splitter.split(X, y, groups)
    ]
    if len(pairs) < 2:
        raise ValueError(f"cv={cv!r} splits the rows once at most; an interval needs two splits.")
    for number, split in enumerate(pairs, start=1):
        _check_split(y, split, number, regression)
    return Splits(pairs, n_repeats, groups)


def _seeds(random_state: int, n_repeats: int) -> list[int]:
    """Return the seeds for the folds of each cross-validation; the first keeps its own."""
    drawn = (np.random.SeedSequence([random_state, repeat]) for repeat in range(1, n_repeats))
    return [random_state, *(int(seed.generate_state(1)[0]) for seed in drawn)]


def _check_n_folds(y: NDArray[Any], n_folds: int, regression: bool, grouped: bool) -> None:
    """Raise unless every fold can have a row of each class, a group, or two rows with numbers."""
    if n_folds < 2:
        raise ValueError(f"cv={n_folds} folds are too few; ask for at least 2.")
    labels, counts = np.unique(y, return_counts=True)
    rarest, n_groups = counts.argmin(), len(labels)
    if grouped:
        most, reason, remedy = n_groups, f"there are {n_groups} groups only", "bring rows of more"
    elif regression:
        # The R² of a single row does not exist.
        most, reason, remedy = len(y) // 2, f"there are {_rows(len(y))} only", "bring more rows"
    else:
        most, remedy = counts[rarest], "leave the class out"
        reason = f"the class {labels.tolist()[rarest]!r} has {_rows(most)} only"
    if n_folds > most:
        fewer = f"ask for at most {most} folds, or " if most > 1 else ""
        raise ValueError(f"{reason}, too few for cv={n_folds} folds; {fewer}{remedy}.")


def _check_split(y: NDArray[Any], split: Split, number: int, regression: bool) -> None:
    """Raise if nothing can be learnt or tested in a fold, or if its test rows are known."""
    train, test = split
    n_both = len(np.intersect1d(train, test))
    if not train.size or not test.size or n_both:
        sides = (
            f"{_rows(len(train))} for training and {_rows(len(test))} for tests, {n_both} of them"
        )
        raise ValueError(f"fold {number} has {sides} in both; give some of each, and none in both.")
    if regression:
        if len(np.unique(y[test])) < 2:
            equal = f"all targets of the test rows of fold {number} are equal"
            raise ValueError(f"{equal}, so there is no R²; give fewer folds.")
        return
    missing = np.setdiff1d(y, y[train])
    if missing.size:
        lack = f"the training rows of fold {number} lack the class {missing.tolist()[0]!r}"
        raise ValueError(f"{lack}; give a number of folds, or leave the class out.")


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
