"""Test errors of an SVM on chosen columns, at a fixed C and at one tuned by inner folds."""

import numpy as np
from decide.svm import FEW_ROWS, GramFit, newton
from prototype import common_factor, scaled_columns
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import LinearSVC

_N_INNER = 3


def inner_folds(y):
    """Return the same folds for every method."""
    folds = StratifiedKFold(_N_INNER, shuffle=True, random_state=0)
    return list(folds.split(np.zeros((len(y), 1)), y))


def errors(choice, fold, group):
    """Return the errors at the fixed C, plain and scaled, and the one with C tuned.

    Methods without scales of their own get one factor, which matches the energy of the chosen
    columns to that of all. C is tuned on the chosen columns so scaled, for every method alike.
    """
    X, y, X_test, y_test = fold
    scales = choice.scales
    if not np.ptp(scales):
        scales = np.full(len(scales), common_factor(X, choice.indices))
    plain = _Errors(X[:, choice.indices], X_test[:, choice.indices], y, y_test)
    scaled = plain.scaled(scales)
    inner = inner_folds(y)
    wrong = [sum(scaled.within(C, *rows) for rows in inner) for C in group.grid]
    best = group.grid[int(np.argmin(wrong))]
    return {
        "plain": plain.unseen(group.C),
        "fixed": scaled.unseen(group.C),
        "tuned": scaled.unseen(best),
        "C": best,
    }


class _Errors:
    """Errors of SVMs on the same columns; few rows are replaced by their coordinates."""

    def __init__(self, X, X_test, y, y_test):
        self._columns = X, X_test
        self._y, self._y_test = y, y_test
        self._few = len(y) <= FEW_ROWS
        if self._few:
            gram = GramFit(X)
            X, X_test = gram.rows, gram.coordinates(X_test)
        self._X, self._X_test = X, X_test

    def scaled(self, scales):
        X, X_test = (scaled_columns(part, scales) for part in self._columns)
        return _Errors(X, X_test, self._y, self._y_test)

    def unseen(self, C):
        """Return the share of test rows that are classified wrongly."""
        return float(np.mean(self._wrong(C, slice(None), self._X_test, self._y_test)))

    def within(self, C, train, held):
        """Return how many training rows that are held back are classified wrongly."""
        return int(np.sum(self._wrong(C, train, self._X[held], self._y[held])))

    def _wrong(self, C, train, X_test, y_test):
        X, y = self._X[train], self._y[train]
        if self._few:
            w = newton(X, y, C)
            return np.where(X_test @ w[:-1] + w[-1] > 0, 1.0, -1.0) != y_test
        svm = LinearSVC(C=C, dual=X.shape[1] > X.shape[0], random_state=0)
        return svm.fit(X, y).predict(X_test) != y_test
