"""One fold: what every cell gives on it, as records."""

from __future__ import annotations

import platform
import warnings
from collections.abc import Sequence
from functools import cached_property
from importlib.metadata import version
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from certifeature.basis import Basis
from certifeature.basis.span import span
from certifeature.certificate.measured import extreme_eigenvalues, without_basis
from certifeature.evaluation.engine import fold_seed
from certifeature.models.support import Support, find_support, fit_model
from certifeature.rows.matrix import scaled_columns
from certifeature.rows.rows import Rows
from certifeature.sparsify import ColumnChoice
from certifeature.sparsify.choice import as_column_choice
from paper.methods import PaperMethod, WhichRows
from paper.study import Cell, Fold, Study

__all__ = ["TrainedFold", "measure_fold"]

_VERSIONS = {
    "python": platform.python_version(),
    **{name: version(name) for name in ("certifeature", "numpy", "scipy", "scikit-learn")},
}


class TrainedFold:
    """Training and test rows, the model on all features, and bases of its rows.

    Every model is trained as the selectors train theirs, so that a choice is certified for the very
    rows that it was made for.

    Parameters
    ----------
    model : estimator
        Unfitted classifier.
    X, y : {ndarray, sparse array or matrix}, ndarray
        All rows and their labels.
    split : tuple of ndarray
        Training and test rows.
    scaling : {"none", "standard", "tfidf"}
        How the columns are scaled first, learnt from the training rows.
    seed : int
        Seed of the bases.
    """

    def __init__(
        self, model: Any, X: Any, y: NDArray[Any], split: Any, scaling: str, seed: int
    ) -> None:
        self._model, self._seed = model, seed
        train, test = split
        self._X, self._X_test = X[train], X[test]
        self._y, self._y_test = y[train], y[test]
        if scaling != "none":
            # Sparse columns are not centred, so that zeros stay.
            centred = StandardScaler(with_mean=not sparse.issparse(self._X))
            scaler = (centred if scaling == "standard" else TfidfTransformer()).fit(self._X)
            self._X, self._X_test = map(scaler.transform, (self._X, self._X_test))
        self._bases: dict[str, Basis] = {}

    @property
    def support(self) -> NDArray[np.intp]:
        """Which of the training rows matter to the model on all features."""
        return self._found.rows.places

    def n_rows(self, rows: WhichRows) -> int:
        """Return the number of support rows, or of all training rows."""
        return len(self.support) if rows == "support" else len(self._y)

    def choose(self, method: PaperMethod, size: int | None, seed: int) -> ColumnChoice:
        """Return the features that a method chooses, best first; they may be none."""
        if method.make is None:
            n_features = self._X.shape[1]
            return ColumnChoice(np.arange(n_features), np.ones(n_features))
        selector = method.make(0 if size is None else size, clone(self._model), seed)
        finds_support = getattr(selector, "supervised", False)
        selector.fit(*self._rows("all" if finds_support else method.rows))
        if not selector.get_support().any():
            return ColumnChoice(np.empty(0, dtype=np.intp), np.empty(0))
        return as_column_choice(selector, self._X.shape[1])

    def error(self, sample: ColumnChoice, rows: WhichRows = "all") -> float:
        """Return the share of wrong classes for a model on these features of these rows."""
        X, y = self._rows(rows)
        if not sample.indices.size:
            # Without features, the best guess is the most frequent class.
            predicted = DummyClassifier().fit(X, y).predict(self._X_test)
        else:
            train, test = (
                scaled_columns(part[:, sample.indices], sample.scales) for part in (X, self._X_test)
            )
            predicted = fit_model(clone(self._model), train, y).predict(test)
        return float(np.mean(predicted != self._y_test))

    def eigenvalues(self, sample: ColumnChoice, rows: WhichRows) -> tuple[float, float]:
        """Return λ and Λ of a choice; λ = 0 proves nothing."""
        n_features = self._X.shape[1]
        if not sample.indices.size:
            return 0.0, 0.0
        if len(sample.indices) == n_features and (sample.scales == 1).all():
            return 1.0, 1.0
        if rows not in self._bases:
            self._bases[rows], _ = span(Rows(self._rows(rows)[0]), "auto", None, self._seed)
        basis = self._bases[rows]
        return (
            extreme_eigenvalues(basis, sample) if basis.exact else without_basis(sample, n_features)
        )

    @cached_property
    def _found(self) -> Support:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return find_support(Rows(self._X, self._y), self._model)

    def _rows(self, rows: WhichRows) -> tuple[Any, NDArray[Any]]:
        if rows == "all":
            return self._X, self._y
        return self._X[self.support], self._y[self.support]


def measure_fold(study: Study, fold: Fold, cells: Sequence[Cell]) -> list[dict[str, Any]]:
    """Return a record for each cell: its key, test errors, certificate, time and versions."""
    # One thread, so that sums are rounded alike however many workers there are.
    with threadpool_limits(1):
        split = fold.task.split(fold.repeat, fold.number, study.n_folds, study.seed)
        task = fold.task
        trained = TrainedFold(study.svm, task.X, task.y, split, study.weighting, study.seed)
        return [
            {
                "key": study.key(fold, cell),
                "measured": _measured(study, fold, trained, cell),
                "versions": _VERSIONS,
            }
            for cell in cells
        ]


def _measured(study: Study, fold: Fold, trained: TrainedFold, cell: Cell) -> dict[str, Any]:
    """Return what is measured of one choice; SVMs are trained on all rows, and on the support."""
    rows = cell.method.rows
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        start = perf_counter()
        seed = fold_seed(study.seed, fold.repeat, fold.number, cell.draw)
        sample = trained.choose(cell.method, cell.size, seed)
        seconds = perf_counter() - start
        error = trained.error(sample)
        on_support = trained.error(sample, "support") if rows == "support" else None
    lambda_min, lambda_max = trained.eigenvalues(sample, rows)
    return {
        "error": error,
        "error_on_support": on_support,
        "n_features": len(sample.indices),
        "n_rows": trained.n_rows(rows),
        "lambda_min": lambda_min,
        "lambda_max": lambda_max,
        "features": sample.indices.tolist() if cell.size in study.features_at else None,
        "seconds": seconds,
        "warnings": sorted({w.category.__name__ for w in caught}),
    }
