"""What the functions of this room return."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from certifeature._matrix import scaled_back
from certifeature.basis.vectors import Vectors

__all__ = ["Basis"]


@dataclass(frozen=True, eq=False)
class Basis:
    """Orthonormal directions that span the rows of a data matrix, or the most of them.

    Attributes
    ----------
    vectors : ndarray or ImplicitVectors of shape (n_features, n_components)
        Orthonormal columns. Above 2**26 values, and for fewer rows than features, they are
        implicit: rows are made when they are indexed, and ``numpy.asarray`` makes them all.
    singular_values : ndarray of shape (n_components,)
        Singular values along the directions, largest first; those of the sketch for a sketch.
    rank : int or None
        Rank of the data, None where it was not computed.
    exact : bool
        Whether the directions span the whole row space.
    """

    vectors: Vectors
    singular_values: NDArray[np.float64]
    rank: int | None
    exact: bool

    @classmethod
    def of_combinations(
        cls, space: tuple[Vectors, NDArray[np.float64]], n_combinations: int, exponent: int
    ) -> Basis:
        """Return what combinations of the rows, fewer than the rows, span.

        Parameters
        ----------
        space : tuple
            Vectors, and singular values over 2**exponent.
        n_combinations : int
            How many combinations there are.
        exponent : int
            By which the rows were scaled down.
        """
        vectors, singular_values = space
        # Combinations that are not independent have caught all that there is.
        rank = len(singular_values) if len(singular_values) < n_combinations else None
        return cls(vectors, scaled_back(singular_values, exponent), rank, exact=rank is not None)

    @property
    def n_components(self) -> int:
        """Number of directions ℓ."""
        return self.vectors.shape[1]

    def truncated(self, n_components: int) -> Basis:
        """Return the basis cut to its first directions.

        Parameters
        ----------
        n_components : int
            Number of directions to keep.

        Returns
        -------
        Basis
            Exact only if nothing was cut.
        """
        vectors = self.vectors[:, :n_components]
        return Basis(
            np.ascontiguousarray(vectors) if isinstance(vectors, np.ndarray) else vectors,
            self.singular_values[:n_components],
            self.rank,
            exact=self.exact and n_components >= self.n_components,
        )
