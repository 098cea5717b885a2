"""The rows that determine a linear model: its support vectors."""

from __future__ import annotations

import warnings
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations, count
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import LinAlgWarning
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import RFE
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.svm import LinearSVC

from certifeature._utils import FloatArray, one_thread, warn
from certifeature.models.problem import (
    SCALE,
    ModelBound,
    Problem,
    check_model,
    default_model,
    has_decimals,
    has_free_intercept,
    is_scaled,
    model_name,
    predicts_numbers,
    solver_of,
    with_scale,
)
from certifeature.models.solver import MAX_DIRECT, minimise
from certifeature.rows.blocks import Block, RowBlocks, stacked
from certifeature.rows.matrix import (
    as_float64,
    column_norms,
    dense,
    exponent_of,
    finite_rows,
    near_origin,
    times_power_of_two,
)
from certifeature.rows.rows import Rows, Spread, real_targets

# Data that were not scaled can keep a solver busy for days. LIBSVM changes two multipliers in a
# step; the other solvers pass over all rows in an iteration.
_MAX_STEPS, _MAX_PASSES = 1_000_000, 100_000
# LIBSVM keeps inner products in single precision and never ends when they overflow.
_LARGEST_ROW_NORM = 1e18
# Of the margins of LIBSVM's solutions, the closer one first; its own default is 1e-3.
_TOLERANCES = (1e-8, 1e-5)


def capped(model: Any, max_steps: int = _MAX_STEPS) -> Any:
    """Return an unfitted copy of a model whose solver ends, converged or not.

    LIBSVM takes at most so many steps.
    """
    return clone(model).set_params(max_iter=_capped_iterations(model, max_steps))


def fit_model(
    model: Any, X: Any, y: NDArray[Any], sample_weight: NDArray[np.float64] | None = None
) -> Any:
    """Fit a linear model, or say why it cannot be.

    Models with a smooth loss (squared hinge, logistic, squared, squared with a tube) are taken to
    their optimum, beyond where scikit-learn's solvers stop, and a `sklearn.svm.SVC` close to it,
    beyond its own tolerance: what is chosen for a model must not depend on the order of the rows.

    Parameters
    ----------
    model : estimator
        Unfitted linear model.
    X : {ndarray, sparse array or matrix} of shape (n_samples, n_features)
        Training data.
    y : ndarray of shape (n_samples,)
        Labels of at least two classes, or finite numbers for a model that predicts numbers.
    sample_weight : ndarray of shape (n_samples,), default=None
        Weights of the rows.

    Returns
    -------
    estimator
        The fitted model.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[-1.0], [1.0]]), np.array([0, 1])
    >>> from sklearn.svm import LinearSVC
    >>> fit_model(LinearSVC(), X, y).coef_.round(6)
    array([[0.8]])
    """
    fit_converges(model, X, y, sample_weight)
    return model


def fit_converges(
    model: Any, X: Any, y: NDArray[Any], sample_weight: NDArray[np.float64] | None = None
) -> bool:
    """Fit a linear model as `fit_model` does, and tell whether it reached its optimum.

    A warning tells it, too.
    """
    check_model(model)
    y = _checked_targets(model, y)
    check_row_norms(X)
    weights = {} if sample_weight is None else {"sample_weight": sample_weight}
    problem = Problem.of(model, y, sample_weight)
    if problem.is_smooth:
        is_direct = sparse.issparse(X) or min(X.shape) <= MAX_DIRECT
        if isinstance(model, Ridge | RidgeClassifier) and not is_direct:
            _fit_quietly(model, X, y, weights)
        else:
            _set_to_zero(model, X, problem)
        reached = move_to_optimum(model, X, problem)
    else:
        tolerances = _TOLERANCES if solver_of(model) == "libsvm" else (model.tol,)
        reached = any(_fit_closely(model, X, y, weights, tolerance) for tolerance in tolerances)
    if not reached:
        warn_of_no_optimum(model)
    return reached


