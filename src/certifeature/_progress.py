"""How far long work is, told to whoever listens.

Work names its phases and counts their steps. A listener hears what its own thread does: threads and
processes that others start have none, and without one nothing is told and next to nothing done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from threading import local
from time import monotonic
from typing import TypeVar

__all__ = ["Listener", "Report", "listed", "listening", "phase"]

Item = TypeVar("Item")
# Takes the number of steps that are done.
Report = Callable[[int], object]
# Takes the name of a phase that begins and its number of steps, None if nobody knows. The context
# lasts as long as the phase; phases within it are told in between.
Listener = Callable[[str, int | None], AbstractContextManager[Report]]

# Seconds between reports: often enough for the eye, and too seldom to cost anything.
_INTERVAL = 0.05


class _Here(local):
    listener: Listener | None = None


_here = _Here()


class _Steps:
    def __init__(self, report: Report) -> None:
        self._report = report
        self._done = self._told = 0
        self._due = monotonic() + _INTERVAL

    def advance(self) -> None:
        self._done += 1
        now = monotonic()
        if now >= self._due:
            self._due = now + _INTERVAL
            self.tell()

    def tell(self) -> None:
        if self._told != self._done:
            self._told = self._done
            self._report(self._done)


def _nobody_listens() -> None:
    pass


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Let a listener hear the phases of this thread, instead of one that did so far."""
    before = _here.listener
    _here.listener = listener
    try:
        yield
    finally:
        _here.listener = before


@contextmanager
def phase(name: str, total: int | None = None) -> Iterator[Callable[[], None]]:
    """Tell the listener of a phase, and yield what is to be called after each of its steps.

    Parameters
    ----------
    name : str
        What is going on.
    total : int, default=None
        Number of steps; it may be that of the most steps.
    """
    if _here.listener is None:
        yield _nobody_listens
        return
    with _here.listener(name, total) as report:
        steps = _Steps(report)
        yield steps.advance
        steps.tell()


def listed(items: Iterable[Item], name: str, total: int) -> list[Item]:
    """Return a list of items, each of which is a step to make.

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
