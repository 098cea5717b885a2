"""Put the last run of the benchmark into the docs: its table and two plots.

Usage: ``python benchmarks/plot.py``, after ``make bench``.
"""

import json
import shutil
from pathlib import Path

import matplotlib.pyplot as plt

RESULTS = Path(__file__).parent / "results"
DOCS = Path(__file__).parent.parent / "docs" / "benchmark"
OURS, THEIRS = "#0072b2", "#999999"


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
    figure, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
    full, *selectors = case["results"]
    ax.axhline(full["test_error"], color="black", linewidth=0.8, linestyle="--")
    ax.annotate(
        f"all features: {full['contender']}",
        (1, full["test_error"]),
        xycoords=("axes fraction", "data"),
        xytext=(-2, 3),
        textcoords="offset points",
        ha="right",
    )
    for result in selectors:
        ours = result["contender"].startswith(("BSS", "leverage"))
        point = result["median_s"], result["test_error"]
        times = [[point[0] - min(result["seconds"])], [max(result["seconds"]) - point[0]]]
        ax.errorbar(*point, xerr=times, fmt="o" if ours else "s", color=OURS if ours else THEIRS)
        ax.annotate(result["contender"], point, xytext=(5, 4), textcoords="offset points")
    ax.set(xscale="log", xlabel="time of the selection, seconds", ylabel="test error")
    ax.margins(x=0.25, y=0.12)
    ax.set_title(case["name"])
    return figure


def growth(cases):
    """Plot time and memory against the number of columns."""
    figure, axes = plt.subplots(1, 2, figsize=(7, 3), layout="constrained")
    sizes = [int(float(case["key"].removeprefix("growth-"))) for case in cases]
    times = [case["results"][0]["median_s"] for case in cases]
    memory = [case["results"][0]["peak_mib"] for case in cases]
    for ax, values, label in zip(axes, (times, memory), ("seconds", "peak MiB"), strict=True):
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