def move_to_optimum(model: Any, X: Any, problem: Problem) -> bool:
    """Move a fitted model to its optimum; tell whether it got there.

    Solvers of scikit-learn stop at a tolerance, so their support rows depend on the order of the
    rows. The optimum is one, and what is chosen for it is the same however the rows come.

    Parameters
    ----------
    model : estimator
        Fitted; its weights are changed.
    X : {ndarray, CSR array} of shape (n_samples, n_features)
        The data it was fitted to.
    problem : Problem
        What it minimises, smooth.
    """
    X = X.astype(np.float64, copy=False)
    free = problem.intercept is None
    constant = 1.0 if free else problem.intercept
    weights = np.zeros((X.shape[1] + 1, len(np.atleast_2d(model.coef_))))
    weights[:-1] = np.atleast_2d(model.coef_).T
    if constant:
        weights[-1] = np.asarray(model.intercept_) / constant
    centre, exponent = np.zeros(X.shape[1]), 0
    if free:
        # Rows far from the origin would lose digits; a free intercept takes in the difference. Rows
        # over 2^e have weights times 2^e, at costs times 4^e.
        given, X = X, near_origin(X)
        centre = dense(given[:1] - X[:1])[0]
        weights[-1] += centre @ weights[:-1]
        exponent = exponent_of(X)
        X = times_power_of_two(X, -exponent)
        weights[:-1] = np.ldexp(weights[:-1], exponent)
    all_reached = True
    for part in problem.parts:
        start = weights[:, part.columns]
        loss = replace(part.loss, costs=np.ldexp(part.loss.costs, 2 * exponent))
        best, reached = minimise(X, loss, problem.intercept, start)
        weights[:, part.columns] = best
        all_reached &= reached
    weights[:-1] = np.ldexp(weights[:-1], -exponent)
    weights[-1] -= centre @ weights[:-1]
    model.coef_ = np.ascontiguousarray(weights[:-1].T).reshape(np.shape(model.coef_))
    if constant:
        values = constant * weights[-1]
        model.intercept_ = float(values[0]) if np.ndim(model.intercept_) == 0 else values
    return all_reached


def _set_to_zero(model: Any, X: Any, problem: Problem) -> None:
    """Set what a fitted model has, with weights of zero.

    LIBLINEAR may never end where C is large, so all it sees is two rows of each class, at C = 1.
    """
    labels = np.repeat(problem.classes, 2) if len(problem.classes) else np.zeros(2)
    easy = {name: 1.0 for name in ("C", "alpha", "intercept_scaling") if hasattr(model, name)}
    _fit_quietly(model, np.eye(len(labels), 1), labels, {}, **easy)
    model.coef_ = np.zeros((*np.shape(model.coef_)[:-1], X.shape[1]))
    model.intercept_, model.n_features_in_ = np.zeros_like(model.intercept_), X.shape[1]


def at_scale(X: Any, estimator: Any = None, *, sample_weight: FloatArray | None = None) -> Any:
    """Return an unfitted model of scikit-learn with the C that suits the scale of rows.

    C = 1/(2s²), with s² the mean squared distance of the rows from their mean: 1 or less for texts
    of unit norm, and the number of columns for standardised ones. The model is then the same in
    whatever units X is, and about as soft for few columns as for many.

    Parameters
    ----------
    X : {array-like, sparse array or matrix} of shape (n_samples, n_features)
        Rows that the model is to be fitted to.
    estimator : estimator, default=None
        Linear model with ``C="scale"`` (or "soft", a fifth of it, or "hard", 200,000 times as
        much, for hardly any slack) or, for ridge regression, ``alpha="scale"``, which means
        s². None is an SVM with the squared hinge loss and an intercept that is hardly penalised
        (``intercept_scaling`` is large).
    sample_weight : ndarray of shape (n_samples,), default=None
        Weights of the rows.

    Returns
    -------
    estimator
        A copy with numbers in the place of "scale".

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = np.array([[0.0, 3.0], [4.0, 3.0]])
    >>> at_scale(X, LogisticRegression(C="scale"))
    LogisticRegression(C=0.125)
    """
    rows = finite_rows(X)
    model = with_scale(
        default_model() if estimator is None else estimator, Spread.of(rows, sample_weight).size()
    )
    lengths = column_norms(rows.T)
    return for_scikit_learn(model, float(np.linalg.norm(lengths)) / max(len(lengths), 1) ** 0.5)


