"""What a method chose, and the columns that an SVM gets of it."""

from typing import NamedTuple

import numpy as np

from certifeature.rows.matrix import scaled_columns


class Choice(NamedTuple):
    """Chosen features, what the choice took, and scales if the method has its own."""

    indices: np.ndarray
    seconds: float
    scales: np.ndarray | None = None

    def scales_for(self, X):
        """Return its own scales, or else the f with f²·‖X_chosen‖² = ‖X‖² for each column."""
        if self.scales is not None:
            return self.scales
        squares = X.multiply(X) if hasattr(X, "multiply") else X * X
        energies = np.asarray(squares.sum(axis=0)).ravel()
        factor = np.sqrt(energies.sum() / energies[self.indices].sum())
        return np.full(len(self.indices), factor)

    def columns(self, X, scales):
        return scaled_columns(X[:, self.indices], scales)
