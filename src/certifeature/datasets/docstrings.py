"""A real text classification task, made of docstrings that are already installed."""

import importlib
import re
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.utils import Bunch

from certifeature._utils import check_choice

_PACKAGES = ("numpy", "scipy", "sklearn")
_VECTORIZERS = {"counts": CountVectorizer, "tfidf": TfidfVectorizer}
_WORD = r"[a-z]{3,}"
_MIN_WORDS = 30

# Test helpers document testing; externals are copies of other projects.
_SKIPPED_NAMES = frozenset({"conftest", "externals", "test", "testing", "tests"})
# An object with this line in its docstring is in its module only after somebody has run that
# line: left out, so that the data do not depend on what else the process has imported.
_OPT_IN_IMPORT = "from sklearn.experimental import"

_ROOT = r"\b(?:numpy|scipy|sklearn|np|sp)\b"
_IMPORT = re.compile(
    rf"^[ \t>.]*(?:from[ ]+{_ROOT}[\w.]*[ ]+import[ ]+(?P<names>\([^)]*\)|.*)"
    rf"|import[ ]+(?P<modules>{_ROOT}.*))",
    re.MULTILINE,
)
# Web addresses, directives about versions, references, dotted paths, and the other name of sklearn.
_GIVE_AWAY = re.compile(
    r"https?://\S+|^[ \t]*\.\.[ ]+(?:versionadded|versionchanged|deprecated)::.*$"
    rf"|:[a-z:]+:`[^`]*{_ROOT}\.[^`]*`|{_ROOT}(?:\.\w+)+|scikit[-\s]+learn",
    re.MULTILINE,
)
_GIVE_AWAY_PART = re.compile("numpy|scikit|scipy|sklearn")
_PREFIX = re.compile(r"\b(\w+)\.(?=\w)")

_DESCR = """\
Docstrings of installed packages
--------------------------------

Each document is the docstring of one public function, class or other callable; its class is
the package that the object belongs to. Package names, dotted paths, web addresses, version
directives and imports of these packages are removed from the text. The documents depend on
the versions installed:

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

    The documents are the docstrings of the public objects of installed packages, so there
    is nothing to download: thousands of real documents over thousands of words.

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
    stratification. They change with the installed versions of the packages.

    Examples
    --------
    >>> bunch = load_docstrings()
    >>> bunch.target_names.tolist()
    ['scipy', 'sklearn']
    >>> bunch.data.shape[0] > 500, bunch.data.shape[1] > 1000
    (True, True)
    >>> "scipy.linalg.solve" in bunch.documents
    True
    >>> "scipy" in bunch.feature_names
    False
    """
    classes = sorted(set(packages))
    if len(classes) < 2 or not set(classes) <= set(_PACKAGES):
        needed = f"at least two of {list(_PACKAGES)!r}"
        raise ValueError(f"packages={packages!r} are not {needed}. Give two or three of these.")
    check_choice("weighting", weighting, _VECTORIZERS)
    documents = _collect(classes)
    vectorizer = _VECTORIZERS[weighting](token_pattern=_WORD, min_df=2, dtype=np.float64)
    data = vectorizer.fit_transform(documents.values())
    # Dropping rare words leaves the columns of a row unsorted.
    data.sum_duplicates()
    target = np.array([classes.index(_package_of(name)) for name in documents], dtype=np.int64)
    if return_X_y:
        return data, target
    return Bunch(
        data=data,
        target=target,
        feature_names=vectorizer.get_feature_names_out().astype(str),
        target_names=np.array(classes),
        documents=np.array(list(documents), dtype=object),
        DESCR=_describe(documents, n_words=data.shape[1], weighting=weighting),
    )


def _collect(packages: Sequence[str]) -> dict[str, str]:
    """Map the name of each object, in sorted order, to the words of its docstring."""
    names_by_text = defaultdict(list)
    with warnings.catch_warnings():
        # Deprecated submodules say so when imported, which is no concern of the caller's.
        warnings.simplefilter("ignore")
        for package in packages:
            for name, docstring in _docstrings(package):
                names_by_text[_clean(docstring)].append(name)
    texts = {
        min(names, key=lambda name: (name.count("."), name)): text
        for text, names in names_by_text.items()
        if len(text.split()) >= _MIN_WORDS and len(set(map(_package_of, names))) == 1
    }
    return dict(sorted(texts.items()))


def _docstrings(package: str) -> Iterator[tuple[str, str]]:
    """Yield the dotted names and docstrings of the callables in the public modules."""
    waiting, seen = {package: importlib.import_module(package)}, set()
    while waiting:
        path, module = waiting.popitem()
        seen.add(path)
        for name, value in _members(module):
            # Ufuncs and some compiled functions do not say where they are from.
            origin = getattr(value, "__module__", None) or package
            if isinstance(value, ModuleType):
                if _package_of(value.__name__) == package and value.__name__ not in seen:
                    waiting[value.__name__] = value
            elif callable(value) and _package_of(str(origin)) == package:
                docstring = value.__doc__
                if isinstance(docstring, str) and _OPT_IN_IMPORT not in docstring:
                    yield f"{path}.{name}", docstring


def _members(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """Yield the public names of a module, and what it holds under them.

    That may be a submodule which is not yet imported. Only vars() is asked: SciPy's deprecated
    modules serve their names by a module-level __getattr__ that warns, and none of these names is a
    document of its own.
    """
    content, name = vars(module), module.__name__
    own = [key for key, value in content.items() if getattr(value, "__module__", None) == name]
    for key in content.get("__all__", own):
        if key.startswith("_") or key in _SKIPPED_NAMES:
            continue
        if key not in content and "__path__" in content:
            # There may be no submodule, or it needs a package which is not installed.
            with suppress(ImportError):
                importlib.import_module(f"{name}.{key}")
        yield key, content.get(key)


def _package_of(dotted_name: str) -> str:
    return dotted_name.partition(".")[0]


def _clean(docstring: str) -> str:
    """Reduce a docstring to its words, without those that give its package away."""
    text = docstring.lower()
    imports = [match["names"] or match["modules"] for match in _IMPORT.finditer(text)]
    aliases = set(re.findall(r"\w+", " ".join(imports)))
    text = _GIVE_AWAY.sub(" ", _IMPORT.sub(" ", text))
    text = _PREFIX.sub(lambda match: " " if match[1] in aliases else match[0], text)
    words = re.findall(_WORD, text)
    return " ".join(word for word in words if not _GIVE_AWAY_PART.search(word))


def _describe(documents: Iterable[str], *, n_words: int, weighting: str) -> str:
    counts = Counter(map(_package_of, documents))
    lines = [
        f"- {package} {importlib.import_module(package).__version__}: {count} documents"
        for package, count in counts.items()
    ]
    return _DESCR.format(
        counts="\n".join(lines), n_documents=counts.total(), n_words=n_words, weighting=weighting
    )
