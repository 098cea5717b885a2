"""Randomised selection by leverage-score sampling."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from certifeature.basis import Basis
from certifeature.selectors.base import BaseSelector
from certifeature.selectors.data import Rows
from certifeature.selectors.parameters import check_choice, chernoff_size
from certifeature.sparsify import Sample, leverage_sample, leverage_scores

__all__ = ["LeverageScoreSelector"]


class LeverageScoreSelector(BaseSelector):
    """PLACEHOLDER."""

    def __init__(
        self,
        n_features_to_select: int | float | str = "auto",
        *,
        epsilon: float = 0.5,
        supervised: bool = True,
        estimator: Any = None,
        replace: bool = True,
        basis: str = "auto",
        n_components: int | None = None,
        rescale: bool = True,
        random_state: Any = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.epsilon = epsilon
        self.supervised = supervised
        self.estimator = estimator
        self.replace = replace
        self.basis = basis
        self.n_components = n_components
        self.rescale = rescale
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("replace", self.replace, (True, False))
        check_choice("rescale", self.rescale, (True, False))

    def _rank(self, rows: Rows, basis: Basis) -> NDArray[np.float64]:
        return leverage_scores(basis.vectors)

    def _promised_size(self, basis: Basis) -> int:
        return chernoff_size(basis.n_components, basis.n_components, self.epsilon)

    def _sample(self, basis: Basis, n_select: int, seed: int) -> Sample:
        return leverage_sample(basis.vectors, n_select, random_state=seed, replace=self.replace)
