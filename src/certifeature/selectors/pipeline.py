"""From rows to a selection: rows → support → basis → sample → certificate.

Every fit of every selector passes through these functions, whether its rows are in memory, in
blocks or on a cluster. They take values and return values.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certifeature._warnings import warn
from certifeature.basis import Basis
from certifeature.basis.digest import Digest
from certifeature.basis.span import BasisFacts, span
from certifeature.certificate import APriori, Certificate
from certifeature.certificate.measure import extreme_eigenvalues, measured_certificate
from certifeature.rows.rows import Rows
from certifeature.sparsify import Sample
from certifeature.sparsify.sample import EmptySampleError
from certifeature.support import share_outside
from certifeature.support.find import Support, find_support, grown, missing_rows

__all__ = ["Method", "Request", "Selection", "directions", "run", "select"]

FloatArray = NDArray[np.float64]
Progress = Callable[[str], AbstractContextManager[None]]

_MAX_ROUNDS = 20
_LARGEST_SHARE_OUTSIDE = 0.05


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
        Whether only support rows matter.
    cover_all : bool
        Whether the support is to grow until the certificate holds for all rows.
    estimator : estimator or None
        The SVM whose support matters.
    basis, n_components : str, int or None
        Kind of basis, and its number of directions.
    rescale : bool
        Whether columns get the scales of the method.
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
    rescale: bool
    seed: int


class Method(ABC):
    """How features are chosen for a basis."""

    @abstractmethod
    def rank(self, rows: Rows | None, svm: Any, basis: Basis, whole: Basis) -> FloatArray:
        """Return a score for each feature; the higher, the sooner it is considered.

        ``basis`` is what features are chosen for, cut from ``whole``. There are no rows where they
        came in blocks and are gone, and no SVM where all rows matter.
        """

    @abstractmethod
    def sample(self, basis: Basis, size: int, scores: FloatArray, seed: int) -> Sample:
        """Choose features, fewer than there are."""

    def check(self, n_features: int) -> None:  # noqa: B027
        """Raise if a parameter does not suit the number of features; most suit any."""

    def cut(self, basis: Basis, size: int | None) -> Basis:
        """Return the directions that so many features can be chosen for."""
        return basis

    def promise(self, basis: Basis, size: int) -> APriori | None:
        """Return what is known of a scaled sample of this size before it is made."""
        return None

    def enough(self, basis: Basis, epsilon: float) -> int:
        """Return a number of scaled features that keeps epsilon for certain."""
        return len(basis.vectors)

    def fewest(self, basis: Basis) -> int:
        """Return the number of features below which nothing can be kept."""
        return basis.n_components


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
    scores : ndarray of shape (n_features,)
        Ranking of the features.
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
    scores: FloatArray
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
    method.check(rows.n_features)
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
    with progress("compute basis"):
        whole, basis, facts = directions(rows, request, method)
    svm = None if support is None else support.svm
    if whole.exact:
        _check_support(svm, whole)
    known = rows if isinstance(rows, Rows) and not rows.in_blocks else None
    with progress("choose features"):
        ranked = known if support is None else _with_all_classes(support)
        scores = method.rank(ranked, svm, basis, whole)
        size = request.size or _fewest_that_keep(basis, scores, request, method)
        if size < len(scores):
            sample = method.sample(basis, size, scores, request.seed)
            sample = sample if request.rescale else sample.unscaled()
        else:
            _warn_of_all(size, len(scores), request)
            size = len(scores)
            sample = Sample(np.arange(size), np.ones(size))
    kind, n_rows = "all" if support is None else "support", facts.n_rows
    certificate = measured_certificate(whole, sample, kind, n_rows, _cost(support))
    if basis.exact and request.rescale and size < len(scores):
        certificate = replace(certificate, a_priori=method.promise(basis, size))
    return Selection(known, support, facts, scores, size, sample, certificate)


def directions(
    rows: Rows | Digest, request: Request, method: Method
) -> tuple[Basis, Basis, BasisFacts]:
    """Return all directions of the rows that are known, and those that features are chosen for."""
    whole, facts = span(rows, request.basis, request.n_components, request.seed)
    basis = whole
    if facts.kind == "truncated" and request.n_components is not None:
        basis = basis.truncated(request.n_components)
    basis = method.cut(basis, request.size)
    kind = facts.kind
    if basis.n_components < whole.n_components and kind == "exact":
        kind = "truncated"
    facts = replace(facts, kind=kind, n_components=basis.n_components, exact=basis.exact)
    return whole, basis, facts


def _check_support(svm: Any, basis: Basis) -> None:
    """Warn if the weights of the SVM do not lie in the span of its support rows."""
    outside = share_outside(svm, basis.vectors)
    if outside > _LARGEST_SHARE_OUTSIDE:
        warn(
            f"{100 * outside:.0f} % of the weights of {type(svm).__name__} lie outside the span of "
            "its support rows, so these are not all: it has not converged, or is no SVM with an l2 "
            "penalty. Scale X, let it iterate longer, or use LinearSVC(dual=True)."
        )


def _with_all_classes(support: Support) -> Rows:
    """Return rows to rank features by: all of them where the support lacks a class."""
    labels = support.rows.y
    complete = labels is not None and len(np.unique(labels)) == len(support.classes)
    return support.rows if complete else support.candidates


def _cost(support: Support | None) -> float | None:
    """Return the largest cost of a row that matters, if the bound for it means anything."""
    # Weights of rows change their lengths, and with them what C means.
    if support is None or support.costs is None or support.rows.sample_weight is not None:
        return None
    return float(support.costs.max())


def _warn_of_all(size: int, n_features: int, request: Request) -> None:
    """Warn that there are no more features than are asked for."""
    reason, remedy = (
        (f"epsilon={request.epsilon} takes", "Ask for a larger epsilon or a number of features.")
        if request.size is None
        else ("n_features_to_select means", "Ask for fewer.")
    )
    warn(f"{reason} {size} features and X has {n_features}: all are kept, unscaled. {remedy}")


def _fewest_that_keep(basis: Basis, scores: FloatArray, request: Request, method: Method) -> int:
    """Return the smallest number of features whose measured λ is at least 1 − epsilon.

    Doubling finds a number that is enough, bisection the smallest, to one part in 64: a sample of
    one more feature is a new sample, and λ does not rise without setbacks.
    """

    def keeps(size: int) -> bool:
        try:
            sample = method.sample(basis, size, scores, request.seed)
        except EmptySampleError:
            return False
        sample = sample if request.rescale else sample.unscaled()
        return extreme_eigenvalues(basis, sample)[0] >= 1 - request.epsilon

    most = len(basis.vectors)
    if request.rescale:
        most = min(most, method.enough(basis, request.epsilon))
    size = min(method.fewest(basis), most)
    too_few = size - 1
    while size < most and not keeps(size):
        too_few, size = size, min(2 * size, most)
    while size - too_few > max(1, size // 64):
        middle = (too_few + size) // 2
        too_few, size = (too_few, middle) if keeps(middle) else (middle, size)
    return size


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
