"""Measure every method on every fold, and write down each result as soon as it is there."""

import json
import sys
import warnings
from itertools import product
from pathlib import Path

import numpy as np
from decide.contenders import Contenders
from decide.errors import errors
from decide.spectrum import spectrum
from decide.tasks import GROUPS, fold_of, task_names
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

_KEY = ("group", "task", "repeat", "fold", "method", "r")


def read(path):
    """Return the results so far; a last line that was cut off is not there."""
    if not Path(path).exists():
        return []
    lines = Path(path).read_text(encoding="utf-8").splitlines(keepends=True)
    return [json.loads(line) for line in lines if line.endswith("\n")]


def run(folder, path, groups, n_tasks, n_repeats, only, selection, n_jobs):
    """Append what is missing to the results file."""
    done = {tuple(record[k] for k in _KEY) for record in read(path)}
    units = []
    for name in groups:
        group = GROUPS[name]
        tasks = task_names(folder, name)
        tasks = tasks[:: max(1, len(tasks) // n_tasks)][:n_tasks] if n_tasks else tasks
        repeats = range(min(group.n_repeats, n_repeats or group.n_repeats))
        units += [(name, t, i, j) for i, j, t in product(repeats, range(group.n_folds), tasks)]
    print(f"{len(units)} folds", file=sys.stderr, flush=True)
    work = (delayed(_measure)(folder, unit, done, only, selection) for unit in units)
    results = Parallel(n_jobs, return_as="generator_unordered")(work)
    for number, records in enumerate(results, 1):
        with open(path, "a", encoding="utf-8") as file:
            file.writelines(json.dumps(record) + "\n" for record in records)
        print(f"{number} of {len(units)}", file=sys.stderr, flush=True)


def _measure(folder, unit, done, only, selection):
    warnings.simplefilter("ignore")  # LIBLINEAR's convergence, the same for every method.
    name, task, repeat, fold = unit
    group = GROUPS[name]
    data = contenders = None
    records = []
    with threadpool_limits(1):
        for r in group.sizes:
            names = Contenders.all_names(selection)
            for method in (m for m in names if not only or m in only):
                key = (*unit, method, r)
                if key in done:
                    continue
                if data is None:
                    data = fold_of(folder, *unit)
                    contenders = Contenders(*data[:2], group.C, group.sizes, selection)
                records.append(dict(zip(_KEY, key, strict=True)) | _record(
                    contenders, method, r, data, name, fold
                ))
    return records


def _record(contenders, method, r, data, name, fold):
    choice = contenders.choose(method, r)
    record = {"n": len(choice.indices), "seconds": choice.seconds}
    if method != "full":
        record["indices"] = choice.indices.tolist()
    if name == "noise":
        return record | {"noise": float(np.mean(choice.indices >= data[0].shape[1] // 2))}
    if method != "full" and (name != "texts" or fold == 0):
        record |= spectrum(contenders.prototype, choice)
    return record | errors(choice, data, GROUPS[name])
