"""Arithmetic in many digits, on arrays of gmpy2's numbers."""

import gmpy2
import numpy as np
from gmpy2 import mpfr

gmpy2.get_context().precision = 300

ZERO, ONE, INFINITY = mpfr(0), mpfr(1), mpfr("inf")

_MAX_SWEEPS = 60
_NEGLIGIBLE = mpfr(2) ** -280


def exact(values):
    """Return an array of many-digit numbers of the same values; one that is exact is left alone."""
    values = np.asarray(values)
    if values.dtype == object:
        return values
    numbers = [mpfr(value) for value in values.astype(np.float64).ravel().tolist()]
    return np.array(numbers, dtype=object).reshape(values.shape)


def full(shape, value):
    """Return an array of one value."""
    return np.full(shape, mpfr(value), dtype=object)


def roots(values):
    """Return square roots, of negative values 0."""
    return np.array([gmpy2.sqrt(max(value, ZERO)) for value in values], dtype=object)


def cholesky(matrix):
    """Return the lower factor L of LLᵀ of a definite matrix."""
    factor = full(matrix.shape, 0)
    for j in range(len(matrix)):
        column = matrix[j:, j] - factor[j:, :j] @ factor[j, :j] if j else matrix[:, 0]
        factor[j:, j] = column / gmpy2.sqrt(column[0])
    return factor


def forward(factor, right):
    """Return L⁻¹r."""
    solution = right.copy()
    for i in range(len(factor)):
        if i:
            solution[i] = solution[i] - factor[i, :i] @ solution[:i]
        solution[i] = solution[i] / factor[i, i]
    return solution


def backward(factor, right):
    """Return L⁻ᵀr."""
    solution = right.copy()
    for i in reversed(range(len(factor))):
        if i + 1 < len(factor):
            solution[i] = solution[i] - factor[i + 1 :, i] @ solution[i + 1 :]
        solution[i] = solution[i] / factor[i, i]
    return solution


def eigenvectors(matrix):
    """Return ascending eigenvalues, and eigenvectors, of a symmetric matrix: Jacobi rotations."""
    matrix = (matrix + matrix.T) / 2
    n = len(matrix)
    vectors = exact(np.eye(n))
    for _ in range(_MAX_SWEEPS):
        changed = False
        for p in range(n):
            for q in range(p + 1, n):
                if abs(matrix[p, q]) <= _NEGLIGIBLE * gmpy2.sqrt(abs(matrix[p, p] * matrix[q, q])):
                    continue
                changed = True
                _rotate(matrix, vectors, p, q)
        if not changed:
            break
    values = np.diag(matrix)
    order = sorted(range(n), key=values.__getitem__)
    return values[order], vectors[:, order]


def _rotate(matrix, vectors, p, q):
    """Turn two coordinates, in place, so that their entry off the diagonal vanishes."""
    slope = (matrix[q, q] - matrix[p, p]) / (2 * matrix[p, q])
    tangent = ONE / (abs(slope) + gmpy2.sqrt(slope * slope + 1))
    tangent = tangent if slope >= 0 else -tangent
    cosine = ONE / gmpy2.sqrt(tangent * tangent + 1)
    sine = tangent * cosine
    for side in (matrix.T, matrix, vectors.T):
        first, second = side[p].copy(), side[q].copy()
        side[p], side[q] = cosine * first - sine * second, sine * first + cosine * second
    matrix[p, q] = matrix[q, p] = ZERO
