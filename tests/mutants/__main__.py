"""Plant each bug in a copy of the package and run its tests: python -m mutants."""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from mutants.bugs import BUGS
from mutants.planting import PACKAGE, ROOT, copied, plant

CAUGHT, MISSED, BROKEN = "caught", "missed", "BROKEN"
_SECONDS_PER_BUG = 180
# Exit statuses of pytest.
_PASSED, _FAILED = 0, 1


def main():
    """Return 0 where the tests noticed every bug, else 1."""
    arguments = _arguments()
    bugs = [bug for bug in BUGS if arguments.bug in bug.name]
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        sound = copied(PACKAGE, Path(folder) / "sound")
        # The tests must pass without a bug, or their failing with one says nothing.
        names = sorted({test for bug in bugs for test in bug.tests.split()})
        status, output = _run(names, sound, stop_at_first=False)
        if status != _PASSED:
            print(output)
            print("tests fail in the package as it is; mend them first")
            return 1
        print(f"{len(bugs)} bugs; their tests pass without them", flush=True)
        with ThreadPoolExecutor(arguments.processes) as pool:
            outcomes = list(pool.map(lambda bug: _outcome(bug, sound), bugs))
    n_caught = outcomes.count(CAUGHT)
    minutes = (time.monotonic() - started) / 60
    print(f"\n{n_caught} caught, {len(bugs) - n_caught} missed, in {minutes:.1f} minutes")
    return int(n_caught < len(bugs))


def _arguments():
    parser = argparse.ArgumentParser(prog="mutants", description=__doc__)
    parser.add_argument("--bug", default="", help="plant only those with this in their name")
    parser.add_argument("--processes", type=int, default=min(2, os.cpu_count() or 1))
    return parser.parse_args()


def _outcome(bug, sound):
    """Return whether the tests of a bug notice it, and print so."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
        package = copied(sound, Path(folder))
        try:
            plant(bug, package)
            status, output = _run(bug.tests.split(), package, stop_at_first=True)
        except (ValueError, subprocess.TimeoutExpired) as error:
            status, output = None, str(error)
    outcome = {_PASSED: MISSED, _FAILED: CAUGHT}.get(status, BROKEN)
    seconds = time.monotonic() - started
    lines = [f"{outcome}  {bug.name}  ({bug.file}, {seconds:.0f} s)"]
    if outcome != CAUGHT:
        lines += [f"    {bug.before}\n    {bug.after}"]
    if outcome == BROKEN:
        lines += [output[-2000:]]
    print("\n".join(lines), flush=True)
    return outcome


def _run(tests, package, *, stop_at_first):
    """Return the exit status and the output of tests that import the package in some folder."""
    settings = {
        # Tests that draw examples draw the same ones every time.
        "CI": "1",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "PYTHONPATH": str(package.parent),
        "PYTHONDONTWRITEBYTECODE": "1" if stop_at_first else "",
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    options = ["--maxfail=1", "--tb=no"] if stop_at_first else ["--tb=short"]
    done = subprocess.run(
        [*command, *options, "-m", "not slow", *tests],
        cwd=ROOT,
        env=os.environ | settings,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=_SECONDS_PER_BUG if stop_at_first else None,
        check=False,
    )
    return done.returncode, done.stdout


if __name__ == "__main__":
    sys.exit(main())
