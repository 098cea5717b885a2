"""A linear model as mathematics: its loss, costs, intercept and strong convexity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from inspect import signature
from itertools import combinations
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.svm import SVC, LinearSVC, LinearSVR
from sklearn.utils import compute_class_weight

from certifeature._utils import FloatArray, as_positive
from certifeature.models.losses import LOSSES, Loss, make_loss
from certifeature.rows.matrix import is_dask

# The certificates are proven for these classes and no others. A subclass may minimise anything.
_ACCEPTED = (SVC, LinearSVC, LogisticRegression, RidgeClassifier, Ridge, LinearSVR)
_TUBE = "squared_epsilon_insensitive"
# Losses that no row escapes, however well it fits.
_ALL_ROWS_MATTER = ("squared", "logistic", "multinomial")
_BALANCES_WEIGHTS = "sample_weight" in signature(compute_class_weight).parameters
# Where labels are not known: the bound for many classes holds for two.
_MANY_CLASSES = 3
# So few rows may all have labels of their own.
_MIN_ROWS = 10
# The c of C = c/s², for a C or alpha that is set by the scale of the rows: the usual one, one for
# choices that recur more, and one that leaves hardly any slack.
SCALE, SOFTNESS = "scale", {"scale": 0.5, "soft": 0.1, "hard": 1e5}
_REMEDY = (
    "use one of SVC(kernel='linear'), LinearSVC, LogisticRegression with an l2 penalty or "
    "RidgeClassifier, and for real-valued targets Ridge or "
    f"LinearSVR(loss='{_TUBE}'), all of scikit-learn; or set supervised=False without an "
    "estimator, which chooses for any linear model."
)


def too_many(n_different: int, n_rows: int) -> bool:
    """Tell whether so many different labels can hardly be classes."""
    return n_rows > _MIN_ROWS and n_different > n_rows / 2


def has_decimals(y: NDArray[Any]) -> bool:
    """Tell whether labels are numbers with decimals."""
    return y.dtype.kind == "f" and bool((y != np.floor(y)).any())


def are_numbers(y: Any) -> bool:
    """Tell whether labels are numbers to predict: with decimals, or too many for classes."""
    if y is None or is_dask(y):
        return False
    y = np.asarray(y)
    return has_decimals(y) or (y.dtype.kind in "iuf" and too_many(len(np.unique(y)), y.size))


def predicts_numbers(model: Any, y: Any = None) -> bool:
    """Tell whether a model, or without one the default for these labels, predicts numbers."""
    return are_numbers(y) if model is None else isinstance(model, Ridge | LinearSVR)


# Parameters with values that a model may have; with others it is no l2-regularised linear model, or
# none that the proofs are about. Some versions of scikit-learn lack some of them.
_MODELS_NEED: tuple[tuple[type, str, tuple[Any, ...], str], ...] = (
    (SVC, "kernel", ("linear",), "Use kernel='linear'."),
    (LinearSVC, "multi_class", ("ovr",), "Use multi_class='ovr', one class against the rest."),
    (LinearSVC, "penalty", ("l2",), "Use penalty='l2'."),
    (LogisticRegression, "penalty", ("l2", "deprecated"), "Use an l2 penalty, and a finite C."),
    (LogisticRegression, "l1_ratio", (0, None), f"Use l1_ratio=0. Or {_REMEDY}"),
    (LogisticRegression, "multi_class", ("auto", "ovr", "deprecated"), "Leave it as it is."),
    (Ridge, "positive", (False,), "Use positive=False."),
    (RidgeClassifier, "positive", (False,), "Use positive=False."),
    (LinearSVR, "loss", (_TUBE,), f"Use loss='{_TUBE}'. Or {_REMEDY}"),
)


def check_model(model: Any) -> None:
    """Raise unless an estimator is a linear model that the guarantees are proven for."""
    name = type(model).__name__
    if type(model) not in _ACCEPTED:
        raise ValueError(
            f"features cannot be chosen or certified for {name}; {_inner_model(model)}{_REMEDY}"
        )
    for kind, parameter, values, remedy in _MODELS_NEED:
        value = getattr(model, parameter, values[0])
        if type(model) is kind and value not in values:
            raise ValueError(
                f"the guarantees hold for l2-regularised linear models; got {name} with "
                f"{parameter}={value!r}. {remedy}"
            )
    if has_free_intercept(model) and model.loss == "hinge":
        raise ValueError(
            f"{name} with intercept_scaling=inf, a free intercept, is solved for squared losses; "
            "use loss='squared_hinge', or a finite intercept_scaling."
        )
    if not is_scaled(model):
        if hasattr(model, "C"):
            as_positive(f"C of {name}", model.C)
        for alpha in np.atleast_1d(getattr(model, "alpha", 1.0)).tolist() or [None]:
            as_positive(f"alpha of {name}", alpha)
    is_penalised = isinstance(model, LinearSVC | LinearSVR) and not has_free_intercept(model)
    if is_penalised and model.fit_intercept:
        as_positive(f"intercept_scaling of {name}", model.intercept_scaling)
    tube = getattr(model, "epsilon", 0.0)
    if not isinstance(tube, Real) or not 0 <= float(tube) < np.inf:
        raise ValueError(f"epsilon of {name} must be finite and not negative; got {tube!r}.")
    weights = getattr(model, "class_weight", None)
    for label, weight in weights.items() if isinstance(weights, Mapping) else ():
        if not isinstance(weight, Real) or not 0 < float(weight) < np.inf:
            raise ValueError(
                f"class_weight of {name} gives the class {label!r} the weight {weight!r}, and "
                "weights must be finite and positive. If its rows should not count, leave them out."
            )


def _inner_model(model: Any) -> str:
    """Return what to pass in the place of an estimator that has the model inside."""
    if hasattr(model, "steps"):
        return (
            "pass its last step as the model, and the rows as that step gets them "
            "(pipeline[:-1].fit_transform(X)); "
        )
    if hasattr(model, "cv") and hasattr(model, "estimator"):
        return "pass the best_estimator_ that the search found; "
    if hasattr(model, "estimator") or hasattr(model, "estimators"):
        return "pass the linear model that it is made of; "
    return ""


def default_model(y: Any = None, cost: str = SCALE) -> Any:
    """Return the unfitted model that features are chosen for if no other is given.

    It is an SVM with the squared hinge loss, ``C="scale"`` (see `at_scale`) and an intercept that
    is not penalised, which is what an infinite ``intercept_scaling`` means. For labels that are
    numbers to predict, it is ridge regression.

    Parameters
    ----------
    y : array-like of shape (n_samples,), default=None
        Labels. Numbers with decimals, and more different numbers than half of the rows, are no
        classes.
    cost : {"scale", "soft", "hard"}, default="scale"
        C, or alpha.

    Examples
    --------
    >>> default_model()
    LinearSVC(C='scale', dual=False, intercept_scaling=inf)
    >>> default_model([0.5, 1.0, 2.5])
    Ridge(alpha='scale')
    """
    if are_numbers(y):
        return Ridge(alpha=cost)
    return LinearSVC(C=cost, dual=False, intercept_scaling=np.inf)


def is_scaled(model: Any) -> bool:
    """Tell whether C, or alpha, is set by the scale of the rows."""
    return _softness(model) is not None


def _softness(model: Any) -> float | None:
    value = getattr(model, "alpha", getattr(model, "C", None))
    return SOFTNESS.get(value) if isinstance(value, str) else None


def has_free_intercept(model: Any) -> bool:
    """Tell whether an SVM is solved for an intercept that LIBLINEAR cannot leave unpenalised."""
    return isinstance(model, LinearSVC | LinearSVR) and model.intercept_scaling == np.inf


def with_scale(model: Any, size: float, factor: float = 1.0) -> Any:
    """Return an unfitted copy of a model for rows of this size, with so many times its C.

    Parameters
    ----------
    model : estimator
        Unfitted linear model.
    size : float
        Root mean squared distance s of the rows from their mean. ``C="scale"`` becomes c/s², and
        ``alpha="scale"`` s²/(2c), with c = ½; "soft" has c = 0.1 and "hard" 100,000. Numbers stay.
    factor : float, default=1.0
        What C is multiplied by, or alpha divided.
    """
    is_ridge, found = isinstance(model, Ridge | RidgeClassifier), clone(model)
    softness = _softness(model)
    if softness is not None:
        with np.errstate(over="ignore", under="ignore", divide="ignore"):
            cost = float(np.divide(softness, size) / size) if size else 1.0
        if not 0 < cost < np.inf:
            raise ValueError(
                f"the rows are {size:.3g} away from their mean, so that C = {softness:g}/s² is out "
                "of range. Scale X first, for instance with sklearn.preprocessing.MaxAbsScaler."
            )
        found.set_params(**{"alpha": 1 / (2 * cost)} if is_ridge else {"C": cost})
    if factor != 1 and is_ridge:
        found.set_params(alpha=np.asarray(found.alpha) / factor)
    elif factor != 1:
        found.set_params(C=factor * found.C)
    return found


@dataclass(frozen=True)
class ModelBound:
    """What a certificate has to know of a model, which may be any.

    Attributes
    ----------
    name : str or None
        As `model_name` returns it.
    mu : float or None
        As `Problem.mu`.
    hinge : bool
        Whether its loss is the hinge.
    converged : bool
        Whether it was trained to its optimum, if it was trained at all.
    """

    name: str | None = None
    mu: float | None = None
    hinge: bool = False
    converged: bool = True

    @property
    def soft_mu(self) -> float | None:
        """How strongly convex its dual is; None if it is not."""
        return None if self.hinge else self.mu


@dataclass(frozen=True, eq=False)
class Part:
    """One of the independent problems that a model solves.

    Attributes
    ----------
    rows : ndarray of int
        Rows that take part.
    loss : Loss
        Their loss, with targets and costs.
    columns : slice
        Rows of ``coef_`` that hold the weights.
    """

    rows: NDArray[np.intp]
    loss: Loss
    columns: slice


@dataclass(frozen=True, eq=False)
class Problem:
    """What a linear model minimises: ½‖w‖² + Σ cᵢ·loss(targetᵢ, fᵢ), once for each of its parts.

    Attributes
    ----------
    loss : str
        Name of the loss, a key of `LOSSES`.
    intercept : float or None
        None if the intercept is not penalised, 0 if there is none; otherwise the value of the
        constant feature whose weight the intercept is, as in LIBLINEAR.
    y : ndarray of shape (n_samples,) or None
        Labels, or numbers; None if they are not known.
    classes : ndarray
        All classes in ascending order, empty for numbers; labels may lack some of them.
    costs : ndarray of shape (n_samples, n_columns) or None
        The constants c: ``C``, or 1/(2·alpha) for ridge regression, times the weights of the row
        and of its class. There is one column, but where each of several classes has its own. None
        if they depend on labels that are not known.
    epsilon : float
        Half the width of the tube of a regression.
    pairs : bool
        Whether several classes are taken in pairs, rather than one against the rest.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.svm import SVC, LinearSVC
    >>> problem = Problem.of(SVC(C=2, class_weight={1: 10}), np.array([0, 1, 1]))
    >>> problem.loss, problem.intercept, problem.costs.ravel()
    ('hinge', None, array([ 2., 20., 20.]))
    >>> Problem.of(LinearSVC(C=10), np.array([0, 1, 1])).mu
    0.05
    """

    loss: str
    intercept: float | None
    y: NDArray[Any] | None
    classes: NDArray[Any]
    costs: FloatArray | None
    epsilon: float = 0.0
    pairs: bool = False

    @classmethod
    def of(
        cls,
        model: Any,
        y: NDArray[Any] | None,
        sample_weight: FloatArray | None = None,
        classes: NDArray[Any] | None = None,
    ) -> Problem:
        """Return the problem of an estimator.

        Parameters
        ----------
        model : estimator
            Linear model of an accepted class.
        y : ndarray of shape (n_samples,) or None
            Labels, or numbers.
        sample_weight : ndarray of shape (n_samples,), default=None
            Weights of the rows.
        classes : ndarray, default=None
            The classes, where not all of them are among the labels.
        """
        if predicts_numbers(model) or y is None:
            classes = np.empty(0)
        elif classes is None:
            classes = np.unique(y)
        n_classes = _MANY_CLASSES if y is None else len(classes)
        return cls(
            _loss_of(model, n_classes),
            _intercept_of(model),
            y,
            classes,
            _costs_of(model, y, classes, sample_weight),
            float(getattr(model, "epsilon", 0.0)),
            solver_of(model) == "libsvm",
        )

    @property
    def is_smooth(self) -> bool:
        """Whether the optimum can be computed to the last digits, by Newton's method."""
        return self.loss != "hinge"

    @property
    def all_rows_matter(self) -> bool:
        """Whether no row escapes the loss, however well it fits."""
        return self.loss in _ALL_ROWS_MATTER

    @property
    def mu(self) -> float | None:
        """The ridge μ of the bound for the model; None if there is no such bound.

        The conjugate of ½‖w‖² + Σ cᵢ·loss is μ-strongly convex, with μ that of the loss over
        max(c). That of the hinge is not, but as its multipliers are no larger than c, the ridge of
        the squared hinge serves it nearly as well. Rows times the roots of their weights have the
        same μ as rows without.
        """
        if self.costs is None:
            return None
        return LOSSES[self.loss][0].convexity / float(self.costs.max())

    def take(self, rows: NDArray[np.intp]) -> Problem:
        """Return the problem on some of the rows."""
        assert self.y is not None
        assert self.costs is not None
        return replace(self, y=self.y[rows], costs=self.costs[rows])

    def excess(self, scores: FloatArray) -> FloatArray:
        """Return how far each row of an SVM is inside of where it has a loss, in any of its parts.

        Parameters
        ----------
        scores : ndarray of shape (n_samples, n_columns)
            Predictions, a column for each row of ``coef_``.
        """
        found = np.full(len(scores), -np.inf)
        for part in self.parts:
            own = part.loss.excess(scores[part.rows, part.columns])
            found[part.rows] = np.maximum(found[part.rows], own)
        return found

    @cached_property
    def splits(self) -> list[tuple[NDArray[np.intp], FloatArray]]:
        """Rows and signs of pairs of classes, or of each class against the rest."""
        y, classes = self.y, self.classes
        assert y is not None
        if len(classes) != 2 and not self.pairs:
            return [(np.arange(len(y)), np.where(y == label, 1.0, -1.0)) for label in classes]
        found = []
        for first, second in combinations(classes, 2):
            rows = np.flatnonzero((y == first) | (y == second))
            # Scikit-learn takes the first class of a pair for the positive one, unless there are
            # two classes only.
            positive = second if len(classes) == 2 else first
            found.append((rows, np.where(y[rows] == positive, 1.0, -1.0)))
        return found

    @cached_property
    def parts(self) -> list[Part]:
        """The problems that are solved independently of each other."""
        y, costs = self.y, self.costs
        assert y is not None
        assert costs is not None
        if self.loss == "multinomial":
            own = y[:, None] == self.classes
            loss = make_loss(self.loss, own, costs[:, 0])
            return [Part(np.arange(len(y)), loss, slice(0, len(self.classes)))]
        splits = self.splits if len(self.classes) else [(np.arange(len(y)), y)]
        columns = np.broadcast_to(costs, (len(y), max(len(splits), costs.shape[1]))).T
        return [
            Part(rows, make_loss(self.loss, targets, cost[rows], self.epsilon), slice(k, k + 1))
            for k, ((rows, targets), cost) in enumerate(zip(splits, columns, strict=True))
        ]


