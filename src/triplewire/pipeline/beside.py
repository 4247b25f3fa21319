"""Work in a thread beside the one that hears signals.

A signal's handler runs in the main thread, between two steps of whatever that does. If these are the bytes of a call to
Java, the connection is broken afterwards, and Spark cannot even be stopped over it. So the main thread only waits.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from threading import Thread
from typing import Self, TypeVar

_Result = TypeVar("_Result")
_PATIENCE = 10.0
"""Seconds for work that was left to notice it, so that it has put its things away before the process ends."""


class Beside:
    """Does one thing at a time in a thread; who leaves before it is done waits a little for it."""

    def __init__(self, patience: float = _PATIENCE) -> None:
        self._patience = patience
        self._thread: Thread | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._thread is not None:
            self._thread.join(self._patience)

    def do(self, work: Callable[[], _Result]) -> _Result:
        """What the work gives, or raises."""
        result: Future[_Result] = Future()

        def run() -> None:
            try:
                result.set_result(work())
            except BaseException as error:
                result.set_exception(error)

        self._thread = Thread(target=run, name="triplewire-work", daemon=True)
        self._thread.start()
        self._thread.join()
        return result.result()
