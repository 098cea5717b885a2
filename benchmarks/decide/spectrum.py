"""What a choice can cost by its certificate: the spectrum on the support rows."""

import numpy as np
from prototype import common_factor

_MAX_RANK = 2000


def spectrum(prototype, choice):
    """Return κ = Λ/λ and the bound of the objective's growth; nothing where the rank is large."""
    basis = prototype.basis()
    if basis is None or basis.n_components > _MAX_RANK:
        return {}
    scales = choice.scales
    if not np.ptp(scales):
        scales = np.full(len(scales), common_factor(prototype.X, choice.indices))
    rows = basis.vectors[choice.indices] * scales[:, None]
    M = rows.T @ rows
    eigenvalues = np.linalg.eigvalsh(M)
    lowest = eigenvalues[0] if eigenvalues[0] > 1e-12 * eigenvalues[-1] else 0.0
    sigma = basis.singular_values
    damping = sigma / np.sqrt(sigma**2 + 1 / (2 * prototype.C))
    soft = damping[:, None] * M * damping
    soft[np.diag_indices_from(soft)] += 1 - damping**2
    return {
        "kappa": float(eigenvalues[-1] / lowest) if lowest else np.inf,
        "growth": float(1 / min(1.0, np.linalg.eigvalsh(soft)[0])),
        "rank": basis.n_components,
    }
