"""A selection that keeps the top of a trusted order and lets BSS cover the rest, to be measured.

`choose` is the whole interface. `Prototype` behind it keeps what selections from the same rows
share, and counts its time for each of them.
"""

from dataclasses import dataclass
from time import process_time
from typing import NamedTuple

import numpy as np
from decide.svm import FEW_ROWS, GramFit, weights
from sklearn.svm import LinearSVC

from certifeature.basis import exact_basis, sketched_basis
from certifeature.basis.vectors import squared_norms
from certifeature.sparsify import bss
from certifeature.support import fit_svm

_MARGIN_SLACK = 1e-3
_AROM_ROUNDS, _FADED = 4, 1e-12
_SUBSAMPLES, _SUBSAMPLE_SHARE = 36, 0.6
_MAX_EXACT_ROWS = 2000
# Directions which the kept features cover but for this share of their energy need nothing more.
_COVERED = 1e-6
# Features together.
_BLOCK = 4096


@dataclass(frozen=True)
class Setting:
    """What to keep and how to fill.

    Attributes
    ----------
    head, fill : {"coef", "arom", "stable", "leverage"}
        Orders of what is trusted and of what BSS takes.
    trust : float
        Share of the picks taken straight from the top of ``head``.
    aim : {"flat", "ridge", "sigma", "none"}
        Directions to cover: the least covered; those that weigh most in K + μI and are least
        covered; those of most uncovered energy; or none, just the top of ``fill``.
    share : float
        Directions for each pick that is left.
    rows : {"support", "all"}
        Rows to compute the orders on.
    scale : {"common", "each"}
        One factor, or those of BSS.
    """

    head: str
    fill: str
    trust: float
    aim: str = "flat"
    share: float = 0.6
    rows: str = "support"
    scale: str = "common"


class Choice(NamedTuple):
    """Chosen features, their scales, and what the choice took."""

    indices: np.ndarray
    scales: np.ndarray
    seconds: float


def choose(X, y, r, setting, C=1.0):
    """Choose r features of the rows of X, whose labels y are −1 and +1."""
    return Prototype(X, y, C).choose(r, setting)


def common_factor(X, indices):
    """Return f with f²·‖X_chosen‖² = ‖X‖²."""
    squares = X.multiply(X) if hasattr(X, "multiply") else X * X
    energies = np.asarray(squares.sum(axis=0)).ravel()
    return np.sqrt(energies.sum() / energies[indices].sum())


