"""What a choice can cost by its certificate for the support rows."""

import numpy as np


def spectrum(fits, choice, X):
    """Return κ = Λ/λ where the rank is known, and how much the objective can grow at most."""
    certificate = fits.certificate(choice, choice.scales_for(X))
    kept = certificate.regularised.lambda_min
    found = {"growth": 1 / min(1.0, kept) if kept > 0 else np.inf}
    if certificate.rank is not None:
        found |= {"kappa": certificate.condition, "rank": certificate.rank}
    return found
