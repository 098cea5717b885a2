"""Film reviews: what the seed does to a choice of words, and how long "certified" takes.

Usage: ``python benchmarks/reviews.py FOLDER`` (the README says what FOLDER holds).
"""

import sys
from itertools import combinations
from pathlib import Path
from time import process_time

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer

from certifeature import BSSSelector, compare

N_WORDS, N_SEEDS = 300, 6


def main(folder):
    X = sparse.load_npz(folder / "movie_reviews" / "X.npz").tocsr()
    y = np.load(folder / "movie_reviews" / "y.npy")
    methods = {"preprocessing": TfidfTransformer(), "tune": False, "n_repeats": 1}
    found = [
        compare(X, y, [N_WORDS], methods=[BSSSelector(random_state=seed)], **methods).contenders[1]
        for seed in range(N_SEEDS)
    ]
    errors = ", ".join(f"{100 * contender.error:.1f}" for contender in found)
    print(f"errors in percent with {N_WORDS} words, by seed: {errors}")
    shared = [
        len(set(chosen) & set(other))
        for one, two in combinations(found, 2)
        for chosen, other in zip(one.chosen, two.chosen, strict=True)
    ]
    print(f"words that two seeds share in a fold, on average: {np.mean(shared):.0f}")
    words, rng = TfidfTransformer().fit_transform(X), np.random.default_rng(0)
    for n_rows in (100, 200):
        rows = rng.choice(len(y), n_rows, replace=False)
        start = process_time()
        selector = BSSSelector("certified", random_state=0).fit(words[rows], y[rows])
        seconds = process_time() - start
        n_words = len(selector.indices_)
        print(f"certified, {n_rows} reviews: {n_words} words, {seconds:.0f} s of CPU")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
