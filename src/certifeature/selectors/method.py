"""What a selector is asked for, and how features are chosen."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certifeature.basis import Basis
from certifeature.certificate import APriori
from certifeature.rows.rows import Rows
from certifeature.sparsify import Sample
from certifeature.support.find import Support

__all__ = ["Choice", "Method", "Ranking", "Request"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Request:
    """What a selector is asked for.

    Attributes
    ----------
    size : int or None
        Number of features; None for the fewest that keep ``epsilon``.
    epsilon : float
        Share of the squared margin that may be lost.
    supervised : bool
        Whether only rows matter that matter to the model.
    cover_all : bool
        Whether the support is to grow until the certificate holds for all rows.
    estimator : estimator or None
        The linear model that features are chosen for.
    basis, n_components : str, int or None
        Kind of basis, and its number of directions.
    rescale : {"common", "each", False}
        Whether columns get one factor, the scales of the method, or none.
    seed : int
        Of everything that is drawn.
    """

    size: int | None
    epsilon: float
    supervised: bool
    cover_all: bool
    estimator: Any
    basis: str
    n_components: int | None
    rescale: Any
    seed: int


@dataclass(frozen=True, eq=False)
class Ranking:
    """In which order features are considered.

    Attributes
    ----------
    scores : ndarray of shape (n_features,)
        The higher, the sooner a feature is considered.
    trusted : ndarray of shape (n_features,) or None
        Scores of which the highest are taken without further question.
    """

    scores: FloatArray
    trusted: FloatArray | None = None


@dataclass(frozen=True, eq=False)
class Choice:
    """The features that a method chose.

    Attributes
    ----------
    sample : Sample
        With the scales of the method.
    covered : Basis
        The directions that they were chosen for.
    promise : APriori or None
        What is known of such a sample unmeasured, if the basis is that of all rows.
    """

    sample: Sample
    covered: Basis
    promise: APriori | None = None

    @property
    def counted(self) -> NDArray[np.bool_]:
        """Which features the lower bounds of the promise count on."""
        sample = self.sample
        if sample.steps is None:
            return np.ones(len(sample.indices), dtype=bool)
        return np.isin(sample.indices, sample.steps.features)


class Method(ABC):
    """How features are chosen for a basis."""

    @abstractmethod
    def rank(self, rows: Rows | None, support: Support | None, basis: Basis, seed: int) -> Ranking:
        """Return a score for each feature.

        There are no rows where they came in blocks and are gone, and no support where all rows
        matter.
        """

    @abstractmethod
    def choose(
        self, basis: Basis, mu: float | None, size: int, ranking: Ranking, seed: int
    ) -> Choice:
        """Choose features, fewer than there are.

        The model that they are for does not mind small directions where its dual is so strongly
        convex; it is None where all directions count alike.
        """

    @property
    def ranks_directions(self) -> bool:
        """Whether the scores depend on the basis, and not on the rows and their model alone."""
        return True

    def of_features(self, n_features: int, names: NDArray[Any] | None) -> Method:
        """Return the method for these features, or raise if a parameter does not suit them."""
        return self

    def everything(self, n_features: int) -> Sample:
        """Return all features as they are."""
        return Sample(np.arange(n_features), np.ones(n_features))

    def n_leading(self, size: int) -> int | None:
        """Return how many leading directions are enough for so many features of a soft model.

        None stands for all of them.
        """
        return None

    def enough(self, basis: Basis, mu: float | None, epsilon: float) -> int:
        """Return a number of scaled features that keeps epsilon for certain."""
        return len(basis.vectors)

    def fewest(self, basis: Basis) -> int:
        """Return the number of features below which nothing can be kept of all directions."""
        return basis.n_components