def fit_at_scale(model: Any, rows: Rows, y: NDArray[Any], factor: float = 1.0) -> Any:
    """Fit a copy of a model, with the C that suits the scale of the rows if it is "scale".

    Parameters
    ----------
    model : estimator
        Unfitted linear model.
    rows : Rows
        Rows in memory.
    y : ndarray of shape (n_samples,)
        Labels, or numbers.
    factor : float, default=1.0
        What C is multiplied by.
    """
    return fit_model(with_scale(model, rows.spread.size(), factor), rows.X, y)


def with_numbers(selector: Any, X: Any) -> Any:
    """Return a selector whose ``estimator`` scikit-learn can fit to rows X."""
    model = getattr(selector, "estimator", None)
    # The selectors of this library set C themselves; RFE does not, at several sizes or at one.
    if is_scaled(model) and (
        isinstance(selector, RFE) or not hasattr(selector, "choices_of_sizes")
    ):
        selector.set_params(estimator=at_scale(X, model))
    return selector


# How large intercept_scaling is, relative to the rows: the intercept of LIBLINEAR is then penalised
# by a share of 1e-4 of what it would be as a column like the others.
_NEARLY_FREE = 100.0


def for_scikit_learn(model: Any, size: float) -> Any:
    """Return a model whose own ``fit`` leads to nearly the same weights.

    A free intercept is one that is hardly penalised, relative to rows of this size. A fitted model
    keeps what it has learnt.
    """
    if not has_free_intercept(model):
        return model
    copied = copy(model)
    if hasattr(model, "coef_"):
        lengths = np.linalg.norm(np.atleast_2d(model.coef_), axis=1)
        used = lengths > 0
        size = max([size, *np.abs(np.atleast_1d(model.intercept_))[used] / lengths[used]])
    scaling = float(f"{_NEARLY_FREE * size:.3g}") or 1.0
    return copied.set_params(intercept_scaling=scaling, dual=False, tol=1e-6)


def warn_of_no_optimum(model: Any) -> None:
    """Warn that a solver stopped short of the optimum."""
    warn(
        f"{type(model).__name__} did not reach its optimum, so its support rows are uncertain, and "
        "what is chosen for it may depend on the order of rows; scale X, for instance with "
        "sklearn.preprocessing.MaxAbsScaler, or penalise more (a lower C, a larger alpha).",
        ConvergenceWarning,
    )


def check_row_norms(X: Any) -> None:
    """Raise if rows are so long that LIBSVM would never end."""
    X = as_float64(X)
    if np.ldexp(X.shape[1] ** 0.5, exponent_of(X)) <= _LARGEST_ROW_NORM:
        return
    norm = float(column_norms(X.T).max(initial=0.0))
    if norm > _LARGEST_ROW_NORM:
        raise ValueError(
            f"X has rows of norm up to {norm:.0e}; beyond {_LARGEST_ROW_NORM:.0e} the inner "
            "products of a linear model overflow. Scale X first, for instance with "
            "sklearn.preprocessing.MaxAbsScaler, or set supervised=False."
        )


def _checked_targets(model: Any, y: NDArray[Any]) -> NDArray[Any]:
    """Return labels of several classes, or finite numbers, whichever a model predicts."""
    if predicts_numbers(model):
        return real_targets(y)
    classes = np.unique(y)
    if len(classes) < 2:
        raise ValueError(
            f"y has one class only, {classes[0]!r}; a classifier needs at least two. "
            "Pass rows of both classes, or set supervised=False."
        )
    return y


