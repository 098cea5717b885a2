"""Data sets on disk, as the README here describes them, and made-up ones."""

import sys
from pathlib import Path

import numpy as np
from scipy import sparse

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
