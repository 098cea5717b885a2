"""Plant each bug in a copy of the package and run its tests: python -m mutants."""

import argparse
import os
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from mutants.bugs import BUGS
from mutants.planting import PACKAGE, copied, plant
from mutants.running import FAILED, PASSED, run_tests

CAUGHT, MISSED, BROKEN = "caught", "MISSED", "BROKEN"
_SECONDS_PER_BUG = 300


def main():
    """Return 0 where the tests noticed every bug, else 1."""
    arguments = _arguments()
    bugs = [bug for bug in BUGS if arguments.bug in bug.name]
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        sound = copied(PACKAGE, Path(folder) / "sound")
        # The tests must pass without a bug, or their failing with one says nothing.
        names = sorted({test for bug in bugs for test in bug.tests.split()})
        status, output = run_tests(names, sound, seconds=None)
        if status != PASSED:
            print(f"{output}\nthe tests fail without a bug; mend them first")
            return 1
        print(f"{len(bugs)} bugs, without which their tests pass", flush=True)
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
            status, output = run_tests(bug.tests.split(), package, seconds=_SECONDS_PER_BUG)
        except ValueError as error:
            status, output = None, str(error)
    outcome = {PASSED: MISSED, FAILED: CAUGHT}.get(status, BROKEN)
    lines = [f"{outcome}  {bug.name}  ({bug.file}, {time.monotonic() - started:.0f} s)"]
    if outcome != CAUGHT:
        lines += [f"    - {bug.before}", f"    + {bug.after}"]
    if outcome == BROKEN:
        lines += [output[-2000:]]
    print("\n".join(lines), flush=True)
    return outcome


if __name__ == "__main__":
    sys.exit(main())
