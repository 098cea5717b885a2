"""The basis of rows, wherever the rows are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from certifeature.basis.basis import Basis
from certifeature.basis.construction import exact_basis, sketched_basis, truncated_basis
from certifeature.basis.digest import Digest
from certifeature.rows.rows import Rows

__all__ = ["BasisFacts", "empty_digest", "span"]

# The largest exact basis that basis="auto" computes: directions, and values of V.
_MAX_EXACT_DIRECTIONS = 2000
_MAX_EXACT_ENTRIES = 2**28
_DEFAULT_SKETCH = 256
# A truncated basis is cut from an exact one up to here, and found by Lanczos iteration beyond.
_MAX_CUT_DIRECTIONS = 4096


@dataclass(frozen=True)
class BasisFacts:
    """What the basis of a fitted selector was.

    Attributes
    ----------
    kind : {"exact", "truncated", "sketch"}
        How it was computed.
    n_rows : int
        Number of rows that it stands for.
    n_components : int
        Number of its directions.
    rank : int or None
        Rank of the rows, None where it was not computed.
    exact : bool
        Whether it spans all that the rows span, so that the guarantees hold for these rows.
    """

    kind: str
    n_rows: int
    n_components: int
    rank: int | None
    exact: bool


def span(
    rows: Rows | Digest, kind: str, n_components: int | None, seed: int
) -> tuple[Basis, BasisFacts]:
    """Return the widest basis that a kind calls for, and what "auto" stands for.

    A truncated basis is left whole where that is feasible, so that the selection can be measured
    against all that the rows span.

    Parameters
    ----------
    rows : Rows or Digest
        In memory, in blocks, or what was kept of rows that are gone.
    kind : {"auto", "exact", "truncated", "sketch"}
        How the basis is found.
    n_components : int or None
        Number of directions of a truncated or sketched one.
    seed : int
        Of a sketch.
    """
    if isinstance(rows, Rows) and rows.in_blocks:
        rows = empty_digest(rows.n_features, kind, n_components, seed).taken(rows.X)
    n_rows = rows.n_rows
    if isinstance(rows, Digest) and rows.sketch is not None:
        basis, kind = rows.sketch.basis(), "sketch"
    else:
        matrix = rows.matrix() if isinstance(rows, Digest) else rows.weighted()
        basis, kind = _basis_of(matrix, kind, n_components, seed)
    return basis, BasisFacts(kind, n_rows, basis.n_components, basis.rank, basis.exact)


def empty_digest(n_features: int, kind: str, n_components: int | None, seed: int) -> Digest:
    """Return what takes in rows in blocks, enough of them for a basis of this kind."""
    n_combinations = n_components or _DEFAULT_SKETCH
    if kind == "sketch":
        return Digest(n_features, n_combinations, seed, max_features=0, max_rows=n_combinations)
    return Digest(
        n_features,
        n_combinations,
        seed,
        max_features=_MAX_EXACT_DIRECTIONS,
        max_rows=_MAX_EXACT_DIRECTIONS,
        may_sketch=kind == "auto",
    )


def _basis_of(matrix: Any, kind: str, n_components: int | None, seed: int) -> tuple[Basis, str]:
    fewest = min(matrix.shape)
    if kind == "auto":
        small = fewest <= _MAX_EXACT_DIRECTIONS
        fits = small and fewest * matrix.shape[1] <= _MAX_EXACT_ENTRIES
        kind = "sketch" if not fits else "exact" if n_components is None else "truncated"
    if kind == "sketch":
        return sketched_basis(matrix, n_components or _DEFAULT_SKETCH, random_state=seed), kind
    too_large = fewest > _MAX_CUT_DIRECTIONS or fewest * matrix.shape[1] > _MAX_EXACT_ENTRIES
    if kind == "truncated" and n_components is not None and too_large:
        return truncated_basis(matrix, n_components), kind
    return exact_basis(matrix), kind
