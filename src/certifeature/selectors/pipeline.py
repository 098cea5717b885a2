"""From rows to a selection: rows → support → basis → sample → certificate.

Every fit of every selector passes through these functions, whether its rows are in memory, in
blocks or on a cluster. They take values and return values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certifeature._threads import one_thread
from certifeature._warnings import warn
from certifeature.basis import Basis
from certifeature.basis.digest import Digest
from certifeature.basis.span import BasisFacts, span
from certifeature.certificate import Certificate
from certifeature.certificate.lanczos import soft_bound
from certifeature.certificate.measure import (
    extreme_eigenvalues,
    left_out_factors,
    measured_certificate,
    regularised_eigenvalues,
)
from certifeature.certificate.promise import promise_of_scales
from certifeature.rows.blocks import ArrayBlocks
from certifeature.rows.rows import Rows
from certifeature.selectors.method import Choice, Method, Ranking, Request
from certifeature.selectors.soft import effective_dimension
from certifeature.sparsify import Sample
from certifeature.sparsify.sample import EmptySampleError
from certifeature.support import share_outside
from certifeature.support.find import Support, every_row, find_support, grown, missing_rows
from certifeature.support.loss import Target

__all__ = [
    "Prepared",
    "Selection",
    "prepare",
    "rescaled",
    "run",
    "samples_of_sizes",
    "select",
]

FloatArray = NDArray[np.float64]
Progress = Callable[[str], AbstractContextManager[None]]

_MAX_ROUNDS = 20
_LARGEST_SHARE_OUTSIDE = 0.05
# To find the fewest features that keep a share of the margin.
_MAX_SAMPLES = 6
# So many times the features that there are would be needed, to all appearances.
_HOPELESS = 2


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
    target : Target
        The model that features are chosen for, which may be any.
    """

    rows: Rows | None
    support: Support | None
    whole: Basis
    basis: Basis
    facts: BasisFacts
    ranking: Ranking
    target: Target

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


@dataclass(frozen=True, eq=False)
class Selection:
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
    sample : Sample
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
    sample: Sample
    certificate: Certificate
    n_rounds: int = 1

    def without_candidates(self) -> Selection:
        """Return what to keep once nothing more is chosen: the rows that matter, and no others."""
        if self.support is None:
            return self
        return replace(self, support=replace(self.support, candidates=self.support.rows))


def run(rows: Rows, request: Request, method: Method, progress: Progress) -> Selection:
    """Choose features for rows, or for the support rows among them."""
    if not request.supervised:
        return select(rows, None, request, method, progress)
    with progress("find support rows"):
        support = find_support(rows, request.estimator, request.seed)
    if request.cover_all:
        selection = _covering_all(rows, support, request, method, progress)
    else:
        selection = select(support.rows, support, request, method, progress)
    return selection.without_candidates()


def select(
    rows: Rows | Digest,
    support: Support | None,
    request: Request,
    method: Method,
    progress: Progress,
) -> Selection:
    """Choose features for rows that matter, and measure what the choice can cost."""
    known = prepare(rows, support, request, method, progress)
    n_features = len(known.ranking.scores)
    with progress("choose features"), one_thread():
        size = request.size or _fewest_that_keep(known, request, method)
        if size < n_features:
            choice = known.choose(method, size, request.seed)
            sample = rescaled(choice.sample, known.whole, request.rescale)
        else:
            _warn_of_all(size, n_features, request)
            size, sample = n_features, method.everything(n_features)
            choice = Choice(sample, known.basis)
    kind, n_rows = "all" if support is None else support.kind, known.facts.n_rows
    certificate = measured_certificate(known.whole, sample, kind, n_rows, known.target)
    if not known.whole.exact and known.rows is not None:
        # The rows themselves prove something, where a sketch of them does not.
        blocks = ArrayBlocks(known.rows.weighted())
        certificate = replace(certificate, regularised=soft_bound(blocks, sample, known.target))
    if choice.promise is not None and choice.covered.exact:
        promise = promise_of_scales(choice.promise, choice.sample, choice.counted, sample.weights)
        if promise.regularised_min is not None and known.target.mu is not None:
            lower, _ = left_out_factors(known.whole, sample, known.target.mu)
            promise = replace(promise, regularised_min=promise.regularised_min * lower)
        certificate = replace(certificate, a_priori=promise)
    facts = known.facts.cut_to(choice.covered)
    return Selection(known.rows, support, facts, known.ranking, size, sample, certificate)


def samples_of_sizes(
    rows: Rows, request: Request, method: Method, sizes: Iterable[int]
) -> Iterator[Sample]:
    """Yield the choice for each of several sizes; what they share is found once.

    ``request.size`` and ``request.cover_all`` are left aside. From the number of features on, all
    are kept.
    """
    support = find_support(rows, request.estimator, request.seed) if request.supervised else None
    known = prepare(
        rows if support is None else support.rows,
        support,
        request,
        method,
        lambda _: nullcontext(),
    )
    for size in sizes:
        if size < rows.n_features:
            with one_thread():
                choice = known.choose(method, int(size), request.seed)
            yield rescaled(choice.sample, known.whole, request.rescale)
        else:
            yield method.everything(rows.n_features)


def prepare(
    rows: Rows | Digest,
    support: Support | None,
    request: Request,
    method: Method,
    progress: Progress,
) -> Prepared:
    """Find the directions of rows that matter, and an order of the features."""
    with progress("compute basis"):
        whole, facts = span(rows, request.basis, request.n_components, request.seed)
    if whole.exact and support is not None and support.kind == "support":
        _check_support(support.model, whole)
    basis = whole
    if facts.kind == "truncated" and request.n_components is not None:
        basis = whole.truncated(request.n_components)
    known = rows if isinstance(rows, Rows) and not rows.in_blocks else None
    with progress("rank features"), one_thread():
        ranking = method.rank(known, support, basis, request.seed)
    target = _target(known, support, request.estimator)
    return Prepared(known, support, whole, basis, facts, ranking, target)


