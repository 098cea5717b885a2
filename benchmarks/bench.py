"""Time, memory and test error of our selectors and others, side by side in one run.

Usage: ``python benchmarks/bench.py [--data FOLDER] [--out FOLDER] [CASE …]``. Every case runs in a
process of its own and compares its contenders with the first of them. Writes ``bench.json`` and
``bench.md`` and prints the table; cases that need the data in FOLDER are left out without it, and
the table says so.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import warnings
from importlib.metadata import version
from pathlib import Path

from cases import CASES, NEED_DATA

HEADER = "| case | contender | seconds | ratio (range) | peak MiB | test error | |"
PACKAGES = ("certifeature", "numpy", "scipy", "scikit-learn")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", metavar="CASE", help=", ".join(CASES))
    parser.add_argument("--data", type=Path, help="folder of data sets (see the README)")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.cases) - set(CASES))
    if unknown:
        parser.error(f"unknown case {unknown[0]!r}; there are {', '.join(CASES)}")
    if arguments.child:
        print(json.dumps(run(arguments.cases[0], arguments.data)))
        return
    results, left_out = [], []
    for name in arguments.cases or CASES:
        if name in NEED_DATA and arguments.data is None:
            left_out.append(name)
            continue
        print(f"{name} …", file=sys.stderr, flush=True)
        results.append(run_apart(name, arguments.data))
    record = {
        "versions": {package: version(package) for package in PACKAGES},
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "left_out": left_out,
        "cases": results,
    }
    table = as_table(record)
    arguments.out.mkdir(parents=True, exist_ok=True)
    (arguments.out / "bench.json").write_text(json.dumps(record, indent=1) + "\n")
    (arguments.out / "bench.md").write_text(table)
    print(table)


def run_apart(name, folder):
    """Run a case in a process of its own, so that no case finds memory of another."""
    command = [sys.executable, __file__, "--child", name]
    if folder is not None:
        command += ["--data", str(folder)]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def run(name, folder):
    warnings.simplefilter("ignore")  # Convergence of the L1 models, the same for every round.
    case = CASES[name](folder) if name in NEED_DATA else CASES[name]()
    return {"key": name, "name": case.name, "results": case.run()}


def as_table(record):
    """Return the figures as a Markdown table."""
    versions = ", ".join(f"{name} {number}" for name, number in record["versions"].items())
    lines = [
        f"Python {record['python']}, {versions}, {record['cores']} cores. Medians; the ratio is "
        "the time of the first contender of a case over that of this one, with its range.",
        "",
        HEADER,
        "|---|---|--:|--:|--:|--:|---|",
    ]
    for case in record["cases"]:
        for place, result in enumerate(case["results"]):
            lines.append(as_line("" if place else case["name"], place, result))
    if record["left_out"]:
        lines += ["", f"Left out for want of data: {', '.join(record['left_out'])}."]
    return "\n".join(lines) + "\n"


def as_line(name, place, result):
    spread = f"{result['ratio']:.3g} ({result['ratio_low']:.3g}–{result['ratio_high']:.3g})"
    memory, error = result["peak_mib"], result["test_error"]
    cells = (
        name,
        result["contender"],
        f"{result['median_s']:.3g}",
        spread if place else "1",
        "" if memory is None else f"{memory:,.0f}",
        "" if error is None else f"{error:.4f}",
        result["note"],
    )
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    main()
