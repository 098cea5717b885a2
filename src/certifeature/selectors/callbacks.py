"""Phases of a fit as tasks of scikit-learn's callbacks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, TypeVar

from sklearn.base import clone
from sklearn.callback import CallbackContext, with_callbacks

from certifeature._progress import Report, listening

__all__ = ["as_one_task", "telling_callbacks"]

Result = TypeVar("Result")

_PERCENT = 100


def as_one_task(estimator: Any, name: str, work: Callable[[Any], Result]) -> Result:
    """Return what work makes of a copy of an estimator, as one task of the estimator's callbacks.

    Fits of the copy have no tasks of their own: they move this one along.

    Parameters
    ----------
    estimator : estimator
        With callbacks or without.
    name : str
        Of the task.
    work : callable
        Takes the copy; all that it does is one phase.
    """
    silent = clone(estimator)
    if not hasattr(estimator, "_skl_callbacks"):
        return work(silent)
    silent.set_callbacks()
    result: Result = _told(clone(estimator), name, lambda: work(silent))
    return result


@with_callbacks
def _told(estimator: Any, name: str, work: Callable[[], Result]) -> Result:
    task = estimator._init_callback_context(task_name=name, max_subtasks=1)
    task.call_on_fit_task_begin(estimator=estimator)
    with telling_callbacks(estimator, task):
        result = work()
    task.call_on_fit_task_end(estimator=estimator)
    return result


def telling_callbacks(estimator: Any, fit: CallbackContext) -> AbstractContextManager[None]:
    """Return a context whose phases become subtasks of a fit; none without callbacks."""
    if not hasattr(estimator, "_skl_callbacks"):
        return nullcontext()
    return listening(_Phases(estimator, fit).begin)


class _Phases:
    """A subtask for each phase; where steps are counted, one below it for every per cent of them.

    Phases inside of counted steps get no tasks, for there would be no end of them: they move those
    steps along.
    """

    def __init__(self, estimator: Any, fit: CallbackContext) -> None:
        self._estimator = estimator
        self._innermost = fit
        self._counted: _Counted | None = None

    @contextmanager
    def begin(self, name: str, total: int | None) -> Iterator[Report]:
        if self._counted is not None:
            yield self._counted.within_step(total)
            return
        around = self._innermost
        task = around.subcontext(task_name=name, max_subtasks=_PERCENT if total else None)
        task.call_on_fit_task_begin(estimator=self._estimator)
        self._innermost = task
        if total:
            self._counted = _Counted(self._estimator, task, total)
        try:
            yield _ignored if self._counted is None else self._counted.report
        finally:
            self._innermost, self._counted = around, None
        task.call_on_fit_task_end(estimator=self._estimator)


class _Counted:
    def __init__(self, estimator: Any, task: CallbackContext, total: int) -> None:
        self._estimator = estimator
        self._task = task
        self._total = total
        self._done = self._percent = 0

    def report(self, done: int) -> None:
        self._done = done
        self._reach(done)

    def within_step(self, total: int | None) -> Report:
        """Return what takes the number of smaller steps done, of those that make a part of one."""
        if not total:
            return _ignored
        before = self._done
        return lambda done: self._reach(before + done / total)

    def _reach(self, done: float) -> None:
        while self._percent < min(_PERCENT, int(_PERCENT * done / self._total)):
            task = self._task.subcontext()
            task.call_on_fit_task_begin(estimator=self._estimator)
            task.call_on_fit_task_end(estimator=self._estimator)
            self._percent += 1


def _ignored(done: int) -> None:
    pass
