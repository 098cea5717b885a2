"""One fit: rows, support vectors, basis, choice, certificate."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from certifeature._progress import phase
from certifeature._resources import one_thread
from certifeature._validation import warn
from certifeature.basis import Basis
from certifeature.basis.span import BasisFacts, RowSummary, leading_span, span
from certifeature.certificate import APriori, Certificate
from certifeature.certificate.all_rows import unproven_rows
from certifeature.certificate.measured import (
    Measurable,
    extreme_eigenvalues,
    left_out_factors,
    measured_certificate,
    regularised_eigenvalues,
    soft_bound,
)
from certifeature.certificate.promise import effective_dimension, promise_of_scales
from certifeature.models.problem import ModelBound
from certifeature.models.support import Support, every_row, find_support, grown
from certifeature.rows.rows import Rows
from certifeature.sparsify import ColumnChoice
from certifeature.sparsify.choice import EmptyChoiceError

__all__ = [
    "Choice",
    "FitResult",
    "Method",
    "Preparation",
    "Prepared",
    "Ranking",
    "Request",
    "certified_size",
    "rescaled",
    "run",
    "samples_of_sizes",
    "select",
    "selections_of_sizes",
]


FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Request:
    """What a selector is asked for.

    Attributes
    ----------
    size : int or None
        Number of features; None for the fewest that keep ``epsilon``.
    epsilon : float
        Share of the squared margin that may be lost.
    supervised : bool
        Whether only rows matter that matter to the model.
    cover_all : bool
        Whether the support is to grow until the certificate holds for all rows.
    estimator : estimator or None
        The linear model that features are chosen for.
    basis, n_components : str, int or None
        Kind of basis, and its number of directions.
    rescale : {"common", "each", False}
        Whether columns get one factor, the scales of the method, or none.
    seed : int
        Of everything that is drawn.
    """

    size: int | None
    epsilon: float
    supervised: bool
    cover_all: bool
    estimator: Any
    basis: str
    n_components: int | None
    rescale: Any
    seed: int


@dataclass(frozen=True, eq=False)
class Ranking:
    """In which order features are considered.

    Attributes
    ----------
    scores : ndarray of shape (n_features,)
        The higher, the sooner a feature is considered.
    trusted : ndarray of shape (n_features,) or None
        Scores of which the highest are taken without further question.
    """

    scores: FloatArray
    trusted: FloatArray | None = None


@dataclass(frozen=True, eq=False)
class Choice:
    """The features that a method chose.

    Attributes
    ----------
    sample : ColumnChoice
        With the scales of the method.
    covered : Basis
        The directions that they were chosen for.
    promise : APriori or None
        What is known of such a sample unmeasured, if the basis is that of all rows.
    """

    sample: ColumnChoice
    covered: Basis
    promise: APriori | None = None

    @property
    def counted(self) -> NDArray[np.bool_]:
        """Which features the lower bounds of the promise count on."""
        sample = self.sample
        if sample.steps is None:
            return np.ones(len(sample.indices), dtype=bool)
        return np.isin(sample.indices, sample.steps.features)


class Method(ABC):
    """How features are chosen for a basis."""

    @abstractmethod
    def rank(self, rows: Rows | None, support: Support | None, basis: Basis, seed: int) -> Ranking:
        """Return a score for each feature.

        There are no rows where they came in blocks and are gone, and no support where all rows
        matter.
        """

    @abstractmethod
    def choose(
        self, basis: Basis, mu: float | None, size: int, ranking: Ranking, seed: int
    ) -> Choice:
        """Choose features, fewer than there are.

        The model that they are for does not mind small directions where its dual is so strongly
        convex; it is None where all directions count alike.
        """

    @property
    def ranks_directions(self) -> bool:
        """Whether the scores depend on the basis, and not on the rows and their model alone."""
        return True

    def of_features(self, n_features: int, names: NDArray[Any] | None) -> Method:
        """Return the method for these features, or raise if a parameter does not suit them."""
        return self

    def everything(self, n_features: int) -> ColumnChoice:
        """Return all features as they are."""
        return ColumnChoice(np.arange(n_features), np.ones(n_features))

    def n_leading(self, size: int) -> int | None:
        """Return how many leading directions are enough for so many features of a soft model.

        None stands for all of them.
        """
        return None

    def enough(self, basis: Basis, mu: float | None, epsilon: float) -> int:
        """Return a number of scaled features that keeps epsilon for certain."""
        return len(basis.vectors)

    def fewest(self, basis: Basis) -> int:
        """Return the number of features below which nothing can be kept of all directions."""
        return basis.n_components


@dataclass(frozen=True, eq=False)
class Prepared:
    """All that is known before the number of features matters.

    Attributes
    ----------
    rows : Rows or None
        Rows that features are chosen for; None where they came in blocks and are gone.
    support : Support or None
        The SVM and its support rows; None if all rows matter.
    whole : Basis
        All directions of the rows that are known.
    basis : Basis
        Those among them that features may be chosen for.
    facts : BasisFacts
        How they were found.
    ranking : Ranking
        In which order features are considered.
    target : ModelBound
        The model that features are chosen for, which may be any.
    """

    rows: Rows | None
    support: Support | None
    whole: Basis
    basis: Basis
    facts: BasisFacts
    ranking: Ranking
    target: ModelBound

    def choose(self, method: Method, size: int, seed: int) -> Choice:
        """Choose so many features."""
        return method.choose(self.basis, self.soft_mu, size, self.ranking, seed)

    @property
    def soft_mu(self) -> float | None:
        """How strongly convex the dual of the model is, unless that is nothing for these rows."""
        mu, largest = self.target.soft_mu, float(self.basis.singular_values[0])
        if mu is None or mu / largest / largest < np.finfo(np.float64).tiny:
            return None
        return mu


class Preparation:
    """Finds directions of rows that matter, and an order of the features, for several sizes.

    Only the number of leading directions depends on the size. What stays the same from one size to
    the next is found once.

    Parameters
    ----------
    rows : Rows or RowSummary
        Rows that features are chosen for.
    support : Support or None
        The SVM and its support rows; None if all rows matter.
    request : Request
        What is asked for, but for the size.
    method : Method
        How features are chosen.
    """

    def __init__(
        self, rows: Rows | RowSummary, support: Support | None, request: Request, method: Method
    ) -> None:
        self.support = support
        self._rows, self._request, self._method = rows, request, method
        self._known = rows if isinstance(rows, Rows) and not rows.in_blocks else None
        self._n_leading: int | None = None
        self._latest: Prepared | None = None

    @property
    def kind(self) -> str:
        """Which rows a certificate is for."""
        return "all" if self.support is None else self.support.kind

    @cached_property
    def measurable(self) -> Measurable:
        """The rows, if they are in memory, to measure selections by."""
        assert self._known is not None
        return Measurable(self._known.weighted(), self.kind, self._known.n_rows, self._target)

    def of_size(self, size: int | None) -> Prepared:
        """Return all that is known before so many features are chosen; None for any number."""
        n_leading = None
        # What is kept of rows in blocks depends on the blocks, and so would leading directions.
        if self._known is not None and self._target.soft_mu is not None and size is not None:
            n_leading = self._method.n_leading(size)
        latest = self._latest
        if latest is None or n_leading != self._n_leading:
            self._latest, self._n_leading = self._prepared(n_leading, latest), n_leading
        assert self._latest is not None
        return self._latest

    def _prepared(self, n_leading: int | None, latest: Prepared | None) -> Prepared:
        n_components = self._request.n_components
        with phase("compute basis"):
            whole, facts = self._span(n_leading)
        basis = whole
        if facts.kind == "truncated" and n_components is not None:
            basis = whole.truncated(n_components)
        if latest and (basis is latest.basis or not self._method.ranks_directions):
            ranking = latest.ranking
        else:
            with phase("rank features"), one_thread():
                ranking = self._method.rank(self._known, self.support, basis, self._request.seed)
        return Prepared(self._known, self.support, whole, basis, facts, ranking, self._target)

    def _span(self, n_leading: int | None) -> tuple[Basis, BasisFacts]:
        """Return the directions of the rows: leading ones, where they are enough, or all."""
        request, leading = self._request, None
        if n_leading is not None:
            assert self._known is not None
            leading = leading_span(self._known, request.basis, request.n_components, n_leading)
        return leading or self._all_directions

    @cached_property
    def _all_directions(self) -> tuple[Basis, BasisFacts]:
        request = self._request
        return span(self._rows, request.basis, request.n_components, request.seed)

    @cached_property
    def _target(self) -> ModelBound:
        """What is known of the model: any, if none is given where all rows matter."""
        support, estimator = self.support, self._request.estimator
        if support is None and estimator is not None:
            rows = Rows(np.empty((0, 0))) if self._known is None else self._known
            support = every_row(rows, estimator)
        return ModelBound() if support is None else support.target


def rescaled(sample: ColumnChoice, basis: Basis, rescale: Any) -> ColumnChoice:
    """Return the sample with the scales that are asked for.

    One common factor brings the norm of the chosen columns to that of all columns, so that C means
    about the same for both.
    """
    if rescale == "each":
        return sample
    weights = np.ones(len(sample.indices))
    if rescale == "common":
        if basis.outside is not None:
            columns = basis.outside.columns
            everything, chosen = _norm(columns), _norm(columns[sample.indices])
        else:
            # Relative to the largest, so that squares of huge or tiny values stay in range.
            shares = basis.singular_values / basis.singular_values[0]
            everything = float(np.linalg.norm(shares))
            chosen = float(np.linalg.norm(basis.vectors[sample.indices] * shares))
        if chosen > 0:
            weights *= everything / chosen
    return replace(sample, weights=weights)


def _norm(columns: Any) -> float:
    return float(np.linalg.norm(columns.data if sparse.issparse(columns) else columns))


_MAX_SAMPLES = 6
# So many times the features that there are would be needed, to all appearances.
_HOPELESS = 2
# What is expected to be enough is taken with so much to spare, since a miss costs a sample.
_SPARE = 1.03


def certified_size(known: Prepared, request: Request, method: Method) -> tuple[int, Choice | None]:
    """Return about the smallest number of features whose measured λ is at least 1 − epsilon.

    For a soft model λ is that of its own objective. √λ is about 1 − c·√(D/r) for r features and D
    directions. The first sample tells c, and with it where to look next, or that it is hopeless;
    later ones are interpolated, until there is no more than one part in sixteen to gain. Beside the
    number stands the choice of so many, if it was made.
    """
    goal, mu, basis = 1 - request.epsilon, known.soft_mu, known.basis

    def measured(choice: Choice) -> float:
        sample = rescaled(choice.sample, known.whole, request.rescale)
        if mu is None:
            return extreme_eigenvalues(measurable, sample)[0]
        bounds = regularised_eigenvalues(measurable, sample, mu, known.facts.n_rows)
        if bounds is None and known.rows is not None:
            bounds = soft_bound(known.rows.weighted(), sample, known.target)
        return extreme_eigenvalues(measurable, sample)[0] if bounds is None else bounds.lambda_min

    # What features are chosen for may be less than what they are measured by.
    measurable = known.whole if known.whole.exact else basis
    dimension = float(basis.n_components)
    enough, found = len(known.ranking.scores), None
    if request.rescale == "each" and measurable.n_components == basis.n_components:
        enough = min(enough, method.enough(basis, mu, request.epsilon))
    too_few = min(method.fewest(basis), enough) - 1
    if mu is not None:
        # Less than all directions may do.
        dimension = effective_dimension(basis.singular_values, mu)
        too_few = 0
    size, lost = 2 * int(np.ceil(dimension)), dict[int, float]()
    with phase(f"sizes tried, {_MAX_SAMPLES} at most", _MAX_SAMPLES) as advance:
        for number in range(_MAX_SAMPLES):
            nearest = max(1, enough // 16)
            if enough - too_few <= nearest:
                break
            size = min(max(size, too_few + nearest), enough - nearest)
            try:
                choice = known.choose(method, size, request.seed)
                smallest = measured(choice)
            except EmptyChoiceError:
                smallest = 0.0
            advance()
            if smallest >= goal:
                enough, found = size, choice
            else:
                too_few = size
            # Of λ above 1 the formula knows nothing.
            lost[size] = 1 - np.sqrt(min(smallest, 1.0))
            expected = _SPARE * _size_that_loses(1 - np.sqrt(goal), lost, too_few, enough)
            if number == 0 and expected > _HOPELESS * len(known.ranking.scores):
                break
            size = int(np.ceil(expected))
    return enough, found


def _size_that_loses(goal: float, lost: dict[int, float], too_few: int, enough: int) -> float:
    """Return at what size 1 − √λ comes to a goal, if it is linear in 1/√size.

    It is interpolated between what is too few and what is enough, where both were tried, and
    proportional to 1/√size otherwise.
    """
    if too_few in lost and enough in lost:
        first, last = too_few**-0.5, enough**-0.5
        drop = max(lost[too_few] - lost[enough], 1e-9)
        return float((last + (goal - lost[enough]) / drop * (first - last)) ** -2)
    size, loss = next(reversed(lost.items()))
    return float(size * (loss / goal) ** 2)


_MAX_ROUNDS = 20


@dataclass(frozen=True, eq=False)
class FitResult:
    """What a fit found.

    Attributes
    ----------
    rows : Rows or None
        Rows that the features were chosen for; None where they came in blocks and are gone.
    support : Support or None
        The SVM and its support rows; None if all rows matter.
    basis : BasisFacts
        What the basis of the rows was.
    ranking : Ranking
        In which order features were considered.
    size : int
        Number of features asked for.
    sample : ColumnChoice
        Chosen features and their scales.
    certificate : Certificate
        What the choice can cost: promised and measured.
    n_rounds : int
        How often features were chosen.
    """

    rows: Rows | None
    support: Support | None
    basis: BasisFacts
    ranking: Ranking
    size: int
    sample: ColumnChoice
    certificate: Certificate
    n_rounds: int = 1

    def without_candidates(self) -> FitResult:
        """Return what to keep once nothing more is chosen: the rows that matter, and no others."""
        if self.support is None:
            return self
        return replace(self, support=replace(self.support, candidates=self.support.rows))


def run(rows: Rows, request: Request, method: Method) -> FitResult:
    """Choose features for rows, or for the support rows among them."""
    (selection,) = selections_of_sizes(rows, request, method, [request.size])
    return selection


def selections_of_sizes(
    rows: Rows, request: Request, method: Method, sizes: Iterable[int | None]
) -> Iterator[FitResult]:
    """Yield what `run` returns for each of several sizes; what they share is found once.

    ``request.size`` is left aside.
    """
    shared = _preparation(rows, request, method)
    for size in sizes:
        own = replace(request, size=size)
        if request.cover_all:
            selection = _covering_all(rows, shared, own, method)
        else:
            selection = select(shared, own, method)
        yield selection.without_candidates()


def samples_of_sizes(
    rows: Rows, request: Request, method: Method, sizes: Sequence[int]
) -> Iterator[ColumnChoice]:
    """Return an iterator over the choices for several sizes; what they share is found at once.

    ``request.size`` and ``request.cover_all`` are left aside. From the number of features on, all
    are kept.
    """
    shared = _preparation(rows, request, method)
    shared.of_size(sizes[0])

    def choice(size: int) -> ColumnChoice:
        if size >= rows.n_features:
            return method.everything(rows.n_features)
        known = shared.of_size(size)
        with one_thread():
            found = known.choose(method, size, request.seed)
        return rescaled(found.sample, known.whole, request.rescale)

    return map(choice, map(int, sizes))


def _preparation(rows: Rows, request: Request, method: Method) -> Preparation:
    """Return what prepares a choice for rows, or for the support rows among them."""
    if not request.supervised:
        return Preparation(rows, None, request, method)
    with phase("find support rows"):
        support = find_support(rows, request.estimator, request.seed)
    return Preparation(support.rows, support, request, method)


def select(shared: Preparation, request: Request, method: Method) -> FitResult:
    """Choose features for rows that matter, and measure what the choice can cost."""
    known, support = shared.of_size(request.size), shared.support
    n_features = len(known.ranking.scores)
    with phase("choose features"), one_thread():
        size, choice = request.size, None
        if size is None:
            size, choice = certified_size(known, request, method)
        if size < n_features:
            choice = choice or known.choose(method, size, request.seed)
            sample = rescaled(choice.sample, known.whole, request.rescale)
        else:
            _warn_of_all(size, n_features, request)
            size, sample = n_features, method.everything(n_features)
            choice = Choice(sample, known.basis)
    with phase("measure certificate"):
        if known.whole.exact or known.rows is None:
            kind, n_rows = shared.kind, known.facts.n_rows
            certificate = measured_certificate(known.whole, sample, kind, n_rows, known.target)
        else:
            # The rows themselves prove something, where a part of their directions does not.
            certificate = shared.measurable.certificate(sample)
        certificate = replace(certificate, a_priori=_promise(known, choice, sample))
    facts = known.facts.cut_to(choice.covered)
    return FitResult(known.rows, support, facts, known.ranking, size, sample, certificate)


def _promise(known: Prepared, choice: Choice, sample: ColumnChoice) -> APriori | None:
    """Return what the method promises of its choice, with the scales that this has in the end."""
    covered = choice.covered
    if choice.promise is None or not (covered.exact or covered.outside):
        return None
    promise = promise_of_scales(choice.promise, choice.sample, choice.counted, sample.weights)
    if covered.outside or promise.regularised_min is None or known.target.mu is None:
        return promise
    lower, _ = left_out_factors(known.whole, sample, known.target.mu)
    return replace(promise, regularised_min=promise.regularised_min * lower)


def _warn_of_all(size: int, n_features: int, request: Request) -> None:
    """Warn that there are no more features than are asked for."""
    reason, remedy = (
        (f"epsilon={request.epsilon} takes", "Ask for a larger epsilon or a number of features.")
        if request.size is None
        else ("n_features_to_select means", "Ask for fewer.")
    )
    warn(f"{reason} {size} features and X has {n_features}: all are kept, unscaled. {remedy}")


def _covering_all(rows: Rows, prepared: Preparation, request: Request, method: Method) -> FitResult:
    """Take in the support rows of the reduced model, until it has no others."""
    support = prepared.support
    assert support is not None
    if support.n_passes is not None:
        raise ValueError(
            "guarantee='full' needs all rows at once, and they come in blocks; use 'support'."
        )
    with phase(f"rounds, {_MAX_ROUNDS} at most", _MAX_ROUNDS) as advance:
        for n_rounds in range(1, _MAX_ROUNDS + 1):
            selection = select(prepared, request, method)
            with phase("check all rows"):
                missing = unproven_rows(support, selection.sample, rows)
            advance()
            if not missing.size or n_rounds == _MAX_ROUNDS:
                break
            support = grown(support, missing)
            prepared = Preparation(support.rows, support, request, method)
    covered = not missing.size
    if not covered:
        warn(
            f"guarantee='full' was not reached in {_MAX_ROUNDS} rounds: the certificate covers "
            f"{support.rows.n_rows} of {support.candidates.n_rows} rows. Ask for more features."
        )
    certificate = replace(selection.certificate, covers_all_rows=covered)
    return replace(selection, certificate=certificate, n_rounds=n_rounds)
