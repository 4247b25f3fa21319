"""Changes of documents: what each states since a batch that it did not state then, and what it states no longer (M7).

Most of what a changed document states, it stated before, so only these lines are looked at. A hub that has applied the
batch itself has them in mind (`own`); of all others they are read, by comparing the versions of then and now.

Invariant: what is in mind of a batch is what is read of it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping

from triplewire.engine.edges.contents import Contents, Statement
from triplewire.engine.edges.own import OwnBatch
from triplewire.engine.inspect.graphs import numbers_of
from triplewire.store import Reader, scoped, triples_of

MOST_CHANGED = 20_000
"""So many documents are read in their versions of then; beyond, everything that was touched is told."""

_Lines = dict[str, list[tuple[int, str]]]
"""Lines by subject, each with its document."""
_Statements = dict[int, set[Statement]]
"""Statements by subject."""


class DocumentChanges(ABC):
    """The documents that changed, of those that the viewer may read, and how."""

    uris: Mapping[int, str]
    """Of the changed documents."""
    with_xml: Collection[str]
    """The uris of those that have XML, or had."""
    is_whole: bool
    """False if some version of then is not kept any more, or if it would be too much to read."""

    @abstractmethod
    def touched(self, nodes: Iterable[int]) -> list[int]:
        """Those of the nodes of which something else is stated now than then."""

    @abstractmethod
    def added(self, nodes: Collection[int]) -> _Statements:
        """What is stated of some of the nodes now, and was not then: what makes them hold something, at least."""

    @abstractmethod
    def removed(self, nodes: Collection[int]) -> _Statements:
        """What was stated of some of the nodes then, and is not now: what made them hold something, at least."""


class KnownChanges(DocumentChanges):
    """Changes by one batch that this hub has applied."""

    is_whole = True

    def __init__(self, now: Contents, batch: OwnBatch) -> None:
        self._now = now
        self.uris = {each.id: each.uri for each in batch.documents}
        self.with_xml = [each.uri for each in batch.documents if each.has_xml]
        self._added: _Statements = {}
        self._removed: _Statements = {}
        for each in batch.documents:
            for found, triples in ((self._added, each.added), (self._removed, each.removed)):
                for subject, predicate, value in triples:
                    found.setdefault(subject, set()).add((predicate, value, each.id))

    def touched(self, nodes: Iterable[int]) -> list[int]:
        added, removed = self._added, self._removed
        return [node for node in nodes if node in added or node in removed]

    def added(self, nodes: Collection[int]) -> _Statements:
        return self._holding(nodes, self._added)

    def removed(self, nodes: Collection[int]) -> _Statements:
        return self._holding(nodes, self._removed)

    def _holding(self, nodes: Collection[int], changed: _Statements) -> _Statements:
        wanted = {node: changed[node] for node in nodes if node in changed}
        texts = self._now.read_texts(value for own in wanted.values() for _, value, _ in own)
        holding = {
            node: {each for each in own if self._now.is_held(each[0], texts[each[1]])} for node, own in wanted.items()
        }
        return {node: own for node, own in holding.items() if own}


class ReadChanges(DocumentChanges):
    """Changes between two batches, as the store has them."""

    def __init__(self, now: Contents, after: int, until: int) -> None:
        self._now = now
        documents, before = now.reader.documents, _versions_before(now.reader, after, until)
        records = [each for each in documents.current_of(list(before)) if each is not None]
        self.uris = {record.id: record.uri for record in records}
        then = {record.id: before[record.id] for record in records if before[record.id]}
        versions = {record.id: record.version for record in records}
        self._added: _Lines = {}
        self._removed: _Lines = {}
        self.is_whole = len(then) <= MOST_CHANGED and self._compare(then, versions)
        with_xml = {id for id, _ in documents.having_xml([*then.items(), *versions.items()])} if self.is_whole else ()
        # where the versions of then are not all known, every document that has changed may have had XML
        self.with_xml = [uri for id, uri in self.uris.items() if not self.is_whole or id in with_xml]

    def _compare(self, then: Mapping[int, int], now: Mapping[int, int]) -> bool:
        """Find the lines that were added and removed; False if a version of then is not kept any more."""
        documents = self._now.reader.documents
        contents = documents.contents([*then.items(), *now.items()])
        empty = [version for version, content in zip(then.items(), contents, strict=False) if content is None]
        if empty and len(documents.kept(empty)) < len(empty):  # a retraction is empty, and known
            return False
        old, new = dict(zip(then, contents, strict=False)), dict(zip(now, contents[len(then) :], strict=True))
        for document in now:
            was, is_there = _lines(old.get(document)), _lines(new[document])
            _note(self._added, document, is_there - was)
            _note(self._removed, document, was - is_there)
        return True

    def touched(self, nodes: Iterable[int]) -> list[int]:
        nodes = list(nodes)
        texts, added, removed = self._now.read_texts(nodes), self._added, self._removed
        return [node for node in nodes if texts[node] in added or texts[node] in removed]

    def added(self, nodes: Collection[int]) -> _Statements:
        return self._holding(nodes, self._added)

    def removed(self, nodes: Collection[int]) -> _Statements:
        return self._holding(nodes, self._removed)

    def _holding(self, nodes: Collection[int], lines: _Lines) -> _Statements:
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
        found: _Statements = {}
        for node, document, predicate, value in spelled:
            if numbers[value]:
                found.setdefault(node, set()).add((numbers[predicate], numbers[value], document))
        return found


def _versions_before(reader: Reader, after: int, until: int) -> dict[int, int]:
    """The documents that changed between two batches, with the version that each had before; 0 if it was not there.

    Every version that is kept or not has its number, so the first one of these batches tells the one before.
    """
    first = reader.documents.first_of_batches(after, until)
    return {document: version - 1 for document, version in first.items()}


def _lines(content: bytes | None) -> set[str]:
    return set((content or b"").decode().split("\n")) - {""}


def _note(lines: _Lines, document: int, found: Iterable[str]) -> None:
    for line in found:
        lines.setdefault(scoped(document, line.partition(" ")[0]), []).append((document, line))
