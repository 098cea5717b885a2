"""Algorithm 1 as the paper writes it, to be measured against: O(r(dℓ² + ℓ³))."""

import numpy as np


def direct_bss(vectors, n_select, priority=None):
    """Return indices and weights; every step decomposes A and looks at all the features."""
    norms = np.linalg.norm(vectors, axis=1)
    scores = np.round(norms, 12) if priority is None else priority
    ranking = np.argsort(-scores, kind="stable")
    ranking = ranking[norms[ranking] > 1e-6 * norms.max()]
    n_components = vectors.shape[1]
    reach, ratio = np.sqrt(n_select * n_components), np.sqrt(n_components / n_select)
    stretch = (1 + ratio) / (1 - ratio)
    A = np.zeros((n_components, n_components))
    energies = np.zeros(len(vectors))
    picks = []
    for step in range(n_select):
        lower, upper = step - reach, stretch * (step + reach)
        values, axes = np.linalg.eigh(A)
        above, below = values - lower - 1, upper + stretch - values
        rise = np.sum(1 / above) - np.sum(1 / (values - lower))
        fall = np.sum(1 / (upper - values)) - np.sum(1 / below)
        low, high = above**-2 / rise - 1 / above, below**-2 / fall + 1 / below
        both = (vectors @ axes) ** 2 @ np.column_stack([low, high])
        admissible = ranking[both[ranking, 0] >= both[ranking, 1]]
        fresh = admissible[energies[admissible] == 0]
        pick = fresh[0] if fresh.size else admissible[0]
        energy = 2 / both[pick].sum()
        if not energies[pick]:
            picks.append(pick)
        energies[pick] += energy
        A += energy * np.outer(vectors[pick], vectors[pick])
    weights = np.sqrt(energies[picks] * (1 - ratio) / n_select)
    return np.array(picks), weights
