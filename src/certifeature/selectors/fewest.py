"""How many features a certificate takes."""

from __future__ import annotations

import numpy as np

from certifeature._progress import phase
from certifeature.certificate.lanczos import soft_bound
from certifeature.certificate.measure import extreme_eigenvalues, regularised_eigenvalues
from certifeature.selectors.method import Choice, Method, Request
from certifeature.selectors.prepared import Prepared, rescaled
from certifeature.selectors.soft import effective_dimension
from certifeature.sparsify.sample import EmptySampleError

__all__ = ["fewest_that_keep"]

_MAX_SAMPLES = 6
# So many times the features that there are would be needed, to all appearances.
_HOPELESS = 2
# What is expected to be enough is taken with so much to spare, since a miss costs a sample.
_SPARE = 1.03


def fewest_that_keep(
    known: Prepared, request: Request, method: Method
) -> tuple[int, Choice | None]:
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
            except EmptySampleError:
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
