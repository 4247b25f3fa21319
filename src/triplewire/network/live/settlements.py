"""Settlements: the new hub's part in a move (`moves`). It asks, goes on with what is handed over, and confirms.

What cannot be here is refused before the old hub lets go of anything: an id that is taken, a query that costs too much.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

from triplewire.algebra.pattern import Pattern
from triplewire.engine.connection import record_of
from triplewire.engine.standing import Standing
from triplewire.engine.subscriptions.handovers import take_over
from triplewire.engine.subscriptions.registrations import refuse_unserved
from triplewire.errors import (
    BadRequest,
    ChannelRefused,
    DuplicateSubscription,
    NetworkError,
    NotAllowed,
    ServiceUnavailable,
    UnknownSubscription,
)
from triplewire.matching.incremental import load_pattern
from triplewire.network.channels.spelling import UNREADABLE, Json
from triplewire.network.live.acceptance import checked_document
from triplewire.network.live.council import Message
from triplewire.network.live.hub import NetworkHub, interests_of
from triplewire.network.live.moves import (
    CHALLENGE,
    LIST,
    MOVE,
    SETTLED,
    Handover,
    MovingQuery,
    Proof,
    read_handover,
    read_list,
    take_handover,
    taken_handovers,
)
from triplewire.network.live.node import LiveNode
from triplewire.network.live.stands import PlaceStand
from triplewire.store import Reader, Writer

log = logging.getLogger("triplewire.network")

T = TypeVar("T")


@dataclass(frozen=True)
class Newcomer:
    """Who moves, as the new hub knows them.

    `admits` refuses queries that are too many, or too dear, for its quotas; `turn` is had by one who subscribes at a
    time, so that they are counted right.
    """

    owner: str | None
    viewer: str | None
    admits: Callable[[Sequence[Pattern]], None]
    turn: asyncio.Lock


def absent(old: str) -> ServiceUnavailable:
    """Why nothing can be moved from a hub that is not there."""
    return ServiceUnavailable(
        f"{old} cannot be reached, and what you have there cannot be moved without it: wait until it is back "
        '(`triplewire network status` says so), or subscribe anew here with start "now"'
    )


class NewHub:
    """A hub that a subscriber comes to; `ask` asks another one, over a channel between the two."""

    def __init__(self, node: LiveNode, hub: NetworkHub, ask: Callable[[str, Message], Awaitable[Message]]) -> None:
        self._node, self._hub, self._ask = node, hub, ask

    async def challenge(self, old: str, key: str) -> Message:
        """What the owner of a key has to sign, to move here from another hub."""
        return await self._asked(old, {"kind": CHALLENGE, "key": key})

    async def move(self, old: str, proof: Proof, newcomer: Newcomer) -> list[tuple[str, int]]:
        """Go on here with what an account has at another hub; gives the subscriptions, each with its first cursor."""
        generation, coming = _read(old, read_list, await self._asked(old, proof.question(LIST)))
        await asyncio.to_thread(self._refuse_unwelcome, old, proof.key, generation, coming, newcomer)
        handover = _read(old, read_handover, (await self._asked(old, proof.question(MOVE))).get("handover"))
        self._refuse_other(old, handover, generation, coming)
        async with newcomer.turn:
            found = await asyncio.to_thread(self._settle, old, proof.key, handover, newcomer)
        with suppress(ServiceUnavailable):  # then it is kept there until it is moved again, and not taken twice
            await self._asked(old, {"kind": SETTLED, "key": proof.key, "generation": generation})
        return found

    async def _asked(self, old: str, question: Message) -> Message:
        try:
            told = await self._ask(old, question)
        except NetworkError:
            raise absent(old) from None
        if "refused" in told:
            error = NotAllowed if told.get("is_denied") else BadRequest
            raise error(f"{old} refuses: {told['refused']}")
        return told

    # -- what may come

    def _refuse_unwelcome(
        self, old: str, key: str, generation: int, coming: Sequence[MovingQuery], newcomer: Newcomer
    ) -> None:
        """A TriplewireError, before anything has moved, for what could not go on here; what is here already may."""
        with self._hub.store.reading() as reader:
            if self._is_taken(reader, old, key, generation):
                return
            _refuse_duplicates(reader, [each.id for each in coming])
        patterns = [load_pattern(each.pattern) for each in coming]
        for pattern, each in zip(patterns, coming, strict=True):
            refuse_unserved(pattern, each.scope, "")
        newcomer.admits(patterns)

    def _is_taken(self, reader: Reader, old: str, key: str, generation: int) -> bool:
        """Whether a handover was taken over already; NotAllowed for one that is older than the last one."""
        last = taken_handovers(reader, key).get(old, 0)
        if generation < last:
            log.warning("%s hands over again what was moved from it before (%s after %s)", old, generation, last)
            raise NotAllowed(f"{old} hands over what was moved from it before; nothing of that is taken")
        return generation == last

    def _refuse_other(self, old: str, handover: Handover, generation: int, coming: Sequence[MovingQuery]) -> None:
        """ServiceUnavailable if what is handed over is not what was said before, or not what its publishers said."""
        table = self._node.council.table
        assert table is not None, "a hub that asks is a member"
        handed = {MovingQuery(each.id, each.pattern, each.scope) for each in handover.subscriptions}
        if handover.generation != generation or handed != {*coming} or len(coming) != len(handover.subscriptions):
            log.warning("%s hands over something else than it said before", old)
            raise ServiceUnavailable(f"{old} hands over something else than it said before: try again")
        try:
            for sent in handover.documents:
                checked_document(sent, table)
        except ChannelRefused as error:
            log.warning("%s hands over a forged document: %s", old, error)
            raise ServiceUnavailable(f"what {old} hands over is refused: {error}") from None

    # -- going on

    def _settle(self, old: str, key: str, handover: Handover, newcomer: Newcomer) -> list[tuple[str, int]]:
        with self._hub.store.reading() as reader:
            if self._is_taken(reader, old, key, handover.generation):
                return [(each.id, _first(reader, each.id)) for each in handover.subscriptions]
            _refuse_duplicates(reader, [each.id for each in handover.subscriptions])
        newcomer.admits([load_pattern(each.pattern) for each in handover.subscriptions])

        def settle(writer: Writer, standing: Standing) -> list[tuple[str, int]]:
            found = self._taken_over(writer, standing, handover, newcomer)
            take_handover(writer, key, old, handover, self._node.name)
            return found

        found: list[tuple[str, int]] = self._node.do(settle, lambda stand, now: _prepare(stand, handover, now))
        return found

    def _taken_over(
        self, writer: Writer, standing: Standing, handover: Handover, newcomer: Newcomer
    ) -> list[tuple[str, int]]:
        home = self._node.home
        assert home is not None, "the step looked for it"
        documents = {(each.origin, each.uri): each.document for each in handover.documents if each.document is not None}
        who = newcomer.owner, newcomer.viewer
        records = [take_over(writer, standing, each, documents, *who, home.name) for each in handover.subscriptions]
        return [(record.id, record.first_cursor) for record in records]


def _prepare(stand: PlaceStand, handover: Handover, now: float) -> None:
    """Let the node want what the subscriptions do, and have the documents that made their rows."""
    home, table = stand.home, stand.table
    assert home is not None, "the step looked for it"
    assert table is not None, "places are in a table"
    for each in handover.subscriptions:
        for place, pattern in enumerate(interests_of(load_pattern(each.pattern), each.scope)):
            stand.carry(home.name, home.watch(f"{each.id} {place}", pattern, each.since / 1e6, now))
    for sent in handover.documents:
        owner = table.owner_of(sent.origin)
        if sent.document is not None and owner is not None:
            stand.carry(home.name, home.take_along(sent, now))
            stand.carry(home.name, home.ask_after(sent, now))


def _read(old: str, read: Callable[[Json], T], told: Json) -> T:
    """What an old hub tells; ServiceUnavailable if it cannot be read."""
    try:
        return read(told)
    except UNREADABLE as error:
        log.warning("what %s hands over cannot be read: %s", old, error)
        raise ServiceUnavailable(f"{old} hands over what cannot be read here; its version may be another") from None


def _refuse_duplicates(reader: Reader, ids: Iterable[str]) -> None:
    for each in reader.subscriptions.find(list(ids)):
        if each is not None:
            raise DuplicateSubscription(each.id)


def _first(reader: Reader, id: str) -> int:
    try:
        return record_of(reader, id).first_cursor
    except UnknownSubscription:  # it was ended since
        return 0
