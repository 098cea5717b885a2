"""``certifeature doctor``: what is in a file, and what to do about it."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from certifeature.cli import preparing
from certifeature.cli.loading import MIN_CLASS, DataOptions
from certifeature.cli.options import JSONOption, with_options
from certifeature.cli.output import json_text, print_text, showing
from certifeature.datasets.dataset import Dataset
from certifeature.io._common import EncodingError, first_few
from certifeature.models.problem import are_numbers, has_decimals, too_many
from certifeature.rows.matrix import column_digests
from certifeature.rows.rows import Spread

_N_CLASSES = 10
_N_SHOWN = 5
_SIZE = 100


@with_options
def doctor_command(*, data: DataOptions, as_json: JSONOption = False) -> None:
    """Say what is in a file, what stands in the way, and which command to try.

    \b
    Examples:
      certifeature doctor genes.csv -t tumour
      certifeature doctor expression.tsv --transpose -t tumour
    """
    if "-" in data.paths:
        raise ValueError("doctor looks at files; write standard input to one, and give that.")
    with showing("reading"):
        data, found = _read(data)
    with showing("looking"):
        diagnosis = _Diagnosis(data, found)
    if as_json:
        facts = diagnosis.facts | {"advice": diagnosis.advice, "command": diagnosis.command}
        print_text(json_text({"source": data.paths, **facts}), as_data=True)
    else:
        advice = [f"! {line}" for line in diagnosis.advice]
        lines = [*diagnosis.lines, *advice, f"Try: {diagnosis.command}"]
        print_text("\n".join(lines) + "\n")


def _read(source: DataOptions) -> tuple[DataOptions, Dataset]:
    """Return the data, even if select would refuse them, and the options with their encoding."""
    accept = ("missing", "text", "unlabelled", "unnamed")
    try:
        return source, source.read(accept=accept)
    except EncodingError as error:
        if source.encoding is not None:
            raise
        source = replace(source, encoding=error.encoding)
        return source, source.read(accept=accept)


class _Diagnosis:
    """What is in the data.

    Attributes
    ----------
    facts : dict
        For JSON.
    lines, advice : list of str
        Facts, and what to do about them, in words.
    command : str
        The next command to try.
    """

    def __init__(self, source: DataOptions, data: Dataset) -> None:
        self._source, self._data = source, data
        self._n_rows, n_features = data.X.shape
        self._names = preparing.distinct_names(data.feature_names, n_features).tolist()
        self._numeric = [j for j in range(n_features) if j not in data.categories]
        self._owned_by = preparing.owners(data, self._names)
        # What the next command asks for: the options that were given, and those to add.
        one = ("format", "encoding", "target", "id", "groups", "impute", "categorical")
        given = ((name, getattr(source, name)) for name in one)
        self._options = {f"--{name}": [value] if value else [] for name, value in given}
        min_class = [str(source.min_class)] if source.min_class > 1 else []
        self._options |= {"--drop": source.dropped, "--scale": [], "--model": []}
        self._options |= {"--min-class": min_class, "-k": []}

        n_others = len(source.dropped) + bool(data.target)
        n_others += (data.ids is not None) + (source.groups not in (None, source.id))
        shape = f"{self._n_rows:,} samples, {n_features + n_others:,} columns"
        self.lines = [f"{' '.join(source.paths)}: {source.kind}, {shape}"]
        self.facts: dict[str, Any] = {"kind": source.kind, "n_rows": self._n_rows}
        self.facts |= {"n_columns": n_features + n_others, "n_numeric_features": len(self._numeric)}
        self.advice: list[str] = []
        # A long table that begins with names seems to have its samples in columns.
        is_long = source.kind != "parquet" and self._n_rows > n_features
        if data.y is None and is_long and len(data.categories.get(0, ())) == self._n_rows:
            remedy = "add --transpose, and name the row of labels with --target"
            self._advise("The features seem to be in rows and the samples in columns", remedy)
            self.command = self._said("doctor", "--transpose")
            return
        if source.encoding is not None:
            self.lines.append(f"encoding: {source.encoding}, and not UTF-8")
        # Without labels, only they are asked for.
        self.command = self._said("doctor", "--target", "COLUMN")
        self._labels()
        self._texts()
        self._owners()
        self._values()
        if data.y is not None:
            self._options["-k"] = [str(min(_SIZE, max(1, len(self._numeric) // 2)))]
            self.command = self._said("select")

    def _advise(self, found: str, remedy: str) -> None:
        self.advice.append(f"{found}: {remedy}.")

    def _said(self, command: str, *more: str) -> str:
        """Return a command as it is typed."""
        given = ((name, ",".join(values)) for name, values in self._options.items() if values)
        flags = ("transpose", "zero_based", "drop_unlabelled")
        asked = [f"--{flag.replace('_', '-')}" for flag in flags if getattr(self._source, flag)]
        # A name that begins with a dash would be taken for an option.
        paths = [f"./{path}" if path.startswith("-") else path for path in self._source.paths]
        return shlex.join(["certifeature", command, *chain(paths, asked, *given, more)])

    def _labels(self) -> None:
        y, target = self._data.y, self._data.target
        self.facts |= {"target": target, "classes": None}
        if y is None:
            self._advise("There are no labels", "name their column with --target")
            for name, counts in list(self._candidates())[:_N_CLASSES]:
                found = f"{name!r} may be the label: {_counted(counts)}"
                self._advise(found, f"--target {shlex.quote(name)}")
            return
        known = y[y != ""] if y.dtype.kind == "U" else y[~np.isnan(y)]
        counts = self.facts["classes"] = _counts(known)
        shown = _counted(counts)
        if are_numbers(known):
            self._options["--model"] = ["ridge"]
            decimals = " with decimals" if has_decimals(known) else ""
            shown = f"numbers{decimals}, {len(counts):,} different"
        elif len(counts) < 2:
            self._advise("All labels are equal", "two classes are needed")
        elif too_many(len(counts), len(y)):
            found = f"There are {len(counts):,} different labels, which look like names of rows"
            self._advise(found, "name others with --target")
        elif min(counts.values()) < MIN_CLASS:
            rarest, n = list(counts.items())[-1]
            remedy = f"errors will be uncertain; --min-class {MIN_CLASS} leaves such classes out"
            self._advise(f"Class {rarest!r} has only {n} sample{'s' if n > 1 else ''}", remedy)
        if y.dtype.kind == "i" and len(counts) > _N_CLASSES and not self._options["--model"]:
            found = f"The labels are {len(counts)} different whole numbers"
            self._advise(found, "if they are amounts and no classes, --model regression")
        if len(known) < len(y):
            remedy = "--drop-unlabelled leaves them out"
            self._advise(f"{len(y) - len(known)} samples have no label", remedy)
            self._source = replace(self._source, drop_unlabelled=True)
        self.lines.append(f"labels: {f'{target}, ' if target else ''}{shown}")

    def _candidates(self) -> Iterator[tuple[str, dict[str, int]]]:
        """Yield columns that may be the label: those of text or whole numbers with few values.

        Where many columns of numbers have few values, all may be alike (genotypes, for example).
        """
        X = self._data.X
        numeric = []
        if not sparse.issparse(X):
            numeric = [j for j in self._numeric if (X[:, j] % 1 == 0).all()]
            numeric = [j for j in numeric if len(np.unique(X[:, j])) <= _N_CLASSES]
        tried = [*self._data.categories, *(numeric if len(numeric) <= _N_CLASSES else ())]
        columns = {self._names[j]: self._fields(j) for j in tried}
        for name, fields in {**columns, **self._data.about}.items():
            counts = _counts(fields)
            if "" not in counts and 2 <= len(counts) <= min(_N_CLASSES, self._n_rows // 2):
                yield name, counts

    def _fields(self, feature: int) -> NDArray[np.str_]:
        """Return a column as text, "" where a field is missing."""
        column, names = self._data.X[:, feature], self._data.categories.get(feature)
        if names is None:
            return np.array([f"{value:.15g}" for value in column.tolist()])
        return np.where(np.isnan(column), "", names[np.nan_to_num(column).astype(int)])

    def _texts(self) -> None:
        categories = self._data.categories
        self.facts["text_columns"] = {self._names[j]: str(c[0]) for j, c in categories.items()}
        also = f", and {len(categories):,} of text" if categories else ""
        self.lines.append(f"features: {len(self._numeric):,} of numbers{also}")
        given = () if self._data.feature_names is None else self._data.feature_names
        repeated = [name for name, n in Counter(map(str, given)).items() if n > 1]
        if repeated:
            self.lines.append(f"names of several features: {first_few(repeated, 4)}")
        if self._data.about:
            self.lines.append(f"about the samples: {first_few(list(self._data.about))}")
        texts = [(self._names[j], c) for j, c in categories.items() if j not in self._owned_by]
        for number, (name, values) in enumerate(texts):
            names_rows = len(values) == self._n_rows
            # It may be the label, or it is encoded.
            if not names_rows and (self._data.y is None or self._options["--categorical"]):
                continue
            option = self._leave_out(name, names_rows)
            remedy = "" if names_rows else ", or --categorical onehot encodes it"
            if number < _N_SHOWN:
                different = "all" if names_rows else len(values)
                found = f"{name!r} is text, such as {values[0][:30]!r}, {different} different"
                self._advise(found, f"{option} {name!r}{remedy}")
            elif number == _N_SHOWN:
                self.advice.append(f"There are {len(texts) - _N_SHOWN} other columns of text.")

    def _leave_out(self, name: str, names_rows: bool) -> str:
        """Let the command leave a column out, and return the option that does it."""
        option = "--id" if names_rows and not self._options["--id"] else "--drop"
        self._options[option].append(name)
        return "--id" if names_rows else "--drop"

    def _owners(self) -> None:
        """Propose groups of samples: columns of names that repeat."""
        owners = {self._names[j]: self._fields(j) for j in self._owned_by}
        self._options["--drop"].extend(owners)
        ids, about = self._data.ids, self._data.about
        if ids is not None and len(np.unique(ids)) < self._n_rows:
            owners = {self._source.id or "0": ids, **owners}
        named = {name: about[name] for name in about if preparing.OWNER.search(name)}
        owners |= {name: f for name, f in named.items() if 1 < len(np.unique(f)) < self._n_rows}
        for name, fields in owners.items():
            found = f"{len(np.unique(fields)):,} different in {self._n_rows:,} samples"
            asked = "if samples with the same one belong together, as those of one patient do"
            self._advise(f"{name!r} repeats, {found}", f"{asked}, --groups {name!r}")
            if not self._options["--groups"]:
                self._options["--groups"] = [name]
                self._options["--drop"] = [n for n in self._options["--drop"] if n != name]

    def _values(self) -> None:
        X, y, groups = self._data.X, self._data.y, self._data.groups
        X = X[:, self._numeric] if self._data.categories else X
        names = [self._names[feature] for feature in self._numeric]
        is_sparse = sparse.issparse(X)
        n_missing = np.zeros(X.shape[1], dtype=int) if is_sparse else np.isnan(X).sum(axis=0)
        missing = {names[j]: int(n_missing[j]) for j in np.flatnonzero(n_missing)}
        complete = np.flatnonzero(n_missing == 0)
        whole = X[:, complete] if missing else X
        deviations = Spread.of(whole).deviations
        constant = [names[j] for j in complete[deviations == 0]]
        varying = deviations[deviations > 0]
        limits = [float(varying.min()), float(varying.max())] if varying.size else None
        self.facts |= {"missing": missing, "constant": constant, "deviations": limits}
        self.facts["n_repeated_rows"] = self._n_rows - len(np.unique(column_digests(X.T)))
        n_alike = self.facts["n_alike_rows"] = len(preparing.alike_rows(X, groups))
        for j in () if is_sparse else complete:
            if _numbers_rows(X[:, j]):
                self._leave_out(names[j], names_rows=True)
                found = f"Feature {names[j]!r} numbers the samples"
                self._advise(found, f"--id {names[j]!r}, or --drop it")
        if missing:
            shown = first_few(list(missing), 4)
            self.lines.append(f"missing values: {sum(missing.values()):,}, in {shown}")
            remedy = "--impute median fills them in, inside the folds; or --drop their columns"
            self._advise("Values are missing", remedy)
            self._options["--impute"] = self._options["--impute"] or ["median"]
        if constant:
            self.lines.append(f"constant: {first_few(constant, 4)}")
            self._advise("Constant features tell nothing", "--drop them, or ignore them")
        if limits is not None:
            self.lines.append("standard deviations: {:.3g} to {:.3g}".format(*limits))
        self.lines.append(f"equal or nearly equal samples: {n_alike or 'none'}")
        if n_alike and not self._options["--groups"]:
            self.advice.append(f"{n_alike} samples are {preparing.ALIKE}.")
        scaling, why = preparing.scaling_for(whole, deviations)
        if scaling is not None:
            self._options["--scale"] = [scaling]
            self.advice.append(f"{why[0].upper()}{why[1:]}.")
        if y is None or missing or self._data.categories:
            self.lines.append("select would refuse the data as they are")
        else:
            model = "ridge regression" if self._options["--model"] else "a linear SVM"
            chosen = f"{len(names):,} features, not scaled, for {model}"
            self.lines.append(f"select would choose from {chosen}")


def _counts(labels: NDArray[Any]) -> dict[str, int]:
    """Return how often each label occurs, the most frequent first."""
    return dict(Counter(map(str, np.sort(labels).tolist())).most_common())


def _counted(counts: Mapping[str, int]) -> str:
    """Return how many samples are of each class, in words."""
    (first, n_first), *others = list(counts.items())[:_N_CLASSES] or [("", 0)]
    shown = [f"{first!r} in {n_first} samples", *(f"{name!r} in {n}" for name, n in others)]
    n_left = len(counts) - len(shown)
    return ", ".join(shown) + (f" and {n_left} more classes" if n_left > 0 else "")


def _numbers_rows(column: NDArray[np.float64]) -> bool:
    return len(column) > 2 and column[0] in (0, 1) and bool((np.diff(column) == 1).all())
