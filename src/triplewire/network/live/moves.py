"""Moves: a subscriber that was at one hub comes to another one of the network, and goes on there (P7, P8).

    client     asks its new hub to move it, and signs what the old one wants: both names, the key, a nonce, a number
    new hub    asks the old one, over a channel between the two and no other way
    old hub    looks whose key it is, writes down what it hands over, and ends the subscriptions: it tells no more
    new hub    goes on with them in one transaction, with the documents that they were told of, and confirms
    old hub    lets go of what it kept

The *generation* counts the departures of a key from a hub. A proof counts for the next one alone, and is of no use
again; a handover that comes again is one that was taken already, and is only confirmed.

Invariant: what an account has is at one hub, or kept for one other hub, at any time. So two hubs never both tell.
"""

from __future__ import annotations

import hmac
import json
import logging
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any

from triplewire.engine.connection import record_of
from triplewire.engine.standing import Standing
from triplewire.engine.subscriptions.handovers import (
    HandedEvent,
    HandedSubscription,
    counted,
    hand_over,
    refuse_unmovable,
    take_over,
)
from triplewire.errors import (
    BadRequest,
    ChannelRefused,
    DuplicateSubscription,
    NotAllowed,
    ServiceUnavailable,
    TriplewireError,
    UnknownSubscription,
)
from triplewire.matching.incremental import load_pattern
from triplewire.network.channels.identities import is_signed
from triplewire.network.channels.spelling import UNREADABLE
from triplewire.network.hypercube import position_of
from triplewire.network.live.acceptance import checked_document
from triplewire.network.live.council import Message
from triplewire.network.live.hub import NetworkHub, interests_of
from triplewire.network.live.node import LiveNode
from triplewire.network.live.spelling import read_sent, spelled_sent
from triplewire.network.live.stands import CubeStand
from triplewire.network.routing import DocumentSent
from triplewire.store import Reader, Writer
from triplewire.wire.keys import move_text

log = logging.getLogger("triplewire.network")

KINDS = ("move challenge", "move", "move settled")
"""The questions of a move, which only the hub that asks may carry."""

_LASTS = 120.0
"""Seconds that a challenge counts."""
_TRIES = 20

Owners = Callable[[str], list[str] | None]
"""The accounts that have a public key; None where a hub does not ask who its callers are."""


@dataclass(frozen=True)
class Proof:
    """What a client says to move: which number its move has, what of it is to move, read how far; and its signature."""

    key: str
    generation: int
    nonce: str
    signature: str
    subscriptions: Sequence[str] = ()
    after: Mapping[str, int] | None = None


@dataclass(frozen=True)
class Handover:
    """What one hub hands over to another: its generation, subscriptions, and the documents that these have rows of."""

    generation: int
    subscriptions: tuple[HandedSubscription, ...]
    documents: tuple[DocumentSent, ...]


@dataclass(frozen=True)
class _Refusal:
    error: TriplewireError


