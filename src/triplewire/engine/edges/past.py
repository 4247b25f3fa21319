"""The past: what resources held after an earlier batch, told from what has changed since (M7).

Most of what a changed document states, it stated before. So only the lines that it did not state then, or does not
state now, are looked at; everything else is what `Contents` has for now, and is looked up once for both.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from triplewire.algebra.content import climb
from triplewire.engine.edges.contents import Contents, Statement
from triplewire.engine.inspect.graphs import numbers_of
from triplewire.store import DocumentRecord, Reader, scoped, triples_of

MOST_CHANGED = 20_000
"""So many documents are read in their versions of then; beyond, everything that was touched is told."""

_Lines = dict[str, list[tuple[int, str]]]
"""Lines by subject, each with its document."""


class PastContents:
    """What resources held after an earlier batch, by documents that the viewer may read now."""

    def __init__(self, now: Contents, after: int, until: int) -> None:
        self._now = now
        changed = _ChangedDocuments(now.reader, after, until)
        now.know_documents(changed.records)
        self.is_whole = changed.is_whole
        """False if some version of then is not kept any more, or if it would be too much to read."""
        self.xml_nodes = frozenset(now.named(changed.with_xml))
        """The resources that are documents which have changed, and have or had XML."""
        self._added, self._removed = changed.added, changed.removed
        self._children: dict[int, tuple[int, ...]] = {}

    def differing(self, nodes: Collection[int]) -> frozenset[int]:
        """The nodes of which something else is stated now than then; an XML document differs with every version."""
        return self.xml_nodes.intersection(nodes).union(self._touched(nodes))

    def _touched(self, nodes: Collection[int]) -> list[int]:
        texts, added, removed = self._now.read_texts(nodes), self._added, self._removed
        return [node for node in nodes if texts[node] in added or texts[node] in removed]

    def closure(self, roots: Iterable[int]) -> set[int]:
        """See `Contents.closure`."""
        return climb(roots, self._held)

    def _held(self, nodes: Sequence[int]) -> list[int]:
        missing = [node for node in nodes if node not in self._children]
        if missing:
            now = self._now.children(missing)
            self._children.update((node, now[node]) for node in missing)
            self._children.update(self._children_then(self._touched(missing)))
        return [child for node in nodes for child in self._children[node]]

    def _children_then(self, nodes: Sequence[int]) -> dict[int, tuple[int, ...]]:
        """What each node held of which something else is stated now."""
        added, removed = (self._holding(nodes, lines) for lines in (self._added, self._removed))
        stated = self._now.stated(node for node in nodes if node in added or node in removed)
        found = {}
        for node in added.keys() | removed.keys():
            then = (stated[node] - added.get(node, set())) | removed.get(node, set())
            texts = self._now.read_texts(o for _, o, _ in then)
            found[node] = tuple(sorted({o for p, o, _ in then if self._now.is_held(p, texts[o])}))
        return found

    def _holding(self, nodes: Sequence[int], lines: _Lines) -> dict[int, set[Statement]]:
        """Those of the lines by which a node may hold something: no other is worth looking up its terms."""
        texts = self._now.read_texts(nodes)
        spelled = [
            (node, document, predicate, value)
            for node in nodes
            for document, line in lines.get(texts[node], ())
            for _, predicate, value in triples_of(document, line.encode())
            if not value.startswith('"')
        ]
        numbers = numbers_of(self._now.reader, (text for _, _, *pair in spelled for text in pair)) if spelled else {}
        found: dict[int, set[Statement]] = {}
        for node, document, predicate, value in spelled:
            if numbers[value]:
                found.setdefault(node, set()).add((numbers[predicate], numbers[value], document))
        return found


class _ChangedDocuments:
    """The documents that changed between two batches and that the viewer may read, and how."""

    def __init__(self, reader: Reader, after: int, until: int) -> None:
        self._reader = reader
        before = _versions_before(reader, after, until)
        self.records = records = [each for each in reader.documents.current_of(list(before)) if each is not None]
        then = [(record.id, before[record.id]) for record in records if before[record.id]]
        now = [(record.id, record.version) for record in records]
        self.added: _Lines = {}
        self.removed: _Lines = {}
        self.is_whole = len(then) <= MOST_CHANGED and self._compare(records, then, now)
        self.with_xml = self._with_xml(records, [*then, *now])

    def _compare(
        self, records: Sequence[DocumentRecord], then: Sequence[tuple[int, int]], now: Sequence[tuple[int, int]]
    ) -> bool:
        """Find the lines that were added and removed; False if a version of then is not kept any more."""
        contents = self._reader.documents.contents([*then, *now])
        if None in contents[: len(then)]:
            return False
        old = {document: content for (document, _), content in zip(then, contents, strict=False)}
        new = {document: content for (document, _), content in zip(now, contents[len(then) :], strict=True)}
        for record in records:
            was, is_there = _lines(old.get(record.id)), _lines(new[record.id])
            _note(self.added, record.id, is_there - was)
            _note(self.removed, record.id, was - is_there)
        return True

    def _with_xml(
        self, records: Sequence[DocumentRecord], versions: Sequence[tuple[int, int]]
    ) -> Sequence[DocumentRecord]:
        """Where the versions of then are not all known, every document that has changed may have had XML."""
        if not self.is_whole:
            return records
        with_xml = {document for document, _ in self._reader.documents.having_xml(versions)}
        return [record for record in records if record.id in with_xml]


def _versions_before(reader: Reader, after: int, until: int) -> dict[int, int]:
    """The documents that changed between two batches, with the version that each had before; 0 if it was not there.

    Every version that is kept or not has its number, so the first one of these batches tells the one before.
    """
    first: dict[int, int] = {}
    for version in reader.documents.of_batches(after, until):
        first.setdefault(version.document, version.version - 1)
    return first


def _lines(content: bytes | None) -> set[str]:
    return set((content or b"").decode().split("\n")) - {""}


def _note(lines: _Lines, document: int, found: Iterable[str]) -> None:
    for line in found:
        lines.setdefault(scoped(document, line.partition(" ")[0]), []).append((document, line))
