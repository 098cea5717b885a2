"""The support vectors of a linear SVM on rows that come in blocks."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from certifeature._warnings import warn
from certifeature.rows.blocks import Block, RowBlocks, stacked
from certifeature.rows.matrix import stored_bytes
from certifeature.support.accepted import check_model
from certifeature.support.costs import row_costs
from certifeature.support.fitted import margins, near_margin, support_rows
from certifeature.support.loss import ALL_ROWS_MATTER, loss_of
from certifeature.support.model import capped, fit_converges, warn_of_no_optimum
from certifeature.support.newton import has_smooth_loss, move_to_optimum

__all__ = ["Cascade", "cascade"]

FloatArray = NDArray[np.float64]

# Share of the objective that rows left out may add to it, where LIBLINEAR's tolerance is all there
# is. An SVM with a smooth loss is trained to its optimum, and no row that matters is left out.
_GAP = 1e-4
_MAX_ROUNDS = 20
# Rows that a block with one class passes on: no SVM can choose among them.
_ROWS_OF_ONE_CLASS = 1000


@dataclass(frozen=True, eq=False)
class Cascade:
    """What a cascade ended with.

    Attributes
    ----------
    X : {ndarray, CSR array} of shape (n_support, n_features)
        Support rows.
    y : ndarray of shape (n_support,)
        Their labels.
    indices : ndarray of shape (n_support,)
        Their places among all rows.
    svm : estimator
        The SVM, fitted.
    n_rounds : int
        Passes over the blocks.
    gap : float
        Share of the objective on all rows that the rows left out make up. The rest is the objective
        on rows for which the SVM is optimal, to the tolerance of its solver, and no more rows can
        lower that; so it is the most by which the objective can exceed the optimum.
    objective : float
        On all rows.
    converged : bool
        Whether the SVM reached its optimum on the gathered rows, and needs no others.
    """

    X: Any
    y: NDArray[Any]
    indices: NDArray[np.intp]
    svm: Any
    n_rounds: int
    gap: float
    objective: float
    converged: bool


def cascade(blocks: RowBlocks, svm: LinearSVC) -> Cascade:
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
    Cascade
        Support rows, SVM and optimality gap.

    References
    ----------
    H. P. Graf, E. Cosatto, L. Bottou, I. Dourdanovic and V. Vapnik, *Parallel Support Vector
    Machines: The Cascade SVM*, NIPS, 2004.

    Examples
    --------
    >>> from sklearn.svm import LinearSVC
    >>> from certifeature.rows import ArrayBlocks
    >>> from certifeature.datasets import make_relevant_features
    >>> from certifeature.support import cascade
    >>> X, y = make_relevant_features(400, 50, 5, random_state=0)
    >>> result = cascade(ArrayBlocks(X, y, n_rows=90), LinearSVC(random_state=0))
    >>> len(result.indices) < 400, result.gap < 1e-4
    (True, True)
    """
    _check(svm)
    with warnings.catch_warnings():
        # How well the blocks did by themselves does not matter in the end.
        warnings.simplefilter("ignore", ConvergenceWarning)
        gathered = _Gathered.of(blocks.collect(partial(_own_support, svm)))
    classes = np.unique(gathered.y)
    unknown = set(svm.class_weight or ()) - set(classes.tolist())
    if unknown:
        raise ValueError(
            f"class_weight names {sorted(unknown, key=str)}, but the classes are {classes}."
        )
    fitted, n_rounds = _adapted(svm, classes), 1
    converged = fit_converges(fitted, gathered.X, gathered.y)
    while True:
        seen = blocks.collect(partial(_outside, fitted, gathered.indices))
        inside = _penalty(fitted) + _loss(fitted, gathered.X, gathered.y)
        outside = sum(loss for loss, _ in seen)
        gap = outside / (inside + outside)
        n_rounds += 1
        more = _Gathered.of([rows for _, rows in seen])
        settled = not len(more.y) if has_smooth_loss(svm) else gap <= _GAP
        if settled or n_rounds == _MAX_ROUNDS:
            break
        gathered = gathered.joined(more)
        if has_smooth_loss(svm):
            # From where it was it is not far to the new optimum.
            costs = row_costs(fitted, gathered.y, classes=classes)
            converged = move_to_optimum(fitted, gathered.X, gathered.y, costs)
            if not converged:
                warn_of_no_optimum(fitted)
        else:
            converged = fit_converges(fitted, gathered.X, gathered.y)
    if not settled:
        warn(
            f"the cascade did not settle in {n_rounds} passes: rows left out make up {gap:.1e} of "
            "the objective. Let the SVM iterate longer, or lower C.",
            ConvergenceWarning,
        )
    support = gathered.take(support_rows(fitted, gathered.X, gathered.y))
    facts = n_rounds, gap, inside + outside, bool(settled and converged)
    return Cascade(support.X, support.y, support.indices, fitted, *facts)


