"""What a command is doing, and how far it is: bars on a terminal, which go when it is done."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from rich.console import Console, RenderableType
from rich.markup import escape
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TextColumn,
)
from rich.text import Text

from certifeature._progress import Listener, Report, listening, phase

__all__ = ["showing"]


@contextmanager
def showing(task: str) -> Iterator[None]:
    """Show a task and the phases inside it, if on a terminal."""
    console = Console(stderr=True)
    # Rich would write bars to a file too, where colours are forced.
    if not (sys.stderr.isatty() and console.is_interactive):
        yield
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        _Bar(bar_width=30),
        _Count(),
    )
    # What is printed goes where it should, and not to the console of the bars.
    bars = Progress(*columns, console=console, transient=True, redirect_stdout=False)
    with bars, listening(_listener(bars)), phase(task):
        yield


def _listener(bars: Progress) -> Listener:
    @contextmanager
    def begin(name: str, total: int | None) -> Iterator[Report]:
        indent = "  " * len(bars.tasks)
        bar = bars.add_task(indent + escape(name), total=total)
        try:
            yield lambda done: bars.update(bar, completed=done)
        finally:
            bars.remove_task(bar)

    return begin


class _Bar(BarColumn):
    def render(self, task: Task) -> RenderableType:  # type: ignore[override]
        """Return a bar where steps are counted."""
        return Text("") if task.total is None else super().render(task)


class _Count(ProgressColumn):
    def render(self, task: Task) -> Text:
        """Return the steps done, their share, how many there are in a second, and the time left.

        The rate is that since the beginning, for rich knows none before the third step.
        """
        if task.total is None:
            return Text("")
        text = f"{task.completed:,.0f}/{task.total:,.0f}"
        if task.total:
            text += f"  {100 * task.completed / task.total:.0f} %"
        if task.completed and task.elapsed:
            rate = task.completed / task.elapsed
            left = timedelta(seconds=round((task.total - task.completed) / rate))
            text += f"  {f'{rate:,.0f}' if rate >= 10 else f'{rate:.2g}'}/s  {left} left"
        return Text(text)
