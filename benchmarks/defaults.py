"""Measure BSSSelector with several models, rankings and shares of trust beside other methods.

Usage: ``python benchmarks/defaults.py run FOLDER RESULTS`` appends to the file RESULTS what it does
not hold yet (one JSON object a line; it can be stopped and resumed). ``python
benchmarks/defaults.py table RESULTS`` prints Markdown tables. The README says what FOLDER holds.
"""

import argparse
import json
import sys
import warnings
from itertools import product
from pathlib import Path

import numpy as np
from decide.methods import METHODS, Methods, sizes_of
from decide.model import errors
from decide.table import summary, tables
from decide.tasks import GROUPS, N_FOLDS, fold_of, task_names
from threadpoolctl import threadpool_limits

SIZES = (50, 100, 300)
_KEY = ("group", "task", "fold", "method", "r")


def read(path):
    """Return the records of a file, without a last line that was cut off."""
    whole, _, _ = Path(path).read_text(encoding="utf-8").rpartition("\n")
    return [json.loads(line) for line in whole.splitlines()]


def run(folder, path, groups, n_tasks, n_folds, sizes, methods):
    """Append what is missing to the results."""
    records = read(path) if Path(path).exists() else []
    done = {tuple(record[key] for key in _KEY) for record in records}
    # Written again, since a last line may have been cut off.
    Path(path).write_text("".join(map(_line, records)), encoding="utf-8")
    for fold, group in product(range(n_folds), groups):
        names = task_names(folder, group)
        some = np.linspace(0, len(names) - 1, min(n_tasks or len(names), len(names))).astype(int)
        for task in (names[i] for i in some):
            wanted = [(group, task, fold, m, r) for m in methods for r in sizes_of(m, sizes)]
            missing = [key for key in wanted if key not in done]
            if missing:
                print(group, task, fold, len(missing), file=sys.stderr, flush=True)
                with open(path, "a", encoding="utf-8") as file:
                    for record in measured(folder, missing, sizes):
                        file.write(_line(record))
                        file.flush()


def _line(record):
    return json.dumps(record) + "\n"


def measured(folder, keys, sizes):
    """Yield a record for each of the keys, which differ in method and size only."""
    group, task, fold, *_ = keys[0]
    X, y, X_test, y_test = fold_of(folder, group, task, fold)
    methods = Methods(X, y, sizes)
    for key in keys:
        *_, method, r = key
        chosen, seconds, growth = methods.choose(method, r)
        record = dict(zip(_KEY, key, strict=True)) | {"seconds": seconds, "growth": growth}
        if method != "all columns":
            record["chosen"] = chosen.tolist()
        if group == "noise":
            record["noise"] = float(np.mean(chosen >= X.shape[1] // 2))
        else:
            columns = np.sort(chosen)
            record |= errors(X[:, columns], y, X_test[:, columns], y_test)
        yield record


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    runs = commands.add_parser("run")
    runs.add_argument("folder")
    runs.add_argument("results")
    runs.add_argument("--groups", nargs="+", choices=GROUPS, default=list(GROUPS))
    runs.add_argument("--tasks", type=int, help="so many tasks of each group")
    runs.add_argument("--folds", type=int, default=N_FOLDS)
    runs.add_argument("--sizes", nargs="+", type=int, default=list(SIZES))
    runs.add_argument("--only", nargs="+", choices=METHODS, metavar="METHOD", default=METHODS)
    prints = commands.add_parser("table")
    prints.add_argument("results", nargs="+")
    prints.add_argument("--only", nargs="+", choices=METHODS, metavar="METHOD")
    prints.add_argument("--reference", choices=METHODS, metavar="METHOD", default="default")
    prints.add_argument("--summary", action="store_true", help="one table, a size for each group")
    given = parser.parse_args()
    if given.command == "run":
        which = given.groups, given.tasks, given.folds, given.sizes, given.only
        warnings.simplefilter("ignore")  # LIBLINEAR's convergence, the same for every method.
        with threadpool_limits(1):
            run(given.folder, given.results, *which)
    else:
        records = [record for path in given.results for record in read(path)]
        if given.summary:
            print(summary(records, given.only, given.reference))
        else:
            print("\n".join(tables(records, given.only, given.reference)))


if __name__ == "__main__":
    main()
