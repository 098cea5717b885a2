"""The groups of tasks, and the folds of each."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from scipy import sparse
from sets import data_set
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

from paper.tasks import directory_pairs, web_tasks

GENES = ("microarray_alon", "microarray_golub", "microarray_gravier", "microarray_shipp")
TEXTS = ("PCMAC", "BASEHOCK", "movie_reviews", "farm_ads")
_N_CCAT_TRAIN = 22_000


@dataclass(frozen=True)
class Group:
    """Tasks that are measured alike.

    Attributes
    ----------
    sizes : tuple of int
        Numbers of features.
    C : float
        The fixed cost.
    grid : tuple of float
        What C is tuned over.
    nested : bool
        Whether C is tuned for features chosen anew in each inner fold, or once for all.
    n_folds, n_repeats : int
        Cross-validation of each task.
    """

    sizes: tuple
    C: float
    grid: tuple
    nested: bool
    n_folds: int = 5
    n_repeats: int = 1


_PAIRS = (0.01, 0.05, 0.2, 1, 5, 20, 100)
# With the energy of thousands of standardised columns.
_GENES = (1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1, 10)
GROUPS = {
    "web": Group((300, 100), 1, _PAIRS, nested=True),
    "news": Group((300, 100), 1, _PAIRS, nested=True),
    "genes": Group((200, 100, 50), 1, _GENES, nested=True, n_repeats=10),
    "noise": Group((100,), 1, (), nested=False, n_repeats=10),
    "texts": Group((300, 1000), 1, (0.04, 0.2, 1, 5, 25), nested=False),
    "ccat": Group((1024, 300), 10, (0.4, 2, 10, 50), nested=False, n_folds=1),
}


def task_names(folder, group):
    """Return the names of the tasks of a group."""
    if group in ("web", "news"):
        return list(_pairs(folder, group))
    return {"genes": GENES, "noise": GENES, "texts": TEXTS, "ccat": ("rcv1_ccat",)}[group]


def fold_of(folder, group, task, repeat, fold):
    """Return the rows and signs for training and for testing, ready for an SVM."""
    X, y = _load(folder, group, task)
    signs = np.where(y == np.unique(y)[1], 1.0, -1.0)
    if group == "noise":
        X = np.hstack([X, np.random.default_rng(repeat).permuted(X, axis=0)])
    if group == "ccat":
        rows = np.random.default_rng(repeat).permutation(len(y))
        train, test = np.sort(rows[:_N_CCAT_TRAIN]), np.sort(rows[_N_CCAT_TRAIN:])
        return X[train], signs[train], X[test], signs[test]
    folds = StratifiedKFold(GROUPS[group].n_folds, shuffle=True, random_state=repeat)
    train, test = list(folds.split(X, y))[fold]
    dense = group in ("genes", "noise")
    preprocessing = StandardScaler() if dense else TfidfTransformer()
    X_train = preprocessing.fit_transform(X[train])
    X_test = preprocessing.transform(X[test])
    if not dense:
        X_train, X_test = sparse.csr_array(X_train), sparse.csr_array(X_test)
    return X_train, signs[train], X_test, signs[test]


@lru_cache(maxsize=8)
def _load(folder, group, task):
    if group in ("web", "news"):
        found = _pairs(folder, group)[task]
        return sparse.csr_array(found.X), found.y
    X, y = data_set(Path(folder), task)
    return (X.toarray() if group in ("genes", "noise") else sparse.csr_array(X, dtype=float)), y


@lru_cache
def _pairs(folder, group):
    web = {task.name: task for task in directory_pairs(Path(folder))}
    if group == "web":
        return web
    return {task.name: task for task in web_tasks(folder) if task.name not in web}
