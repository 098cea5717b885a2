"""The methods that the experiments compare, each a selector and the rows that it looks at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from sklearn.base import clone
from sklearn.feature_selection import RFE, SelectFromModel, SelectKBest, chi2, f_classif
from sklearn.svm import LinearSVC

from certifeature.selectors import (
    BSSSelector,
    LeverageScoreSelector,
    LPSVMSelector,
    RandomSelector,
    RRQRSelector,
)
from certifeature.sparsify import Sample
from certifeature.svm import feature_weights

__all__ = [
    "FULL_DATA",
    "METHODS",
    "Method",
    "ccat_methods",
    "choice",
    "paper_methods",
    "today_methods",
]

# (number of features, SVM, seed) → selector
Maker = Callable[[int, Any, int], Any]
Rows = Literal["support", "all"]

FULL_DATA = "full data"
# The paper does not say which. On tf-idf vectors C = 1 leaves LPSVM a dozen features and twice the
# error; from 10 on, rows that can be separated are.
_LPSVM_C = 10.0


@dataclass(frozen=True)
class Method:
    """A way to choose features.

    Attributes
    ----------
    name : str
        As tables print it.
    rows : {"support", "all"}
        Whether it looks at the support vectors of an SVM on all features, or at all training rows.
    make : callable or None
        Makes the selector from number of features, SVM and seed; None keeps all features.
    n_draws : int
        How often it is repeated with other seeds.
    own_size : bool
        Whether it takes no number of features, but finds its own.
    """

    name: str
    rows: Rows
    make: Maker | None
    n_draws: int = 1
    own_size: bool = False

    def fitted(self, X: Any, y: Any, support: Any, svm: Any, size: int | None, seed: int) -> Any:
        """Return the selector, fitted to training rows or to the support rows among them.

        Parameters
        ----------
        X, y : array-like
            Training rows and labels.
        support : ndarray of int
            Which of them are support rows.
        svm : estimator
            Unfitted linear SVM.
        size : int or None
            Number of features; None for a method that finds its own.
        seed : int
            Of the selector.
        """
        assert self.make is not None
        selector = self.make(0 if size is None else size, clone(svm), seed)
        if self.rows == "all" or getattr(selector, "supervised", False):
            return selector.fit(X, y)
        return selector.fit(X[support], y[support])


def choice(selector: Any) -> Sample:
    """Return what a fitted selector chose, best first, and the scales it gives."""
    if hasattr(selector, "indices_"):
        weights = getattr(selector, "weights_", np.ones(len(selector.indices_)))
        return Sample(selector.indices_, weights)
    chosen = selector.get_support(indices=True)
    if isinstance(selector, RFE):
        scores = feature_weights(selector.estimator_)
    elif isinstance(selector, SelectFromModel):
        scores = feature_weights(selector.estimator_)[chosen]
    else:
        scores = np.nan_to_num(selector.scores_[chosen], nan=-np.inf)
    return Sample(chosen[np.argsort(-scores, kind="stable")], np.ones(len(chosen)))


def paper_methods(rows: Rows, n_draws: int = 5) -> list[Method]:
    """Return the methods of the paper, with its rules and settings.

    Parameters
    ----------
    rows : {"support", "all"}
        What it calls supervised and unsupervised. RFE and LPSVM use labels in both.
    n_draws : int, default=5
        Repetitions of the random methods.
    """
    supervised = rows == "support"
    return [
        Method(
            "BSS, paper",
            rows,
            lambda size, svm, seed: BSSSelector(
                size, supervised=supervised, estimator=svm, order="leverage", random_state=seed
            ),
        ),
        Method(
            "leverage sampling",
            rows,
            lambda size, svm, seed: LeverageScoreSelector(
                size, supervised=supervised, estimator=svm, random_state=seed
            ),
            n_draws,
        ),
        Method("RFE", rows, lambda size, svm, _: RFE(svm, n_features_to_select=size, step=0.1)),
        Method("LPSVM", rows, lambda *_: LPSVMSelector(C=_LPSVM_C), own_size=True),
        Method(
            "RRQR",
            rows,
            lambda size, svm, seed: RRQRSelector(
                size, supervised=supervised, estimator=svm, rescale=False, random_state=seed
            ),
        ),
        Method(
            "random",
            rows,
            # It looks at no row, so a basis of one direction will do.
            lambda size, _svm, seed: RandomSelector(
                size,
                supervised=False,
                basis="sketch",
                n_components=1,
                rescale=False,
                random_state=seed,
            ),
            n_draws,
        ),
    ]


def today_methods(rows: Rows, *, counts: bool) -> list[Method]:
    """Return what users pick today: an L1 SVM, a univariate test, and our default.

    Parameters
    ----------
    rows : {"support", "all"}
        Rows to look at. Our default needs the support vectors.
    counts : bool
        Whether the data are counts or frequencies, so that a χ² test applies.
    """
    test = chi2 if counts else f_classif
    methods = [
        Method(
            "L1 SVM",
            rows,
            lambda size, svm, seed: SelectFromModel(
                LinearSVC(penalty="l1", C=svm.C, random_state=seed),
                max_features=size,
                threshold=1e-12,
            ),
        ),
        Method("univariate", rows, lambda size, _svm, _seed: SelectKBest(test, k=size)),
    ]
    if rows == "support":
        default = Method(
            "BSS",
            rows,
            lambda size, svm, seed: BSSSelector(size, estimator=svm, random_state=seed),
        )
        methods.insert(0, default)
    return methods


def ccat_methods(n_projections: list[int], n_draws: int = 5) -> list[Method]:
    """Return the methods of Table 4: BSS on Gaussian sketches, and its rivals.

    Parameters
    ----------
    n_projections : list of int
        Rows of the Gaussian matrices.
    n_draws : int, default=5
        Number of Gaussian matrices.
    """
    methods = [
        Method(f"{name} (t = {t})", "support", _sketched_bss(order, t), n_draws)
        for name, order in (("BSS, paper", "leverage"), ("BSS", "coef"))
        for t in n_projections
    ]
    rivals = [
        Method(
            "RRQR",
            "support",
            lambda size, svm, seed: RRQRSelector(
                size,
                estimator=svm,
                basis="sketch",
                n_components=size,
                rescale=False,
                random_state=seed,
            ),
        ),
        *(m for m in paper_methods("support") if m.name in ("RFE", "LPSVM")),
        *(m for m in today_methods("support", counts=True) if m.name != "BSS"),
    ]
    return methods + rivals


def _sketched_bss(order: str, n_projections: int) -> Maker:
    return lambda size, svm, seed: BSSSelector(
        size,
        estimator=svm,
        order=order,
        basis="sketch",
        n_components=n_projections,
        random_state=seed,
    )


def _by_short_names() -> dict[str, Method]:
    """Return the methods that users choose from by name, as they would use them."""
    paper = {method.name: method for method in paper_methods("support", n_draws=1)}
    support = {method.name: method for method in today_methods("support", counts=False)}
    everything = {
        method.name: method
        for method in (*paper_methods("all", n_draws=1), *today_methods("all", counts=False))
    }
    named = {
        "bss": support["BSS"],
        "leverage": paper["leverage sampling"],
        "rrqr": paper["RRQR"],
        "rfe": everything["RFE"],
        "lpsvm": Method("", "all", lambda _, svm, __: LPSVMSelector(C=svm.C), own_size=True),
        "l1": everything["L1 SVM"],
        "univariate": everything["univariate"],
        "random": everything["random"],
        FULL_DATA: Method(FULL_DATA, "support", None),
    }
    return {name: replace(method, name=name) for name, method in named.items()}


METHODS = _by_short_names()
