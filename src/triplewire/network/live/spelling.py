"""What hubs of a network tell each other, as JSON values; and back, of strangers too: the bodies of their frames.

A body is an object with one member, named after what it is. A pattern is its canonical text, as a store keeps it; a
document its N-Triples and its XML. Whatever cannot be read as one of these is refused: reading makes values of the
types that it names, and nothing else.

Invariant: what is read is what was spelled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from triplewire.algebra.normalize import normalize
from triplewire.algebra.pattern import Pattern
from triplewire.documents import parse
from triplewire.matching.incremental import dump_pattern, load_pattern
from triplewire.model import Document
from triplewire.network.channels.spelling import BodySpelling, Json, number_of, text_of, whole_of
from triplewire.network.hierarchy.answers import AnswersGone, FoundItem, QueryAnswered, QueryAsked, UnitTold
from triplewire.network.routing import Advertise, DocumentSent, RoutesTold, Subscribe
from triplewire.network.routing.advertisements import Advertised
from triplewire.network.routing.interests import Interest
from triplewire.network.routing.messages import AnswerSent, Ask


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
            routes = [spelled_items(advertised), _spelled_interests(interests), versions]
            queries = body.queries if isinstance(body, UnitTold) else ()
            return {"routes": [*routes, [_spelled_query(each) for each in queries]] if queries else routes}
        case QueryAsked():
            return {"query": _spelled_query(body)}
        case QueryAnswered(id, found, silent, kept):
            return {"found": [id, [spelled_sent(_document_of(each)) for each in found], list(silent), kept]}
        case AnswersGone(names):
            return {"gone": list(names)}
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
    return AnswerSent(read_sent(sent), tuple(map(text_of, path)))


def _routes(given: Json) -> RoutesTold:
    advertised, interests, documents, *queries = given
    told = read_items(advertised), _interests(interests), tuple(map(read_sent, documents))
    return UnitTold(*told, tuple(map(_query, *queries))) if queries else RoutesTold(*told)


def _document_of(found: FoundItem) -> DocumentSent:
    """What is found between processes: nothing else is looked for there."""
    if not isinstance(found, DocumentSent):
        raise TypeError("an advertisement is no answer between processes")
    return found


def _spelled_query(asked: QueryAsked) -> Json:
    return [asked.id, asked.asker, dump_pattern(asked.pattern), asked.reach, asked.wanted]


def _query(given: Json) -> QueryAsked:
    id, asker, pattern, reach, wanted = given
    most = None if wanted is None else whole_of(wanted)
    return QueryAsked(text_of(id), text_of(asker), read_pattern(pattern), whole_of(reach), most)


def _found(given: Json) -> QueryAnswered:
    id, found, silent, kept = given
    return QueryAnswered(text_of(id), tuple(map(read_sent, found)), tuple(map(text_of, silent)), text_of(kept))


def _gone(given: Json) -> AnswersGone:
    return AnswersGone(tuple(map(text_of, given)))


def spelled_items(items: frozenset[Advertised]) -> Json:
    """What is advertised, in one order."""
    return sorted([list(item) for item in items])


def read_items(told: Json) -> frozenset[Advertised]:
    """What is advertised."""
    return frozenset(
        Advertised(text_of(kind), text_of(name), text_of(value), whole_of(reach)) for kind, name, value, reach in told
    )


def spelled_interest(interest: Interest) -> Json:
    """An interest: the text of its pattern, and its reach."""
    return [dump_pattern(interest.pattern), interest.reach]


def read_interest(told: Json) -> Interest:
    """An interest; that its pattern is in normal form is seen to here, and not believed."""
    text, reach = told
    return Interest(read_pattern(text), whole_of(reach))


def read_pattern(text: Json) -> Pattern:
    """A pattern in normal form; of XPath there is one form only."""
    pattern = load_pattern(text_of(text))
    return pattern if pattern.asks_xml else normalize(Pattern(pattern.answer, pattern.branches))


def _spelled_interests(interests: tuple[tuple[Interest, float], ...]) -> Json:
    return [[*spelled_interest(interest), since] for interest, since in interests]


def _interests(told: Json) -> tuple[tuple[Interest, float], ...]:
    return tuple((read_interest([text, reach]), number_of(since)) for text, reach, since in told)


def spelled_question(question: Ask) -> Json:
    """A question whether a document is still what it was."""
    return [question.origin, question.uri, question.version, list(question.path)]


def read_question(told: Json) -> Ask:
    """A question whether a document is still what it was."""
    origin, uri, version, path = told
    return Ask(text_of(origin), text_of(uri), whole_of(version), tuple(map(text_of, path)))


def spelled_sent(sent: DocumentSent) -> Json:
    """A version of a document, as JSON."""
    document = sent.document
    content = None if document is None else [document.ntriples.decode(), document.xml.decode()]
    return [sent.origin, sent.uri, sent.version, sent.time, content, sent.reach, sent.signature]


def read_sent(told: Json) -> DocumentSent:
    """A version of a document."""
    origin, uri, version, time, content, reach, signature = told
    document = None if content is None else _document(text_of(uri), *content)
    return DocumentSent(
        text_of(origin), text_of(uri), whole_of(version), number_of(time), document, whole_of(reach), text_of(signature)
    )


def _document(uri: str, ntriples: Json, xml: Json) -> Document:
    """A document in its one spelling: what is spelled otherwise was not read by a hub."""
    found = Document(uri, text_of(ntriples).encode(), text_of(xml).encode())
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
    "query": _query,
    "found": _found,
    "gone": _gone,
}

ROUTED = BodySpelling(spelled_body, read_body, lambda body: "routes" in body)
"""How hubs of a network spell and read what is in a frame."""
