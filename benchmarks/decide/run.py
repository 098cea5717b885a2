"""Measure every method on every fold, and write down each result as soon as it is there."""

import json
import sys
import warnings
from itertools import product
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from decide.contenders import METHODS, Contenders
from decide.errors import N_INNER, errors, inner_folds
from decide.spectrum import spectrum
from decide.tasks import GROUPS, fold_of, task_names

_KEY = ("group", "task", "repeat", "fold", "method", "r")


def read(path):
    """Return the results so far; a last line that was cut off is not there."""
    if not Path(path).exists():
        return []
    lines = Path(path).read_text(encoding="utf-8").splitlines(keepends=True)
    return [json.loads(line) for line in lines if line.endswith("\n")]


def run(folder, path, groups, n_tasks, n_repeats, n_folds, sizes, only, n_jobs):
    """Append what is missing to the results file."""
    done = {tuple(record[k] for k in _KEY) for record in read(path)}
    units = []
    for name in groups:
        group = GROUPS[name]
        tasks = task_names(folder, name)
        tasks = tasks[:: max(1, len(tasks) // n_tasks)][:n_tasks] if n_tasks else tasks
        repeats = range(min(group.n_repeats, n_repeats or group.n_repeats))
        folds = range(min(group.n_folds, n_folds or group.n_folds))
        units += [(name, t, i, j) for i, j, t in product(repeats, folds, tasks)]
    print(f"{len(units)} folds", file=sys.stderr, flush=True)
    work = (delayed(_measure)(folder, unit, done, sizes, only) for unit in units)
    results = Parallel(n_jobs, return_as="generator_unordered")(work)
    for number, records in enumerate(results, 1):
        with open(path, "a", encoding="utf-8") as file:
            file.writelines(json.dumps(record) + "\n" for record in records)
        print(f"{number} of {len(units)}", file=sys.stderr, flush=True)


def _measure(folder, unit, done, sizes, only):
    warnings.simplefilter("ignore")  # LIBLINEAR's convergence, the same for every method.
    sizes = [r for r in GROUPS[unit[0]].sizes if not sizes or r in sizes]
    methods = [m for m in METHODS if not only or m in only]
    missing = [(m, r) for r in sizes for m in methods if (*unit, m, r) not in done]
    if not missing:
        return []
    with threadpool_limits(1):
        fold = Fold(folder, unit, sizes)
        return [
            dict(zip(_KEY, (*unit, *choice), strict=True)) | fold.record(*choice)
            for choice in missing
        ]


class Fold:
    """All that is measured on one fold."""

    def __init__(self, folder, unit, sizes):
        self._name, *_, self._number = unit
        self._group = GROUPS[self._name]
        self._data = X, y, *_ = fold_of(folder, *unit)
        parts = [slice(None)]
        if self._group.nested:
            parts += [train for train, _ in inner_folds(y)]
        self._outer, *self._inner = (
            Contenders(X[rows], y[rows], self._group.C, sizes) for rows in parts
        )

    def record(self, method, r):
        choice = self._outer.choose(method, r)
        record = {"n": len(choice.indices), "seconds": choice.seconds}
        if method != "full":
            record["indices"] = choice.indices.tolist()
        if self._name == "noise":
            n_real = self._data[0].shape[1] // 2
            return record | {"noise": float(np.mean(choice.indices >= n_real))}
        if method != "full" and (self._name != "texts" or self._number == 0):
            record |= spectrum(self._outer.fits, choice, self._data[0])
        inner = [part.choose(method, r) for part in self._inner] or [choice] * N_INNER
        return record | errors(choice, inner, self._data, self._group)
