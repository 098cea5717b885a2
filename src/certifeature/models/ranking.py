"""Ranking of features by the stability of their weights over subsamples."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from certifeature._progress import phase
from certifeature._utils import EPS, FloatArray, IntArray
from certifeature.models.problem import Problem, has_free_intercept, predicts_numbers
from certifeature.models.solver import squared_hinge_duals
from certifeature.models.support import (
    capped,
    check_row_norms,
    class_importance,
    dense_coef,
    fit_model,
)
from certifeature.rows.matrix import (
    Centred,
    canonical_order,
    class_numbers,
    dense,
    normalised,
    row_norms,
    scaled_back,
)

# Of a feature each, for every subsample.
Weights = Sequence[FloatArray] | FloatArray

_SUBSAMPLES = 36
# Rows up to which the fits to all subsamples are solved together.
_MAX_TOGETHER = 1000
_MAX_ITERATIONS = 50_000
# Of the Gram matrix, whose eigenvectors cost the cube.
_MAX_GRAM_ROWS = 2000
# To which weights that are equal but for rounding are so.
_WEIGHT_DIGITS = 12
# Share of the largest weight by which two fits with one solution may differ.
_SOLVER = 1e-6
# LIBLINEAR penalises the intercept of a ranking as the weight of a constant column, whose value is
# this multiple of the size of the rows.
_NEARLY_FREE = 10.0


def stable_scores(
    model: Any,
    X: Any,
    y: NDArray[Any],
    sample_weight: FloatArray | None = None,
    *,
    n_subsamples: int = _SUBSAMPLES,
    share: float = 0.6,
    seed: int = 0,
    groups: IntArray | None = None,
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
    n_subsamples : int, default=36
        Number of subsamples.
    share : float, default=0.6
        Share of the rows of each class in a subsample; two rows at least, if there are as many.
        Of numbers, share of all rows.
    seed : int, default=0
        Seed for the subsampling, and for a model whose ``random_state`` is None.
    groups : ndarray of int, of shape (n_features,), default=None
        Number of the group of each feature, to score groups: by ‖mean w‖ over their features, and
        the norm of the standard deviations.

    Returns
    -------
    ndarray of shape (n_features,) or (n_groups,)
        Scores, 0 for a feature that no fit uses. With several classes, the norm over the binary
        problems. The order of rows does not change them, nor does that of columns, unless distinct
        rows look alike but for it, as those of the identity matrix do.

    See Also
    --------
    feature_weights : The sizes of the weights of one fit to all rows.

    Notes
    -----
    A rotation does not change a model with an l2 penalty. Where rows are few, all fits are in the
    coordinates that the Gram matrix of the rows gives them, and one product turns all weights back:
    many features cost no more than few. SVMs with the squared hinge loss take the Gram matrix
    itself, and up to 1,000 rows are solved together.

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
    >>> X, y = make_relevant_features(60, 300, n_relevant=5, random_state=0)
    >>> scores = stable_scores(SVC(kernel="linear"), X, y)
    >>> sorted(np.argsort(-scores)[:3].tolist())
    [2, 3, 4]
    """
    if sample_weight is not None:
        positive = sample_weight > 0
        X, y, sample_weight = X[positive], y[positive], sample_weight[positive]
    check_row_norms(X)
    rows, exponent = normalised(X)
    numbers = predicts_numbers(model)
    is_free, model = has_free_intercept(model), _own_copy(model, X, seed)
    if not numbers:
        # Solvers take classes in the order of their names, which must not matter.
        names, y = y, class_numbers(rows, y, sample_weight)
        _rename_classes(model, dict(zip(names.tolist(), y.tolist(), strict=True)))
    importance = class_importance(Problem.of(model, y))
    order = canonical_order(rows, y, sample_weight, numbers=numbers)
    order, sample_weight = _without_repeats(rows, y, sample_weight, order)
    X, rows, y = X[order], rows[order], y[order]
    subsamples = _subsamples(np.zeros(len(y)) if numbers else y, n_subsamples, share, seed)
    problem = Problem.of(model, y)
    is_squared_hinge = problem.loss == "squared_hinge" and problem.intercept is not None
    problems: Iterable[Weights]
    if is_squared_hinge and len(y) <= min(X.shape[1], _MAX_TOGETHER):
        problems = _weights_at_once(model, rows, exponent, y, sample_weight, subsamples)
    # Coordinates of the rows may be fewer than their values.
    elif len(y) <= _MAX_GRAM_ROWS and len(y) ** 2 < _n_values(rows):
        X, back = _coordinates(rows)
        fits = _weights(model, scaled_back(X, exponent), y, sample_weight, subsamples)
        problems = ((rows.T @ (back @ np.column_stack(weights))).T for weights in fits)
    else:
        if is_free:
            model.set_params(intercept_scaling=np.inf)
        # To an intercept that is free, the origin does not matter.
        X = X.stored if isinstance(X, Centred) else X
        problems = _weights(model, X, y, sample_weight, subsamples)
    # Problems count as much as their classes have rows.
    scores = np.array([_scores(weights, groups) for weights in problems])
    return np.asarray(np.linalg.norm(scores * importance[: len(scores), None], axis=0))


