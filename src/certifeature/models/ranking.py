"""Orders of features."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from joblib import delayed
from numpy.typing import NDArray
from scipy import linalg, sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from certifeature._utils import in_parallel
from certifeature.models.problem import Problem, predicts_numbers
from certifeature.models.solver import InnerProducts, squared_hinge_duals
from certifeature.models.support import (
    capped,
    check_row_norms,
    dense_coef,
    feature_weights,
    fit_model,
    ranks,
)
from certifeature.rows.matrix import (
    canonical_order,
    class_numbers,
    normalised,
    scaled_back,
    scaled_columns,
)

FloatArray = NDArray[np.float64]

_ROUNDS = 4
# A feature below this share of the largest is dropped: with its square, which is what a model sees
# of it, it is lost in the rounding of the others.
_NEGLIGIBLE = 1e-10
_DIGITS = 12


def arom_scores(
    model: Any, X: Any, y: NDArray[Any], sample_weight: FloatArray | None = None
) -> FloatArray:
    """Rank all features by four rounds of repeated reweighting (Weston et al.).

    In each round a linear model is fitted to X·diag(z), and z becomes z·abs(w), from z = 1.
    Features that count become ever larger, and the others fade, together with what they repeat.

    Parameters
    ----------
    model : estimator
        Unfitted linear model with ``coef_``; it is left alone.
    X : {ndarray, sparse array or matrix} of shape (n_samples, n_features)
        Rows to fit on.
    y : ndarray of shape (n_samples,)
        Labels, or numbers.
    sample_weight : ndarray of shape (n_samples,), default=None
        Weights of the rows.

    Returns
    -------
    ndarray of shape (n_features,)
        Ranks from 0 for the worst, equal for equal features. Features that last for more rounds are
        the better ones, and among these the ones with the larger z.

    See Also
    --------
    elimination_order : Drop the features with the smallest weights, again and again.

    Notes
    -----
    With several classes, abs(w) is the norm over the binary problems, as in `feature_weights`.

    With α the multipliers of the rows, w = z·Xᵀα. So z² times the sizes of Xᵀα is the next z, whose
    logarithm neither underflows nor hides small features behind the rounding of large ones.

    References
    ----------
    .. [1] J. Weston, A. Elisseeff, B. Schölkopf and M. Tipping, "Use of the zero-norm with linear
       models and kernel methods", Journal of Machine Learning Research 3, 1439-1461, 2003.

    Examples
    --------
    Only the first column grows; the last one is of no use at all.

    >>> import numpy as np
    >>> from sklearn.svm import SVC
    >>> X, y = np.array([[-2.0, -1, -1, 0], [2.0, 1, 1, 0]]), np.array([0, 1])
    >>> arom_scores(SVC(kernel="linear"), X, y)
    array([2., 1., 1., 0.])
    """
    n_features = X.shape[1]
    n_rounds, log_z = np.zeros(n_features), np.zeros(n_features)
    columns = np.arange(n_features)
    for _ in range(_ROUNDS):
        z = np.exp(log_z[columns])
        part = scaled_columns(X if len(columns) == n_features else X[:, columns], z)
        fitted = fit_model(clone(model), part, y, sample_weight)
        sizes = _sizes(dense_coef(fitted), z)
        used = sizes > 0
        if not used.any():
            break
        columns, sizes = columns[used], sizes[used]
        n_rounds[columns] += 1
        log_z[columns] = 2 * log_z[columns] + np.log(sizes)
        log_z[columns] -= log_z[columns].max()
        columns = columns[log_z[columns] > np.log(_NEGLIGIBLE)]
    return ranks(n_rounds, log_z)


def _sizes(coef: FloatArray, z: FloatArray) -> FloatArray:
    """Return the sizes of Xᵀα, as shares of the largest; equal where they are so but for rounding.

    Rounding comes after the division by z, for every column of X·diag(z) has its own size, and
    its weight is as accurate for it.
    """
    largest = np.abs(coef).max(initial=0.0)
    if largest == 0:
        return np.zeros_like(z)
    sizes = np.linalg.norm(coef / largest / z, axis=0)
    return np.round(sizes / sizes.max(), _DIGITS)


# Share of the features that is kept from one fit to the next.
_KEPT = 0.5


def elimination_order(
    model: Any, X: Any, y: NDArray[Any], sample_weight: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Rank all features by recursive elimination (Guyon et al.) in geometric steps.

    The model is fitted again and again; each time the features with the smallest weights drop out.
    The path does not depend on how many features are wanted in the end.

    Parameters
    ----------
    model : estimator
        Linear model fitted to all features of X, y; it gives the first step.
    X : {ndarray, sparse array or matrix} of shape (n_samples, n_features)
        Rows to fit on.
    y : ndarray of shape (n_samples,)
        Labels, or numbers.
    sample_weight : ndarray of shape (n_samples,), default=None
        Weights of the rows.

    Returns
    -------
    ndarray of shape (n_features,)
        d for the feature that stays longest, 1 for the first to go.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.svm import SVC
    >>> X, y = np.array([[-2.0, 0.1, -1.0], [2.0, 0.1, 1.0]]), np.array([0, 1])
    >>> elimination_order(SVC(kernel="linear").fit(X, y), X, y)
    array([3., 1., 2.])
    """
    columns = np.arange(X.shape[1])
    dropped: list[NDArray[np.intp]] = []
    while len(columns) > 1:
        # Stable, so that of equal weights the lower index stays.
        best_first = columns[np.argsort(-feature_weights(model), kind="stable")]
        n_kept = max(1, int(_KEPT * len(columns)))
        dropped.append(best_first[n_kept:])
        columns = np.sort(best_first[:n_kept])
        if n_kept > 1:
            model = fit_model(clone(model), X[:, columns], y, sample_weight)
    ranking = np.concatenate([columns, *reversed(dropped)])
    order = np.empty(len(ranking))
    order[ranking] = np.arange(len(ranking), 0, -1)
    return order


