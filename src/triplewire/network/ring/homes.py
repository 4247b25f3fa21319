"""The home of clients at a peer: their documents, their subscriptions, and what these are told.

A home has the name of the peer that its clients came to. When that peer leaves, another one keeps the home, and what is
for it goes to that one: the successor of its place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from pyoxigraph import BlankNode, Triple

from triplewire.algebra.content import contents
from triplewire.algebra.pattern import Pattern
from triplewire.errors import DuplicateSubscription, UnknownDocument, UnknownSubscription, UnsupportedQuery
from triplewire.languages import compile as compile_query
from triplewire.model import Behind, Document, Row, Term
from triplewire.network.ring.identifiers import identify, key_at
from triplewire.network.ring.messages import Answer, IndexTriple, WatchContent
from triplewire.network.ring.queries import RingQuery, chain_of, shared_pattern
from triplewire.network.ring.settings import RingSettings
from triplewire.network.ring.statements import KeyStatement, Origin
from triplewire.network.ring.subscriptions import Content, RingSubscription, conjunctions_of

Limited = Literal["document", "subscription"]

PATIENCE = 10.0
"""Seconds after which a subscriber is told what has arrived, though nothing says that it is all."""


@dataclass(slots=True)
class PublishedDocument:
    """A document of a client: its version, and its content while it is there."""

    version: int
    document: Document | None


@dataclass(slots=True)
class HomeState:
    """What a home must not lose."""

    name: str
    documents: dict[str, PublishedDocument] = field(default_factory=dict)
    subscriptions: dict[str, RingSubscription] = field(default_factory=dict)
    contents: dict[Term, dict[Origin, KeyStatement]] = field(default_factory=dict)
    """What is stated of the resources that rows speak of, and of what has no name of its own there."""
    watched: Counter[Term] = field(default_factory=Counter)
    """How many subscriptions have rows that speak of a resource."""
    counts: dict[str, dict[int, int]] = field(default_factory=dict)
    """Of queries that are not indexed yet: how many triples are known for their subqueries, as far as that was told."""
    watches: int = 0
    """How often it has said that it wants to hear of a resource, or does not any more."""
    limits: dict[tuple[Limited, str], float] = field(default_factory=dict)
    """When documents and subscriptions end by themselves, by kind and name."""
    noted: set[tuple[str, str | Term]] | None = None
    """What may have changed since it was written, by kind and name; None: nobody writes it."""

    def note(self, kind: str, name: str | Term) -> None:
        """A document, a subscription, the content of a resource, or what ends by itself, may be another."""
        if self.noted is not None:
            self.noted.add((kind, name))

    @property
    def place(self) -> int:
        """Where what is for it goes."""
        return identify(self.name)

    # -- documents

    def publish(self, document: Document) -> tuple[int | None, int] | None:
        """The versions before and after; None if nothing is new."""
        known = self.documents.get(document.uri)
        if known is not None and known.document == document:
            return None
        version = known.version + 1 if known is not None else 1
        self.note("document", document.uri)
        self.limits.pop(("document", document.uri), None)
        self.documents[document.uri] = PublishedDocument(version, document)
        return (known.version if known is not None and known.document is not None else None), version

    def retract(self, uri: str) -> tuple[int, int]:
        """The versions before and after."""
        known = self.documents.get(uri)
        if known is None or known.document is None:
            raise UnknownDocument(uri)
        self.documents[uri] = PublishedDocument(known.version + 1, None)
        self.note("document", uri)
        self.limits.pop(("document", uri), None)
        return known.version, known.version + 1

    def statements(
        self, uri: str, document: Document | None, before: Document | None, settings: RingSettings, now: float
    ) -> dict[str, IndexTriple]:
        """What is stated under each key, and what is not any more."""
        version = self.documents[uri].version
        old, new = (self._by_key(uri, each, settings) for each in (before, document))
        found = {}
        for key in dict.fromkeys((*old, *new)):
            stated = frozenset(new.get(key, ()))
            gone = frozenset(old.get(key, ())) - stated
            found[key] = IndexTriple((self.name, uri), KeyStatement(version, now, stated), gone)
        return found

    def _by_key(self, uri: str, document: Document | None, settings: RingSettings) -> dict[str, list[Triple]]:
        found: dict[str, list[Triple]] = {}
        for triple in document.triples if document is not None else ():
            named = _named_apart(triple, f"d{identify(f'{self.name} {uri}'):x}")
            for places in settings.keys:
                found.setdefault(key_at(places, named), []).append(named)
        return found

    # -- subscriptions

    def subscription(self, id: str) -> RingSubscription:
        """The subscription of an id."""
        if id not in self.subscriptions:
            raise UnknownSubscription(id)
        return self.subscriptions[id]

    def subscribe(
        self,
        id: str,
        client: str,
        text: str,
        language: str,
        settings: RingSettings,
        since: float,
        prefixes: Mapping[str, str] | None = None,
    ) -> RingSubscription:
        """A new subscription, with its queries."""
        if id in self.subscriptions:
            raise DuplicateSubscription(id)
        pattern = compile_query(text, language=language, prefixes=prefixes)
        if pattern.asks_xml:
            raise UnsupportedQuery(
                "a ring keeps triples, and not the XML that they came from",
                language=language,
                hint="Subscribe at a hub, or in a hypercube",
            )
        found = RingSubscription(id, client, pattern, since, settings.scope == "document")
        found.queries = tuple(self._queries(found, pattern, language, settings))
        self.subscriptions[id] = found
        self.note("subscription", id)
        return found

    def _queries(
        self, subscription: RingSubscription, pattern: Pattern, language: str, settings: RingSettings
    ) -> Iterable[RingQuery]:
        for branch, parts, triples, conditions in conjunctions_of(pattern, language):
            query = RingQuery(
                f"{self.name} {subscription.id} {subscription.since!r} {branch} {parts}",
                subscription.id,
                self.name,
                branch,
                parts,
                tuple(map(shared_pattern, triples)),
                conditions,
                subscription.since,
                settings.algorithm,
                settings.keys,
            )
            yield planned(query, self.place, language)

    def unsubscribe(self, id: str) -> RingSubscription:
        """A subscription ends, with its log."""
        found = self.subscription(id)
        del self.subscriptions[id]
        self.note("subscription", id)
        self.limits.pop(("subscription", id), None)
        for query in found.queries:
            self.counts.pop(query.key, None)
        return found

    def counted(self, id: str, key: str, number: int, count: int) -> RingQuery | None:
        """So many triples are known for a subquery; when all were counted, gives the query as it is to be indexed.

        The rarest subquery becomes the rewriter: it makes the fewest chains. Of several, the one that was chosen.
        """
        subscription, counts = self.subscriptions.get(id), self.counts.get(key)
        if subscription is None or counts is None:
            return None
        counts[number] = count
        self.note("subscription", id)
        query = next(each for each in subscription.queries if each.key == key)
        if len(counts) < len(query.rewriters):
            return None
        del self.counts[key]
        first = min(query.rewriters, key=lambda each: (counts[each], each != query.first))
        found = replace(query, first=first)
        subscription.queries = tuple(found if each is query else each for each in subscription.queries)
        return found

    def restore(self, subscriptions: Iterable[RingSubscription], settings: RingSettings) -> None:
        """Begin with subscriptions that were there before."""
        self.subscriptions = {each.id: each for each in subscriptions}
        for each in self.subscriptions.values():
            self.watched.update([*each.about] if settings.is_wide else [])

    # -- what ends by itself

    def limit(self, kind: Limited, name: str, until: float) -> None:
        """A document, or a subscription, ends at a time if it has not ended before."""
        known = self.documents.get(name)
        if kind == "subscription":
            self.subscription(name)
        elif known is None or known.document is None:
            raise UnknownDocument(name)
        self.limits[kind, name] = until
        self.note(kind, name)

    def over(self, now: float) -> list[tuple[Limited, str]]:
        """What has ended by itself."""
        return [each for each, until in self.limits.items() if until <= now]

    # -- what arrives

    def take(self, answers: Iterable[Answer], now: float, *, watches: bool) -> tuple[set[str], list[WatchContent]]:
        """Answers of queries; gives the subscriptions that they concern, and what is to be watched from now on."""
        concerned: dict[str, None] = {}
        for answer in answers:
            for query in answer.queries:
                subscription = self.subscriptions.get(query.subscription)
                if subscription is not None:
                    subscription.take(query, answer)
                    self.note("subscription", subscription.id)
                    concerned[subscription.id] = None
        self._note_due(concerned, now)
        wanted = concerned if watches else ()
        return {*concerned}, [watch for id in wanted for watch in self.rewatched(self.subscriptions[id])]

    def _note_due(self, ids: Iterable[str], now: float) -> None:
        for id in ids:
            subscription = self.subscriptions[id]
            if (subscription.touched or subscription.stale) and subscription.due is None:
                subscription.due = now + PATIENCE
                self.note("subscription", id)

    def rewatched(self, subscription: RingSubscription) -> list[WatchContent]:
        """What is to be watched from now on because of a subscription, or no longer."""
        changes, subscription.spoken_of = subscription.spoken_of, {}
        before = {resource: self.watched[resource] > 0 for resource in changes}
        for resource, difference in changes.items():
            self.watched[resource] += difference
            if not self.watched[resource]:
                del self.watched[resource]
                self.contents.pop(resource, None)
                self.note("content", resource)
        return [
            self._watch(resource, is_wanted=not was)
            for resource, was in before.items()
            if was != (resource in self.watched)
        ]

    def _watch(self, resource: Term, *, is_wanted: bool) -> WatchContent:
        self.watches += 1
        return WatchContent(self.name, resource, is_wanted, self.watches)

    def restate(
        self, resource: Term, said: Iterable[tuple[Origin, KeyStatement]], now: float
    ) -> tuple[set[str], list[WatchContent]]:
        """Documents state something of a resource; gives whom that concerns, and what it holds that has no name."""
        known = self.contents.setdefault(resource, {})
        news = [each for each in said if each[0] not in known or known[each[0]].version < each[1].version]
        known.update(news)
        self.note("content", resource)
        if not news:
            return set(), []
        concerned = {each.id for each in self.subscriptions.values() if each.restate(resource)}
        self._note_due(sorted(concerned), now)
        held = {triple.object for _, statement in news for triple in statement.triples}
        parts = sorted((each for each in held if isinstance(each, BlankNode) and each not in self.contents), key=str)
        return concerned, [self._watch(part, is_wanted=True) for part in parts]

    def content(self, resources: Iterable[Term]) -> Content:
        """What is stated of some resources, in all documents."""

        def about(nodes: Iterable[Term]) -> list[Triple]:
            said = (statement for node in nodes for statement in self.contents.get(node, {}).values())
            return [triple for statement in said for triple in statement.triples]

        return contents(resources, about, frozenset())

    def settle(self, ids: Iterable[str], behind: Behind | None, now: float, *, is_late: bool = False) -> None:
        """A step is settled: subscribers are told of it; `is_late`: of all that has arrived, as it is."""
        for subscription in [self.subscriptions[id] for id in ids if id in self.subscriptions]:
            self.note("subscription", subscription.id)
            is_known = _is_enough if is_late else self._is_known
            if subscription.tell(behind, self.content, is_known, now):
                subscription.due = now + PATIENCE

    def _is_known(self, row: Row, triples: Iterable[Triple]) -> bool:
        """Whether the content of a row's resources is known, as far as the row itself stands on it."""
        known = [term for term in row.values() if term in self.watched]
        about = {triple for term in known for each in self.contents.get(term, {}).values() for triple in each.triples}
        return all(triple in about for triple in triples if triple.subject in known)

    def due(self) -> float | None:
        """When subscribers are told at the latest, or something ends."""
        told = (each.due for each in self.subscriptions.values() if each.due is not None)
        return min((*told, *self.limits.values()), default=None)