def _without_repeats(
    rows: Any, y: NDArray[Any], sample_weight: FloatArray | None, order: IntArray
) -> tuple[IntArray, FloatArray | None]:
    """Return the order without rows that are there already, whose weights add up.

    A row of weight 2 counts like two equal rows, so these are in a subsample together.
    """
    rows = rows.stored if isinstance(rows, Centred) else rows
    weights = np.ones(len(y)) if sample_weight is None else sample_weight
    sums = np.asarray(rows.sum(axis=1)).ravel()
    first, second = order[:-1], order[1:]
    alike = np.flatnonzero((y[first] == y[second]) & (sums[first] == sums[second]))
    differences = np.asarray(abs(rows[first[alike]] - rows[second[alike]]).sum(axis=1)).ravel()
    is_new = np.ones(len(order), dtype=bool)
    is_new[1 + alike[differences == 0]] = False
    totals = np.asarray(np.bincount(np.cumsum(is_new) - 1, weights[order]), dtype=np.float64)
    return order[is_new], None if (totals == 1).all() else totals


def _subsamples(y: NDArray[Any], n_subsamples: int, share: float, seed: int) -> list[IntArray]:
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


def _n_values(rows: Any) -> int:
    return int(rows.nnz if sparse.issparse(rows) else np.prod(rows.shape))


def _coordinates(rows: Any) -> tuple[FloatArray, FloatArray]:
    """Return Z with ZZᵀ = XXᵀ, as narrow as can be, and B for which weights w of Z are XᵀBw of X.

    With U and Λ the eigenvectors and eigenvalues of XXᵀ, Z = U√Λ and B = U/√Λ.
    """
    values, vectors = linalg.eigh(dense(rows @ rows.T))
    kept = values > len(values) * EPS * values[-1]
    roots, vectors = np.sqrt(values[kept]), vectors[:, kept]
    return vectors * roots, vectors / roots


def _own_copy(model: Any, X: Any, seed: int) -> Any:
    """Return an unfitted model that gives the same weights at every call, and gives up in time."""
    # Classes that overlap can keep LIBSVM busy long after the ranking is clear.
    model = capped(model, _MAX_ITERATIONS)
    if has_free_intercept(model):
        size = float(np.linalg.norm(row_norms(X))) / X.shape[0] ** 0.5
        model.set_params(intercept_scaling=_NEARLY_FREE * size)
    if model.get_params().get("random_state", seed) is None:
        model.set_params(random_state=seed)
    return model


def _rename_classes(model: Any, names: dict[Any, int]) -> None:
    """Give the weights of classes to what the classes are called now."""
    weights = getattr(model, "class_weight", None)
    if isinstance(weights, Mapping):
        new = {names[label]: weight for label, weight in weights.items() if label in names}
        model.set_params(class_weight=new)


def _weights(
    model: Any,
    X: Any,
    y: NDArray[Any],
    sample_weight: FloatArray | None,
    subsamples: list[IntArray],
) -> Iterable[tuple[FloatArray, ...]]:
    """Return weights for each binary problem, with a line for each subsample."""
    fits = []
    with phase("fits to subsamples", len(subsamples)) as advance, warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for chosen in subsamples:
            part = None if sample_weight is None else sample_weight[chosen]
            fits.append(dense_coef(fit_model(clone(model), X[chosen], y[chosen], part)))
            advance()
    return zip(*fits, strict=True)


def _weights_at_once(
    svm: Any,
    rows: Any,
    exponent: int,
    y: NDArray[Any],
    sample_weight: FloatArray | None,
    subsamples: list[IntArray],
) -> list[FloatArray]:
    """Return weights for each binary problem, with a line for each subsample.

    All fits share the Gram matrix of the rows, which are those of the data over 2**exponent.
    """
    problem = Problem.of(svm, y)
    targets = [signs for _, signs in problem.splits]
    costs = np.zeros((len(y), len(targets), len(subsamples)))
    for number, chosen in enumerate(subsamples):
        part = None if sample_weight is None else sample_weight[chosen]
        costs[chosen, :, number] = Problem.of(svm, y[chosen], part).costs
    signs = np.repeat(np.column_stack(targets), len(subsamples), axis=1)
    gram = scaled_back(dense(rows @ rows.T), 2 * exponent) + (problem.intercept or 0.0) ** 2
    duals = squared_hinge_duals(gram, signs, costs.reshape(signs.shape))
    return [weights.T for weights in np.hsplit(rows.T @ duals, len(targets))]


def _scores(fits: Weights, groups: IntArray | None) -> FloatArray:
    """Return |mean|/(sd + rms sd) of weights; a second copy of them all may be too much.

    Of a group they are the norms of the means and of the standard deviations of its weights.
    """
    largest = max(np.abs(weights).max(initial=0.0) for weights in fits)
    if largest == 0:
        return np.zeros(len(fits[0]) if groups is None else groups.max() + 1)
    means = sum(weights / largest for weights in fits) / len(fits)
    squares = sum((weights / largest - means) ** 2 for weights in fits) / len(fits)
    if groups is not None:
        means = np.sqrt(np.bincount(groups, means**2))
        squares = np.bincount(groups, squares)
    means = np.round(np.abs(means), _WEIGHT_DIGITS)
    deviations = np.round(np.sqrt(squares), _WEIGHT_DIGITS)
    if deviations.max() <= _SOLVER:
        # All subsamples have the same solution: weights are as sure as they are large.
        return np.asarray(means)
    return np.asarray(means / (deviations + np.sqrt(np.mean(deviations[deviations > 0] ** 2))))
