"""Signals that ask a long command to end: Ctrl-C, and what a service manager sends."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import typer


@contextmanager
def ended_by(end: Callable[..., object]) -> Iterator[None]:
    """Calls `end` when the process is asked to end, also where a shell started it in the background."""
    before = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def ending_with(say: Callable[[], object]) -> Iterator[None]:
    """Ends the command when the process is asked to end, with the exit code that shells expect; `say` says so.

    A second signal does not wait for what is still to be put away.
    """
    asked: list[int] = []

    def end(number: int, *_: object) -> None:
        if asked:
            os._exit(128 + number)
        asked.append(number)
        raise KeyboardInterrupt

    with ended_by(end):
        try:
            yield
        except KeyboardInterrupt:
            say()
            raise typer.Exit(128 + (asked or [signal.SIGINT])[0]) from None
        except Exception:
            if not asked:
                raise
            say()  # what was going on failed of the interruption
            raise typer.Exit(128 + asked[0]) from None


def interrupt(*_: object) -> None:
    """Ends whatever runs, as Ctrl-C does."""
    raise KeyboardInterrupt
