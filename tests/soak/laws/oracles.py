"""The truth itself: two solvers that have nothing in common find the same."""

import numpy as np

from soak.digits import ONE, ZERO, exact, full
from soak.oracles import hinge_truth, margin_truth, radius_truth
from soak.qp import solve_by_clarabel, solve_exactly
from soak.smooth import Logistic, Multinomial, SquaredHinge, Tube, smooth_optimum
from soak.verdict import Violation

_SAME = 1e-7


def oracles_agree(rng):
    """On benign rows enclosures are tight, and Clarabel finds the optimum of the many digits."""
    n, d = int(rng.integers(2, 13)), int(rng.integers(1, 8))
    X = rng.standard_normal((n, d))
    signs = np.where(np.arange(n) % 2, 1.0, -1.0)
    X[:, 0] += rng.uniform(0, 3) * signs
    costs = 10 ** rng.uniform(-2, 2, n)
    _check_programme(X, signs, costs)
    truths = {
        "hinge": hinge_truth(X, signs, costs, None),
        "hinge with intercept": hinge_truth(X, signs, costs, 1.0),
        "squared hinge": hinge_truth(X, signs, costs, 0.0, squared=True),
        "radius": radius_truth(X),
    }
    margin = margin_truth(X, signs)
    if margin.lower > 0:
        truths["margin"] = margin
    newton = smooth_optimum(X, SquaredHinge(signs), costs, 0.0).value
    if abs(newton.upper - truths["squared hinge"].upper) > 1e-25 * newton.upper:
        raise Violation(
            f"Newton's method finds {newton.upper}, not {truths['squared hinge'].upper}"
        )
    truths |= {
        name: smooth_optimum(X, loss, costs, intercept).value
        for name, loss, intercept in (
            ("squared hinge by Newton's method", SquaredHinge(signs), 1.0),
            ("logistic", Logistic(signs), None),
            ("multinomial", Multinomial(np.eye(2, dtype=bool)[np.arange(n) % 2]), None),
            ("tube", Tube(X[:, 0] + 1, 0.1), 1.0),
        )
    }
    for name, truth in truths.items():
        if abs(truth.upper - truth.lower) > 1e-25 * truth.upper:
            raise Violation(f"{name} is in [{truth.lower}, {truth.upper}]")


def _check_programme(X, signs, costs):
    """Compare the values of a dual problem with bounds and an equation."""
    n = len(signs)
    # In many digits: rounded inner products of dependent rows are not semidefinite.
    rows = exact(X * signs[:, None])
    Q = rows @ rows.T
    problem = Q, full(n, 1), signs[None, :] * ONE, full(1, 0), costs * ONE
    values = []
    for solve in (solve_exactly, solve_by_clarabel):
        x = solve(*problem)
        if max(abs(signs @ x), -min(x), max(x - costs)) > _SAME * max(costs):
            raise Violation(f"{solve.__name__} breaks a constraint")
        values.append(sum(x, ZERO) - x @ Q @ x / 2)
    if abs(values[0] - values[1]) > _SAME * (1 + abs(values[0])):
        raise Violation(f"optima {values[0]} and {values[1]}")
