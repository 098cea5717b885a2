"""Enclosures of margins, objectives and radii, against the truth."""

import numpy as np

from soak import library
from soak.data import draw_case, draw_numbers
from soak.oracles import MOST_EXACT_ROWS, margin_truth, radius_truth
from soak.problems import Problem
from soak.verdict import Violation

_FEATURES = (1, 12)
# Relative widths that enclosures of plain data keep to.
_TIGHT = 0.05
# Margins, relative to the radius, that rounding cannot hide.
CLEAR_MARGIN = 1e-6
# The last digit of a bound is not judged.
LAST_DIGIT = 1e-15


def margins_are_enclosed(rng):
    """The hard margin lies within its enclosure; what can be separated is not said to overlap."""
    case, signs = _draw(rng)
    truth = margin_truth(case.X, signs)
    found = library.margin(case.X, signs)
    if found is not None:
        _check("margin", found, truth, case.plain)
    elif truth.lower > CLEAR_MARGIN * radius_truth(case.X).upper:
        raise Violation(f"said to overlap; the margin is {float(truth.lower):.9g}")


def hinge_is_enclosed(rng):
    """The optimum of the hinge loss lies within its enclosure."""
    case, signs = _draw(rng)
    _check_objective(rng, case, "hinge", signs)


def squared_hinge_is_enclosed(rng):
    """The optimum of the squared hinge loss lies within its enclosure."""
    case, signs = _draw(rng)
    _check_objective(rng, case, "squared hinge", signs)


def logistic_is_enclosed(rng):
    """The optimum of the logistic loss lies within its enclosure."""
    case, signs = _draw(rng, few=True)
    _check_objective(rng, case, "logistic", signs)


def multinomial_is_enclosed(rng):
    """The optimum of the multinomial loss lies within its enclosure."""
    case = draw_case(rng, (3, 12), (1, 6), (2, 4))
    _check_objective(rng, case, "multinomial", case.y[:, None] == np.unique(case.y))


def tube_is_enclosed(rng):
    """The optimum of a squared loss, with a tube or without, lies within its enclosure."""
    case, signs = _draw(rng, few=True)
    targets = draw_numbers(rng, signs)
    # With a free intercept there is no model with a tube.
    epsilon = float(np.std(targets) * rng.choice([0.01, 0.5])) if rng.random() < 0.5 else 0.0
    _check_objective(rng, case, "tube", targets, free=epsilon == 0, epsilon=epsilon)


def balls_are_enclosed(rng):
    """The radius of the minimum enclosing ball lies within its enclosure."""
    case = draw_case(rng, _draw_sizes(rng, 1), _FEATURES)
    _check("radius", library.radius(case.X), radius_truth(case.X), case.plain)


def check_enclosure(name, bounds, truth):
    """Raise a Violation where no value of the truth lies within the bounds."""
    lower, upper = bounds
    # An infinite bound says honestly that nothing is known; NaN says nothing.
    if np.isnan(lower) or np.isnan(upper):
        raise Violation(f"{name} in [{lower}, {upper}]")
    if lower * (1 - LAST_DIGIT) > truth.upper or upper * (1 + LAST_DIGIT) < truth.lower:
        raise Violation(
            f"{name} in [{lower:.12g}, {upper:.12g}]; the truth is in "
            f"[{float(truth.lower):.12g}, {float(truth.upper):.12g}]"
        )


def _check_objective(rng, case, loss, target, *, free=True, epsilon=0.0):
    intercepts = [0.0, 1.0, float(10 ** rng.uniform(-2, 3)), None]
    intercept = intercepts[rng.integers(3 + free)]
    costs = _draw_costs(rng, case)
    problem = Problem(np.arange(len(case.X)), loss, target, costs, intercept, epsilon)
    _check(
        "objective",
        library.objective(case.X, problem),
        problem.truth(case.X),
        _is_mild(case, costs),
    )


def _check(name, bounds, truth, tight):
    check_enclosure(name, bounds, truth)
    if tight and bounds[1] - bounds[0] > _TIGHT * bounds[1]:
        raise Violation(f"{name} of plain data is only known to be in [{bounds[0]}, {bounds[1]}]")


def _draw(rng, *, few=False):
    """Return rows and signs of both classes."""
    case = draw_case(rng, (2, 12) if few else _draw_sizes(rng, 2), _FEATURES)
    return case, np.where(case.y == case.y[0], 1.0, -1.0)


def _draw_sizes(rng, fewest):
    """Return a range of few rows, whose truth is known in many digits, or of more."""
    if rng.random() < 0.8:
        return fewest, MOST_EXACT_ROWS
    return MOST_EXACT_ROWS + 1, 4 * MOST_EXACT_ROWS


def _draw_costs(rng, case):
    """Return costs about what the sizes of rows call for, or wild ones, or some of zero."""
    kind = rng.integers(3)
    # Of a row, from its largest value, since its square may leave the range.
    size = np.log10(np.abs(case.X).max() or 1.0) if kind else 0.0
    exponent = rng.uniform(-160, 12) if kind == 1 else rng.uniform(-3, 4 if kind == 2 else 12)
    exponent = np.clip(exponent - 2 * size, -250, 250)
    costs = 10**exponent * rng.uniform(0.5, 2, len(case.X))
    if rng.random() < 0.08:
        costs[rng.permutation(len(costs))[: len(costs) // 2]] = 0.0
    return costs


def _is_mild(case, costs):
    return case.plain and costs.min() > 1e-3 and costs.max() < 1e3
