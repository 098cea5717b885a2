"""Settings of all tests."""

import os

# Tests run in as many processes as there are cores: threads of BLAS would only wait for each other.
# It reads this when NumPy is imported; programs that a test starts are told too.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    # For the same reason, n_jobs=-1 takes no further processes.
    os.environ.setdefault("LOKY_MAX_CPU_COUNT", "1")

# Doctests of a module see the one that the library uses, not a second copy, if it is there first.
import paper  # noqa: F401
