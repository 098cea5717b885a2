"""What the functions of this room return."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from certifeature.basis.row_space import RowSpace
from certifeature.basis.vectors import Vectors
from certifeature.rows.matrix import scaled_back

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
        Whether the directions span the whole row space: none is missing on which more than the last
        digits of a column depend. (The directions themselves are rounded, too; beside a column of
        huge values that can be much of a small one, and certificates count it.)
    left_out : float or None
        Norm of what the data have outside the span, None where it was not computed.
    """

    vectors: Vectors
    singular_values: NDArray[np.float64]
    rank: int | None
    exact: bool
    left_out: float | None

    @classmethod
    def of_rows(cls, space: RowSpace, exponent: int) -> Basis:
        """Return what rows span.

        Parameters
        ----------
        space : RowSpace
            Of the rows over 2**exponent.
        exponent : int
            By which the rows were scaled down.
        """
        values = scaled_back(space.singular_values, exponent)
        left_out = float(scaled_back(space.left_out, exponent))
        return cls(space.vectors, values, len(values), exact=space.whole, left_out=left_out)

    @classmethod
    def of_combinations(cls, space: RowSpace, n_combinations: int, exponent: int) -> Basis:
        """Return what combinations of the rows, fewer than the rows, span.

        Parameters
        ----------
        space : RowSpace
            Of the combinations over 2**exponent.
        n_combinations : int
            How many combinations there are.
        exponent : int
            By which the rows were scaled down.
        """
        values = scaled_back(space.singular_values, exponent)
        # Combinations that are not independent have caught all that there is.
        exact = space.whole and len(values) < n_combinations
        rank = len(values) if exact else None
        return cls(space.vectors, values, rank, exact=exact, left_out=None)

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
        whole = n_components >= self.n_components
        return Basis(
            np.ascontiguousarray(vectors) if isinstance(vectors, np.ndarray) else vectors,
            self.singular_values[:n_components],
            self.rank,
            exact=self.exact and whole,
            left_out=self.left_out if whole else None,
        )
