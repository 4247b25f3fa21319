"""The hub by definition: everything recomputed from scratch after every batch.

It is the do-nothing baseline of the hub's contract: slow, short, and read off the definitions of docs/design.md. What
it says of an event (`triples`, `documents`, `before`, `after`) is one right answer; where a row has several
derivations, another engine may give another one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import count

from pyoxigraph import BlankNode, Literal, Triple, Variable

from triplewire import Schema, compile, parse
from triplewire.algebra.content import contents
from triplewire.algebra.evaluate import Graph, evaluate, solutions
from triplewire.algebra.pattern import Pattern
from triplewire.algebra.taxonomy import Taxonomy
from triplewire.algebra.xpath import PathQuery
from triplewire.algebra.xpath.evaluate import hits, row_of, tree_of
from triplewire.algebra.xpath.places import Places
from triplewire.errors import DuplicateSubscription, UnknownSubscription
from triplewire.model import (
    RDFS,
    Access,
    Behind,
    Changed,
    Document,
    Event,
    Excerpt,
    Matched,
    Publish,
    Restrict,
    Retract,
    Row,
    Subscription,
    Unmatched,
)

Hits = dict[tuple[str, str | None], tuple[Row, bytes]]
"""By document and place: the row of what an XPath selects, and a fingerprint of its content."""

_START = datetime(2026, 3, 2, tzinfo=UTC)
_BELOW = (RDFS + "subClassOf", RDFS + "subPropertyOf")


@dataclass(frozen=True)
class Version:
    """The current version of a document; `triples` is None once it is retracted."""

    id: int
    number: int
    batch: int
    document: Document | None
    triples: tuple[Triple, ...] | None


@dataclass(frozen=True)
class State:
    """All current documents, with those access lists that there are, and the taxonomy that the hub was given."""

    versions: Mapping[str, Version] = field(default_factory=dict)
    given: tuple[Triple, ...] = ()
    lists: Mapping[str, Access] = field(default_factory=dict)

    def is_read(self, uri: str, viewer: str | None) -> bool:
        """Whether a viewer may read a document."""
        return uri not in self.lists or self.lists[uri].may_read(viewer)

    def stated(self, after: int = 0, viewer: str | None = None) -> dict[str, tuple[Triple, ...]]:
        """The triples of each document whose current version was published after a batch, and that a viewer reads."""
        return {
            uri: v.triples
            for uri, v in self.versions.items()
            if v.triples is not None and v.batch > after and self.is_read(uri, viewer)
        }

    def xml(self, after: int = 0, viewer: str | None = None) -> dict[str, bytes]:
        """The XML of each document whose current version was published after a batch, and that a viewer reads."""
        current = {
            uri: v.document.xml
            for uri, v in self.versions.items()
            if v.document is not None and v.batch > after and self.is_read(uri, viewer)
        }
        return {uri: xml for uri, xml in current.items() if xml}

    def triples(self, viewer: str | None = None) -> tuple[Triple, ...]:
        """The current metadata."""
        stated = self.stated(viewer=viewer)
        return tuple(dict.fromkeys(triple for triples in stated.values() for triple in triples))

    def number(self, uri: str, viewer: str | None = None) -> int | None:
        """The version of a document; None if it is not there."""
        found = self.versions.get(uri)
        if found is None or found.triples is None or not self.is_read(uri, viewer):
            return None
        return found.number

    def taxonomy(self) -> Taxonomy:
        """The given one, and what documents for everybody state of classes and properties."""
        own = (triple for triple in self.triples("") if triple.predicate.value in _BELOW)
        return Taxonomy.from_triples([*self.given, *own])


class Reference:
    """Subscriptions, a state, and a log of events."""

    def __init__(self) -> None:
        self._state = State()
        self._subscriptions: dict[str, tuple[Subscription, int]] = {}
        self._log: list[Event] = []
        self._batches: dict[str, list[Event]] = {}
        self._number = 0
        self._strong: frozenset[str] = frozenset()
        self._ids = count(1)

    def close(self) -> None:
        """Nothing is open."""

    def set_schema(self, schema: Schema) -> None:
        """Take its strong references."""
        self._strong = schema.strong

    def set_taxonomy(self, triples: Iterable[Triple]) -> list[Event]:
        """Replace the given taxonomy; rows appear and disappear (X3)."""
        return self._become(replace(self._state, given=tuple(triples)), self._next(None))

    def subscribe(
        self, text, *, language, id=None, scope="document", start="now", owner=None, viewer=None
    ) -> Subscription:
        """Register; with `ever`, the existing answers are told first, in a batch of their own."""
        id = id or f"subscription-{next(self._ids)}"
        if id in self._subscriptions:
            raise DuplicateSubscription(id)
        rules = {name: s.pattern for name, (s, _) in self._subscriptions.items() if s.language == "rules"}
        pattern = text if isinstance(text, Pattern) else compile(text, language=language, named=rules)
        subscription = Subscription(id, str(text), language, scope, start, owner, pattern, viewer)
        self._subscriptions[id] = (subscription, self._number if start == "now" else 0)
        if start == "ever":
            self._tell({}, {id: self._rows(id, self._state)}, self._state, self._next(None))
        return subscription

    def unsubscribe(self, id: str) -> None:
        """Forget it."""
        del self._subscriptions[id]

    def edit(self, id: str, *, text=None, language=None, scope=None, start=None) -> list[Event]:
        """Ask something else; the rows that only one of the two has begin or end, in a batch of their own."""
        old, since = self._subscriptions[id]
        gone = self._rows(id, self._state)
        pattern, language = old.pattern, language or old.language
        if text is not None:
            rules = {n: s.pattern for n, (s, _) in self._subscriptions.items() if s.language == "rules" and n != id}
            pattern = text if isinstance(text, Pattern) else compile(text, language=language, named=rules)
        if start not in (None, old.start):
            since = self._number if start == "now" else 0
        new = Subscription(id, str(text or old.text), language, scope or old.scope, start or old.start, old.owner)
        self._subscriptions[id] = (replace(new, pattern=pattern, viewer=old.viewer), since)
        rows, batch, state = self._rows(id, self._state), self._next(None), self._state
        kinds = [
            *((Unmatched, row, triples) for row, triples in gone.items() if row not in rows),
            *((Matched, row, triples) for row, triples in rows.items() if row not in gone),
        ]
        told = self._batches[batch] = []
        for kind, row, triples in kinds:
            event = self._event(kind, id, row, batch, triples, state, state, old.viewer)
            self._log.append(event)
            told.append(event)
        return told

    def publish(self, data, *, uri=None, media_type=None, batch=None, access=None) -> list[Event]:
        """Register or update one document."""
        document = data if isinstance(data, Document) else parse(data, uri=uri, media_type=media_type)
        return self.apply([Publish(document, access=access)], batch=batch)

    def restrict(self, uri: str, access: Access | None, *, batch=None) -> list[Event]:
        """Another access list for one document."""
        return self.apply([Restrict(uri, access)], batch=batch)

    def retract(self, uri: str, *, batch=None) -> list[Event]:
        """Take one document back."""
        return self.apply([Retract(uri)], batch=batch)

    def apply(self, changes: Sequence[Publish | Retract | Restrict], *, batch: str | None = None) -> list[Event]:
        """One atomic batch."""
        if batch in self._batches:
            return self._batches[batch]
        name = self._next(batch)
        return self._become(self.led_to(changes), name)

    def led_to(self, changes: Sequence[Publish | Retract | Restrict]) -> State:
        """The state after changes."""
        versions, lists = dict(self._state.versions), dict(self._state.lists)
        contents = {change.uri: change for change in changes if not isinstance(change, Restrict)}
        for uri, change in contents.items():
            versions |= self._changed(uri, change, versions)
        for change in changes:
            if isinstance(change, Restrict):
                lists.pop(change.uri, None)
            if not isinstance(change, Retract) and change.access is not None:
                lists[change.uri] = change.access
        for change in changes:  # a document that came and went keeps its list, and its number for it
            if not isinstance(change, Retract) and change.uri in lists and change.uri not in versions:
                versions[change.uri] = Version(len(versions) + 1, 0, 0, None, None)
        return replace(self._state, versions=versions, lists=lists)

    def rows(self, id: str) -> list[Row]:
        """The answers now."""
        return [*self._rows(id, self._state)]

    def events(self, id: str, *, after: int = 0, limit: int | None = None) -> list[Event]:
        """The subscription's log."""
        if id not in self._subscriptions:
            raise UnknownSubscription(id)
        return [event for event in self._log if event.subscription == id and event.cursor > after][:limit]

    def _next(self, batch: str | None) -> str:
        self._number += 1
        return batch or f"batch-{self._number}"

    def _changed(self, uri: str, change: Publish | Retract, versions: Mapping[str, Version]) -> dict[str, Version]:
        old = versions.get(uri) or Version(len(versions) + 1, 0, 0, None, None)
        new = change.document if isinstance(change, Publish) else None
        if new == old.document:
            return {}
        triples = None if new is None else tuple(_owned(triple, old.id) for triple in new.triples)
        return {uri: Version(old.id, old.number + 1, self._number, new, triples)}

    def _become(self, state: State, batch: str) -> list[Event]:
        before = {id: self._rows(id, self._state) for id in self._subscriptions}
        after = {id: self._rows(id, state) for id in self._subscriptions}
        return self._tell(before, after, state, batch)

    def _rows(self, id: str, state: State) -> dict[Row, tuple[Triple, ...]]:
        """The rows in a state, each with one derivation."""
        if id not in self._subscriptions:
            raise UnknownSubscription(id)
        subscription, since = self._subscriptions[id]
        if isinstance(subscription.pattern, PathQuery):
            return {row: () for row, _ in self._hits(id, state).values()}
        stated = [*state.stated(since, subscription.viewer).values()]
        graphs = stated if subscription.scope == "document" else [[t for triples in stated for t in triples]]
        rows: dict[Row, tuple[Triple, ...]] = {}
        for graph in map(Graph, graphs):
            taxonomy = state.taxonomy()
            for row in evaluate(subscription.pattern, graph, taxonomy):
                rows.setdefault(Row(row), _derivation(subscription.pattern, row, graph, taxonomy))
        return rows

    def _hits(self, id: str, state: State) -> Hits:
        """What the XPath of a subscription selects in a state."""
        subscription, since = self._subscriptions[id]
        query = subscription.pattern
        return {
            (uri, hit.path): (Row(row_of(query, uri, hit)), hit.content)
            for uri, xml in state.xml(since, subscription.viewer).items()
            for hit in hits(query, tree_of(xml))
        }

    def _tell(self, before, after, state: State, batch: str) -> list[Event]:
        old, self._state = self._state, state
        told = self._batches[batch] = []
        for id, rows in after.items():
            gone = before.get(id, {})
            is_xpath = isinstance(self._subscriptions[id][0].pattern, PathQuery)
            viewer = self._subscriptions[id][0].viewer
            kinds = (
                self._kinds_of_hits(id, old, state)
                if gone and is_xpath
                else self._kinds(gone, rows, old.triples(viewer), state.triples(viewer))
            )
            for kind, row, triples in kinds:
                event = self._event(kind, id, row, batch, triples, old, state, viewer)
                self._log.append(event)
                told.append(event)
        return told

    def _kinds(self, gone, rows, was: Sequence[Triple], now: Sequence[Triple]):
        yield from ((Unmatched, row, triples) for row, triples in gone.items() if row not in rows)
        for row, triples in rows.items():
            if row not in gone:
                yield Matched, row, triples
            elif self._content(row, was) != self._content(row, now):
                yield Changed, row, triples

    def _kinds_of_hits(self, id: str, old: State, state: State):
        """A node is the same while it is in the same place; its row may have another text then."""
        was, now = self._hits(id, old), self._hits(id, state)
        yield from ((Unmatched, row, ()) for place, (row, _) in was.items() if place not in now)
        for place, (row, content) in now.items():
            if place not in was:
                yield Matched, row, ()
            elif was[place][1] != content:
                yield Changed, row, ()

    def _content(self, row: Row, triples: Sequence[Triple]) -> tuple[Triple, ...]:
        bound = [term for term in row.values() if not isinstance(term, Literal)]
        return contents(bound, lambda subjects: [t for t in triples if t.subject in subjects], self._strong)

    def _event(self, kind, id, row, batch, triples, old: State, new: State, viewer: str | None) -> Event:
        behind = tuple(
            Behind(uri, old.number(uri, viewer), new.number(uri, viewer))
            for uri in dict.fromkeys([*old.versions, *new.versions])
            if self._is_behind(uri, row, triples, old, new, viewer)
        )
        before, after = (self._within(row, behind, state, triples, viewer) for state in (old, new))
        time = _START + timedelta(minutes=self._number)
        return kind(id, row, batch, len(self._log) + 1, time, triples, behind, before, after)

    def _is_behind(self, uri: str, row: Row, triples, old: State, new: State, viewer: str | None) -> bool:
        if _is_of_xpath(row, triples):
            return uri == row["document"].value
        was, now = (set(state.stated(viewer=viewer).get(uri, ())) for state in (old, new))
        about = {*self._content(row, old.triples(viewer)), *self._content(row, new.triples(viewer))}
        return not (was | now).isdisjoint(triples) or not (was ^ now).isdisjoint(about)

    def _within(self, row: Row, behind: tuple[Behind, ...], state: State, triples=((),), viewer: str | None = None):
        if _is_of_xpath(row, triples):
            return _excerpt(row, state, viewer)
        stated = state.stated(viewer=viewer)
        found = [triple for document in behind for triple in stated.get(document.uri, ())]
        return self._content(row, found) if found else None


def _is_of_xpath(row: Row, triples) -> bool:
    """Only rows of XPath have no triples behind them."""
    return not triples and "document" in row


def _excerpt(row: Row, state: State, viewer: str | None) -> Excerpt | None:
    xml = state.xml(viewer=viewer).get(row["document"].value)
    return Places(tree_of(xml)).excerpt(row["node"].value if "node" in row else "/") if xml else None


def _derivation(pattern, row, graph: Graph, taxonomy: Taxonomy) -> tuple[Triple, ...]:
    """The triples of the first solution that gives the row."""
    for branch in pattern.branches:
        for solution in solutions(branch, graph, taxonomy):
            if {name: solution[name] for name in pattern.answer if name in solution} == row:
                return tuple(
                    dict.fromkeys(
                        Triple(*(solution[n.value] if isinstance(n, Variable) else n for n in triple))
                        for triple in branch.triples
                    )
                )
    raise AssertionError("a row has a derivation")


def _owned(triple: Triple, document: int) -> Triple:
    """The triple with its blank nodes named after their document."""
    return Triple(*(BlankNode(f"d{document}x{n.value}") if isinstance(n, BlankNode) else n for n in triple))
