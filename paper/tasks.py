"""The tasks of the experiments: rows, labels and names, and where they come from."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.model_selection import StratifiedKFold, train_test_split

from certifeature.datasets import Dataset, make_relevant_features
from certifeature.io import read_data
from certifeature.rows.matrix import fingerprint
from paper.data.rcv1 import load_rcv1_ccat
from paper.data.techtc import list_techtc_tasks, load_techtc

__all__ = ["Task", "ccat_task", "directory_pairs", "synthetic_task", "web_tasks"]

# Newsgroups whose messages make tasks of the size of TechTC-300: each with the seventh after it,
# and three more pairs that differ less.
_N_GROUPS = 20
_GROUP_PAIRS = [(i, (i + 7) % _N_GROUPS) for i in range(_N_GROUPS)] + [(3, 4), (9, 10), (17, 18)]
_FEWEST_MESSAGES, _MAX_MESSAGES = 75, 140
_MIN_LETTERS = 5
_CCAT_TRAIN_SHARE = 0.8


@dataclass(frozen=True, eq=False)
class Task:
    """A classification task.

    Attributes
    ----------
    name : str
        Short name, unique in a study.
    source : str
        What data these really are; tables say it.
    X : {ndarray, sparse array or matrix} of shape (n_samples, n_features)
        Rows.
    y : ndarray of shape (n_samples,)
        Labels.
    feature_names : ndarray of str, or None
        Names of the columns.
    n_train : int or None
        Where the split is fixed, the number of training rows, which come first.
    """

    name: str
    source: str
    X: Any
    y: NDArray[Any]
    feature_names: NDArray[np.str_] | None = None
    n_train: int | None = None

    @cached_property
    def fingerprint(self) -> str:
        """A digest of rows and labels."""
        return fingerprint(self.X)[:8] + fingerprint(np.unique(self.y, return_inverse=True)[1])[:8]

    def split(
        self, repeat: int, fold: int, n_folds: int, seed: int
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return training and test rows of one fold of one repeat.

        Parameters
        ----------
        repeat, fold : int
            Which.
        n_folds : int
            How many folds a repeat has.
        seed : int
            Of all repeats.
        """
        if self.n_train is None:
            state = int(np.random.SeedSequence([seed, repeat]).generate_state(1)[0])
            folds = StratifiedKFold(n_folds, shuffle=True, random_state=state)
            train, test = list(folds.split(self.y, self.y))[fold]
            return train, test
        rows = np.arange(len(self.y))
        return rows[: self.n_train], rows[self.n_train :]


def synthetic_task(
    n_relevant: int, seed: int, n_samples: int = 200, n_features: int = 1000
) -> Task:
    """Return one of the paper's synthetic data sets."""
    X, y = make_relevant_features(n_samples, n_features, n_relevant, random_state=seed)
    names = np.array([str(j) for j in range(1, n_features + 1)])
    return Task(f"k = {n_relevant}, set {seed}", "synthetic data, generated", X, y, names)


def web_tasks(path: str | Path) -> list[Task]:
    """Return TechTC-300 tasks, or what stands in for them.

    Parameters
    ----------
    path : str or Path
        TechTC-300 as a folder or zip; or a folder with the Yahoo! directory pairs
        (``yahoo_pairs.csv``) and ``20newsgroups``, which stand in for them.
    """
    path = Path(path)
    if not (path / "yahoo_pairs.csv").exists():
        return [_techtc_task(path, name) for name in list_techtc_tasks(path)]
    return [*directory_pairs(path), *_newsgroup_pairs(path / "20newsgroups")]


def _techtc_task(path: Path, name: str) -> Task:
    data = load_techtc(path, task=name)
    return Task(name, "TechTC-300", data.X, _labels(data), data.feature_names)


def _labels(data: Dataset) -> NDArray[Any]:
    """Return labels, or say that there are none."""
    if data.y is None:
        raise ValueError(f"{data.source}: there are no labels; put them in y.npy beside X.npz.")
    return data.y


def directory_pairs(folder: Path) -> Iterator[Task]:
    """Yield pairs of categories of the Yahoo! directory; their words have no names."""
    with open(folder / "yahoo_pairs.csv", newline="", encoding="utf-8") as file:
        pairs = list(csv.DictReader(file))
    for pair in pairs:
        place = folder / f"yahoo_{pair['set']}"
        labels = (
            np.load(place / "y_multi.npy")
            if (place / "y_multi.npy").exists()
            else np.load(place / "y_multi.npz")["labels"]
        )
        first, second = (labels[:, int(pair[key])] == 1 for key in ("label_a", "label_b"))
        rows = np.flatnonzero((labels.sum(axis=1) == 1) & (first | second))
        X = sparse.csr_array(sparse.load_npz(place / "X.npz"))[rows].astype(np.float64)
        yield Task(
            f"{pair['set']} {pair['label_a']}/{pair['label_b']}",
            "Yahoo! directory pairs, in place of TechTC-300",
            X[:, np.flatnonzero(X.sum(axis=0))],
            np.where(first[rows], 1, -1),
        )


def _newsgroup_pairs(folder: Path) -> Iterator[Task]:
    """Yield pairs of newsgroups with 75 to 140 messages each."""
    classes = (folder / "classes.txt").read_text(encoding="utf-8").split()
    everything = read_data(folder, target="y_multi")
    names, X, y = everything.feature_names, everything.X, _labels(everything)
    assert names is not None  # The folder has features.txt.gz.
    long_words = np.flatnonzero(np.char.str_len(names) >= _MIN_LETTERS)
    for number, pair in enumerate(_GROUP_PAIRS):
        rows = np.sort(
            np.concatenate(
                [
                    _evenly(np.flatnonzero(y == group), number, side)
                    for side, group in enumerate(pair)
                ]
            )
        )
        counts = X[rows][:, long_words]
        used = np.flatnonzero(counts.sum(axis=0))
        yield Task(
            f"{classes[pair[0]]}/{classes[pair[1]]}",
            "newsgroup pairs, in place of TechTC-300",
            counts[:, used],
            y[rows],
            names[long_words[used]],
        )


def _evenly(rows: NDArray[np.intp], number: int, side: int) -> NDArray[np.intp]:
    """Return some of the rows, at even distances; how many depends on pair and side."""
    spread = _MAX_MESSAGES - _FEWEST_MESSAGES + 1
    size = _FEWEST_MESSAGES + (29 * number + 17 * side) % spread
    return rows[np.linspace(0, len(rows) - 1, size).astype(np.intp)]


def ccat_task(path: str | Path | None) -> Task:
    """Return RCV1-CCAT, or the sample that stands in for it.

    Parameters
    ----------
    path : str, Path or None
        A folder with ``rcv1_ccat``, which stands in; a folder of SVMlight files; None fetches
        the original with scikit-learn.
    """
    if path is not None and (Path(path) / "rcv1_ccat").exists():
        data = read_data(Path(path) / "rcv1_ccat")
        y = _labels(data)
        source = "a sample of RCV1-v2 in place of RCV1-CCAT"
        train, test = train_test_split(
            np.arange(len(y)), train_size=_CCAT_TRAIN_SHARE, stratify=y, random_state=0
        )
        rows = np.concatenate([train, test])
        return Task("CCAT", source, data.X[rows], y[rows], data.feature_names, len(train))
    train, test = load_rcv1_ccat(path)
    X = sparse.csr_array(sparse.vstack([train.X, test.X]))
    y = np.concatenate([_labels(train), _labels(test)])
    return Task("CCAT", "RCV1-CCAT", X, y, train.feature_names, train.X.shape[0])
