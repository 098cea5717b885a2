"""Rows that selections are measured by, wherever the rows are."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

from certifeature import _memory
from certifeature.basis import Basis, exact_basis
from certifeature.basis.digest import Digest
from certifeature.certificate.certificate import Certificate
from certifeature.certificate.lanczos import certificate_by_products
from certifeature.certificate.measure import basis_pays, measured_certificate
from certifeature.rows.blocks import RowBlocks
from certifeature.sparsify import Sample
from certifeature.support.find import Support
from certifeature.support.loss import Target

__all__ = ["Measurable"]


@dataclass(frozen=True, eq=False)
class Measurable:
    """Rows that selections are measured by; a basis is found once, if it is needed.

    Attributes
    ----------
    X : ndarray, CSR array or RowBlocks of shape (n_samples, n_features)
        Rows, or others with the same inner products of columns.
    kind : {"support", "all"}
        What the rows are.
    n_rows : int
        Their number.
    target : Target
        The model, which may be any.
    """

    X: Any
    kind: str
    n_rows: int
    target: Target

    @classmethod
    def of_support(cls, found: Support, kind: str) -> Self:
        """Return the rows of a model, in memory unless they are too many."""
        rows = found.rows
        X, n_rows, n_features = rows.X, rows.n_rows, rows.n_features
        if rows.in_blocks and min(n_rows, n_features) <= _memory.MAX_GRAM:
            few = {"max_features": _memory.MAX_GRAM, "max_rows": _memory.MAX_GRAM}
            X = Digest(n_features, 1, 0, may_sketch=False, **few).taken(rows.X).matrix()
        return cls(X, kind, n_rows, found.target)

    def certificate(self, sample: Sample) -> Certificate:
        """Return the second layer, by whichever way is quick and proves most."""
        if not isinstance(self.X, RowBlocks):
            n_directions = min(self.X.shape)
            if n_directions <= _memory.MAX_GRAM and basis_pays(n_directions, len(sample.indices)):
                return measured_certificate(
                    self._basis, sample, self.kind, self.n_rows, self.target
                )
        return certificate_by_products(self.X, sample, self.kind, self.n_rows, self.target)

    @cached_property
    def _basis(self) -> Basis:
        return exact_basis(self.X)
