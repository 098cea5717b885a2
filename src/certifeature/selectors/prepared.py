"""All that is known before the number of features matters, and the scales of what is chosen."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from certifeature._progress import phase
from certifeature._threads import one_thread
from certifeature.basis import Basis
from certifeature.basis.digest import Digest
from certifeature.basis.span import BasisFacts, leading_span, span
from certifeature.certificate.measurable import Measurable
from certifeature.rows.rows import Rows
from certifeature.selectors.method import Choice, Method, Ranking, Request
from certifeature.sparsify import Sample
from certifeature.support.find import Support, every_row
from certifeature.support.loss import Target

__all__ = ["Preparation", "Prepared", "rescaled"]


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


class Preparation:
    """Finds directions of rows that matter, and an order of the features, for several sizes.

    Only the number of leading directions depends on the size. What stays the same from one size to
    the next is found once.

    Parameters
    ----------
    rows : Rows or Digest
        Rows that features are chosen for.
    support : Support or None
        The SVM and its support rows; None if all rows matter.
    request : Request
        What is asked for, but for the size.
    method : Method
        How features are chosen.
    """

    def __init__(
        self, rows: Rows | Digest, support: Support | None, request: Request, method: Method
    ) -> None:
        self.support = support
        self._rows, self._request, self._method = rows, request, method
        self._known = rows if isinstance(rows, Rows) and not rows.in_blocks else None
        self._n_leading: int | None = None
        self._latest: Prepared | None = None

    @property
    def kind(self) -> str:
        """Which rows a certificate is for."""
        return "all" if self.support is None else self.support.kind

    @cached_property
    def measurable(self) -> Measurable:
        """The rows, if they are in memory, to measure selections by."""
        assert self._known is not None
        return Measurable(self._known.weighted(), self.kind, self._known.n_rows, self._target)

    def of_size(self, size: int | None) -> Prepared:
        """Return all that is known before so many features are chosen; None for any number."""
        n_leading = None
        # What is kept of rows in blocks depends on the blocks, and so would leading directions.
        if self._known is not None and self._target.soft_mu is not None and size is not None:
            n_leading = self._method.n_leading(size)
        latest = self._latest
        if latest is None or n_leading != self._n_leading:
            self._latest, self._n_leading = self._prepared(n_leading, latest), n_leading
        assert self._latest is not None
        return self._latest

    def _prepared(self, n_leading: int | None, latest: Prepared | None) -> Prepared:
        n_components = self._request.n_components
        with phase("compute basis"):
            whole, facts = self._span(n_leading)
        basis = whole
        if facts.kind == "truncated" and n_components is not None:
            basis = whole.truncated(n_components)
        if latest and (basis is latest.basis or not self._method.ranks_directions):
            ranking = latest.ranking
        else:
            with phase("rank features"), one_thread():
                ranking = self._method.rank(self._known, self.support, basis, self._request.seed)
        return Prepared(self._known, self.support, whole, basis, facts, ranking, self._target)

    def _span(self, n_leading: int | None) -> tuple[Basis, BasisFacts]:
        """Return the directions of the rows: leading ones, where they are enough, or all."""
        request, leading = self._request, None
        if n_leading is not None:
            assert self._known is not None
            leading = leading_span(self._known, request.basis, request.n_components, n_leading)
        return leading or self._all_directions

    @cached_property
    def _all_directions(self) -> tuple[Basis, BasisFacts]:
        request = self._request
        return span(self._rows, request.basis, request.n_components, request.seed)

    @cached_property
    def _target(self) -> Target:
        """What is known of the model: any, if none is given where all rows matter."""
        support, estimator = self.support, self._request.estimator
        if support is None and estimator is not None:
            rows = Rows(np.empty((0, 0))) if self._known is None else self._known
            support = every_row(rows, estimator)
        return Target() if support is None else support.target


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
