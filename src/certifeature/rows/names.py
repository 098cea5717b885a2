"""What the names of columns say: which are no features, and which a spreadsheet has changed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from math import lgamma, log
from typing import Any

import numpy as np

from certifeature._utils import warn
from certifeature.rows.matrix import dense, stored_values

IDENTIFIER, CIRCUMSTANCE = "an identifier", "a code of circumstance"


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# Those who are measured, perhaps several times; the loose ones need a word such as "number".
_PATIENTS = _set("patient subject participant donor")
_LOOSE = _set("person individual case family animal mouse rat pair record row study")
_NUMBERS = ("id", "no", "nr", "number", "num", "code", "name")
_IDENTIFIERS = _PATIENTS | _set("id identifier uid uuid guid sample specimen aliquot barcode")
_IDENTIFIERS |= {"accession"}
_CIRCUMSTANCES = _set("batch plate run lane array scanner sequencer operator technician site")
_CIRCUMSTANCES |= _set("centre center hospital clinic institution institute")
# Iduronate 2-sulfatase, in people and in mice.
_GENES = frozenset({"IDS", "Ids"})
_STEMS = (_IDENTIFIERS | _CIRCUMSTANCES | _LOOSE) - {"id"}
# The age of a patient or the type of a sample may be a feature, or the label.
_PROPERTIES = _set(
    "age sex gender weight height size count type status class group stage grade diagnosis outcome "
    "response history score length time temperature volume distance entropy purity x y z"
)
# "IDs" and "Ids" are one word each; letters beyond ASCII count as small ones.
_WORD = re.compile(r"[A-Z]+s?(?![^\W\d_A-Z])|[A-Z]?[^\W\d_A-Z]+")
# More names that differ only in their numbers are a series of features.
_MAX_SERIES = 10
_MONTH = "(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"
_CHANGED = re.compile(
    rf"\d\d?-{_MONTH}(?:-\d+)?|{_MONTH}-\d\d|\d{{4}}-\d\d-\d\d 00:00:00|\d(?:[.,]\d+)?E\+\d\d"
)
_GENE = re.compile(rf"({_MONTH})(?i:t|tin|c|ch|chf)?(\d{{1,2}})")


def first_few(names: Sequence[str], n_shown: int = 8) -> str:
    """Return the first few names as text."""
    shown = ", ".join(repr(name[:60]) for name in names[:n_shown]) or "nothing"
    n_left = len(names) - n_shown
    return f"{shown} and {n_left} more" if n_left > 0 else shown


@lru_cache(2**16)
def role_of(name: str) -> str | None:
    """Return what values of such a name are if they are codes, or None if nothing says so.

    Examples
    --------
    >>> role_of("PatientID"), role_of("sample_ids"), role_of("scanner-no")
    ('an identifier', 'an identifier', 'a code of circumstance')
    >>> role_of("ID1"), role_of("RUNX1"), role_of("patient age")
    (None, None, None)
    """
    words = set(_words(name))
    if words & _PROPERTIES or name in _GENES:
        return None
    if words & _CIRCUMSTANCES:
        return CIRCUMSTANCE
    return IDENTIFIER if words & _IDENTIFIERS or (words & _LOOSE and words & {*_NUMBERS}) else None


def is_owner(name: str) -> bool:
    """Tell whether values of such a name may say who was measured, perhaps several times."""
    words = set(_words(name))
    return bool(words & (_PATIENTS | _LOOSE)) and not words & _PROPERTIES


def _words(name: str) -> Iterator[str]:
    """Yield the words of a name, singular and in lower case; "patientid" is two of them.

    A word joined to a digit is none: ID1 is a gene.
    """
    for match in _WORD.finditer(name):
        around = name[max(0, match.start() - 1) : match.start()] + name[match.end() :][:1]
        if not any(map(str.isdigit, around)):
            word = re.sub(r"(?<=ch)es$|s$", "", match.group().lower())
            stem = next((word.removesuffix(n) for n in _NUMBERS if word.endswith(n)), "")
            yield from (stem, "id") if stem in _STEMS else (word,)


@np.errstate(invalid="ignore")
def not_features(X: Any, names: Sequence[str], texts: Collection[int] = ()) -> dict[int, str]:
    """Return the columns that hardly are features, and what each seems to be instead.

    Identifiers and codes of circumstance have a name that says so (see `role_of`), and whole
    numbers or text; or they are whole numbers that rise from row to row, whatever their name.
    Counts of words are features even if a word is called so: in a table that is mostly zero, a
    column that is mostly zero stays.

    Parameters
    ----------
    X : ndarray or sparse array of shape (n_samples, n_features)
        Values; missing ones are NaN.
    names : sequence of str
        Names of the columns.
    texts : collection of int, default=()
        The columns of text, whatever X has there.

    Examples
    --------
    >>> X = np.random.default_rng(0).integers(0, 3, (30, 3))
    >>> not_features(X, ["ID1", "Batch no.", "RUNX1"])
    {1: 'a code of circumstance'}
    """
    n_rows, n_features = X.shape
    roles = {j: role for j, name in enumerate(names) if (role := role_of(str(name)))}
    stems = {j: re.sub(r"\d+", "", str(names[j])) for j in roles}
    n_alike = Counter(stems.values())
    by_name = [j for j in roles if n_alike[stems[j]] <= _MAX_SERIES]
    few = 2 * np.count_nonzero(stored_values(X)) < n_rows * n_features if by_name else False
    columns = dense(X[:, by_name]) if by_name else np.empty((n_rows, 0))
    whole = (columns % 1 == 0) | ~np.isfinite(columns)
    is_code = whole.all(axis=0) & ~(few & (2 * np.count_nonzero(columns, axis=0) < n_rows))
    found = {j: IDENTIFIER for j in _rising(X) if j not in texts}
    found |= {j: roles[j] for j, fine in zip(by_name, is_code, strict=True) if fine or j in texts}
    return dict(sorted(found.items()))


def said_of(roles: Mapping[str, str]) -> Iterator[tuple[list[str], str]]:
    """Yield columns that seem to be the same, and that in words, given what each seems to be.

    Examples
    --------
    >>> list(said_of({"PatientID": IDENTIFIER}))
    [(['PatientID'], "'PatientID', which seems to be an identifier")]
    """
    for kind in sorted(set(roles.values())):
        names = [name for name, role in roles.items() if role == kind]
        each = "each of which seems" if len(names) > 1 else "which seems"
        yield names, f"{first_few(names, 4)}, {each} to be {kind}"


def warn_of_roles(X: Any, names: Sequence[str], where: str = "") -> None:
    """Warn of columns that hardly are features; for a file, the warning begins with its name."""
    roles = {str(names[j]): role for j, role in not_features(X, names).items()}
    for _, seems in said_of(roles):
        warn(f"{where}among the features is {seems}; drop it unless that is meant.")


def _rising(X: Any) -> list[int]:
    """Return the columns of whole numbers that rise from row to row, unless chance explains it."""
    n_rows, n_features = X.shape
    columns = np.arange(n_features)
    if lgamma(n_rows + 1) < log(1000 * max(1, n_features)):
        return []
    # Nearly all columns are out after a few rows.
    for row in range(n_rows - 1):
        pair = dense(X[row : row + 2])[:, columns]
        columns = columns[(pair[0] < pair[1]) & (pair % 1 == 0).all(axis=0)]
        if not columns.size:
            break
    return columns.tolist()


def changed_names(names: Sequence[str]) -> list[str]:
    """Return the names that a spreadsheet may have made of the names of genes.

    Where most names are dates, they are meant to be.

    Examples
    --------
    >>> changed_names(["TP53", "2-Sep", "BRCA1", "2.31E+13", "MYC"])
    ['2-Sep', '2.31E+13']
    """
    changed = [str(name) for name in names if _CHANGED.fullmatch(str(name))]
    return changed if 2 * len(changed) < len(names) else []


def as_changed(name: str, names: Collection[str]) -> str | None:
    """Return which of the names a spreadsheet may have made of one that is missing.

    Examples
    --------
    >>> as_changed("SEPT2", ["TP53", "2-Sep"]), as_changed("2310009E13", ["2.31E+19"])
    ('2-Sep', '2.31E+19')
    """
    forms = [f"{float(name):.2E}"] if re.fullmatch(r"\d+E\d\d", name) else []
    gene = _GENE.fullmatch(name)
    if gene:
        month, number = gene[1].capitalize(), int(gene[2])
        forms += [f"{number}-{month}", f"{number:02}-{month}", f"{month}-{number:02}"]
    return next((form for form in forms if form in names), None)


def hint_for(name: str, names: Collection[str]) -> str:
    """Return what to do about a name that is missing, which a spreadsheet may have changed."""
    changed = as_changed(name, names)
    return f"a spreadsheet may have made {changed!r} of it" if changed else "check its name"
