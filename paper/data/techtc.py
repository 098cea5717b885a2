"""TechTC-300: text categorisation tasks made of pairs of web directory categories."""

from __future__ import annotations

import os
import re
import zipfile
from collections.abc import Callable
from numbers import Integral
from pathlib import Path, PurePosixPath
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from certifeature.datasets.dataset import Dataset
from certifeature.io._common import as_utf8, checked_data, decoding
from certifeature.io.svmlight import SVMlightRows, parse_svmlight
from certifeature.rows.names import first_few

__all__ = ["list_techtc_tasks", "load_techtc"]

_SITE = "http://techtc.cs.technion.ac.il/techtc300/techtc300.html"
_VECTORS, _WORDS = "vectors.dat", "features.idx"
# The tasks have a few megabytes; an archive that unpacks to more is not one of them.
_LARGEST_MEMBER = 2**30
_INDEX_AND_WORD = re.compile(r"\s*(\d{1,10})\s+(\S+)\s*", re.ASCII)


def list_techtc_tasks(path: str | os.PathLike[str]) -> list[str]:
    """List the TechTC-300 tasks in a folder or a zip archive.

    Parameters
    ----------
    path : str or path
        The folder or archive.

    Returns
    -------
    tasks : list of str
        The names of the folders that hold ``vectors.dat``, sorted.

    Raises
    ------
    FileNotFoundError
        If the path does not exist; the message says where to get the data.
    ValueError
        If there is no task, if two have the same name, or if the archive is damaged.

    See Also
    --------
    load_techtc : Load one of them.

    Examples
    --------
    >>> import tempfile, zipfile
    >>> from pathlib import Path
    >>> from paper.data.techtc import list_techtc_tasks
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "tasks.zip")
    ...     with zipfile.ZipFile(path, "w") as archive:
    ...         archive.writestr("Exp_1_2/vectors.dat", "1 1:1")
    ...         archive.writestr("Exp_1_3/vectors.dat", "1 1:1")
    ...     list_techtc_tasks(path)
    ['Exp_1_2', 'Exp_1_3']
    """
    return sorted(_tasks(Path(path)))


def load_techtc(
    path: str | os.PathLike[str], *, task: str | None = None, min_letters: int = 5
) -> Dataset:
    r"""Load a task of the TechTC-300 collection: tell two kinds of web pages apart.

    Parameters
    ----------
    path : str or path
        The folder of the task, with ``vectors.dat`` and ``features.idx``; or a folder or zip
        archive with one or more such folders, at any depth.
    task : str or None, default=None
        The name of the task, such as ``"Exp_1092_135724"``. It may be left out where there
        is only one.
    min_letters : int, default=5
        Shorter words are left out. The default is that of [1]_; 1 keeps all.

    Returns
    -------
    data : Dataset
        The word counts as a CSR array with one column a word, in the order of their
        indices; the labels; and the words.

    Raises
    ------
    FileNotFoundError
        If the path or one of the two files does not exist; the message says where to get
        the data.
    ValueError
        If a file is not as it should be, if there are not exactly two classes, or if the
        archive is damaged.

    See Also
    --------
    list_techtc_tasks : The tasks in a folder or archive.
    certifeature.io.read_data : Other files.

    Notes
    -----
    The collection is described in [2]_ and found at
    http://techtc.cs.technion.ac.il/techtc300/techtc300.html.

    References
    ----------
    .. [1] S. Paul, M. Magdon-Ismail and P. Drineas, "Feature selection for linear SVM with
       provable guarantees", Proceedings of the 18th International Conference on Artificial
       Intelligence and Statistics, PMLR 38, 735-743, 2015.
    .. [2] D. Davidov, E. Gabrilovich and S. Markovitch, "Parameterized generation of labeled
       datasets for text categorization based on a hierarchical directory", Proceedings of
       the 27th International ACM SIGIR Conference, 250-257, 2004.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from paper.data.techtc import load_techtc
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "vectors.dat").write_text("# a page\n1 1:2 3:1\n# another\n-1 2:4\n")
    ...     _ = Path(folder, "features.idx").write_text("# words\n1 guitar\n2 engine\n3 the\n")
    ...     data = load_techtc(folder)
    >>> data.X.toarray()
    array([[2., 0.],
           [0., 4.]])
    >>> data.y.tolist(), data.feature_names.tolist()
    ([1, -1], ['guitar', 'engine'])
    """
    _check_min_letters(min_letters)
    path = Path(path)
    tasks = _tasks(path)
    if task is None and len(tasks) == 1:
        task = next(iter(tasks))
    if task not in tasks:
        given = "no task was given" if task is None else f"task={task!r} is not there"
        raise ValueError(
            f"{path}: {given}. The tasks are {first_few(sorted(tasks))}. Give one of them as task."
        )
    read = tasks[task]
    content, source = read(_WORDS)
    indices, words = _parse_words(content, source)
    content, source = read(_VECTORS)
    rows = parse_svmlight(content, source)
    _check_rows(rows, indices)
    kept = np.char.str_len(words) >= min_letters
    X = rows.matrix(np.searchsorted(indices, rows.X.indices), words.size)[:, np.flatnonzero(kept)]
    return checked_data(X, rows.labels, words[kept], source)


