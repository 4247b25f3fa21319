"""Missed events: what somebody who was away is not told any more, said as a stretch of cursors (P7)."""

from __future__ import annotations

from dataclasses import dataclass

TOO_LONG = "the client was away for too long"


def too_many(limit: int) -> str:
    """Why events have fallen off a full queue."""
    return f"more than {limit:,} events waited"


@dataclass(frozen=True, slots=True)
class MissedEvents:
    """Events after one cursor up to another one that a client is not told any more, and why.

    Where a hub itself was away, `after` and `until` are the same: no event is lacking that it has made, but of
    documents that changed several times meanwhile it has seen the last version alone.
    """

    after: int
    until: int
    reason: str
