"""Data that are read file by file: weighted, split, predicted and written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.preprocessing import normalize

from certifeature._progress import listed
from certifeature.cli.preparing import NEGATIVE
from certifeature.datasets.dataset import Dataset
from certifeature.evaluation import NewData
from certifeature.evaluation.engine import class_scores
from certifeature.io.reader import FileBlocks
from certifeature.models.support import find_support
from certifeature.rows import RowBlocks
from certifeature.rows.blocks import Block, chosen
from certifeature.rows.matrix import stored_values
from certifeature.rows.rows import Rows
from certifeature.sparsify import ColumnChoice


class SomeRows(RowBlocks):
    """Some rows of each file.

    Parameters
    ----------
    files : FileBlocks
        The files.
    masks : sequence of ndarray of bool
        The rows, a mask for each file.
    """

    def __init__(self, files: FileBlocks, masks: Sequence[NDArray[np.bool_]]) -> None:
        self._files, self._masks = files, masks
        # A file may have none of the rows.
        self._numbers = [number for number, mask in enumerate(masks) if mask.any()]
        self._n_rows_found = sum(int(mask.sum()) for mask in masks)
        self.n_features, self.feature_names = files.n_features, files.feature_names

    def __len__(self) -> int:
        return len(self._numbers)

    def name(self, number: int) -> str:
        """Return what error messages call the rows of a file."""
        return self._files.name(self._numbers[number])

    def read(self, number: int) -> tuple[Any, NDArray[Any] | None]:
        """Return these rows of a file, and their labels."""
        data, mask = self.dataset(number), self._masks[self._numbers[number]]
        return data.X[mask], None if data.y is None else data.y[mask]

    def dataset(self, number: int) -> Dataset:
        """Return all that is known of the rows of a file, others included."""
        return self._files.dataset(self._numbers[number])

    def groups(self) -> NDArray[Any] | None:
        """Return the groups of these rows."""
        parts = []
        for place, number in enumerate(self._numbers):
            known = self.dataset(place).groups
            if known is None:
                return None
            parts.append(known[self._masks[number]])
        return np.concatenate(parts)


@dataclass(frozen=True, eq=False)
class Stream:
    """Files, which of their rows are held out, and what is done to the rows of all."""

    files: FileBlocks
    training: RowBlocks
    held_out: SomeRows | None = None
    prepare: Callable[[Any], Any] | None = None

    @classmethod
    def of(cls, files: FileBlocks, share: float | None, seed: int, *, weigh: bool) -> Stream:
        """Return files, of which a share of the rows is held out, as counts or weighed by tf-idf.

        Parameters
        ----------
        files : FileBlocks
            The files.
        share : float or None
            Share of the rows, or of their groups, that is held out.
        seed : int
            Seed that the held-out rows depend on.
        weigh : bool
            Whether to weigh counts by tf-idf, as learnt from the other rows.
        """
        stream = cls(files, files)
        if share is not None:
            drawn = (_held_out(files, number, share, seed) for number in range(len(files)))
            masks = listed(drawn, "pass over the blocks", len(files))
            n_rows, n_held_out = sum(map(len, masks)), sum(int(mask.sum()) for mask in masks)
            if not 0 < n_held_out < n_rows:
                found = f"--held-out {share:g} holds out {n_held_out} of {n_rows} rows"
                raise ValueError(f"{found}; give another share, or other groups.")
            stream = cls(files, SomeRows(files, [~mask for mask in masks]), SomeRows(files, masks))
        if not weigh:
            return stream
        weights = _inverse_frequencies(stream.training)
        prepare = partial(_weighed, weights)
        training = stream.training.mapped(prepare, files.n_features)
        return replace(stream, training=training, prepare=prepare)

    def datasets(self, *, prepared: bool) -> Iterator[Dataset]:
        """Return the files one after the other, with what is done to their rows or without."""
        for number in range(len(self.files)):
            data = self.files.dataset(number)
            prepare = self.prepare if prepared else None
            yield data if prepare is None else replace(data, X=prepare(data.X))

    def errors(self, columns: ColumnChoice, model: Any, full: Any) -> NewData:
        """Return how well models trained on the other rows predict those that are held out.

        Parameters
        ----------
        columns : ColumnChoice
            The chosen columns.
        model : estimator
            Unfitted classifier.
        full : estimator
            The model that was trained on all columns.
        """
        assert self.held_out is not None
        few = find_support(Rows(self.training).columns(columns.indices, columns.scales), model)
        held_out: RowBlocks = self.held_out
        if self.prepare is not None:
            held_out = held_out.mapped(self.prepare, self.files.n_features)
        parts = held_out.collect(partial(_predicted, columns, few.model, full))
        y, selected, few_scores, everything, scores = map(np.concatenate, zip(*parts, strict=True))
        return NewData.held_out(
            y,
            (selected, _of_classes(few_scores, full.classes_, y)),
            (everything, _of_classes(scores, full.classes_, y)),
            n_features=self.files.n_features,
            n_selected=len(columns.indices),
            groups=self.held_out.groups(),
        )


def _held_out(files: FileBlocks, number: int, share: float, seed: int) -> NDArray[np.bool_]:
    """Tell which rows of a file are held out; those of a group are, in all files, or none is."""
    data = files.dataset(number)
    n_rows = data.X.shape[0]
    if data.groups is None:
        return np.random.default_rng([seed, number]).random(n_rows) < share
    names, group = np.unique(data.groups, return_inverse=True)
    digests = (blake2b(f"{seed} {name}".encode(), digest_size=8).digest() for name in names)
    places = np.array([int.from_bytes(digest) / 2**64 for digest in digests])
    return np.asarray((places < share)[group])


def _inverse_frequencies(blocks: RowBlocks) -> NDArray[np.float64]:
    """Return the weights of words that `sklearn.feature_extraction.text.TfidfTransformer` has."""
    n_texts = blocks.accumulate(lambda: np.zeros(blocks.n_features), _with_texts_of)
    return np.asarray(np.log((1 + blocks.n_rows) / (1 + n_texts)) + 1)


def _with_texts_of(n_texts: NDArray[np.float64], block: Block) -> NDArray[np.float64]:
    """Add the number of texts of a block that have each word."""
    if stored_values(block.X).min(initial=0.0) < 0:
        raise ValueError(NEGATIVE)
    return n_texts + np.asarray((block.X != 0).sum(axis=0)).ravel()


def _weighed(weights: NDArray[np.float64], X: Any) -> Any:
    return normalize(sparse.csr_array(X) @ sparse.diags_array(weights))


def _predicted(
    columns: ColumnChoice, reduced: Any, full: Any, block: Block
) -> tuple[NDArray[Any], ...]:
    """Return labels, and predictions and scores with the chosen and with all columns."""
    found: list[Any] = [block.labels()]
    few = chosen(block.X, columns.indices, columns.scales)
    for model, X in ((reduced, few), (full, block.X)):
        found += [model.predict(X), class_scores(model, X, full.classes_)]
    return tuple(found)


def _of_classes(
    scores: NDArray[np.float64], classes: NDArray[Any], y: NDArray[Any]
) -> NDArray[np.float64]:
    """Return the scores of the classes that rows have; NaN for those that the model lacks."""
    present = np.unique(y)
    found = np.full((len(y), len(present)), np.nan)
    known = np.isin(present, classes)
    found[:, known] = scores[:, np.searchsorted(classes, present[known])]
    return found
