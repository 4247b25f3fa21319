"""Clients that move: a client comes to another hub, and what it has at the old one follows (N8).

The new hub asks the old one over a link between the two, and gets the client's subscriptions with their logs and the
documents that they were told of; from then on it tells them what has changed since. A client that moves on before
that is asked for at the new hub by the next one, and sent on when it has arrived: each move has a number, its
*generation*, so that a hub knows which of them it has seen the end of.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from triplewire.network.routing.messages import DocumentSent
from triplewire.network.routing.subscriptions import ClientSubscription


@dataclass(frozen=True, slots=True)
class ClientAsked:
    """A client is at the hub that asks, for the so-manieth time that it has moved."""

    kind: ClassVar[str] = "move"
    client: str
    generation: int


@dataclass(frozen=True, slots=True)
class ClientMoved:
    """All that a hub has of a client: its subscriptions, and the documents that these were told of."""

    kind: ClassVar[str] = "moved client"
    client: str
    generation: int
    subscriptions: tuple[ClientSubscription, ...]
    documents: tuple[DocumentSent, ...]


@dataclass(slots=True)
class ClientMoves:
    """What a hub must not lose of moves: which clients it waits for, who waits for them in turn, and which have come.

    Invariant: what a client has is at one hub, or on one way, at any time.
    """

    awaited: dict[str, int] = field(default_factory=dict)
    wanted: dict[str, tuple[str, ClientAsked]] = field(default_factory=dict)
    settled: dict[str, int] = field(default_factory=dict)

    def ask(self, client: str, generation: int) -> ClientAsked:
        """A client has come: what to ask its old hub."""
        self.awaited[client] = generation
        return ClientAsked(client, generation)

    def is_to_go(self, peer: str, asked: ClientAsked) -> bool:
        """Whether what is here of a client goes to a hub that asks for it now; else it goes later, or has gone."""
        if asked.generation <= self.settled.get(asked.client, 0):
            return False
        if self.awaited.get(asked.client, asked.generation) < asked.generation:
            self.wanted[asked.client] = peer, asked
            return False
        return True

    def arrived(self, moved: ClientMoved) -> tuple[str, ClientAsked] | None:
        """What a client has is here; gives the hub that it goes on to."""
        if self.awaited.get(moved.client) == moved.generation:
            del self.awaited[moved.client]
        self.settled[moved.client] = moved.generation
        return self.wanted.pop(moved.client, None)
