"""From rows to a selection: rows → support → basis → sample → certificate.

Every fit of every selector passes through these functions, whether its rows are in memory, in
blocks or on a cluster. They take values and return values.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from certifeature._progress import phase
from certifeature._threads import one_thread
from certifeature._warnings import warn
from certifeature.basis.span import BasisFacts
from certifeature.certificate import APriori, Certificate
from certifeature.certificate.coverage import unproven_rows
from certifeature.certificate.measure import left_out_factors, measured_certificate
from certifeature.certificate.promise import promise_of_scales
from certifeature.rows.rows import Rows
from certifeature.selectors.fewest import fewest_that_keep
from certifeature.selectors.method import Choice, Method, Ranking, Request
from certifeature.selectors.prepared import Preparation, Prepared, rescaled
from certifeature.sparsify import Sample
from certifeature.support.find import Support, find_support, grown

__all__ = ["Selection", "run", "samples_of_sizes", "select", "selections_of_sizes"]

_MAX_ROUNDS = 20


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


def run(rows: Rows, request: Request, method: Method) -> Selection:
    """Choose features for rows, or for the support rows among them."""
    (selection,) = selections_of_sizes(rows, request, method, [request.size])
    return selection


def selections_of_sizes(
    rows: Rows, request: Request, method: Method, sizes: Iterable[int | None]
) -> Iterator[Selection]:
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
    rows: Rows, request: Request, method: Method, sizes: Iterable[int]
) -> Iterator[Sample]:
    """Yield the choice for each of several sizes; what they share is found once.

    ``request.size`` and ``request.cover_all`` are left aside. From the number of features on, all
    are kept.
    """
    shared = _preparation(rows, request, method)
    for size in map(int, sizes):
        if size < rows.n_features:
            known = shared.of_size(size)
            with one_thread():
                choice = known.choose(method, size, request.seed)
            yield rescaled(choice.sample, known.whole, request.rescale)
        else:
            yield method.everything(rows.n_features)


def _preparation(rows: Rows, request: Request, method: Method) -> Preparation:
    """Return what prepares a choice for rows, or for the support rows among them."""
    if not request.supervised:
        return Preparation(rows, None, request, method)
    with phase("find support rows"):
        support = find_support(rows, request.estimator, request.seed)
    return Preparation(support.rows, support, request, method)


def select(shared: Preparation, request: Request, method: Method) -> Selection:
    """Choose features for rows that matter, and measure what the choice can cost."""
    known, support = shared.of_size(request.size), shared.support
    n_features = len(known.ranking.scores)
    with phase("choose features"), one_thread():
        size, choice = request.size, None
        if size is None:
            size, choice = fewest_that_keep(known, request, method)
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
    return Selection(known.rows, support, facts, known.ranking, size, sample, certificate)


def _promise(known: Prepared, choice: Choice, sample: Sample) -> APriori | None:
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


def _covering_all(rows: Rows, prepared: Preparation, request: Request, method: Method) -> Selection:
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
