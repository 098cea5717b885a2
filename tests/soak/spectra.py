"""The truth about eigenvalues: witnesses against K̃ + μI ⪰ λ(K + μI) and K̃ + μI ⪯ Λ(K + μI).

A witness is a vector a for which the claim fails. Finding one takes an eigenvalue problem in many
digits; that it is one is then checked by plain sums over the columns, so there are no false alarms.

Where columns are functions of others, rounded to double precision, their tiny differences are no
directions of the data. A claim is false then if it fails for *every* matrix that rounds to X.
"""

import numpy as np
from gmpy2 import mpfr

from soak.digits import ONE, ZERO, backward, cholesky, eigenvectors, exact, forward, roots

_HALF_ULP = mpfr(2) ** -53
# Of the largest entry of K: less is taken for a direction that is not there.
_NOTHING = mpfr(10) ** -70
_TOLERANCE = mpfr(10) ** -12
# Rounding of sums in 300 bits, with much to spare: of equal rows nothing else may be left.
_SUMS = mpfr(10) ** -80
# Of the largest singular value: less is a direction of rounding, in double precision.
_BENIGN = 1e-10
# Eigenvectors that are tried from either end.
_TRIES = 3


class Spectrum:
    """Rows of a data matrix and the columns that were chosen of it, with their scales."""

    def __init__(self, X, indices, weights, *, rounded):
        self._X = exact(X)
        self._indices = np.asarray(indices)
        self._weights = exact(weights)
        self._noise = _HALF_ULP if rounded else ZERO

    def refutes_lower(self, bound, ridge=0.0):
        """Tell whether some a has aᵀ(K̃ + μI)a < λ aᵀ(K + μI)a."""
        candidates = self._lowest(ridge)[:_TRIES]
        return any(self._is_below(a, mpfr(bound), mpfr(ridge)) for a in candidates)

    def refutes_upper(self, bound, ridge=0.0):
        """Tell whether some a has aᵀ(K̃ + μI)a > Λ aᵀ(K + μI)a."""
        candidates = self._highest(ridge)[:_TRIES]
        return any(self._is_above(a, mpfr(bound), mpfr(ridge)) for a in candidates)

    def least(self):
        """Return the smallest ratio aᵀK̃a / aᵀKa that is known."""
        columns = self._X.T @ self._lowest(0.0)[0]
        kept = columns[self._indices] * self._weights
        return kept @ kept / (columns @ columns)

    def _lowest(self, ridge):
        # Directions of mere noise get the largest ratio that there is.
        return self._eigenvectors(ridge, max(ONE, *(self._weights**2)))

    def _highest(self, ridge):
        # Here they get the ratio 0.
        return self._eigenvectors(ridge, ZERO)[::-1]

    def _eigenvectors(self, ridge, noise_ratio):
        """Return generalised eigenvectors of (K̃ + μI + share of noise, K + μI + noise)."""
        X, chosen = self._X, self._X[:, self._indices] * self._weights
        gram, kept = X @ X.T, chosen @ chosen.T
        diagonal = np.diag(gram)
        noise = np.maximum(self._noise**2 * len(X) * diagonal, _NOTHING * max(diagonal))
        factor = cholesky(gram + np.diag(noise + mpfr(ridge)))
        kept = kept + np.diag(noise_ratio * noise + mpfr(ridge))
        _, vectors = eigenvectors(forward(factor, forward(factor, kept).T))
        return list(backward(factor, vectors).T)

    def _is_below(self, a, bound, ridge):
        columns, blur = self._columns(a)
        squared = ridge * (a @ a)
        kept = (columns + blur)[self._indices] * self._weights
        least = np.maximum(columns - blur, ZERO)
        return kept @ kept + squared < bound * (least @ least + squared) * (1 - _TOLERANCE)

    def _is_above(self, a, bound, ridge):
        columns, blur = self._columns(a)
        squared = ridge * (a @ a)
        kept = np.maximum(columns - blur, ZERO)[self._indices] * self._weights
        most = columns + blur
        return (kept @ kept + squared) * (1 - _TOLERANCE) > bound * (most @ most + squared)

    def _columns(self, a):
        """Return |Xᵀa|, and by how much rounding of X, or of sums here, may have changed it."""
        blur = (self._noise + _SUMS) * (np.abs(self._X).T @ np.abs(a))
        return np.abs(self._X.T @ a), blur


def smallest_ratio(X, indices, weights, ridge=0.0):
    """Return aᵀ(K̃ + μI)a / aᵀ(K + μI)a for some a, of benign rows: no λ is above.

    What double precision takes for the smallest eigenvector is a vector like any other, whose
    ratio is then a matter of sums of squares.
    """
    left, sizes, directions = np.linalg.svd(X, full_matrices=False)
    rank = np.sum(sizes > _BENIGN * sizes[0])
    left, sizes, directions = left[:, :rank], sizes[:rank], directions[:rank]
    chosen = directions[:, indices] * weights
    damping = sizes / np.hypot(sizes, np.sqrt(ridge))
    matrix = damping[:, None] * (chosen @ chosen.T) * damping + np.diag(1 - damping**2)
    a = left @ (np.linalg.eigh(matrix)[1][:, 0] / np.hypot(sizes, np.sqrt(ridge)))
    a = a.astype(np.longdouble)
    columns, squared = X.astype(np.longdouble).T @ a, ridge * (a @ a)
    kept = columns[indices] * weights
    return float((kept @ kept + squared) / (columns @ columns + squared))


def singular_values(X):
    """Return the singular values of a matrix, smallest first."""
    X = exact(X)
    return roots(eigenvectors(X @ X.T if X.shape[0] <= X.shape[1] else X.T @ X)[0])
