"""The steps of BSS: how the eigenvalues and the barriers move."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted

from certifeature.basis.basis import Vectors, as_vectors
from certifeature.basis.span import span
from certifeature.rows.matrix import canonical_csr, same_values
from certifeature.rows.rows import Rows
from certifeature.selectors import BSSSelector
from certifeature.sparsify import bss
from certifeature.sparsify.choice import Steps

__all__ = ["History"]

# Eigenvalues after some steps, and what they lie above and below.
Enclosed = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]


@dataclass(frozen=True, eq=False)
class History:
    """Some steps of BSS: eigenvalues after them, and what encloses them.

    They are those of A and its barriers; or, where directions are covered in part, those that
    `_in_part` returns.
    """

    steps: NDArray[np.intp]
    eigenvalues: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    soft: bool

    @classmethod
    def of_vectors(
        cls,
        vectors: ArrayLike,
        n_select: int,
        coverage: ArrayLike | None,
        priority: ArrayLike | None,
        n_shown: int,
    ) -> Self:
        """Return the history of BSS on a basis."""
        _check_shown(n_shown)
        checked = as_vectors(vectors)
        sample = bss(checked, n_select, coverage=coverage, priority=priority)
        assert sample.steps is not None
        return cls._of_steps(checked, sample.steps, n_shown)

    @classmethod
    def of_selector(cls, selector: Any, X: Any, n_shown: int) -> Self:
        """Return the history of a fitted selector, for the data it was fitted on."""
        _check_shown(n_shown)
        vectors = _vectors_of(selector, X)
        steps: Steps = selector.fit_result_.columns.steps
        return cls._of_steps(vectors, steps, n_shown)

    @classmethod
    def _of_steps(cls, vectors: Vectors, done: Steps, n_shown: int) -> Self:
        steps = np.unique(np.linspace(0, len(done.features), n_shown).astype(np.intp))
        soft = done.coverage is not None
        return cls(steps, *(_in_part if soft else _in_full)(vectors, done, steps), soft)


def _in_full(vectors: Vectors, done: Steps, steps: NDArray[np.intp]) -> Enclosed:
    """Return the eigenvalues of A after some steps, and the barriers."""
    n_components, n_steps = vectors.shape[1], len(done.features)
    ratio, reach = np.sqrt(n_components / n_steps), np.sqrt(n_steps * n_components)
    stretch = (1 + ratio) / (1 - ratio)
    eigenvalues = [np.linalg.eigvalsh(matrix) for matrix in _matrices(vectors, done, steps)]
    return np.array(eigenvalues), steps - reach, stretch * (steps + reach)


def _in_part(vectors: Vectors, done: Steps, steps: NDArray[np.intp]) -> Enclosed:
    """Return the eigenvalues of W^½MW^½ + I − W after some steps, and bounds of them.

    M is A times (1 − q)/r with q = √(D/r). After t steps, tI − √(rD)·W⁻¹ ≼ A, and A is below the
    same with + in the place of −, times (1 + q)/(1 − q). So what is shown lies between
    (1 − q + q²)I − (1 − (1 − q)t/r)W and (1 + q + q²)I − (1 − (1 + q)t/r)W.
    """
    assert done.coverage is not None
    shares, n_steps = done.coverage, len(done.features)
    ratio = np.sqrt(shares.sum() / n_steps)
    roots = np.sqrt(shares)
    eigenvalues = [
        np.linalg.eigvalsh(
            (1 - ratio) / n_steps * roots[:, None] * matrix * roots + np.diag(1 - shares)
        )
        for matrix in _matrices(vectors, done, steps)
    ]
    lower = 1 - ratio + ratio**2 - (1 - (1 - ratio) * steps / n_steps) * shares.max()
    uncovered = 1 - (1 + ratio) * steps / n_steps
    upper = 1 + ratio + ratio**2 - np.minimum(uncovered * shares.min(), uncovered * shares.max())
    return np.array(eigenvalues), lower, upper


def _matrices(
    vectors: Vectors, done: Steps, steps: NDArray[np.intp]
) -> Iterator[NDArray[np.float64]]:
    """Yield A after each of some steps, the first of which is 0."""
    matrix = np.zeros((vectors.shape[1], vectors.shape[1]))
    yield matrix
    for start, end in pairwise(steps):
        rows = vectors[done.features[start:end]] * np.sqrt(done.energies[start:end, None])
        matrix = matrix + rows.T @ rows
        yield matrix


def _check_shown(n_shown: int) -> None:
    if not isinstance(n_shown, Integral) or n_shown < 2:
        raise ValueError(f"n_shown must be an integer of at least 2; got {n_shown!r}.")


def _vectors_of(selector: Any, X: Any) -> Vectors:
    """Return the basis that a fitted selector chose features for."""
    if not isinstance(selector, BSSSelector):
        raise TypeError(f"only BSSSelector has barriers; got {type(selector).__name__}.")
    check_is_fitted(selector)
    n_features = selector.n_features_in_
    if selector.fit_result_.columns.steps is None:
        raise ValueError(
            f"the selector took {len(selector.indices_)} of {n_features} features without BSS."
        )
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
    rows = Rows(X[selector.support_rows_])
    known = selector.fit_result_.rows
    if known is not None and not same_values(rows.X, known.X):
        raise ValueError(
            "X has other values than the selector was fitted to; pass the data it was fitted on."
        )
    weights = None if known is None else known.sample_weight
    basis, facts = span(
        replace(rows, sample_weight=weights), selector.basis, selector.n_components, seed
    )
    if facts.kind == "truncated" and selector.n_components is not None:
        basis = basis.truncated(selector.n_components)
    coverage = selector.fit_result_.columns.steps.coverage
    if coverage is not None:
        return basis.truncated(len(coverage)).vectors
    names = getattr(selector, "feature_names_in_", None)
    method = selector._strategy().of_features(n_features, names)
    kept, _ = method.kept(selector.fit_result_.ranking, selector.n_features_to_select_)
    return method.covered(basis, kept, selector.n_features_to_select_ - len(kept)).vectors