def _fit_quietly(
    model: Any, X: Any, y: NDArray[Any], weights: dict[str, Any], **parameters: Any
) -> None:
    """Fit a model with other parameters for now; how far its solver came is judged afterwards."""
    parameters["max_iter"] = _capped_iterations(model)
    if hasattr(model, "gamma"):
        # Linear kernels have none, and rounding may make "scale" negative for equal sparse rows.
        parameters["gamma"] = "auto"
    given = {name: getattr(model, name) for name in parameters}
    model.set_params(**parameters)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.simplefilter("ignore", LinAlgWarning)
            warnings.filterwarnings("ignore", '"sag" solver requires many iterations')
            warnings.filterwarnings("ignore", "Singular matrix in solving dual problem")
            model.fit(X, y, **weights)
    finally:
        model.set_params(**given)


def _fit_closely(
    svm: Any, X: Any, y: NDArray[Any], weights: dict[str, Any], tolerance: float
) -> bool:
    """Fit to a tolerance at which the support hardly depends on the order of rows.

    Return whether it was reached. LIBSVM keeps inner products in single precision, which may
    forbid it; rows that are not scaled can keep either solver busy for days.
    """
    _fit_quietly(svm, X, y, weights, tol=min(svm.tol, tolerance))
    if hasattr(svm, "fit_status_"):
        return bool(svm.fit_status_ == 0)
    return bool(np.max(svm.n_iter_) < _capped_iterations(svm))


def _capped_iterations(model: Any, max_steps: int = _MAX_STEPS) -> int | None:
    """Return at most how many iterations a solver may take; LIBSVM takes -1 for no limit."""
    if model.max_iter is None:
        return None
    limit = max_steps if solver_of(model) == "libsvm" else _MAX_PASSES
    return int(limit if model.max_iter < 0 else min(model.max_iter, limit))


# Solvers stop at a tolerance, so a row on the margin may seem to lie a little behind it. A row too
# many does no harm: the guarantee for more rows holds for fewer.
_MARGIN_SLACK = 1e-3


def support_rows(model: Any, X: Any, y: NDArray[Any]) -> NDArray[np.intp]:
    """Return the support vectors of a fitted model: it would be the same without other rows.

    To logistic and ridge regression all rows matter.

    Parameters
    ----------
    model : estimator
        Fitted, of an accepted class. The support of ``LinearSVR`` are the rows on the edge
        of its tube and outside; that of an SVM are the rows on the margin of any of its binary
        problems or beyond, and those that LIBSVM lists in ``support_``.
    X, y : array-like
        The data it was fitted to.

    Returns
    -------
    ndarray of shape (n_support,)
        Row indices in ascending order.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> X, y = [[-3.0], [-1.0], [1.0], [5.0]], [0, 0, 1, 1]
    >>> support_rows(SVC(kernel="linear", C=10).fit(X, y), X, y)
    array([1, 2])
    """
    check_model(model)
    y = np.asarray(y)
    problem = Problem.of(model, y)
    if problem.all_rows_matter:
        return np.arange(len(y))
    rows = np.flatnonzero(_have_loss(problem, decision_scores(model, X)))
    # A solver that stopped early may have multipliers on rows beyond the margin.
    rows = np.union1d(rows, getattr(model, "support_", [])).astype(np.intp)
    if not rows.size and not len(problem.classes):
        raise ValueError(
            f"{type(model).__name__} predicts every row to within epsilon={problem.epsilon:g}, "
            "so no row matters to it; lower epsilon."
        )
    if not rows.size:
        raise ValueError(
            f"{type(model).__name__} puts every row beyond its margin, so it is not the solution "
            "of an SVM; let it converge (more iterations, a smaller tolerance, scaled data)."
        )
    return rows


def _have_loss(problem: Problem, scores: FloatArray) -> NDArray[np.bool_]:
    """Tell which rows of an SVM have a loss in any of its parts, or nearly."""
    slack = _MARGIN_SLACK * (1.0 if len(problem.classes) else problem.epsilon)
    return np.asarray(problem.excess(scores) >= -slack)


def decision_scores(model: Any, X: Any) -> NDArray[np.float64]:
    """Return the predictions of a fitted model, a column for each line of its weights."""
    X = X if sparse.issparse(X) else np.asarray(X)
    return np.asarray(X @ dense_coef(model).T + model.intercept_, dtype=np.float64)


