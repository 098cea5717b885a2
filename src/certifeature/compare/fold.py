"""One fold: choose features in its training rows, train on them, test and certify."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import r2_score
from sklearn.preprocessing import StandardScaler

from certifeature.basis import Basis
from certifeature.basis.span import span
from certifeature.certificate.measurable import Measurable
from certifeature.certificate.measure import extreme_eigenvalues, without_basis
from certifeature.certificate.selection import as_sample
from certifeature.certificate.splits import Split, splits_of
from certifeature.compare.methods import Method, WhichRows
from certifeature.rows.matrix import scaled_columns
from certifeature.rows.rows import Rows
from certifeature.sparsify import Sample
from certifeature.support import fit_model
from certifeature.support.accepted import predicts_numbers
from certifeature.support.costs import with_cost_times
from certifeature.support.find import Support, find_support

__all__ = [
    "N_INNER",
    "SCALINGS",
    "TrainedFold",
    "column_scaler",
    "draw_seed",
]

SCALINGS = ("none", "standard", "tfidf")
# C is tuned over so many inner folds, among these multiples of that of the model.
N_INNER = 3
_FACTORS = (0.01, 0.1, 1.0, 10.0, 100.0)


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
        Unfitted linear model.
    X, y : {ndarray, sparse array or matrix}, ndarray
        All rows and their labels, or numbers.
    split : tuple of ndarray
        Training and test rows.
    scaling : {"none", "standard", "tfidf"}
        How the columns are scaled first, learnt from the training rows.
    seed : int
        Seed of the bases.
    """

    def __init__(
        self,
        model: Any,
        X: Any,
        y: NDArray[Any],
        split: Split,
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
        self._bases: dict[str, Basis] = {}

    @property
    def support(self) -> NDArray[np.intp]:
        """Which of the training rows matter to the model on all features."""
        return self._found.rows.places

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
        """Return the test error of a model that sees these features of these training rows only.

        It is the share of wrong classes, or 1 - R² where numbers are predicted.
        """
        return self._error(self._model, sample, rows)

    def tuned_error(self, method: Method, size: int | None, seed: int, sample: Sample) -> float:
        """Return the test error at the C that inner folds of the training rows find best.

        Features are chosen anew in every inner fold, at the C of the model: with those chosen on
        all training rows, every C would look too good. Of equally good ones, the smallest is taken.

        Parameters
        ----------
        method, size, seed : Method, int or None, int
            How to choose, as for `choose`.
        sample : Sample
            What was chosen on all training rows.
        """
        models = [with_cost_times(self._model, factor) for factor in _FACTORS]
        errors = np.zeros(len(models))
        for inner in self._inner_folds:
            chosen = inner.choose(method, size, seed)
            errors += [inner._error(model, chosen, fit=_plain_fit) for model in models]
        return self._error(models[int(np.argmin(errors))], sample)

    def growth(self, sample: Sample) -> float:
        """Return by how many times the objective of the model can grow on the rows that matter.

        It is the measured growth of a certificate; inf if nothing is proven.
        """
        if not sample.indices.size:
            return float(np.inf)
        if self._keeps_all(sample):
            return 1.0
        return self._measurable.certificate(sample).measured_growth

    def eigenvalues(self, sample: Sample, rows: WhichRows) -> tuple[float, float]:
        """Return λ and Λ of a choice; λ = 0 proves nothing."""
        if not sample.indices.size:
            return 0.0, 0.0
        if self._keeps_all(sample):
            return 1.0, 1.0
        basis = self._basis(rows)
        if not basis.exact:
            return without_basis(sample, self._X.shape[1])
        return extreme_eigenvalues(basis, sample)

    def _keeps_all(self, sample: Sample) -> bool:
        return len(sample.indices) == self._X.shape[1] and bool((sample.weights == 1).all())

    @cached_property
    def _found(self) -> Support:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return find_support(Rows(self._X, self._y), self._model)

    @cached_property
    def _measurable(self) -> Measurable:
        return Measurable.of_support(self._found, self._found.kind)

    @cached_property
    def _inner_folds(self) -> list[TrainedFold]:
        numbers = predicts_numbers(self._model)
        splits, _ = splits_of(self._X, self._y, N_INNER, self._seed, numbers)
        return [
            TrainedFold(self._model, self._X, self._y, split, "none", self._seed)
            for split in splits
        ]

    def _error(
        self,
        model: Any,
        sample: Sample,
        rows: WhichRows = "all",
        fit: Callable[[Any, Any, NDArray[Any]], Any] = fit_model,
    ) -> float:
        predicted = self._predicted(model, sample, rows, fit)
        if predicts_numbers(model):
            return 1 - float(r2_score(self._y_test, predicted))
        return float(np.mean(predicted != self._y_test))

    def _predicted(
        self, model: Any, sample: Sample, rows: WhichRows, fit: Callable[..., Any]
    ) -> NDArray[Any]:
        X, y = self._rows(rows)
        if not sample.indices.size:
            # Without features, the best guess is the mean, or the most frequent class.
            guess = DummyRegressor() if predicts_numbers(model) else DummyClassifier()
            return np.asarray(guess.fit(X, y).predict(self._X_test))
        train, test = (
            scaled_columns(part[:, sample.indices], sample.weights) for part in (X, self._X_test)
        )
        return np.asarray(fit(clone(model), train, y).predict(test))

    def _basis(self, rows: WhichRows) -> Basis:
        if rows not in self._bases:
            matrix = Rows(self._rows(rows)[0])
            self._bases[rows], _ = span(matrix, "auto", None, self._seed)
        return self._bases[rows]

    def _rows(self, rows: WhichRows) -> tuple[Any, NDArray[Any]]:
        if rows == "all":
            return self._X, self._y
        return self._X[self.support], self._y[self.support]


def _plain_fit(model: Any, X: Any, y: NDArray[Any]) -> Any:
    """Fit as scikit-learn does: close enough to the optimum to tell which C is good."""
    return model.fit(X, y)


def column_scaler(name: str, X: Any) -> Any:
    """Return an unfitted scaler; sparse columns are not centred, so that zeros stay zeros."""
    if name == "tfidf":
        return TfidfTransformer()
    return StandardScaler(with_mean=not sparse.issparse(X))
