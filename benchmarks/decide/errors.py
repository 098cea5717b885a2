"""Test errors of an SVM on chosen columns, at a fixed C and at one tuned by inner folds."""

import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import LinearSVC

from decide.svm import FEW_ROWS, GramFit, newton

N_INNER = 3


def inner_folds(y):
    """Return the same folds for every method."""
    folds = StratifiedKFold(N_INNER, shuffle=True, random_state=0)
    return list(folds.split(np.zeros((len(y), 1)), y))


def errors(choice, inner_choices, fold, group):
    """Return the errors at the fixed C, plain and scaled, and the one with C tuned.

    Methods without scales of their own get one factor, which matches the energy of the chosen
    columns to that of all. C is tuned on columns so scaled, for every method alike:
    ``inner_choices`` are what it chose on the training part of each inner fold.
    """
    X, y, _, y_test = fold
    wrong = np.zeros(len(group.grid))
    for (train, held), inner in zip(inner_folds(y), inner_choices, strict=True):
        part = _Errors(inner, inner.scales_for(X[train]), X[train], y[train], X[held], y[held])
        wrong += [part.count(C) for C in group.grid]
    best = group.grid[int(np.argmin(wrong))]
    plain = _Errors(choice, np.ones(len(choice.indices)), *fold)
    scaled = _Errors(choice, choice.scales_for(X), *fold)
    at_fixed = {"plain": plain.count(group.C), "fixed": scaled.count(group.C)}
    counts = at_fixed | {"tuned": scaled.count(best)}
    return {key: count / len(y_test) for key, count in counts.items()} | {"C": best}


class _Errors:
    """Errors of SVMs on the same columns; few rows are replaced by their coordinates."""

    def __init__(self, choice, scales, X, y, X_test, y_test):
        X, X_test = (choice.columns(rows, scales) for rows in (X, X_test))
        self._few = len(y) <= FEW_ROWS
        if self._few:
            gram = GramFit(X)
            X, X_test = gram.rows, gram.coordinates(X_test)
        self._X, self._y, self._X_test, self._y_test = X, y, X_test, y_test

    def count(self, C):
        """Return how many test rows are classified wrongly."""
        if self._few:
            w = newton(self._X, self._y, C)
            signs = np.where(self._X_test @ w[:-1] + w[-1] > 0, 1.0, -1.0)
        else:
            n_rows, n_columns = self._X.shape
            svm = LinearSVC(C=C, dual=n_columns > n_rows, random_state=0)
            signs = svm.fit(self._X, self._y).predict(self._X_test)
        return int(np.sum(signs != self._y_test))
