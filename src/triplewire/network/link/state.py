"""What an end of a link must not lose: its own log, and its place in the other side's."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any

from triplewire.network.link.frames import LogEntry, Position


@dataclass(slots=True)
class LinkState:
    """The log of what is not acknowledged yet, and `has`, the place in the log of the other side.

    `epoch` names this incarnation of the node's state, `peer` that of the other side. `waiting` has the entries after
    number `done`, which is the last one that `peer` has acknowledged.

    Invariant: what a node does with a body, and the `has` that says so, are made durable in one step, before any frame
    of that step is sent.
    """

    epoch: str
    peer: str | None = None
    done: int = 0
    waiting: deque[LogEntry] = field(default_factory=deque)
    has: Position | None = None

    @property
    def newest(self) -> int:
        """The number of the newest entry of the log."""
        return self.done + len(self.waiting)

    def append(self, body: Any, *, replaces: bool = False) -> LogEntry:
        """Add an entry; one that replaces what was before takes the place of all that waits."""
        if replaces:
            self.done = self.newest
            self.waiting.clear()
        entry = LogEntry(self.epoch, self.newest + 1, body, replaces)
        self.waiting.append(entry)
        return entry

    def acknowledge(self, number: int) -> None:
        """Forget the entries up to a number."""
        while self.waiting and self.done < number:
            self.waiting.popleft()
            self.done += 1

    def meet(self, peer: str, has: Position | None) -> bool:
        """Take up with an incarnation of the other side; False: it lacks entries that are not kept any more.

        What one incarnation has never becomes less, so one that says less than it did has spoken earlier.
        """
        is_replaced = bool(self.waiting) and self.waiting[0].replaces
        is_ours = has is None or has.epoch == self.epoch
        number = has.number if has is not None and is_ours else 0
        is_kept = is_ours and (peer == self.peer or self.done <= number) and number <= self.newest
        if not (is_replaced or is_kept):
            return False
        self.peer = peer
        self.acknowledge(number)
        return True
