"""A progress bar, for a person who waits: on a terminal, and only when it takes longer than a second."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from time import monotonic
from typing import TypeVar

from rich.console import Console
from rich.progress import Progress

Item = TypeVar("Item")
PATIENCE = 1.0
"""Seconds before a bar appears: most runs are over by then, and a bar that flashes tells nobody anything."""


def tracked(items: Sequence[Item], label: str, console: Console, patience: float = PATIENCE) -> Iterator[Item]:
    """The items, one after the other, with a bar on the console once that has taken longer than `patience`."""
    with Bar(label, console, patience) as bar:
        for done, item in enumerate(items):
            bar.show(done, len(items))
            yield item


class Bar:
    """A bar for work that tells how far it is; it appears after some time, or never."""

    def __init__(self, label: str, console: Console, patience: float = PATIENCE) -> None:
        self._progress = Progress(console=console, transient=True)
        self._task = self._progress.add_task(label, total=None)
        self._is_wanted, self._due = console.is_terminal, monotonic() + patience

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *_: object) -> None:
        if self._progress.live.is_started:
            self._progress.stop()

    def show(self, done: int, total: int) -> None:
        """Show that so many are done, of so many."""
        if not self._is_wanted:
            return
        if not self._progress.live.is_started and monotonic() > self._due:
            self._progress.start()
        self._progress.update(self._task, completed=done, total=total)
