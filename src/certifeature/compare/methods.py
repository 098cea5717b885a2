"""The list of methods: how each makes its selector, and the rows that it looks at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from sklearn.feature_selection import RFE, SelectFromModel, SelectKBest, f_classif
from sklearn.svm import LinearSVC

from certifeature.selectors import (
    BSSSelector,
    LeverageScoreSelector,
    LPSVMSelector,
    RandomSelector,
    RRQRSelector,
)

__all__ = ["FULL_DATA", "KEEP_ALL", "METHODS", "Maker", "Method", "WhichRows", "method_named"]

# (number of features or "certified", SVM, seed) → selector
Maker = Callable[[Any, Any, int], Any]
WhichRows = Literal["support", "all"]

FULL_DATA = "full data"


@dataclass(frozen=True)
class Method:
    """A way to choose features.

    Attributes
    ----------
    name : str
        Name in tables and on the command line.
    rows : {"support", "all"}
        Whether it looks at the support vectors of an SVM on all features, or at all training rows.
    make : callable or None
        Makes the selector from number of features, SVM and seed; None keeps all features.
    own_size : bool
        Whether it takes no number of features, but finds its own.
    ours : bool
        Whether it is a selector of this library that takes "certified" for the number of features,
        and can choose for all rows without labels.
    """

    name: str
    rows: WhichRows
    make: Maker | None
    own_size: bool = False
    ours: bool = False


KEEP_ALL = Method(FULL_DATA, "support", None)

_LISTED = (
    Method(
        "bss",
        "support",
        lambda size, svm, seed: BSSSelector(size, estimator=svm, random_state=seed),
        ours=True,
    ),
    Method(
        "bss-paper",
        "support",
        lambda size, svm, seed: BSSSelector(
            size, order="leverage", trust=0, rescale="each", estimator=svm, random_state=seed
        ),
        ours=True,
    ),
    Method(
        "leverage",
        "support",
        lambda size, svm, seed: LeverageScoreSelector(size, estimator=svm, random_state=seed),
        ours=True,
    ),
    Method(
        "rrqr",
        "support",
        lambda size, svm, seed: RRQRSelector(size, estimator=svm, rescale=False, random_state=seed),
        ours=True,
    ),
    Method("rfe", "all", lambda size, svm, _: RFE(svm, n_features_to_select=size, step=0.1)),
    Method("lpsvm", "all", lambda _, svm, __: LPSVMSelector(C=svm.C), own_size=True),
    Method(
        "l1",
        "all",
        lambda size, svm, seed: SelectFromModel(
            LinearSVC(penalty="l1", C=svm.C, random_state=seed), max_features=size, threshold=1e-12
        ),
    ),
    Method("univariate", "all", lambda size, _, __: SelectKBest(f_classif, k=size)),
    Method(
        "random",
        "all",
        # It looks at no row, so a basis of one direction will do.
        lambda size, _, seed: RandomSelector(
            size,
            supervised=False,
            basis="sketch",
            n_components=1,
            rescale=False,
            random_state=seed,
        ),
        ours=True,
    ),
)

METHODS = {method.name: method for method in _LISTED}


def method_named(name: str) -> Method:
    """Return the method of this name, or say which names there are."""
    if name not in METHODS:
        raise ValueError(f"method {name!r} is unknown; choose from {', '.join(METHODS)}.")
    return METHODS[name]
