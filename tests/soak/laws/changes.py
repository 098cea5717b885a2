"""Rows in blocks that change while they are read, and what is then said of them."""

import os
import tempfile
from pathlib import Path

import numpy as np
from sklearn.svm import LinearSVC

from certifeature import BSSSelector, certify
from certifeature.io import FileBlocks
from certifeature.rows.blocks import RowBlocks
from soak import library
from soak.verdict import Violation


def changes_are_noticed(rng):
    """A fit and a certificate for blocks that change are an error, or those of one generation."""
    parts, size = _draw(rng)
    number, change = int(rng.integers(len(parts))), _CHANGES[rng.integers(len(_CHANGES))]
    other = [*parts]
    other[number] = change(rng, *parts[number])
    supervised = bool(rng.random() < 0.7)
    selector = BSSSelector(size, supervised=supervised, estimator=LinearSVC(C=1.0))
    with tempfile.TemporaryDirectory() as folder:
        kind = _Files if rng.random() < 0.5 else _Pieces
        whole = kind(folder, parts, {})
        earlier = _statement(selector, whole)
        # Sometimes it changes back.
        moments = sorted(rng.integers(whole.n_reads, size=rng.integers(1, 3)).tolist())
        hides, then = bool(rng.random() < 0.5), (other[number], parts[number])
        events = {m: (number, part, hides) for m, part in zip(moments, then, strict=False)}
        try:
            statement = _statement(selector, kind(folder, parts, events))
        except ValueError as error:
            if "changed while it was read" not in str(error):
                raise
            return
        if statement not in (earlier, _statement(selector, kind(folder, other, {}))):
            raise Violation(f"{change.__name__} of block {number} at {moments}: {selector!r}")


def _statement(selector, blocks):
    """Return what a fit to blocks and its certificates say."""
    with library.without_gathering():
        selector.fit(blocks)
        rows = "support" if selector.supervised else "all"
        certificate = certify(blocks, None, selector, rows=rows)
    return selector.indices_.tolist(), repr(selector.certificate_), repr(certificate)


class _Pieces(RowBlocks):
    """Blocks in memory, of which some get other rows before the reads of these numbers."""

    def __init__(self, _, parts, events):
        self._parts, self._events, self.n_reads = [*parts], events, 0
        self.n_features = parts[0][0].shape[1]

    def __len__(self):
        return len(self._parts)

    def read(self, number):
        if self.n_reads in self._events:
            place, part, _ = self._events[self.n_reads]
            self._parts[place] = part
        self.n_reads += 1
        return self._parts[number]


class _Files(FileBlocks):
    """The same in files; a change may hide behind the time of the file."""

    def __init__(self, folder, parts, events):
        self._events, self.n_reads = events, 0
        paths = [Path(folder, f"{number}.npz") for number in range(len(parts))]
        for path, (X, y) in zip(paths, parts, strict=True):
            np.savez(path, X=X, y=y)
        super().__init__(paths)

    def dataset(self, number):
        if self.n_reads in self._events:
            place, (X, y), hides = self._events[self.n_reads]
            path = self._paths[place]
            state = path.stat()
            np.savez(path, X=X, y=y)
            if hides:
                os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
        self.n_reads += 1
        return super().dataset(number)


def _draw(rng):
    n_blocks, n_features = int(rng.integers(2, 5)), int(rng.integers(3, 9))
    parts = []
    for _ in range(n_blocks):
        n_rows = int(rng.integers(3, 12))
        X, y = rng.standard_normal((n_rows, n_features)), rng.choice([-1, 1], n_rows)
        X[:, 0] += y
        parts.append((X, y))
    parts[0][1][:2] = -1, 1
    return parts, int(rng.integers(1, n_features))


def value(rng, X, y):
    """Change a value, by much or as little as there is."""
    X, place = X.copy(), (rng.integers(len(X)), rng.integers(X.shape[1]))
    X[place] = np.nextafter(X[place], 0) if rng.random() < 0.3 else X[place] + 10
    return X, y


def labels(rng, X, y):
    """Swap the labels."""
    return X, -y


def names(rng, X, y):
    """Rename the labels."""
    return X, np.where(y > 0, 2, 1)


def order(rng, X, y):
    """Turn the rows round, and not their labels."""
    return X[::-1], y


def length(rng, X, y):
    """Leave out a row."""
    return X[1:], y[1:]


def columns(rng, X, y):
    """Swap two columns."""
    return X[:, ::-1], y


_CHANGES = (value, labels, names, order, length, columns)
