"""A watchdog over the connections to a server: one that hangs is cut off, one that is only slow is not.

A statement may take minutes, so no time limit tells a slow server from a frozen one. So while a connection has been in
use for a while, the server is asked now and then over a new connection, which has a limit. A server that does not even
answer that, several times, will not answer the others either: they are cut, and a thread that waits gets an error
instead of nothing. Keepalives cannot do this: the operating system answers them for a process that is frozen.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from typing import Any

from sqlalchemy import Engine, event

_LOOK, _LONG, _TRIES = 1.0, 5.0, 3
"""Seconds between two looks, and in use, after which the server is asked; and how many questions it may not answer."""


class Watchdog:
    """Watches the connections of an engine, in a thread that is there while one is in use for long.

    `ask` opens a connection of its own; TimeoutError if nothing comes back in time. A refusal is an answer, too.
    """

    def __init__(self, engine: Engine, ask: Callable[[], None]) -> None:
        self._ask = ask
        self._used: dict[int, tuple[Any, float]] = {}
        self._changing = threading.Lock()
        self._thread: threading.Thread | None = None
        event.listen(engine, "checkout", self._taken)
        event.listen(engine, "checkin", self._given_back)
        event.listen(engine, "invalidate", self._given_back)

    def _taken(self, connection: Any, *_: object) -> None:
        with self._changing:
            self._used[id(connection)] = (connection, monotonic())
            if self._thread is None:
                self._thread = threading.Thread(target=self._watch, name="triplewire watchdog", daemon=True)
                self._thread.start()

    def _given_back(self, connection: Any, *_: object) -> None:
        with self._changing:
            self._used.pop(id(connection), None)

    def _watch(self) -> None:
        unanswered, rest = 0, threading.Event()
        while True:
            rest.wait(_LOOK)
            with self._changing:
                if not self._used:
                    self._thread = None
                    return
                is_long = min(since for _, since in self._used.values()) < monotonic() - _LONG
            if not is_long:
                continue
            unanswered = 0 if self._is_there() else unanswered + 1
            if unanswered >= _TRIES:
                self._cut()
                unanswered = 0
            rest.wait(_LONG if not unanswered else 0)

    def _is_there(self) -> bool:
        try:
            self._ask()
        except TimeoutError:
            return False
        except Exception:  # too many connections, say, or a server that has ended: threads that wait hear of that
            return True
        return True

    def _cut(self) -> None:
        """Give the thread that waits for an answer an error; what the server has not committed, it rolls back."""
        with self._changing:
            used = [connection for connection, _ in self._used.values()]
        for connection in used:
            with suppress(Exception), socket.socket(fileno=os.dup(connection.fileno())) as line:
                line.shutdown(socket.SHUT_RDWR)  # unless it was closed meanwhile
