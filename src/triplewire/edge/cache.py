"""The cache of an edge: what it is told becomes documents, and what no rule reaches any more goes (M7).

What a document of the hub states of the resources that are kept here is a document here, under the same uri; if a
private document has that uri, beside it (`CACHED`). Private documents have access lists, cached ones have none: so the
cache is what everybody sees. A resource stays while a rule registers it or something that stays holds it. Counting
references would keep a cycle for ever; so what has lost a cause is taken away on trial, with all that it holds, and
what is then still registered, or held from outside, comes back with all that it holds.

Invariant: the cached documents state the contents of what the rules register, and nothing else.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from triplewire.algebra.content import climb
from triplewire.engine.edges.contents import CACHED, origin_of
from triplewire.model import Document, Publish, Retract
from triplewire.store import EVERYBODY, DocumentRecord, Writer, scoped, triples_of
from triplewire.wire.edges import Description, EdgeAnswer

Held = dict[str, set[str]]
KeptAnswer = tuple[EdgeAnswer, Collection[str]]
"""What was told, and the rules that are kept after it: of one that the edge has let go of meanwhile, nothing counts."""


@dataclass(frozen=True, slots=True)
class CacheChanges:
    """What becomes of the cache: documents that change, and nodes that are described anew."""

    documents: list[Publish | Retract]
    described: set[str]
    moved_out: set[str]
    """Nodes that no rule reaches any more."""
    deleted: set[str]
    """Nodes of which the hub knows nothing any more."""


class Cache:
    """What an edge keeps of its hub, in one transaction; nodes are spelled as the edge's store spells terms."""

    def __init__(self, writer: Writer, strong: frozenset[str]) -> None:
        self._writer, self._seen = writer, writer.seen_by(EVERYBODY)
        self._strong = frozenset(f"<{iri}>" for iri in strong)
        self._numbers = {n for n in writer.terms.find(sorted(self._strong)) if n}
        self._changed: dict[str, Description] = {}
        self._said: dict[str, list[tuple[str, str]]] = {}
        self._documents: dict[str, DocumentRecord] = {}

    def follow(self, answers: Sequence[KeptAnswer], *, whole: bool = False) -> CacheChanges:
        """Take over what was told, in its order.

        With `whole`, everything that no rule reaches is looked for, not only what has lost a cause.
        """
        self._know_documents([answer for answer, _ in answers])
        lost: set[str] = set()
        for answer, kept in answers:
            lost |= self._register(answer, kept)
            self._changed.update((self._local(each.node), each) for each in answer.descriptions)
        for name in {name for answer, _ in answers for name in answer.deleted}:
            self._changed.setdefault(self._local(name), Description(name))
        return self._changes(lost, whole=whole)

    def release(self, rule: str) -> CacheChanges:
        """Let go of what a rule registers."""
        lost = self._writer.registrations.of_rule(rule)
        self._writer.registrations.remove(rule, lost)
        return self._changes(lost)

    def _changes(self, lost: set[str], *, whole: bool = False) -> CacheChanges:
        gone = self._unreached() if whole else self._without_cause(lost)
        unknown = {node for node, told in self._changed.items() if not told.parts and not told.xml}
        described = self._changed.keys() - gone - unknown
        return CacheChanges(self._document_changes(gone), described, gone - unknown, self._here(unknown))

    # -- names

    def _know_documents(self, answers: Sequence[EdgeAnswer]) -> None:
        """Find, or make, the documents here of all that are named."""
        names = [name for answer in answers for own in (answer.registered, answer.released) for name in _flat(own)]
        names += [name for answer in answers for name in answer.deleted]
        uris = {name.split(" ", 1)[1] for name in names if name.startswith("_:")}
        for answer in answers:
            for told in answer.descriptions:
                uris |= {part.document for part in told.parts}
                uris |= {told.node[1:-1]} if told.xml else set()
        self._documents |= cached_documents(self._writer, sorted(uris))

    def _local(self, name: str) -> str:
        """A node as this store spells it."""
        if not name.startswith("_:"):
            return name
        label, uri = name.split(" ", 1)
        return scoped(self._documents[uri].id, label)

    # -- what rules register

    def _register(self, answer: EdgeAnswer, kept: Collection[str]) -> set[str]:
        """Note what rules register; gives what some rule does not register any more."""
        registrations, lost = self._writer.registrations, set()
        for rule in (answer.whole.keys() | answer.registered.keys() | answer.released.keys()).intersection(kept):
            coming = {self._local(name) for name in answer.registered.get(rule, ())}
            going = {self._local(name) for name in answer.released.get(rule, ())}
            if rule in answer.whole:
                going |= registrations.of_rule(rule) - coming
            registrations.remove(rule, going)
            registrations.add(rule, coming)
            lost |= going
        return lost

    # -- what is held

    def _held(self, nodes: Iterable[str]) -> Held:
        """What each node holds, after the change."""
        wanted = list(nodes)
        found = self._held_before([node for node in wanted if node not in self._changed])
        for node in wanted:
            if node in self._changed:
                found[node] = {value for p, value in self._told(node) if self._is_held(p, value)}
        return found

    def _held_before(self, nodes: Sequence[str]) -> Held:
        """What each node holds by what is stored."""
        found: Held = {node: set() for node in nodes}
        numbers = dict(zip(self._writer.terms.find(nodes), nodes, strict=True))
        numbers.pop(0, None)
        triples = [triple for own in self._seen.triples.forward([(n, 0) for n in numbers]) for triple in own]
        texts = self._texts({number for triple in triples for number in triple})
        for s, p, o in triples:
            if self._is_held(texts[p], texts[o]):
                found[numbers[s]].add(texts[o])
        return found

    def _holders(self, nodes: Sequence[str]) -> Held:
        """What holds each node, after the change."""
        found: Held = {node: set() for node in nodes}
        numbers = dict(zip(self._writer.terms.find(nodes), nodes, strict=True))
        numbers.pop(0, None)
        blank = [(0, number) for number, node in numbers.items() if node.startswith("_:")]
        named = [(p, number) for number, node in numbers.items() if node.startswith("<") for p in self._numbers]
        keys = [*blank, *named]
        triples = [triple for own in (self._seen.triples.backward(keys) if keys else ()) for triple in own]
        texts = self._texts({s for s, _, _ in triples})
        for s, _, o in triples:
            if texts[s] not in self._changed:
                found[numbers[o]].add(texts[s])
        for node in self._changed:
            for predicate, value in self._told(node):
                if value in found and self._is_held(predicate, value):
                    found[value].add(node)
        return found

    def _told(self, node: str) -> list[tuple[str, str]]:
        """The predicates and values that a node is described with, read once."""
        found = self._said.get(node)
        if found is None:
            found = self._said[node] = [
                (predicate, value)
                for part in self._changed[node].parts
                for _, predicate, value in triples_of(self._documents[part.document].id, part.lines.encode())
            ]
        return found

    def _is_held(self, predicate: str, value: str) -> bool:
        return value.startswith("_:") or (predicate in self._strong and value.startswith("<"))

    def _texts(self, numbers: Iterable[int]) -> dict[int, str]:
        wanted = list(numbers)
        return dict(zip(wanted, self._writer.terms.texts(wanted), strict=True))

    # -- what goes

    def _without_cause(self, lost: set[str]) -> set[str]:
        """Of what has lost a cause, and of what that holds, the nodes that nothing reaches any more."""
        before = self._held_before(list(self._changed))
        after = self._held(self._changed)
        lost |= {node for changed in before for node in before[changed] - after[changed]}
        if not lost:
            return set()
        trial = self._reached(lost)
        holders = self._holders(sorted(trial))
        registered = self._writer.registrations.rules_of(trial)
        safe = [node for node in trial if node in registered or holders[node] - trial]
        return trial - self._reached(safe)

    def _unreached(self) -> set[str]:
        """All nodes that are here, or were told, and that no rule reaches."""
        here = set(self._texts(self._seen.triples.subjects()).values())
        with_xml = self._seen.documents.by_ids(self._seen.documents.with_xml())
        here |= {f"<{origin_of(record.uri)}>" for record in with_xml}
        return (here | self._changed.keys()) - self._reached(self._writer.registrations.resources())

    def _reached(self, start: Iterable[str]) -> set[str]:
        return climb(start, lambda round: [node for held in self._held(round).values() for node in held])

    # -- documents

    def _document_changes(self, gone: set[str]) -> list[Publish | Retract]:
        """The documents that change: without what is gone, with what was described as it is now."""
        coming: dict[str, list[str]] = {}
        xml: dict[str, bytes] = {}
        for node, told in self._changed.items():
            if node in gone:
                continue
            for part in told.parts:
                coming.setdefault(self._documents[part.document].uri, []).append(part.lines)
            if told.xml:
                xml[self._documents[told.node[1:-1]].uri] = told.xml.encode()
        leaving = self._changed.keys() | gone
        touched = self._stating(leaving) | self._named(leaving)
        uris = sorted(touched | coming.keys() | xml.keys())
        records = [record for record in self._writer.documents.current(uris) if record is not None]
        versions = [(record.id, record.version) for record in records]
        contents = self._writer.documents.contents(versions)
        kept_xml = self._writer.documents.xml(versions)
        changes: list[Publish | Retract] = []
        for record, content, own in zip(records, contents, kept_xml, strict=True):
            stays = _lines_without(record.id, content or b"", leaving)
            lines = "\n".join([*stays, *coming.get(record.uri, ())])
            is_left = f"<{origin_of(record.uri)}>" not in leaving
            made = Document.from_lines(record.uri, lines.encode())
            made = Document(made.uri, made.ntriples, xml.get(record.uri, own if is_left else b""))
            if made.ntriples or made.xml:
                changes.append(Publish(made))
            elif record.present:
                changes.append(Retract(record.uri))
        return changes

    def _here(self, nodes: Iterable[str]) -> set[str]:
        """Those of the nodes that are in the cache before the change."""
        wanted = sorted(nodes)
        numbers = dict(zip(self._writer.terms.find(wanted), wanted, strict=True))
        numbers.pop(0, None)
        stated = {numbers[s] for s, *_ in self._seen.triples.statements(numbers)} if numbers else set()
        documents = self._named(wanted)
        return stated | {node for node in wanted if {node[1:-1], CACHED + node[1:-1]} & documents}

    def _stating(self, nodes: Iterable[str]) -> set[str]:
        """The cached documents that state something of nodes."""
        numbers = [number for number in self._writer.terms.find(sorted(nodes)) if number]
        ids = {document for *_, document in self._seen.triples.statements(numbers)} if numbers else set()
        return {record.uri for record in self._seen.documents.by_ids(sorted(ids))}

    def _named(self, nodes: Iterable[str]) -> set[str]:
        """The cached documents that nodes are, which may have XML."""
        uris = [node[1:-1] for node in nodes if node.startswith("<")]
        found = [*self._seen.documents.current(uris), *self._seen.documents.current([CACHED + uri for uri in uris])]
        return {record.uri for record in found if record is not None and record.present}


def cached_documents(writer: Writer, uris: Sequence[str]) -> dict[str, DocumentRecord]:
    """The cached document of each uri of the hub, made if it is missing; beside a private one of the same uri."""
    there = [record for record in writer.documents.current(uris) if record is not None]
    private = writer.access.of(record.id for record in there)
    taken = {record.uri for record in there if record.id in private}
    local = {uri: CACHED + uri if uri in taken else uri for uri in uris}
    writer.documents.ids(list(local.values()))
    records = writer.documents.current(list(local.values()))
    return {uri: record for uri, record in zip(local, records, strict=True) if record is not None}


def _lines_without(document: int, content: bytes, nodes: Iterable[str]) -> list[str]:
    """The lines of a document whose subjects are others than these."""
    lines = content.decode().split("\n")
    return [line for line in lines if line and scoped(document, line.split(" ", 1)[0]) not in nodes]


def _flat(names: dict[str, list[str]]) -> list[str]:
    return [name for own in names.values() for name in own]
