"""One fold: choose features in all ways that are wanted, train on them, count errors."""

from __future__ import annotations

import platform
import warnings
from collections.abc import Sequence
from importlib.metadata import version
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from certifeature._matrix import scaled_columns
from certifeature.basis import Basis
from certifeature.certificate.measure import extreme_eigenvalues
from certifeature.experiments.methods import choice
from certifeature.experiments.study import Cell, Fold, Study
from certifeature.selectors.subspace import row_space
from certifeature.sparsify import Sample
from certifeature.svm import support_rows

__all__ = ["measure_fold"]

_VERSIONS = {
    "python": platform.python_version(),
    **{name: version(name) for name in ("certifeature", "numpy", "scipy", "scikit-learn")},
}


def measure_fold(study: Study, fold: Fold, cells: Sequence[Cell]) -> list[dict[str, Any]]:
    """Return a record for each cell: its key, test errors, certificate, time and versions."""
    # One thread, so that sums are rounded alike however many workers there are.
    with threadpool_limits(1):
        data = _FoldData(study, fold)
        return [
            {"key": study.key(fold, cell), "measured": data.measure(cell), "versions": _VERSIONS}
            for cell in cells
        ]


def _weighting(name: str, X: Any) -> Any:
    """Return an unfitted transformer; sparse columns keep their means, and so their zeros."""
    if name == "tfidf":
        return TfidfTransformer()
    return StandardScaler(with_mean=not sparse.issparse(X))


class _FoldData:
    """Training and test rows, the SVM on all features, and bases of its rows."""

    def __init__(self, study: Study, fold: Fold) -> None:
        self._study = study
        self._fold = fold
        train, test = fold.task.split(fold.repeat, fold.number, study.n_folds, study.seed)
        self._X, self._X_test = fold.task.X[train], fold.task.X[test]
        if study.weighting != "none":
            weighting = _weighting(study.weighting, self._X).fit(self._X)
            self._X, self._X_test = map(weighting.transform, (self._X, self._X_test))
        self._y, self._y_test = fold.task.y[train], fold.task.y[test]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            svm = clone(study.svm).fit(self._X, self._y)
        self._support = support_rows(svm, self._X, self._y)
        self._bases: dict[str, Basis] = {}

    def measure(self, cell: Cell) -> dict[str, Any]:
        """Return what is measured of one choice."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            start = perf_counter()
            sample = self._choose(cell)
            seconds = perf_counter() - start
            errors = self._errors(cell, sample)
        lambda_min, lambda_max = self._eigenvalues(cell, sample)
        return {
            **errors,
            "n_features": len(sample.indices),
            "n_rows": len(self._support) if cell.method.rows == "support" else len(self._y),
            "lambda_min": lambda_min,
            "lambda_max": lambda_max,
            "features": sample.indices.tolist() if cell.size in self._study.features_at else None,
            "seconds": seconds,
            "warnings": sorted({w.category.__name__ for w in caught}),
        }

    def _choose(self, cell: Cell) -> Sample:
        if cell.method.make is None:
            return Sample(np.arange(self._X.shape[1]), np.ones(self._X.shape[1]))
        place = [self._study.seed, self._fold.repeat, self._fold.number, cell.draw]
        seed = int(np.random.SeedSequence(place).generate_state(1)[0] >> 1)
        selector = cell.method.fitted(
            self._X, self._y, self._support, self._study.svm, cell.size, seed
        )
        return choice(selector)

    def _errors(self, cell: Cell, sample: Sample) -> dict[str, float | None]:
        """Return test errors of SVMs trained on all rows and on the support rows only."""
        train, test = (
            scaled_columns(X[:, sample.indices], sample.weights) for X in (self._X, self._X_test)
        )
        recalibrated = None
        if cell.method.rows == "support":
            recalibrated = self._error(train[self._support], self._y[self._support], test)
        return {"error": self._error(train, self._y, test), "error_on_support": recalibrated}

    def _error(self, X: Any, y: NDArray[Any], X_test: Any) -> float:
        if not X.shape[1]:
            # Without features, the best guess is the larger class.
            labels, counts = np.unique(y, return_counts=True)
            return float(np.mean(self._y_test != labels[counts.argmax()]))
        predicted = clone(self._study.svm).fit(X, y).predict(X_test)
        return float(np.mean(predicted != self._y_test))

    def _eigenvalues(self, cell: Cell, sample: Sample) -> tuple[float, float]:
        """Return λ and Λ of the choice."""
        if not sample.indices.size:
            return 0.0, 0.0
        rows = "support" if self._study.certify_support else cell.method.rows
        if rows not in self._bases:
            X = self._X[self._support] if rows == "support" else self._X
            self._bases[rows], _ = row_space(X, "auto", None, self._study.seed)
        return extreme_eigenvalues(self._bases[rows], sample)
