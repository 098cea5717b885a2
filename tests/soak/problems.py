"""The problems that scikit-learn's linear models solve, from their documentation."""

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.svm import SVC, LinearSVC, LinearSVR

from soak.oracles import hinge_truth
from soak.smooth import Logistic, Multinomial, SquaredHinge, Tube, smooth_optimum
from soak.truth import Truth


@dataclass(frozen=True)
class Problem:
    """Rows of a problem, what their scores are to be, and what their losses cost.

    Targets are signs, or real numbers, or for the multinomial loss a mask with a column for each
    class. The intercept is the value of a constant feature, or None where it is free.
    """

    rows: np.ndarray
    loss: str
    target: np.ndarray
    costs: np.ndarray
    intercept: float | None
    epsilon: float = 0.0

    @property
    def separations(self):
        """Signs of classes to separate; none where targets are numbers."""
        if self.loss == "multinomial":
            return [np.where(own, 1.0, -1.0) for own in self.target.T]
        return [self.target] if set(self.target.tolist()) <= {-1.0, 1.0} else []

    def smooth_loss(self):
        """Return the loss of each row for its cost 1; None of the hinge loss, which has kinks."""
        if self.loss == "hinge":
            return None
        if self.loss == "tube":
            return Tube(self.target, self.epsilon)
        kinds = {"squared hinge": SquaredHinge, "logistic": Logistic, "multinomial": Multinomial}
        return kinds[self.loss](self.target)

    def truth(self, X):
        """Enclose the optimum, for rows with some features."""
        X = X[self.rows]
        if self.loss == "hinge":
            return hinge_truth(X, self.target, self.costs, self.intercept)
        return smooth_optimum(X, self.smooth_loss(), self.costs, self.intercept).value


def problems_of(model, y, rows, sample_weight=None):
    """Return the problems of a model for targets y, on some of its rows.

    LIBSVM takes pairs of classes. LIBLINEAR takes one class against the rest, where only the one
    has its weight, and a single problem for two classes, where both have theirs. So does ridge
    regression, but there every class always has its weight; logistic regression takes all classes
    at once. The weights of rows multiply what their losses cost.
    """
    weights = np.ones(len(rows)) if sample_weight is None else sample_weight[rows]
    intercept = _intercept(model)
    if isinstance(model, Ridge | LinearSVR):
        epsilon = model.epsilon if isinstance(model, LinearSVR) else 0.0
        costs = _cost(model) * weights
        return [Problem(np.arange(len(rows)), "tube", y[rows], costs, intercept, epsilon)]
    return [
        Problem(part.rows, part.loss, part.target, part.costs * weights[part.rows], intercept)
        for part in _classifications(model, y, rows)
    ]


def total_objective(X, problems):
    """Enclose the sum of the optimal objectives."""
    truths = [problem.truth(X) for problem in problems]
    return Truth(sum(t.lower for t in truths), sum(t.upper for t in truths))


@dataclass(frozen=True)
class _Part:
    """A problem without the weights of its rows."""

    rows: np.ndarray
    loss: str
    target: np.ndarray
    costs: np.ndarray


def _classifications(model: Any, y, rows):
    classes = np.unique(y)
    by_class = _class_weights(model, y, classes)
    labels, everyone = y[rows], np.arange(len(rows))
    costs = _cost(model) * np.array([by_class[label] for label in labels.tolist()])
    loss = _loss(model, len(classes))
    if loss == "multinomial":
        yield _Part(everyone, loss, labels[:, None] == classes, costs)
    elif len(classes) == 2 or isinstance(model, SVC):
        for pair in combinations(classes.tolist(), 2):
            own = np.flatnonzero(np.isin(labels, pair))
            signs = np.where(labels[own] == pair[0], 1.0, -1.0)
            yield _Part(own, loss, signs, costs[own])
    else:
        for label in classes.tolist():
            own = labels == label
            paid = costs
            if isinstance(model, LinearSVC):
                paid = _cost(model) * np.where(own, by_class[label], 1.0)
            yield _Part(everyone, loss, np.where(own, 1.0, -1.0), paid)


def _loss(model, n_classes):
    if isinstance(model, RidgeClassifier):
        return "tube"
    if isinstance(model, LogisticRegression):
        return "logistic" if n_classes == 2 else "multinomial"
    return getattr(model, "loss", "hinge").replace("_", " ")


def _cost(model):
    """Return C beside ½‖w‖²: ridge regression has alpha·‖w‖² beside the squares of errors."""
    return 1 / (2 * model.alpha) if isinstance(model, Ridge | RidgeClassifier) else model.C


def _intercept(model):
    if isinstance(model, SVC):
        return None
    if not model.fit_intercept:
        return 0.0
    penalised = isinstance(model, LinearSVC | LinearSVR)
    penalised = penalised or getattr(model, "solver", None) == "liblinear"
    # An infinite one stands for an intercept without a penalty.
    penalised = penalised and np.isfinite(model.intercept_scaling)
    return float(model.intercept_scaling) if penalised else None


def _class_weights(model, y, classes):
    labels = classes.tolist()
    if model.class_weight == "balanced":
        return {label: len(y) / (len(classes) * np.sum(y == label)) for label in labels}
    return {label: (model.class_weight or {}).get(label, 1.0) for label in labels}
