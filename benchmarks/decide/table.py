"""Tables of what was measured."""

from collections import defaultdict
from itertools import combinations

import numpy as np
from scipy.stats import wilcoxon

_RIVAL = "RFE"


def tables(records, rivals=(_RIVAL,)):
    """Yield a Markdown table for each group and size."""
    groups = defaultdict(list)
    for record in records:
        groups[record["group"], record["r"]].append(record)
    for (group, r), found in groups.items():
        by_method = defaultdict(dict)
        for record in found:
            place = record["task"], record["repeat"], record["fold"]
            by_method[record["method"]][place] = record
        yield f"### {group}, r = {r}\n\n" + _table(by_method, group, rivals)


def _table(by_method, group, rivals):
    if group == "noise":
        header = ["method", "folds", "noise", "Jaccard", "s"]
        rows = [
            [name, str(len(f)), _mean(f, "noise", 1), _number(_jaccard(f)), _mean(f, "seconds", 1)]
            for name, f in by_method.items()
            if name != "full"
        ]
    else:
        against = [f"tuned against {rival}" for rival in rivals]
        header = ["method", "folds", "plain", "C fixed", "C tuned", "± tasks"]
        header += ["fixed against RFE", *against, "Jaccard", "κ", "growth", "n", "s"]
        rows = [_row(name, found, by_method, rivals) for name, found in by_method.items()]
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def _row(name, found, by_method, rivals):
    tuned = _per_task(found, "tuned")
    spread = np.std(list(tuned.values()), ddof=1) / np.sqrt(len(tuned)) if len(tuned) > 1 else 0
    duels = [_duel(found, by_method.get(rival, {}), "tuned") for rival in rivals]
    return [
        name,
        str(len(found)),
        _mean(found, "plain", 100),
        _mean(found, "fixed", 100),
        _mean(found, "tuned", 100),
        f"{100 * spread:.1f}",
        _duel(found, by_method.get(_RIVAL, {}), "fixed"),
        *duels,
        _number(_jaccard(found)),
        _median(found, "kappa"),
        _median(found, "growth"),
        _mean(found, "n", 1, 0),
        _mean(found, "seconds", 1),
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
