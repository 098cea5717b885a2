"""Leading directions of many rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from certifeature import _resources as _memory
from certifeature._progress import phase
from certifeature.basis.basis import Basis, ImplicitVectors
from certifeature.rows.matrix import fingerprint, normalised, scaled_back

__all__ = [
    "FAILURE",
    "LargestEigenvalue",
    "Residual",
    "largest_eigenvalue",
    "leading_basis",
]


FloatArray = NDArray[np.float64]

# Chance that the largest eigenvalue is above its bound.
FAILURE = 0.01
_WIDTH = 4
# Hashed with what identifies an operator, so that no operator can be built against its own start.
_KEY = b"certifeature: start of Lanczos"
# Share of a vector that is no more than rounding.
_NEGLIGIBLE = 1e-10


class LargestEigenvalue(NamedTuple):
    """What was found of the largest eigenvalue, from below, and a bound from above."""

    found: float
    upper: float


def largest_eigenvalue(
    operator: Callable[[FloatArray], FloatArray],
    size: int,
    n_steps: int,
    *,
    identity: str,
    zeros: NDArray[np.intp] | None = None,
    rounding: float = 0.0,
) -> LargestEigenvalue:
    """Return the largest eigenvalue, about, and a bound that fails with a chance of 1 in 100.

    The start is random to whoever chose the operator, and the same for the same operator.

    Parameters
    ----------
    operator : callable
        The images of columns under a positive semidefinite matrix.
    size : int
        Length of the columns.
    n_steps : int
        How often it is called. For columns of length 2,000 the bounds are 5 parts in 100 apart
        after 12 calls, and 3 after 16.
    identity : str
        A digest of all that the operator depends on.
    zeros : ndarray of int, default=None
        Places where all columns and images are zero.
    rounding : float, default=0.0
        By how much the images of unit vectors may be wrong.
    """
    seed = int.from_bytes(blake2b(identity.encode(), key=_KEY, digest_size=16).digest())
    start = np.random.default_rng(seed).standard_normal((size, _WIDTH))
    dimension = size
    if zeros is not None:
        start[zeros] = 0.0
        dimension -= len(zeros)
    found = _largest_ritz_value(operator, start, n_steps)
    upper = (found + rounding) / (1 - _largest_shortfall(dimension, n_steps))
    return LargestEigenvalue(found, float(upper))


def _largest_ritz_value(
    operator: Callable[[FloatArray], FloatArray], start: FloatArray, n_steps: int
) -> float:
    """Return the largest eigenvalue on the Krylov space of a start."""
    newest = np.linalg.qr(start)[0]
    with phase("Lanczos steps", n_steps) as advance:
        basis, images = newest, operator(newest)
        advance()
        for _ in range(n_steps - 1):
            newest = _orthonormal(images[:, -newest.shape[1] :], basis)
            if not newest.shape[1]:
                break
            basis, images = np.hstack([basis, newest]), np.hstack([images, operator(newest)])
            advance()
    projected = basis.T @ images
    return float(np.linalg.eigvalsh((projected + projected.T) / 2)[-1])


def _orthonormal(vectors: FloatArray, basis: FloatArray) -> FloatArray:
    """Return an orthonormal basis of what vectors have outside another, beyond rounding."""
    rest = vectors - basis @ (basis.T @ vectors)
    directions, sizes, _ = np.linalg.svd(rest, full_matrices=False)
    directions = directions[:, sizes > _NEGLIGIBLE * np.linalg.norm(vectors)]
    # Once more, since rounding left a part of the other basis.
    return np.linalg.qr(directions - basis @ (basis.T @ directions))[0]


def _largest_shortfall(dimension: int, n_steps: int) -> float:
    """Return the ε such that a Ritz value is at least (1 − ε) times the truth, but for the chance.

    Let b be the share of the top eigenvector in a unit start vector, and k the steps. If the Ritz
    value is less, then |b| < 1/cosh((2k − 1) artanh √ε), by the Chebyshev polynomial of degree
    2k − 1. For a vector that points anywhere that has a chance of at most √(2·dimension/π) times
    the bound, and several starts have to fail all at once.
    """
    largest_share = min(1.0, FAILURE ** (1 / _WIDTH) / np.sqrt(2 * dimension / np.pi))
    return float(np.tanh(np.arccosh(1 / largest_share) / (2 * n_steps - 1)) ** 2)


# Directions that are weaker, relative to the first, are not told from rounding.
_WEAKEST = 1e-4
_EPS = float(np.finfo(np.float64).eps)
# To which rows that point the same way but for rounding do so.
_DIGITS = 9
# Calls of the operator that bound what is outside. The bound is then too large by half at most.
_STEPS = 6


@dataclass(frozen=True, eq=False)
class Residual:
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
    outside = Residual(
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
