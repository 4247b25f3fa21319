"""Work in a process that may die of it.

A document can take a worker down in ways that no `except` catches: the system kills what takes too much memory, a
library of another language crashes. The first attempt at a task takes no precautions, because they cost something. The
attempt after a crash runs each portion in a forked process; one that dies is divided until the document is
found that does it, and that one is set aside.
"""

from __future__ import annotations

import os
import pickle
import signal
from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class Died(NamedTuple):
    """How a process ended that should have given a result: a wait status, as the system tells it."""

    status: int

    def __str__(self) -> str:
        code = os.waitstatus_to_exitcode(self.status)
        if code < 0:
            return f"was killed by {signal.Signals(-code).name} while it read or matched it"
        return f"ended (exit code {code}) while it read or matched it"


def isolated(work: Callable[[list[Item]], Result], items: list[Item]) -> Iterator[tuple[list[Item], Result | Died]]:
    """The results of all items, for as many of them at once as possible; what dies of a single one is `Died`."""
    waiting = [items] if items else []
    while waiting:
        some = waiting.pop()
        result = in_child(work, some)
        if isinstance(result, Died) and len(some) > 1:
            middle = len(some) // 2
            waiting += [some[middle:], some[:middle]]
        else:
            yield some, result


def in_child(work: Callable[[list[Item]], Result], items: list[Item]) -> Result | Died:
    """The result of work done in a forked process, or how that process died."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        _work_and_leave(work, items, writing)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        told = pipe.read()
    _, status = os.waitpid(child, 0)
    if status:
        return Died(status)
    result: Result = pickle.loads(told)
    return result


def _work_and_leave(work: Callable[[list[Item]], Result], items: list[Item], writing: int) -> None:
    """In the child: work, write the result, and end without anything that belongs to the parent."""
    code = 1
    try:
        with os.fdopen(writing, "wb") as pipe:
            pickle.dump(work(items), pipe, protocol=pickle.HIGHEST_PROTOCOL)
        code = 0
    finally:
        os._exit(code)
