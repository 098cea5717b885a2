"""Data sets on disk, as the README here describes them, and made-up ones."""

import sys
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import StandardScaler

from certifeature.datasets import load_docstrings

GENES = ("alon", "golub", "gravier", "shipp", "khan")
TEXTS = ("PCMAC", "BASEHOCK", "movie_reviews", "farm_ads")
# Those of which some rows are taken, at most so many.
SOME_TEXTS = ("docstrings", *TEXTS, "web pair", "graphics/autos", "rcv1_ccat")
MAX_ROWS = 500
# A script sees the modules of its own folder; paper/ stands beside it.
sys.path.append(str(Path(__file__).resolve().parents[1]))


def directory_pairs(folder):
    """Yield pairs of web directory categories: 150 to 280 pages each."""
    from paper.tasks import directory_pairs

    for task in directory_pairs(folder):
        yield task.X, task.y


def data_set(folder, name):
    """Return data and labels −1, +1."""
    return sparse.load_npz(folder / name / "X.npz").tocsr(), np.load(folder / name / "y.npy")


def newsgroup_pair(folder, first, second, n_rows):
    """Return every so many-th message of two newsgroups."""
    X = sparse.load_npz(folder / "20newsgroups" / "X.npz").tocsr()
    y = np.load(folder / "20newsgroups" / "y_multi.npy")
    rows = np.flatnonzero((y == first) | (y == second))
    rows = rows[:: len(rows) // n_rows]
    return used_columns(X[rows].astype(float)), y[rows]


def gene_set(folder, name):
    """Return standardised values and labels."""
    place = folder / f"microarray_{name}"
    labels = "y_multi.npy" if (place / "y_multi.npy").exists() else "y.npy"
    X = sparse.load_npz(place / "X.npz").toarray().astype(np.float64)
    return StandardScaler().fit_transform(X), np.load(place / labels)


def some_text(folder, name, max_rows=MAX_ROWS):
    """Return tf-idf of some rows, with the words that two of them have, and labels."""
    if name == "rcv1_ccat":  # It is tf-idf already.
        return some_rows(*data_set(folder, name), max_rows)
    X, y = some_rows(*_counts(folder, name), max_rows)
    return sparse.csr_array(TfidfTransformer().fit_transform(X)), y


def _counts(folder, name):
    if name == "docstrings":
        return load_docstrings(weighting="counts", return_X_y=True)
    if name == "web pair":
        return next(directory_pairs(folder))
    if name == "graphics/autos":
        return newsgroup_pair(folder, 1, 7, MAX_ROWS)
    return data_set(folder, name)


def some_rows(X, y, max_rows):
    """Return at most so many rows, drawn at random, and the columns that two of them have."""
    n_rows = min(len(y), max_rows)
    rows = np.sort(np.random.default_rng(0).choice(len(y), n_rows, replace=False))
    X = sparse.csr_array(X)[rows].astype(np.float64)
    return X[:, np.flatnonzero(X.count_nonzero(axis=0) > 1)], y[rows]


def used_columns(X):
    """Return the columns that are not empty."""
    return X[:, np.flatnonzero(X.getnnz(axis=0))]


def long_tailed(rng, n_samples, n_features, per_row):
    """Return sparse rows, half of whose values lie in popular columns."""
    nnz = n_samples * per_row
    popular = (n_features * rng.random(nnz) ** 3).astype(np.int32)
    columns = np.where(rng.random(nnz) < 0.5, popular, rng.integers(0, n_features, nnz))
    starts = np.arange(0, nnz + 1, per_row, dtype=np.int32)
    values = rng.exponential(size=nnz)
    X = sparse.csr_array((values, columns.astype(np.int32), starts), (n_samples, n_features))
    X.sum_duplicates()
    return X
