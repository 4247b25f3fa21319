"""Contents as numbers: what is stated of resources and what they hold, in a state of the store (M7).

`algebra.content` defines it; here it is followed for many resources at once, each looked up once, and with the
documents that state it. `PastContents` is the same as of an earlier batch: what has been published since is taken away,
and what these documents stated then is put in its place.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from triplewire.algebra.content import climb, holders
from triplewire.engine.inspect.graphs import numbers_of
from triplewire.store import DocumentRecord, Reader, triples_of
from triplewire.wire.edges import Description, Part, document_of, local_name, node_of

CACHED = "urn:triplewire:cached:"
"""How the uri of a document begins that an edge keeps beside a private one of the same uri."""

MOST_CHANGED = 20_000
"""So many documents are read in their versions of then; beyond, everything that was touched is told."""

Statement = tuple[int, int, int]
"""What is stated of a resource: predicate, object, document."""


class Contents:
    """What is stated of resources, and what they hold, as a viewer sees it now."""

    def __init__(self, reader: Reader, strong: frozenset[str]) -> None:
        """`reader` sees what the viewer sees; `strong` has the IRIs of strong references."""
        self.reader = reader
        """Another one of the same state may take its place, when its transaction is over."""
        self._strong = {n for n in reader.terms.find([f"<{iri}>" for iri in sorted(strong)]) if n}
        self._stated: dict[int, frozenset[Statement]] = {}
        self._texts: dict[int, str] = {}
        self._uris: dict[int, str] = {}
        self._told: dict[int, Description] = {}

    def stated(self, nodes: Iterable[int]) -> Mapping[int, frozenset[Statement]]:
        """What is stated of each node; the answer may have others, too."""
        missing = [node for node in dict.fromkeys(nodes) if node not in self._stated]
        found: dict[int, set[Statement]] = {node: set() for node in missing}
        for subject, *statement in self.reader.triples.statements(missing) if missing else ():
            found[subject].add((statement[0], statement[1], statement[2]))
        self._stated.update((node, frozenset(own)) for node, own in found.items())
        return self._stated

    def closure(self, roots: Iterable[int]) -> set[int]:
        """The nodes whose triples are the content of these resources: themselves, and all that they hold."""
        return climb(roots, self._held)

    def _held(self, nodes: Sequence[int]) -> list[int]:
        stated = self.stated(nodes)
        pairs = {(p, o) for node in nodes for p, o, _ in stated[node]}
        self.read_texts(o for _, o in pairs)
        return [o for p, o in pairs if self._holds(p, self._texts[o])]

    def _holds(self, predicate: int, text: str) -> bool:
        return text.startswith("_:") or (predicate in self._strong and text.startswith("<"))

    def read_texts(self, numbers: Iterable[int]) -> Mapping[int, str]:
        """The texts of terms; the answer may have others, too."""
        missing = [number for number in dict.fromkeys(numbers) if number not in self._texts]
        self._texts.update(zip(missing, self.reader.terms.texts(missing) if missing else (), strict=True))
        return self._texts

    def resources(self, numbers: Iterable[int]) -> set[int]:
        """Those of the terms that are resources, and no literals."""
        wanted = {number for number in numbers if number}
        texts = self.read_texts(wanted)
        return {number for number in wanted if not texts[number].startswith('"')}

    def named(self, documents: Iterable[DocumentRecord]) -> set[int]:
        """The resources that are documents."""
        texts = [f"<{origin_of(record.uri)}>" for record in documents]
        return {number for number in self.reader.terms.find(texts) if number}

    def holders(self, nodes: Iterable[int]) -> set[int]:
        """The resources that hold one of these nodes, and these themselves."""
        return holders(nodes, self.reader.triples.backward, self._strong, self._blank)

    def _blank(self, nodes: Sequence[int]) -> list[int]:
        texts = self.read_texts(nodes)
        return [node for node in nodes if texts[node].startswith("_:")]

    # -- as they are told

    def names(self, nodes: Collection[int]) -> list[str]:
        """Nodes as hub and edge spell them."""
        if not nodes:
            return []
        texts = self.read_texts(nodes)
        uris = self._uris_of(document for node in nodes if (document := document_of(texts[node])))
        return [node_of(texts[node], uris) for node in nodes]

    def numbers(self, names: Iterable[str]) -> dict[str, int]:
        """The numbers of nodes by their names; one of which nothing is known is left out."""
        names = list(names)
        if not names:
            return {}
        uris = [name.split(" ", 1)[1] for name in names if name.startswith("_:")]
        ids = {origin_of(record.uri): record.id for record in self.reader.documents.current(uris) if record}
        aliases = [CACHED + uri for uri in uris]
        ids |= {origin_of(record.uri): record.id for record in self.reader.documents.current(aliases) if record}
        texts = {name: text for name in names if (text := _text_of(name, ids))}
        numbers = numbers_of(self.reader, texts.values())
        return {name: numbers[text] for name, text in texts.items() if numbers[text]}

    def descriptions(self, nodes: Collection[int]) -> list[Description]:
        """What is stated of each node, as it is told."""
        missing = [node for node in dict.fromkeys(nodes) if node not in self._told]
        if missing:
            self._told.update(zip(missing, self._described(missing), strict=True))
        return [self._told[node] for node in nodes]

    def _described(self, nodes: Collection[int]) -> list[Description]:
        stated = self.stated(nodes)
        texts = self.read_texts(n for node in nodes for p, o, _ in stated[node] for n in (node, p, o))
        uris = self._uris_of(document for node in nodes for _, _, document in stated[node])
        found, xml = [], self._xml(nodes)
        for node, name in zip(nodes, self.names(nodes), strict=True):
            parts: dict[str, list[str]] = {}
            for p, o, document in stated[node]:
                line = f"{local_name(texts[node])} {texts[p]} {local_name(texts[o])} ."
                parts.setdefault(uris[document], []).append(line)
            told = [Part(uri, "\n".join(sorted(set(lines)))) for uri, lines in sorted(parts.items())]
            found.append(Description(name, told, xml.get(node, "")))
        return found

    def _uris_of(self, documents: Iterable[int]) -> dict[int, str]:
        """The uris of documents; also of one that the viewer may read no longer, whose blank nodes it has to let go."""
        missing = [document for document in dict.fromkeys(documents) if document not in self._uris]
        found = self.reader.uris_of(missing) if missing else {}
        self._uris.update((document, origin_of(uri)) for document, uri in found.items())
        return self._uris

    def _xml(self, nodes: Iterable[int]) -> dict[int, str]:
        """The XML of the nodes that are XML documents."""
        texts = self.read_texts(nodes)
        named = {texts[node][1:-1]: node for node in nodes if texts[node].startswith("<")}
        records = {
            named[origin_of(record.uri)]: record
            for uris in (list(named), [CACHED + uri for uri in named])
            for record in self.reader.documents.current(uris)
            if record is not None and record.present
        }
        kept = self.reader.documents.xml([(record.id, record.version) for record in records.values()])
        return {node: xml.decode() for node, xml in zip(records, kept, strict=True) if xml}


class PastContents(Contents):
    """What was stated after an earlier batch, by documents that the viewer may read now."""

    def __init__(self, reader: Reader, strong: frozenset[str], after: int, until: int) -> None:
        super().__init__(reader, strong)
        self._changed = _versions_before(reader, after, until)
        self._then: dict[int, set[Statement]] = {}
        versions = [(document, version) for document, version in self._changed.items() if version]
        is_much = len(versions) > MOST_CHANGED
        contents = [] if is_much else reader.documents.contents(versions)
        self.is_whole = not is_much and None not in contents
        """False if some version of then is not kept any more, or if it would be too much to read."""
        self.xml_nodes = self._nodes_with_xml(versions)
        """The resources that are documents which have changed, and have or had XML."""
        if not self.is_whole:
            return
        spelled = [
            (document, list(triples_of(document, content or b"")))
            for (document, _), content in zip(versions, contents, strict=True)
        ]
        numbers = numbers_of(reader, (text for _, triples in spelled for triple in triples for text in triple))
        for document, triples in spelled:
            for s, p, o in triples:
                self._then.setdefault(numbers[s], set()).add((numbers[p], numbers[o], document))

    def stated(self, nodes: Iterable[int]) -> Mapping[int, frozenset[Statement]]:
        """See `Contents.stated`."""
        missing = [node for node in dict.fromkeys(nodes) if node not in self._stated]
        super().stated(missing)
        for node in missing:
            stayed = {each for each in self._stated[node] if each[2] not in self._changed}
            self._stated[node] = frozenset(stayed | self._then.get(node, set()))
        return self._stated

    def differs(self, node: int, now: frozenset[Statement]) -> bool:
        """Whether what is stated of a node now was not stated then; an XML document differs with every version."""
        return node in self.xml_nodes or self.stated([node])[node] != now

    def _nodes_with_xml(self, then: Sequence[tuple[int, int]]) -> set[int]:
        """Where the versions of `then` are not all known, every document that has changed may have had XML."""
        documents = self.reader.documents
        records = [record for record in documents.current_of(list(self._changed)) if record is not None]
        if not self.is_whole:
            return self.named(records)
        found = documents.having_xml([*then, *((record.id, record.version) for record in records)])
        with_xml = {document for document, _ in found}
        return self.named(record for record in records if record.id in with_xml)


def origin_of(uri: str) -> str:
    """The uri that a document has at the hub where it was published."""
    return uri.removeprefix(CACHED)


def _text_of(name: str, ids: Mapping[str, int]) -> str:
    """The text that a store has for a node; empty if it does not know its document."""
    if not name.startswith("_:"):
        return name
    label, uri = name.split(" ", 1)
    return f"_:d{ids[uri]}x{label[2:]}" if uri in ids else ""


def _versions_before(reader: Reader, after: int, until: int) -> dict[int, int]:
    """The documents that changed between two batches, with the version that each had before; 0 if it was not there.

    Every version that is kept or not has its number, so the first one of these batches tells the one before.
    """
    first: dict[int, int] = {}
    for version in reader.documents.of_batches(after, until):
        first.setdefault(version.document, version.version)
    seen = {record.id for record in reader.documents.current_of(list(first)) if record is not None}
    return {document: version - 1 for document, version in first.items() if document in seen}
