"""One fold: choose features in its training rows, train on them, test and certify."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

from certifeature.basis import Basis
from certifeature.basis.span import span
from certifeature.certificate.measure import extreme_eigenvalues, without_basis
from certifeature.certificate.selection import as_sample
from certifeature.compare.methods import Method, WhichRows
from certifeature.rows.matrix import scaled_columns
from certifeature.rows.rows import Rows
from certifeature.sparsify import Sample
from certifeature.support import fit_model, support_rows

__all__ = ["SCALINGS", "TrainedFold", "column_scaler", "draw_seed", "stratified_split"]

SCALINGS = ("none", "standard", "tfidf")


def stratified_split(
    y: NDArray[Any], repeat: int, fold: int, n_folds: int, seed: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return training and test rows of one fold of one repeat, classes in equal shares."""
    state = int(np.random.SeedSequence([seed, repeat]).generate_state(1)[0])
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=state)
    train, test = list(folds.split(y, y))[fold]
    return train, test


def draw_seed(seed: int, repeat: int, fold: int, draw: int = 0) -> int:
    """Return the seed of a random method on one fold."""
    return int(np.random.SeedSequence([seed, repeat, fold, draw]).generate_state(1)[0] >> 1)


class TrainedFold:
    """Training and test rows, the model on all features, and bases of its rows.

    Every model is trained as the selectors train theirs, so that a choice is certified for the very
    rows that it was made for.

    Parameters
    ----------
    model : estimator
        Unfitted linear classifier.
    X, y : {ndarray, sparse array or matrix}, ndarray
        All rows and their labels.
    split : tuple of ndarray
        Training and test rows.
    scaling : {"none", "standard", "tfidf"}
        How the columns are scaled first, learnt from the training rows.
    seed : int
        Seed of the bases.

    Attributes
    ----------
    support : ndarray of int
        Which of the training rows are rows that matter to the model on all features.
    """

    def __init__(
        self,
        model: Any,
        X: Any,
        y: NDArray[Any],
        split: tuple[NDArray[np.intp], NDArray[np.intp]],
        scaling: str,
        seed: int,
    ) -> None:
        self._model, self._seed = model, seed
        train, test = split
        self._X, self._X_test = X[train], X[test]
        self._y, self._y_test = y[train], y[test]
        if scaling != "none":
            scaler = column_scaler(scaling, self._X).fit(self._X)
            self._X, self._X_test = map(scaler.transform, (self._X, self._X_test))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            trained = fit_model(clone(model), self._X, self._y)
        self.support = support_rows(trained, self._X, self._y)
        self._bases: dict[str, Basis] = {}

    def n_rows(self, rows: WhichRows) -> int:
        """Return the number of support rows, or of all training rows."""
        return len(self.support) if rows == "support" else len(self._y)

    def choose(self, method: Method, size: int | None, seed: int) -> Sample:
        """Return the features that a method chooses, best first; they may be none.

        Parameters
        ----------
        method : Method
            How to choose.
        size : int or None
            Number of features; None for a method that finds its own.
        seed : int
            Seed of the selector.
        """
        if method.make is None:
            n_features = self._X.shape[1]
            return Sample(np.arange(n_features), np.ones(n_features))
        selector = method.make(0 if size is None else size, clone(self._model), seed)
        finds_support = getattr(selector, "supervised", False)
        X, y = self._rows("all" if finds_support else method.rows)
        selector.fit(X, y)
        if not selector.get_support().any():
            return Sample(np.empty(0, dtype=np.intp), np.empty(0))
        return as_sample(selector, self._X.shape[1])

    def error(self, sample: Sample, rows: WhichRows = "all") -> float:
        """Return the test error of a model that sees these features of these training rows only."""
        X, y = self._rows(rows)
        if not sample.indices.size:
            # Without features, the best guess is the most frequent class.
            labels, counts = np.unique(y, return_counts=True)
            return float(np.mean(self._y_test != labels[counts.argmax()]))
        train, test = (
            scaled_columns(part[:, sample.indices], sample.weights) for part in (X, self._X_test)
        )
        predicted = fit_model(clone(self._model), train, y).predict(test)
        return float(np.mean(predicted != self._y_test))

    def eigenvalues(self, sample: Sample, rows: WhichRows) -> tuple[float, float]:
        """Return λ and Λ of a choice; λ = 0 proves nothing."""
        n_features = self._X.shape[1]
        if not sample.indices.size:
            return 0.0, 0.0
        if len(sample.indices) == n_features and (sample.weights == 1).all():
            return 1.0, 1.0
        if rows not in self._bases:
            matrix = Rows(self._rows(rows)[0])
            self._bases[rows], _ = span(matrix, "auto", None, self._seed)
        if not self._bases[rows].exact:
            return without_basis(sample, n_features)
        return extreme_eigenvalues(self._bases[rows], sample)

    def _rows(self, rows: WhichRows) -> tuple[Any, NDArray[Any]]:
        if rows == "all":
            return self._X, self._y
        return self._X[self.support], self._y[self.support]


def column_scaler(name: str, X: Any) -> Any:
    """Return an unfitted scaler; sparse columns are not centred, so that zeros stay zeros."""
    if name == "tfidf":
        return TfidfTransformer()
    return StandardScaler(with_mean=not sparse.issparse(X))