def feature_weights(model: Any, problem: Problem | None = None) -> NDArray[np.float64]:
    """Return the size of each weight of a linear model, as the norm over its binary problems.

    Parameters
    ----------
    model : estimator
        Fitted, with ``coef_``.
    problem : Problem, default=None
        What it minimises, with labels: classes count by the number of their rows. None counts all
        binary problems alike.

    Returns
    -------
    ndarray of shape (n_features,)
        Rounded to 12 digits of the largest, so that weights which are equal but for rounding tie.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> feature_weights(SVC(kernel="linear").fit([[-1.0, 0.0], [1.0, 0.0]], [0, 1]))
    array([1., 0.])
    """
    if not hasattr(model, "coef_"):
        raise ValueError(
            f"{type(model).__name__} has no coef_ to rank features by; use order='leverage', "
            "an array or a callable, or an estimator with coef_."
        )
    weights = np.abs(dense_coef(model))
    if problem is not None:
        weights = weights * class_importance(problem)[: len(weights), None]
    largest = weights.max(initial=0.0)
    if largest == 0:
        return np.zeros(weights.shape[1])
    relative = np.sqrt(np.sum((weights / largest) ** 2, axis=0))
    return np.round(relative, 12) * largest


def class_importance(problem: Problem) -> NDArray[np.float64]:
    """Return the root of the share of rows for each binary problem: of its class, or its pair.

    A class of one row, perhaps a stray label, then counts for little beside one of thousands.
    """
    counts = np.array([np.sum(problem.y == label) for label in problem.classes], dtype=float)
    if len(counts) <= 2:
        return np.ones(1)
    if problem.pairs:
        counts = np.array([first + second for first, second in combinations(counts, 2)])
    return np.sqrt(counts / counts.sum())


def dense_coef(model: Any) -> NDArray[np.float64]:
    """Return the weights of a fitted linear model, a line for each binary problem."""
    coef = model.coef_  # LIBSVM's are computed at every look.
    return np.atleast_2d(dense(coef))


# Share of the objective that rows left out may add to it, where LIBLINEAR's tolerance is all there
# is. An SVM with a smooth loss is trained to its optimum, and no row that matters is left out.
_GAP = 1e-4
_MAX_ROUNDS = 20
# Rows that a block with one class passes on: no SVM can choose among them.
_ROWS_OF_ONE_CLASS = 1000


