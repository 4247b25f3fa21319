"""A hub, an edge of it, and what the edge must hold: recomputed from all documents, by the definitions."""

from __future__ import annotations

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from triplewire import Access, Edge, Hub, Index, Schema, compile, evaluate, parse
from triplewire.algebra.content import contents
from triplewire.errors import ServiceUnavailable
from triplewire.store import EVERYBODY

STRONG = "urn:triplewire:schema#strongReference"
ACCOUNT = "harbour"


class Cable:
    """The way to a hub; it can be cut before a question arrives, or before its answer does."""

    def __init__(self, hub: Hub, account: str | None = None) -> None:
        self.hub, self.account, self.cut = hub, account, ""
        self.questions = []

    def serve_edge(self, question):
        self.questions.append(question)
        if self.cut == "there":
            raise ServiceUnavailable("the cable is cut")
        answer = self.hub.serve_edge(question, owner=self.account, viewer=self.account)
        if self.cut == "back":
            raise ServiceUnavailable("the cable is cut")
        return answer


def strong(*properties: str) -> Schema:
    """A schema in which these properties are strong references."""
    true = Literal("true", datatype=NamedNode("http://www.w3.org/2001/XMLSchema#boolean"))
    return Schema(Triple(NamedNode(each), NamedNode(STRONG), true) for each in properties)


def scoped_triples(uri: str, document) -> list[Triple]:
    """The triples of a document, its blank nodes named apart from those of others."""

    def own(term):
        return BlankNode(f"b{uri.encode().hex()}x{term.value}") if isinstance(term, BlankNode) else term

    return [Triple(own(t.subject), t.predicate, own(t.object)) for t in document.triples]


def held_by(edge: Edge) -> tuple[set[Triple], dict[str, bytes]]:
    """What an edge has in its cache: triples, and XML by the uri of its document."""
    triples, xml = set(), {}
    for version in edge.documents(limit=10_000, viewer=EVERYBODY):
        document = edge.document(version.uri)
        uri = version.uri.removeprefix("urn:triplewire:cached:")
        triples.update(scoped_triples(uri, document))
        if document.xml:
            xml[uri] = document.xml
    return triples, xml


def to_hold(documents: dict, rules: dict, schema: Schema, viewer: str | None, taxonomy=None):
    """What an edge must have in its cache: the strong closure of what its rules register, over what it may read.

    `documents` has each document with its access list; `rules` have (text, language, named rules).
    """
    seen = {uri: document for uri, (document, access) in documents.items() if access is None or access.may_read(viewer)}
    graph = {triple for uri, document in seen.items() for triple in scoped_triples(uri, document)}
    registered = set()
    for text, language, named in rules.values():
        patterns = {name: compile(rules[name][0], language=rules[name][1]) for name in named}
        pattern = compile(text, language=language, named=patterns) if named else compile(text, language=language)
        rows = _xml_rows(pattern, seen.values()) if pattern.asks_xml else evaluate(pattern, graph, *_given(taxonomy))
        registered |= {term for row in rows for term in row.values() if not isinstance(term, Literal)}

    def about(nodes):
        wanted = set(nodes)
        return [triple for triple in graph if triple.subject in wanted]

    xml = {}
    closure = contents(registered, about, schema.strong)
    reached = registered | {t.subject for t in closure} | {t.object for t in closure if _holds(t, schema)}
    for uri, document in seen.items():
        if document.xml and NamedNode(uri) in reached:
            xml[uri] = document.xml
    return set(closure), xml


def _holds(triple: Triple, schema: Schema) -> bool:
    return isinstance(triple.object, NamedNode) and triple.predicate.value in schema.strong


def _given(taxonomy):
    return () if taxonomy is None else (taxonomy,)


def _xml_rows(pattern, documents):
    index = Index()
    index.add("asked", pattern)
    return [row for document in documents for match in index.match(document) for row in match.rows]


def replayed(hub, id: str) -> set:
    """The rows that a subscriber knows who has heard every event; each is told once."""
    found = set()
    for event in hub.events(id):
        if event.kind == "matched":
            assert event.row not in found
            found.add(event.row)
        elif event.kind == "unmatched":
            found.remove(event.row)
    return found


class World:
    """A hub with its documents, and an edge with its rules, to which things happen."""

    def __init__(self, url: str = ":memory:", account: str | None = None) -> None:
        self.hub, self.account, self.url = Hub(":memory:"), account, url
        self.cable = Cable(self.hub, account)
        self.edge = Edge(url, hub=self.cable)
        self.documents: dict = {}
        self.private: dict = {}
        self.rules: dict = {}
        self.schema = Schema()
        self.taxonomy = None

    def publish(self, uri: str, text: str, access: Access | None = None) -> None:
        document = parse(text, uri=uri, media_type="application/xml" if text.startswith("<menu") else None)
        self.hub.publish(document, access=access)
        before = self.documents.get(uri, (None, None))[1] if uri in self.documents else self._lists().get(uri)
        self.documents[uri] = document, access or before

    def _lists(self) -> dict:
        return self.__dict__.setdefault("lists", {})

    def retract(self, uri: str) -> None:
        self.hub.retract(uri)
        if uri in self.documents:
            self._lists()[uri] = self.documents.pop(uri)[1]

    def restrict(self, uri: str, access: Access | None) -> None:
        if uri in self.documents:
            self.hub.restrict(uri, access)
            self.documents[uri] = self.documents[uri][0], access

    def declare(self, *properties: str) -> None:
        self.schema = strong(*properties)
        self.hub.set_schema(self.schema)

    def keep(self, uri: str, text: str) -> None:
        """Publish a private document."""
        self.edge.publish(text, uri=uri)
        self.private[uri] = parse(text, uri=uri)

    def follow(self, id: str, text: str, language: str = "sparql", named: tuple[str, ...] = ()) -> None:
        self.edge.follow(text, language=language, id=id)
        self.rules[id] = text, language, named

    def unfollow(self, id: str) -> None:
        self.edge.unfollow(id)
        del self.rules[id]

    def reopen(self) -> None:
        """The edge's process ends, and another one begins."""
        self.edge.close()
        self.edge = Edge(self.url, hub=self.cable)

    def check(self) -> None:
        """The cache is what it must be, and what is private is there."""
        assert held_by(self.edge) == to_hold(self.documents, self.rules, self.schema, self.account, self.taxonomy)
        own = {v.uri for v in self.edge.documents(limit=10_000)} - {
            v.uri for v in self.edge.documents(limit=10_000, viewer=EVERYBODY)
        }
        assert own == set(self.private)
        for uri, document in self.private.items():
            assert self.edge.document(uri) == document
