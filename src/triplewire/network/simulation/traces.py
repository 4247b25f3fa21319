"""Traces: the way of one document through a network, told in plain words.

A trace watches what nodes send each other. Of the messages that concern its document it keeps who sent them to whom,
why, and whether they arrived; what subscribers were told in the end is read from their logs. `Hops` counts, of all
documents, how far they went.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from triplewire.algebra.taxonomy import EMPTY
from triplewire.model import Event
from triplewire.network.link import LogEntry
from triplewire.network.maps import RoutedFrame
from triplewire.network.ring.messages import ExtendMatching, IndexTriple, Notification
from triplewire.network.ring.post import Parcels
from triplewire.network.routing import DocumentSent, RoutingHub
from triplewire.network.routing.messages import AnswerSent, Ask
from triplewire.network.simulation.world import World


class Sight(NamedTuple):
    """A sentence of the story, and the second of virtual time that it is about."""

    time: float
    sentence: str


@dataclass(frozen=True, slots=True)
class ToldEvent:
    """An event, and which client was told of it at which node."""

    client: str
    node: int
    event: Event


class Hops:
    """Over how many links each document came to each hub; on a ring, how many peers passed each parcel on."""

    def __init__(self, world: World) -> None:
        self.counts: list[int] = []
        self._taken: dict[tuple[str, str, str], int] = {}
        world.witnesses.append(self._see)

    def _see(self, sender: str, receiver: str, frame: Any, arrives: float | None) -> None:
        hops = 1
        if isinstance(frame, RoutedFrame):
            if receiver != frame.to:
                return
            sender, receiver, hops, frame = frame.sender, frame.receiver, len(frame.path), frame.frame
        if isinstance(frame, Parcels):
            self.counts += [parcel.hops for parcel in frame.parcels if parcel.is_final]
        elif isinstance(frame, LogEntry) and isinstance(frame.body, DocumentSent):
            document = frame.body.origin, frame.body.uri
            if (*document, receiver) not in self._taken:
                self._taken[*document, receiver] = taken = self._taken.get((*document, sender), 0) + hops
                self.counts.append(taken)


class Trace:
    """The way of the document with a uri through the nodes of a world; it begins when it is made."""

    def __init__(self, world: World, uri: str) -> None:
        self.uri = uri
        self._world = world
        self._sights: list[Sight] = []
        world.witnesses.append(self._see)

    def _see(self, sender: str, receiver: str, frame: Any, arrives: float | None) -> None:
        """A message was sent; without a time at which it arrives, it is lost."""
        what = self._concern(sender, receiver, frame)
        if what is None:
            return
        here, there = self._node(sender), self._node(receiver)
        fate = "and it is lost on the way" if arrives is None else f"where it arrives at {arrives:.3f} s"
        self._sights.append(Sight(self._world.now, f"node {here} sends node {there} {what}, {fate}"))

    def _node(self, name: str) -> str:
        return self._world.place(name).removeprefix("peer-")

    def _concern(self, sender: str, receiver: str, frame: Any) -> str | None:
        """What a frame says of the document; None if it is about something else."""
        if isinstance(frame, RoutedFrame):
            what = self._concern(frame.sender, frame.receiver, frame.frame)
            there = self._node(frame.to)
            return what if what is None or self._node(receiver) == there else f"{what}, on its way to node {there}"
        if isinstance(frame, Parcels):
            said = dict.fromkeys(word for parcel in frame.parcels if (word := self._carried(parcel.body)) is not None)
            return " and ".join(said) or None
        match frame.body if isinstance(frame, LogEntry) else None:
            case DocumentSent(uri=self.uri) as sent:
                return self._document_sent(sender, receiver, sent)
            case Ask(uri=self.uri, origin=origin):
                return f"the question, on its way to {origin}, whether {self.uri} is still as it was"
            case AnswerSent(DocumentSent(uri=self.uri)):
                return f"the answer of what became of {self.uri}"
        return None

    def _document_sent(self, sender: str, receiver: str, sent: DocumentSent) -> str:
        if sent.document is None:
            return f"word that {self.uri} is gone, or of no concern any more"
        hub = self._world.nodes.get(sender)
        if not isinstance(hub, RoutingHub):
            return f"version {sent.version} of {self.uri}"  # it has crashed meanwhile
        asked = [
            interest.pattern
            for interest in hub.state.heard_interests.get(receiver, {})
            if interest.pattern.rows_in(sent.document, EMPTY)
        ]
        return f"version {sent.version} of {self.uri}" + (
            f", which was asked for there by: {asked[0]}" if asked else ""
        )

    def _carried(self, body: Any) -> str | None:
        """What a parcel of a ring says of the document."""
        match body:
            case IndexTriple(origin=(_, self.uri), statement=statement):
                stated = len(statement.triples)
                return f"{stated} {'triple' if stated == 1 else 'triples'} of {self.uri} for a key"
            case ExtendMatching(extensions) if any(self._supports(each.support) for each in extensions):
                return f"a partial match with a triple of {self.uri}, for those who wait for it"
            case Notification(home, answers) if any(self._supports(each.support) for each in answers):
                return f"an answer with a triple of {self.uri}, for {home}"
        return None

    def _supports(self, support: Any) -> bool:
        return any(uri == self.uri for sources in support.values() for _, uri in sources)

    def story(self, told: Iterable[ToldEvent]) -> list[Sight]:
        """What happened, in the order of time, with what subscribers were told because of the document."""
        return sorted([*self._sights, *self._heard(told)], key=lambda sight: sight.time)

    def _heard(self, told: Iterable[ToldEvent]) -> Iterator[Sight]:
        for each in told:
            if any(behind.uri == self.uri for behind in each.event.documents):
                yield Sight(each.event.time.timestamp(), f"node {each.node} tells {each.client}: {each.event}")
