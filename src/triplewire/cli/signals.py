"""Signals that ask a long command to end: Ctrl-C, and what a service manager sends."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def ended_by(end: Callable[..., object]) -> Iterator[None]:
    """Calls `end` when the process is asked to end, also where a shell started it in the background."""
    before = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def interrupt(*_: object) -> None:
    """Ends whatever runs, as Ctrl-C does."""
    raise KeyboardInterrupt
