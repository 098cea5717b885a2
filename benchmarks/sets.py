"""Data sets on disk, as the README here describes them."""

import csv

import numpy as np
from scipy import sparse


def directory_pairs(folder):
    """Yield pairs of web directory categories: 150 to 280 pages each."""
    with open(folder / "yahoo_pairs.csv", newline="") as file:
        pairs = list(csv.DictReader(file))
    for pair in pairs:
        source = folder / f"yahoo_{pair['set']}"
        labels = (
            np.load(source / "y_multi.npy")
            if (source / "y_multi.npy").exists()
            else np.load(source / "y_multi.npz")["labels"]
        )
        first, second = (labels[:, int(pair[key])] == 1 for key in ("label_a", "label_b"))
        rows = np.flatnonzero((labels.sum(axis=1) == 1) & (first | second))
        X = sparse.load_npz(source / "X.npz").tocsr()[rows].astype(float)
        yield used_columns(X), np.where(first[rows], 1, -1)


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