class OldHub:
    """A hub that is asked for what an account has here."""

    def __init__(self, node: LiveNode, owners: Owners) -> None:
        self._node, self._owners, self._seal = node, owners, secrets.token_bytes(32)

    def answer(self, new: str, question: Message) -> Message:
        """Answer a question of a move, which came from the new hub itself; a refusal is in the log."""
        try:
            return self._answered(new, question)
        except (TriplewireError, *UNREADABLE) as error:
            log.warning("a move to %s is refused (%s): %s", new, question.get("kind"), error)
            return {"refused": str(error), "is_denied": isinstance(error, NotAllowed)}

    def _answered(self, new: str, question: Message) -> Message:
        key = str(question.get("key"))
        match question.get("kind"):
            case "move challenge":
                return self._challenge(new, key)
            case "move":
                after = {str(id): int(cursor) for id, cursor in question["after"].items()}
                wanted = [str(id) for id in question["subscriptions"]]
                nonce, signature = str(question["nonce"]), str(question["signature"])
                proof = Proof(key, int(question["generation"]), nonce, signature, wanted, after)
                return self._move(new, proof)
        generation = int(question["generation"])
        self._node.do(lambda writer, _: _let_go(writer, key, new, generation))
        return {}

    # -- proofs

    def _challenge(self, new: str, key: str) -> Message:
        """A nonce, which has all that is known of it, and a seal: nothing is kept."""
        generation = self._node.do(lambda writer, _: _generation(writer, key)) + 1
        text = f"{time.time() + _LASTS:.3f}.{secrets.token_urlsafe(16)}"
        return {"generation": generation, "nonce": f"{text}/{self._sealed(new, key, generation, text)}"}

    def _sealed(self, new: str, key: str, generation: int, text: str) -> str:
        told = json.dumps([new, key, generation, text]).encode()
        return hmac.new(self._seal, told, sha256).hexdigest()

    def _refuse_unproved(self, new: str, proof: Proof) -> list[str] | None:
        """NotAllowed unless the owner of the key has signed this move; gives the accounts that have it."""
        text, _, seal = proof.nonce.rpartition("/")
        if not hmac.compare_digest(self._sealed(new, proof.key, proof.generation, text).encode(), seal.encode()):
            raise NotAllowed("its challenge is none of this hub for this move; ask for a new one")
        if float(text.split("/")[0].rpartition(".")[0]) < time.time():
            raise NotAllowed("its challenge is over; ask for a new one")
        owners = self._owners(proof.key)
        if owners is None:
            return None
        if not owners:
            raise NotAllowed("its key is that of no account here; move with the key that you had here")
        signed = move_text(
            self._node.name, new, proof.key, proof.generation, proof.nonce, proof.subscriptions, proof.after
        )
        if not is_signed(signed, proof.signature, proof.key):
            raise NotAllowed("the signature is not that of the account's key, for a move between these two hubs")
        return owners

    # -- handing over

    def _move(self, new: str, proof: Proof) -> Message:
        owners = self._refuse_unproved(new, proof)
        for _ in range(_TRIES):
            found = self._node.do(lambda writer, _: self._handed(writer, new, proof, owners))
            if isinstance(found, _Refusal):
                raise found.error
            if found is not None:
                return {"handover": found}
            time.sleep(0.05)
        raise ServiceUnavailable("what was published here has not all been told to the network; try again later")

    def _handed(self, writer: Writer, new: str, proof: Proof, owners: list[str] | None) -> Message | _Refusal | None:
        """What goes over, kept until it is confirmed; None while the node has not seen all that is in the store."""
        try:
            kept = _kept(writer, proof.key)
            if kept is not None:
                return self._again(kept, new)
            if proof.generation != _generation(writer, proof.key) + 1:
                raise NotAllowed("this proof was used already; ask for a new challenge")
            ids = _own(writer, proof, owners)
            for id in ids:
                refuse_unmovable(writer, id, (proof.after or {}).get(id, 0))
        except TriplewireError as error:  # nothing was written: the step goes on
            return _Refusal(error)
        if writer.network.outgoing(1) or writer.subscriptions.last_change() != self._node.seen_change:
            return None
        told = _spelled(self._departing(writer, ids, proof))
        _keep(writer, proof.key, new, proof.generation, told)
        return told

    def _again(self, kept: Message, new: str) -> Message:
        """What was handed over and not confirmed goes to the same hub again, or to another one if that is no member."""
        if kept["to"] != new and self._node.council.key_of(kept["to"]) is not None:
            raise NotAllowed(f"what this account had is kept for {kept['to']}; move it there, then on from there")
        found: Message = kept["handover"]
        return found

    def _departing(self, writer: Writer, ids: Sequence[str], proof: Proof) -> Handover:
        home = self._node.home
        assert home is not None, "the step looked for it"
        watched = {id: [each for each in home.state.subscriptions if each.rpartition(" ")[0] == id] for id in ids}
        known: dict[tuple[str, str], DocumentSent] = {}
        for id, parts in watched.items():
            sent = {(each.origin, each.uri): each for each in home.told_of(parts)}
            known |= {place: sent[place] for place in counted(writer, id, sent, home.name)}
        handed = [hand_over(writer, id, (proof.after or {}).get(id, 0), home.name) for id in ids]
        return Handover(proof.generation, tuple(handed), tuple(known.values()))


