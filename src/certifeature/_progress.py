"""Progress reporting of long computations.

A computation names its phases and counts their steps. A listener is called for the phases of its
own thread only. Without a listener, reporting costs next to nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from threading import local
from time import monotonic
from typing import TypeVar

__all__ = ["Listener", "Report", "listed", "listening", "phase"]

Item = TypeVar("Item")
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


class _Steps:
    """Counts steps, and reports the count at intervals."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._done = self._reported = 0
        self._due = monotonic() + _INTERVAL

    def advance(self) -> None:
        self._done += 1
        now = monotonic()
        if now >= self._due:
            self._due = now + _INTERVAL
            self.report()

    def report(self) -> None:
        if self._reported != self._done:
            self._reported = self._done
            self._report(self._done)


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
        steps = _Steps(report)
        yield steps.advance
        steps.report()


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
