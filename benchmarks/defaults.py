"""Measure the orders, shares of trust and scales of BSSSelector on real data, beside others.

Usage: ``python benchmarks/defaults.py run FOLDER RESULTS`` appends to the file RESULTS what it does
not hold yet (one JSON object a line; stop and go on as you like), ``python benchmarks/defaults.py
table RESULTS`` prints it as Markdown tables. The README says what FOLDER holds.
"""

import argparse

from decide.contenders import METHODS
from decide.run import read, run
from decide.table import tables
from decide.tasks import GROUPS


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    runs = commands.add_parser("run")
    runs.add_argument("folder")
    runs.add_argument("results")
    runs.add_argument("--groups", nargs="+", choices=GROUPS, default=list(GROUPS))
    runs.add_argument("--tasks", type=int, help="so many tasks of each group")
    runs.add_argument("--repeats", type=int)
    runs.add_argument("--folds", type=int)
    runs.add_argument("--sizes", nargs="+", type=int)
    runs.add_argument("--only", nargs="+", choices=METHODS, metavar="METHOD")
    runs.add_argument("--jobs", type=int, default=1)
    prints = commands.add_parser("table")
    prints.add_argument("results", nargs="+")
    prints.add_argument("--groups", nargs="+", choices=GROUPS, default=list(GROUPS))
    prints.add_argument("--rivals", nargs="+", default=["RFE", "L1"])
    given = parser.parse_args()
    if given.command == "run":
        which = given.groups, given.tasks, given.repeats, given.folds, given.sizes, given.only
        run(given.folder, given.results, *which, given.jobs)
    else:
        records = [record for path in given.results for record in read(path)]
        records = [record for record in records if record["group"] in given.groups]
        print("\n".join(tables(records, given.rivals)))


if __name__ == "__main__":
    main()
