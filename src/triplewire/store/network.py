"""What a hub of a network keeps for its node: what is to be told to other hubs, and what the node must not lose.

The tables are written by whichever process changes the hub; the one that runs the node takes from them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from triplewire.store import schema
from triplewire.store.sql import StorePart


class OutgoingRecord(NamedTuple):
    """A document that changed at a time in microseconds: its new version; 0 if other hubs may not have it any more.

    `reach` is how far that version goes, as a height.
    """

    number: int
    document: int
    version: int
    time: int
    reach: int


class NetworkReader(StorePart):
    """Outgoing documents, reaches of subscriptions, and the state of a node."""

    def outgoing(self, limit: int) -> list[OutgoingRecord]:
        """The first documents that other hubs have not been told of, in order."""
        found = self._sql.select(schema.outgoing, "WHERE number > 0 ORDER BY number LIMIT ?", limit)
        return [OutgoingRecord(*each) for each in found]

    def document_reaches(self, documents: Iterable[int]) -> dict[int, int]:
        """How far documents go, as heights: of those that do not go through the whole network."""
        return dict(self._sql.where(schema.document_reaches, "document", documents))

    def reaches(self) -> dict[str, int]:
        """The subscriptions that reach beyond this hub, and since when each counts."""
        return dict(self._sql.rows("SELECT subscription, since FROM reaches ORDER BY subscription"))

    def state(self) -> dict[tuple[str, str], str]:
        """All that the node must not lose: its values, by part and name."""
        return {(part, name): value for part, name, value in self._sql.select(schema.node_state, "ORDER BY part, name")}

    def state_from(self, part: str, start: str, end: str, limit: int) -> list[tuple[str, str]]:
        """The names and values of a part whose names are between two, in order; the first ones of them."""
        places = "WHERE part = ? AND name > ? AND name < ? ORDER BY name LIMIT ?"
        found = self._sql.select(schema.node_state, places, part, start, end, limit)
        return [(name, value) for _, name, value in found]

    def state_in(self, part: str) -> Iterator[tuple[str, str]]:
        """All names and values of a part, in order."""
        found = self._sql.stream("SELECT name, value FROM node_state WHERE part = ? ORDER BY name", part)
        return ((name, value) for name, value in found)

    def state_of(self, part: str, name: str) -> str | None:
        """One of these values; None if there is none."""
        found = self._sql.select(schema.node_state, "WHERE part = ? AND name = ?", part, name)
        return found[0][2] if found else None


class NetworkWriter(NetworkReader):
    """The same, and changes of it."""

    def note(self, changed: Sequence[tuple[int, int, int]], time: int) -> None:
        """Documents have other versions, 0 for none, which other hubs must hear of, so far away."""
        numbers = self._sql.take("outgoing", len(changed)) if changed else ()
        rows = [
            (number, document, version, time, reach)
            for number, (document, version, reach) in zip(numbers, changed, strict=True)
        ]
        self._sql.insert(schema.outgoing, rows)

    def told(self, numbers: Iterable[int]) -> None:
        """The node has taken these."""
        self._sql.delete(schema.outgoing, ("number",), [(number,) for number in numbers])

    def keep_inside(self, reaches: Mapping[int, int]) -> None:
        """Documents go so far from now on."""
        self._sql.replace(schema.document_reaches, [*reaches.items()])

    def reach(self, subscription: str, since: int) -> None:
        """A subscription reaches beyond this hub."""
        self._sql.replace(schema.reaches, [(subscription, since)])

    def reach_no_more(self, subscription: str) -> None:
        """A subscription is gone."""
        self._sql.delete(schema.reaches, ("subscription",), [(subscription,)])

    def clear_state(self, part: str, start: str, end: str) -> None:
        """Away with the values of a part whose names are between two."""
        self._sql.run("DELETE FROM node_state WHERE part = ? AND name > ? AND name < ?", part, start, end)

    def set_state(self, changes: Mapping[tuple[str, str], str | None]) -> None:
        """Other values for parts of the node's state; None: they are gone."""
        gone = [place for place, value in changes.items() if value is None]
        self._sql.delete(schema.node_state, ("part", "name"), gone)
        self._sql.replace(schema.node_state, [(*place, value) for place, value in changes.items() if value is not None])
