"""Data sets on disk, as the README here describes them."""

import numpy as np
from scipy import sparse

from certifeature.experiments import tasks as experiments


def directory_pairs(folder):
    """Yield pairs of web directory categories: 150 to 280 pages each."""
    for task in experiments.directory_pairs(folder):
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
