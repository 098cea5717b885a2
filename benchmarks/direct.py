"""Algorithm 1 as the paper writes it, to be measured against: O(r(dℓ² + ℓ³))."""

import numpy as np


def direct_bss(vectors, n_select, priority=None, coverage=None, chosen=(), groups=None):
    """Return features (or groups) and their weights; every step inverts and looks at everything."""
    groups = np.arange(len(vectors)) if groups is None else groups
    norms = np.sqrt(np.bincount(groups, np.sum(vectors**2, axis=1)))
    scores = np.round(norms, 12) if priority is None else priority
    ranking = np.argsort(-scores, kind="stable")
    ranking = ranking[norms[ranking] > 1e-6 * norms.max()]
    walls = np.ones(vectors.shape[1]) if coverage is None else 1 / np.maximum(coverage, 1e-6)
    dimension = np.sum(1 / walls)
    reach, ratio = np.sqrt(n_select * dimension), np.sqrt(dimension / n_select)
    stretch = (1 + ratio) / (1 - ratio)
    eye, A = np.eye(len(walls)), np.zeros((len(walls), len(walls)))
    lower, upper = reach * np.diag(walls), stretch * reach * np.diag(walls)
    taken = np.isin(np.arange(len(norms)), chosen)
    energies = np.zeros(len(norms))
    picks = []
    for step in range(n_select):
        above, below = (np.linalg.inv(lower + A - (step + s) * eye) for s in (1, 0))
        rise = np.trace(above) - np.trace(below)
        after, before = (np.linalg.inv(upper - A + stretch * (step + s) * eye) for s in (1, 0))
        fall = np.trace(before) - np.trace(after)
        low, high = above @ above / rise - above, after @ after / fall + after
        forms = [np.sum(vectors @ form * vectors, axis=1) for form in (low, high)]
        both = np.column_stack([np.bincount(groups, values) for values in forms])
        admissible = ranking[both[ranking, 0] >= both[ranking, 1]]
        # Features of priority −∞ are a last resort, after those that were picked.
        fresh = admissible[~taken[admissible] & (scores[admissible] > -np.inf)]
        again = admissible[taken[admissible]]
        pick = next(group[0] for group in (fresh, again, admissible) if group.size)
        energy = 2 / both[pick].sum()
        if not energies[pick]:
            picks.append(pick)
        taken[pick] = True
        energies[pick] += energy
        members = vectors[groups == pick]
        A += energy * members.T @ members
    weights = np.sqrt(energies[picks] * (1 - ratio) / n_select)
    return np.array(picks), weights
