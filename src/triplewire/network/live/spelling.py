"""The wire format: what links say, and what hubs tell each other, as JSON values; and back, of strangers too.

    hello      {"hello": [node, epoch, has, session, answers, version]}
    log entry  {"entry": [epoch, number, body, replaces]}
    arrivals   {"arrivals": [epoch, has, beyond]}
    heartbeat  {"heartbeat": position}

A position is [epoch, number], a body an object with one member, named after what it is. A pattern is its canonical
text, as a store keeps it; a document its N-Triples and its XML. Whatever cannot be read as one of these is refused:
reading makes values of the types that it names, and nothing else.

Invariant: what is read is what was spelled.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from triplewire.algebra.normalize import normalize
from triplewire.algebra.pattern import Pattern
from triplewire.documents import parse
from triplewire.errors import ChannelRefused, TriplewireError
from triplewire.matching.incremental import dump_pattern, load_pattern
from triplewire.model import Document
from triplewire.network.link import Arrivals, Frame, Heartbeat, Hello, LogEntry, Position
from triplewire.network.routing import Advertise, DocumentSent, RoutesTold, Subscribe
from triplewire.network.routing.advertisements import Advertised
from triplewire.network.routing.interests import Interest
from triplewire.network.routing.messages import AnswerSent, Ask

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


def spelled_frame(frame: Frame, bodies: BodySpelling | None = None) -> Json:
    """A frame as JSON; its body as hubs of a network tell each other, unless it is said otherwise."""
    match frame:
        case Hello(node, epoch, has, session, answers, version):
            return {"hello": [node, epoch, _spelled_position(has), session, answers, version]}
        case LogEntry(epoch, number, body, replaces):
            return {"entry": [epoch, number, (bodies or _ROUTED).spell(body), replaces]}
        case Arrivals(epoch, has, beyond):
            return {"arrivals": [epoch, _spelled_position(has), list(beyond)]}
        case Heartbeat(newest):
            return {"heartbeat": _spelled_position(newest)}


def read_frame(told: Json, bodies: BodySpelling | None = None) -> Frame:
    """The frame that JSON tells; ChannelRefused if it tells none."""
    try:
        return _frame(told, bodies or _ROUTED)
    except UNREADABLE as error:
        raise ChannelRefused(f"it sent what is no frame of a link: {_brief(error)}") from None


def _frame(told: Json, bodies: BodySpelling) -> Frame:
    ((kind, given),) = told.items()
    match kind:
        case "hello":
            node, epoch, has, session, answers, version = given
            said = None if answers is None else _text(answers)
            return Hello(_text(node), _text(epoch), _position(has), _text(session), said, _whole(version))
        case "entry":
            epoch, number, body, replaces = given
            if not isinstance(replaces, bool) or (replaces and not bodies.may_replace(body)):
                raise ValueError("this does not replace what was told before")
            return LogEntry(_text(epoch), _whole(number), bodies.read(body), replaces)
        case "arrivals":
            epoch, has, beyond = given
            place = _position(has)
            if place is None:
                raise ValueError("arrivals have a position")
            return Arrivals(_text(epoch), place, tuple(map(_whole, beyond)))
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
    return Position(_text(epoch), _whole(number))


# -- bodies


def spelled_body(body: Any) -> Json:
    """What hubs tell each other, as JSON."""
    match body:
        case Advertise(added, removed):
            return {"advertise": [spelled_items(added), spelled_items(removed)]}
        case Subscribe(added, removed):
            return {"subscribe": [_spelled_interests(added), [spelled_interest(each) for each in removed]]}
        case DocumentSent():
            return {"document": spelled_sent(body)}
        case Ask():
            return {"ask": spelled_question(body)}
        case AnswerSent(sent, path):
            return {"answer": [spelled_sent(sent), list(path)]}
        case RoutesTold(advertised, interests, documents):
            versions = [spelled_sent(each) for each in documents]
            return {"routes": [spelled_items(advertised), _spelled_interests(interests), versions]}
    raise TypeError(f"{type(body).__name__} is nothing that hubs tell each other")


def read_body(told: Json) -> Any:
    """What a hub tells; a ValueError, or another of `UNREADABLE`, if it is nothing that hubs tell."""
    ((kind, given),) = told.items()
    return _BODIES[kind](given)


def _advertise(given: Json) -> Advertise:
    added, removed = given
    return Advertise(read_items(added), read_items(removed))


def _subscribe(given: Json) -> Subscribe:
    added, removed = given
    return Subscribe(_interests(added), tuple(read_interest(each) for each in removed))


def _answer(given: Json) -> AnswerSent:
    sent, path = given
    return AnswerSent(read_sent(sent), tuple(map(_text, path)))


def _routes(given: Json) -> RoutesTold:
    advertised, interests, documents = given
    return RoutesTold(read_items(advertised), _interests(interests), tuple(map(read_sent, documents)))


def spelled_items(items: frozenset[Advertised]) -> Json:
    """What is advertised, in one order."""
    return sorted([list(item) for item in items])


def read_items(told: Json) -> frozenset[Advertised]:
    """What is advertised."""
    return frozenset(
        Advertised(_text(kind), _text(name), _text(value), _whole(reach)) for kind, name, value, reach in told
    )


def spelled_interest(interest: Interest) -> Json:
    """An interest: the text of its pattern, and its reach."""
    return [dump_pattern(interest.pattern), interest.reach]


def read_interest(told: Json) -> Interest:
    """An interest; that its pattern is in normal form is seen to here, and not believed."""
    text, reach = told
    return Interest(read_pattern(text), _whole(reach))


def read_pattern(text: Json) -> Pattern:
    """A pattern in normal form; of XPath there is one form only."""
    pattern = load_pattern(_text(text))
    return pattern if pattern.asks_xml else normalize(Pattern(pattern.answer, pattern.branches))


def _spelled_interests(interests: tuple[tuple[Interest, float], ...]) -> Json:
    return [[*spelled_interest(interest), since] for interest, since in interests]


def _interests(told: Json) -> tuple[tuple[Interest, float], ...]:
    return tuple((read_interest([text, reach]), _number(since)) for text, reach, since in told)


def spelled_question(question: Ask) -> Json:
    """A question whether a document is still what it was."""
    return [question.origin, question.uri, question.version, list(question.path)]


def read_question(told: Json) -> Ask:
    """A question whether a document is still what it was."""
    origin, uri, version, path = told
    return Ask(_text(origin), _text(uri), _whole(version), tuple(map(_text, path)))


def spelled_sent(sent: DocumentSent) -> Json:
    """A version of a document, as JSON."""
    document = sent.document
    content = None if document is None else [document.ntriples.decode(), document.xml.decode()]
    return [sent.origin, sent.uri, sent.version, sent.time, content, sent.reach, sent.signature]


def read_sent(told: Json) -> DocumentSent:
    """A version of a document."""
    origin, uri, version, time, content, reach, signature = told
    document = None if content is None else _document(_text(uri), *content)
    return DocumentSent(
        _text(origin), _text(uri), _whole(version), _number(time), document, _whole(reach), _text(signature)
    )


def _document(uri: str, ntriples: Json, xml: Json) -> Document:
    """A document in its one spelling: what is spelled otherwise was not read by a hub."""
    found = Document(uri, _text(ntriples).encode(), _text(xml).encode())
    if Document.from_triples(uri, found.triples).ntriples != found.ntriples:
        raise ValueError(f"the triples of {uri} are not in canonical form")
    if found.xml and parse(found.xml, uri=uri, media_type="application/xml").xml != found.xml:
        raise ValueError(f"the XML of {uri} is not in canonical form")
    return found


_BODIES: Mapping[str, Callable[[Json], Any]] = {
    "advertise": _advertise,
    "subscribe": _subscribe,
    "document": read_sent,
    "ask": read_question,
    "answer": _answer,
    "routes": _routes,
}


# -- values


_ROUTED = BodySpelling(spelled_body, read_body, lambda body: "routes" in body)


def _text(told: Json) -> str:
    if not isinstance(told, str):
        raise TypeError(f"a text was expected, not {type(told).__name__}")
    return told


def _whole(told: Json) -> int:
    if isinstance(told, bool) or not isinstance(told, int) or not 0 <= told < 1 << 62:
        raise TypeError("a number of a document or an entry was expected")
    return told


def _number(told: Json) -> float:
    if isinstance(told, bool) or not isinstance(told, int | float):
        raise TypeError(f"a time was expected, not {type(told).__name__}")
    return float(told)


def _brief(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:200]
