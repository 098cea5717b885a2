"""The tasks, by group, and the folds of each."""

from functools import lru_cache
from itertools import combinations
from pathlib import Path

import numpy as np
import sets  # noqa: F401  (makes `paper` importable)
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

from paper.tasks import web_tasks

TEXTS = ("PCMAC", "BASEHOCK", "movie_reviews", "reuters_r8", "farm_ads")
GENES = ("alon", "golub", "gravier", "shipp", "khan", "su", "subramanian", "tox_171")
GROUPS = ("genes", "web", "news", "texts", "rcv1", "noise")
N_FOLDS = 5


def task_names(folder, group):
    """Return the names of the tasks of a group."""
    if group in ("web", "news"):
        return list(_pairs(folder, group))
    if group == "genes":
        pairs = [f"tox_171 {a} {b}" for a, b in combinations(range(4), 2)]
        return [*GENES, *pairs]
    return list({"noise": GENES, "texts": TEXTS, "rcv1": ["rcv1_ccat"]}[group])


def fold_of(folder, group, task, fold):
    """Return training rows, their labels, test rows, their labels."""
    X, y = _load(folder, group, task)
    split = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0).split(y, y)
    train, test = list(split)[fold]
    if group == "rcv1":  # It is tf-idf already.
        rows = X[train], X[test]
    elif sparse.issparse(X):
        tfidf = TfidfTransformer().fit(X[train])
        rows = (sparse.csr_array(tfidf.transform(X[part])) for part in (train, test))
    else:
        scaler = StandardScaler().fit(X[train])
        rows = (scaler.transform(X[part]) for part in (train, test))
    X_train, X_test = rows
    return X_train, y[train], X_test, y[test]


@lru_cache(maxsize=2)
def _load(folder, group, task):
    if group in ("web", "news"):
        pair = _pairs(folder, group)[task]
        return sparse.csr_array(pair.X), pair.y
    if group in ("texts", "rcv1"):
        place = Path(folder) / task
        X = sparse.csr_array(sparse.load_npz(place / "X.npz"), dtype=float)
        return X, _labels(place)
    name, *classes = task.split()
    place = Path(folder) / f"microarray_{name}"
    if (place / "X.npz").exists():
        X = sparse.load_npz(place / "X.npz").toarray()
    else:
        X = np.load(place / "X_dense.npz")["X"]
    X, y = X.astype(float), _labels(place)
    if classes:
        labels = np.unique(y)[[int(number) for number in classes]]
        X, y = X[np.isin(y, labels)], y[np.isin(y, labels)]
    if group == "noise":
        X = np.hstack([X, np.random.default_rng(0).permuted(X, axis=0)])
    return X, y


def _labels(place):
    several = place / "y_multi.npy"
    return np.load(several if several.exists() else place / "y.npy")


@lru_cache
def _pairs(folder, group):
    """Return pairs of web directory categories, or of newsgroups."""
    tasks = {task.name: task for task in web_tasks(folder)}
    first = next(iter(tasks.values())).source
    return {name: t for name, t in tasks.items() if (t.source == first) == (group == "web")}