def cascade(blocks: RowBlocks, svm: Any) -> Support:
    """Train a linear SVM on rows in blocks, of which only support rows are gathered.

    Every block trains an SVM of its own and passes on its support rows. An SVM is trained on these
    together, and shown to all blocks, which pass on the rows that lie on its margin or on the wrong
    side; this is repeated until there are no more of them or, for the hinge loss, until they do not
    matter. Rows are only ever added, so it ends, and at the optimum for all rows. With the squared
    hinge loss the outcome does not depend on how the rows are cut into blocks.

    Parameters
    ----------
    blocks : RowBlocks
        With labels.
    svm : LinearSVC
        Unfitted.

    Returns
    -------
    Support
        Support vectors and SVM. The objective on all rows less the loss of the rows that were left
        out is the optimum on fewer rows, and so no more than that on all rows. The share of the
        loss of these rows is thus the most by which the objective can exceed its optimum.

    References
    ----------
    H. P. Graf, E. Cosatto, L. Bottou, I. Dourdanovic and V. Vapnik, *Parallel Support Vector
    Machines: The Cascade SVM*, NIPS, 2004.

    Examples
    --------
    >>> from certifeature.rows import ArrayBlocks
    >>> from certifeature.datasets import make_relevant_features
    >>> from certifeature.models.support import cascade
    >>> from sklearn.svm import LinearSVC
    >>> X, y = make_relevant_features(400, 50, 5, random_state=0)
    >>> result = cascade(ArrayBlocks(X, y, n_rows=90), LinearSVC(random_state=0))
    >>> result.rows.n_rows < 400, result.optimality_gap < 1e-4
    (True, True)
    """
    _check(svm)
    with warnings.catch_warnings():
        # How well the blocks did by themselves does not matter in the end.
        warnings.simplefilter("ignore", ConvergenceWarning)
        gathered = _together(blocks.collect(partial(_own_support, svm)))
    classes = np.unique(gathered.labels)
    unknown = set(svm.class_weight or ()) - set(classes.tolist())
    if unknown:
        raise ValueError(
            f"class_weight names {sorted(unknown, key=str)}, but the classes are {classes}."
        )
    fitted, more = _adapted(svm, classes), list[Rows]()
    for n_passes in count(2):
        gathered = _together([gathered, *more])
        converged = fit_converges(fitted, gathered.X, gathered.labels)
        problem = Problem.of(fitted, gathered.y, classes=classes)
        seen = blocks.collect(partial(_outside, fitted, gathered.places))
        outside = sum(loss for loss, _ in seen)
        gap = outside / (objective(fitted, problem, gathered.X) + outside)
        more = [rows for _, rows in seen if rows.n_rows]
        settled = not more if problem.is_smooth else gap <= _GAP
        if settled or n_passes == _MAX_ROUNDS:
            break
    if not settled:
        warn(
            f"the cascade did not settle in {n_passes} passes: rows left out make up {gap:.1e} of "
            "the objective. Let the SVM iterate longer, or lower C.",
            ConvergenceWarning,
        )
    chosen = support_rows(fitted, gathered.X, gathered.labels)
    rows = replace(gathered.take(chosen), feature_names=blocks.feature_names)
    facts = bool(settled and converged), n_passes, gap
    return Support(rows, fitted, problem.take(chosen), rows, None, None, *facts)


def _check(svm: Any) -> None:
    name = type(svm).__name__
    check_model(svm)
    if Problem.of(svm, None).all_rows_matter:
        raise ValueError(
            f"the rows come in blocks, and all of them matter to {name}; set supervised=False "
            f"and leave estimator={name}(...) as it is, which chooses for all rows (--unsupervised "
            "on the command line)."
        )
    if not isinstance(svm, LinearSVC):
        raise ValueError(
            f"rows in blocks are for sklearn.svm.LinearSVC; got {name}. Use that, or "
            "supervised=False."
        )
    if isinstance(svm.class_weight, str):
        raise ValueError(
            f"class_weight={svm.class_weight!r} differs from block to block; give the weights "
            "themselves as a dict."
        )


def _together(parts: list[Rows]) -> Rows:
    """Return rows from different blocks in the order of all rows."""
    places = np.concatenate([part.places for part in parts])
    X, y = stacked([part.X for part in parts]), np.concatenate([part.y for part in parts])
    return Rows(X, y, None, places).take(np.argsort(places))


def _rows_of(block: Block) -> Rows:
    y = block.labels()
    return Rows(block.X, y, None, block.first_row + np.arange(len(y)))


def _own_support(svm: Any, block: Block) -> Rows:
    """Return the support rows of an SVM trained on one block."""
    y = block.labels()
    if has_decimals(y):
        raise ValueError(
            f"the labels are numbers with decimals, such as {y[0]:.6g}, and rows in blocks are for "
            "classes; bring them into memory for ridge regression, or set supervised=False."
        )
    classes = np.unique(y)
    if len(classes) < 2:
        return _rows_of(block).take(np.arange(min(len(y), _ROWS_OF_ONE_CLASS)))
    fitted = fit_model(_adapted(svm, classes), block.X, y)
    excess = Problem.of(fitted, y).excess(decision_scores(fitted, block.X))
    # Since the intercept is penalised, the support may lack a class, which must not get lost.
    of_each = [np.flatnonzero(y == c)[excess[y == c].argmax()] for c in classes]
    return _rows_of(block).take(np.union1d(support_rows(fitted, block.X, y), of_each))


