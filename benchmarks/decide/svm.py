"""The squared-hinge SVM that everything is measured with, by the fastest way to its optimum."""

import numpy as np
from scipy import sparse
from sklearn.svm import LinearSVC

from certifeature.models import make_loss
from certifeature.models.solver import minimise

# Up to here rows are replaced by their coordinates U√Λ, from the Gram matrix K = UΛUᵀ.
FEW_ROWS = 400
_NEGLIGIBLE = 1e-13


def newton(X, signs, C, start=None):
    """Return the weights of few dense features, and the intercept."""
    loss = make_loss("squared_hinge", signs, np.full(len(signs), float(C)))
    return minimise(X, loss, 1.0, None if start is None else start[:, None])[0][:, 0]


class GramFit:
    """SVMs on subsets of few rows, from one Gram matrix."""

    def __init__(self, X):
        self._X = X
        values, vectors = np.linalg.eigh(_dense(X @ X.T))
        good = values > _NEGLIGIBLE * values[-1]
        self._to_coordinates = vectors[:, good] / np.sqrt(values[good])
        self.rows = vectors[:, good] * np.sqrt(values[good])

    def coordinates(self, X):
        """Return coordinates of other rows."""
        return _dense(X @ self._X.T) @ self._to_coordinates

    def solution(self, rows, signs, C, start=None):
        """Return the SVM on some rows, in the coordinates."""
        return newton(self.rows[rows], signs, C, start)

    def features(self, solutions):
        """Return the weights of the features, a column for each solution."""
        return self._X.T @ (self._to_coordinates @ solutions[:-1])


def weights(X, signs, C):
    """Return the weights of the features."""
    if X.shape[0] <= FEW_ROWS:
        gram = GramFit(X)
        return gram.features(gram.solution(slice(None), signs, C))
    return LinearSVC(C=C, dual=True, random_state=0).fit(X, signs).coef_[0]


def _dense(X):
    return X.toarray() if sparse.issparse(X) else X
