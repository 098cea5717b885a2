"""Tables of what was measured."""

from collections import defaultdict
from itertools import combinations

import numpy as np
from scipy.stats import wilcoxon

from decide.tasks import GROUPS

# Mean errors over all of these, at the first size of each.
_TOGETHER = ("web", "news", "genes", "texts")


def tables(records, rivals):
    """Yield a Markdown table for each group and size, and one of mean errors over groups."""
    groups = defaultdict(lambda: defaultdict(dict))
    for record in records:
        place = record["task"], record["repeat"], record["fold"]
        groups[record["group"], record["r"]][record["method"]][place] = record
    for (group, r), by_method in groups.items():
        rows = _noise_rows(by_method) if group == "noise" else _error_rows(by_method, rivals)
        yield f"### {group}, r = {r}\n\n" + _markdown(rows)
    together = [(group, GROUPS[group].sizes[0]) for group in _TOGETHER]
    together = {key[0]: groups[key] for key in together if key in groups}
    if len(together) > 1:
        yield "### over groups\n\n" + _markdown(_rows_over_groups(together, rivals))


def _markdown(rows):
    lines = [rows[0], ["---"] * len(rows[0]), *rows[1:]]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def _noise_rows(by_method):
    return [["method", "folds", "noise", "Jaccard", "s"]] + [
        [name, str(len(f)), _mean(f, "noise", 1), _number(_jaccard(f)), _mean(f, "seconds", 1)]
        for name, f in by_method.items()
        if name != "full"
    ]


def _error_rows(by_method, rivals):
    header = ["method", "folds", "plain", "C fixed", "C tuned", "± tasks"]
    header += [f"{key} against {rival}" for key in ("fixed", "tuned") for rival in rivals]
    header += ["Jaccard", "κ", "growth", "n", "s"]
    return [header, *(_row(name, found, by_method, rivals) for name, found in by_method.items())]


def _row(name, found, by_method, rivals):
    tuned = _per_task(found, "tuned")
    spread = np.std(list(tuned.values()), ddof=1) / np.sqrt(len(tuned)) if len(tuned) > 1 else 0
    return [
        name,
        str(len(found)),
        _mean(found, "plain", 100),
        _mean(found, "fixed", 100),
        _mean(found, "tuned", 100),
        f"{100 * spread:.1f}",
        *_duels(name, found, by_method, rivals),
        _number(_jaccard(found)),
        _median(found, "kappa"),
        _median(found, "growth"),
        _mean(found, "n", 1, 0),
        _mean(found, "seconds", 1),
    ]


def _rows_over_groups(groups, rivals):
    """Return means over the groups' means, and comparisons over all tasks."""
    header = ["method"]
    header += [f"C {key}" for key in ("fixed", "tuned")]
    header += [f"{key} against {rival}" for key in ("fixed", "tuned") for rival in rivals]
    names = [n for n in next(iter(groups.values())) if all(n in g for g in groups.values())]
    pooled = {
        name: {
            (f"{group} {task}", *rest): record
            for group, by_method in groups.items()
            for (task, *rest), record in by_method[name].items()
        }
        for name in names
    }
    rows = []
    for name in names:
        means = [
            100 * np.mean([np.mean(_values(g[name], key)) for g in groups.values()])
            for key in ("fixed", "tuned")
        ]
        duels = _duels(name, pooled[name], pooled, rivals)
        rows.append([name, *(f"{mean:.2f}" for mean in means), *duels])
    return [header, *rows]


def _duels(name, found, by_method, rivals):
    return [
        "–" if name == rival else _duel(found, by_method.get(rival, {}), key)
        for key in ("fixed", "tuned")
        for rival in rivals
    ]


def _per_task(found, key):
    """Return the mean of each task, which its folds are no independent samples of."""
    values = defaultdict(list)
    for (task, *_), record in found.items():
        values[task].append(record[key])
    return {task: float(np.mean(v)) for task, v in values.items()}


def _duel(found, rival, key):
    """Return mean difference, wins–losses over tasks (or folds of few tasks), and Wilcoxon's p."""
    places = found.keys() & rival.keys()
    if not places:
        return "–"
    ours, theirs = ({p: side[p] for p in places} for side in (found, rival))
    if len({task for task, *_ in places}) >= 6:
        ours, theirs = _per_task(ours, key), _per_task(theirs, key)
    else:
        ours, theirs = ({p: side[p][key] for p in places} for side in (ours, theirs))
    gaps = np.round([ours[p] - theirs[p] for p in sorted(ours)], 9)
    wins, losses = int(np.sum(gaps < 0)), int(np.sum(gaps > 0))
    p = wilcoxon(gaps).pvalue if wins + losses else 1.0
    return f"{100 * np.mean(gaps):+.1f} ({wins}–{losses}, p {p:.2g})"


def _jaccard(found):
    """Return the mean overlap of the choices of two folds of the same repeat."""
    sets = defaultdict(list)
    for (task, repeat, _), record in found.items():
        if "indices" in record:
            sets[task, repeat].append(set(record["indices"]))
    overlaps = [
        len(a & b) / len(a | b) for chosen in sets.values() for a, b in combinations(chosen, 2)
    ]
    return float(np.mean(overlaps)) if overlaps else None


def _values(found, key):
    return [record[key] for record in found.values() if record.get(key) is not None]


def _mean(found, key, unit, digits=2):
    values = _values(found, key)
    return f"{unit * np.mean(values):.{digits}f}" if values else "–"


def _median(found, key):
    return _number(float(np.median(_values(found, key))) if _values(found, key) else None)


def _number(value):
    return "–" if value is None else f"{value:.3g}"
