"""The SVM that errors are measured with: without units, and with a nearly free intercept."""

import numpy as np
from scipy import sparse
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import LinearSVC

# Multiples of 1/s² that C is tuned over, and others that errors are measured at.
GRID = (0.03, 0.1, 0.3, 1, 3, 10, 30)
FIXED = (0.5,)
N_INNER = 3


def scale_free(X, c, **options):
    """Return a squared-hinge SVM with C = c/s², s² the mean squared distance of rows to their mean.

    The intercept is penalised as the weight of a constant column of 10·s, which is hardly at all.
    """
    squares = X.multiply(X) if sparse.issparse(X) else X * X
    s2 = float(np.sum(squares.mean(axis=0) - np.square(X.mean(axis=0))))
    s2 = max(s2, np.finfo(float).tiny)
    return LinearSVC(C=c / s2, intercept_scaling=10 * np.sqrt(s2), random_state=0, **options)


def wrong(X, y, X_test, y_test, grid=GRID):
    """Return the share of test rows that are classified wrongly, for each c."""
    if not sparse.issparse(X):
        centre = X.mean(axis=0)
        X, X_test = X - centre, X_test - centre
    models = [scale_free(X, c, dual=False, tol=1e-3).fit(X, y) for c in grid]
    return np.array([np.mean(model.predict(X_test) != y_test) for model in models])


def errors(X, y, X_test, y_test):
    """Return the test error for each c, and the one for c of the least error in inner folds.

    Of equal errors in inner folds, the c nearest to 1 counts, and of two the smaller.
    """
    split = StratifiedKFold(N_INNER, shuffle=True, random_state=0).split(y, y)
    inner = np.sum([wrong(X[a], y[a], X[b], y[b]) for a, b in split], axis=0)
    nearest_first = np.argsort(np.abs(np.log(GRID)), kind="stable")
    best = nearest_first[np.argmin(np.round(inner[nearest_first], 9))]
    outer = wrong(X, y, X_test, y_test, GRID + FIXED)
    by_c = {f"{c:g}": error for c, error in zip(GRID + FIXED, outer.tolist(), strict=True)}
    return {"tuned": by_c[f"{GRID[best]:g}"], "c": GRID[best], "errors": by_c}
