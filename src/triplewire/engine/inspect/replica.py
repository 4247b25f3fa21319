"""The replica: the current metadata as a dataset that SPARQL is asked of.

Standing queries are a part of SPARQL; who looks around wants all of it. So the first question loads every document
into an RDF store in memory, each as a named graph of its own, and later questions bring it up to the newest batch.
The default graph is the union of all documents, kept as a graph of its own: an RDF store's view of all graphs counts a
triple once for each document that states it, and a hub's metadata is a set. Blank nodes have the hub's names, so they
join with its rows.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from lark import Token
from pyoxigraph import NamedNode, Quad, QueryBoolean, QuerySolutions, QueryTriples, Store

from triplewire.engine.inspect.respelling import respelled
from triplewire.errors import QueryError, QuerySyntaxError, UnsupportedQuery
from triplewire.languages.sparql.terms import first_undeclared
from triplewire.languages.sparql.tokens import tokenize
from triplewire.model.flat import triples_in
from triplewire.model.prefixes import KNOWN_PREFIXES
from triplewire.store import DocumentRecord, Reader, triples_of

Results = QuerySolutions | QueryBoolean | QueryTriples
_UPDATES = frozenset(["INSERT", "DELETE", "LOAD", "CLEAR", "CREATE", "DROP", "COPY", "MOVE", "ADD", "WITH"])
_KEPT = 4
"""Copies that are in memory at the same time, each of all that its viewer may read."""
_PLACE = re.compile(r"error at (\d+):(\d+): (.*)", re.DOTALL)
_CLASS = re.compile(r"\[(?:\^?'[^']+'|\s|\||\.\.=?)+\]")
_EXPECTED = "expected one of "
_FORMS = frozenset(["SELECT", "ASK", "CONSTRUCT", "DESCRIBE"])


class Replica:
    """A copy in memory that is as new as the reader that it caught up with.

    It has the documents that this reader sees, and no others: whatever is asked, nothing else can be found.
    """

    def __init__(self) -> None:
        self._dataset = Store()
        self._batch: int | None = None
        self._lists = 0
        self._graphs: dict[int, NamedNode] = {}

    def catch_up(self, reader: Reader) -> None:
        """Know all documents as they are now; the reader is one of the same viewer each time."""
        last, lists = reader.batches.last(), reader.access.number()
        if self._batch is not None and lists != self._lists:
            self._dataset, self._batch = Store(), None
        if self._batch is None:
            self._load(reader.documents.everything())
        elif last > self._batch:
            changed = sorted({version.document for version in reader.documents.of_batches(self._batch, last)})
            records = [record for record in reader.documents.current_of(changed) if record is not None]
            for record in records:
                self._drop(self._graph(record))
            present = [record for record in records if record.present]
            contents = reader.documents.contents([(record.id, record.version) for record in present])
            self._load((record, content or b"") for record, content in zip(present, contents, strict=True))
        self._batch, self._lists = last, lists

    def _load(self, documents: Iterable[tuple[DocumentRecord, bytes]]) -> None:
        for record, content in documents:
            graph = self._graph(record)
            lines = "\n".join([f"{s} {p} {o} ." for s, p, o in triples_of(record.id, content)])
            triples = list(triples_in(lines.encode()))
            self._dataset.extend([Quad(s, p, o, graph) for s, p, o in triples])
            self._dataset.extend([Quad(s, p, o) for s, p, o in triples])

    def _drop(self, graph: NamedNode) -> None:
        """Take a document out; what others state too stays in the default graph."""
        triples = [quad.triple for quad in self._dataset.quads_for_pattern(None, None, None, graph)]
        self._dataset.remove_graph(graph)
        for triple in triples:
            if len(list(islice(self._dataset.quads_for_pattern(*triple), 2))) == 1:
                self._dataset.remove(Quad(*triple))

    def _graph(self, record: DocumentRecord) -> NamedNode:
        """The graph of a document: its uri, where that is an IRI."""
        if record.id not in self._graphs:
            try:
                self._graphs[record.id] = NamedNode(record.uri)
            except ValueError:
                self._graphs[record.id] = NamedNode(f"urn:triplewire:document:{record.id}")
        return self._graphs[record.id]

    def query(
        self,
        text: str,
        prefixes: Mapping[str, str] | None,
        default_graphs: Sequence[str] = (),
        named_graphs: Sequence[str] = (),
    ) -> Results:
        """What a SELECT, an ASK, a CONSTRUCT or a DESCRIBE finds; in these graphs alone, if any is named."""
        tokens = tokenize(text)
        served, known = _served(text, tokens), {**KNOWN_PREFIXES, **(prefixes or {})}
        options: dict[str, Any] = {"prefixes": known}
        if default_graphs or named_graphs:
            options["default_graph"] = [_named(uri) for uri in default_graphs]
            options["named_graphs"] = [_named(uri) for uri in named_graphs]
        try:
            return self._dataset.query(served, **options)
        except SyntaxError as error:
            raise first_undeclared(tokens, known) or _syntax_error(str(error)) from None


class Replicas:
    """A copy for each viewer, and one for all viewers who see the same; those that were asked lately are kept."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str | None, Replica] = OrderedDict()

    def of(self, reader: Reader, viewer: str | None = None) -> Replica:
        """The copy of what a viewer may read, as new as the reader."""
        sight = reader.access.sight_of(viewer)
        replica = self._kept.setdefault(sight, Replica())
        self._kept.move_to_end(sight)
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        replica.catch_up(reader.seen_by(viewer))
        return replica


def _named(uri: str) -> NamedNode:
    try:
        return NamedNode(uri)
    except ValueError as error:
        raise QueryError(f"the graph {uri} has no IRI as its name: {error}", language="sparql") from None


def _syntax_error(told: str) -> QuerySyntaxError:
    place = _PLACE.match(told)
    if place is None:
        return QuerySyntaxError(told, language="sparql")
    return QuerySyntaxError(_in_words(place[3]), language="sparql", line=int(place[1]), column=int(place[2]))


def _in_words(told: str) -> str:
    """What the engine expected, without the classes of single characters that its grammar is made of."""
    words = [part.strip() for part in _CLASS.sub("", told).removeprefix(_EXPECTED).split(",")]
    named = [word for word in words if word]
    if not told.startswith(_EXPECTED) or len(named) == len(words):
        return told
    return f"expected {' or '.join(named)}" if named else "this is not SPARQL from here on"


def _served(text: str, tokens: list[Token]) -> str:
    """The text for the engine; UnsupportedQuery for updates, because documents change by being published."""
    words = (str(token).upper() for token in tokens if str(token).isidentifier())
    form = next((word for word in words if word in _FORMS | _UPDATES), None)
    if form in _UPDATES:
        hint = "Change documents with publish and retract; ask with SELECT, ASK, CONSTRUCT or DESCRIBE."
        raise UnsupportedQuery(f"{form} is an update, and this only asks", language="sparql", hint=hint)
    return respelled(text, tokens)
