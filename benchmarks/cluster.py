"""Selections and certificates on Dask clusters of one machine, and what they move.

Usage: ``python benchmarks/cluster.py EMPTY_FOLDER [--rows N] [--features D]``. The folder is
filled, once, with NPZ files of 20,000 sparse rows each, which stay there. Prints a Markdown table:
seconds, the largest peak memory of a worker (Linux only), and what the workers sent to each other
and to the client, for an unsupervised and a supervised BSS selection and for a certificate of the
latter on all rows, on clusters of one and two worker processes with one thread each, and in memory.
All must choose the same features.
"""

import argparse
import os
import resource
from pathlib import Path
from time import perf_counter

# One thread, here and in the workers, so that what is compared is the number of workers.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster
from scipy import sparse
from sklearn.preprocessing import normalize
from streaming import ROWS_PER_FILE, generate

from certifeature import BSSSelector, certify

PROJECTIONS, SIZE = 64, 512


def labels(X):
    """Return signs of a sum over the first hundred features, which are popular, with some noise."""
    scores = np.asarray(X[:, :100].sum(axis=1)).ravel()
    noise = np.random.default_rng(X.nnz).standard_normal(X.shape[0])
    return np.where(scores + scores.std() / 10 * noise > np.median(scores), 1, -1)


def read(path):
    """Return the rows of a file, each of length 1."""
    return normalize(sparse.csr_array(sparse.load_npz(path)))


def collections(paths, n_features):
    """Return rows and labels as Dask arrays with a chunk for each file."""
    rows = [dask.delayed(read)(path) for path in paths]
    meta = sparse.csr_array((0, n_features))
    X = [da.from_delayed(part, (ROWS_PER_FILE, n_features), meta=meta) for part in rows]
    y = [da.from_delayed(dask.delayed(labels)(part), (ROWS_PER_FILE,), dtype=int) for part in rows]
    return da.concatenate(X), da.concatenate(y)


def tasks(X, y):
    """Yield names of tasks, and what does them."""
    options = {"n_components": PROJECTIONS, "random_state": 0}
    unsupervised = BSSSelector(SIZE, supervised=False, basis="sketch", **options)
    yield "unsupervised", lambda: unsupervised.fit(X).indices_
    supervised = BSSSelector(SIZE, **options)
    yield "supervised", lambda: supervised.fit(X, y).indices_
    yield "certificate", lambda: certify(X, y, supervised, rows="all", realised=False)


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def sent(dask_worker):
    return dask_worker.transfer_outgoing_bytes_total


def measure(name, X, y, client=None):
    """Print a line for each task and return the results."""
    results = []
    for task, compute in tasks(X, y):
        before = sum(client.run(sent).values()) if client else 0
        start = perf_counter()
        results.append(compute())
        seconds = perf_counter() - start
        memory = max(client.run(peak).values()) if client else peak()
        moved = sum(client.run(sent).values()) - before if client else 0
        print(f"| {name} | {task} | {seconds:.1f} | {memory:.2f} | {moved / 2**20:,.0f} |")
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=400_000)
    parser.add_argument("--features", type=int, default=100_000)
    options = parser.parse_args()
    if options.rows % ROWS_PER_FILE:
        parser.error(f"--rows must be a multiple of {ROWS_PER_FILE:,}")
    generate(options.folder, options.rows, options.features)
    paths = sorted(options.folder.glob("part-*.npz"))
    print(f"{options.rows:,} × {options.features:,}, {len(paths)} chunks\n")
    print("| | | seconds | peak GiB | MiB sent |\n|---|---|--:|--:|--:|")
    results = []
    for n_workers in (1, 2):
        cluster = LocalCluster(
            n_workers=n_workers, threads_per_worker=1, memory_limit=None, dashboard_address=None
        )
        with cluster, Client(cluster) as client:
            X, y = collections(paths, options.features)
            name = "1 worker" if n_workers == 1 else f"{n_workers} workers"
            results.append(measure(name, X, y, client))
    X = sparse.vstack([read(path) for path in paths], format="csr")
    y = np.concatenate([labels(read(path)) for path in paths])
    results.append(measure("in memory", X, y))
    for other in results[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(results[0][:2], other[:2], strict=True))
    print(f"\nThe same choices. {results[0][2]}")


if __name__ == "__main__":
    main()
