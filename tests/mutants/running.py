"""Tests in a process of their own, that import the package from some folder."""

import multiprocessing
import os
import sys
import tempfile
from pathlib import Path

from mutants.planting import ROOT

__all__ = ["FAILED", "PASSED", "run_tests"]

# Exit statuses of pytest, and a number that tells them from those of a process that broke down
# before.
_OF_PYTEST = 100
PASSED, FAILED = _OF_PYTEST, _OF_PYTEST + 1
# What tests import beside the package takes longer than most of them, so it is imported once.
_PRELOADED = [
    "numpy",
    "pandas",
    "pytest",
    "scipy.linalg",
    "scipy.optimize",
    "scipy.sparse.linalg",
    "scipy.stats",
    "sklearn.ensemble",
    "sklearn.feature_selection",
    "sklearn.linear_model",
    "sklearn.model_selection",
    "sklearn.svm",
]
_SETTINGS = {
    # Tests that draw examples draw the same ones every time.
    "CI": "1",
    # Several processes run at once: threads of BLAS would only wait for each other.
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}


def run_tests(tests, package, *, seconds):
    """Return the status and the output of tests, up to the first that fails.

    The status is `PASSED`, `FAILED`, or another where they could not be run to the end.

    Parameters
    ----------
    tests : list of str
        Files, or single tests.
    package : Path
        A copy of the package.
    seconds : float or None
        How long they may take; None for any time.
    """
    os.environ.update(_SETTINGS)
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(_PRELOADED)
    with tempfile.NamedTemporaryFile() as output:
        process = context.Process(target=_run, args=(tests, str(package), output.name))
        process.start()
        process.join(seconds)
        process.kill()
        process.join()
        return process.exitcode, Path(output.name).read_text(encoding="utf-8")


def _run(tests, package, output):
    """Run tests, and end the process with their status."""
    with open(output, "w") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    os.chdir(ROOT)
    os.environ.update(_SETTINGS | {"PYTHONPATH": str(Path(package).parent)})
    sys.path.insert(0, str(Path(package).parent))
    # Compiled code would count as current if its source was changed within the same second.
    sys.dont_write_bytecode = True
    import pytest

    import certifeature

    assert Path(certifeature.__file__).parent == Path(package)
    options = ["-q", "--maxfail=1", "--tb=short", "-p", "no:cacheprovider", "-m", "not slow"]
    sys.exit(_OF_PYTEST + int(pytest.main([*options, *tests])))