def _adapted(svm: Any, classes: NDArray[Any]) -> Any:
    """Return an unfitted SVM with a weight for these classes, and for no others."""
    if svm.class_weight is None:
        return clone(svm)
    weights = {label: svm.class_weight.get(label, 1.0) for label in classes.tolist()}
    return clone(svm).set_params(class_weight=weights)


def _outside(svm: Any, known: NDArray[np.intp], block: Block) -> tuple[float, Rows]:
    """Return the loss of the rows of a block that are not known, and those near the margin."""
    rows, scores = _rows_of(block), decision_scores(svm, block.X)
    problem = Problem.of(svm, rows.y, classes=svm.classes_)
    near = np.flatnonzero(_have_loss(problem, scores) & ~np.isin(rows.places, known))
    return _loss(problem.take(near), scores[near]), rows.take(near)


def objective(model: Any, problem: Problem, X: Any) -> float:
    """Return ½‖w‖² + Σ cᵢ·loss of a fitted model, with the intercept where it is penalised."""
    weights = dense_coef(model)
    if problem.intercept:
        weights = np.column_stack([weights, np.asarray(model.intercept_) / problem.intercept])
    return float(np.sum(weights**2)) / 2 + _loss(problem, decision_scores(model, X))


def _loss(problem: Problem, scores: FloatArray) -> float:
    return sum(part.loss.value(scores[:, part.columns]) for part in problem.parts)


# Up to so many rows in blocks are gathered, so that any model can be trained on them.
FEW_ROWS = 1000


@dataclass(frozen=True, eq=False)
class Support:
    """The rows that determine a linear model.

    Attributes
    ----------
    rows : Rows
        Those rows, in memory; less their mean if neither scale nor origin matters to the model.
    model : estimator
        The model, fitted to the rows as they were given.
    problem : Problem or None
        What the model minimises on these rows, without weights of rows; None if it is not known.
    candidates : Rows
        The rows among which the support was found: all rows, or, of blocks, the support alone.
    asked : estimator or None
        The model as it was asked for, whose C may be "scale".
    spread : Spread or None
        How far all rows are from their mean, if that sets C.
    converged : bool
        Whether the model was trained to its optimum. If not, there may be other support vectors.
    n_passes, optimality_gap : int, float, or None
        Of rows in blocks: how often they were read, and the most by which the objective can exceed
        the optimum, as a share of it.
    """

    rows: Rows
    model: Any
    problem: Problem | None
    candidates: Rows
    asked: Any = None
    spread: Spread | None = None
    converged: bool = True
    n_passes: int | None = None
    optimality_gap: float | None = None

    @property
    def estimator(self) -> Any:
        """The fitted model, with parameters with which scikit-learn reproduces its weights."""
        return for_scikit_learn(self.model, 0.0 if self.spread is None else self.spread.size())

    def at_own_scale(self, columns: Any) -> Any:
        """Return chosen columns, scaled to be as far from their mean as all columns.

        A model whose C is set by the scale of its rows is the same for both; C is that of all
        columns then, and objectives can be compared. The columns of other models stay as they are.

        Parameters
        ----------
        columns : ColumnChoice
            Chosen columns and their scales.
        """
        if self.spread is None:
            return columns
        size = self.spread.size(columns.indices, columns.scales)
        factor = self.spread.size() / size if size else 1.0
        return replace(columns, scales=factor * columns.scales, factor=factor * columns.factor)

    @property
    def classes(self) -> NDArray[Any]:
        """All classes, none for a model that predicts numbers; the support may lack some."""
        return np.empty(0) if self.problem is None else self.problem.classes

    @property
    def as_given(self) -> Rows:
        """The rows as they were before they were less their mean."""
        own = np.isin(self.candidates.places, self.rows.places)
        return self.candidates.take(np.flatnonzero(own))

    @property
    def kind(self) -> str:
        """Which rows a certificate is for: "all" where none can be left out, or "support"."""
        return "all" if self.problem is not None and self.problem.all_rows_matter else "support"

    @property
    def mu(self) -> float | None:
        """The ridge of the bound for the model, on weighted rows; None if there is none.

        A row of weight s times √s leaves the dual as it is, but for the convexity of its loss,
        which is that of a row without weight. Weighted rows come divided by the largest root.
        """
        mu = None if self.problem is None else self.problem.mu
        weights = self.rows.sample_weight
        if mu is None or weights is None:
            return mu
        # Balanced classes may have been weighed with the weights of their rows.
        balanced = isinstance(getattr(self.model, "class_weight", None), str)
        return None if balanced else mu / float(weights.max())

    @property
    def target(self) -> ModelBound:
        """What a certificate has to know of the model."""
        is_hinge = self.problem is not None and self.problem.loss == "hinge"
        return ModelBound(model_name(self.model), self.mu, is_hinge, self.converged)


