"""Splits of the rows into folds."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold, StratifiedKFold, check_cv

__all__ = [
    "Split",
    "seed_of_repeat",
    "splits_of",
]


# Training rows, and test rows.
Split = tuple[NDArray[np.intp], NDArray[np.intp]]


def splits_of(
    X: Any, y: NDArray[Any], cv: Any, seed: int, regression: bool
) -> tuple[list[Split], int]:
    """Return training and test rows of every fold, and how often all rows were split.

    Parameters
    ----------
    X : {ndarray, sparse array or matrix} of shape (n_samples, n_features)
        Rows.
    y : ndarray of shape (n_samples,)
        Their labels or targets.
    cv : int, cross-validation generator or iterable
        What to split them by.
    seed : int
        Seed of folds that are given by their number.
    regression : bool
        Whether there are targets instead of labels.
    """
    classes = np.unique(y)
    if not regression and len(classes) < 2:
        raise ValueError(
            f"y has one class only, {classes.tolist()[0]!r}; pass rows of two or more."
        )
    if isinstance(cv, Integral) and not isinstance(cv, bool):
        _check_n_folds(y, int(cv), regression)
        kind = KFold if regression else StratifiedKFold
        splitter = kind(int(cv), shuffle=True, random_state=seed)
    elif isinstance(cv, bool):
        raise ValueError(f"cv must be a number of folds, or splits; got {cv!r}.")
    else:
        splitter = check_cv(cv, y, classifier=not regression)
    places = np.arange(len(y))
    # Splits may be indices or masks.
    splits = [(places[train], places[test]) for train, test in splitter.split(X, y)]
    if len(splits) < 2:
        raise ValueError(f"cv={cv!r} splits the rows once at most; an interval needs two splits.")
    for number, split in enumerate(splits, start=1):
        _check_split(y, split, number, regression)
    return splits, int(getattr(splitter, "n_repeats", 1))


def seed_of_repeat(seed: int, repeat: int) -> int:
    """Return the seed of the folds of one of several cross-validations, the first with its own."""
    if repeat == 0:
        return seed
    return int(np.random.SeedSequence([seed, repeat]).generate_state(1)[0])


def _check_n_folds(y: NDArray[Any], n_folds: int, regression: bool) -> None:
    if n_folds < 2:
        raise ValueError(f"cv={n_folds} folds are too few; ask for at least 2.")
    if regression:
        # The R² of a single row does not exist.
        most, reason = len(y) // 2, f"there are {_rows(len(y))} only"
    else:
        labels, counts = np.unique(y, return_counts=True)
        rarest = counts.argmin()
        most = counts[rarest]
        reason = f"the class {labels.tolist()[rarest]!r} has {_rows(most)} only"
    if n_folds > most:
        remedy = f"ask for at most {most} folds, or " if most > 1 else ""
        leave = "bring more rows" if regression else "leave the class out"
        raise ValueError(f"{reason}, too few for cv={n_folds} folds; {remedy}{leave}.")


def _check_split(y: NDArray[Any], split: Split, number: int, regression: bool) -> None:
    """Raise if nothing can be learnt or tested in a fold, or if its test rows are known."""
    train, test = split
    if not train.size or not test.size or np.intersect1d(train, test).size:
        raise ValueError(
            f"fold {number} has {_rows(len(train))} for training and {_rows(len(test))} for tests, "
            f"{len(np.intersect1d(train, test))} of them in both; give splits with some of each, "
            "and none in both."
        )
    if regression:
        if len(np.unique(y[test])) < 2:
            raise ValueError(
                f"all targets of the test rows of fold {number} are equal, so there is no R²; give "
                "fewer folds."
            )
        return
    missing = np.setdiff1d(y, y[train])
    if missing.size:
        raise ValueError(
            f"the training rows of fold {number} lack the class {missing.tolist()[0]!r}; give "
            "folds whose training rows have every class, such as a number, or leave the class out."
        )


def _rows(count: int) -> str:
    return f"{count} row{'' if count == 1 else 's'}"
