"""Tables of what was measured: a line for each method, a column for each group of tasks."""

from collections import defaultdict
from itertools import combinations

import numpy as np

from decide.methods import METHODS
from decide.tasks import GROUPS


def tables(records, only, rivals, c):
    """Yield Markdown tables: errors, differences to rivals, and what else was measured, by size."""
    by_size = defaultdict(lambda: defaultdict(lambda: defaultdict(dict)))
    sizes = sorted({record["r"] for record in records if record["r"]})
    for record in records:
        if not only or record["method"] in only:
            for r in [record["r"]] if record["r"] else sizes:
                place = record["group"], record["task"], record["fold"]
                by_size[r][record["group"]][record["method"]][place] = record
    for r in sizes:
        groups = {name: _shared(by_size[r][name]) for name in GROUPS if name in by_size[r]}
        noise = groups.pop("noise", None)
        if groups:
            yield from _size_tables(r, groups, rivals, c)
        if noise:
            yield _table(f"{r} columns: share of noise / Jaccard", {"noise": noise}, _noise)


def _size_tables(r, groups, rivals, c):
    together = groups | ({"all": _pooled(groups)} if len(groups) > 1 else {})
    title = f"{r} columns: error in percent, c tuned / c = {c}"
    yield _table(title, together, _error, c)
    for rival in rivals:
        if any(rival in methods for methods in groups.values()):
            title = (
                f"{r} columns: error minus that of {rival}, c tuned, ± standard error, wins–losses"
            )
            yield _table(title, together, _difference, rival)
    yield _table(f"{r} columns: Jaccard / growth / CPU seconds / columns", groups, _properties)


def _shared(methods):
    """Return the records of folds that were measured with all methods."""
    places = set.intersection(*(set(folds) for folds in methods.values()))
    return {name: {p: methods[name][p] for p in places} for name in METHODS if name in methods}


def _pooled(groups):
    names = [name for name in METHODS if all(name in methods for methods in groups.values())]
    return {
        name: {p: record for methods in groups.values() for p, record in methods[name].items()}
        for name in names
    }


def _table(title, groups, cell, *arguments):
    names = [name for name in METHODS if any(name in methods for methods in groups.values())]
    header = ["method"]
    for group, methods in groups.items():
        places = next(iter(methods.values()))
        n_tasks = len({task for _, task, _ in places})
        header.append(f"{group} ({n_tasks} tasks, {len(places)} folds)")
    lines = [header, ["---"] * len(header)]
    for name in names:
        cells = [cell(m, name, *arguments) if m.get(name) else "–" for m in groups.values()]
        lines.append([name, *cells])
    return f"{title}:\n\n" + "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def _per_task(folds, value):
    """Return the mean of each task; its folds are no independent samples."""
    values = defaultdict(list)
    for (group, task, _), record in sorted(folds.items()):
        values[group, task].append(value(record))
    return np.array([np.mean(v) for v in values.values()])


def _tuned(record):
    return 100 * record["tuned"]


def _error(methods, name, c):
    fixed = _per_task(methods[name], lambda record: 100 * record["errors"][str(c)])
    return f"{np.mean(_per_task(methods[name], _tuned)):.1f} / {np.mean(fixed):.1f}"


def _difference(methods, name, rival):
    """Return the mean difference over tasks, its standard error, and wins and losses."""
    if name == rival or rival not in methods:
        return "–"
    gaps = _per_task(methods[name], _tuned) - _per_task(methods[rival], _tuned)
    gaps = np.round(gaps, 9)
    error = np.std(gaps, ddof=1) / np.sqrt(len(gaps)) if len(gaps) > 1 else np.nan
    return f"{np.mean(gaps):+.1f} ± {error:.1f}, {np.sum(gaps < 0)}–{np.sum(gaps > 0)}"


def _properties(methods, name):
    folds = methods[name]
    growths = [record["growth"] for record in folds.values() if record["growth"] is not None]
    growth = f"{np.median(growths):.3g}" if growths else "–"
    seconds = np.mean([record["seconds"] for record in folds.values()])
    sizes = [len(record["chosen"]) for record in folds.values() if "chosen" in record]
    size = f"{np.mean(sizes):.0f}" if sizes else "all"
    return f"{_jaccard(folds)} / {growth} / {seconds:.2f} / {size}"


def _noise(methods, name):
    noise = np.mean(_per_task(methods[name], lambda record: record["noise"]))
    return f"{noise:.2f} / {_jaccard(methods[name])}"


def _jaccard(folds):
    """Return the mean overlap of the choices of two folds of the same task."""
    sets = defaultdict(list)
    for (group, task, _), record in folds.items():
        if "chosen" in record:
            sets[group, task].append(set(record["chosen"]))
    overlaps = [len(a & b) / len(a | b) for v in sets.values() for a, b in combinations(v, 2)]
    return f"{np.mean(overlaps):.2f}" if overlaps else "–"
