"""Selection from files that do not fit into memory, beside just reading and multiplying them.

Usage: ``python benchmarks/streaming.py FOLDER [--rows N] [--features D]``. FOLDER is filled, once,
with NPZ files of 20,000 sparse rows each, which stay there. Prints a Markdown table: seconds and
peak memory (Linux only) of reading the files and multiplying each with a Gaussian matrix once, and
of an unsupervised BSS selection with t = 128 and r = 1,024. Each runs in a process of its own.
"""

import argparse
import resource
import subprocess
import sys
from pathlib import Path
from time import perf_counter

import numpy as np
from scipy import sparse
from sets import long_tailed

from certifeature import BSSSelector
from certifeature.io import FileBlocks

ROWS_PER_FILE, VALUES_PER_ROW = 20_000, 100
PROJECTIONS, SIZE = 128, 1024


def generate(folder, n_rows, n_features):
    """Write files of long-tailed rows."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(-(-n_rows // ROWS_PER_FILE)):
        path = folder / f"part-{number:05}.npz"
        if path.exists():
            continue
        rng = np.random.default_rng([n_features, number])
        size = min(ROWS_PER_FILE, n_rows - number * ROWS_PER_FILE)
        X = long_tailed(rng, size, n_features, VALUES_PER_ROW)
        unfinished = folder / "unfinished.npz"
        sparse.save_npz(unfinished, X, compressed=False)
        unfinished.rename(path)


def read_and_multiply(folder):
    total = 0.0
    for path in sorted(folder.glob("part-*.npz")):
        X = sparse.load_npz(path)
        gaussian = np.random.default_rng(0).standard_normal((X.shape[0], PROJECTIONS))
        total = total + X.T @ gaussian
    return f"{total.shape[0]:,} × {total.shape[1]} values"


def select(folder):
    selector = BSSSelector(
        SIZE, supervised=False, basis="sketch", n_components=PROJECTIONS, random_state=0
    )
    selector.fit(FileBlocks(sorted(folder.glob("part-*.npz"))))
    return f"{len(selector.indices_):,} features"


CONTENDERS = {"reading and multiplying once": read_and_multiply, "BSS, streamed": select}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--features", type=int, default=1_000_000)
    parser.add_argument("--child", choices=CONTENDERS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        start = perf_counter()
        note = CONTENDERS[options.child](options.folder)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(f"| {options.child} | {perf_counter() - start:.1f} | {peak:.2f} | {note} |")
        return
    generate(options.folder, options.rows, options.features)
    print(f"{options.rows:,} × {options.features:,}, {VALUES_PER_ROW} values a row\n")
    print("| | seconds | peak GiB | |\n|---|--:|--:|---|", flush=True)
    for name in CONTENDERS:
        command = [sys.executable, __file__, str(options.folder), "--child", name]
        subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
