"""Processes: a Python of its own for work that is asked for again and again.

A service has threads and connections, which a forked process would inherit half; so this one is started anew. It hears
pickled messages on its standard input and answers each on its standard output; it ends when its input does, so also
when the service dies.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import IO


class TooLate(Exception):
    """The process did not answer in time, and was killed."""


class Ended(Exception):
    """The process ended instead of answering; `status` is what Popen says: negative for a signal."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class Process:
    """A module that runs as a program, and is asked one thing at a time."""

    def __init__(self, module: str) -> None:
        # In a session of its own, so that Ctrl-C is a matter of the service alone, and so that what it forks ends too.
        self._popen = subprocess.Popen(
            [sys.executable, "-m", module], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
        )

    @property
    def is_alive(self) -> bool:
        """Whether it can be asked."""
        return self._popen.poll() is None

    def ask(self, message: object, seconds: float) -> object:
        """The answer; an answer that is an error is raised. TooLate or Ended if there is none, and then it is gone."""
        assert self._popen.stdin is not None
        assert self._popen.stdout is not None
        late = threading.Event()

        def kill() -> None:
            late.set()
            self.kill()

        timer = threading.Timer(seconds, kill)
        timer.daemon = True
        timer.start()
        try:
            pickle.dump(message, self._popen.stdin)
            self._popen.stdin.flush()
            answer: object = pickle.load(self._popen.stdout)
        except (EOFError, OSError, pickle.UnpicklingError):
            timer.cancel()
            self.end()
            if late.is_set():
                raise TooLate from None
            raise Ended(self._popen.returncode) from None
        finally:
            timer.cancel()
        if isinstance(answer, Exception):
            raise answer
        return answer

    def kill(self) -> None:
        """End it, and what it forked, in the middle of whatever it does; a thread that waits for it gets an error."""
        if self._popen.returncode is None:  # until it is waited for, its number is nobody else's
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._popen.pid, signal.SIGKILL)

    def end(self) -> None:
        """End it, and let go of it."""
        self.kill()
        self._popen.wait()
        for pipe in (self._popen.stdin, self._popen.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()


def serve(heard: IO[bytes], said: IO[bytes], answered: Callable[[object], object]) -> None:
    """In the process: answer each message until the parent asks no more."""
    while True:
        try:
            message = pickle.load(heard)
        except EOFError:
            return
        pickle.dump(answered(message), said)
        said.flush()
