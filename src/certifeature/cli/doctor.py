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

from certifeature._files import is_number
from certifeature.cli import preparing
from certifeature.cli.loading import (
    JOIN,
    MIN_CLASS,
    DataOptions,
    alike_classes,
    changed_by_spreadsheet,
    objections,
    taken_in,
)
from certifeature.cli.options import JSONOption, with_options
from certifeature.cli.output import json_text, print_text, showing
from certifeature.datasets.dataset import Dataset
from certifeature.io._common import EncodingError
from certifeature.io.tables import is_prose
from certifeature.models.problem import are_numbers, has_decimals, too_many
from certifeature.rows.matrix import column_digests
from certifeature.rows.names import changed_names, first_few, role_of, said_of
from certifeature.rows.rows import Spread

_N_CLASSES = 10
_N_SHOWN = 5
_SIZE = 100
_COUNTING = """\
    import numpy, pathlib, scipy.sparse
    from sklearn.feature_extraction.text import CountVectorizer
    from certifeature.io import read_data
    data = read_data({path!r}, target={target!r}, accept=["text"], features=[])
    counter = CountVectorizer(min_df=2)
    X = counter.fit_transform(data.fields(data.feature_names.tolist().index({name!r})))
    pathlib.Path("words").mkdir()
    scipy.sparse.save_npz("words/X.npz", X)
    numpy.save("words/y.npy", data.y)
    pathlib.Path("words/features.txt").write_text("\\n".join(counter.get_feature_names_out()))
  and then: {command}"""
