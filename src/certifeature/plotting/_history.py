"""BSS run again, to see what becomes of the spectrum."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted

from certifeature._matrix import canonical_csr
from certifeature._parameters import as_count
from certifeature.basis.vectors import Vectors
from certifeature.selectors import BSSSelector
from certifeature.selectors.parameters import requested_size
from certifeature.selectors.subspace import row_space
from certifeature.sparsify.bss import _picks, _ranking
from certifeature.sparsify.validation import as_vectors, check_orthonormal

__all__ = ["History"]


@dataclass(frozen=True, eq=False)
class History:
    """Some steps of BSS: eigenvalues of A after them, and where the barriers are."""

    steps: NDArray[np.intp]
    eigenvalues: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]

    @classmethod
    def of_vectors(
        cls, vectors: ArrayLike, n_select: int, priority: ArrayLike | None, n_shown: int
    ) -> Self:
        """Return the history of BSS on a basis."""
        _check_shown(n_shown)
        checked = as_vectors(vectors)
        check_orthonormal(checked)
        n_select, n_components = as_count("n_select", n_select), checked.shape[1]
        if n_select <= n_components:
            raise ValueError(
                f"BSS needs more steps than directions: got n_select={n_select} for "
                f"{n_components} directions. Ask for at least {n_components + 1}."
            )
        picks = list(_picks(checked, _ranking(checked, priority), n_select))
        return cls._of_picks(checked, picks, n_shown)

    @classmethod
    def of_selector(cls, selector: Any, X: Any, n_shown: int) -> Self:
        """Return the history of a fitted selector, made again from its data."""
        _check_shown(n_shown)
        vectors = _vectors_of(selector, X)
        ranking = _ranking(vectors, selector.scores_)
        picks = list(_picks(vectors, ranking, selector.n_features_to_select_))
        if list(dict.fromkeys(feature for feature, _ in picks)) != list(selector.indices_):
            raise ValueError(
                "X leads to other features than the selector has; pass the data it was fitted on."
            )
        return cls._of_picks(vectors, picks, n_shown)

    @classmethod
    def _of_picks(cls, vectors: Vectors, picks: list[tuple[int, float]], n_shown: int) -> Self:
        n_components, n_steps = vectors.shape[1], len(picks)
        steps = np.unique(np.linspace(0, n_steps, n_shown).astype(np.intp))
        matrix = np.zeros((n_components, n_components))
        eigenvalues: list[Any] = [np.zeros(n_components)]
        for start, end in pairwise(steps):
            features, energies = zip(*picks[start:end], strict=True)
            rows = vectors[list(features)] * np.sqrt(energies)[:, None]
            matrix += rows.T @ rows
            eigenvalues.append(np.linalg.eigvalsh(matrix))
        ratio, reach = np.sqrt(n_components / n_steps), np.sqrt(n_steps * n_components)
        stretch = (1 + ratio) / (1 - ratio)
        return cls(steps, np.array(eigenvalues), steps - reach, stretch * (steps + reach))


def _check_shown(n_shown: int) -> None:
    if not isinstance(n_shown, Integral) or n_shown < 2:
        raise ValueError(f"n_shown must be an integer of at least 2; got {n_shown!r}.")


def _vectors_of(selector: Any, X: Any) -> Vectors:
    """Return the basis that a fitted selector chose features for."""
    if not isinstance(selector, BSSSelector):
        raise TypeError(f"only BSSSelector has barriers; got {type(selector).__name__}.")
    check_is_fitted(selector)
    n_features, n_steps = selector.n_features_in_, selector.n_features_to_select_
    if n_steps >= n_features or n_steps == 1:
        raise ValueError(f"the selector took {n_steps} of {n_features} features without BSS.")
    X = check_array(X, accept_sparse="csr", dtype=np.float64)
    if sparse.issparse(X):
        X = canonical_csr(X)
    if X.shape[1] != n_features or X.shape[0] <= selector.support_rows_.max():
        raise ValueError(
            f"X of shape {X.shape} is not what the selector was fitted on: it knows {n_features} "
            f"features and row {selector.support_rows_.max()}."
        )
    seed = 0
    if selector.basis_.kind == "sketch":
        if not isinstance(selector.random_state, Integral):
            raise ValueError("a sketched basis is found again only if random_state is an int.")
        seed = int(check_random_state(selector.random_state).randint(np.iinfo(np.int32).max))
    rows = X[selector.support_rows_]
    basis, kind = row_space(rows, selector.basis, selector.n_components, seed)
    n_select = requested_size(selector.n_features_to_select, n_features)
    vectors: Vectors = selector._cut(basis, kind, n_select)[0].vectors
    return vectors
