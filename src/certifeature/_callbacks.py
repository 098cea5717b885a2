"""Progress of a fit through scikit-learn's callbacks, which exist since version 1.9.

With older versions a selector has no ``set_callbacks``, and its fits report nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, TypeVar

from sklearn.base import clone

from certifeature._progress import Report, listening

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ModuleNotFoundError:  # scikit-learn < 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stand-in without callbacks."""

    def with_callbacks(method: Any) -> Any:
        """Return the method as it is."""
        return method


__all__ = ["CallbackSupportMixin", "as_one_task", "fit_task", "with_callbacks"]

Result = TypeVar("Result")

_PERCENT = 100


@contextmanager
def fit_task(
    estimator: Any, *, n_phases: int, name: str = "fit", X: Any = None, y: Any = None
) -> Iterator[None]:
    """Make the work inside one task of the estimator's callbacks, and its phases subtasks.

    The function around it must be decorated by `with_callbacks`. Work that raises ends no task.
    """
    if not hasattr(estimator, "_init_callback_context"):
        yield
        return
    task = estimator._init_callback_context(task_name=name, max_subtasks=n_phases)
    task.call_on_fit_task_begin(estimator=estimator, X=X, y=y)
    phases = _Phases(estimator, task)
    with listening(phases.begin) if hasattr(estimator, "_skl_callbacks") else nullcontext():
        yield
    task.call_on_fit_task_end(estimator=estimator, X=X, y=y)


def as_one_task(estimator: Any, name: str, work: Callable[[Any], Result]) -> Result:
    """Return the result of work on a copy of an estimator, as one task of its callbacks.

    Fits of the copy get no tasks of their own; they advance this one.
    """
    copy = clone(estimator)
    if not hasattr(estimator, "_skl_callbacks"):
        return work(copy)
    copy.set_callbacks()
    result: Result = _run_in_task(clone(estimator), name, lambda: work(copy))
    return result


@with_callbacks
def _run_in_task(estimator: Any, name: str, work: Callable[[], Result]) -> Result:
    with fit_task(estimator, n_phases=1, name=name):
        return work()


class _Phases:
    """A subtask for each phase, with one below it for every per cent of its steps.

    Phases inside counted steps get no tasks, since there is no limit to their number; they advance
    those steps.
    """

    def __init__(self, estimator: Any, fit: Any) -> None:
        self._estimator, self._innermost = estimator, fit
        self._steps: _Steps | None = None

    @contextmanager
    def begin(self, name: str, total: int | None) -> Iterator[Report]:
        if self._steps is not None:
            yield self._steps.inside_one(total)
            return
        around = self._innermost
        task = around.subcontext(task_name=name, max_subtasks=_PERCENT if total else None)
        task.call_on_fit_task_begin(estimator=self._estimator)
        self._innermost = task
        self._steps = _Steps(self._estimator, task, total) if total else None
        try:
            yield self._steps.report if self._steps else _ignore
        finally:
            self._innermost, self._steps = around, None
        task.call_on_fit_task_end(estimator=self._estimator)


class _Steps:
    """The steps of a phase, as a subtask for every per cent of them."""

    def __init__(self, estimator: Any, task: Any, total: int) -> None:
        self._estimator, self._task, self._total = estimator, task, total
        self._done = self._percent = 0

    def report(self, done: int) -> None:
        self._done = done
        self._reach(done)

    def inside_one(self, total: int | None) -> Report:
        """Return a report of smaller steps, of which `total` make one step."""
        if not total:
            return _ignore
        before = self._done
        return lambda done: self._reach(before + done / total)

    def _reach(self, done: float) -> None:
        while self._percent < min(_PERCENT, int(_PERCENT * done / self._total)):
            task = self._task.subcontext()
            task.call_on_fit_task_begin(estimator=self._estimator)
            task.call_on_fit_task_end(estimator=self._estimator)
            self._percent += 1


def _ignore(done: int) -> None:
    pass
