"""What peers of a ring tell each other, as JSON values; and back, of strangers too.

    parcels    {"parcels": [[parcel, …], load]}
    receipts   {"receipts": [[[number, touched], …], load]}
    a parcel   [sender, number, place, key, body, peer, is_final, hops]

A body is an object with one member, named after what it is. Whatever cannot be read as one of these is refused, whole:
nothing of a frame counts that has something in it that is none. Homes of clients are not spelled: live, no peer hands
them to another.

Invariant: the frame that is read is the one that was spelled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from triplewire.errors import ChannelRefused
from triplewire.network.channels.spelling import UNREADABLE, Json, text_of, whole_of
from triplewire.network.ring.identifiers import BITS
from triplewire.network.ring.messages import (
    Answer,
    AskRing,
    ChangeSettled,
    ContentTold,
    CountTriples,
    EndQuery,
    ExtendMatching,
    FindSuccessor,
    FingersFound,
    HandOver,
    IndexQuery,
    IndexTriple,
    Kept,
    Notification,
    Rectify,
    Replicate,
    RingTold,
    SplitKey,
    SplitTold,
    TriplesCounted,
    WatchContent,
)
from triplewire.network.ring.notation import (
    binding_in,
    each_in,
    extension_in,
    flag_in,
    hops_in,
    key_in,
    key_state_in,
    moment_in,
    name_in,
    number_in,
    origin_in,
    place_in,
    query_in,
    spelled_binding,
    spelled_extension,
    spelled_key_state,
    spelled_query,
    spelled_statement,
    spelled_statements,
    spelled_support,
    spelled_triples,
    statement_in,
    statements_in,
    support_in,
    term_in,
    triples_in,
)
from triplewire.network.ring.post import Parcel, Parcels, Receipts, RingFrame

_KEYED = (*Kept.__args__, CountTriples)
"""What is for a key, and says nothing without one."""


# -- frames


def spelled_ring_frame(frame: RingFrame) -> Json:
    """A frame as JSON."""
    if isinstance(frame, Parcels):
        return {"parcels": [[spelled_parcel(each) for each in frame.parcels], frame.load]}
    return {"receipts": [[[number, sorted(map(list, touched))] for number, touched in frame.answered], frame.load]}


def read_ring_frame(told: Json) -> RingFrame:
    """The frame that JSON tells; ChannelRefused if it tells none."""
    try:
        ((kind, (several, load)),) = told.items()
        if kind == "receipts":
            return Receipts(each_in(_receipt, several), moment_in(load))
        if kind != "parcels":
            raise ValueError(f"{kind!r} is no kind of frame")
        parcels = each_in(parcel_in, several)
        (name,) = {parcel.body.kind for parcel in parcels}  # what goes together is of one kind
        return Parcels(name, parcels, moment_in(load))
    except UNREADABLE as error:
        reason = f"{type(error).__name__}: {error}"[:200]
        raise ChannelRefused(f"it sent what is no frame of a ring: {reason}") from None


def _receipt(told: Json) -> tuple[int, frozenset[tuple[str, str]]]:
    number, touched = told
    return whole_of(number), frozenset((name_in(home), name_in(id)) for home, id in touched)


def spelled_parcel(parcel: Parcel) -> Json:
    """A parcel as JSON; without its seal."""
    sender, number, place, key, body, peer, is_final, hops, _ = parcel
    return [sender, number, place, key, spelled_ring_body(body), peer, is_final, hops]


def parcel_in(told: Json) -> Parcel:
    """The parcel that JSON tells; one of `UNREADABLE` if it tells none."""
    sender, number, place, key, body, peer, is_final, hops = told
    found = read_ring_body(body)
    if isinstance(found, SplitKey):
        raise ValueError("that a key is split is told as what has happened to it")
    named = key_in(key) if key or isinstance(found, _KEYED) else text_of(key)
    to = None if peer is None else name_in(peer)
    return Parcel(
        name_in(sender), whole_of(number), place_in(place), named, found, to, flag_in(is_final), hops_in(hops)
    )


# -- bodies


def spelled_ring_body(body: Any) -> Json:
    """What a parcel has in it, as JSON."""
    match body:
        case IndexQuery(query, number):
            return {"index query": [spelled_query(query), number]}
        case IndexTriple(origin, statement, gone):
            return {"index triple": [[*origin], spelled_statement(statement), spelled_triples(gone)]}
        case ExtendMatching(extensions):
            return {"extend": [spelled_extension(each) for each in extensions]}
        case EndQuery(ended):
            return {"end query": ended}
        case WatchContent(home, resource, is_wanted, at):
            return {"watch": [home, str(resource), is_wanted, at]}
        case SplitKey(is_settled):
            return {"split": is_settled}
        case Replicate(key, happened):
            return {"replicate": [key, spelled_ring_body(happened)]}
        case HandOver(keys, ()):
            return {"hand over": [[key, spelled_key_state(state)] for key, state in keys]}
    return _spelled_home_body(body)


def _spelled_home_body(body: Any) -> Json:
    """What is for the peer of a client."""
    match body:
        case Notification(home, answers):
            return {"notification": [home, [_spelled_answer(each) for each in answers]]}
        case ContentTold(home, resource, said):
            return {"content": [home, str(resource), spelled_statements(said)]}
        case ChangeSettled(home, origin, versions, ids):
            return {"settled": [home, [*origin], [*versions], [*ids]]}
        case CountTriples(home, subscription, query, number):
            return {"count": [home, subscription, query, number]}
        case TriplesCounted(home, subscription, query, number, count):
            return {"counted": [home, subscription, query, number, count]}
    return _spelled_maintenance(body)


def _spelled_maintenance(body: Any) -> Json:
    """What keeps the ring a ring."""
    match body:
        case SplitTold(key):
            return {"split told": key}
        case FindSuccessor(asker, fingers):
            return {"find": [asker, [*fingers]]}
        case FingersFound(fingers):
            return {"found": [*fingers]}
        case AskRing():
            return {"ask": None}
        case RingTold(predecessor, successors):
            return {"ring": [predecessor, [*successors]]}
        case Rectify():
            return {"rectify": None}
    raise TypeError(f"{type(body).__name__} is nothing that peers of a ring tell each other")


def _spelled_answer(answer: Answer) -> Json:
    queries = [spelled_query(query) for query in answer.queries]
    return [spelled_binding(answer.binding), spelled_support(answer.support), queries]


def read_ring_body(told: Json) -> Any:
    """What a parcel has in it; one of `UNREADABLE` if it is nothing that peers tell each other."""
    ((kind, given),) = told.items()
    return _BODIES[kind](given)


def _index_query(given: Json) -> IndexQuery:
    asked, number = given
    query = query_in(asked)
    return IndexQuery(query, number_in(number, query))


def _index_triple(given: Json) -> IndexTriple:
    origin, statement, gone = given
    return IndexTriple(origin_in(origin), statement_in(statement), triples_in(gone))


def _extend(given: Json) -> ExtendMatching:
    found = each_in(extension_in, given)
    if not found:
        raise ValueError("nothing is extended")
    return ExtendMatching(found)


def _watch(given: Json) -> WatchContent:
    home, resource, is_wanted, number = given
    return WatchContent(name_in(home), term_in(resource), flag_in(is_wanted), whole_of(number))


def _replicate(given: Json) -> Replicate:
    key, happened = given
    found = read_ring_body(happened)
    if not isinstance(found, (*Kept.__args__, SplitKey)):
        raise ValueError("this does not happen to a key")
    return Replicate(key_in(key), found)


def _hand_over(given: Json) -> HandOver:
    return HandOver(tuple((key_in(key), key_state_in(state)) for key, state in given))


def _notification(given: Json) -> Notification:
    home, answers = given
    return Notification(name_in(home), each_in(_answer, answers))


def _answer(told: Json) -> Answer:
    binding, support, queries = told
    return Answer(binding_in(binding), support_in(support), each_in(query_in, queries))


def _content(given: Json) -> ContentTold:
    home, resource, said = given
    return ContentTold(name_in(home), term_in(resource), statements_in(said))


def _settled(given: Json) -> ChangeSettled:
    home, origin, (before, after), ids = given
    versions = None if before is None else whole_of(before), None if after is None else whole_of(after)
    return ChangeSettled(name_in(home), origin_in(origin), versions, each_in(name_in, ids))


def _count(given: Json) -> CountTriples:
    home, subscription, query, number = given
    return CountTriples(name_in(home), name_in(subscription), name_in(query), whole_of(number))


def _counted(given: Json) -> TriplesCounted:
    *asked, count = given
    found = _count(asked)
    return TriplesCounted(found.home, found.subscription, found.query, found.number, whole_of(count))


def _find(given: Json) -> FindSuccessor:
    asker, fingers = given
    return FindSuccessor(name_in(asker), each_in(_finger, fingers))


def _finger(told: Json) -> int:
    if whole_of(told) >= BITS:
        raise ValueError("there is no such finger")
    return int(told)


def _ring(given: Json) -> RingTold:
    predecessor, successors = given
    return RingTold(None if predecessor is None else name_in(predecessor), each_in(name_in, successors))


def _nothing(kind: Callable[[], Any]) -> Callable[[Json], Any]:
    def read(given: Json) -> Any:
        if given is not None:
            raise TypeError("nothing more was expected")
        return kind()

    return read


_BODIES: Mapping[str, Callable[[Json], Any]] = {
    "index query": _index_query,
    "index triple": _index_triple,
    "extend": _extend,
    "end query": lambda given: EndQuery(name_in(given)),
    "watch": _watch,
    "split": lambda given: SplitKey(flag_in(given)),
    "replicate": _replicate,
    "hand over": _hand_over,
    "notification": _notification,
    "content": _content,
    "settled": _settled,
    "count": _count,
    "counted": _counted,
    "split told": lambda given: SplitTold(key_in(given)),
    "find": _find,
    "found": lambda given: FingersFound(each_in(_finger, given)),
    "ask": _nothing(AskRing),
    "ring": _ring,
    "rectify": _nothing(Rectify),
}
