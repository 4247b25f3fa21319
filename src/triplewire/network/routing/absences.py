"""Clients that are offline: what comes meanwhile waits, up to a number of events and for a time (P7, P8).

    queue    at most `limit` events of a subscription wait; then the oldest one falls off
    time     after `until` the client is not waited for any more: nothing of what came meanwhile is kept

What falls off is told when the client is back, as the stretch of cursors that it missed. What the rows
are now, it can ask.

Invariant: what a client was told and what it is said to have missed are all cursors there were, each once.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

from triplewire.model import Event, MissedEvents
from triplewire.model.missed import TOO_LONG, too_many


@dataclass(frozen=True, slots=True)
class Absence:
    """A client has been offline since a cursor; so many events wait for it, until a time."""

    since: int
    limit: int
    until: float

    def trim(self, log: list[Event], now: float) -> None:
        """Let what is too much, or too late, fall off a log."""
        first = bisect_right(log, self.since, key=_cursor)
        excess = len(log) - first - (0 if now > self.until else self.limit)
        del log[first : first + max(0, excess)]

    def missed(self, log: list[Event], cursor: int, now: float) -> MissedEvents | None:
        """What has fallen off a log that was trimmed, whose newest event has this cursor, or had."""
        first = bisect_right(log, self.since, key=_cursor)
        until = log[first].cursor - 1 if first < len(log) else cursor
        reason = TOO_LONG if now > self.until else too_many(self.limit)
        return MissedEvents(self.since, until, reason) if until > self.since else None


def _cursor(event: Event) -> int:
    return event.cursor
