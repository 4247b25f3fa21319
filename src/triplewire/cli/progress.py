"""A progress bar, for those who wait: on a terminal, and only when it takes longer than a second."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from time import monotonic
from typing import TypeVar

from rich.console import Console
from rich.progress import Progress

Item = TypeVar("Item")
PATIENCE = 1.0
"""Seconds before a bar appears: most runs are over by then, and a bar that flashes tells nobody anything."""


def tracked(items: Sequence[Item], label: str, console: Console, patience: float = PATIENCE) -> Iterator[Item]:
    """The items, one after the other, with a bar on the console once that has taken longer than `patience`."""
    if not console.is_terminal:
        yield from items
        return
    started = monotonic()
    with ExitStack() as stack:
        progress = Progress(console=console, transient=True)
        task = progress.add_task(label, total=len(items))
        for done, item in enumerate(items):
            if not progress.live.is_started and monotonic() - started > patience:
                stack.enter_context(progress)
            progress.update(task, completed=done)
            yield item