def every_row(rows: Rows, estimator: Any) -> Support:
    """Return all rows in the place of support vectors, with a model that is not trained.

    Parameters
    ----------
    rows : Rows
        With labels or without.
    estimator : estimator
        Unfitted linear model.
    """
    model, spread = _for_rows(estimator, rows)
    labels = rows.y
    needs_classes = Problem.of(model, None).loss == "multinomial"
    if rows.in_blocks and (needs_classes or getattr(model, "class_weight", None) is not None):
        parts = rows.X.collect(attrgetter("y"))
        labels = None if any(part is None for part in parts) else np.concatenate(parts)
    problem = Problem.of(model, labels)
    return Support(_seen_by(problem, rows, spread), model, problem, rows, estimator, spread)


def _seen_by(problem: Problem, rows: Rows, spread: Spread | None) -> Rows:
    """Return rows less their mean, if neither their scale nor their origin matters to a model."""
    return rows.centred() if spread is not None and problem.intercept is None else rows


def find_support(rows: Rows, estimator: Any, cost: str = SCALE) -> Support:
    """Train a model, and return its support vectors.

    Parameters
    ----------
    rows : Rows
        With labels, or numbers.
    estimator : estimator or None
        Unfitted linear model; None is the default.
    cost : {"scale", "soft", "hard"}, default="scale"
        C of the default.
    """
    if estimator is not None:
        check_model(estimator)
    candidates = rows.together(FEW_ROWS)
    if estimator is None:
        estimator = default_model((candidates or rows).y, cost)
    if candidates is None:
        model, spread = _for_rows(estimator, rows)
        found = cascade(rows.X, model)
        assert found.problem is not None
        n_passes = (found.n_passes or 0) + (spread is not None)
        seen = _seen_by(found.problem, found.rows, spread)
        return replace(found, rows=seen, asked=estimator, spread=spread, n_passes=n_passes)
    y = candidates.labels
    check_row_norms(candidates.X)
    model, spread = _for_rows(estimator, candidates)
    with one_thread():
        converged = fit_converges(model, candidates.X, y, candidates.sample_weight)
    chosen = support_rows(model, candidates.X, y)
    found = Support(candidates, model, None, candidates, estimator, spread, converged)
    return _with_rows(found, chosen)


def _with_rows(support: Support, chosen: NDArray[np.intp]) -> Support:
    """Return the support with these of the candidates as its rows."""
    candidates = support.candidates
    problem = Problem.of(support.model, candidates.y).take(chosen)
    rows = _seen_by(problem, candidates.take(chosen), support.spread)
    return replace(support, rows=rows, problem=problem)


def grown(support: Support, places: NDArray[np.intp]) -> Support:
    """Return the support with more rows of those in memory.

    Parameters
    ----------
    support : Support
        So far.
    places : ndarray of int
        Places of the rows to take in.
    """
    union = np.union1d(support.rows.places, places)
    return _with_rows(support, np.flatnonzero(np.isin(support.candidates.places, union)))


def _for_rows(estimator: Any, rows: Rows) -> tuple[Any, Spread | None]:
    """Return an unfitted model with numbers for its parameters, and the spread that set them."""
    if not is_scaled(estimator):
        return clone(estimator), None
    return with_scale(estimator, rows.spread.size()), rows.spread
