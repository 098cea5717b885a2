"""Which rows matter to a linear model, wherever the rows are."""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from certifeature._threads import one_thread
from certifeature.rows.rows import Rows
from certifeature.support.accepted import predicts_numbers
from certifeature.support.cascade import cascade
from certifeature.support.costs import cost_of, row_costs
from certifeature.support.fitted import support_rows
from certifeature.support.loss import ALL_ROWS_MATTER, Target, loss_of, model_name, ridge_of
from certifeature.support.model import default_model, fit_converges

__all__ = ["FEW_ROWS", "Support", "every_row", "find_support", "grown"]

# Up to so many rows in blocks are gathered, so that any model can be trained on them.
FEW_ROWS = 1000
# Where labels are not known: the bound for many classes holds for two.
_MANY_CLASSES = 3


@dataclass(frozen=True, eq=False)
class Support:
    """The rows that matter to a linear model.

    Attributes
    ----------
    rows : Rows
        Those rows, in memory.
    model : estimator
        The model, fitted.
    classes : ndarray
        All classes, none for a model that predicts numbers; the support may lack some.
    costs : ndarray of shape (n_support, n_problems) or None
        What the model multiplies the loss of each of the rows by; None where classes have
        weights and labels are not known.
    candidates : Rows
        The rows among which the support was found: all rows, or, of blocks, the support alone.
    converged : bool
        Whether the model was trained to its optimum. If not, the rows may not be all that matter.
    n_passes, optimality_gap : int, float, or None
        Of rows in blocks: how often they were read, and the most by which the objective can exceed
        the optimum, as a share of it.
    """

    rows: Rows
    model: Any
    classes: NDArray[Any]
    costs: NDArray[np.float64] | None
    candidates: Rows
    converged: bool = True
    n_passes: int | None = None
    optimality_gap: float | None = None

    @property
    def loss(self) -> str:
        """The name of the loss."""
        return loss_of(self.model, len(self.classes) or _MANY_CLASSES)

    @property
    def kind(self) -> str:
        """Which rows a certificate is for: "all" where none can be left out, or "support"."""
        return "all" if self.loss in ALL_ROWS_MATTER else "support"

    @property
    def mu(self) -> float | None:
        """The ridge of the bound for the model, on weighted rows; None if there is none.

        A row of weight s times √s leaves the dual as it is, but for the convexity of its loss,
        which is that of a row without weight. Weighted rows come divided by the largest root.
        """
        mu = ridge_of(self.loss, self.costs)
        weights = self.rows.sample_weight
        if mu is None or weights is None:
            return mu
        # Balanced classes may have been weighed with the weights of their rows.
        balanced = isinstance(getattr(self.model, "class_weight", None), str)
        return None if balanced else mu / float(weights.max())

    @property
    def target(self) -> Target:
        """What a certificate has to know of the model."""
        return Target(model_name(self.model), self.mu, self.loss == "hinge", self.converged)


def every_row(rows: Rows, estimator: Any) -> Support:
    """Return all rows in the place of support rows, with a model that is not trained.

    Parameters
    ----------
    rows : Rows
        With labels or without.
    estimator : estimator
        Unfitted linear model.
    """
    model, labels = clone(estimator), rows.y
    is_weighted = getattr(model, "class_weight", None) is not None
    if rows.in_blocks and is_weighted:
        parts = rows.X.collect(attrgetter("y"))
        labels = None if any(part is None for part in parts) else np.concatenate(parts)
    if labels is not None:
        classes = np.empty(0) if predicts_numbers(model) else np.unique(labels)
        return Support(rows, model, classes, row_costs(model, labels), rows)
    # All rows cost the same, unless classes differ.
    costs = None if is_weighted else np.full((1, 1), cost_of(model))
    return Support(rows, model, np.empty(0), costs, rows)


def find_support(rows: Rows, estimator: Any, seed: int = 0) -> Support:
    """Train a model, and return the rows that matter to it.

    Parameters
    ----------
    rows : Rows
        With labels, or numbers.
    estimator : estimator or None
        Unfitted linear model; None takes the default for this number of rows.
    seed : int, default=0
        Of the default model.
    """
    candidates = rows.together(FEW_ROWS)
    if candidates is None:
        return _in_blocks(rows, estimator, seed)
    if candidates.y is None:
        raise ValueError("y is None: a model needs labels.")
    model = _unfitted(estimator, seed)
    with one_thread():
        converged = fit_converges(model, candidates.X, candidates.y, candidates.sample_weight)
    chosen = support_rows(model, candidates.X, candidates.y)
    return _taken(candidates, model, chosen, converged)


def _taken(candidates: Rows, model: Any, chosen: NDArray[np.intp], converged: bool) -> Support:
    """Return some of the rows as those that matter to a model."""
    assert candidates.y is not None
    costs = row_costs(model, candidates.y)[chosen]
    classes = np.empty(0) if predicts_numbers(model) else np.unique(candidates.y)
    return Support(candidates.take(chosen), model, classes, costs, candidates, converged)


def grown(support: Support, places: NDArray[np.intp]) -> Support:
    """Return the support with more rows of those in memory.

    Parameters
    ----------
    support : Support
        So far.
    places : ndarray of int
        Of the rows to take in.
    """
    union = np.union1d(support.rows.places, places)
    chosen = np.flatnonzero(np.isin(support.candidates.places, union))
    return _taken(support.candidates, support.model, chosen, support.converged)


def _in_blocks(rows: Rows, estimator: Any, seed: int) -> Support:
    found = cascade(rows.X, _unfitted(estimator, seed))
    support = Rows(found.X, found.y, None, found.indices, rows.feature_names)
    classes = found.svm.classes_
    costs = row_costs(found.svm, found.y, classes=classes)
    facts = found.converged, found.n_rounds, found.gap
    return Support(support, found.svm, classes, costs, support, *facts)


def _unfitted(estimator: Any, seed: int) -> Any:
    return default_model(seed) if estimator is None else clone(estimator)
