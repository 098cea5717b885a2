"""How many features a certificate takes."""

from __future__ import annotations

import numpy as np

from certifeature._progress import phase
from certifeature.certificate.lanczos import soft_bound
from certifeature.certificate.measure import extreme_eigenvalues, regularised_eigenvalues
from certifeature.selectors.method import Method, Request
from certifeature.selectors.prepared import Prepared, rescaled
from certifeature.selectors.soft import effective_dimension
from certifeature.sparsify.sample import EmptySampleError

__all__ = ["fewest_that_keep"]

_MAX_SAMPLES = 6
# So many times the features that there are would be needed, to all appearances.
_HOPELESS = 2


def fewest_that_keep(known: Prepared, request: Request, method: Method) -> int:
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
            bounds = soft_bound(known.rows.weighted(), sample, known.target)
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
    with phase(f"sizes tried, {_MAX_SAMPLES} at most", _MAX_SAMPLES) as advance:
        for number in range(_MAX_SAMPLES):
            nearest = max(1, enough // 16)
            if enough - too_few <= nearest:
                break
            size = min(max(size, too_few + nearest), enough - nearest)
            smallest = measured(size)
            advance()
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
