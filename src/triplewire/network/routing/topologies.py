"""A topology: which way messages may go on between hubs, and how far something must reach to go there."""

from __future__ import annotations

from typing import Protocol


class Topology(Protocol):
    """Which way messages may go on. `came` is the neighbour that a message came from, "" for a client of the hub."""

    def advertisement_goes(self, came: str, to: str) -> bool:
        """Whether an advertisement goes on to a neighbour."""

    def interest_goes(self, came: str, to: str) -> bool:
        """Whether an interest goes on to a neighbour, if that has advertised something for it."""

    def document_goes(self, came: str, to: str) -> bool:
        """Whether a document goes on to a neighbour, if that has an interest in it."""

    def next_hop(self, to: str) -> str:
        """The neighbour on the way to a hub."""

    def takes_all(self, peer: str) -> bool:
        """Whether a neighbour is told of every interest, whatever it has advertised."""

    def bit(self, peer: str) -> int:
        """The bit of a neighbour, in vectors of those that a document has reached."""

    def height(self, peer: str) -> int:
        """How far something must reach to go on to a neighbour."""

    def distance(self, origin: str) -> int:
        """How far something must reach to get here from the hub that it began at, or to be asked for by a neighbour."""
