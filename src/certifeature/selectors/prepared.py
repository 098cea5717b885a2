"""All that is known before the number of features matters, and the scales of what is chosen."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from certifeature.basis import Basis
from certifeature.basis.span import BasisFacts
from certifeature.rows.rows import Rows
from certifeature.selectors.method import Choice, Method, Ranking
from certifeature.sparsify import Sample
from certifeature.support.find import Support
from certifeature.support.loss import Target

__all__ = ["Prepared", "rescaled"]


@dataclass(frozen=True, eq=False)
class Prepared:
    """All that is known before the number of features matters.

    Attributes
    ----------
    rows : Rows or None
        Rows that features are chosen for; None where they came in blocks and are gone.
    support : Support or None
        The SVM and its support rows; None if all rows matter.
    whole : Basis
        All directions of the rows that are known.
    basis : Basis
        Those among them that features may be chosen for.
    facts : BasisFacts
        How they were found.
    ranking : Ranking
        In which order features are considered.
    target : Target
        The model that features are chosen for, which may be any.
    """

    rows: Rows | None
    support: Support | None
    whole: Basis
    basis: Basis
    facts: BasisFacts
    ranking: Ranking
    target: Target

    def choose(self, method: Method, size: int, seed: int) -> Choice:
        """Choose so many features."""
        return method.choose(self.basis, self.soft_mu, size, self.ranking, seed)

    @property
    def soft_mu(self) -> float | None:
        """How strongly convex the dual of the model is, unless that is nothing for these rows."""
        mu, largest = self.target.soft_mu, float(self.basis.singular_values[0])
        if mu is None or mu / largest / largest < np.finfo(np.float64).tiny:
            return None
        return mu


def rescaled(sample: Sample, basis: Basis, rescale: Any) -> Sample:
    """Return the sample with the scales that are asked for.

    One common factor brings the norm of the chosen columns to that of all columns, so that C means
    about the same for both.
    """
    if rescale == "each":
        return sample
    weights = np.ones(len(sample.indices))
    if rescale == "common":
        if basis.outside is not None:
            columns = basis.outside.columns
            everything, chosen = _norm(columns), _norm(columns[sample.indices])
        else:
            # Relative to the largest, so that squares of huge or tiny values stay in range.
            shares = basis.singular_values / basis.singular_values[0]
            everything = float(np.linalg.norm(shares))
            chosen = float(np.linalg.norm(basis.vectors[sample.indices] * shares))
        if chosen > 0:
            weights *= everything / chosen
    return replace(sample, weights=weights)


def _norm(columns: Any) -> float:
    return float(np.linalg.norm(columns.data if sparse.issparse(columns) else columns))
