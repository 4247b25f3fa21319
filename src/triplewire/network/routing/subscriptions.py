"""The subscriptions of a hub's clients: which rows each document gives them, and what they are told (M6).

What a version of a document does to the rows of a subscription is what it would do in one hub: a row begins with the
first document that gives it and ends with the last; a row that stays has changed if what the document says of its
resources differs, of XML if what is at its place does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from lxml import etree
from pyoxigraph import Triple

from triplewire.algebra.content import contents
from triplewire.algebra.pattern import Pattern
from triplewire.algebra.taxonomy import EMPTY
from triplewire.algebra.xpath.places import Places
from triplewire.model import Behind, Changed, Content, Document, Event, Matched, MissedEvents, Row, Term, Unmatched
from triplewire.model.access import EVERYBODY
from triplewire.model.event import NODE, TEXT
from triplewire.network.routing.absences import Absence
from triplewire.network.routing.reaches import NETWORK

_ORDER = (Unmatched, Matched, Changed)
"""The order in which a version of a document is told, as by one hub."""

Key = tuple[str, str]
"""A document: the hub that it was published at, and its uri."""


@dataclass(slots=True)
class ClientSubscription:
    """A subscription of a client: since when it counts, how far it goes, for whom, its rows by document, and its log.

    `given` has for each document the rows that it gives, each with what is said of its resources there.
    """

    id: str
    client: str
    pattern: Pattern
    since: float
    reach: int = NETWORK
    account: str = EVERYBODY
    given: dict[Key, dict[Row, Row]] = field(default_factory=dict)
    sources: dict[Row, set[Key]] = field(default_factory=dict)
    log: list[Event] = field(default_factory=list)
    cursor: int = 0
    absence: Absence | None = None
    """Since when, and for how long, the client is offline."""
    missed: list[MissedEvents] = field(default_factory=list)

    def counts(self, time: float, distance: int) -> bool:
        """Whether it wants what was published at a time, so far from here."""
        return time > self.since and distance <= self.reach

    def leave(self, limit: int, until: float) -> None:
        """The client goes offline: so many events wait for it, until a time."""
        if self.absence is None:
            self.absence = Absence(self.cursor, limit, until)

    def come_back(self, now: float) -> None:
        """The client is back: what has fallen off meanwhile is told to it as missed."""
        if self.absence is not None:
            self.absence.trim(self.log, now)
            missed = self.absence.missed(self.log, self.cursor, now)
            self.absence = None
            self.missed += [missed] if missed is not None else []

    def note_gap(self, reason: str) -> None:
        """Its hub was away, and may have seen less than all versions of documents."""
        self.missed.append(MissedEvents(self.cursor, self.cursor, reason))

    def take(
        self,
        key: Key,
        versions: tuple[int | None, int | None],
        before: Document | None,
        after: Document | None,
        rows: Iterable[Mapping[str, Term]],
        now: float,
    ) -> None:
        """A document has another version now, which gives these rows; `before` is the version that it had."""
        old = self.given.pop(key, {})
        new = {self._identity(row): row for row in map(Row, rows)}
        if new:
            self.given[key] = new
        happened: list[tuple[type[Event], Row, Row]] = []
        for identity in [*(each for each in old if each not in new), *new]:
            kind = self._kind(key, identity, old, new, before, after)
            if kind is not None:
                happened.append((kind, identity, new.get(identity) or old[identity]))
        for kind, _, row in sorted(happened, key=lambda each: (_ORDER.index(each[0]), str(each[2]))):
            self._tell(kind, row, Behind(key[1], *versions), before, after, now)
        if self.absence is not None:
            self.absence.trim(self.log, now)

    def _identity(self, row: Row) -> Row:
        return Row({name: term for name, term in row.items() if name != TEXT}) if self.pattern.asks_xml else row

    def _kind(
        self,
        key: Key,
        identity: Row,
        old: Mapping[Row, Row],
        new: Mapping[Row, Row],
        before: Document | None,
        after: Document | None,
    ) -> type[Event] | None:
        sources = self.sources.setdefault(identity, set())
        if identity in new:
            was_there = bool(sources)
            sources.add(key)
            if not was_there:
                return Matched
            is_same = identity not in old or self._said(old[identity], before) == self._said(new[identity], after)
            return None if is_same else Changed
        sources.discard(key)
        if sources:
            return None
        del self.sources[identity]
        return Unmatched

    def _said(self, row: Row, document: Document | None) -> Content:
        """What a document says of a row's resources, or has at its place."""
        if document is None:
            return None
        if self.pattern.asks_xml:
            place = row[NODE].value if NODE in row else "/"
            return Places(etree.ElementTree(etree.fromstring(document.xml))).excerpt(place)
        about: dict[object, list[Triple]] = {}
        for triple in document.triples:
            about.setdefault(triple.subject, []).append(triple)
        return contents(row.values(), lambda nodes: [t for node in nodes for t in about.get(node, ())], frozenset())

    def _tell(
        self, kind: type[Event], row: Row, behind: Behind, before: Document | None, after: Document | None, now: float
    ) -> None:
        self.cursor += 1
        of = before if kind is Unmatched else after
        self.log.append(
            kind(
                self.id,
                row,
                f"{behind.uri}@{behind.after or behind.before}",
                self.cursor,
                datetime.fromtimestamp(now, UTC),
                triples=lambda: self._derivation(row, of),
                documents=(behind,),
                before=lambda: self._said(row, before),
                after=lambda: self._said(row, after),
            )
        )

    def _derivation(self, row: Row, document: Document | None) -> tuple[Triple, ...]:
        if document is None or self.pattern.asks_xml:
            return ()
        reasons = self.pattern.why(document, EMPTY)
        return next((reason.triples for reason in reasons if reason.row == row), ())