def rescaled(sample: Sample, basis: Basis, rescale: Any) -> Sample:
    """Return the sample with the scales that are asked for.

    One common factor brings the norm of the chosen columns to that of all columns, so that C means
    about the same for both.
    """
    if rescale == "each":
        return sample
    weights = np.ones(len(sample.indices))
    if rescale == "common":
        # Relative to the largest, so that squares of huge or tiny values stay in range.
        shares = basis.singular_values / basis.singular_values[0]
        chosen = float(np.linalg.norm(basis.vectors[sample.indices] * shares))
        if chosen > 0:
            weights *= float(np.linalg.norm(shares)) / chosen
    return replace(sample, weights=weights)


def _target(rows: Rows | None, support: Support | None, estimator: Any) -> Target:
    """Return what is known of the model: any, if none is given where all rows matter."""
    if support is None and estimator is not None:
        support = every_row(Rows(np.empty((0, 0))) if rows is None else rows, estimator)
    return Target() if support is None else support.target


def _check_support(svm: Any, basis: Basis) -> None:
    """Warn if the weights of the SVM do not lie in the span of its support rows."""
    outside = share_outside(svm, basis.vectors)
    if outside > _LARGEST_SHARE_OUTSIDE:
        warn(
            f"{100 * outside:.0f} % of the weights of {type(svm).__name__} lie outside the span of "
            "its support rows, so these are not all: it has not converged, or is no SVM with an l2 "
            "penalty. Scale X, let it iterate longer, or use LinearSVC(dual=True)."
        )


def _warn_of_all(size: int, n_features: int, request: Request) -> None:
    """Warn that there are no more features than are asked for."""
    reason, remedy = (
        (f"epsilon={request.epsilon} takes", "Ask for a larger epsilon or a number of features.")
        if request.size is None
        else ("n_features_to_select means", "Ask for fewer.")
    )
    warn(f"{reason} {size} features and X has {n_features}: all are kept, unscaled. {remedy}")


def _fewest_that_keep(known: Prepared, request: Request, method: Method) -> int:
    """Return about the smallest number of features whose measured λ is at least 1 − epsilon.

    For a soft model λ is that of its own objective. √λ is about 1 − c·√(D/r) for r features and D
    directions. The first sample tells c, and with it where to look next, or that it is hopeless;
    then λ is interpolated between what is too few and what is enough. A few samples are enough for
    one part in sixteen.
    """
    goal, mu, basis = 1 - request.epsilon, known.soft_mu, known.basis

    def measured(size: int) -> float:
        try:
            choice = known.choose(method, size, request.seed)
        except EmptySampleError:
            return 0.0
        sample = rescaled(choice.sample, known.whole, request.rescale)
        if mu is None:
            return extreme_eigenvalues(measurable, sample)[0]
        bounds = regularised_eigenvalues(measurable, sample, mu, known.facts.n_rows)
        if bounds is None and known.rows is not None:
            bounds = soft_bound(ArrayBlocks(known.rows.weighted()), sample, known.target)
        return extreme_eigenvalues(measurable, sample)[0] if bounds is None else bounds.lambda_min

    # What features are chosen for may be less than what they are measured by.
    measurable = known.whole if known.whole.exact else basis
    dimension = float(basis.n_components)
    enough, kept = len(known.ranking.scores), 1.0
    if request.rescale == "each" and measurable.n_components == basis.n_components:
        enough = min(enough, method.enough(basis, mu, request.epsilon))
    too_few, lost = min(method.fewest(basis), enough) - 1, 0.0
    if mu is not None:
        # Less than all directions may do.
        dimension = effective_dimension(basis.singular_values, mu)
        too_few = 0
    size = 2 * int(np.ceil(dimension))
    for number in range(_MAX_SAMPLES):
        nearest = max(1, enough // 16)
        if enough - too_few <= nearest:
            break
        size = min(max(size, too_few + nearest), enough - nearest)
        smallest = measured(size)
        if smallest >= goal:
            enough, kept = size, smallest
        else:
            too_few, lost = size, smallest
        if number == 0:
            constant = (1 - np.sqrt(smallest)) * np.sqrt(size / dimension)
            size = int(np.ceil(dimension * (constant / (1 - np.sqrt(goal))) ** 2))
            if size > _HOPELESS * len(known.ranking.scores):
                break
        else:
            share = (goal - lost) / max(kept - lost, 1e-9)
            size = int(np.ceil(too_few + share * (enough - too_few)))
    return enough


def _covering_all(
    rows: Rows, support: Support, request: Request, method: Method, progress: Progress
) -> Selection:
    """Take in the support rows of the reduced model, until it has no others."""
    if support.n_passes is not None:
        raise ValueError(
            "guarantee='full' needs all rows at once, and they come in blocks; use 'support'."
        )
    for n_rounds in range(1, _MAX_ROUNDS + 1):
        selection = select(support.rows, support, request, method, progress)
        with progress("check all rows"):
            sample = selection.sample
            missing = missing_rows(support, rows.columns(sample.indices, sample.weights))
        if not missing.size or n_rounds == _MAX_ROUNDS:
            break
        support = grown(support, missing)
    covered = not missing.size
    if not covered:
        warn(
            f"guarantee='full' was not reached in {_MAX_ROUNDS} rounds: the certificate covers "
            f"{support.rows.n_rows} of {support.candidates.n_rows} rows. Ask for more features."
        )
    certificate = replace(selection.certificate, covers_all_rows=covered)
    return replace(selection, certificate=certificate, n_rounds=n_rounds)
