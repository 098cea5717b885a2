"""The top of a trusted order is kept, and BSS covers the rest."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certifeature.basis import Basis
from certifeature.basis.basis import row_blocks, squared_norms
from certifeature.certificate import APriori
from certifeature.certificate.promise import bss_promise, ridge_promise
from certifeature.certificate.selection import as_indices
from certifeature.rows.rows import Rows
from certifeature.selectors.method import Choice, Method, Ranking
from certifeature.selectors.order import (
    BY_COVERAGE,
    checked_scores,
    feature_scores,
    missing_classes,
    with_faint_last,
)
from certifeature.selectors.soft import effective_dimension, soft_cut
from certifeature.sparsify import Sample, bss
from certifeature.support.find import Support

__all__ = ["BSSMethod"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]

# Directions that BSS covers for each of its picks, where it cannot cover all: by itself, and beside
# features that are in anyway.
_COVERED_ALONE, _COVERED_BESIDE = 0.5, 0.6
# Unless proof matters, so many features for each pick are looked at, and some at least, before BSS
# comes back to those that it has.
_LOOKED_AT, _LEAST_LOOKED_AT = 16, 1024
# For a soft model, so many directions are covered at least, and as many as there are picks.
_FEW_DIRECTIONS = 256
# Where they are found by themselves: one for two picks, but neither fewer nor more than this.
_FEWEST_LEADING, _MAX_LEADING = 100, 128


@dataclass(frozen=True, eq=False)
class BSSMethod(Method):
    """The top of a trusted order, and BSS for what that leaves uncovered.

    Attributes
    ----------
    head, fill : str, array-like or callable
        The order that is trusted, and the one in which BSS looks at features.
    trust : float
        Share of the picks that is taken from the top of the trusted order.
    fixed : array-like or None
        Features that are in whatever happens.
    for_proof : bool
        Whether a bound for all directions matters more than the number of features. Then all are
        covered as soon as they can be, and BSS may come back to features; otherwise as many are
        chosen as are asked for.
    may_cut : bool
        Whether directions may be left out where they are no fewer than picks, for a model that
        needs them all.
    automatic : bool
        Whether the orders may be replaced where they cannot be had.
    n_jobs : int or None
        Number of processes for orders that fit often.
    """

    head: Any
    fill: Any
    trust: float
    fixed: Any
    for_proof: bool
    may_cut: bool
    automatic: bool
    n_jobs: int | None

    def of_features(self, n_features: int, names: NDArray[Any] | None) -> BSSMethod:
        """Return the method with fixed features as indices."""
        for order in (self.head, self.fill):
            if not isinstance(order, str) and not callable(order):
                checked_scores(order, n_features)
        fixed = np.empty(0, dtype=np.intp)
        if self.fixed is not None:
            fixed = as_indices(self.fixed, n_features, names, "fixed_features")
        return replace(self, fixed=fixed)

    @property
    def ranks_directions(self) -> bool:
        """Whether one of the orders looks at coverage."""
        return any(isinstance(o, str) and o in BY_COVERAGE for o in (self.head, self.fill))

    def rank(self, rows: Rows | None, support: Support | None, basis: Basis, seed: int) -> Ranking:
        """Return both orders; nothing is ranked twice."""
        head, fill = self.head, self.fill
        if self.automatic and support and missing_classes(support, support.rows).size:
            head = fill = "coef"
        scores = feature_scores(fill, rows, support, basis, seed, self.n_jobs)
        if self.trust == 0 or head is fill:
            return Ranking(scores, scores)
        return Ranking(scores, feature_scores(head, rows, support, basis, seed, self.n_jobs))

    def enough(self, basis: Basis, mu: float | None, epsilon: float) -> int:
        """Return a number of features for which the lower bound of BSS is 1 − epsilon."""
        if self.trust == 1:
            return len(basis.vectors)
        dimension = float(basis.n_components)
        if mu is not None:
            dimension = effective_dimension(basis.singular_values, mu)
        # (1 - sqrt(D/r))² >= 1 - epsilon, solved for r without cancellation for a small epsilon.
        ratio = epsilon / (1 + np.sqrt(1 - epsilon))
        n_picks = np.ceil(dimension / ratio**2)
        return int(min(np.ceil(n_picks / (1 - self.trust)) + len(self.fixed), len(basis.vectors)))

    def n_leading(self, size: int) -> int | None:
        """Return half of the number of picks, if that is moderate; all, where proof matters."""
        if self.for_proof:
            return None
        n_picks = size - self._n_kept(size)
        return int(np.clip(n_picks // 2, _FEWEST_LEADING, _MAX_LEADING))

    def fewest(self, basis: Basis) -> int:
        """Return the number of features with which BSS has more picks than directions."""
        if self.trust == 1:
            return len(basis.vectors)
        size = len(self.fixed) + int((basis.n_components + 1) / (1 - self.trust))
        while size - self._n_kept(size) <= basis.n_components:
            size += 1
        return size

    def kept(self, ranking: Ranking, size: int) -> tuple[IntArray, NDArray[np.str_]]:
        """Return the features that are in whatever BSS does, and why each of them is."""
        if len(self.fixed) > size:
            raise ValueError(
                f"fixed_features names {len(self.fixed)} features, more than the {size} that are "
                "to be chosen; fix fewer, or raise n_features_to_select."
            )
        assert ranking.trusted is not None
        best = np.argsort(-ranking.trusted, kind="stable")
        trusted = best[~np.isin(best, self.fixed)][: self._n_kept(size) - len(self.fixed)]
        reasons = np.repeat(["fixed", "trusted"], [len(self.fixed), len(trusted)])
        return np.concatenate([self.fixed, trusted]), reasons

    def _n_kept(self, size: int) -> int:
        # Rounded, since 0.1 · 30 is a little more than 3 in floating point.
        n_fixed = len(self.fixed)
        return n_fixed + int(np.ceil(round(self.trust * (size - n_fixed), 9)))

    def everything(self, n_features: int) -> Sample:
        """Return all features; those that are not fixed cover what the others leave."""
        indices = np.arange(n_features)
        reasons = np.where(np.isin(indices, self.fixed), "fixed", "cover")
        return replace(super().everything(n_features), reasons=reasons)

    def covered(self, basis: Basis, kept: IntArray, n_picks: int) -> Basis:
        """Return the directions that so many picks can cover beside the features that are in.

        Where they are too few for all, these are the ones along which the other features have most
        energy: the leading eigenvectors of Σ(I − M)Σ, with M = VᵀV of the features that are in.
        """
        n_components = basis.n_components
        n_covered = max(1, int((_COVERED_BESIDE if len(kept) else _COVERED_ALONE) * n_picks))
        if n_components <= n_covered:
            return basis
        if n_picks > n_components and (self.for_proof or not self.may_cut):
            return basis
        if not self.may_cut:
            what = "rank of the rows" if basis.exact else "number of directions"
            raise ValueError(
                f"n_features_to_select={n_picks + len(kept)} leaves BSS {n_picks} picks, not more "
                f"than the {what}, {n_components}, so it cannot cover them all. Ask for more "
                "features, or leave basis='auto' and n_components=None, which cuts the basis to "
                "fit."
            )
        if not len(kept):
            return basis.truncated(n_covered)
        shares = basis.singular_values / basis.singular_values[0]
        scaled = basis.vectors[kept] * shares
        energy = np.diag(shares**2) - scaled.T @ scaled
        axes = np.linalg.eigh(energy)[1][:, ::-1]
        return basis.turned(np.ascontiguousarray(axes[:, :n_covered]))

    def choose(
        self, basis: Basis, mu: float | None, size: int, ranking: Ranking, seed: int
    ) -> Choice:
        """Keep some features, and let BSS pick the others."""
        kept, reasons = self.kept(ranking, size)
        n_picks = size - len(kept)
        if n_picks == 0:
            return Choice(Sample(kept, np.ones(size), None, reasons), basis)
        if mu is None:
            picked, covered, promise = self._flat(basis, kept, n_picks, ranking)
        else:
            picked, covered, promise = self._soft(basis, mu, kept, n_picks, ranking)
        sample = _together(kept, reasons, picked)
        return Choice(
            sample if self.for_proof else self._filled_up(sample, ranking, size), covered, promise
        )

    def _cut(self, priority: FloatArray, n_picks: int) -> FloatArray:
        """Return the priority with a last resort: features that rank far below all picks."""
        n_looked_at = max(_LEAST_LOOKED_AT, _LOOKED_AT * n_picks)
        if self.for_proof or n_looked_at >= len(priority):
            return priority
        # Ties with the last that is looked at are looked at, too: no order of columns counts.
        last = np.partition(priority, -n_looked_at)[-n_looked_at]
        return np.where(priority >= last, priority, -np.inf)

    def _fills_by(self, name: str) -> bool:
        # An order may be an array, too.
        return isinstance(self.fill, str) and self.fill == name

    def _soft(
        self, basis: Basis, mu: float, kept: IntArray, n_picks: int, ranking: Ranking
    ) -> tuple[Sample, Basis, APriori]:
        """Cover each direction as far as a soft model needs it, and picks can."""
        cut = soft_cut(basis.spectrum, mu, n_picks)
        n_covered = max(_FEW_DIRECTIONS, n_picks)
        head = basis.truncated(n_covered) if n_covered < basis.n_components else basis
        shares, rest = np.split(cut.shares, [head.n_components])
        priority: Any = "cover"
        if not self._fills_by("cover"):
            scores = ranking.scores
            if self._fills_by("leverage"):
                # That of a soft model: directions that it does not need count for less.
                parts = [block**2 @ shares for _, block in row_blocks(head.vectors)]
                scores = np.asarray(np.round(np.concatenate(parts), 12), dtype=np.float64)
            priority = self._cut(with_faint_last(scores, head, basis), n_picks)
        picked = bss(head.vectors, n_picks, coverage=shares, priority=priority, chosen=kept)
        tail = None
        if basis.outside is not None:
            tail = basis.outside.tail(mu * cut.stretch, picked.indices, picked.weights)
        elif len(rest):
            scaled = basis.vectors[picked.indices][:, head.n_components :] * np.sqrt(rest)
            scaled *= picked.weights[:, None]
            energy = float(np.linalg.eigvalsh(scaled @ scaled.T)[-1])
            tail = float(rest[0]), energy, 0.0, 0.0
        promise = ridge_promise(float(shares.sum()), n_picks, cut.stretch, tail)
        if basis.outside is not None:
            promise = replace(promise, probability=basis.outside.probability)
        return picked, basis, promise

    def _flat(
        self, basis: Basis, kept: IntArray, n_picks: int, ranking: Ranking
    ) -> tuple[Sample, Basis, APriori | None]:
        """Cover all directions alike, or as many as picks can."""
        covered = self.covered(basis, kept, n_picks)
        priority: Any = "cover"
        if not self._fills_by("cover"):
            # Leverage is that in the directions which are to be covered.
            norms = np.round(squared_norms(covered.vectors), 12)
            scores = norms if self._fills_by("leverage") else ranking.scores
            priority = self._cut(with_faint_last(scores, covered, basis), n_picks)
        if n_picks == 1:
            # BSS begins with two picks; its first alone can match one direction exactly.
            best = bss(covered.vectors, 2, priority=priority, chosen=kept).indices[:1]
            return Sample(best, 1 / np.abs(covered.vectors[best][:, 0])), covered, None
        picked = bss(covered.vectors, n_picks, priority=priority, chosen=kept)
        if not covered.exact:
            return picked, covered, None
        promise = bss_promise(covered.n_components, n_picks)
        if len(kept) or not self.for_proof:
            # What is in anyway, or fills up, adds no more than the identity, with a scale of 1.
            promise = replace(promise, lambda_max=promise.lambda_max + 1)
        return picked, covered, promise

    def _filled_up(self, sample: Sample, ranking: Ranking, size: int) -> Sample:
        """Return as many features as are asked for, with the next best ones added."""
        assert sample.reasons is not None
        best = np.argsort(-ranking.scores, kind="stable")
        more = best[~np.isin(best, sample.indices)][: size - len(sample.indices)]
        return replace(
            sample,
            indices=np.concatenate([sample.indices, more]),
            weights=np.concatenate([sample.weights, np.ones(len(more))]),
            reasons=np.concatenate([sample.reasons, np.repeat("next", len(more))]),
        )


def _together(kept: IntArray, reasons: NDArray[np.str_], picked: Sample) -> Sample:
    """Return features that are in anyway, and those picked by BSS.

    The former are as they are in the data, so that they make no direction longer than it was.
    """
    squares = picked.weights**2
    new = ~np.isin(picked.indices, kept)
    again = np.isin(kept, picked.indices)
    totals = np.ones(len(kept))
    totals[again] += squares[[np.flatnonzero(picked.indices == f)[0] for f in kept[again]]]
    return Sample(
        np.concatenate([kept, picked.indices[new]]),
        np.sqrt(np.concatenate([totals, squares[new]])),
        picked.steps,
        np.concatenate([reasons, np.repeat("cover", int(new.sum()))]),
    )
