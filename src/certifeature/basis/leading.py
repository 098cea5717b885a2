"""The leading directions of rows that have too many, and what is known of the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from certifeature import _memory
from certifeature._lanczos import FAILURE, largest_eigenvalue
from certifeature.basis.basis import Basis, ImplicitVectors
from certifeature.rows.matrix import fingerprint, normalised, scaled_back

__all__ = ["Outside", "leading_basis"]

FloatArray = NDArray[np.float64]

# Directions that are weaker, relative to the first, are not told from rounding.
_WEAKEST = 1e-4
_EPS = float(np.finfo(np.float64).eps)
# To which rows that point the same way but for rounding do so.
_DIGITS = 9
# Calls of the operator that bound what is outside. The bound is then too large by half at most.
_STEPS = 6


@dataclass(frozen=True, eq=False)
class Outside:
    r"""What rows X = UΣVᵀ + Y have beside some directions V, where UᵀY = 0.

    All numbers are those of rows over a power of 2.

    Attributes
    ----------
    left : ndarray of shape (n_samples, n_components)
        U, with orthonormal columns.
    singular_values : ndarray of shape (n_components,)
        Σ.
    columns : ndarray or CSR array of shape (n_features, n_samples)
        Xᵀ.
    exponent : int
        Of the power of 2.
    energies : ndarray of shape (n_features,)
        Share of the squared norm of each column that is not outside.
    mixed : ndarray of shape (n_components, n_components)
        RᵀR, with R = XXᵀU − UΣ² = YVΣ, which is not zero, for V need not be singular vectors.
    square : float
        A number that ‖Y‖² is not above.
    rounding : float
        A number that no rounding error of a product with XXᵀ and orthonormal columns is above.
    n_others : int
        About how many directions are outside: as many as distinct rows, or columns, allow.
    probability : float
        With which that holds.
    """

    left: FloatArray
    singular_values: FloatArray
    columns: Any
    exponent: int
    energies: FloatArray
    mixed: FloatArray
    square: float
    rounding: float
    n_others: int
    probability: float = 1 - FAILURE

    @property
    def typical_values(self) -> FloatArray:
        """Singular values for the directions outside, all alike, with their energy in all."""
        values = self.columns.data if sparse.issparse(self.columns) else self.columns
        energy = float(np.sum(values**2) - np.sum(self.singular_values**2))
        typical = min(np.sqrt(max(energy, 0.0) / self.n_others), self.singular_values[-1])
        return np.asarray(scaled_back(np.full(self.n_others, typical), self.exponent))

    @np.errstate(over="ignore", under="ignore", divide="ignore")
    def tail(
        self, mu: float, indices: NDArray[np.intp], scales: FloatArray
    ) -> tuple[float, float, float, float]:
        """Return what a ridge μ makes of what is outside, where columns are chosen and scaled.

        Parameters
        ----------
        mu : float
            The ridge.
        indices : ndarray of int
            Columns.
        scales : ndarray
            What each is multiplied by.

        Returns
        -------
        share, energy, mixing, rounding
            Bounds of ‖Y‖²/(‖Y‖² + μ), and of the largest eigenvalue of HỸỸᵀH with
            H = (YYᵀ + μI)^−½ and Ỹ what the chosen and scaled columns have outside; an η for
            which XXᵀ + μI ≼ (1 + η)(UΣ²Uᵀ + YYᵀ + μI); and a bound of the rounding errors of the
            chosen and scaled rows of V.
        """
        ridge = float(np.ldexp(mu, -2 * self.exponent))
        share = self.square / (self.square + ridge)
        chosen = self.columns[indices]
        gram = chosen @ chosen.T
        gram = gram.toarray() if sparse.issparse(gram) else gram
        along = chosen @ self.left
        # Rounding may not make it too small.
        slack = 8 * (len(gram) + len(self.left)) * _EPS * float(scales**2 @ gram.diagonal())
        gram = scales[:, None] * (gram - along @ along.T) * scales
        energy = (max(0.0, float(np.linalg.eigvalsh(gram)[-1])) + slack) / ridge
        energy = min(energy, float(scales.max()) ** 2 * share)
        roots = np.sqrt(self.singular_values**2 + ridge)
        mixed = float(np.linalg.eigvalsh(self.mixed / np.outer(roots, roots))[-1])
        weakest = float(roots[-1])
        mixed = np.sqrt(max(mixed, 0.0)) + self.rounding / weakest
        mixing = min(1.0, float(mixed / np.sqrt(ridge)))
        # The columns of V are orthonormal but for rounding, too.
        mixing += (1 + mixing) * self.rounding / weakest**2
        values = self.columns.data if sparse.issparse(self.columns) else self.columns
        of_vectors = self.rounding / float(np.linalg.norm(values)) / self.singular_values[-1]
        return share, energy, float(mixing), float(scales.max()) * float(of_vectors)


def leading_basis(X: Any, n_components: int) -> Basis | None:
    """Return about the leading singular directions, with a bound of what is left outside.

    One step of subspace iteration from a random start finds directions with nearly all that the
    leading singular vectors have, in four products with the data; what is mixed with the rest is
    measured.

    Parameters
    ----------
    X : {ndarray, CSR array} of shape (n_samples, n_features)
        Finite, not all zero.
    n_components : int
        Number of directions, fewer than rows and columns.

    Returns
    -------
    Basis or None
        None if the last of them are too weak, beside the first, to be told from rounding.

    References
    ----------
    N. Halko, P. G. Martinsson and J. A. Tropp, "Finding structure with randomness: probabilistic
    algorithms for constructing approximate matrix decompositions", SIAM Review 53, 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from certifeature.basis.leading import leading_basis
    >>> X = np.random.default_rng(0).standard_normal((50, 200))
    >>> basis = leading_basis(X, 8)
    >>> basis.vectors.shape, basis.exact
    ((200, 8), False)
    """
    rows, exponent = normalised(X)
    columns = rows.T.tocsr() if sparse.issparse(rows) else rows.T
    places, lengths = _places(rows)
    n_distinct = int(places.max()) + 1
    numbers = np.random.default_rng(0).standard_normal((n_distinct, n_components))
    left = np.linalg.qr(_image(columns, lengths[:, None] * numbers[places]))[0]
    fits = len(_parts(columns, left)) == 1
    along = columns @ left if fits else None
    images = _image(columns, left) if along is None else columns.T @ along
    inner = left.T @ images
    squares, turn = np.linalg.eigh((inner + inner.T) / 2)
    squares, turn = squares[::-1], turn[:, ::-1]
    if not squares[-1] > _WEAKEST**2 * squares[0]:
        return None
    left, residuals = left @ turn, images @ turn
    residuals -= left * squares
    values = np.sqrt(squares)
    rounding = _rounding(rows)
    outside = Outside(
        left,
        values,
        columns,
        exponent,
        _shares(columns, left, along),
        residuals.T @ residuals,
        _largest_square(rows, columns, left, rounding),
        rounding,
        max(1, min(n_distinct, rows.shape[1]) - n_components),
    )
    vectors: Any = ImplicitVectors(columns, left / values)
    if along is not None:
        vectors = along @ (turn / values)
    return Basis(vectors, scaled_back(values, exponent), None, False, None, outside)


def _places(rows: Any) -> tuple[NDArray[np.intp], FloatArray]:
    """Return a number for where each row points, whatever the order of rows and columns; and norms.

    Two rows are told apart by their products with the sum of all columns, with s = Σ‖x‖x, and with
    the image of s under XᵀX. So a row of norm √2 counts like two equal ones of norm 1.
    """
    n_features = rows.shape[1]
    squares = rows.multiply(rows) if sparse.issparse(rows) else rows * rows
    lengths = np.sqrt(np.asarray(squares.sum(axis=1)).ravel())
    energy = float(lengths @ lengths)
    total = rows.T @ lengths / energy
    spread = np.column_stack([np.full(n_features, n_features**-0.5), total])
    products = np.column_stack([rows @ spread, rows @ (rows.T @ (rows @ total)) / energy])
    keys = np.round(products / np.where(lengths > 0, lengths, 1.0)[:, None], _DIGITS)
    order = np.lexsort(keys.T)
    differs = (keys[order[1:]] != keys[order[:-1]]).any(axis=1)
    places = np.empty(len(order), dtype=np.intp)
    places[order] = np.concatenate([[0], np.cumsum(differs)])
    return places, lengths


def _parts(columns: Any, combinations: FloatArray) -> list[slice]:
    """Return slices of the columns, one if XᵀG fits into memory as V does."""
    n_columns = columns.shape[0]
    if n_columns * combinations.shape[1] <= _memory.MAX_VECTORS:
        return [slice(0, n_columns)]
    stride = max(1, _memory.VECTORS_AT_ONCE // combinations.shape[1])
    return [slice(start, start + stride) for start in range(0, n_columns, stride)]


def _image(columns: Any, combinations: FloatArray) -> FloatArray:
    """Return XXᵀG for combinations G of the rows."""
    parts = (columns[some] for some in _parts(columns, combinations))
    image: FloatArray = sum(part.T @ (part @ combinations) for part in parts)
    return image


def _shares(columns: Any, left: FloatArray, along: FloatArray | None) -> FloatArray:
    """Return which share of the squared norm of each column is along the directions U."""
    squares = np.concatenate(
        [
            np.einsum("ij,ij->i", part, part)
            for some in _parts(columns, left)
            for part in [columns[some] @ left if along is None else along]
        ]
    )
    if sparse.issparse(columns):
        total = np.asarray(columns.multiply(columns).sum(axis=1)).ravel()
    else:
        total = np.einsum("ij,ij->i", columns, columns)
    return np.divide(squares, total, out=np.zeros_like(squares), where=total > 0)


def _rounding(rows: Any) -> float:
    """Return a number that rounding errors of products with XXᵀ and unit vectors are not above."""
    values, n_terms = rows, rows.shape[1]
    if sparse.issparse(rows):
        values, n_terms = rows.data, int(np.diff(rows.indptr).max())
    return 8 * (rows.shape[0] + n_terms) * _EPS * float(np.sum(values**2))


def _largest_square(rows: Any, columns: Any, left: FloatArray, rounding: float) -> float:
    """Return a number that ‖(I − UUᵀ)X‖² is not above, but for a small chance."""

    def without(V: FloatArray) -> FloatArray:
        return V - left @ (left.T @ V)

    return largest_eigenvalue(
        lambda V: without(columns.T @ (rows.T @ without(V))),
        len(left),
        _STEPS,
        identity=fingerprint(rows),
        rounding=rounding,
    ).upper
