"""Quadratic forms of vectors, and something simple above them that rules most vectors out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

__all__ = ["Ceiling", "QuadraticForm", "products"]

FloatArray = NDArray[np.float64]

# Eigenvalues of the corrections that a sharper ceiling keeps: most are next to nothing.
_SHARE_KEPT = 0.2
# Rounding may not turn an inequality of matrices round.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class QuadraticForm:
    """v ↦ vᵀ(diag(n) + EHEᵀ + EKFᵀ + FKEᵀ)v, with a pair of E, F, H and K for each barrier.

    If it is split, the lower barrier has the first half of the coordinates, and the upper one the
    second.
    """

    diagonal: FloatArray
    probes: FloatArray
    inner: FloatArray
    mixed: FloatArray
    split: bool

    def at(self, vectors: FloatArray, squares: FloatArray) -> FloatArray:
        """Return the values for the rows of ``vectors``, whose squares are given too.

        Of many rows they come from the matrix of the form, if that is smaller than its probes.
        """
        _, n_probes, n_coordinates = self.probes.shape
        width = n_coordinates // 2 if self.split else n_coordinates
        by_probes = 4 * n_probes * (width + n_probes)
        by_matrix = width * n_coordinates
        if len(vectors) * (by_probes - by_matrix) <= 2 * n_probes * width * (width + 2 * n_probes):
            return np.asarray(squares @ self.diagonal + self.correction(vectors))
        parts = (vectors[:, own] for own, _ in self._matrices)
        values = [
            np.einsum("ij,ij->i", part @ matrix, part)
            for part, (_, matrix) in zip(parts, self._matrices, strict=True)
        ]
        return np.asarray(sum(values))

    @cached_property
    def _matrices(self) -> list[tuple[slice, FloatArray]]:
        """The form as matrices, each on some of the coordinates."""
        n_coordinates = len(self.diagonal)
        half = n_coordinates // 2
        owns = [slice(half), slice(half, None)] if self.split else [slice(None), slice(None)]
        found = []
        for part, own in enumerate(owns):
            inner, outer = self.probes[part, :, own], self.probes[2 + part, :, own]
            met = inner.T @ self.inner[part] + 2 * outer.T @ self.mixed[part]
            found.append((own, met @ inner))
        if not self.split:
            found = [(slice(None), found[0][1] + found[1][1])]
        for own, matrix in found:
            matrix[np.diag_indices_from(matrix)] += self.diagonal[own]
        return found

    def correction(self, vectors: FloatArray) -> FloatArray:
        """Return the values for the rows of ``vectors``, without the diagonal part."""
        total: FloatArray = self.corrections(vectors).sum(axis=0)
        return total

    def corrections(self, vectors: FloatArray) -> FloatArray:
        """Return the shares that the two barriers have in the correction."""
        met = products(vectors, self.probes, self.split)
        inner, outer = met[:2], met[2:]
        half = inner @ (self.inner / 2) + outer @ self.mixed
        return 2 * np.einsum("ijk,ijk->ij", half, inner)

    def lowered(self, ceiling: FloatArray) -> Ceiling | None:
        """Return a lower ceiling for this form; None if the given diagonal may not be above it."""
        room = ceiling - self.diagonal
        if room.min() <= 0:
            return None
        # How much of the room the rest of the form takes, seen on the span of the probes, in
        # coordinates that turn the room to I.
        _, n_updates, n_components = self.probes.shape
        probes = (self.probes / np.sqrt(room)).reshape(4 * n_updates, n_components)
        factor = np.asarray(np.linalg.qr(probes.T, mode="r"))
        parts = factor.reshape(len(factor), 4, n_updates).transpose(1, 0, 2)
        inner, outer = parts[:2], parts[2:]
        mixed = inner @ self.mixed @ outer.transpose(0, 2, 1)
        forms = inner @ self.inner @ inner.transpose(0, 2, 1) + mixed + mixed.transpose(0, 2, 1)
        form = forms.sum(axis=0)
        share = np.linalg.eigvalsh(form).max(initial=0.0) + _ROUNDING
        return None if share > 1 else Ceiling(self.diagonal, room, share, probes, form)


@dataclass(frozen=True)
class Ceiling:
    """Something simple above the quadratic form of diag(base) + room^½ QTQᵀ room^½.

    The columns of Q are an orthonormal basis of the probes.
    """

    base: FloatArray
    room: FloatArray
    share: float
    probes: FloatArray
    form: FloatArray

    @classmethod
    def flat(cls, diagonal: FloatArray) -> Ceiling:
        """Return a ceiling that is no more than a diagonal."""
        nothing = np.empty((0, 0))
        return cls(diagonal, np.zeros_like(diagonal), 0.0, np.empty((0, len(diagonal))), nothing)

    @cached_property
    def diagonal(self) -> FloatArray:
        """A diagonal above the form, since no eigenvalue of T is above the share."""
        return self.base + self.share * self.room

    @cached_property
    def sharper(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """A diagonal d, rows U and sizes s such that diag(d) + Uᵀ diag(s) U is above the form.

        The largest eigenvalues of T are kept; the others share an upper bound.
        """
        basis = np.linalg.qr(self.probes.T)[0]
        sizes, vectors = np.linalg.eigh(self.form)
        kept, rest = np.split(np.argsort(-np.abs(sizes)), [int(_SHARE_KEPT * len(sizes))])
        rounding = max(_ROUNDING, 100 * np.finfo(float).eps * np.abs(sizes).max(initial=0.0))
        share = sizes[rest].max(initial=0.0) + rounding
        directions = (basis @ vectors[:, kept]).T * np.sqrt(self.room)
        return self.base + share * self.room, directions, sizes[kept]


def products(vectors: FloatArray, probes: FloatArray, split: bool) -> FloatArray:
    """Return the products of vectors with the probes E and F of both barriers."""
    n_parts, n_probes, n_coordinates = probes.shape
    if not split:
        met = vectors @ probes.reshape(n_parts * n_probes, n_coordinates).T
        return np.asarray(met.reshape(len(vectors), n_parts, n_probes).transpose(1, 0, 2))
    # The other half of a probe is zero.
    half = n_coordinates // 2
    met = np.empty((n_parts, len(vectors), n_probes))
    for part in range(n_parts):
        own = slice(half) if part % 2 == 0 else slice(half, None)
        np.matmul(vectors[:, own], probes[part, :, own].T, out=met[part])
    return met
