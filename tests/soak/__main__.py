"""Run the laws in turn until the time is up: python -m soak --seconds 120."""

import argparse
import itertools
import os
import sys
import time
from collections import Counter, defaultdict

from soak.laws import LAWS
from soak.pool import outcomes
from soak.verdict import KEPT, REFUSED, UNDECIDED, VIOLATED, judge

_SECONDS_PER_CASE = 60
_LONGEST_MESSAGE = 240
_STATUSES = (VIOLATED, REFUSED, UNDECIDED, KEPT)


def main():
    """Return 0 where all laws held, else 1."""
    arguments = _arguments()
    names = [arguments.law] if arguments.law else list(LAWS)
    if arguments.case is not None:
        return _repeat(names[0], arguments.case)
    print(f"{len(names)} laws, {arguments.seconds} seconds, seed {arguments.seed}", flush=True)
    counts = _soak(names, arguments)
    print(f"\n{'law':<34}{'cases':>9}" + "".join(f"{status:>11}" for status in _STATUSES))
    for name in names:
        count = counts[name]
        figures = "".join(f"{count[status]:>11}" for status in _STATUSES)
        print(f"{name:<34}{count.total():>9}{figures}")
    return int(any(count[VIOLATED] for count in counts.values()))


def _arguments():
    parser = argparse.ArgumentParser(prog="soak", description=__doc__)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--seed", type=int, help="of the first case of every law")
    parser.add_argument("--law", choices=sorted(LAWS), help="run only this one")
    parser.add_argument("--case", type=int, help="repeat this case of the law")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    if arguments.case is not None and arguments.law is None:
        parser.error("--case repeats a case of a law; name it with --law")
    if arguments.seed is None:
        arguments.seed = time.time_ns() // 1000 % 10**9
    return arguments


def _soak(names, arguments):
    """Return how often each law ended how; violations are printed as they come."""
    counts = defaultdict(Counter)
    deadline = time.monotonic() + arguments.seconds
    spent = dict.fromkeys(names, 0.0)
    cases = _fair_turns(spent, arguments.seed)
    for outcome in outcomes(cases, arguments.processes, _SECONDS_PER_CASE, deadline):
        counts[outcome.law][outcome.status] += 1
        spent[outcome.law] += outcome.seconds
        if outcome.status == VIOLATED:
            message = outcome.message[:_LONGEST_MESSAGE]
            print(f"--law {outcome.law} --case {outcome.case}: {message}", flush=True)
    return counts


def _fair_turns(spent, seed):
    """Yield a law and a case: always of the law that had the least time so far."""
    cases = {name: itertools.count(seed) for name in spent}
    while True:
        name = min(spent, key=spent.get)
        # So that other processes take another law meanwhile.
        spent[name] += 1e-3
        yield name, next(cases[name])


def _repeat(name, case):
    outcome = judge(name, LAWS[name], case)
    print(f"{name}, case {case}: {outcome.status} {outcome.message}")
    return int(outcome.status == VIOLATED)


if __name__ == "__main__":
    sys.exit(main())
