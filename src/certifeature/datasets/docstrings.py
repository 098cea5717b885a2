"""A real text classification task, included: words of docstrings."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.utils import Bunch

from certifeature._utils import check_choice

_FILE = Path(__file__).with_name("docstrings.npz")
_VERSIONS = {"numpy": "2.4.6", "scipy": "1.17.1", "sklearn": "1.9.1"}

_DESCR = """\
Docstrings of Python packages
-----------------------------

Each document is the docstring of one public function, class or other callable; its class is
the package that the object belongs to. Package names, dotted paths, web addresses, version
directives and imports of these packages are removed from the text.

{counts}

{n_documents} documents, {n_words} words, weighting {weighting!r}.
"""


def load_docstrings(
    *,
    packages: Iterable[str] = ("scipy", "sklearn"),
    weighting: str = "tfidf",
    return_X_y: bool = False,
) -> Bunch | tuple[Any, NDArray[np.int64]]:
    """Load a text classification task: tell which package a docstring comes from.

    The data are included: thousands of real documents over thousands of words.

    Parameters
    ----------
    packages : iterable of str, default=("scipy", "sklearn")
        The classes: two or three of "numpy", "scipy" and "sklearn". Their order does not
        matter.
    weighting : {"tfidf", "counts"}, default="tfidf"
        What an entry of the data is: the term frequency times the inverse document
        frequency, with rows of unit Euclidean length, or the number of times that the word
        occurs in the document.
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` instead of a Bunch.

    Returns
    -------
    bunch : :class:`~sklearn.utils.Bunch`
        Dictionary-like object, with the attributes:

        data : CSR matrix of shape (n_documents, n_words), dtype float64
            The weights of the words in the documents.
        target : ndarray of shape (n_documents,), dtype int64
            The class of each document, as an index into ``target_names``.
        feature_names : ndarray of str, shape (n_words,)
            The words.
        target_names : ndarray of str, shape (n_classes,)
            The packages, sorted.
        documents : ndarray of object, shape (n_documents,)
            The dotted name of the object that each docstring belongs to, sorted.
        DESCR : str
            A description, with the versions of the packages and their document counts.
    (data, target) : tuple
        If `return_X_y` is True.

    Raises
    ------
    ValueError
        If `packages` or `weighting` is not one of the values allowed.

    See Also
    --------
    make_relevant_features : Synthetic data where the relevant features are known.

    Notes
    -----
    Words are runs of at least three letters, in lower case; those that occur in one document
    only are left out. So are documents of fewer than 30 words. Documents with the same words
    are kept once, or not at all where two packages share them.

    What would give the class away is removed: the names of the packages, dotted paths that
    start with one, imports of them and the imported names where these are a prefix (``stats``
    in ``stats.norm`` after ``from scipy import stats``), web addresses, and Sphinx directives
    about versions. What is left is subject matter and house style.

    The documents are sorted by name, hence by class: shuffle before splitting without
    stratification. They are those of NumPy 2.4.6, SciPy 1.17.1 and scikit-learn 1.9.1, whatever
    versions are installed.

    Examples
    --------
    >>> bunch = load_docstrings()
    >>> bunch.target_names.tolist()
    ['scipy', 'sklearn']
    >>> bunch.data.shape
    (2005, 7419)
    >>> "scipy.linalg.solve" in bunch.documents
    True
    >>> "scipy" in bunch.feature_names
    False
    """
    classes = sorted(set(packages))
    if len(classes) < 2 or not set(classes) <= set(_VERSIONS):
        needed = f"at least two of {list(_VERSIONS)!r}"
        raise ValueError(f"packages={packages!r} are not {needed}. Give two or three of these.")
    check_choice("weighting", weighting, ("counts", "tfidf"))
    with np.load(_FILE, allow_pickle=False) as file:
        documents, words, counts = (file[name] for name in ("documents", "words", "counts"))
        places = divmod(np.cumsum(file["steps"], dtype=np.int64), len(words))
    documents = documents.astype(str)
    package = np.array([name.partition(".")[0] for name in documents])
    asked = np.isin(package, classes)
    shape = len(documents), len(words)
    data = sparse.csr_matrix((counts.astype(np.float64), places), shape=shape)[asked]
    is_shared = data.getnnz(axis=0) >= 2
    data = data[:, is_shared]
    if weighting == "tfidf":
        data = TfidfTransformer().fit_transform(data)
    target = np.searchsorted(classes, package[asked])
    if return_X_y:
        return data, target
    lines = [
        f"- {name} {_VERSIONS[name]}: {n_documents} documents"
        for name, n_documents in zip(classes, np.bincount(target), strict=True)
    ]
    n_documents, n_words = data.shape
    return Bunch(
        data=data,
        target=target,
        feature_names=words[is_shared].astype(str),
        target_names=np.array(classes),
        documents=documents[asked].astype(object),
        DESCR=_DESCR.format(
            counts="\n".join(lines), n_documents=n_documents, n_words=n_words, weighting=weighting
        ),
    )
