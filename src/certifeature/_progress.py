"""Progress reporting of long computations.

A computation names its phases and counts their steps. A listener is called for the phases of its
own thread only. Without a listener, reporting costs next to nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from threading import local
from time import monotonic
from typing import Any, TypeVar

from sklearn.base import clone

Item = TypeVar("Item")
Result = TypeVar("Result")
# Is called with the number of steps that are done.
Report = Callable[[int], object]
# Is called with the name of a phase and its number of steps, None if that is unknown. The context
# lasts as long as the phase, and phases inside it begin and end within.
Listener = Callable[[str, int | None], AbstractContextManager[Report]]

# Seconds between reports: often enough for the eye, and too seldom to cost anything.
_INTERVAL = 0.05


class _Thread(local):
    listener: Listener | None = None


_thread = _Thread()


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Call a listener for the phases of this thread, in place of the one before."""
    before = _thread.listener
    _thread.listener = listener
    try:
        yield
    finally:
        _thread.listener = before


@contextmanager
def phase(name: str, total: int | None = None) -> Iterator[Callable[[], None]]:
    """Report a phase, and yield a function to call after each of its steps.

    Parameters
    ----------
    name : str
        Name of the phase.
    total : int, default=None
        Number of steps, or the largest number there can be; None if it is unknown.
    """
    if _thread.listener is None:
        yield lambda: None
        return
    with _thread.listener(name, total) as report:
        done, reported, due = 0, 0, monotonic() + _INTERVAL

        def advance() -> None:
            nonlocal done, reported, due
            done += 1
            if monotonic() >= due:
                report(done)
                reported, due = done, monotonic() + _INTERVAL

        yield advance
        if reported != done:
            report(done)


def listed(items: Iterable[Item], name: str, total: int) -> list[Item]:
    """Return a list of items, and report each item as a step of a phase.

    Parameters
    ----------
    items : iterable
        Makes the items one after the other.
    name, total
        As for `phase`.
    """
    found = []
    with phase(name, total) as advance:
        for item in items:
            found.append(item)
            advance()
    return found


try:
    from sklearn.callback import CallbackSupportMixin as CallbackSupportMixin
    from sklearn.callback import with_callbacks as with_callbacks
except ModuleNotFoundError:  # scikit-learn < 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stand-in without callbacks."""

    def with_callbacks(method: Any) -> Any:
        """Return the method as it is."""
        return method


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
    has_callbacks = hasattr(estimator, "_skl_callbacks")
    phases = listening(_Phases(estimator, task).begin) if has_callbacks else nullcontext()
    with _running(task, estimator, X=X, y=y), phases:
        yield


def as_one_task(estimator: Any, name: str, work: Callable[[Any], Result]) -> Result:
    """Return the result of work on a copy of an estimator, as one task of its callbacks.

    Fits of the copy get no tasks of their own; they advance this one.
    """
    copy = clone(estimator)
    if not hasattr(estimator, "_skl_callbacks"):
        return work(copy)
    copy.set_callbacks()

    @with_callbacks
    def in_task(estimator: Any) -> Result:
        with fit_task(estimator, n_phases=1, name=name):
            return work(copy)

    return in_task(clone(estimator))


@contextmanager
def _running(task: Any, estimator: Any, **data: Any) -> Iterator[None]:
    task.call_on_fit_task_begin(estimator=estimator, **data)
    yield
    task.call_on_fit_task_end(estimator=estimator, **data)


class _Phases:
    """A subtask for each phase, with one below it for every per cent of its steps.

    Phases inside counted steps get no tasks, since there is no limit to their number; they advance
    those steps.
    """

    def __init__(self, estimator: Any, fit: Any) -> None:
        self._estimator, self._innermost = estimator, fit
        # Steps of the phase that is counted, if there is one.
        self._total: int | None = None
        self._done = self._percent = 0

    @contextmanager
    def begin(self, name: str, total: int | None) -> Iterator[Report]:
        if self._total:
            before, n_steps = self._done, total or float("inf")
            yield lambda done: self._reach(before + done / n_steps)
            return
        around = self._innermost
        task = around.subcontext(task_name=name, max_subtasks=_PERCENT if total else None)
        with _running(task, self._estimator):
            self._innermost, self._total = task, total
            self._done = self._percent = 0
            try:
                yield self._report
            finally:
                self._innermost, self._total = around, None

    def _report(self, done: int) -> None:
        self._done = done
        self._reach(done)

    def _reach(self, done: float) -> None:
        while self._total and self._percent < min(_PERCENT, int(_PERCENT * done / self._total)):
            with _running(self._innermost.subcontext(), self._estimator):
                self._percent += 1
