"""Tables of what was measured: a line for each method, a column for each group and size."""

from collections import defaultdict
from itertools import combinations

import numpy as np
from scipy.stats import wilcoxon

from decide.contenders import METHODS
from decide.tasks import GROUPS

# Groups that are counted together, each at its first size.
_TOGETHER = ("web", "news", "genes", "texts")
_MIN_TASKS = 6


def tables(records, rivals):
    """Yield Markdown tables."""
    columns = _columns(records)
    noise = {key: found for key, found in columns.items() if key[0] == "noise"}
    errors = {key: found for key, found in columns.items() if key[0] != "noise"}
    if errors:
        yield from _error_tables(errors, rivals)
    if noise:
        yield _table("Share of noise features / Jaccard / seconds", noise, _noise)


def _error_tables(columns, rivals):
    together = columns | _together(columns)
    title = "Test errors in percent: plain / C fixed / C tuned ± standard error"
    yield _table(title, together, _error)
    for rival in rivals:
        for key in ("fixed", "tuned"):
            title = f"C {key}, against {rival}: mean difference (wins–losses, p)"
            yield _table(title, together, _duel, rival, key)
    yield _table("Jaccard / κ / growth / number of features / seconds", columns, _properties)


def _columns(records):
    """Return by group and size, then by method, what was measured in each fold."""
    found = defaultdict(lambda: defaultdict(dict))
    for record in records:
        place = record["group"], record["task"], record["repeat"], record["fold"]
        found[record["group"], record["r"]][record["method"]][place] = record
    return {(g, r): found[g, r] for g in GROUPS for r in GROUPS[g].sizes if (g, r) in found}


def _together(columns):
    """Return a column for several groups, with the methods that all of them have."""
    keys = [(name, GROUPS[name].sizes[0]) for name in _TOGETHER]
    parts = [columns[key] for key in keys if key in columns]
    if len(parts) < 2:
        return {}
    shared = [name for name in METHODS if all(name in part for part in parts)]
    return {
        ("all", None): {
            name: {place: record for part in parts for place, record in part[name].items()}
            for name in shared
        }
    }


def _table(title, columns, cell, *arguments):
    names = [name for name in METHODS if any(name in found for found in columns.values())]
    header = ["method"]
    for (group, r), found in columns.items():
        n_folds = max(len(folds) for folds in found.values())
        folds = f"{n_folds} fold" + "s" * (n_folds > 1)
        header.append(group if r is None else f"{group}, r = {r} ({folds})")
    rows = [
        [name]
        + [cell(found, name, *arguments) if name in found else "–" for found in columns.values()]
        for name in names
    ]
    lines = [header, ["---"] * len(header), *rows]
    return f"{title}:\n\n" + "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def _error(found, name):
    means = [
        f"{100 * _mean_of_groups(found[name], key):.1f}" for key in ("plain", "fixed", "tuned")
    ]
    tuned = _per_task(found[name], "tuned")
    if len(tuned) < 2 or len({group for group, _ in tuned}) > 1:
        return " / ".join(means)
    spread = np.std(list(tuned.values()), ddof=1) / np.sqrt(len(tuned))
    return " / ".join(means) + f" ± {100 * spread:.1f}"


def _mean_of_groups(folds, key):
    values = defaultdict(list)
    for (group, *_), record in folds.items():
        values[group].append(record[key])
    return np.mean([np.mean(v) for v in values.values()])


def _per_task(folds, key):
    """Return the mean of each task, which its folds are no independent samples of."""
    values = defaultdict(list)
    for (*task, _, _), record in folds.items():
        values[tuple(task)].append(record[key])
    return {task: float(np.mean(v)) for task, v in values.items()}


def _duel(found, name, rival, key):
    """Return mean difference, wins–losses over tasks (or folds of few tasks), and Wilcoxon's p."""
    places = found[name].keys() & found.get(rival, {}).keys()
    if name == rival or not places:
        return "–"
    ours, theirs = ({p: found[side][p] for p in places} for side in (name, rival))
    if len({tuple(task) for *task, _, _ in places}) >= _MIN_TASKS:
        ours, theirs = _per_task(ours, key), _per_task(theirs, key)
    else:
        ours, theirs = ({p: side[p][key] for p in places} for side in (ours, theirs))
    gaps = np.round([ours[p] - theirs[p] for p in sorted(ours)], 9)
    wins, losses = int(np.sum(gaps < 0)), int(np.sum(gaps > 0))
    p = wilcoxon(gaps).pvalue if wins + losses else 1.0
    return f"{100 * np.mean(gaps):+.1f} ({wins}–{losses}, p {p:.2g})"


def _properties(found, name):
    folds = found[name]
    spectrum = [
        _number(np.median(v)) if (v := _values(folds, k)) else "–" for k in ("kappa", "growth")
    ]
    numbers = [f"{np.mean(_values(folds, 'n')):.0f}", _seconds(folds)]
    return " / ".join([_jaccard(folds), *spectrum, *numbers])


def _noise(found, name):
    folds = found[name]
    return f"{np.mean(_values(folds, 'noise')):.2f} / {_jaccard(folds)} / {_seconds(folds)}"


def _jaccard(folds):
    """Return the mean overlap of the choices of two folds of the same repeat."""
    sets = defaultdict(list)
    for (*repeat, _), record in folds.items():
        if "indices" in record:
            sets[tuple(repeat)].append(set(record["indices"]))
    overlaps = [
        len(a & b) / len(a | b) for chosen in sets.values() for a, b in combinations(chosen, 2)
    ]
    return f"{np.mean(overlaps):.2f}" if overlaps else "–"


def _seconds(folds):
    return f"{np.mean(_values(folds, 'seconds')):.2f}"


def _values(folds, key):
    return [record[key] for record in folds.values() if key in record]


def _number(value):
    return f"{value:.2g}" if value < 10 else f"{value:.0f}" if value < 1e4 else f"{value:.0e}"