def model_name(model: Any) -> str:
    """Return a model's name with the constant that weighs its loss against the size of weights.

    Parameters
    ----------
    model : estimator
        Linear model.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> model_name(Ridge(alpha=10))
    'Ridge(alpha=10)'
    >>> model_name(default_model())
    'LinearSVC(C=scale, free intercept)'
    """
    known = model.get_params() if hasattr(model, "get_params") else {}
    constants = {name: known[name] for name in ("C", "alpha") if np.isscalar(known.get(name))}
    # Before it is fitted, C may be "scale".
    shown = {k: v if isinstance(v, str) else f"{v:.4g}" for k, v in constants.items()}
    given = [f"{name}={value}" for name, value in shown.items()]
    given += ["free intercept"] if has_free_intercept(model) else []
    given += ["balanced classes"] if isinstance(known.get("class_weight"), str) else []
    return f"{type(model).__name__}({', '.join(given)})"


def solver_of(model: Any) -> str:
    """Return "libsvm" or "liblinear" for a model that is trained by these, "other" otherwise."""
    if isinstance(model, SVC):
        return "libsvm"
    if isinstance(model, LinearSVC | LinearSVR) or getattr(model, "solver", "") == "liblinear":
        return "liblinear"
    return "other"


def cost_of(model: Any) -> float:
    """Return the parameter C of a model.

    Ridge regression minimises ½‖w‖² + C·Σ(y − f)² with C = 1/(2·alpha), of several the largest.
    """
    return float(_factors(model).max())