def _tasks(path: Path) -> dict[str, Callable[[str], tuple[bytes, str]]]:
    """Map the name of each task to a function that reads one of its files."""
    if not path.exists():
        raise FileNotFoundError(
            f"{path}: no such file or folder. TechTC-300 is at {_SITE}: download it, and give the "
            "zip archive or the folder it unpacks to."
        )
    found = _tasks_of_folder(path) if path.is_dir() else _tasks_of_archive(path)
    if not found:
        raise ValueError(
            f"{path}: there is no {_VECTORS} in it, so it holds no task. TechTC-300 is at {_SITE}."
        )
    tasks = dict(found)
    if len(tasks) < len(found):
        raise ValueError(
            f"{path}: {len(found)} folders hold tasks of {len(tasks)} names. Give a folder or "
            "archive where the names of the tasks are distinct."
        )
    return tasks


def _tasks_of_folder(path: Path) -> list[tuple[str, Callable[[str], tuple[bytes, str]]]]:
    def reader(folder: Path) -> Callable[[str], tuple[bytes, str]]:
        def read(name: str) -> tuple[bytes, str]:
            file = folder / name
            if not file.is_file():
                _raise_missing(str(file))
            return file.read_bytes(), str(file)

        return read

    folders = [file.parent for file in path.rglob(_VECTORS)]
    return [(folder.resolve().name, reader(folder)) for folder in folders]


def _tasks_of_archive(path: Path) -> list[tuple[str, Callable[[str], tuple[bytes, str]]]]:
    def reader(folder: PurePosixPath) -> Callable[[str], tuple[bytes, str]]:
        def read(name: str) -> tuple[bytes, str]:
            member = str(folder / name)
            source = f"{path}, {member}"
            if member not in members:
                _raise_missing(source)
            with decoding(source, "a member of a zip archive"):
                if members[member].file_size > _LARGEST_MEMBER:
                    raise ValueError(f"it unpacks to {members[member].file_size} bytes")
                with zipfile.ZipFile(path) as archive:
                    return archive.read(member), source

        return read

    with decoding(str(path), "a zip archive"), zipfile.ZipFile(path) as archive:
        members = {member.filename: member for member in archive.infolist()}
    files = [file for file in map(PurePosixPath, members) if file.name == _VECTORS]
    return [(file.parent.name or path.stem, reader(file.parent)) for file in files]


def _raise_missing(source: str) -> NoReturn:
    raise FileNotFoundError(
        f"{source}: no such file; a task needs {_VECTORS} and {_WORDS}. TechTC-300 is at {_SITE}."
    )


def _parse_words(content: bytes, source: str) -> tuple[NDArray[np.int64], NDArray[np.str_]]:
    """Return the indices in increasing order, and the word of each."""
    as_utf8(content, source)
    words: dict[int, str] = {}
    for line, text in enumerate(content.decode("utf-8").split("\n"), start=1):
        if not text.strip() or text.startswith("#"):
            continue
        match = _INDEX_AND_WORD.fullmatch(text)
        if match is None or int(match[1]) in words:
            why = "is not an index and a word" if match is None else "gives an index once more"
            raise ValueError(
                f"{source}, line {line}: {text[:60]!r} {why}. Lines such as '17 guitar' are "
                "needed, one an index; check that the file is complete."
            )
        words[int(match[1])] = match[2]
    indices = np.array(sorted(words), dtype=np.int64)
    return indices, np.array([words[index] for index in indices.tolist()], dtype=np.str_)


def _check_rows(rows: SVMlightRows, indices: NDArray[np.int64]) -> None:
    rows.require(
        np.isin(rows.X.indices, indices),
        f"it is not in {_WORDS}, so its word is not known. Check that both files are complete and "
        "of the same task.",
    )
    classes = [f"{label:g}" for label in np.unique(rows.labels)]
    if len(classes) != 2:
        raise ValueError(
            f"{rows.source}: there are {len(classes)} classes, {first_few(classes)}, and a "
            "task has two. Check that the file is complete."
        )


def _check_min_letters(min_letters: object) -> None:
    if not isinstance(min_letters, Integral) or min_letters < 0:
        raise ValueError(
            f"min_letters={min_letters!r} is not a whole number of at least 0. Give one; 5 is the "
            "paper's, 1 keeps all words."
        )
