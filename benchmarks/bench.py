"""CPU time, memory and test error of our selectors and others, side by side in one run.

Usage: ``python benchmarks/bench.py [--data FOLDER] [--out FOLDER] [CASE …]``. Every case runs in a
process of its own, with one thread, and compares its contenders with the first of them. Writes
``bench.json`` and ``bench.md`` and prints the table; cases that need the data in FOLDER are left
out without it, and the table says so. Cases named are measured again, the others stay as they were;
the first word of a name stands for all cases that begin with it, as in ``texts``.
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

HEADER = "| case | contender | CPU seconds | ratio (range) | peak MiB | test error | |"
# What linear algebra reads when NumPy is loaded.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
PACKAGES = ("certifeature", "numpy", "scipy", "scikit-learn")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", metavar="CASE", help=", ".join(CASES))
    parser.add_argument("--data", type=Path, help="folder of data sets (see the README)")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        print(json.dumps(run(arguments.cases[0], arguments.data)))
        return
    for given in arguments.cases:
        if not named(given):
            parser.error(f"unknown case {given!r}; there are {', '.join(CASES)}")
    chosen = [name for given in arguments.cases for name in named(given)] or list(CASES)
    left_out = [name for name in chosen if name in NEED_DATA and arguments.data is None]
    results = earlier_results(arguments.out) if arguments.cases else {}
    for name in chosen:
        if name not in left_out:
            print(f"{name} …", file=sys.stderr, flush=True)
            results[name] = run_apart(name, arguments.data)
            write(arguments.out, results, left_out)
    print((arguments.out / "bench.md").read_text())


def named(given):
    """Return the case of this name, or else all whose names begin with this word."""
    return [given] if given in CASES else [name for name in CASES if name.startswith(given + "-")]


def earlier_results(folder):
    """Return the cases of the last run, of which some are measured again."""
    file = folder / "bench.json"
    if not file.exists():
        return {}
    return {case["key"]: case for case in json.loads(file.read_text())["cases"]}


def write(folder, results, left_out):
    """Write all that is known so far, in the order of the cases."""
    record = {
        "versions": {package: version(package) for package in PACKAGES},
        "python": platform.python_version(),
        "left_out": left_out,
        "cases": [results[name] for name in CASES if name in results],
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (
        ("bench.json", json.dumps(record, indent=1) + "\n"),
        ("bench.md", as_table(record)),
    ):
        unfinished = folder / f"{name}.new"
        unfinished.write_text(text)
        unfinished.replace(folder / name)


def run_apart(name, folder):
    """Run a case in a process of its own: one thread, and no memory of other cases."""
    command = [sys.executable, __file__, "--child", name]
    if folder is not None:
        command += ["--data", str(folder)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, env=os.environ | ONE_THREAD)
    return json.loads(done.stdout)


def run(name, folder):
    warnings.simplefilter("ignore")  # Convergence of the L1 models, the same for every round.
    case = CASES[name](folder) if name in NEED_DATA else CASES[name]()
    return {"key": name, "name": case.name} | case.run()


def as_table(record):
    """Return the figures as a Markdown table."""
    versions = ", ".join(f"{name} {number}" for name, number in record["versions"].items())
    lines = [
        f"Python {record['python']}, {versions}, one thread. Medians of CPU seconds; the ratio "
        "is the time of the first contender of a case over that of this one, with its range. Under "
        "the contenders of a case stands the bar that it has to reach.",
        "",
        HEADER,
        "|---|---|--:|--:|--:|--:|---|",
    ]
    for case in record["cases"]:
        for place, result in enumerate(case["results"]):
            lines.append(as_line("" if place else case["name"], place, result))
        for bar, met in case["bars"].items():
            lines.append(f"| | *{bar}* | | | | | *{'met' if met else 'NOT MET'}* |")
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
