"""RCV1: news stories on corporate and industrial affairs against the rest."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.datasets import fetch_rcv1

from certifeature.datasets.dataset import Dataset
from certifeature.io._common import checked_data, read_bytes
from certifeature.io.svmlight import SVMlightRows, parse_svmlight
from certifeature.rows.names import first_few

__all__ = ["load_rcv1_ccat"]

_TOPIC = "CCAT"
_N_TRAIN = 23_149
_N_WORDS = 47_236
_SITE = "http://jmlr.csail.mit.edu/papers/volume5/lewis04a/lyrl2004_rcv1v2_README.htm"
_TOPICS = "rcv1-v2.topics.qrels"
_TRAIN = ("lyrl2004_vectors_train.dat",)
_TEST = tuple(f"lyrl2004_vectors_test_pt{part}.dat" for part in range(4))

_Path = str | os.PathLike[str]


def load_rcv1_ccat(
    path: _Path | tuple[_Path, _Path] | None = None, *, data_home: _Path | None = None
) -> tuple[Dataset, Dataset]:
    r"""Load RCV1 with the topic CCAT against the rest, split as in LYRL2004.

    Parameters
    ----------
    path : str, path, pair of these or None, default=None
        None takes what :func:`sklearn.datasets.fetch_rcv1` has stored, or downloads it. A
        folder holds the files of [1]_ as they are distributed, compressed with gzip or not:
        ``lyrl2004_vectors_train.dat``, ``lyrl2004_vectors_test_pt0.dat`` to ``pt3`` and
        ``rcv1-v2.topics.qrels``. A pair names two SVMlight files, for training and for
        testing, whose positive labels are CCAT.
    data_home : str, path or None, default=None
        Where scikit-learn stores data sets, if `path` is None.

    Returns
    -------
    train, test : Dataset
        The tf-idf vectors as CSR arrays with 47,236 columns, and the labels: +1 for CCAT, -1
        for the rest. The first 23,149 stories are for training.

    Raises
    ------
    FileNotFoundError
        If the data cannot be downloaded, or a file does not exist.
    ValueError
        If a file is not as it should be.

    See Also
    --------
    certifeature.io.read_data : Other files.

    Notes
    -----
    The download has hundreds of megabytes. scikit-learn stores what it downloads as pickles: give a
    `data_home` that others cannot write to.

    References
    ----------
    .. [1] D. D. Lewis, Y. Yang, T. G. Rose and F. Li, "RCV1: a new benchmark collection for
       text categorization research", Journal of Machine Learning Research 5, 361-397, 2004.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from paper.data.rcv1 import load_rcv1_ccat
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     train, test = Path(folder, "train.svm"), Path(folder, "test.svm")
    ...     _ = train.write_text("+1 5:0.6 9:0.8\n-1 47236:1\n")
    ...     _ = test.write_text("-1 5:1\n")
    ...     train, test = load_rcv1_ccat((train, test))
    >>> train.X.shape, train.y.tolist(), test.y.tolist()
    ((2, 47236), [1, -1], [-1])
    """
    if path is None:
        return _fetched(data_home)
    if isinstance(path, tuple):
        train, test = map(_parsed, path)
        return _data(train, train.labels > 0), _data(test, test.labels > 0)
    return _from_folder(Path(path))


def _fetched(data_home: _Path | None) -> tuple[Dataset, Dataset]:
    try:
        bunch = fetch_rcv1(data_home=data_home)
    except OSError as error:
        raise FileNotFoundError(
            f"RCV1 could not be downloaded or read from the store of scikit-learn ({error}). "
            f"Download {_TOPICS}.gz and lyrl2004_vectors_*.dat.gz from {_SITE} by hand into a "
            "folder, and give that folder as path."
        ) from error
    topic = int(np.flatnonzero(bunch.target_names == _TOPIC)[0])
    in_topic = np.asarray(sparse.csc_array(bunch.target)[:, [topic]].toarray()).ravel() != 0
    X, y = sparse.csr_array(bunch.data), _signs(in_topic)
    return (
        checked_data(X[:_N_TRAIN], y[:_N_TRAIN], None, "RCV1, training"),
        checked_data(X[_N_TRAIN:], y[_N_TRAIN:], None, "RCV1, test"),
    )


def _from_folder(folder: Path) -> tuple[Dataset, Dataset]:
    topics, topics_source = read_bytes(_file(folder, _TOPICS))
    stories = _stories_of_topic(topics, topics_source)
    train, test = ([_parsed(_file(folder, name)) for name in names] for names in (_TRAIN, _TEST))
    if train[0].labels.size != _N_TRAIN:
        raise ValueError(
            f"{train[0].source}: there are {train[0].labels.size} stories for training instead of "
            f"{_N_TRAIN}. The file is cut short or another one: download it again from {_SITE}."
        )
    # Each line starts with the number of the story, where other files have a label.
    X = sparse.vstack([_matrix(rows) for rows in test], format="csr")
    in_topic = np.isin(np.concatenate([rows.labels for rows in test]), stories)
    return (
        _data(train[0], np.isin(train[0].labels, stories)),
        checked_data(X, _signs(in_topic), None, f"{folder}, test"),
    )


def _file(folder: Path, name: str) -> Path:
    for candidate in (folder / name, folder / f"{name}.gz"):
        if candidate.is_file():
            return candidate
    found = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    raise FileNotFoundError(
        f"{folder}: there is neither {name} nor {name}.gz. There is {first_few(found)}. Download "
        f"it from {_SITE}, or give a pair of SVMlight files."
    )


def _stories_of_topic(content: bytes, source: str) -> NDArray[np.int64]:
    numbers = []
    for line, text in enumerate(content.split(b"\n"), start=1):
        fields = text.split()
        if fields and (len(fields) != 3 or not fields[1].isdigit() or len(fields[1]) > 10):
            raise ValueError(
                f"{source}, line {line}: {text[:60]!r} is not a topic, the number of a story, and "
                f"1. Download the file again from {_SITE}."
            )
        if fields and fields[0] == _TOPIC.encode():
            numbers.append(int(fields[1]))
    if not numbers:
        raise ValueError(
            f"{source}: no story has the topic {_TOPIC}. The file is cut short or another one: "
            f"download it again from {_SITE}."
        )
    return np.array(numbers, dtype=np.int64)


def _parsed(path: _Path) -> SVMlightRows:
    rows = parse_svmlight(*read_bytes(path))
    rows.require(
        (rows.X.indices >= 1) & (rows.X.indices <= _N_WORDS),
        f"the words of RCV1 are numbered from 1 to {_N_WORDS}. Check that it is the right file.",
    )
    return rows


def _matrix(rows: SVMlightRows) -> Any:
    return rows.matrix(rows.X.indices - 1, _N_WORDS)


def _data(rows: SVMlightRows, in_topic: NDArray[np.bool_]) -> Dataset:
    return checked_data(_matrix(rows), _signs(in_topic), None, rows.source)


def _signs(in_topic: NDArray[np.bool_]) -> Any:
    return np.where(in_topic, 1, -1).astype(np.int64)
