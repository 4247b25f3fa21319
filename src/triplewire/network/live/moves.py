"""Moves: a subscriber that was at one hub comes to another one of the network, and goes on there (P7, P8).

    client     asks its new hub to move it, and signs what the old one wants: both names, the key, a nonce, a number
    new hub    asks the old one what that would be, over a channel between the two and no other way; looks for room
    old hub    looks whose key it is, writes down what it hands over, and ends the subscriptions: it tells no more
    new hub    goes on with them in one transaction, with the documents that they were told of, and confirms
    old hub    lets go of what it kept; if it leaves before, it asks whether that has arrived, and stays if not

The *generation* numbers the departures of a key from a hub, and never falls, not even when the hub's store is an older
copy. A proof counts for one departure; a handover that comes again is one that was taken already, and is confirmed. If
a confirmation is lost, the account brings it along: a handover says which ones were `taken` wherever it has been.

Invariant: what an account has is at one hub, or kept for one other hub, at any time. So two hubs never both tell.

Here is what goes between the two, how it is spelled, and what is written; `departures` is the old hub's part,
`settlements` the new one's.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from triplewire.engine.subscriptions.handovers import HandedEvent, HandedPause, HandedSubscription, is_cell
from triplewire.engine.subscriptions.reaches import microseconds
from triplewire.matching.incremental import dump_pattern, load_pattern
from triplewire.network.channels.spelling import Json, number_of, text_of, whole_of
from triplewire.network.live.council import Message
from triplewire.network.live.spelling import read_pattern, read_sent, spelled_sent
from triplewire.network.routing import DocumentSent
from triplewire.store import CHANGED, MATCHED, UNMATCHED, Reader, Writer

CHALLENGE, LIST, MOVE, SETTLED = "move challenge", "move list", "move", "move settled"
TAKEN = "move taken"
KINDS = (CHALLENGE, LIST, MOVE, SETTLED, TAKEN)
"""The questions of a move, which only the hub that asks may carry."""


@dataclass(frozen=True)
class Proof:
    """What a client says to move: which number its move has, what of it is to move, read how far; and its signature."""

    key: str
    generation: int
    nonce: str
    signature: str
    subscriptions: Sequence[str] = ()
    after: Mapping[str, int] = field(default_factory=dict)

    def question(self, kind: str) -> Message:
        """What the old hub is asked with it."""
        return asdict(self) | {"kind": kind}


@dataclass(frozen=True)
class Handover:
    """What one hub hands over to another: its generation, subscriptions, and the documents that these have rows of.

    `taken` are the handovers to this account's hubs that have arrived: by the hub that they were from, the last one.
    """

    generation: int
    subscriptions: tuple[HandedSubscription, ...]
    documents: tuple[DocumentSent, ...]
    taken: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class MovingQuery:
    """Of a subscription that could move, what the new hub has to know before: its id, and what it asks."""

    id: str
    pattern: str
    scope: str


def read_proof(told: Message) -> Proof:
    """The proof that a question tells; one of `UNREADABLE` if it tells none."""
    after = {text_of(id): whole_of(cursor) for id, cursor in told["after"].items()}
    wanted = [text_of(id) for id in told["subscriptions"]]
    said = text_of(told["nonce"]), text_of(told["signature"])
    return Proof(text_of(told["key"]), whole_of(told["generation"]), *said, wanted, after)


def spelled_list(generation: int, queries: Sequence[MovingQuery]) -> Message:
    """What would move, as JSON."""
    return {"generation": generation, "subscriptions": [[each.id, each.pattern, each.scope] for each in queries]}


def read_list(told: Json) -> tuple[int, list[MovingQuery]]:
    """What would move; one of `UNREADABLE` if that is not told."""
    found = [MovingQuery(text_of(id), _pattern(text), text_of(scope)) for id, text, scope in told["subscriptions"]]
    return whole_of(told["generation"]), found


def spelled_handover(handover: Handover) -> Message:
    """A handover, as JSON."""
    return {
        "generation": handover.generation,
        "subscriptions": [asdict(each) for each in handover.subscriptions],
        "documents": [spelled_sent(each) for each in handover.documents],
        "taken": dict(handover.taken),
    }


def read_handover(told: Json) -> Handover:
    """A handover; one of `UNREADABLE` if it is none."""
    handed = tuple(_subscription(each) for each in told["subscriptions"])
    documents = tuple(read_sent(each) for each in told["documents"])
    taken = {text_of(hub): whole_of(generation) for hub, generation in told["taken"].items()}
    return Handover(whole_of(told["generation"]), handed, documents, taken)


def _subscription(told: Json) -> HandedSubscription:
    texts = {name: text_of(told[name]) for name in ("id", "text", "language", "scope", "start")}
    pattern = _pattern(told["pattern"])
    width = len(load_pattern(pattern).answer)
    return HandedSubscription(
        **texts,
        title=_text_or_none(told["title"]),
        description=_text_or_none(told["description"]),
        sees_everybody=bool(told["sees_everybody"]),
        pattern=pattern,
        since=whole_of(told["since"]),
        rows=tuple(_cells(each, width) for each in told["rows"]),
        events=tuple(_event(each, width) for each in told["events"]),
        pause=_pause(told.get("pause"), len(told["events"])),
        missed=tuple(map(text_of, told.get("missed", ()))),
    )


def _pause(told: Json, events: int) -> HandedPause | None:
    """A pause; a hub that knows of none does not speak of it."""
    if told is None:
        return None
    since, heard = text_of(told["since"]), whole_of(told["heard"])
    datetime.fromisoformat(since)
    if not 0 <= heard <= events:
        raise ValueError(f"{heard} of {events} events cannot have been before a pause")
    keep = None if told["keep"] is None else whole_of(told["keep"])
    return HandedPause(since, heard, keep, None if told["until"] is None else number_of(told["until"]))


def _text_or_none(told: Json) -> str | None:
    return None if told is None else text_of(told)


def _pattern(text: Json) -> str:
    """The text of a pattern, whatever form it was told in."""
    return dump_pattern(read_pattern(text))


def _event(told: Json, width: int) -> HandedEvent:
    kind = whole_of(told["kind"])
    if kind not in (MATCHED, CHANGED, UNMATCHED):
        raise ValueError(f"{kind} is no kind of event")
    return HandedEvent(kind, _cells(told["row"], width), tuple(_cells(each, 3) for each in told["triples"]))


def _cells(told: Any, width: int) -> tuple[str, ...]:
    if not isinstance(told, list | tuple) or len(told) != width:
        raise ValueError(f"a row has {width} cells")
    found = tuple(map(text_of, told))
    if not all(map(is_cell, found)):
        raise ValueError("a cell of a row is no term")
    return found


# -- what a hub must not lose of moves, by the key of an account

_GENERATION, _KEPT, _TAKEN = "departures", "departed", "settled"


def last_generation(reader: Reader, key: str) -> int:
    """That of the last departure from here."""
    return int(reader.network.state_of(_GENERATION, key) or 0)


def kept_handover(reader: Reader, key: str) -> Message | None:
    """What was handed over and not confirmed: `to` which hub, its `generation`, and the `handover` as JSON."""
    found = reader.network.state_of(_KEPT, key)
    return None if found is None else json.loads(found)


def kept_handovers(reader: Reader) -> dict[str, Message]:
    """All that was handed over and not confirmed, by the keys of accounts."""
    return {key: json.loads(value) for (part, key), value in reader.network.state().items() if part == _KEPT}


def keep_handover(writer: Writer, key: str, new: str, handover: Message) -> None:
    """Keep what is handed over to another hub until it has arrived there."""
    kept = json.dumps({"to": new, "generation": handover["generation"], "handover": handover})
    writer.network.set_state({(_KEPT, key): kept, (_GENERATION, key): str(handover["generation"])})


def let_go(writer: Writer, key: str, generation: int) -> None:
    """A handover has arrived, and need not be kept."""
    kept = kept_handover(writer, key)
    if kept is not None and kept["generation"] <= generation:
        writer.network.set_state({(_KEPT, key): None})


def taken_handovers(reader: Reader, key: str) -> dict[str, int]:
    """The last handover that was taken from each hub, here or where the account has been before."""
    found: dict[str, int] = json.loads(reader.network.state_of(_TAKEN, key) or "{}")
    return found


def take_handover(writer: Writer, key: str, old: str, handover: Handover, home: str) -> None:
    """A handover is taken here, and those that the account says were taken before; of those of this hub, none waits."""
    before, newest = taken_handovers(writer, key), microseconds()
    told = {hub: min(generation, newest) for hub, generation in handover.taken.items()} | {old: handover.generation}
    taken = before | {hub: max(generation, before.get(hub, 0)) for hub, generation in told.items()}
    writer.network.set_state({(_TAKEN, key): json.dumps(taken)})
    let_go(writer, key, taken.get(home, 0))
