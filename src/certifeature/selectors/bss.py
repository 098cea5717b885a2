"""Deterministic selection by single-set spectral sparsification."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certifeature.basis import Basis
from certifeature.selectors.base import BaseSelector
from certifeature.selectors.data import Rows
from certifeature.selectors.parameters import check_choice
from certifeature.sparsify import Sample, bss, leverage_scores
from certifeature.svm import elimination_order, feature_weights

__all__ = ["BSSSelector"]

_ORDERS = ("auto", "rfe", "coef", "leverage")


class BSSSelector(BaseSelector):
    """PLACEHOLDER."""

    def __init__(
        self,
        n_features_to_select: int | float | str = "auto",
        *,
        epsilon: float = 0.5,
        supervised: bool = True,
        estimator: Any = None,
        order: str | ArrayLike | Callable[..., Any] = "auto",
        basis: str = "auto",
        n_components: int | None = None,
        rescale: bool = True,
        random_state: Any = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.epsilon = epsilon
        self.supervised = supervised
        self.estimator = estimator
        self.order = order
        self.basis = basis
        self.n_components = n_components
        self.rescale = rescale
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("rescale", self.rescale, (True, False))
        if isinstance(self.order, str):
            check_choice("order", self.order, _ORDERS)
            if self.order in ("rfe", "coef") and not self.supervised:
                raise ValueError(
                    f"order={self.order!r} ranks features by the weights of an SVM, so it needs "
                    "supervised=True; use order='leverage', an array or a callable."
                )

    def _compute_basis(self, rows: Any, n_select: int | None, seed: int) -> tuple[Basis, str]:
        """Return a basis with fewer directions than there will be picks."""
        keeps_all = n_select is None or n_select >= rows.shape[1]
        basis, kind = super()._compute_basis(rows, n_select, seed)
        if keeps_all or basis.n_components < n_select or basis.n_components == 1:
            return basis, kind
        if self.basis == "auto" and self.n_components is None:
            return basis.truncated(self._directions_for(n_select)), "truncated"
        what = "rank of the rows" if basis.exact else "number of directions"
        raise ValueError(
            f"n_features_to_select={n_select} is not more than the {what}, {basis.n_components}, "
            f"so BSS cannot cover them all. Ask for at least {basis.n_components + 1} features, or "
            "leave basis='auto' and n_components=None, which cuts the basis to fit."
        )

    @staticmethod
    def _directions_for(n_select: int) -> int:
        return max(1, n_select // 2)

    def _promised_size(self, basis: Basis) -> int:
        # (1 - sqrt(l/r))² >= 1 - epsilon, solved for r.
        return int(np.ceil(basis.n_components / (1 - np.sqrt(1 - self.epsilon)) ** 2))

    def _rank(self, rows: Rows, basis: Basis) -> NDArray[np.float64]:
        if callable(self.order):
            scores = self.order(rows.X, rows.y)
            # The score functions of sklearn.feature_selection return p-values too, and NaN for
            # constant features.
            scores = np.asarray(scores[0] if isinstance(scores, tuple) else scores, dtype=float)
            return np.where(np.isnan(scores), -np.inf, scores)
        if not isinstance(self.order, str):
            return np.asarray(self.order, dtype=np.float64)
        if self.order == "leverage" or not self.supervised:
            return np.round(leverage_scores(basis.vectors), 12)
        if self.order == "coef":
            return feature_weights(self.estimator_)
        return elimination_order(self.estimator_, rows.X, rows.y, rows.sample_weight)

    def _sample(self, basis: Basis, n_select: int, seed: int) -> Sample:
        if n_select > 1:
            return bss(basis.vectors, n_select, priority=self.scores_)
        # BSS begins with two picks; its first alone can match one direction exactly.
        best = bss(basis.vectors, 2, priority=self.scores_).indices[:1]
        return Sample(best, 1 / np.abs(basis.vectors[best, 0]))
