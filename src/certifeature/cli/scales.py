"""Whether columns need to be scaled, and a note for those who did not say."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.sparsefuncs import mean_variance_axis

from certifeature.cli.loading import Scaling
from certifeature.report.text import number

__all__ = ["column_deviations", "look_like_counts", "scaling_for", "scaling_or_note"]

# Beyond this ratio of standard deviations, the widest columns decide alone.
_MAX_RATIO = 10.0
# Columns at a time, so that no second copy of all rows is needed.
_N_COLUMNS = 1024


def scaling_or_note(X: Any, asked: Scaling | None) -> Scaling:
    """Return the scaling that is asked for, or none, with a note if the columns need one."""
    if asked is not None:
        return asked
    counts = look_like_counts(X)
    deviations = np.empty(0) if counts else column_deviations(X)
    deviations = deviations[deviations > 0]
    needed = scaling_for(X, deviations, counts=counts)
    if needed is not None:
        remedy = "gives all the same weight"
        found = "the values look like counts, most of them zero, and the most frequent count most"
        if needed is Scaling.tfidf:
            remedy = "gives rare ones more weight"
        else:
            low, high = number(float(deviations.min())), number(float(deviations.max()))
            found = (
                f"the features have standard deviations from {low} to {high}, and the widest "
                "count most"
            )
        sys.stderr.write(
            f"certifeature: {found}; --scale {needed} {remedy} (--scale none leaves them, without "
            "this note)\n"
        )
    return Scaling.none


def scaling_for(X: Any, deviations: NDArray[np.float64], *, counts: bool) -> Scaling | None:
    """Return the scaling that columns need, if any, given the deviations of those that vary."""
    if counts:
        return Scaling.tfidf
    # Sparse rows are texts as a rule, and a word that varies little is rare.
    if sparse.issparse(X) and _mostly_zero(X):
        return None
    if deviations.size and deviations.max() > _MAX_RATIO * deviations.min():
        return Scaling.standard
    return None


def look_like_counts(X: Any) -> bool:
    """Tell whether the values are whole numbers, none below zero and most of them zero."""
    values = X.data if sparse.issparse(X) else X
    return bool(values.size and _mostly_zero(X) and (values >= 0).all() and (values % 1 == 0).all())


def _mostly_zero(X: Any) -> bool:
    values = X.data if sparse.issparse(X) else X
    return bool(np.count_nonzero(values) <= X.shape[0] * X.shape[1] / 2)


def column_deviations(X: Any) -> NDArray[np.float64]:
    """Return the standard deviation of each column, exactly zero where it is constant."""
    if not X.shape[1]:
        return np.empty(0)
    # Squares of huge values are infinite, and so is their deviation.
    with np.errstate(over="ignore", invalid="ignore"):
        if sparse.issparse(X):
            return np.sqrt(mean_variance_axis(X, axis=0)[1])
        # Rounding gives a column of equal values a deviation that is not quite zero.
        parts = (X[:, start : start + _N_COLUMNS] for start in range(0, X.shape[1], _N_COLUMNS))
        return np.concatenate(
            [np.where(np.ptp(part, axis=0) > 0, part.std(axis=0), 0.0) for part in parts]
        )
