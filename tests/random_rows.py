"""Random sparse data that every version of SciPy makes alike."""

import numpy as np
from scipy import sparse


def random_rows(shape, density, rng):
    """Return a CSR array with indices of 32 bits: old SciPy takes 64, which LIBLINEAR refuses."""
    X = sparse.random_array(shape, density=density, random_state=rng, format="csr")
    return sparse.csr_array(
        (X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=shape
    )