Indices = NDArray[np.intp]
# Of a feature each, for every subsample.
Weights = Sequence[FloatArray] | FloatArray

# Fits of many rows are expensive, and vary less.
_SUBSAMPLES, _SUBSAMPLES_OF_MANY, _MANY_ROWS = 36, 12, 1000
# To what part of a margin LIBLINEAR solves for many rows. Its weights are then wrong by less than
# a hundredth of the largest, and vary by some tenths.
_ROUGH = 0.1
_MAX_ITERATIONS = 50_000
# Of the Gram matrix, whose eigenvectors cost the cube.
_MAX_GRAM_ROWS = 2000
# To which weights that are equal but for rounding are so.
_WEIGHT_DIGITS = 12
# Share of the largest weight by which two fits with one solution may differ.
_SOLVER = 1e-6
_EPS = float(np.finfo(np.float64).eps)


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
        Seed for the subsampling, and for a model whose ``random_state`` is None.
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
    A rotation does not change a model with an l2 penalty. Where rows are few, all fits are in the
    coordinates that the Gram matrix of the rows gives them, and one product turns all weights back:
    many features cost no more than few. SVMs with the squared hinge loss take the Gram matrix
    itself, and are solved together. Of more than 1,000 rows, fewer than features, LIBLINEAR solves
    them to a tenth of a margin: that changes weights by less than subsamples do by far.

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
    model = _own_copy(model, seed)
    if not numbers:
        # Solvers take classes in the order of their names, which must not matter.
        names, y = y, class_numbers(rows, y, sample_weight)
        _rename_classes(model, dict(zip(names.tolist(), y.tolist(), strict=True)))
    order = canonical_order(rows, y, sample_weight, numbers=numbers)
    order, sample_weight = _without_repeats(rows, y, sample_weight, order)
    X, rows, y = X[order], rows[order], y[order]
    many = len(y) > _MANY_ROWS
    if n_subsamples is None:
        n_subsamples = _SUBSAMPLES_OF_MANY if many else _SUBSAMPLES
    subsamples = _subsamples(np.zeros(len(y)) if numbers else y, n_subsamples, share, seed)
    wide = len(y) <= X.shape[1]
    problem = Problem.of(model, y)
    is_squared_hinge = problem.loss == "squared_hinge" and problem.intercept is not None
    if is_squared_hinge and wide and not many:
        return _norm_of_scores(
            _weights_at_once(model, rows, exponent, y, sample_weight, subsamples)
        )
    back = None
    if _gram_pays(rows):
        X, back = _coordinates(rows)
        X = scaled_back(X, exponent)
    fit = _rough_fit if is_squared_hinge and many and wide else fit_model
    # Processes, for what `fit_model` does about warnings is not safe in threads.
    calls = [delayed(_weights)(fit, model, X, y, sample_weight, chosen) for chosen in subsamples]
    fits = in_parallel(calls, "fits to subsamples", n_jobs=n_jobs, backend="loky")
    problems = zip(*fits, strict=True)
    if back is None:
        return _norm_of_scores(problems)
    return _norm_of_scores((rows.T @ (back @ np.column_stack(weights))).T for weights in problems)