_COUNTED = "certifeature select words -k 100 --scale tfidf"


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
        self._labelled_by: list[str] = []
        self._counted = False
        self._n_rows, n_features = data.X.shape
        self._names = preparing.distinct_names(data.feature_names, n_features).tolist()
        self._numeric = [j for j in range(n_features) if j not in data.categories]
        self._owners = preparing.owners(data, self._names)
        if data.ids is not None and len(np.unique(data.ids)) < self._n_rows:
            self._owners = {data.roles.get("id", "0"): data.ids, **self._owners}
        # What the next command asks for: the options that were given, and those to add.
        one = ("format", "encoding", "target", "id", "groups", "impute", "categorical")
        given = ((name, getattr(source, name)) for name in one)
        self._options = {f"--{name}": [value] if value else [] for name, value in given}
        min_class = [str(source.min_class)] if source.min_class > 1 else []
        self._options |= {"--drop": source.dropped, "--feature": source.features}
        self._options |= {"--scale": [], "--model": []}
        self._options |= {"--min-class": min_class, "-k": []}

        n_others = len(source.dropped) + len({*data.roles.values()} | data.held_out.keys())
        n_others += data.ids is not None and "id" not in data.roles
        shape = f"{self._n_rows:,} samples, {n_features + n_others:,} columns"
        self.lines = [f"{' '.join(source.paths)}: {source.kind}, {shape}"]
        self.facts: dict[str, Any] = {"kind": source.kind, "n_rows": self._n_rows}
        self.facts |= {"n_columns": n_features + n_others, "n_numeric_features": len(self._numeric)}
        self.advice: list[str] = []
        # A long table that begins with names seems to have its samples in columns.
        is_long = source.kind != "parquet" and self._n_rows > n_features
        if data.y is None and is_long and self._first_names_rows():
            remedy = "add --transpose, and name the row of labels with --target"
            self._advise("The features seem to be in rows and the samples in columns", remedy)
            self.command = self._said("doctor", "--transpose")
            return
        if source.encoding is not None:
            self.lines.append(f"encoding: {source.encoding}, and not UTF-8")
        # Without labels, only they are asked for.
        self.command = self._said("doctor", "--target", "COLUMN")
        self._labels()
        self._held_out()
        self._texts()
        self._repeated()
        self._values()
        if len(self._labelled_by) == 1:
            labelled = replace(source, target=self._labelled_by[0])
            self.command = _Diagnosis(*_read(labelled)).command
        if data.y is not None:
            n_features = len(self._numeric) + self._n_measured
            self._options["-k"] = [str(min(_SIZE, max(1, n_features // 2)))]
            self.command = self._said("select")
            if self._counted and not self._numeric:
                self.command = _COUNTED

    def _first_names_rows(self) -> bool:
        """Tell whether the first column may name features: texts of few words, all different."""
        first = self._data.categories.get(0, np.array([]))
        return len(first) == self._n_rows and not is_prose(first.tolist())

    def _advise(self, found: str, remedy: str) -> None:
        self.advice.append(f"{found}: {remedy}.")

    def _said(self, command: str, *more: str) -> str:
        """Return a command as it is typed."""
        given = ((name, ",".join(values)) for name, values in self._options.items() if values)
        flags = ("transpose", "zero_based", "drop_unlabelled", "join_classes")
        asked = [f"--{flag.replace('_', '-')}" for flag in flags if getattr(self._source, flag)]
        # A name that begins with a dash would be taken for an option.
        paths = [f"./{path}" if path.startswith("-") else path for path in self._source.paths]
        return shlex.join(["certifeature", command, *chain(paths, asked, *given, more)])

    def _labels(self) -> None:
        y, target = self._data.y, self._data.roles.get("target")
        self.facts |= {"target": target, "classes": None}
        if y is None:
            self._advise("There are no labels", "name their column with --target")
            candidates = list(self._candidates())
            self._labelled_by = [name for name, _ in candidates if not role_of(name)]
            for name, counts in candidates[:_N_CLASSES]:
                found = f"{name!r} may be the label: {_counted(counts)}"
                self._advise(found, f"--target {shlex.quote(name)}")
            return
        self.advice += [f"{line[0].upper()}{line[1:]}." for line in objections(target, y)]
        known = y[y != ""] if y.dtype.kind == "U" else y[~np.isnan(y)]
        counts = self.facts["classes"] = _counts(known)
        shown = _counted(counts)
        if are_numbers(known):
            self._options["--model"] = ["ridge"]
            decimals = " with decimals" if has_decimals(known) else ""
            shown = f"numbers{decimals}, {len(counts):,} different"
        elif spellings := alike_classes(known):
            self._advise(f"{spellings[0].upper()}{spellings[1:]}", JOIN)
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
        columns = {self._names[j]: self._data.fields(j) for j in tried} | {**self._data.about}
        for name in sorted(columns, key=lambda name: role_of(name) is not None):
            counts = _counts(columns[name])
            if "" not in counts and 2 <= len(counts) <= min(_N_CLASSES, self._n_rows // 2):
                yield name, counts

    def _held_out(self) -> None:
        """Say what is no feature; an identifier that names each sample does so in what is next."""
        for names, seems in said_of(self._data.held_out):
            self._advise(f"Held out of the features: {seems}", taken_in(names))
        for name in self._data.held_out if self._data.y is not None else ():
            if len(np.unique(self._data.about[name])) == self._n_rows and not self._options["--id"]:
                self._options["--id"] = [name]

    def _texts(self) -> None:
        categories = self._data.categories
        self.facts["text_columns"] = {self._names[j]: str(c[0]) for j, c in categories.items()}
        also = f", and {len(categories):,} of text" if categories else ""
        self.lines.append(f"features: {len(self._numeric):,} of numbers{also}")
        given = () if self._data.feature_names is None else self._data.feature_names
        if changed := changed_names(list(given)):
            self.advice.append(f"{changed_by_spreadsheet(changed)}.")
        repeated = [name for name, n in Counter(map(str, given)).items() if n > 1]
        if repeated:
            self.lines.append(f"names of several features: {first_few(repeated, 4)}")
        if about := [name for name in self._data.about if name not in self._data.held_out]:
            self.lines.append(f"about the samples: {first_few(about)}")
        texts = {self._names[j]: c.tolist() for j, c in categories.items()}
        texts = {name: c for name, c in texts.items() if name not in self._owners}
        for name in [name for name, values in texts.items() if is_prose(values)]:
            target = self._data.roles.get("target") or "COLUMN"
            parts = {"target": target, "name": name, "command": _COUNTED}
            lines = _COUNTING.format(path=self._source.paths[0], **parts)
            self._counted = True
            self.advice.append(f"{name!r} holds texts: count words first, in Python:\n{lines}")
            self._options["--drop"].append(name)
            del texts[name]
        measured = [name for name, values in texts.items() if preparing.are_measured(values)]
        self._n_measured = len(measured)
        if measured:
            example = next(v for v in texts[measured[0]] if not is_number(v))
            found = (
                f"{first_few(measured, 1)}: most fields are numbers, and others such as {example!r}"
            )
            self._advise(found, "leave such a field empty and --impute, or write it as a number")
            self._options["--impute"] = self._options["--impute"] or ["median"]
        texts = {name: values for name, values in texts.items() if name not in measured}
        for name in [name for name, values in texts.items() if len(values) == self._n_rows]:
            found = f"{name!r} is text, such as {texts[name][0][:30]!r}, all different"
            self._advise(found, f"{self._leave_out(name, names_rows=True)} {name!r}")
            del texts[name]
        others = list(texts)
        # They may be the label, or they are encoded.
        if others and self._data.y is not None and not self._options["--categorical"]:
            self._options["--drop"] += others
            values = texts[others[0]]
            example = f"such as {values[0][:30]!r}, {len(values)} different"
            found = f"{first_few(others, 1)} is text, {example}"
            self._advise(found, f"--drop {others[0]!r}, or --categorical onehot encodes it")

    def _leave_out(self, name: str, names_rows: bool) -> str:
        """Let the command leave a column out, and return the option that does it."""
        option = "--id" if names_rows and not self._options["--id"] else "--drop"
        self._options[option].append(name)
        return "--id" if names_rows else "--drop"

    def _repeated(self) -> None:
        """Propose groups of samples: columns of names that repeat."""
        names = [name for name, fields in self._owners.items() if not preparing.equal_names(fields)]
        for name in self._owners.keys() - names:
            self.advice.append(f"{name!r}: {preparing.equal_names(self._owners[name])}")
        self._options["--drop"] += [name for name in names if name in self._names]
        if not names:
            return
        n_different = len(np.unique(self._owners[names[0]]))
        repeats = f"repeats, {n_different:,} different in {self._n_rows:,} samples"
        asked = "if samples with the same one belong together, as those of one patient do"
        self._advise(f"{first_few(names, 4)} {repeats}", f"{asked}, --groups {names[0]!r}")
        if not self._options["--groups"]:
            self._options["--groups"] = names[:1]
            self._options["--drop"] = [n for n in self._options["--drop"] if n != names[0]]

    def _values(self) -> None:
        if not self._numeric:
            self.lines.append("select would refuse the data as they are")
            return
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
