"""Tables of what was measured: a line for each size and method, a column for each group."""

from collections import defaultdict
from itertools import combinations

import numpy as np

from decide.methods import METHODS
from decide.model import FIXED, GRID
from decide.tasks import GROUPS

# Sizes and groups of the summary.
SUMMARY = ((100, "genes"), (300, "web"), (300, "news"), (300, "texts"), (100, "noise"))
# Differences of so many standard errors are ties.
_TIE = 2


def tables(records, only, reference):
    """Yield Markdown tables: errors, differences of the reference to the others, and the rest."""
    found = _by_size(records, only)
    errors = {r: {g: m for g, m in found[r].items() if g != "noise"} for r in found}
    noise = {r: {"noise": found[r]["noise"]} for r in found if "noise" in found[r]}
    if any(errors.values()):
        together = {r: g | {"all": _pooled(g)} if len(g) > 1 else g for r, g in errors.items()}
        yield _table("Error in percent", together, _error)
        title = f"Error of {reference} minus that of others, ± standard error, wins–losses"
        yield _table(title, together, _difference, reference)
        yield _table("Jaccard index", errors, lambda methods, name: _jaccard(methods[name]))
        yield _table("CPU seconds", errors, _seconds)
        yield _table("Columns chosen", errors, _n_columns)
        yield _table("Growth", errors, lambda methods, name: _growth(methods[name]))
        yield _errors_by_c(errors)
    if noise:
        yield _table("Share of noise", noise, _share_of_noise)


def summary(records, only, reference):
    """Return one Markdown table, with a size for each group, that marks ties with the reference."""
    found = _by_size(records, only)
    columns = {f"{r} {group}": found.get(r, {}).get(group, {}) for r, group in SUMMARY}
    names = [name for name in METHODS if any(name in methods for methods in columns.values())]
    lines = [["*tasks, folds*", *map(_counts, columns.values())]]
    for name in names:
        cells = [_summary(m, name, reference) if m.get(name) else "–" for m in columns.values()]
        lines.append([name, *cells])
    title = f"Error in percent (=: tie with {reference}, within {_TIE} standard errors); noise"
    return _markdown(title, ["method", *columns], lines)


def _summary(methods, name, reference):
    if "noise" in next(iter(methods[name].values())):
        return _share_of_noise(methods, name)
    tie = name != reference and reference in methods and _is_tie(_gaps(methods, name, reference))
    return _error(methods, name) + " =" * tie


def _is_tie(gaps):
    return len(gaps) > 1 and bool(abs(np.mean(gaps)) <= _TIE * _standard_error(gaps))


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
                if set(cells) != {"–"}:
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


def _error(methods, name):
    return f"{np.mean(_per_task(methods[name], _tuned)):.1f}"


def _mean_error(folds, c):
    return np.mean(_per_task(folds, lambda record: 100 * record["errors"][f"{c:g}"]))


def _difference(methods, name, reference):
    """Return the mean difference over tasks, its standard error, and wins and losses."""
    if name == reference or reference not in methods:
        return "–"
    gaps = _gaps(methods, name, reference)
    mean = f"{np.mean(gaps):+.1f}"
    if len(gaps) > 1:
        mean += f" ± {_standard_error(gaps):.1f}"
    return f"{mean}, {np.sum(gaps < 0)}–{np.sum(gaps > 0)}"


def _gaps(methods, name, reference):
    """Return the error of the reference minus that of a method, for each task."""
    return np.round(_per_task(methods[reference], _tuned) - _per_task(methods[name], _tuned), 9)


def _standard_error(gaps):
    return np.std(gaps, ddof=1) / np.sqrt(len(gaps))


def _seconds(methods, name):
    return f"{np.mean([record['seconds'] for record in methods[name].values()]):.2f}"


def _n_columns(methods, name):
    sizes = [len(record["chosen"]) for record in methods[name].values() if "chosen" in record]
    return f"{np.mean(sizes):.0f}" if sizes else "–"


def _growth(folds):
    growths = [record["growth"] for record in folds.values() if record["growth"] is not None]
    return f"{np.median(growths):.3g}" if growths else "–"


def _share_of_noise(methods, name):
    return f"{np.mean(_per_task(methods[name], lambda record: record['noise'])):.2f}"


def _jaccard(folds):
    """Return the mean overlap of the choices of two folds of the same task."""
    sets = defaultdict(list)
    for (group, task, _), record in folds.items():
        if "chosen" in record:
            sets[group, task].append(set(record["chosen"]))
    overlaps = [len(a & b) / len(a | b) for v in sets.values() for a, b in combinations(v, 2)]
    return f"{np.mean(overlaps):.2f}" if overlaps else "–"
