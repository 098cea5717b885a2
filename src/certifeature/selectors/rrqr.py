"""Selection by QR factorisation with column pivoting."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from certifeature.basis import Basis
from certifeature.selectors.base import BaseSelector
from certifeature.selectors.data import Rows
from certifeature.sparsify import Sample, rrqr

__all__ = ["RRQRSelector"]


class RRQRSelector(BaseSelector):
    """PLACEHOLDER."""

    def __init__(
        self,
        n_features_to_select: int | float | str = "auto",
        *,
        epsilon: float = 0.5,
        supervised: bool = True,
        estimator: Any = None,
        basis: str = "auto",
        n_components: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.epsilon = epsilon
        self.supervised = supervised
        self.estimator = estimator
        self.basis = basis
        self.n_components = n_components
        self.random_state = random_state

    def _rank(self, rows: Rows, basis: Basis) -> NDArray[np.float64]:
        return np.linalg.norm(_compressed(basis), axis=0)

    def _promised_size(self, basis: Basis) -> int:
        """Return the shortest beginning of the pivots that keeps 1 - epsilon of the margin."""
        n_features = len(basis.vectors)
        enough = basis.n_components
        pivots = self._sample(basis, enough, 0).indices
        while enough < n_features and not self._keeps(basis, pivots):
            enough = min(2 * enough, n_features)
            pivots = self._sample(basis, enough, 0).indices
        too_few = basis.n_components - 1
        while enough - too_few > 1:
            middle = (too_few + enough) // 2
            if self._keeps(basis, pivots[:middle]):
                enough = middle
            else:
                too_few = middle
        return enough

    def _keeps(self, basis: Basis, columns: NDArray[np.intp]) -> bool:
        chosen = basis.vectors[columns]
        return bool(np.linalg.eigvalsh(chosen.T @ chosen)[0] >= 1 - self.epsilon)

    def _sample(self, basis: Basis, n_select: int, seed: int) -> Sample:
        return rrqr(_compressed(basis), n_select)


def _compressed(basis: Basis) -> NDArray[np.float64]:
    """Return ΣVᵀ, whose pivots are those of the rows: X = UΣVᵀ and U keeps all distances."""
    # Relative to the largest, so that squares of huge or tiny values stay in range.
    shares = basis.singular_values / basis.singular_values[0]
    compressed: NDArray[np.float64] = (basis.vectors * shares).T
    return compressed