def _check(svm: Any) -> None:
    name = type(svm).__name__
    check_model(svm)
    if loss_of(svm) in ALL_ROWS_MATTER:
        raise ValueError(
            f"the rows come in blocks, and all of them matter to {name}; set supervised=False "
            f"and leave estimator={name}(...) as it is, which chooses for all rows."
        )
    if not isinstance(svm, LinearSVC):
        raise ValueError(
            f"rows in blocks are for sklearn.svm.LinearSVC; got {name}. Use that, or "
            "supervised=False."
        )
    if svm.multi_class != "ovr":
        raise ValueError(f"rows in blocks need multi_class='ovr'; got {svm.multi_class!r}.")
    if isinstance(svm.class_weight, str):
        raise ValueError(
            f"class_weight={svm.class_weight!r} differs from block to block; give the weights "
            "themselves as a dict."
        )


@dataclass(frozen=True, eq=False)
class _Gathered:
    """Rows from different blocks, in the order of all rows."""

    X: Any
    y: NDArray[Any]
    indices: NDArray[np.intp]

    def __sizeof__(self) -> int:
        return stored_bytes(self.X)

    @classmethod
    def of(cls, parts: list[_Gathered]) -> _Gathered:
        y = np.concatenate([part.y for part in parts])
        indices = np.concatenate([part.indices for part in parts])
        return cls(stacked([part.X for part in parts]), y, indices)

    def joined(self, other: _Gathered) -> _Gathered:
        both = _Gathered.of([self, other])
        return both.take(np.argsort(both.indices))

    def take(self, rows: NDArray[np.intp]) -> _Gathered:
        return _Gathered(self.X[rows], self.y[rows], self.indices[rows])


def _own_support(svm: LinearSVC, block: Block) -> _Gathered:
    """Return the support rows of an SVM trained on one block."""
    y = block.labels()
    classes = np.unique(y)
    if len(classes) < 2:
        rows = np.arange(min(len(y), _ROWS_OF_ONE_CLASS))
    else:
        fitted = capped(_adapted(svm, classes)).fit(block.X, y)
        nearest = margins(fitted, block.X, y).min(axis=1)
        # Since the intercept is penalised, the support may lack a class, which must not get lost.
        of_each = [np.flatnonzero(y == c)[nearest[y == c].argmin()] for c in classes]
        rows = np.union1d(support_rows(fitted, block.X, y), of_each)
    return _Gathered(block.X[rows], y[rows], block.first_row + rows)


def _adapted(svm: LinearSVC, classes: NDArray[Any]) -> LinearSVC:
    """Return an unfitted SVM with a weight for these classes, and for no others."""
    if svm.class_weight is None:
        return clone(svm)
    weights = {label: svm.class_weight.get(label, 1.0) for label in classes.tolist()}
    return clone(svm).set_params(class_weight=weights)


def _outside(svm: LinearSVC, known: NDArray[np.intp], block: Block) -> tuple[float, _Gathered]:
    """Return the loss of the rows of a block that are not known, and those near the margin."""
    y = block.labels()
    within = known[(known >= block.first_row) & (known < block.first_row + len(y))]
    unknown = np.ones(len(y), dtype=bool)
    unknown[within - block.first_row] = False
    rows = np.flatnonzero(unknown & near_margin(margins(svm, block.X, y)))
    loss = _loss(svm, block.X[rows], y[rows]) if rows.size else 0.0
    return loss, _Gathered(block.X[rows], y[rows], block.first_row + rows)


def _penalty(svm: LinearSVC) -> float:
    """Return ½‖w‖², with the intercept where LIBLINEAR counts it."""
    value = float(np.sum(svm.coef_**2))
    if svm.fit_intercept:
        value += float(np.sum((np.asarray(svm.intercept_) / svm.intercept_scaling) ** 2))
    return value / 2


def _loss(svm: LinearSVC, X: Any, y: NDArray[Any]) -> float:
    """Return C times the loss of rows, over all binary problems."""
    slack = np.maximum(0.0, 1 - margins(svm, X, y))
    losses = slack**2 if svm.loss == "squared_hinge" else slack
    costs = row_costs(svm, y, classes=svm.classes_)
    return float((costs * losses).sum())
