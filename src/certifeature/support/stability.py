"""How sure a linear model is of its weights, over subsamples of the rows."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy import linalg, sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, LinearSVC, NuSVC
from sklearn.utils.validation import has_fit_parameter

from certifeature.rows.matrix import normalised, scaled_back
from certifeature.support.accepted import predicts_numbers
from certifeature.support.fitted import dense_coef
from certifeature.support.model import fit_model
from certifeature.support.smooth import has_gradient

__all__ = ["stable_scores"]

FloatArray = NDArray[np.float64]
Indices = NDArray[np.intp]

# Fits of many rows are expensive, and vary less.
_SUBSAMPLES, _SUBSAMPLES_OF_MANY, _MANY_ROWS = 36, 12, 1000
_MAX_ITERATIONS = 50_000
# Of the Gram matrix, whose eigenvectors cost the cube.
_MAX_GRAM_ROWS = 2000
# To which rows and weights that are equal but for rounding are so.
_ROW_DIGITS, _WEIGHT_DIGITS = 9, 12
# Share of the largest weight by which two fits with one solution may differ.
_SOLVER = 1e-6
_EPS = float(np.finfo(np.float64).eps)
_TINY = float(np.finfo(np.float64).tiny)


def stable_scores(
    model: Any,
    X: Any,
    y: NDArray[Any],
    sample_weight: FloatArray | None = None,
    *,
    n_subsamples: int | None = None,
    share: float = 0.6,
    seed: int = 0,
    n_jobs: int | None = None,
) -> FloatArray:
    """Score all features by how large their weights are against how much they vary.

    The model is fitted to subsamples of the rows, with a share of each class. The score of a
    feature is abs(mean w) / (sd w + rms sd), with the root of the mean square over the features
    whose weights vary. A feature that fits the noise of some rows has a large weight on few
    subsamples only, or of either sign.

    Parameters
    ----------
    model : estimator
        Unfitted linear model with ``coef_``; it is left alone.
    X : {ndarray, sparse array or matrix} of shape (n_samples, n_features)
        Rows to fit on, not zero everywhere.
    y : ndarray of shape (n_samples,)
        Labels, or numbers for a model that predicts numbers.
    sample_weight : ndarray of shape (n_samples,), default=None
        Weights of the rows. Rows of weight 0 are in no subsample.
    n_subsamples : int, default=None
        Number of subsamples; None takes 36 of up to 1,000 rows, and 12 of more.
    share : float, default=0.6
        Share of the rows of each class in a subsample; two rows at least, if there are as many.
        Of numbers, share of all rows.
    seed : int, default=0
        Of the subsamples, and of a model whose ``random_state`` is None.
    n_jobs : int, default=None
        Number of processes that fit. It does not change the scores.

    Returns
    -------
    ndarray of shape (n_features,)
        Scores, 0 for a feature that no fit uses. With several classes, the norm over the binary
        problems. The order of rows does not change them, nor does that of columns, unless distinct
        rows look alike but for it, as those of the identity matrix do.

    See Also
    --------
    feature_weights : The sizes of the weights of one fit to all rows.

    Notes
    -----
    A model with an l2 penalty does not mind a rotation. Where rows are few, all fits are in the
    coordinates that the Gram matrix of the rows gives them, and one product turns all weights back:
    many features cost no more than few.

    A fit that does not converge is no cause for a warning here: nothing is proven by a ranking.

    References
    ----------
    .. [1] N. Meinshausen and P. Bühlmann, "Stability selection", Journal of the Royal Statistical
       Society B 72, 417-473, 2010.
    .. [2] V. G. Tusher, R. Tibshirani and G. Chu, "Significance analysis of microarrays applied to
       the ionizing radiation response", PNAS 98, 5116-5121, 2001; a constant beside the standard
       deviation.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.svm import SVC
    >>> from certifeature.datasets import make_relevant_features
    >>> from certifeature.support.stability import stable_scores
    >>> X, y = make_relevant_features(60, 300, n_relevant=5, random_state=0)
    >>> scores = stable_scores(SVC(kernel="linear"), X, y)
    >>> sorted(np.argsort(-scores)[:3].tolist())
    [2, 3, 4]
    """
    if sample_weight is not None:
        positive = sample_weight > 0
        X, y, sample_weight = X[positive], y[positive], sample_weight[positive]
    rows, exponent = normalised(X)
    numbers = predicts_numbers(model)
    order = _canonical_order(rows, y, sample_weight, numbers=numbers)
    if has_fit_parameter(model, "sample_weight"):
        order, sample_weight = _without_repeats(rows, y, sample_weight, order)
    elif sample_weight is not None:
        sample_weight = sample_weight[order]
    X, rows, y = X[order], rows[order], y[order]
    back = None
    if _gram_pays(model, rows):
        X, back = _coordinates(rows)
        X = scaled_back(X, exponent)
    model = _own_copy(model, seed)
    if n_subsamples is None:
        n_subsamples = _SUBSAMPLES if len(y) <= _MANY_ROWS else _SUBSAMPLES_OF_MANY
    # Processes, for what `fit_model` does about warnings is not safe in threads.
    fits = Parallel(n_jobs, backend="loky")(
        delayed(_weights)(model, X, y, sample_weight, chosen)
        for chosen in _subsamples(np.zeros(len(y)) if numbers else y, n_subsamples, share, seed)
    )
    problems = (np.column_stack(weights) for weights in zip(*fits, strict=True))
    scores = [_scores(w if back is None else rows.T @ (back @ w)) for w in problems]
    return np.asarray(np.linalg.norm(scores, axis=0))


def _canonical_order(
    rows: Any, y: NDArray[Any], sample_weight: FloatArray | None, *, numbers: bool = False
) -> Indices:
    """Return an order of the rows that depends on where neither rows nor columns stand.

    Rows are told apart by their class or number, their length, the sum of their values, and their
    products with the sums of the classes, or of all rows times their numbers; then by how all of
    these are around them, in the images under XXᵀ. Keys are rounded relative to what they could be
    at most, for the sum of a class may be no more than rounding itself. Rows that are still alike
    are told apart by where their values stand.
    """
    n_features = rows.shape[1]
    if numbers:
        labels = y
        members = (y / max(np.abs(y).max(initial=0.0), _TINY))[:, None]
    else:
        classes, labels = np.unique(y, return_inverse=True)
        members = (labels[:, None] == np.arange(len(classes))).astype(float)
    squares = rows.multiply(rows) if sparse.issparse(rows) else rows * rows
    lengths = np.sqrt(np.asarray(squares.sum(axis=1)).ravel())
    units = np.where(lengths > 0, lengths, 1.0)[:, None]
    total = lengths.sum()
    sums = rows.T @ members / total
    products = rows @ np.column_stack([np.full(n_features, n_features**-0.5), sums]) / units
    images = rows @ (rows.T @ products / total) / units
    places = rows @ np.random.default_rng(0).standard_normal((n_features, 1)) / units
    keys = np.hstack([places, images, products, np.log(units), lengths[:, None] > 0])
    weights = [] if sample_weight is None else [sample_weight]
    # Weights come last: repeated rows stand together, whatever their weights.
    return np.lexsort((*weights, *np.round(keys, _ROW_DIGITS).T, labels))


def _without_repeats(
    rows: Any, y: NDArray[Any], sample_weight: FloatArray | None, order: Indices
) -> tuple[Indices, FloatArray | None]:
    """Return the order without rows that are there already, whose weights add up.

    A row of weight 2 counts like two equal rows, so these are in a subsample together.
    """
    weights = np.ones(len(y)) if sample_weight is None else sample_weight
    differs = abs(rows[order[1:]] - rows[order[:-1]]).sum(axis=1)
    is_new = np.ones(len(order), dtype=bool)
    is_new[1:] = (np.asarray(differs).ravel() > 0) | (y[order[1:]] != y[order[:-1]])
    totals = np.asarray(np.bincount(np.cumsum(is_new) - 1, weights[order]), dtype=np.float64)
    return order[is_new], None if (totals == 1).all() else totals


def _subsamples(y: NDArray[Any], n_subsamples: int, share: float, seed: int) -> list[Indices]:
    """Return rows of subsamples with the same share of each class."""
    rng = np.random.default_rng(seed)
    members = [np.flatnonzero(y == label) for label in np.unique(y)]
    sizes = [max(min(2, len(rows)), round(share * len(rows))) for rows in members]
    return [
        np.concatenate(
            [
                np.sort(rng.choice(rows, size, replace=False))
                for rows, size in zip(members, sizes, strict=True)
            ]
        )
        for _ in range(n_subsamples)
    ]


def _gram_pays(model: Any, rows: Any) -> bool:
    """Tell whether the coordinates of rows are fewer than their values, and may replace these."""
    rotates = (
        isinstance(model, SVC | NuSVC)
        or (isinstance(model, LinearSVC) and model.penalty == "l2")
        or has_gradient(model)
    )
    n_rows = rows.shape[0]
    n_values = rows.nnz if sparse.issparse(rows) else rows.size
    return rotates and n_rows <= _MAX_GRAM_ROWS and n_rows**2 < n_values


def _coordinates(rows: Any) -> tuple[FloatArray, FloatArray]:
    """Return Z with ZZᵀ = XXᵀ, as narrow as can be, and B for which weights w of Z are XᵀBw of X.

    With U and Λ the eigenvectors and eigenvalues of XXᵀ, Z = U√Λ and B = U/√Λ.
    """
    gram = rows @ rows.T
    gram = gram.toarray() if sparse.issparse(gram) else gram
    values, vectors = linalg.eigh(gram)
    kept = values > len(values) * _EPS * values[-1]
    roots, vectors = np.sqrt(values[kept]), vectors[:, kept]
    return vectors * roots, vectors / roots


def _own_copy(model: Any, seed: int) -> Any:
    """Return an unfitted model that gives the same weights at every call, and gives up in time."""
    model = clone(model)
    if isinstance(model, SVC) and not 0 <= model.max_iter <= _MAX_ITERATIONS:
        # Classes that overlap can keep LIBSVM busy long after the ranking is clear.
        model.set_params(max_iter=_MAX_ITERATIONS)
    if model.get_params().get("random_state", seed) is None:
        model.set_params(random_state=seed)
    return model


def _weights(
    model: Any, X: Any, y: NDArray[Any], sample_weight: FloatArray | None, rows: Indices
) -> FloatArray:
    """Return the weights of a model on some rows, one line for each binary problem."""
    part = None if sample_weight is None else sample_weight[rows]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return dense_coef(fit_model(clone(model), X[rows], y[rows], part))


def _scores(weights: FloatArray) -> FloatArray:
    """Return |mean|/(sd + rms sd) of weights, with a row for each feature."""
    largest = np.abs(weights).max(initial=0.0)
    if largest == 0:
        return np.zeros(len(weights))
    weights = weights / largest
    means = np.round(np.abs(weights.mean(axis=1)), _WEIGHT_DIGITS)
    deviations = np.round(weights.std(axis=1), _WEIGHT_DIGITS)
    if deviations.max() <= _SOLVER:
        # All subsamples have the same solution: weights are as sure as they are large.
        return means
    return means / (deviations + np.sqrt(np.mean(deviations[deviations > 0] ** 2)))
