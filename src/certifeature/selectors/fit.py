"""One fit: rows, support vectors, basis, chosen columns, certificate.

Every selector fits through this module, whether its rows are in memory, in blocks or on a cluster.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from certifeature._progress import phase
from certifeature._utils import TINY, FloatArray, one_thread, warn
from certifeature.basis import Basis
from certifeature.basis.span import BasisFacts, leading_span, span
from certifeature.certificate import APriori, Certificate
from certifeature.certificate.all_rows import unproven_rows
from certifeature.certificate.measured import Measurable, spectrum_rounding
from certifeature.certificate.promise import effective_dimension
from certifeature.models.problem import SCALE, ModelBound
from certifeature.models.support import Support, every_row, find_support, grown
from certifeature.rows.rows import Rows
from certifeature.sparsify.choice import ColumnChoice, Groups, TooFewError, as_groups

# Selections of guarantee="full", each with the support vectors of the previous one added.
_MAX_ROUNDS = 20


@dataclass(frozen=True, eq=False)
class Ranking:
    """Scores of the features, the highest for the best.

    Attributes
    ----------
    scores : ndarray of shape (n_features,)
        Order in which the algorithm considers features.
    trusted : ndarray of shape (n_features,) or None
        Order whose top is taken without further tests.
    redundant : ndarray of bool, of shape (n_features,), or None
        Features that are not chosen while others are left: exact copies of better ones, and
        constant ones beside a free intercept.
    ties : ndarray of int, of shape (n_features,), or None
        Ranks by which features of equal scores are taken, the lowest first.
    """

    scores: FloatArray
    trusted: FloatArray | None = None
    redundant: NDArray[np.bool_] | None = None
    ties: NDArray[np.intp] | None = None

    def best(self, scores: FloatArray, count: int) -> NDArray[np.intp]:
        """Return so many features in descending order of scores, the redundant ones last."""
        keys = [key for key in (self.ties, -scores, self.redundant) if key is not None]
        found = np.arange(len(scores))
        if count < len(scores):
            # Of millions, few need sorting.
            first = -scores if self.redundant is None else np.where(self.redundant, np.inf, -scores)
            found = np.flatnonzero(first <= np.partition(first, count - 1)[count - 1])
        return found[np.lexsort([key[found] for key in keys])][:count]


@dataclass(frozen=True, eq=False)
class Picks:
    """The choice of an algorithm.

    Attributes
    ----------
    columns : ColumnChoice
        Chosen columns with the scales of the algorithm.
    covered : Basis
        The directions that they were chosen for.
    promise : APriori or None
        The a priori bound of the algorithm for its scales and these directions.
    """

    columns: ColumnChoice
    covered: Basis
    promise: APriori | None = None

    def promise_for(self, columns: ColumnChoice) -> APriori | None:
        """Return the promise for all rows, if columns have these scales, times a factor."""
        own_scales = columns.factor * self.columns.scales
        if not (self.promise and self.covered.exact and np.array_equal(columns.scales, own_scales)):
            return None
        slack, square = spectrum_rounding(self.covered, columns), columns.factor**2
        largest = float(columns.scales.max()) ** 2
        return replace(
            self.promise,
            lambda_min=max(0.0, square * self.promise.lambda_min - slack),
            lambda_max=min(square * self.promise.lambda_max + slack, largest),
        )


class Strategy(ABC):
    """An algorithm that chooses columns for a basis.

    Parameters
    ----------
    selector : BaseSelector
        Its parameters, which raise here if they do not fit the features.
    given : Rows
        The training data, all of them.
    seed : int, default=0
        Seed of all random numbers of a fit.

    Attributes
    ----------
    groups : Groups
        Groups of features that are chosen as a whole. All scores and sizes are those of groups,
        which are single features unless ``feature_groups`` is given.
    """

    def __init__(self, selector: Any, given: Rows, seed: int = 0) -> None:
        self.selector, self.given, self.seed = selector, given, seed
        groups = getattr(selector, "feature_groups", None)
        self.groups = as_groups(groups, given.n_features, given.feature_names)

    # Whether columns are chosen for directions of the rows, and C where no model is given.
    uses_directions: ClassVar[bool] = True
    default_cost: ClassVar[str] = SCALE

    @property
    def ranks_directions(self) -> bool:
        """Whether the scores depend on the basis, and not on the rows and their model alone."""
        return True

    @abstractmethod
    def rank(self, rows: Rows | None, support: Support | None, basis: Any) -> Ranking:
        """Return a score for each group.

        ``rows`` is None for rows in blocks, which are read once, and ``support`` is None where
        features are chosen for all rows.
        """

    @abstractmethod
    def choose(self, basis: Basis, mu: float | None, size: int, ranking: Ranking) -> Picks:
        """Choose fewer groups than there are.

        ``mu`` is the strong convexity of the model's dual: the model depends on directions of
        smaller singular values by less than that. None weighs all directions equally.
        """

    def of_rows(self, rows: Rows, support: Support | None) -> Strategy:
        """Return the strategy for rows that features are chosen for, and their model."""
        return self

    def everything(self) -> ColumnChoice:
        """Return all features, unscaled."""
        groups = np.arange(len(self.groups))
        return self.groups.columns(ColumnChoice(groups, np.ones(len(groups))))

    def n_leading(self, size: int) -> int | None:
        """Return how many leading directions suffice for a model with μ > 0; None for all."""
        return None


@dataclass(frozen=True, eq=False)
class FitResult:
    """What a fit found.

    Attributes
    ----------
    rows : Rows or None
        Rows that the features were chosen for; None for rows in blocks, which are not kept.
    support : Support or None
        The model and its support vectors; None if features were chosen for all rows.
    basis : BasisFacts or None
        Kind and size of the basis, if features were chosen for directions.
    ranking : Ranking
        Scores of the features.
    size : int
        Number of features, or groups, asked for.
    groups : Groups
        The groups that features are chosen in.
    columns : ColumnChoice
        Chosen columns and their scales.
    certified : ColumnChoice
        The same columns with the scales that the certificate is for, see `Support.at_own_scale`.
    certificate : Certificate
        Bounds on what the choice costs, promised and measured.
    n_rounds : int
        Number of selections.
    fingerprint : str or None
        Digest of the training data, by which `certify` recognises them.
    """

    rows: Rows | None
    support: Support | None
    basis: BasisFacts | None
    ranking: Ranking
    size: int
    groups: Groups
    columns: ColumnChoice
    certified: ColumnChoice
    certificate: Certificate
    n_rounds: int = 1
    fingerprint: str | None = None


@dataclass(frozen=True, eq=False)
class Directions:
    """The directions of the rows and the ranking of the features.

    ``whole`` has all directions that are known, ``basis`` those that features are chosen for. All
    but the ranking is None for a choice that needs no directions.
    """

    whole: Any
    basis: Any
    facts: BasisFacts | None
    ranking: Ranking


class Fit:
    """Chooses features of the same rows for any number of sizes.

    Only the number of leading directions depends on the size. Everything else is computed once.

    Parameters
    ----------
    strategy : Strategy
        The algorithm, and the parameters of the selector but for the number of features.
    rows : Rows
        Rows that features are chosen for.
    support : Support, default=None
        The model and its support vectors; None to choose for all rows.
    """

    def __init__(self, strategy: Strategy, rows: Rows, support: Support | None = None) -> None:
        self._strategy, self._selector = strategy.of_rows(rows, support), strategy.selector
        self._rows, self.support = rows, support
        self._in_memory = None if rows.in_blocks else rows
        self._n_leading: int | None = None
        self._latest: Any = None

    @classmethod
    def of(cls, strategy: Strategy) -> Fit:
        """Train the model if features are chosen for its support vectors."""
        if not strategy.selector.supervised:
            return cls(strategy, strategy.given)
        with phase("find support vectors"):
            selector = strategy.selector
            support = find_support(strategy.given, selector.estimator, strategy.default_cost)
        return cls(strategy, support.rows, support)

    def columns(self, size: int) -> ColumnChoice:
        """Return the chosen columns, all of them from the number of features on."""
        known, groups = self.directions(size), self._strategy.groups
        if size >= len(groups):
            return self._strategy.everything()
        with one_thread():
            picks = self._strategy.choose(known.basis, self._mu, size, known.ranking)
            return self._rescaled(picks.columns)

    def _size(self, given: Any) -> int | None:
        """Return the number that ``n_features_to_select`` means; None for "certified"."""
        if isinstance(given, str):
            return None
        n_groups = len(self._strategy.groups)
        return int(given if isinstance(given, Integral) else max(1.0, given * n_groups))

    def result(self, n_features_to_select: Any) -> FitResult:
        """Choose features and measure the certificate of the choice."""
        size, groups = self._size(n_features_to_select), self._strategy.groups
        known = self.directions(size)
        with phase("choose features"), one_thread():
            asked, picks, remedy = "n_features_to_select means", None, "fewer"
            if size is None:
                asked = f"epsilon={self._selector.epsilon} takes"
                remedy = f"a larger epsilon or a number of {groups.called}"
                size, picks = self._certified_size()
            if size >= len(groups):
                warn(
                    f"{asked} {size} {groups.called} and X has {len(groups)}: all are kept, "
                    f"unscaled. Ask for {remedy}."
                )
            size = min(size, len(groups))
            if size == len(groups):
                picks = Picks(self._strategy.everything(), known.basis)
            picks = picks or self._strategy.choose(known.basis, self._mu, size, known.ranking)
            columns = self._rescaled(picks.columns)
        with phase("measure certificate"):
            scaled = self._at_own_scale(columns)
            certificate = self._measurable.certificate(scaled, known.whole)
            certificate = replace(certificate, a_priori=picks.promise_for(scaled))
        facts, support = known.facts and known.facts.cut_to(picks.covered), self.support
        if support is not None and support.n_passes is None:
            # A fitted selector keeps the support vectors, not all rows.
            support = replace(support, candidates=support.rows.written_out())
        return FitResult(
            self._in_memory,
            support,
            facts,
            known.ranking,
            size,
            groups,
            columns,
            scaled,
            certificate,
            fingerprint=self._strategy.given.fingerprint,
        )

    def result_for_all_rows(self, n_features_to_select: Any) -> FitResult:
        """Add the support vectors of the reduced model until it has no others."""
        fit, support = self, self.support
        assert support is not None
        if support.n_passes is not None:
            raise ValueError(
                "guarantee='full' needs all rows at once, and they come in blocks; use 'support'."
            )
        with phase(f"rounds, {_MAX_ROUNDS} at most", _MAX_ROUNDS) as advance:
            for n_rounds in range(1, _MAX_ROUNDS + 1):
                result = fit.result(n_features_to_select)
                with phase("check all rows"):
                    missing = unproven_rows(support, result.certified, support.candidates)
                advance()
                if not missing.size or n_rounds == _MAX_ROUNDS:
                    break
                support = grown(support, missing)
                fit = Fit(self._strategy, support.rows, support)
        if missing.size:
            warn(
                f"guarantee='full' was not reached in {_MAX_ROUNDS} rounds: the certificate covers "
                f"{support.rows.n_rows} of {support.candidates.n_rows} rows. Ask for more features."
            )
        certificate = replace(result.certificate, covers_all_rows=not missing.size)
        return replace(result, certificate=certificate, n_rounds=n_rounds)

    @cached_property
    def _model(self) -> Support | None:
        """The model that bounds are for; None, for any model, if none is given without labels."""
        if self.support is None and self._selector.estimator is not None:
            return every_row(self._rows, self._selector.estimator)
        return self.support

    @cached_property
    def _bound(self) -> ModelBound:
        return ModelBound() if self._model is None else self._model.target

    def _at_own_scale(self, columns: ColumnChoice) -> ColumnChoice:
        found: ColumnChoice = columns if self._model is None else self._model.at_own_scale(columns)
        return found

    @cached_property
    def _measurable(self) -> Measurable:
        kind = "all" if self.support is None else self.support.kind
        X = None if self._in_memory is None else self._in_memory.weighted()
        return Measurable(X, kind, self._rows.n_rows, self._bound)

    def directions(self, size: int | None) -> Directions:
        """Return the directions for so many features; None stands for any number."""
        n_leading = None
        # A summary of blocks depends on the blocks, and so would leading directions.
        if self._in_memory is not None and self._bound.soft_mu is not None and size is not None:
            n_leading = self._strategy.n_leading(size)
        latest, n_components = self._latest, self._selector.n_components
        if latest is not None and n_leading == self._n_leading:
            return latest
        if not self._strategy.uses_directions:
            ranking = self._strategy.rank(self._in_memory, self.support, None)
            ranking = replace(ranking, ties=self._ties)
            self._latest = Directions(None, None, None, ranking)
            return self._latest
        with phase("compute basis"):
            leading = None
            if n_leading is not None:
                kind = self._selector.basis
                leading = leading_span(self._rows, kind, n_components, n_leading)
            whole, facts = leading or self._all_directions
        basis = whole
        if facts.kind == "truncated" and n_components is not None:
            basis = whole.truncated(n_components)
        if latest and (basis is latest.basis or not self._strategy.ranks_directions):
            ranking = latest.ranking
        else:
            with phase("rank features"), one_thread():
                ranking = self._strategy.rank(self._in_memory, self.support, basis)
                ranking = replace(ranking, ties=self._ties)
        self._latest, self._n_leading = Directions(whole, basis, facts, ranking), n_leading
        return self._latest

    @cached_property
    def _all_directions(self) -> tuple[Basis, BasisFacts]:
        selector = self._selector
        return span(self._rows, selector.basis, selector.n_components, self._strategy.seed)

    @cached_property
    def _ties(self) -> NDArray[np.intp]:
        """Ranks of the groups by the values of their columns, before these were centred."""
        rows = self._rows if self.support is None else self.support.as_given
        return self._strategy.groups.ranks(rows.column_ranks)

    @property
    def _mu(self) -> float | None:
        """The strong convexity of the model's dual, unless it underflows for these rows."""
        if self._latest.basis is None:
            return None
        mu, largest = self._bound.soft_mu, float(self._latest.basis.singular_values[0])
        return None if mu is None or mu / largest / largest < TINY else mu

    def _rescaled(self, columns: ColumnChoice) -> ColumnChoice:
        """Return the columns with the scales that the parameters ask for.

        Let s and s′ be the root mean squared distances of the rows from their mean, with all and
        with the chosen columns. One common factor, max(1, min(s, 1)/s′), brings small rows back to
        the size that they had, so that models at their default C do not become too soft. Features
        that are fixed stay as they are.
        """
        rescale = self._selector._rescaling()
        if rescale == "each":
            return columns
        scales = np.ones(len(columns.indices))
        if rescale == "common":
            spread = self._strategy.given.spread
            size, chosen = spread.size(), spread.size(columns.indices)
            scales *= max(1.0, min(size, 1.0) / chosen) if chosen > 0 else 1.0
            if columns.reasons is not None:
                # They are known to belong in, such as an age, and stay in their own units.
                scales[columns.reasons == "fixed"] = 1.0
        return replace(columns, scales=scales)

    def _certified_size(self) -> tuple[int, Picks | None]:
        """Return about the smallest size whose measured λ is at least 1 − epsilon, and its picks.

        λ is that of the model's objective where its dual is strongly convex. Sizes double until one
        is enough, and are then bisected until at most one part in sixteen can be saved.
        """
        known, mu = self.directions(None), self._mu
        # The basis that features are chosen for may be smaller than the one they are measured by.
        measured_by = known.whole if known.whole.exact else known.basis
        dimension = float(known.basis.n_components)
        if mu is not None:
            dimension = effective_dimension(known.basis.singular_values, mu)
        too_few, enough, best = 0, len(self._strategy.groups), None
        with phase("sizes tried", enough.bit_length() + 4) as advance:
            while enough - too_few > max(1, enough // 16):
                size = min(2 * max(too_few, int(np.ceil(dimension))), (too_few + enough) // 2)
                try:
                    picks = self._strategy.choose(known.basis, mu, size, known.ranking)
                    columns = self._at_own_scale(self._rescaled(picks.columns))
                    smallest = self._measurable.lambda_min(
                        columns, measured_by, soft=mu is not None
                    )
                except TooFewError:
                    smallest = 0.0
                if smallest >= 1 - self._selector.epsilon:
                    enough, best = size, picks
                else:
                    too_few = size
                advance()
        return enough, best
