"""Error, time and certificate of each method at each size, by cross-validation."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Literal

import numpy as np
from joblib import delayed
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_X_y
from sklearn.utils.multiclass import check_classification_targets
from threadpoolctl import threadpool_limits

from certifeature._parallel import in_parallel
from certifeature.certificate.splits import Split, seed_of_repeat, splits_of
from certifeature.compare.fold import (
    N_INNER,
    SCALINGS,
    TrainedFold,
    draw_seed,
)
from certifeature.compare.methods import FULL_DATA, KEEP_ALL, Method, methods_for
from certifeature.compare.result import Comparison, Contender
from certifeature.rows.dates import refuse_dates
from certifeature.rows.matrix import canonical_csr
from certifeature.support import default_model
from certifeature.support.accepted import check_model, predicts_numbers
from certifeature.support.model import capped

__all__ = ["compare"]

Cell = tuple[Method, int | None]


@dataclass(frozen=True)
class _Outcome:
    """What one choice on one fold gave; nothing is tuned unless asked for."""

    chosen: tuple[int, ...]
    error: float
    tuned_error: float | None
    seconds: float
    growth: float


def compare(
    X: Any,
    y: Any,
    sizes: Sequence[int],
    *,
    methods: Sequence[Any] | None = None,
    estimator: Any = None,
    scaling: Literal["none", "standard", "tfidf"] = "none",
    tune: bool | Literal["auto"] = True,
    n_repeats: int = 1,
    n_folds: int = 5,
    n_jobs: int = -1,
    seed: int = 0,
) -> Comparison:
    """Cross-validate methods of feature selection on the same folds.

    In every fold each method chooses features in the training rows. A linear model that sees only
    these is tested on the other rows, and the choice is certified for the rows that matter to
    the model on all features.

    Parameters
    ----------
    X : {array-like, sparse array or matrix} of shape (n_samples, n_features)
        Data.
    y : array-like of shape (n_samples,)
        Labels, or numbers for a model that predicts numbers.
    sizes : sequence of int
        Numbers of features to choose, fewer than there are.
    methods : sequence of str or selector, default=None
        Some of "bss", "bss-paper" (its algorithm as published), "leverage", "rrqr", "rfe",
        "lpsvm", "l1", "univariate" and "random", or selectors with a parameter
        ``n_features_to_select``, ``max_features`` or ``k``; None takes all that have names. For a
        model that predicts numbers that is without "bss-paper", "lpsvm" and "l1", which are
        classifiers.
    estimator : estimator, default=None
        Linear model, as the selectors take it; None takes their default.
    scaling : {"none", "standard", "tfidf"}, default="none"
        How the columns are scaled first, learnt from the training rows of each fold: not at all;
        to mean 0 and variance 1 (sparse data to variance 1 only); or by tf-idf, for word counts.
    tune : bool or "auto", default=True
        Whether to find the errors at a tuned C too: with few features another C is best than with
        many, so that errors at one C for all are not the whole truth. In every fold C is the best
        of a hundredth to a hundred times that of the model, by three inner folds in which features
        are chosen anew. It takes about three times as long. "auto" does so where it is possible: it
        takes a model with a C, and some rows of each class.
    n_repeats, n_folds : int
        Number of cross-validations, and of their folds.
    n_jobs : int, default=-1
        Number of worker processes; -1 takes all cores.
    seed : int, default=0
        Seed of the folds, which are shuffled and have the classes in equal shares, and of the
        methods; those that draw lots ("leverage" and "random") get another one in every fold.

    Returns
    -------
    Comparison
        Errors, times and measured growth; print it, or see ``to_frame()``. Errors are shares of
        wrong classes, or 1 - R² where numbers are predicted.

    See Also
    --------
    certifeature.plotting.ErrorCurveDisplay : Plots the errors.
    certifeature.certify : The errors of one selector, on the same folds.

    Notes
    -----
    "bss" multiplies the chosen columns by one factor, which makes up for those left out; others do
    not. At the C of the model that is part of the difference. With C tuned it hardly counts.

    Examples
    --------
    >>> from certifeature import compare
    >>> from certifeature.datasets import make_relevant_features
    >>> X, y = make_relevant_features(60, 200, 10, random_state=0)
    >>> comparison = compare(X, y, [20], methods=["bss", "rfe"], n_folds=3, n_jobs=1)
    >>> [contender.method for contender in comparison.contenders]
    ['full data', 'bss', 'rfe']
    """
    model = default_model(seed) if estimator is None else estimator
    check_model(model)
    model = capped(model)
    chosen = methods_for(model, methods)
    X, y = _checked(X, y, model, sizes, scaling)
    cells = _cells(chosen, sizes)
    folds = {
        (repeat, fold): split
        for repeat in range(n_repeats)
        for fold, split in enumerate(_splits(X, y, model, n_folds, seed_of_repeat(seed, repeat)))
    }
    if tune:
        reason = _why_not_tuned(model, y, folds.values(), seed)
        if reason is not None and tune != "auto":
            raise ValueError(f"{reason}; compare at one C, with tune=False (--no-tune).")
        tune = reason is None
    calls = [
        delayed(_measured)(X, y, model, cells, scaling, tune, split, seed, draw_seed(seed, *place))
        for place, split in folds.items()
    ]
    outcomes = in_parallel(calls, "folds", n_jobs=n_jobs)
    by_cell = zip(cells, zip(*outcomes, strict=True), strict=True)
    contenders = (_contender(method.name, size, part) for (method, size), part in by_cell)
    measure = "1 - R2" if predicts_numbers(model) else "error"
    return Comparison(tuple(contenders), n_repeats, n_folds, seed, measure)


def _cells(methods: Sequence[Method], sizes: Sequence[int]) -> list[Cell]:
    """Return full data, and each method at each size."""
    cells: list[Cell] = [(KEEP_ALL, None)]
    for method in methods:
        asked = [None] if method.own_size else dict.fromkeys(sizes)
        cells += [(method, size) for size in asked]
    return cells


def _checked(
    X: Any, y: Any, model: Any, sizes: Sequence[int], scaling: str
) -> tuple[Any, NDArray[Any]]:
    """Return data and labels, or numbers, that every fold can be made of."""
    numbers = predicts_numbers(model)
    refuse_dates(X)
    X, y = check_X_y(X, y, accept_sparse="csr", dtype=np.float64, y_numeric=numbers)
    if not numbers:
        check_classification_targets(y)
    if sparse.issparse(X):
        X = canonical_csr(X)
    n_features = X.shape[1]
    if not isinstance(sizes, Iterable):
        raise ValueError(f"sizes={sizes!r} is one number; give a list, [{sizes!r}].")
    impossible = [size for size in sizes if not 1 <= size < n_features]
    if impossible:
        raise ValueError(
            f"{impossible[0]} features cannot be chosen from {n_features}; "
            f"ask for 1 to {n_features - 1}."
        )
    if scaling not in SCALINGS:
        raise ValueError(f"scaling={scaling!r} is unknown; choose from {', '.join(SCALINGS)}.")
    return X, y


def _splits(X: Any, y: NDArray[Any], model: Any, n_folds: int, seed: int) -> list[Split]:
    return splits_of(X, y, n_folds, seed, predicts_numbers(model))[0]


def _why_not_tuned(model: Any, y: NDArray[Any], splits: Iterable[Split], seed: int) -> str | None:
    """Return why there are no inner folds to tune C by, if so."""
    for train, _ in splits:
        try:
            splits_of(train, y[train], N_INNER, seed, predicts_numbers(model))
        except ValueError as error:
            reason = str(error).partition(";")[0]
            return f"C is tuned by {N_INNER} inner folds of the training rows, but there {reason}"
    return None


def _measured(
    X: Any,
    y: NDArray[Any],
    model: Any,
    cells: Sequence[Cell],
    scaling: str,
    tune: bool,
    split: Split,
    seed: int,
    drawn: int,
) -> list[_Outcome]:
    """Return what each cell gives on one fold."""
    # One thread, so that sums are rounded alike however many workers there are.
    with threadpool_limits(1), warnings.catch_warnings():
        # A method that does not converge is compared as it is.
        warnings.simplefilter("ignore")
        fold = TrainedFold(model, X, y, split, scaling, seed)
        return [_outcome(fold, cell, drawn if cell[0].draws else seed, tune) for cell in cells]


def _outcome(fold: TrainedFold, cell: Cell, seed: int, tune: bool) -> _Outcome:
    start = perf_counter()
    sample = fold.choose(*cell, seed)
    seconds = perf_counter() - start
    return _Outcome(
        tuple(sample.indices.tolist()),
        fold.error(sample),
        fold.tuned_error(*cell, seed, sample) if tune else None,
        seconds,
        fold.growth(sample),
    )


def _contender(method: str, size: int | None, outcomes: Sequence[_Outcome]) -> Contender:
    tuned = (outcome.tuned_error for outcome in outcomes)
    return Contender(
        method,
        size,
        float(np.mean([len(outcome.chosen) for outcome in outcomes])),
        tuple(outcome.error for outcome in outcomes),
        float(np.median([outcome.seconds for outcome in outcomes])),
        float(np.median([outcome.growth for outcome in outcomes])),
        tuple(error for error in tuned if error is not None),
        tuple(outcome.chosen for outcome in outcomes) if method != FULL_DATA else (),
    )