class Prototype:
    """What the selections from the same rows share."""

    def __init__(self, X, y, C=1.0):
        self.X, self.y, self.C = X, np.asarray(y, dtype=float), C
        self._parts = {}

    def choose(self, r, setting):
        """Return the choice of r features."""
        orders = [("order", name, setting.rows) for name in (setting.head, setting.fill)]
        parts = ["svm", *orders]
        if setting.trust < 1 and setting.aim != "none":
            parts.append(("basis", r if self._is_large() else 0))
        spent = sum(self._part(part)[1] for part in dict.fromkeys(parts))
        start = process_time()
        indices, scales = self._choose(r, setting, *(self._part(part)[0] for part in parts[1:]))
        if setting.scale == "common":
            scales = np.full(len(indices), common_factor(self.X, indices))
        return Choice(indices, scales, spent + process_time() - start)

    def _choose(self, r, setting, head, fill, basis=None):
        n_kept = round(setting.trust * r)
        kept = np.argsort(-head, kind="stable")[:n_kept]
        n_left = r - n_kept
        if basis is None or n_left < 2:
            return _topped_up(kept, np.ones(n_kept), fill, r)
        E = self._uncovered(basis, kept, setting, max(1, round(setting.share * n_left)))
        sample = bss(E, n_left, priority=fill)
        scales = np.concatenate([np.ones(n_kept), sample.weights])
        return _topped_up(np.concatenate([kept, sample.indices]), scales, fill, r)

    def _uncovered(self, basis, kept, setting, n_directions):
        """Return orthonormal directions without the kept features, which cover these least.

        With X = UΣVᵀ on the support rows, M = V_PᵀV_P and D as ``aim`` has it, these are the
        leading eigenvectors Q of D(I − M)D, as V·orth(DQ), less the rows of the kept features and
        orthonormal again: what BSS covers of I − M so is covered of I.
        """
        sigma = basis.singular_values
        D = {
            "flat": 1 + 1e-6 * sigma / sigma[0],  # Of equals, the strongest.
            "ridge": sigma / np.sqrt(sigma**2 + 1 / (2 * self.C)),
            "sigma": sigma,
        }[setting.aim]
        kept_rows = basis.vectors[kept]
        rest = np.eye(len(D)) - kept_rows.T @ kept_rows
        Q = np.linalg.eigh(D[:, None] * rest * D)[1][:, ::-1][:, :n_directions]
        T = np.linalg.qr(D[:, None] * Q)[0]
        left, axes = np.linalg.eigh(T.T @ rest @ T)
        good = left > _COVERED
        E = np.asarray(basis.vectors @ (T @ (axes[:, good] / np.sqrt(left[good]))))
        E[kept] = 0
        return E

    def _part(self, part):
        if part not in self._parts:
            start = process_time()
            name, *rest = (part,) if isinstance(part, str) else part
            value = getattr(self, f"_{name}")(*rest)
            self._parts[part] = value, process_time() - start
        return self._parts[part]

    def _svm(self):
        """Return the weights and the support rows."""
        svm = fit_svm(LinearSVC(C=self.C, dual=True, random_state=0), self.X, self.y)
        margins = self.y * svm.decision_function(self.X)
        return svm.coef_[0], np.flatnonzero(margins <= 1 + _MARGIN_SLACK)

    def support(self):
        return self._part("svm")[0][1]

    def _rows(self, which):
        rows = self.support() if which == "support" else slice(None)
        return self.X[rows], self.y[rows]

    def _is_large(self):
        return len(self.support()) > _MAX_EXACT_ROWS

    def _basis(self, r):
        rows = self._rows("support")[0]
        return sketched_basis(rows, r // 2) if r else exact_basis(rows)

    def basis(self):
        """Return the exact basis of the support rows, or None where it is too large."""
        return None if self._is_large() else self._part(("basis", 0))[0]

    def _order(self, name, rows):
        coef = self._part("svm")[0][0]
        if name == "coef":
            return np.abs(coef)
        if name == "leverage":
            return np.round(squared_norms(self.basis().vectors), 12)
        X, y = self._rows(rows)
        if np.ptp(y) == 0:  # No support row has the other class.
            X, y = self.X, self.y
        return ORDERS[name](X, y, self.C)


def arom(X, y, C, n_rounds=_AROM_ROUNDS):
    """Return z after rounds of z ← z·|w(X·diag z)|, scaled to a largest value of 1 in each."""
    z = np.ones(X.shape[1])
    for _ in range(n_rounds):
        z = _reweighted(X, y, C, z)
    return z


def arom_energy(X, y, C):
    """Return the same with the energy of X·diag z kept in each round."""
    squares = np.asarray((X.multiply(X) if hasattr(X, "multiply") else X * X).sum(axis=0)).ravel()
    z = np.ones(X.shape[1])
    for _ in range(_AROM_ROUNDS):
        z = _reweighted(X, y, C, z)
        z *= np.sqrt(squares.sum() / (squares @ z**2))
    return z


def _reweighted(X, y, C, z):
    used = np.flatnonzero(z > _FADED * z.max())
    new = np.zeros_like(z)
    new[used] = z[used] * np.abs(weights(scaled_columns(X[:, used], z[used]), y, C))
    return new / new.max()


def stable(X, y, C):
    """Return |mean w| / (sd w + rms sd) over stratified subsamples, the rms over features.

    A feature counts by how surely its weight is not zero, unless the weight is small anyway.
    """
    _, W = subsampled(X, y, C, _SUBSAMPLES, 0)
    return _ratio(np.abs(W.mean(axis=1)), W.std(axis=1), _rms)


def stable_weights(X, y, C):
    """Return the same with the weights on all rows."""
    w, W = subsampled(X, y, C, _SUBSAMPLES, 0)
    return _ratio(np.abs(w), W.std(axis=1), _rms)


def stable12(X, y, C):
    """Return |mean w| / (sd w + median sd) over twelve subsamples."""
    _, W = subsampled(X, y, C, 12, 0)
    return _ratio(np.abs(W.mean(axis=1)), W.std(axis=1), np.median)


def _rms(values):
    return np.sqrt(np.mean(values**2))


def jackknife(X, y, C):
    """Return |w| / (sd w + rms sd), the sd that of leaving out one row at a time.

    Without row i, while the support stays the same, w changes by X_Sᵀ·bᵢ·αᵢ/bᵢᵢ with b the columns
    of (I + 2CK)⁻¹, K the inner products of the support rows (and 1, for the intercept) and α their
    multipliers. Nothing is drawn at random, and the order of the rows does not matter.
    """
    svm = fit_svm(LinearSVC(C=C, dual=True, random_state=0), X, y)
    slack = 1 - y * svm.decision_function(X)
    short = np.flatnonzero(slack > 0)
    rows = X[short]
    K = rows @ rows.T
    K = (K.toarray() if hasattr(K, "toarray") else K) + 1
    inverse = np.linalg.inv(np.eye(len(short)) + 2 * C * K)
    changes = inverse * (2 * C * (y * slack)[short] / np.diag(inverse))
    columns = rows.T.tocsr() if hasattr(rows, "tocsr") else rows.T
    blocks = range(0, X.shape[1], _BLOCK)
    squares = [np.sum((columns[i : i + _BLOCK] @ changes) ** 2, axis=1) for i in blocks]
    return _ratio(np.abs(svm.coef_[0]), np.sqrt(np.concatenate(squares)), _rms)


def _ratio(size, sd, floor):
    return size / (sd + floor(sd[sd > 0])) if sd.any() else size


def subsampled(X, y, C, n_subsamples, seed):
    """Return the weights on all rows, and a column of them for each subsample."""
    rng = np.random.default_rng(seed)
    subsets = [
        np.sort(np.concatenate([_part_of(rng, np.flatnonzero(y == s)) for s in (-1, 1)]))
        for _ in range(n_subsamples)
    ]
    if X.shape[0] > FEW_ROWS:
        return weights(X, y, C), np.array([weights(X[s], y[s], C) for s in subsets]).T
    gram = GramFit(X)
    w = gram.solution(slice(None), y, C)
    W = np.array([gram.solution(s, y[s], C, w) for s in subsets]).T
    return gram.features(w), gram.features(W)


def _part_of(rng, rows):
    return rng.choice(rows, int(np.ceil(_SUBSAMPLE_SHARE * len(rows))), replace=False)


def scaled_columns(X, scales):
    if hasattr(X, "multiply"):
        return X.multiply(scales[None, :]).tocsr()
    return X * scales


def _topped_up(indices, scales, fill, r):
    """Return r features: where BSS picked some twice, the best of the others join."""
    free = np.ones(len(fill), dtype=bool)
    free[indices] = False
    best = np.argsort(-fill, kind="stable")
    more = best[free[best]][: r - len(indices)]
    return np.concatenate([indices, more]), np.concatenate([scales, np.ones(len(more))])


ORDERS = {
    "arom": arom,
    "arome": arom_energy,
    "stable": stable,
    "stablew": stable_weights,
    "jack": jackknife,
    "stable12": stable12,
}
