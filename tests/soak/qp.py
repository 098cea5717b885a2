"""Quadratic programmes: minimise ½xᵀQx − cᵀx subject to Ax = b and 0 ≤ x ≤ u.

Two solvers with nothing in common: an interior-point method in many digits, for small problems of
any scaling, and Clarabel in double precision for larger ones.
"""

import clarabel
import gmpy2
import numpy as np
from gmpy2 import mpfr
from scipy import sparse

from soak.digits import ONE, ZERO, backward, cholesky, exact, forward, full
from soak.verdict import Undecided

_MAX_STEPS = 200
_GAP = mpfr(10) ** -40
# Of the way to the boundary.
_SHARE = mpfr("0.99")
# A step is to leave no more of the gap; one that does is replaced by one that centres by so much.
_SLOW, _CENTRING = mpfr("0.9"), mpfr("0.3")


def solve_exactly(Q, c, A, b, u):
    """Return x, by Mehrotra's predictor and corrector; u may hold infinities.

    Their steps may go round in circles, where the corrector undoes what the predictor promised. A
    step towards the central path without correction leads out of these.
    """
    bounded = np.array([gmpy2.is_finite(limit) for limit in u], dtype=bool)
    point = _Point(
        x=np.array([min(limit / 2, ONE) for limit in u], dtype=object),
        y=full(len(b), 0),
        z=full(len(c), 1),
        v=np.where(bounded, ONE, ZERO),
    )
    for _ in range(_MAX_STEPS):
        room = np.where(bounded, u - point.x, ONE)
        gap = point.x @ point.z + room @ point.v
        dual = Q @ point.x - c - A.T @ point.y - point.z + point.v
        primal = b - A @ point.x
        size = 1 + abs(c @ point.x)
        if gap <= _GAP * size and _largest(primal) <= _GAP and _largest(dual) <= _GAP * size:
            break
        newton = _Newton(Q, A, point, room, bounded, dual, primal)
        step = newton.step(ZERO, ZERO, ZERO)
        after = newton.gap_after(step, newton.length(step))
        product = gap / (len(c) + int(bounded.sum()))
        corrections = step.x * step.z, np.where(bounded, -step.x * step.v, ZERO)
        step = newton.step((after / gap) ** 3 * product, *corrections)
        if newton.gap_after(step, newton.length(step)) > _SLOW * gap:
            step = newton.step(_CENTRING * product, ZERO, ZERO)
        point = point.moved(newton.length(step), step)
    else:
        raise Undecided(f"no optimum in {_MAX_STEPS} steps: a gap of {float(gap):.1e} is left")
    return point.x


class _Point:
    """Variables x, multipliers y of Ax = b, z of x ≥ 0 and v of x ≤ u; or a step of them."""

    def __init__(self, x, y, z, v):
        self.x, self.y, self.z, self.v = x, y, z, v

    def moved(self, length, step):
        return _Point(
            self.x + length * step.x,
            self.y + length * step.y,
            self.z + length * step.z,
            self.v + length * step.v,
        )


class _Newton:
    """The equations of a step from one point."""

    def __init__(self, Q, A, point, room, bounded, dual, primal):
        self._A, self._point, self._room, self._bounded = A, point, room, bounded
        self._dual, self._primal = dual, primal
        self._factor = cholesky(Q + np.diag(point.z / point.x + point.v / room))
        if len(A):
            half = forward(self._factor, A.T)
            self._schur = cholesky(half.T @ half)

    def step(self, target, lower_product, upper_product):
        """Return the step towards products of the pairs that equal the target."""
        at, room = self._point, self._room
        of_z = (target - at.x * at.z - lower_product) / at.x
        of_v = (target - room * at.v - upper_product) / room
        of_v = np.where(self._bounded, of_v, ZERO)
        x, y = self._solve(-self._dual + of_z - of_v)
        return _Point(x, y, of_z - at.z * x / at.x, of_v + at.v * x / room)

    def length(self, step):
        """Return how much of a step all variables stay positive for."""
        at, own = self._point, self._bounded
        pairs = [(at.x, step.x), (at.z, step.z)]
        pairs += [(self._room[own], -step.x[own]), (at.v[own], step.v[own])]
        limits = [
            -_SHARE * start / change
            for starts, changes in pairs
            for start, change in zip(starts, changes, strict=True)
            if change < 0
        ]
        return min([ONE, *limits])

    def gap_after(self, step, length):
        at, own = self._point.moved(length, step), self._bounded
        return at.x @ at.z + (self._room - length * step.x)[own] @ at.v[own]

    def _solve(self, right):
        x = backward(self._factor, forward(self._factor, right))
        if not len(self._A):
            return x, self._primal
        y = backward(self._schur, forward(self._schur, self._primal - self._A @ x))
        return x + backward(self._factor, forward(self._factor, self._A.T @ y)), y


def _largest(values):
    return max((abs(value) for value in values), default=ZERO)


def solve_by_clarabel(Q, c, A, b, u):
    """Return x, found in double precision."""
    Q, c, A, b, u = (np.asarray(part, dtype=float) for part in (Q, c, A, b, u))
    n = len(c)
    bounded = np.flatnonzero(np.isfinite(u))
    identity = np.eye(n)
    constraints = np.vstack([A.reshape(-1, n), -identity, identity[bounded]])
    cones = [
        clarabel.ZeroConeT(len(b)),
        clarabel.NonnegativeConeT(n),
        clarabel.NonnegativeConeT(len(bounded)),
    ]
    P, G = sparse.csc_matrix(np.triu(Q)), sparse.csc_matrix(constraints)
    right = np.concatenate([b, np.zeros(n), u[bounded]])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    # The regularisation that helps with most programmes stops others far from their optimum.
    for regularised in (True, False):
        settings.static_regularization_enable = regularised
        found = clarabel.DefaultSolver(P, -c, G, right, cones, settings).solve()
        if found.status == clarabel.SolverStatus.Solved:
            break
    return exact(found.x)
