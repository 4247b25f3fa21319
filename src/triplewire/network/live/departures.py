"""Departures: the old hub's part in a move (`moves`). It looks who asks, hands over, and keeps that until it arrived.

A challenge is kept nowhere: its nonce has the time until which it counts, and a seal that only this hub could make, for
one new hub, one key and one generation.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import secrets
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from hashlib import sha256
from urllib.parse import urlsplit

from triplewire.engine.connection import query_of, record_of
from triplewire.engine.subscriptions.handovers import counted, handed_over, refuse_unmovable
from triplewire.engine.subscriptions.reaches import microseconds
from triplewire.engine.subscriptions.registrations import unregister
from triplewire.errors import BadRequest, NetworkError, NotAllowed, ServiceUnavailable, TriplewireError
from triplewire.network.channels.channels import MOST_BYTES
from triplewire.network.channels.dialling import is_this_machine
from triplewire.network.channels.identities import is_signed
from triplewire.network.channels.spelling import UNREADABLE, text_of, whole_of
from triplewire.network.live.council import Message
from triplewire.network.live.hub import NetworkHub
from triplewire.network.live.moves import (
    CHALLENGE,
    LIST,
    SETTLED,
    TAKEN,
    Handover,
    MovingQuery,
    Proof,
    keep_handover,
    kept_handover,
    kept_handovers,
    last_generation,
    let_go,
    read_proof,
    spelled_handover,
    spelled_list,
    taken_handovers,
)
from triplewire.network.live.node import LiveNode
from triplewire.network.routing import NETWORK, DocumentSent
from triplewire.store import Reader, Writer
from triplewire.wire.keys import move_text

log = logging.getLogger("triplewire.network")

_LASTS = 120.0
"""Seconds that a challenge counts."""
_TRIES = 20
_PAUSE = 0.05
_MOST = MOST_BYTES // 2
"""Letters of a handover: a message has to carry it."""

Owners = Callable[[str], list[str] | None]
"""The accounts that have a public key; None where a hub does not ask who its callers are."""


class OldHub:
    """A hub that is asked for what an account has here."""

    def __init__(self, node: LiveNode, hub: NetworkHub, owners: Owners) -> None:
        self._node, self._hub, self._owners, self._seal = node, hub, owners, secrets.token_bytes(32)

    def answer(self, new: str, question: Message) -> Message:
        """Answer a question of a move, which came from the new hub itself; a refusal is in the log."""
        try:
            return self._answered(new, question)
        except UNREADABLE as error:
            log.warning("a move to %s is refused (%s): %s", new, question.get("kind"), error)
            return {"refused": str(error), "is_denied": isinstance(error, NotAllowed)}

    def _answered(self, new: str, question: Message) -> Message:
        kind = question["kind"]
        if kind == CHALLENGE:
            return self._challenge(new, text_of(question["key"]))
        if kind == SETTLED:
            key, generation = text_of(question["key"]), whole_of(question["generation"])
            self._node.do(lambda writer, _: _confirmed(writer, key, new, generation))
            return {}
        if kind == TAKEN:
            key, generation = text_of(question["key"]), whole_of(question["generation"])
            with self._hub.store.reading() as reader:
                return {"taken": taken_handovers(reader, key).get(new, 0) >= generation}
        proof = read_proof(question)
        owners = self._proved(new, proof)
        return self._list(new, proof, owners) if kind == LIST else self._move(new, proof, owners)

    # -- leaving

    async def refuse_to_strand(self, ask: Callable[[str, Message], Awaitable[Message]]) -> None:
        """NetworkError while something is kept here for another hub: without this one, nobody could have it.

        Of what has arrived there, only the confirmation was lost: that is let go of.
        """
        waiting: Counter[str] = Counter()
        for key, kept in (await asyncio.to_thread(self._all_kept)).items():
            about = {"key": key, "generation": kept["generation"]}
            with suppress(TriplewireError):
                if (await ask(kept["to"], {"kind": TAKEN} | about)).get("taken") is True:
                    await asyncio.to_thread(self._answered, kept["to"], {"kind": SETTLED} | about)
                    continue
            waiting[kept["to"]] += 1
        if waiting:
            raise NetworkError(
                f"what {waiting.total():,} account(s) had here waits for {', '.join(sorted(waiting))}, and has not "
                "arrived: let them move again (`triplewire network move`), or leave anyway; then they have to wait "
                "until this hub is a member again"
            )

    def _all_kept(self) -> dict[str, Message]:
        with self._hub.store.reading() as reader:
            return kept_handovers(reader)

    # -- proofs

    def _challenge(self, new: str, key: str) -> Message:
        with self._hub.store.reading() as reader:
            generation = max(last_generation(reader, key) + 1, microseconds())
        text = f"{time.time() + _LASTS:.3f}.{secrets.token_urlsafe(16)}"
        return {"generation": generation, "nonce": f"{text}/{self._sealed(new, key, generation, text)}"}

    def _sealed(self, new: str, key: str, generation: int, text: str) -> str:
        told = json.dumps([new, key, generation, text]).encode()
        return hmac.new(self._seal, told, sha256).hexdigest()

    def _proved(self, new: str, proof: Proof) -> list[str] | None:
        """The accounts whose key it is; NotAllowed unless the owner of the key has signed this move.

        None at a hub that does not ask who its callers are: then they are on this machine, and the new hub has to be.
        """
        text, _, seal = proof.nonce.rpartition("/")
        if not hmac.compare_digest(self._sealed(new, proof.key, proof.generation, text).encode(), seal.encode()):
            raise NotAllowed("its challenge is none of this hub for this move; ask for a new one")
        if float(text.rpartition(".")[0]) < time.time():
            raise NotAllowed("its challenge is over; ask for a new one")
        owners = self._owners(proof.key)
        if owners is None:
            self._refuse_other_machine(new)
            return None
        if not owners:
            raise NotAllowed("its key is that of no account here; move with the key that you had here")
        about = proof.key, proof.generation, proof.nonce, proof.subscriptions, proof.after
        if not is_signed(move_text(self._node.name, new, *about), proof.signature, proof.key):
            raise NotAllowed("the signature is not that of the account's key, for a move between these two hubs")
        return owners

    def _refuse_other_machine(self, new: str) -> None:
        table = self._node.council.table
        member = None if table is None else table.member(new)
        if member is None or not is_this_machine(urlsplit(member.url).hostname or ""):
            raise NotAllowed(
                "this hub does not ask who its callers are, so that nobody can prove that something here is theirs: "
                "it hands over to hubs of its own machine only"
            )

    # -- what is to go

    def _list(self, new: str, proof: Proof, owners: list[str] | None) -> Message:
        with self._hub.store.reading() as reader:
            kept = self._kept_for(reader, proof.key, new)
            if kept is not None:
                handed = kept["handover"]["subscriptions"]
                queries = [MovingQuery(each["id"], each["pattern"], each["scope"]) for each in handed]
                return spelled_list(kept["generation"], queries)
            return spelled_list(proof.generation, [_query(reader, id) for id in self._leaving(reader, proof, owners)])

    def _kept_for(self, reader: Reader, key: str, new: str) -> Message | None:
        """What was handed over and not confirmed; another hub than it is for has it if that one is no member."""
        kept = kept_handover(reader, key)
        if kept is not None and kept["to"] != new and self._node.council.key_of(kept["to"]) is not None:
            raise NotAllowed(f"what this account had is kept for {kept['to']}; move it there, then on from there")
        if kept is None and new == self._node.name:
            raise BadRequest("you are at this hub already")
        return kept

    def _leaving(self, reader: Reader, proof: Proof, owners: list[str] | None) -> list[str]:
        """The subscriptions that go; a TriplewireError says why that cannot be."""
        if proof.generation <= last_generation(reader, proof.key):
            raise NotAllowed("this proof was used already; ask for a new challenge")
        ids = _own(reader, proof.subscriptions, owners)
        for id in ids:
            refuse_unmovable(reader, id, proof.after.get(id, 0))
        return ids

    # -- handing over

    def _move(self, new: str, proof: Proof, owners: list[str] | None) -> Message:
        for _ in range(_TRIES):
            self._list(new, proof, owners)  # in words, why it cannot be; inside a step there is no time for that
            found: Message | None = self._node.do(lambda writer, _: self._handed(writer, new, proof, owners))
            if found is not None:
                return found
            time.sleep(_PAUSE)
        raise ServiceUnavailable("what was published here has not all been told to the network; try again later")

    def _handed(self, writer: Writer, new: str, proof: Proof, owners: list[str] | None) -> Message | None:
        """What goes over, kept until it is confirmed; None while the node has not seen all that is in the store."""
        try:
            kept = self._kept_for(writer, proof.key, new)
            if kept is not None:
                keep_handover(writer, proof.key, new, kept["handover"])
                return {"handover": kept["handover"]}
            ids = self._leaving(writer, proof, owners)
        except TriplewireError:  # it was looked at before: somebody has changed it since
            return None
        if writer.network.outgoing(1) or writer.subscriptions.last_change() != self._node.seen_change:
            return None
        handover = spelled_handover(self._handover(writer, ids, proof, new))
        if len(json.dumps(handover)) > _MOST:
            return {"refused": "this is more than a message can carry; read events here and say `after`, or move fewer"}
        for id in ids:
            unregister(writer, id)
        keep_handover(writer, proof.key, new, handover)
        return {"handover": handover}

    def _distance(self, origin: str, new: str) -> int:
        """How far the place of a document is from the hub that somebody moves to: it stays in its unit."""
        table = self._node.council.table
        member = None if table is None else table.member(new)
        return NETWORK if table is None or member is None else table.topology(member.place).distance(origin)

    def _handover(self, reader: Reader, ids: Sequence[str], proof: Proof, new: str) -> Handover:
        home = self._node.home
        assert home is not None, "the step looked for it"
        known: dict[tuple[str, str], DocumentSent] = {}
        for id in ids:
            parts = [each for each in home.state.subscriptions if each.rpartition(" ")[0] == id]
            sent = {(each.origin, each.uri): each for each in home.told_of(parts)}
            known |= {place: sent[place] for place in counted(reader, id, sent, home.name)}
        known = {key: sent for key, sent in known.items() if sent.reach >= self._distance(sent.origin, new)}
        handed = [handed_over(reader, id, proof.after.get(id, 0), home.name, self._node.name) for id in ids]
        taken = taken_handovers(reader, proof.key)
        return Handover(proof.generation, tuple(handed), tuple(known.values()), taken)


def _confirmed(writer: Writer, key: str, new: str, generation: int) -> None:
    """The hub that a handover was for has it."""
    kept = kept_handover(writer, key)
    if kept is not None and (kept["to"], kept["generation"]) == (new, generation):
        let_go(writer, key, generation)


def _own(reader: Reader, wanted: Sequence[str], owners: list[str] | None) -> list[str]:
    """The subscriptions that are to move; NotAllowed for one of another account, whether there is one or not."""
    ids = list(dict.fromkeys(wanted)) or list(reader.network.reaches())
    records = reader.subscriptions.find(ids)
    own = [each.id for each in records if each is not None and (owners is None or each.owner in owners)]
    strange = [id for id in ids if id not in own]
    if wanted and strange:
        raise NotAllowed(f"{strange[0]}: this account has no such subscription here")
    if not own:
        raise BadRequest('this account has no subscription here with reach "network", and no other can move')
    return own


def _query(reader: Reader, id: str) -> MovingQuery:
    query = query_of(reader, record_of(reader, id))
    return MovingQuery(id, query.pattern, query.scope)
