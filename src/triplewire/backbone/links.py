"""Links: the channel between this hub and another one of its backbone, for questions of both (M10).

Who may ask over it: the hub that dials proves the account of an admin at the other one, by its key or by a token; the
one that is dialled was named as a member by the one that dials, and has the key that it had the first time. A hub asks
back over a channel that it was dialled on if it names the other one, too, and knows its key.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Protocol

from triplewire.backbone.calls import MemberCalls
from triplewire.backbone.passing import changes_in, outcome_of, passed
from triplewire.errors import NetworkError
from triplewire.model import Change
from triplewire.network.channels.desks import Desk, StoreWatch
from triplewire.network.channels.exchanges import BACKBONE_LINK, member_bodies
from triplewire.network.channels.handshake import BACKBONE_CHANNEL
from triplewire.network.channels.status import UplinkStatus
from triplewire.network.channels.uplinks import ChannelUplink, Dialler
from triplewire.network.exchange import Answer, Question
from triplewire.store import Store
from triplewire.tables import Outcome
from triplewire.wire.backbones import MemberAnswer, MemberQuestion, PassedChanges, PassedTold

MEMBER = Dialler(
    BACKBONE_LINK,
    BACKBONE_CHANNEL,
    member_bodies(),
    pins="backbone.pins",
    label="hub",
    own="this hub",
    kind="a hub of a backbone",
    trust="name it with its key, {url}#{key}",
)
_LONGEST_WAIT = 60.0


class AskedMember(Protocol):
    """What a hub of a backbone does for the others."""

    @property
    def name(self) -> str:
        """What the others call it."""

    @property
    def store(self) -> Store:
        """What it keeps."""

    def serve_member(self, question: MemberQuestion) -> MemberAnswer:
        """What the one that asks lacks."""

    def take_passed(self, changes: Sequence[Change], *, batch: str | None = None) -> Outcome:
        """Apply changes as the home of their documents."""


class MemberAnswers:
    """What another hub of the backbone is told at a desk."""

    def __init__(self, hub: AskedMember) -> None:
        self._hub = hub

    async def answer(self, question: Question) -> Answer:
        """See `DeskAnswers.answer`."""
        return await asyncio.to_thread(self._answer, question)

    async def require_known(self) -> None:
        """See `DeskAnswers.require_known`: a hub that this one names may ask as long as it does."""

    def _answer(self, question: Question) -> Answer:
        if isinstance(question, PassedChanges):
            done = self._hub.take_passed(changes_in(question), batch=question.batch)
            return PassedTold(done.batch, [str(each) for each in done.warnings])
        assert isinstance(question, MemberQuestion), "nothing else is read"
        return self._hub.serve_member(replace(question, wait=0.0))


def member_watch(hub: AskedMember) -> StoreWatch:
    """Tells the desks of a hub's backbone that there is something new; the newest batch is the last of its own."""
    name = hub.name
    return StoreWatch(hub.store, lambda reader: reader.homes.newest(name))


def linked_member(address: str, hub: AskedMember, calls: MemberCalls, token: str | None) -> LinkedMember:
    """The hub at an address, for a hub that names it; after a # may stand the public key that it must have."""
    url, _, key = address.partition("#")
    if key:
        if len(key) != 64 or not all(each in "0123456789abcdefABCDEF" for each in key):
            raise NetworkError(f"{address}: after # stands the public key of a hub, 64 hexadecimal digits")
        MEMBER.pin(hub.store, url, key)
    beside = {} if token is None else {"token": token}
    desk = Desk(member_watch(hub), MemberAnswers(hub), _LONGEST_WAIT)
    return LinkedMember(ChannelUplink(url, hub.store, MEMBER, beside=beside, desk=desk, calls_of=calls.of))


class LinkedMember:
    """Another hub of the backbone, asked over a channel."""

    def __init__(self, uplink: ChannelUplink) -> None:
        self.url, self._uplink = uplink.url, uplink

    def serve_member(self, question: MemberQuestion) -> MemberAnswer:
        """What this hub lacks."""
        answer = self._uplink.ask(question)
        if not isinstance(answer, MemberAnswer):
            raise NetworkError("it answered what it was not asked")
        return answer

    def apply(self, changes: Iterable[Change], *, batch: str | None = None) -> Outcome:
        """Have it apply changes of documents whose home it is."""
        wanted = list(changes)
        told = self._uplink.ask(passed(wanted, batch))
        if not isinstance(told, PassedTold):
            raise NetworkError("it answered what it was not asked")
        return outcome_of(told, wanted)

    def status(self, number: int) -> UplinkStatus:
        """What the channel does, for a hub that has a batch of this one."""
        return self._uplink.status(number)

    def release(self) -> None:
        """Let a question that waits end; from any thread."""
        self._uplink.release()

    def close(self) -> None:
        """End the channel."""
        self._uplink.close()
