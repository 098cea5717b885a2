"""The binary problems that scikit-learn's linear SVMs solve, from their documentation."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from sklearn.svm import SVC

from soak.oracles import Truth, hinge_truth


@dataclass(frozen=True)
class Binary:
    """Rows of a binary problem, their signs and their costs."""

    rows: np.ndarray
    signs: np.ndarray
    costs: np.ndarray


def binary_problems(svm, y, rows):
    """Return the problems of an SVM for labels y, on some of its rows.

    LIBSVM takes pairs of classes. LIBLINEAR takes one class against the rest, where only the one
    has its weight, and a single problem for two classes, where both have theirs.
    """
    classes = np.unique(y)
    weights = _class_weights(svm, y, classes)
    labels = y[rows]
    if len(classes) == 2 or isinstance(svm, SVC):
        return [
            _pair(svm.C, labels, pair, [weights[label] for label in pair])
            for pair in combinations(classes.tolist(), 2)
        ]
    everyone = np.arange(len(labels))
    return [
        Binary(
            everyone,
            np.where(labels == label, 1.0, -1.0),
            svm.C * np.where(labels == label, weights[label], 1.0),
        )
        for label in classes.tolist()
    ]


def total_objective(svm, X, problems):
    """Enclose the sum of the optimal objectives."""
    squared = getattr(svm, "loss", "hinge") == "squared_hinge"
    intercept = None
    if not isinstance(svm, SVC):
        intercept = float(svm.intercept_scaling) if svm.fit_intercept else 0.0
    truths = [
        hinge_truth(X[p.rows], p.signs, p.costs, intercept, squared=squared) for p in problems
    ]
    return Truth(sum(t.lower for t in truths), sum(t.upper for t in truths))


def _pair(C, labels, pair, weights):
    rows = np.flatnonzero(np.isin(labels, pair))
    first = labels[rows] == pair[0]
    return Binary(rows, np.where(first, 1.0, -1.0), C * np.where(first, *weights))


def _class_weights(svm, y, classes):
    labels = classes.tolist()
    if svm.class_weight == "balanced":
        return {label: len(y) / (len(classes) * np.sum(y == label)) for label in labels}
    return {label: (svm.class_weight or {}).get(label, 1.0) for label in labels}