def _is_enough(row: Row, triples: Iterable[Triple]) -> bool:
    """Whatever is known of a row will do."""
    return True


def planned(query: RingQuery, start: int, language: str) -> RingQuery:
    """The query with the subquery that it is indexed by, and in SQC with its chain."""
    chain = chain_of(query, start)
    if chain is None:
        raise UnsupportedQuery(
            "some triple of it would have no value by which a ring could find it",
            language=language,
            hint="Name its predicate, its subject or its object, or tie it to the others by a variable; or use a hub",
        )
    if query.algorithm == "sqc":
        return replace(query, chain=chain, first=chain[0])
    return replace(query, first=_rewriter(query))


def _rewriter(query: RingQuery) -> int:
    """The subquery whose peer rewrites the query: among those with a constant, one that differs from query to query.

    The paper chooses at random (section 5).
    """
    return query.rewriters[identify(query.key) % len(query.rewriters)]


def _named_apart(triple: Triple, prefix: str) -> Triple:
    """The triple with names for its blank nodes that no other document has."""
    subject, object = triple.subject, triple.object
    if isinstance(subject, BlankNode):
        subject = BlankNode(f"{prefix}x{subject.value}")
    if isinstance(object, BlankNode):
        object = BlankNode(f"{prefix}x{object.value}")
    return Triple(subject, triple.predicate, object)
