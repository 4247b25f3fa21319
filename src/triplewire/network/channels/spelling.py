"""The wire format of channels: what the ends of a link say, as JSON values; and back, of strangers too.

    hello      {"hello": [node, epoch, has, session, answers, version]}
    log entry  {"entry": [epoch, number, body, replaces]}
    arrivals   {"arrivals": [epoch, has, beyond]}
    heartbeat  {"heartbeat": position}

A position is [epoch, number]. How a body is spelled is handed in (`BodySpelling`): hubs of a network have other ones
than an edge and its hub. Whatever cannot be read as one of these is refused: reading makes values of the types that it
names, and nothing else.

Invariant: the frame that is read is the one that was spelled.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, NamedTuple

from triplewire.errors import ChannelRefused, TriplewireError
from triplewire.network.link import Arrivals, Frame, Heartbeat, Hello, LogEntry, Position

Json = Any
"""A value that JSON can say."""

UNREADABLE = (
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    AttributeError,
    AssertionError,
    SyntaxError,
    RecursionError,
    OverflowError,
    struct.error,
    TriplewireError,
)
"""What reading something raises that is not what it should be."""


class BodySpelling(NamedTuple):
    """How the bodies of a link are spelled and read, and which of them may replace what was told before."""

    spell: Callable[[Any], Json]
    read: Callable[[Json], Any]
    may_replace: Callable[[Json], bool]


# -- frames


def spelled_frame(frame: Frame, bodies: BodySpelling) -> Json:
    """A frame as JSON."""
    match frame:
        case Hello(node, epoch, has, session, answers, version):
            return {"hello": [node, epoch, _spelled_position(has), session, answers, version]}
        case LogEntry(epoch, number, body, replaces):
            return {"entry": [epoch, number, bodies.spell(body), replaces]}
        case Arrivals(epoch, has, beyond):
            return {"arrivals": [epoch, _spelled_position(has), list(beyond)]}
        case Heartbeat(newest):
            return {"heartbeat": _spelled_position(newest)}


def read_frame(told: Json, bodies: BodySpelling) -> Frame:
    """The frame that JSON tells; ChannelRefused if it tells none."""
    try:
        return _frame(told, bodies)
    except UNREADABLE as error:
        raise ChannelRefused(f"it sent what is no frame of a link: {_brief(error)}") from None


def _frame(told: Json, bodies: BodySpelling) -> Frame:
    ((kind, given),) = told.items()
    match kind:
        case "hello":
            node, epoch, has, session, answers, version = given
            said = None if answers is None else text_of(answers)
            return Hello(text_of(node), text_of(epoch), _position(has), text_of(session), said, whole_of(version))
        case "entry":
            epoch, number, body, replaces = given
            if not isinstance(replaces, bool) or (replaces and not bodies.may_replace(body)):
                raise ValueError("this does not replace what was told before")
            return LogEntry(text_of(epoch), whole_of(number), bodies.read(body), replaces)
        case "arrivals":
            epoch, has, beyond = given
            place = _position(has)
            if place is None:
                raise ValueError("arrivals have a position")
            return Arrivals(text_of(epoch), place, tuple(map(whole_of, beyond)))
        case "heartbeat":
            newest = _position(given)
            if newest is None:
                raise ValueError("a heartbeat has a position")
            return Heartbeat(newest)
    raise ValueError(f"{kind!r} is no kind of frame")


def _spelled_position(position: Position | None) -> Json:
    return None if position is None else [position.epoch, position.number]


def _position(told: Json) -> Position | None:
    if told is None:
        return None
    epoch, number = told
    return Position(text_of(epoch), whole_of(number))


# -- values


def text_of(told: Json) -> str:
    """A text; a TypeError for anything else."""
    if not isinstance(told, str):
        raise TypeError(f"a text was expected, not {type(told).__name__}")
    return told


def whole_of(told: Json) -> int:
    """The number of something that is counted; a TypeError for anything else."""
    if isinstance(told, bool) or not isinstance(told, int) or not 0 <= told < 1 << 62:
        raise TypeError("a number of a document or an entry was expected")
    return told


def number_of(told: Json) -> float:
    """A time; a TypeError for anything else."""
    if isinstance(told, bool) or not isinstance(told, int | float):
        raise TypeError(f"a time was expected, not {type(told).__name__}")
    return float(told)


def _brief(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:200]
