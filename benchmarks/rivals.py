"""Methods of the literature that keep the spectrum of VᵀRRᵀV narrow, written briefly.

V has orthonormal columns and one row for each feature. Every function returns the chosen features
and their squared scales; methods that choose a set of features without scales return ones.
"""

import numpy as np
from scipy.optimize import brentq

# So many rank-one updates of an inverse, and it is made anew.
UPDATES = 50
# Starts the forward choice, small against every eigenvalue that it ends with.
RIDGE = 1e-5


def dual_set(vectors, n_select, squared_norms=None):
    """Dual-set sparsification: one set bounds the spectrum from below, a second one from above.

    Boutsidis, Drineas and Magdon-Ismail, *Near-optimal column-based matrix reconstruction*, SIAM
    Journal on Computing 43 (2014). Given squared norms of a second set of vectors, the Frobenius
    type: with the scales they sum to no more than without. Otherwise the spectral type with the
    standard basis, which bounds every scale. With the rows of V as a second set of spectral type it
    is BSS. Of the admissible features, any of which will do, this takes the one with most room.
    """
    n_features, n_components = vectors.shape
    ratio = np.sqrt(n_components / n_select)
    stretch = (1 + np.sqrt(n_features / n_select)) / (1 - ratio)
    A, energies = np.zeros((n_components, n_components)), np.zeros(n_features)
    for step in range(n_select):
        values, axes = np.linalg.eigh(A)
        lower = step - np.sqrt(n_select * n_components)
        above = values - lower - 1
        rise = np.sum(1 / above) - np.sum(1 / (values - lower))
        gain = (vectors @ axes) ** 2 @ (above**-2 / rise - 1 / above)
        if squared_norms is None:
            upper = stretch * (step + np.sqrt(n_select * n_features))
            below = upper + stretch - energies
            fall = np.sum(1 / (upper - energies)) - np.sum(1 / below)
            cost = below**-2 / fall + 1 / below
        else:
            cost = (1 - ratio) * squared_norms / squared_norms.sum()
        admissible = np.flatnonzero((gain >= cost) & (gain > 0))
        # Rounded: in the first step of the Frobenius type with V all features are alike.
        pick = admissible[np.argmin(np.round(cost[admissible] / gain[admissible], 12))]
        energy = 2 / (gain[pick] + cost[pick])
        energies[pick] += energy
        A += energy * np.outer(vectors[pick], vectors[pick])
    chosen = np.flatnonzero(energies)
    return chosen, energies[chosen] * (1 - ratio) / n_select


def removal(vectors, n_select):
    """Greedy removal: leave out the feature that raises tr (VₛᵀVₛ)⁻¹ least, until r are left.

    Avron and Boutsidis, *Faster subset selection for matrices and applications*, SIAM Journal on
    Matrix Analysis and Applications 34 (2013).
    """
    left = np.arange(len(vectors))
    while len(left) > n_select:
        rows = vectors[left]
        inverse = Inverse(rows, rows.T @ rows)
        stays = np.ones(len(left), dtype=bool)
        for _ in range(min(UPDATES, len(left) - n_select)):
            # A feature of share 1 is the only one in some direction.
            rest = 1 - inverse.shares
            free = stays & (rest > 1e-12)
            out = np.argmin(np.where(free, inverse.squares / np.where(free, rest, 1), np.inf))
            stays[out] = False
            inverse.add(out, -1)
        left = left[stays]
    return left, np.ones(n_select)


def forward(vectors, n_select):
    """Forward choice, A-optimal: always take the feature that lowers tr (VₛᵀVₛ + ridge)⁻¹ most."""
    free = np.ones(len(vectors), dtype=bool)
    for step in range(n_select):
        if step % UPDATES == 0:
            chosen = vectors[~free]
            inverse = Inverse(vectors, chosen.T @ chosen + RIDGE * np.eye(vectors.shape[1]))
        pick = np.argmax(np.where(free, inverse.squares / (1 + inverse.shares), -np.inf))
        free[pick] = False
        inverse.add(pick, 1)
    return np.flatnonzero(~free), np.ones(n_select)


class Inverse:
    """The inverse of a matrix M, and vᵀM⁻¹v (shares) and vᵀM⁻²v (squares) of every row v."""

    def __init__(self, rows, matrix):
        self.rows = rows
        self.matrix = np.linalg.inv(matrix)
        turned = rows @ self.matrix
        self.shares = np.sum(turned * rows, axis=1)
        self.squares = np.sum(turned**2, axis=1)

    def add(self, index, sign):
        """Put M ± vvᵀ in the place of M, v the row of this index."""
        direction = self.matrix @ self.rows[index]
        factor = sign / (1 + sign * self.shares[index])
        both = self.rows @ np.column_stack([direction, self.matrix @ direction])
        along = factor * both[:, 0]
        self.squares += along**2 * (direction @ direction) - 2 * along * both[:, 1]
        self.shares -= along * both[:, 0]
        self.matrix -= factor * np.outer(direction, direction)


def regret(vectors, n_select, epsilon, start=()):
    """Regret minimisation with the ℓ½ regulariser: best additions to a start, then best swaps.

    Allen-Zhu, Li, Singh and Wang, *Near-optimal design of experiments via regret minimization*
    (ICML 2017; Mathematical Programming 186, 2021), with even weights r/d for the relaxed design.
    They start from any r features, and stop when a swap gains less than ε/r; this one swaps as long
    as there is a gain, which serves λ better. Their bounds on λ need r to be a multiple of ℓ/ε².
    """
    n_features, n_components = vectors.shape
    rows = vectors * np.sqrt(n_features / n_select)
    rate = np.sqrt(n_components) / epsilon
    inside = np.zeros(n_features, dtype=bool)
    inside[list(start)] = True
    for _ in range(n_select + int(n_select / epsilon)):
        squares, shares = played(rows, rows[inside], rate)
        gains = np.where(inside, -np.inf, squares / (1 + 2 * rate * shares))
        if inside.sum() == n_select:
            rest = 1 - 2 * rate * shares
            free = inside & (rest > 0)
            losses = np.where(free, squares / np.where(free, rest, 1), np.inf)
            if gains.max() <= losses.min():
                break
            inside[np.argmin(losses)] = False
        inside[np.argmax(gains)] = True
    return np.flatnonzero(inside), np.ones(n_select)


def played(rows, chosen, rate):
    """Return vᵀAv and vᵀA½v of all rows, A = (cI + rate·Σvvᵀ)⁻² over the chosen, its trace 1."""
    values, axes = np.linalg.eigh(rate * chosen.T @ chosen)

    def excess(c):
        return np.sum((c + values - values[0]) ** -2.0) - 1

    # The root lies between 1 and √ℓ.
    roots = 1 / (brentq(excess, 0.5, 2 * np.sqrt(len(values))) + values - values[0])
    return ((rows @ axes) ** 2 @ np.column_stack([roots**2, roots])).T
