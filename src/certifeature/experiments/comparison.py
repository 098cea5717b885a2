"""Methods beside each other on a user's own data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import numpy as np

from certifeature.experiments.methods import FULL_DATA, METHODS
from certifeature.experiments.runner import run
from certifeature.experiments.study import Study
from certifeature.experiments.summary import group
from certifeature.experiments.tasks import Task
from certifeature.svm import default_svm

__all__ = ["Comparison", "Contender", "compare"]


@dataclass(frozen=True)
class Contender:
    """How one method does with one number of features.

    Attributes
    ----------
    method : str
        Its name.
    size : int or None
        Number of features asked for; None for a method that finds its own, and for full data.
    n_features : float
        Number of features chosen, on average over the folds.
    errors : tuple of float
        Test error of each fold.
    seconds : float
        Median time of a selection.
    lambda_min, condition : float
        Medians of the certificate measured on the support vectors of the training rows.
    """

    method: str
    size: int | None
    n_features: float
    errors: tuple[float, ...]
    seconds: float
    lambda_min: float
    condition: float

    @property
    def mean_error(self) -> float:
        """Mean of the errors."""
        return float(np.mean(self.errors))

    @property
    def deviation(self) -> float:
        """Standard deviation of the errors of the folds."""
        return float(np.std(self.errors, ddof=1)) if len(self.errors) > 1 else 0.0


@dataclass(frozen=True)
class Comparison:
    """Methods beside each other, full data first.

    Attributes
    ----------
    contenders : tuple of Contender
        In the order of the methods, each by size.
    n_repeats, n_folds, seed : int
        Of the cross-validation.
    """

    contenders: tuple[Contender, ...]
    n_repeats: int
    n_folds: int
    seed: int


def compare(
    X: Any,
    y: Any,
    sizes: Sequence[int],
    *,
    methods: Sequence[str] = ("bss", "leverage", "rrqr", "rfe", "lpsvm", "l1", "random"),
    estimator: Any = None,
    weighting: Literal["none", "tfidf", "standard"] = "none",
    n_repeats: int = 1,
    n_folds: int = 5,
    n_jobs: int = -1,
    seed: int = 0,
) -> Comparison:
    """Cross-validate methods of feature selection on the same folds.

    Parameters
    ----------
    X : {ndarray, sparse array or matrix} of shape (n_samples, n_features)
        Data.
    y : array-like of shape (n_samples,)
        Labels.
    sizes : sequence of int
        Numbers of features.
    methods : sequence of str
        Keys of :data:`certifeature.experiments.METHODS`.
    estimator : estimator, default=None
        Linear SVM with ``C``; None takes that of the selectors.
    weighting : {"none", "tfidf", "standard"}, default="none"
        What is done to the columns first, learnt from the training rows of each fold.
    n_repeats, n_folds : int
        Number of cross-validations, and of their folds.
    n_jobs : int, default=-1
        Number of worker processes; -1 takes all cores.
    seed : int, default=0
        Of folds and random methods.

    Returns
    -------
    Comparison
        Errors, times and certificates.

    Examples
    --------
    >>> from certifeature.datasets import make_relevant_features
    >>> from certifeature.experiments import compare
    >>> X, y = make_relevant_features(60, 200, 10, random_state=0)
    >>> comparison = compare(X, y, [20], methods=["bss", "rfe"], n_folds=3, n_jobs=1)
    >>> [contender.method for contender in comparison.contenders]
    ['full data', 'bss', 'rfe']
    """
    unknown = [name for name in methods if name not in METHODS]
    if unknown:
        raise ValueError(f"method {unknown[0]!r} is unknown; choose from {', '.join(METHODS)}.")
    task = Task("data", "the data", X, np.asarray(y))
    svm = default_svm(len(task.y), seed) if estimator is None else estimator
    chosen = [METHODS[name] for name in (FULL_DATA, *methods)]
    study = Study(
        [task],
        chosen,
        sizes,
        svm,
        weighting,
        n_repeats=n_repeats,
        n_folds=n_folds,
        seed=seed,
        certify_support=True,
    )
    with TemporaryDirectory() as folder:
        records = run(study, Path(folder) / "records.jsonl", n_jobs=n_jobs)
    contenders = (
        _contender(method, size, part)
        for (method, size), part in group(records, "method", "size").items()
    )
    return Comparison(tuple(contenders), n_repeats, n_folds, seed)


def _contender(method: str, size: int | None, records: list[dict[str, Any]]) -> Contender:
    lowest = np.array([record["lambda_min"] for record in records])
    highest = np.array([record["lambda_max"] for record in records])
    conditions = np.divide(highest, lowest, out=np.full(len(lowest), np.inf), where=lowest > 0)
    return Contender(
        method,
        size,
        float(np.mean([record["n_features"] for record in records])),
        tuple(record["error"] for record in records),
        float(np.median([record["seconds"] for record in records])),
        float(np.median(lowest)),
        float(np.median(conditions)),
    )