class NewHub:
    """A hub that a subscriber comes to."""

    def __init__(self, node: LiveNode, hub: NetworkHub) -> None:
        self._node, self._hub = node, hub

    def settle(
        self, old: str, key: str, told: Any, *, owner: str | None, viewer: str | None
    ) -> tuple[int, list[tuple[str, int]]]:
        """Go on with what was handed over, once; gives its generation, and each subscription with its first cursor."""
        try:
            handover = _read(told)
        except UNREADABLE as error:
            log.warning("what %s hands over cannot be read: %s", old, error)
            raise ServiceUnavailable(f"{old} hands over what cannot be read here; its version may be another") from None
        with self._hub.store.reading() as reader:
            if handover.generation <= _settled_generation(reader, old, key):
                return handover.generation, [(each.id, _first(reader, each.id)) for each in handover.subscriptions]
            for each in reader.subscriptions.find([each.id for each in handover.subscriptions]):
                if each is not None:
                    raise DuplicateSubscription(each.id)

        def settle(writer: Writer, standing: Standing) -> list[tuple[str, int]]:
            return self._settled(writer, standing, old, key, handover, owner, viewer)

        return handover.generation, self._node.do(settle, lambda stand, now: self._prepare(stand, handover, old, now))

    def _prepare(self, stand: CubeStand, handover: Handover, old: str, now: float) -> None:
        """Let the node want what the subscriptions do, and have the documents; unless that was done."""
        home, table = stand.home, stand.table
        assert home is not None, "the step looked for it"
        assert table is not None, "corners stand in a table"
        position = position_of(home.name)
        for each in handover.subscriptions:
            for place, pattern in enumerate(interests_of(load_pattern(each.pattern), each.scope)):
                id = f"{each.id} {place}"
                if id not in home.state.subscriptions:
                    stand.carry(position, home.watch(id, pattern, each.since / 1e6, now))
        for sent in handover.documents:
            try:
                own = checked_document(sent, table)
            except ChannelRefused as error:
                log.warning("%s hands over a forged document: %s", old, error)
                raise ServiceUnavailable(f"what {old} hands over is refused: {error}") from None
            if own.document is not None:
                stand.carry(position, home.take_along(own, now))
                stand.carry(position, home.ask_after(own, now))

    def _settled(
        self,
        writer: Writer,
        standing: Standing,
        old: str,
        key: str,
        handover: Handover,
        owner: str | None,
        viewer: str | None,
    ) -> list[tuple[str, int]]:
        home = self._node.home
        assert home is not None, "the step looked for it"
        documents = {(each.origin, each.uri): each.document for each in handover.documents if each.document is not None}
        found = []
        for each in handover.subscriptions:
            record = take_over(writer, standing, each, documents, owner=owner, viewer=viewer, home=home.name)
            found.append((record.id, record.first_cursor))
        writer.network.set_state({(_SETTLED, f"{old} {key}"): str(handover.generation)})
        return found


def _first(reader: Reader, id: str) -> int:
    try:
        return record_of(reader, id).first_cursor
    except UnknownSubscription:  # it was ended since
        return 0


# -- what is written


_GENERATION, _DEPARTED, _SETTLED = "departures", "departed", "settled"


def _state(reader: Reader, place: tuple[str, str]) -> str | None:
    return reader.network.state_of(*place)


def _generation(reader: Reader, key: str) -> int:
    return int(_state(reader, (_GENERATION, key)) or 0)


def _settled_generation(reader: Reader, old: str, key: str) -> int:
    return int(_state(reader, (_SETTLED, f"{old} {key}")) or 0)


def _kept(reader: Reader, key: str) -> Message | None:
    found = _state(reader, (_DEPARTED, key))
    return None if found is None else json.loads(found)


def _keep(writer: Writer, key: str, new: str, generation: int, told: Message) -> None:
    kept = json.dumps({"to": new, "generation": generation, "handover": told})
    writer.network.set_state({(_DEPARTED, key): kept, (_GENERATION, key): str(generation)})


def _let_go(writer: Writer, key: str, new: str, generation: int) -> None:
    kept = _kept(writer, key)
    if kept is not None and (kept["to"], kept["generation"]) == (new, generation):
        writer.network.set_state({(_DEPARTED, key): None})


def _own(reader: Reader, proof: Proof, owners: list[str] | None) -> list[str]:
    """The subscriptions that are to move; NotAllowed for one of another account, whether there is one or not."""
    reaching = list(reader.network.reaches())
    ids = list(dict.fromkeys(proof.subscriptions)) or reaching
    records = reader.subscriptions.find(ids)
    own = [each.id for each in records if each is not None and (owners is None or each.owner in owners)]
    strange = [id for id in ids if id not in own]
    if proof.subscriptions and strange:
        raise NotAllowed(f"{strange[0]}: this account has no such subscription here")
    if not own:
        raise BadRequest('this account has no subscription here with reach "network", and no other can move')
    return own


# -- spelling


def _spelled(handover: Handover) -> Message:
    return {
        "generation": handover.generation,
        "subscriptions": [asdict(each) for each in handover.subscriptions],
        "documents": [spelled_sent(each) for each in handover.documents],
    }


def _read(told: Any) -> Handover:
    handed = [_read_subscription(each) for each in told["subscriptions"]]
    return Handover(int(told["generation"]), tuple(handed), tuple(read_sent(each) for each in told["documents"]))


def _read_subscription(told: Any) -> HandedSubscription:
    events = [
        HandedEvent(int(each["kind"]), _cells(each["row"]), tuple(map(_cells, each["triples"])))
        for each in told["events"]
    ]
    found = HandedSubscription(
        **told | {"rows": tuple(map(_cells, told["rows"])), "events": tuple(events), "since": int(told["since"])}
    )
    width = len(load_pattern(found.pattern).answer)
    if any(len(row) != width for row in (*found.rows, *(each.row for each in events))):
        raise ValueError(f"a row of {found.id} has not the columns of its query")
    return found


def _cells(told: Any) -> tuple[str, ...]:
    if not isinstance(told, list | tuple) or not all(isinstance(each, str) for each in told):
        raise ValueError("a row is a list of texts")
    return tuple(told)
