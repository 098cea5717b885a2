"""From rows to a selection: rows → support → basis → sample → certificate.

Every fit of every selector passes through these functions, whether its rows are in memory, in
blocks or on a cluster. They take values and return values.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from certifeature._progress import phase
from certifeature._threads import one_thread
from certifeature._warnings import warn
from certifeature.basis import Basis
from certifeature.basis.digest import Digest
from certifeature.basis.span import BasisFacts, span
from certifeature.certificate import APriori, Certificate
from certifeature.certificate.certify import measured_in_memory
from certifeature.certificate.measure import left_out_factors, measured_certificate
from certifeature.certificate.promise import promise_of_scales
from certifeature.rows.rows import Rows
from certifeature.selectors.fewest import fewest_that_keep
from certifeature.selectors.method import Choice, Method, Ranking, Request
from certifeature.selectors.prepared import Prepared, rescaled
from certifeature.sparsify import Sample
from certifeature.support import share_outside
from certifeature.support.find import Support, every_row, find_support, grown, missing_rows
from certifeature.support.loss import Target

__all__ = ["Selection", "prepare", "run", "samples_of_sizes", "select"]

_MAX_ROUNDS = 20
_LARGEST_SHARE_OUTSIDE = 0.05


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
    if not request.supervised:
        return select(rows, None, request, method)
    with phase("find support rows"):
        support = find_support(rows, request.estimator, request.seed)
    if request.cover_all:
        selection = _covering_all(rows, support, request, method)
    else:
        selection = select(support.rows, support, request, method)
    return selection.without_candidates()


def select(
    rows: Rows | Digest, support: Support | None, request: Request, method: Method
) -> Selection:
    """Choose features for rows that matter, and measure what the choice can cost."""
    known = prepare(rows, support, request, method)
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
    kind, n_rows = "all" if support is None else support.kind, known.facts.n_rows
    with phase("measure certificate"):
        if known.whole.exact or known.rows is None:
            certificate = measured_certificate(known.whole, sample, kind, n_rows, known.target)
        else:
            # The rows themselves prove something, where a part of their directions does not.
            matrix = known.rows.weighted()
            certificate = measured_in_memory(matrix, sample, kind, n_rows, known.target)
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


def samples_of_sizes(
    rows: Rows, request: Request, method: Method, sizes: Iterable[int]
) -> Iterator[Sample]:
    """Yield the choice for each of several sizes; what they share is found once.

    ``request.size`` and ``request.cover_all`` are left aside. From the number of features on, all
    are kept.
    """
    support = find_support(rows, request.estimator, request.seed) if request.supervised else None
    sizes = [int(size) for size in sizes]
    known = prepare(
        rows if support is None else support.rows,
        support,
        replace(request, size=max(sizes)),
        method,
    )
    for size in sizes:
        if size < rows.n_features:
            with one_thread():
                choice = known.choose(method, size, request.seed)
            yield rescaled(choice.sample, known.whole, request.rescale)
        else:
            yield method.everything(rows.n_features)


def prepare(
    rows: Rows | Digest, support: Support | None, request: Request, method: Method
) -> Prepared:
    """Find the directions of rows that matter, and an order of the features."""
    known = rows if isinstance(rows, Rows) and not rows.in_blocks else None
    with phase("compute basis"):
        target = _target(known, support, request.estimator)
        n_leading = None
        # What is kept of rows in blocks depends on the blocks, and so would leading directions.
        if known is not None and target.soft_mu is not None and request.size is not None:
            n_leading = method.n_leading(request.size)
        whole, facts = span(rows, request.basis, request.n_components, request.seed, n_leading)
    if whole.exact and support is not None and support.kind == "support":
        _check_support(support.model, whole)
    basis = whole
    if facts.kind == "truncated" and request.n_components is not None:
        basis = whole.truncated(request.n_components)
    with phase("rank features"), one_thread():
        ranking = method.rank(known, support, basis, request.seed)
    return Prepared(known, support, whole, basis, facts, ranking, target)


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


def _covering_all(rows: Rows, support: Support, request: Request, method: Method) -> Selection:
    """Take in the support rows of the reduced model, until it has no others."""
    if support.n_passes is not None:
        raise ValueError(
            "guarantee='full' needs all rows at once, and they come in blocks; use 'support'."
        )
    with phase(f"rounds, {_MAX_ROUNDS} at most", _MAX_ROUNDS) as advance:
        for n_rounds in range(1, _MAX_ROUNDS + 1):
            selection = select(support.rows, support, request, method)
            with phase("check all rows"):
                sample = selection.sample
                missing = missing_rows(support, rows.columns(sample.indices, sample.weights))
            advance()
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
