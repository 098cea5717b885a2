"""What an experiment consists of: cells of a table, each to be measured on every fold."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from paper.methods import PaperMethod
from paper.tasks import Task

__all__ = ["Cell", "Fold", "Study"]


@dataclass(frozen=True)
class Cell:
    """One choice of features: a method, how many features, and which draw."""

    method: PaperMethod
    size: int | None
    draw: int


@dataclass(frozen=True, eq=False)
class Fold:
    """A split of a task into training and test rows."""

    task: Task
    repeat: int
    number: int


@dataclass(frozen=True, eq=False)
class Study:
    """Methods × sizes × tasks × repeated stratified folds.

    Attributes
    ----------
    tasks : sequence of Task
        What is classified.
    methods : sequence of PaperMethod
        How features are chosen.
    sizes : sequence of int
        How many.
    svm : estimator
        The linear SVM that is trained on them, and whose support vectors count.
    weighting : {"none", "tfidf"}
        What is done to word counts, learnt from the training rows of each fold.
    n_repeats, n_folds : int
        Number of cross-validations, and of their folds. A task with a fixed split has one fold.
    seed : int
        Of folds and random methods.
    features_at : collection of int and None
        Sizes at which the chosen features themselves are written down; None stands for methods
        that find their own.
    """

    tasks: Sequence[Task]
    methods: Sequence[PaperMethod]
    sizes: Sequence[int]
    svm: Any
    weighting: Literal["none", "tfidf"] = "none"
    n_repeats: int = 1
    n_folds: int = 10
    seed: int = 0
    features_at: Collection[int | None] = ()

    def __post_init__(self) -> None:
        for task in self.tasks:
            too_many = [size for size in self.sizes if size >= task.X.shape[1]]
            if too_many:
                raise ValueError(
                    f"task {task.name!r} has {task.X.shape[1]} features, so {too_many[0]} cannot "
                    "be chosen from them; ask for fewer or leave the task out."
                )

    def folds(self) -> list[Fold]:
        """Return all splits, repeat by repeat, so that early results cover all tasks."""
        found = []
        for repeat in range(self.n_repeats):
            for task in self.tasks:
                if task.n_train is None:
                    found += [Fold(task, repeat, number) for number in range(self.n_folds)]
                elif repeat == 0:
                    found.append(Fold(task, 0, 0))
        return found

    def cells(self) -> list[Cell]:
        """Return what is measured on each split."""
        return [
            Cell(method, size, draw)
            for method in self.methods
            for size in ([None] if method.own_size or method.make is None else self.sizes)
            for draw in range(method.n_draws)
        ]

    def key(self, fold: Fold, cell: Cell) -> dict[str, Any]:
        """Return what tells a measurement from all others.

        Parameters
        ----------
        fold : Fold
            Where it is measured.
        cell : Cell
            What is measured.
        """
        return {
            "task": fold.task.name,
            "data": fold.task.fingerprint,
            "repeat": fold.repeat,
            "fold": fold.number,
            "n_folds": self.n_folds,
            "rows": cell.method.rows,
            "method": cell.method.name,
            "size": cell.size,
            "draw": cell.draw,
            "seed": self.seed,
            "svm": " ".join(repr(self.svm).split()),
            "weighting": self.weighting,
        }
