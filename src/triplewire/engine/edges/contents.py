"""Contents as numbers: what is stated of resources and what they hold, in a state of the store (M7).

`algebra.content` defines it; here it is followed for many resources at once, each looked up once, and with the
documents that state it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from triplewire.algebra.content import climb, holders
from triplewire.engine.inspect.graphs import numbers_of
from triplewire.store import Reader
from triplewire.wire.edges import Description, Part, document_of, local_name, node_of

CACHED = "urn:triplewire:cached:"
"""How the uri of a document begins that an edge keeps beside a private one of the same uri."""

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
        self._children: dict[int, tuple[int, ...]] = {}
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
        children = self.children(nodes)
        return [child for node in nodes for child in children[node]]

    def children(self, nodes: Iterable[int]) -> Mapping[int, tuple[int, ...]]:
        """What each node holds itself; the answer may have others, too."""
        missing = [node for node in nodes if node not in self._children]
        if missing:
            stated = self.stated(missing)
            texts = self.read_texts(o for node in missing for _, o, _ in stated[node])
            for node in missing:
                held = {o for p, o, _ in stated[node] if self.is_held(p, texts[o])}
                self._children[node] = tuple(sorted(held))
        return self._children

    def is_held(self, predicate: int, text: str) -> bool:
        """Whether a subject holds the value of a predicate."""
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

    def know_documents(self, uris: Mapping[int, str]) -> None:
        """Take over the uris of documents that are known already."""
        self._uris.update((document, origin_of(uri)) for document, uri in uris.items())

    def named(self, uris: Iterable[str]) -> set[int]:
        """The resources that are documents with these uris."""
        texts = [f"<{origin_of(uri)}>" for uri in uris]
        return {number for number in self.reader.terms.find(texts) if number} if texts else set()

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
            subject = local_name(texts[node]) if stated[node] else ""
            parts: dict[str, set[str]] = {}
            for p, o, document in stated[node]:
                parts.setdefault(uris[document], set()).add(f"{subject} {texts[p]} {local_name(texts[o])} .")
            told = [Part(uri, "\n".join(sorted(lines))) for uri, lines in sorted(parts.items())]
            found.append(Description(name, told, xml.get(node, "")))
        return found

    def _uris_of(self, documents: Iterable[int]) -> dict[int, str]:
        """The uris of documents; also of one that the viewer may read no longer, whose blank nodes it has to let go."""
        missing = [document for document in dict.fromkeys(documents) if document not in self._uris]
        found = self.reader.uris_of(missing) if missing else {}
        self._uris.update((document, origin_of(uri)) for document, uri in found.items())
        return self._uris

    def xml_alone(self, nodes: Iterable[str]) -> list[Description]:
        """The documents among nodes without a number: no triple names them, and yet they may have XML."""
        xml = self._xml_by_uri([node[1:-1] for node in nodes if node.startswith("<")])
        return [Description(f"<{uri}>", [], text) for uri, text in xml.items()]

    def _xml(self, nodes: Iterable[int]) -> dict[int, str]:
        """The XML of the nodes that are XML documents."""
        texts = self.read_texts(nodes)
        named = {texts[node][1:-1]: node for node in nodes if texts[node].startswith("<")}
        return {named[uri]: xml for uri, xml in self._xml_by_uri(named).items()}

    def _xml_by_uri(self, uris: Collection[str]) -> dict[str, str]:
        known = self.reader.documents.current([*uris, *(CACHED + uri for uri in uris)])
        records = {origin_of(record.uri): record for record in known if record is not None and record.present}
        if not records:
            return {}
        kept = self.reader.documents.xml([(record.id, record.version) for record in records.values()])
        return {uri: xml.decode() for uri, xml in zip(records, kept, strict=True) if xml}


def origin_of(uri: str) -> str:
    """The uri that a document has at the hub where it was published."""
    return uri.removeprefix(CACHED)


def _text_of(name: str, ids: Mapping[str, int]) -> str:
    """The text that a store has for a node; empty if it does not know its document."""
    if not name.startswith("_:"):
        return name
    label, uri = name.split(" ", 1)
    return f"_:d{ids[uri]}x{label[2:]}" if uri in ids else ""
