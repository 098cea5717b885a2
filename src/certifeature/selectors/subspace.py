"""Which basis the features are chosen for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from certifeature.basis import Basis, exact_basis, sketched_basis, truncated_basis
from certifeature.basis.digest import Digest

__all__ = ["BasisFacts", "empty_digest", "row_space"]

# The largest exact basis that basis="auto" computes: directions, and values of V.
_MOST_EXACT_DIRECTIONS = 2000
_MOST_EXACT_ENTRIES = 2**28
_DEFAULT_SKETCH = 256
# A truncated basis is cut from an exact one up to here, and found by Lanczos iteration beyond.
_MOST_CUT_DIRECTIONS = 4096


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


def empty_digest(n_features: int, kind: str, n_components: int | None, seed: int) -> Digest:
    """Return what takes in rows in blocks, enough of them for a basis of this kind."""
    n_combinations = n_components or _DEFAULT_SKETCH
    if kind == "sketch":
        return Digest(n_features, n_combinations, seed, most_features=0, most_rows=n_combinations)
    return Digest(
        n_features,
        n_combinations,
        seed,
        most_features=_MOST_EXACT_DIRECTIONS,
        most_rows=_MOST_EXACT_DIRECTIONS,
        may_sketch=kind == "auto",
    )


def row_space(rows: Any, kind: str, n_components: int | None, seed: int) -> tuple[Basis, str]:
    """Return the widest basis that the kind calls for, and the kind that "auto" stands for.

    The rows are there themselves, or as a digest. A truncated basis is left whole where that is
    feasible, so that the selection can be measured against all that the rows span.
    """
    if isinstance(rows, Digest):
        if rows.sketch is not None:
            return rows.sketch.basis(), "sketch"
        rows = rows.matrix()
    fewest = min(rows.shape)
    if kind == "auto":
        small = fewest <= _MOST_EXACT_DIRECTIONS
        fits = small and fewest * rows.shape[1] <= _MOST_EXACT_ENTRIES
        kind = "sketch" if not fits else "exact" if n_components is None else "truncated"
    if kind == "sketch":
        return sketched_basis(rows, n_components or _DEFAULT_SKETCH, random_state=seed), kind
    too_large = fewest > _MOST_CUT_DIRECTIONS or fewest * rows.shape[1] > _MOST_EXACT_ENTRIES
    if kind == "truncated" and n_components is not None and too_large:
        return truncated_basis(rows, n_components), kind
    return exact_basis(rows), kind
