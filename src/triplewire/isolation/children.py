"""Children: work in a forked process that may die of it.

A document can take a process down in ways that no `except` catches: the system kills what takes too much memory, a
library of another language crashes. So a forked process does the work and hands the result back through a pipe; of
several items, the process that dies is divided until the item is found that does it.

Invariant: whatever becomes of the child, the parent is as it was, and the child is gone when the parent goes on.
"""

from __future__ import annotations

import os
import pickle
import select
import signal
from collections.abc import Callable, Iterator
from time import monotonic
from typing import NamedTuple, TypeVar

from triplewire.isolation.confinement import Confinement

Item = TypeVar("Item")
Result = TypeVar("Result")

_CHUNK = 1 << 20


class Died(NamedTuple):
    """How a process ended that should have given a result: a wait status, and whether its time was over."""

    status: int
    is_late: bool = False

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


def in_child(
    work: Callable[[Item], Result],
    item: Item,
    *,
    confinement: Confinement | None = None,
    seconds: float | None = None,
) -> Result | Died:
    """The result of work done in a forked process, or how that process died; after `seconds` it is killed.

    A child with a confinement must have loaded everything that it needs: it cannot open a file.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        _work_and_leave(work, item, writing, confinement)
    os.close(writing)
    try:
        told = _all_of(reading, seconds)
    finally:
        os.close(reading)
        if seconds is not None:
            # It has said what it had to say, or its time is over; until it is waited for, the number is its own.
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    if told is None:
        return Died(status, is_late=True)
    try:
        result: Result = pickle.loads(told)
    except (EOFError, pickle.UnpicklingError):
        return Died(status)
    return result


def _all_of(pipe: int, seconds: float | None) -> bytes | None:
    """What comes through a pipe until its other end is closed; None if that takes longer."""
    parts: list[bytes] = []
    until = None if seconds is None else monotonic() + seconds
    while True:
        if until is not None and not select.select([pipe], [], [], max(0.0, until - monotonic()))[0]:
            return None
        part = os.read(pipe, _CHUNK)
        if not part:
            return b"".join(parts)
        parts.append(part)


def _work_and_leave(work: Callable[[Item], Result], item: Item, writing: int, confinement: Confinement | None) -> None:
    """In the child: work, write the result, and end without anything that belongs to the parent."""
    code = 1
    try:
        if confinement is not None:
            confinement.enter(writing)
        with os.fdopen(writing, "wb") as pipe:
            pickle.dump(work(item), pipe, protocol=pickle.HIGHEST_PROTOCOL)
        code = 0
    finally:
        os._exit(code)
