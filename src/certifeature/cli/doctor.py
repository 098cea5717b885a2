"""``certifeature doctor``: what is in a file, and what to do about it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np
import typer
from numpy.typing import NDArray
from scipy import sparse

from certifeature.cli.loading import (
    DataOptions,
    are_numbers,
    column_deviations,
    distinct_names,
    has_decimals,
    scaling_for,
    too_many,
)
from certifeature.cli.options import JSONOption, with_options
from certifeature.cli.output import json_text, showing
from certifeature.datasets.dataset import Dataset
from certifeature.io._common import first_few
from certifeature.rows.matrix import column_digests

_N_CLASSES = 10
_MIN_CLASS = 5
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
        found = data.read(accept=("missing", "text", "unlabelled"))
    with showing("looking"):
        diagnosis = _Diagnosis(data, found)
    if as_json:
        facts = diagnosis.facts | {"advice": diagnosis.advice, "command": diagnosis.command}
        typer.echo(json_text({"source": data.paths, **facts}), nl=False)
        return
    for line in (*diagnosis.lines, *(f"! {line}" for line in diagnosis.advice)):
        typer.echo(line)
    typer.echo(f"Try: {diagnosis.command}")


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
        n_rows, n_features = data.X.shape
        self._source, self._data = source, data
        self._names = distinct_names(data.feature_names, n_features).tolist()
        self._numeric = [j for j in range(n_features) if j not in data.categories]
        # What the next command asks for: the options that were given, and those to add.
        one = {"--format": source.format, "--target": source.target, "--id": source.id}
        self._options = {name: [value] if value else [] for name, value in one.items()}
        self._options |= {"--drop": source.dropped, "--scale": [], "--model": []}

        n_others = (data.target is not None) + (data.ids is not None) + len(source.dropped)
        n_columns = n_features + n_others
        shape = f"{n_rows:,} samples, {n_columns:,} columns"
        self.facts: dict[str, Any] = {"kind": source.kind, "n_rows": n_rows}
        self.facts |= {"n_columns": n_columns, "n_numeric_features": len(self._numeric)}
        self.lines = [f"{' '.join(source.paths)}: {source.kind}, {shape}"]
        self.advice: list[str] = []
        # A long table that begins with names seems to have its samples in columns.
        is_long = source.kind != "parquet" and n_rows > n_features
        if data.y is None and is_long and len(data.categories.get(0, ())) == n_rows:
            self.advice.append(
                "The features seem to be in rows and the samples in columns: add --transpose, and "
                "name the row of labels with --target."
            )
            self.command = self._said("doctor", ["--transpose"])
            return
        self.command = self._said("doctor", ["--target", "COLUMN"])
        self._labels()
        self._texts()
        self._values()
        if data.y is not None:
            self._options["-k"] = [str(min(_SIZE, max(1, len(self._numeric) // 2)))]
            self.command = self._said("select")

    def _said(self, command: str, more: Sequence[str] = ()) -> str:
        """Return a command as it is typed."""
        given = ((name, ",".join(values)) for name, values in self._options.items() if values)
        transpose = ["--transpose"] if self._source.transpose else []
        parts = chain(self._source.paths, transpose, more, *given)
        return shlex.join(["certifeature", command, *parts])

    def _labels(self) -> None:
        y = self._data.y
        if y is None:
            self.facts |= {"target": None, "classes": None}
            self.advice.append("There are no labels: name their column with --target.")
            for name, counts in list(self._candidates())[:_N_SHOWN]:
                shown = _counted(counts)
                said = f"{name!r} may be the label: {shown}"
                self.advice.append(f"{said}: --target {shlex.quote(name)}.")
            return
        known = y[y != ""] if y.dtype.kind == "U" else y[~np.isnan(y)]
        names, sizes = np.unique(known, return_counts=True)
        order = np.argsort(-sizes, kind="stable")
        counts = dict(zip(map(str, names[order].tolist()), sizes[order].tolist(), strict=True))
        self.facts |= {"target": self._data.target, "classes": counts}
        if are_numbers(known):
            self._options["--model"] = ["ridge"]
            decimals = " with decimals" if has_decimals(known) else ""
            shown = f"numbers{decimals}, {len(counts):,} different"
        else:
            shown = _counted(counts)
            smallest = int(sizes.min(initial=len(y)))
            if len(counts) < 2:
                self.advice.append("All labels are equal: two classes are needed.")
            elif too_many(len(counts), len(y)):
                said = f"There are {len(counts):,} different labels, which look like names of rows"
                self.advice.append(f"{said}: name others with --target.")
            elif smallest < _MIN_CLASS:
                rarest = list(counts)[-1]
                said = f"Class {rarest!r} has only {smallest} samples"
                self.advice.append(f"{said}: errors will be uncertain.")
        if len(known) < len(y):
            remedy = "fill them in, or remove the samples"
            self.advice.append(f"{len(y) - len(known)} samples have no label: {remedy}.")
        target = self._data.target
        self.lines.append(f"labels: {f'{target}, ' if target else ''}{shown}")

    def _candidates(self) -> Iterator[tuple[str, dict[str, int]]]:
        """Yield columns that may be the label: those of text or whole numbers with few values.

        Where many columns of numbers have few values, all may be alike (genotypes, for example).
        """
        X, categories = self._data.X, self._data.categories
        if sparse.issparse(X):
            return
        numeric = [j for j in self._numeric if (X[:, j] % 1 == 0).all()]
        numeric = [j for j in numeric if len(np.unique(X[:, j])) <= _N_CLASSES]
        for feature in (*categories, *(numeric if len(numeric) <= _N_CLASSES else ())):
            values, counts = np.unique(X[:, feature], return_counts=True)
            if 2 <= len(values) <= min(_N_CLASSES, len(X) // 2) and np.isfinite(values).all():
                names = categories.get(feature, np.array([f"{value:g}" for value in values]))
                yield self._names[feature], dict(zip(names.tolist(), counts.tolist(), strict=True))

    def _texts(self) -> None:
        categories, n_rows = self._data.categories, self._data.X.shape[0]
        texts = {self._names[feature]: values.tolist() for feature, values in categories.items()}
        self.facts["text_columns"] = {name: values[0] for name, values in texts.items()}
        also = f", and {len(texts):,} of text" if texts else ""
        self.lines.append(f"features: {len(self._numeric):,} of numbers{also}")
        if self._data.y is None:
            # One of them may be the label, unless it names the rows.
            texts = {name: values for name, values in texts.items() if len(values) == n_rows}
        for number, (name, values) in enumerate(texts.items()):
            names_rows = len(values) == n_rows
            option = self._leave_out(name, names_rows)
            if number < _N_SHOWN:
                different = "all" if names_rows else len(values)
                said = f"{name!r} is text, such as {values[0][:30]!r}, {different} different"
                self.advice.append(f"{said}: {option} {name!r}, or encode it as numbers.")
        if len(texts) > _N_SHOWN:
            self.advice.append(f"So are {len(texts) - _N_SHOWN} others.")

    def _leave_out(self, name: str, names_rows: bool) -> str:
        """Let the command leave a column out, and return the option that does it."""
        option = "--id" if names_rows and not self._options["--id"] else "--drop"
        self._options[option] = [*self._options[option], name]
        return "--id" if names_rows else "--drop"

    def _values(self) -> None:
        X = self._data.X
        X = X[:, self._numeric] if self._data.categories else X
        names = [self._names[feature] for feature in self._numeric]
        is_sparse = sparse.issparse(X)
        n_missing = np.zeros(X.shape[1], dtype=int) if is_sparse else np.isnan(X).sum(axis=0)
        complete = np.flatnonzero(n_missing == 0)
        whole = X[:, complete] if n_missing.any() else X
        deviations = column_deviations(whole)
        varying = deviations[deviations > 0]
        limits = [float(varying.min()), float(varying.max())] if varying.size else None
        missing = {names[j]: int(n_missing[j]) for j in np.flatnonzero(n_missing)}
        constant = [names[j] for j in complete[deviations == 0]]
        n_repeated = X.shape[0] - len(np.unique(column_digests(X.T)))
        self.facts |= {"missing": missing, "constant": constant, "deviations": limits}
        self.facts["n_repeated_rows"] = n_repeated
        for j in () if is_sparse else complete:
            if _numbers_rows(X[:, j]):
                self._leave_out(names[j], names_rows=True)
                said = f"Feature {names[j]!r} numbers the samples"
                self.advice.append(f"{said}: --id {names[j]!r}, or --drop it.")
        if missing:
            shown = first_few(list(missing), 4)
            self.lines.append(f"missing values: {sum(missing.values()):,}, in {shown}")
            self.advice.append("Values are missing: fill them in, or --drop their columns.")
        if constant:
            self.lines.append(f"constant: {first_few(constant, 4)}")
            self.advice.append("Constant features tell nothing: --drop them, or ignore them.")
        if limits is not None:
            self.lines.append("standard deviations: {:.3g} to {:.3g}".format(*limits))
        self.lines.append(f"equal samples: {n_repeated or 'none'}")
        if n_repeated:
            self.advice.append(
                "Some samples are equal: errors look too good if one is for training, one for a "
                "test."
            )
        scaling, why = scaling_for(whole, deviations)
        if scaling is not None:
            self._options["--scale"] = [scaling]
            self.advice.append(f"{why[0].upper()}{why[1:]}.")
        if self._data.y is None or self._data.categories or missing:
            self.lines.append("select would refuse the data as they are")
        else:
            model = "ridge regression" if self._options["--model"] else "a linear SVM"
            chosen = f"{len(self._numeric):,} features, not scaled, for {model}"
            self.lines.append(f"select would choose from {chosen}")


def _counted(counts: dict[str, int]) -> str:
    """Return how many samples are of each class, in words."""
    (first, n_first), *others = list(counts.items())[:_N_CLASSES] or [("", 0)]
    shown = [f"{first!r} in {n_first} samples", *(f"{name!r} in {n}" for name, n in others)]
    n_left = len(counts) - len(shown)
    return ", ".join(shown) + (f" and {n_left} more classes" if n_left > 0 else "")


def _numbers_rows(column: NDArray[np.float64]) -> bool:
    return len(column) > 2 and column[0] in (0, 1) and bool((np.diff(column) == 1).all())