def _without_repeats(
    rows: Any, y: NDArray[Any], sample_weight: FloatArray | None, order: Indices
) -> tuple[Indices, FloatArray | None]:
    """Return the order without rows that are there already, whose weights add up.

    A row of weight 2 counts like two equal rows, so these are in a subsample together.
    """
    weights = np.ones(len(y)) if sample_weight is None else sample_weight
    sums = np.asarray(rows.sum(axis=1)).ravel()
    first, second = order[:-1], order[1:]
    alike = np.flatnonzero((y[first] == y[second]) & (sums[first] == sums[second]))
    differences = np.asarray(abs(rows[first[alike]] - rows[second[alike]]).sum(axis=1)).ravel()
    is_new = np.ones(len(order), dtype=bool)
    is_new[1 + alike[differences == 0]] = False
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


def _gram_pays(rows: Any) -> bool:
    """Tell whether the coordinates of rows are fewer than their values."""
    n_rows = rows.shape[0]
    n_values = rows.nnz if sparse.issparse(rows) else rows.size
    return n_rows <= _MAX_GRAM_ROWS and n_rows**2 < n_values


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
    # Classes that overlap can keep LIBSVM busy long after the ranking is clear.
    model = capped(model, _MAX_ITERATIONS)
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
    fit: Callable[..., Any],
    model: Any,
    X: Any,
    y: NDArray[Any],
    sample_weight: FloatArray | None,
    rows: Indices,
) -> FloatArray:
    """Return the weights of a model on some rows, one line for each binary problem."""
    part = None if sample_weight is None else sample_weight[rows]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return dense_coef(fit(clone(model), X[rows], y[rows], part))


def _rough_fit(svm: Any, X: Any, y: NDArray[Any], part: FloatArray | None) -> Any:
    """Fit as `fit_model` does, but not to the optimum."""
    return svm.set_params(dual=True, tol=_ROUGH).fit(X, y, sample_weight=part)


def _weights_at_once(
    svm: Any,
    rows: Any,
    exponent: int,
    y: NDArray[Any],
    sample_weight: FloatArray | None,
    subsamples: list[Indices],
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
    gram = InnerProducts(rows, exponent, problem.intercept or 0.0)
    duals = squared_hinge_duals(gram, signs, costs.reshape(signs.shape))
    return [weights.T for weights in np.hsplit(rows.T @ duals, len(targets))]


def _norm_of_scores(problems: Iterable[Weights]) -> FloatArray:
    """Return the norm over binary problems, each with the weights of every subsample."""
    return np.asarray(np.linalg.norm([_scores(weights) for weights in problems], axis=0))


def _scores(fits: Weights) -> FloatArray:
    """Return |mean|/(sd + rms sd) of weights; a second copy of them all may be too much."""
    largest = max(np.abs(weights).max(initial=0.0) for weights in fits)
    if largest == 0:
        return np.zeros(len(fits[0]))
    means = sum(weights / largest for weights in fits) / len(fits)
    squares = sum((weights / largest - means) ** 2 for weights in fits) / len(fits)
    means = np.round(np.abs(means), _WEIGHT_DIGITS)
    deviations = np.round(np.sqrt(squares), _WEIGHT_DIGITS)
    if deviations.max() <= _SOLVER:
        # All subsamples have the same solution: weights are as sure as they are large.
        return np.asarray(means)
    return np.asarray(means / (deviations + np.sqrt(np.mean(deviations[deviations > 0] ** 2))))