def _loss_of(model: Any, n_classes: int) -> str:
    if isinstance(model, Ridge | RidgeClassifier):
        return "squared"
    if isinstance(model, LogisticRegression):
        # Newer versions of scikit-learn have no such parameter.
        is_ovr = getattr(model, "multi_class", "auto") == "ovr"
        one_by_one = solver_of(model) == "liblinear" or is_ovr
        return "logistic" if n_classes <= 2 or one_by_one else "multinomial"
    if isinstance(model, LinearSVC | LinearSVR):
        return str(model.loss)
    return "hinge"


def _intercept_of(model: Any) -> float | None:
    if not getattr(model, "fit_intercept", True):
        return 0.0
    if solver_of(model) != "liblinear" or has_free_intercept(model):
        return None
    return float(model.intercept_scaling)


def _factors(model: Any) -> FloatArray:
    """Return C, or 1/(2·alpha), for each target."""
    if isinstance(model, Ridge | RidgeClassifier):
        return np.asarray(1 / (2 * np.atleast_1d(np.asarray(model.alpha, dtype=float))))
    return np.array([float(model.C)])


def _costs_of(
    model: Any, y: NDArray[Any] | None, classes: NDArray[Any], sample_weight: FloatArray | None
) -> FloatArray | None:
    factors = _factors(model)
    if y is None:
        is_weighted = getattr(model, "class_weight", None) is not None
        return None if is_weighted else np.full((1, 1), factors.max())
    costs = np.ones((len(y), 1))
    if len(classes):
        weights = _class_weights(model, classes, y, sample_weight)
        places = np.searchsorted(classes, y)
        many = len(classes) > 2
        if many and solver_of(model) == "liblinear":
            # In LIBLINEAR only the rows of the one class have its weight, and not the rest.
            costs = np.where(places[:, None] == np.arange(len(classes)), weights, 1.0)
        else:
            costs = weights[places][:, None]
        if many and isinstance(model, RidgeClassifier):
            costs = np.repeat(costs, len(classes), axis=1)
    if len(factors) not in (1, costs.shape[1]):
        raise ValueError(
            f"{type(model).__name__} has {len(factors)} values of alpha for {costs.shape[1]} "
            "targets; give one for each, or a single number."
        )
    if sample_weight is not None:
        costs = costs * sample_weight[:, None]
    return np.asarray(factors * costs)


def _class_weights(
    model: Any, classes: NDArray[Any], y: NDArray[Any], sample_weight: FloatArray | None
) -> FloatArray:
    given = getattr(model, "class_weight", None)
    if not isinstance(given, str):
        return np.array([(given or {}).get(label, 1.0) for label in classes.tolist()], dtype=float)
    # LIBSVM and ridge regression count rows to balance classes, as scikit-learn 1.6 does; later
    # versions of the others weigh them.
    weighs = isinstance(model, LinearSVC | LogisticRegression) and _BALANCES_WEIGHTS
    counts = np.bincount(np.searchsorted(classes, y), sample_weight if weighs else None)
    return np.asarray(counts.sum() / (len(classes) * counts))
