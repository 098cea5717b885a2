"""Put the last run of the benchmark into the docs: its table and two plots.

Usage: ``python benchmarks/plot.py``, after ``make bench``.
"""

import json
import shutil
from pathlib import Path

import matplotlib.pyplot as plt
from cases.task import ALL_FEATURES

RESULTS = Path(__file__).parent / "results"
DOCS = Path(__file__).parent.parent / "docs" / "benchmark"
# Okabe and Ito's, which colour-blind readers can tell apart, and two more.
COLORS = [
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#e69f00",
    "#56b4e9",
    "#000000",
    "#999999",
    "#7f3c8d",
    "#6b4c11",
]
OURS, THEIRS = COLORS[0], "#999999"


def main():
    record = json.loads((RESULTS / "bench.json").read_text())
    cases = {case["key"]: case for case in record["cases"]}
    DOCS.mkdir(exist_ok=True)
    shutil.copy(RESULTS / "bench.md", DOCS / "table.md")
    plt.rcParams |= {"svg.hashsalt": "certifeature", "font.size": 9}
    for key in ("rcv1", "pairs"):
        if key in cases:
            save(error_against_time(cases[key]), f"{key}.svg")
    grown = [case for key, case in cases.items() if key.startswith("growth")]
    if grown:
        save(growth(grown), "growth.svg")


def error_against_time(case):
    """Plot the selectors of a case: down and to the left is better."""
    figure, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
    full = case["results"][0]
    selectors = [result for result in case["results"] if result["note"] != ALL_FEATURES]
    for result, color in zip(selectors, COLORS, strict=False):
        ours = result["contender"].startswith(("BSS", "leverage"))
        time, seconds = result["median_s"], result["seconds"]
        ax.errorbar(
            time,
            result["test_error"],
            xerr=[[time - min(seconds)], [max(seconds) - time]],
            fmt="o" if ours else "s",
            color=color,
            label=result["contender"],
        )
    ax.axhline(full["test_error"], color="black", linestyle="--", label="all features")
    ax.set(xscale="log", xlabel="CPU seconds of the selection", ylabel="test error")
    ax.set_title(case["name"])
    figure.legend(loc="outside right center", frameon=False)
    return figure


def growth(cases):
    """Plot time and memory against the number of columns."""
    figure, axes = plt.subplots(1, 2, figsize=(7, 3), layout="constrained")
    sizes = [int(float(case["key"].removeprefix("growth-"))) for case in cases]
    times = [case["results"][0]["median_s"] for case in cases]
    memory = [case["results"][0]["peak_mib"] for case in cases]
    for ax, values, label in zip(axes, (times, memory), ("CPU seconds", "peak MiB"), strict=True):
        ax.loglog(sizes, values, "o-", color=OURS)
        linear = [values[-1] * size / sizes[-1] for size in sizes]
        ax.loglog(sizes, linear, "--", color=THEIRS, label="linear in the columns")
        ax.set(xlabel="columns", ylabel=label)
    axes[0].legend(frameon=False)
    return figure


def save(figure, name):
    figure.savefig(DOCS / name, metadata={"Date": None})
    plt.close(figure)


if __name__ == "__main__":
    main()
