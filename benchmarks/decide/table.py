"""Tables of what was measured: a line for each size and method, a column for each group."""

from collections import defaultdict
from itertools import combinations

import numpy as np

from decide.methods import METHODS
from decide.model import FIXED, GRID
from decide.tasks import GROUPS

# Sizes and groups of the summary.
SUMMARY = (
    (100, "genes"),
    (100, "web"),
    (300, "web"),
    (300, "news"),
    (300, "texts"),
    (100, "noise"),
)


def tables(records, only, reference, c):
    """Yield Markdown tables: errors, differences of the reference to the others, and the rest."""
    found = _by_size(records, only)
    errors = {r: {g: m for g, m in found[r].items() if g != "noise"} for r in found}
    noise = {r: {"noise": found[r]["noise"]} for r in found if "noise" in found[r]}
    if any(errors.values()):
        together = {r: g | {"all": _pooled(g)} if len(g) > 1 else g for r, g in errors.items()}
        yield _table(f"Error in percent, c tuned / c = {c:g}", together, _error, c)
        title = f"Error of {reference} minus that of others, c tuned, ± standard error, wins–losses"
        yield _table(title, together, _difference, reference)
        yield _table("Jaccard / growth / CPU seconds / columns", errors, _properties)
        yield _errors_by_c(errors)
    if noise:
        yield _table("Share of noise / Jaccard", noise, _noise)


def summary(records, only, reference):
    """Return one Markdown table, with a size for each group."""
    found = _by_size(records, only)
    columns = {f"{r}, {group}": found.get(r, {}).get(group, {}) for r, group in SUMMARY}
    names = [name for name in METHODS if any(name in methods for methods in columns.values())]
    lines = [["*tasks, folds*", *map(_counts, columns.values())]]
    for name in names:
        cells = [_summary(m, name, reference) if m.get(name) else "–" for m in columns.values()]
        lines.append([name, *cells])
    title = f"Error, c tuned (difference of {reference} ± standard error) / Jaccard / growth; noise"
    return _markdown(title, ["method", *columns], lines)


def _summary(methods, name, reference):
    if "noise" in next(iter(methods[name].values())):
        return _noise(methods, name)
    error = f"{np.mean(_per_task(methods[name], _tuned)):.1f}"
    if name != reference and reference in methods:
        error += f" ({_difference(methods, name, reference).partition(',')[0]})"
    return f"{error} / {_jaccard(methods[name])} / {_growth(methods[name])}"


def _by_size(records, only):
    """Return by size, group and method the folds that were measured with all of its methods."""
    found = defaultdict(lambda: defaultdict(lambda: defaultdict(dict)))
    sizes = sorted({record["r"] for record in records if record["r"]})
    for record in records:
        if not only or record["method"] in only:
            for r in [record["r"]] if record["r"] else sizes:
                place = record["group"], record["task"], record["fold"]
                found[r][record["group"]][record["method"]][place] = record
    return {r: {g: _shared(found[r][g]) for g in GROUPS if _sized(found[r][g])} for r in sizes}


def _sized(methods):
    """Tell whether there is anything beside all columns, which have every size."""
    return bool(methods.keys() - {"all columns"})


def _shared(methods):
    """Return the folds that all methods have, without methods that have at most half of them."""
    most = max(len(folds) for folds in methods.values())
    names = [name for name in METHODS if len(methods.get(name, ())) > most / 2]
    places = set.intersection(*(set(methods[name]) for name in names))
    return {name: {p: methods[name][p] for p in places} for name in names}


def _pooled(groups):
    names = [name for name in METHODS if all(name in methods for methods in groups.values())]
    return {
        name: {p: record for methods in groups.values() for p, record in methods[name].items()}
        for name in names
    }


def _errors_by_c(found):
    grid = sorted(GRID + FIXED)
    lines = []
    for r, groups in found.items():
        lines.append([str(r), "*tasks, folds*", _counts(_pooled(groups)), *[""] * (len(grid) - 1)])
        for name, folds in _pooled(groups).items():
            lines.append(["", name, *(f"{_mean_error(folds, c):.1f}" for c in grid)])
    header = ["columns", "method", *(f"c = {c:g}" for c in grid)]
    return _markdown("Error in percent at fixed c, all groups", header, lines)


def _table(title, found, cell, *arguments):
    groups = [group for group in (*GROUPS, "all") if any(group in found[r] for r in found)]
    lines = []
    for r, by_group in found.items():
        counts = [_counts(by_group[group]) if group in by_group else "–" for group in groups]
        lines.append([str(r), "*tasks, folds*", *counts])
        for name in METHODS:
            here = [by_group.get(group, {}) for group in groups]
            if any(name in methods for methods in here):
                cells = [cell(m, name, *arguments) if m.get(name) else "–" for m in here]
                lines.append(["", name, *cells])
    return _markdown(title, ["columns", "method", *groups], lines)


def _markdown(title, header, lines):
    lines = [header, ["---"] * len(header), *lines]
    return f"{title}:\n\n" + "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def _counts(methods):
    places = next(iter(methods.values()), {})
    return f"*{len({task for _, task, _ in places})}, {len(places)}*"


def _per_task(folds, value):
    """Return the mean of each task; its folds are no independent samples."""
    values = defaultdict(list)
    for (group, task, _), record in sorted(folds.items()):
        values[group, task].append(value(record))
    return np.array([np.mean(v) for v in values.values()])


def _tuned(record):
    return 100 * record["tuned"]


def _error(methods, name, c):
    tuned = np.mean(_per_task(methods[name], _tuned))
    return f"{tuned:.1f} / {_mean_error(methods[name], c):.1f}"


def _mean_error(folds, c):
    return np.mean(_per_task(folds, lambda record: 100 * record["errors"][f"{c:g}"]))


def _difference(methods, name, reference):
    """Return the mean difference over tasks, its standard error, and wins and losses."""
    if name == reference or reference not in methods:
        return "–"
    gaps = _per_task(methods[reference], _tuned) - _per_task(methods[name], _tuned)
    gaps = np.round(gaps, 9)
    mean = f"{np.mean(gaps):+.1f}"
    if len(gaps) > 1:
        mean += f" ± {np.std(gaps, ddof=1) / np.sqrt(len(gaps)):.1f}"
    return f"{mean}, {np.sum(gaps < 0)}–{np.sum(gaps > 0)}"


def _properties(methods, name):
    folds = methods[name]
    seconds = np.mean([record["seconds"] for record in folds.values()])
    sizes = [len(record["chosen"]) for record in folds.values() if "chosen" in record]
    size = f"{np.mean(sizes):.0f}" if sizes else "all"
    return f"{_jaccard(folds)} / {_growth(folds)} / {seconds:.2f} / {size}"


def _growth(folds):
    growths = [record["growth"] for record in folds.values() if record["growth"] is not None]
    return f"{np.median(growths):.3g}" if growths else "–"


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
