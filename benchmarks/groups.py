"""Groups of features against single features, at equal numbers of columns.

Usage: ``python benchmarks/groups.py FOLDER > docs/benchmark/groups.md`` (the README says what
FOLDER holds). Prints Markdown tables, in some minutes: test errors on pairs of newsgroups, whose
words are grouped by stem; the same on made-up rows where whole groups carry the signal; and CPU
seconds of the algorithm. It needs snowballstemmer, which comes with the extra ``docs``.
"""

import gzip
import sys
import warnings
from pathlib import Path
from time import process_time

import numpy as np
import snowballstemmer
from decide.model import errors
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_limits

from certifeature import BSSSelector
from certifeature.sparsify import bss

N_ROWS, LEAST_ROWS = 240, 3
PAIRS = [(first, first + 10) for first in range(10)]
N_FOLDS = 3
N_SEEDS, N_SIGNAL, GROUP_SIZE, N_GROUPS = 20, 6, 8, 150
N_TRAINING = (100, 300)
METHODS = {
    "groups, `BSSSelector`": (True, {}),
    "groups, weights alone": (True, {"order": "coef", "trust": 1}),
    "single columns, `BSSSelector`": (False, {}),
    "single columns, weights alone": (False, {"order": "coef", "trust": 1}),
}


def main(folder):
    warnings.simplefilter("ignore")
    news = list(newsgroups(folder))
    words = [data[0].shape[1] for data in news]
    stems = [len(np.unique(data[-1])) for data in news]
    print(f"**Newsgroups.** {len(PAIRS)} pairs of {N_ROWS} messages, {N_FOLDS} folds, tf-idf.")
    print(f"{np.mean(words):,.0f} words of {np.mean(stems):,.0f} stems on average.\n")
    print_errors(news, (100, 300), N_FOLDS)
    print(f"\n**Made up.** {N_GROUPS} groups of {GROUP_SIZE} columns, of which {N_SIGNAL} carry")
    print(f"the signal; 1,000 test rows, {N_SEEDS} times.")
    for n_rows in N_TRAINING:
        print(f"\n{n_rows} training rows:\n")
        print_errors([simulated(seed, n_rows) for seed in range(N_SEEDS)], (48, 96), 1)
    print("\n**Time.** CPU seconds for 2,048 columns of 47,236, ℓ = 256, the least of three.\n")
    print_times()


def newsgroups(folder):
    """Yield training rows, labels, test rows, labels, and the stem of each word."""
    place = Path(folder) / "20newsgroups"
    counts = sparse.csr_array(sparse.load_npz(place / "X.npz"), dtype=float)
    labels = np.load(place / "y_multi.npy")
    with gzip.open(place / "features.txt.gz", "rt", encoding="utf-8") as lines:
        names = np.array([line.rstrip("\n") for line in lines])
    for pair in PAIRS:
        rows = np.concatenate([np.flatnonzero(labels == label)[: N_ROWS // 2] for label in pair])
        X, y = counts[rows], labels[rows]
        used = np.flatnonzero(X.count_nonzero(axis=0) >= LEAST_ROWS)
        stems = snowballstemmer.stemmer("english").stemWords(names[used].tolist())
        groups = np.unique(stems, return_inverse=True)[1]
        split = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0).split(y, y)
        for train, test in split:
            tfidf = TfidfTransformer().fit(X[train][:, used])
            parts = (sparse.csr_array(tfidf.transform(X[part][:, used])) for part in (train, test))
            X_train, X_test = parts
            yield X_train, y[train], X_test, y[test], groups


def simulated(seed, n_rows):
    """Return rows of which each column of a few groups says a little."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows + 1_000, N_GROUPS * GROUP_SIZE))
    groups = np.arange(X.shape[1]) // GROUP_SIZE
    weights = rng.standard_normal(X.shape[1]) * (groups < N_SIGNAL)
    y = X @ weights + 0.5 * np.linalg.norm(weights) * rng.standard_normal(len(X)) > 0
    order = rng.permutation(X.shape[1])
    X, groups = X[:, order], groups[order]
    return X[:n_rows], y[:n_rows], X[n_rows:], y[n_rows:], groups


def print_errors(folds, budgets, n_folds):
    """Print means over all folds; the deviations are those of tasks, of so many folds each."""
    print("| columns | method | chosen | error, C tuned | beside the first | growth | seconds |")
    print("|--:|---|--:|--:|--:|--:|--:|")
    for budget in budgets:
        found = {name: [] for name in METHODS}
        for X, y, X_test, y_test, groups in folds:
            for name, (grouped, options) in METHODS.items():
                selector = BSSSelector(feature_groups=groups if grouped else None, **options)
                chosen, growth, seconds = most_columns(selector, X, y, budget)
                error = 100 * errors(X[:, chosen], y, X_test[:, chosen], y_test)["tuned"]
                found[name].append((len(chosen), error, growth, seconds))
        first = np.array(next(iter(found.values())))[:, 1]
        for name, values in found.items():
            columns, error, growth, seconds = np.array(values).T
            apart = (error - first).reshape(-1, n_folds).mean(axis=1)
            deviation = apart.std(ddof=1) / np.sqrt(len(apart))
            beside = f"{apart.mean():+.1f} ± {deviation:.1f}" if apart.any() else ""
            print(
                f"| {budget} | {name} | {columns.mean():.0f} | {error.mean():.1f} | {beside} "
                f"| {np.median(growth):.2f} | {np.median(seconds):.2f} |"
            )


def most_columns(selector, X, y, budget):
    """Return the largest choice within a budget, the bound on its growth, and CPU seconds."""
    sizes = np.unique(np.geomspace(max(1, budget // 20), budget, 120).astype(int))[::-1]
    choices = selector.choices_of_sizes(X, y, sizes.tolist())
    size = next(s for s, c in zip(sizes, choices, strict=True) if len(c.indices) <= budget)
    start = process_time()
    selector.set_params(n_features_to_select=int(size)).fit(X, y)
    seconds = process_time() - start
    return selector.indices_, selector.certificate_.measured_growth, seconds


def print_times():
    rng = np.random.default_rng(0)
    d, n_columns = 47_236, 2_048
    rows = rng.standard_normal((d, 256)) * rng.exponential(size=d)[:, None]
    vectors = np.linalg.qr(rows)[0]
    shares = 1 / (1 + np.arange(256) / 30)
    uneven = rng.permutation(np.repeat(np.arange(d), rng.integers(1, 8, d))[:d])
    kinds = {
        "single columns": None,
        "groups of 2": np.arange(d) // 2,
        "groups of 4": np.arange(d) // 4,
        "groups of 1 to 7": uneven,
    }
    print("| | columns chosen | all directions alike | with coverage |")
    print("|---|--:|--:|--:|")
    for name, groups in kinds.items():
        n_groups = d if groups is None else groups.max() + 1
        n_select, seconds, columns = int(n_columns * n_groups / d), [], []
        for coverage in (None, shares):
            for _ in range(3):
                start = process_time()
                choice = bss(vectors, n_select, groups=groups, coverage=coverage)
                seconds.append(process_time() - start)
            columns.append(len(choice.indices))
        plain, soft = min(seconds[:3]), min(seconds[3:])
        print(f"| {name} | {columns[0]:,} / {columns[1]:,} | {plain:.2f} | {soft:.2f} |")


if __name__ == "__main__":
    with threadpool_limits(1):
        main(sys.argv[1])
