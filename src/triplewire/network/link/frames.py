"""Frames: what one end of a link says to the other.

    Hello          which node and incarnation this is, and what it has of the other; the first word of a connection
    LogEntry       a body, and its number in this incarnation's log; or a body that replaces everything before it
    Arrivals       up to where the other side's log was applied, and which later numbers have arrived already
    Heartbeat      the newest number of the log: so a silent link can be told from one with nothing to say

Any of them may be lost, doubled or late: each says which incarnation it speaks of, so that none is misunderstood.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

VERSION = 1
"""The version of the protocol; ends with different ones refuse each other in words."""


@dataclass(frozen=True, slots=True)
class Position:
    """A place in the log of an incarnation; a place in that of another incarnation means nothing."""

    epoch: str
    number: int


@dataclass(frozen=True, slots=True)
class Hello:
    """Which node speaks, and what it has.

    `session` is made anew whenever an end wants to know; a Hello that `answers` it was said after that, and so cannot
    be one that was long on the way.
    """

    node: str
    epoch: str
    has: Position | None
    session: str
    answers: str | None = None
    version: int = VERSION


@dataclass(frozen=True, slots=True)
class LogEntry:
    """A body with its number; with `replaces`, what came before it does not count any more."""

    epoch: str
    number: int
    body: Any
    replaces: bool = False


@dataclass(frozen=True, slots=True)
class Arrivals:
    """What the incarnation `epoch` has applied durably; numbers in `beyond`, after a gap, have arrived already."""

    epoch: str
    has: Position
    beyond: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """The newest number of the sender's log."""

    newest: Position


Frame = Hello | LogEntry | Arrivals | Heartbeat
