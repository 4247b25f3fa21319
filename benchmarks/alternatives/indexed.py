"""Ours: the index, one document at a time or in batches."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial

from benchmarks.alternatives.alternative import Alternative, Timed
from benchmarks.workloads import Workload
from triplewire import Index, parse
from triplewire.matching import Matches
from triplewire.model import Document


def build(workload: Workload, progress: Callable[[int], None] = lambda done: None) -> Index:
    """The index of a workload's subscriptions; a subscription's id is its number."""
    index = Index(workload.taxonomy)
    for i in range(workload.subscriptions):
        index.add(str(i), workload.pattern(i))
        if not i % 1000:
            progress(i)
    return index


class Indexed(Alternative):
    """Matching alone: the matches are found, and told when they are asked for."""

    name = "triplewire"

    def __init__(self, index: Index) -> None:
        self._index = index

    def ready(self, batch: Sequence[Document]) -> Timed:
        if len(batch) == 1:
            return partial(self._index.match, batch[0])
        return partial(self._index.match_many, batch)

    def answers(self, document: Document, asked: Collection[int]) -> set[int]:
        return {int(id) for id in self._index.match(document).subscriptions} & set(asked)

    @property
    def nbytes(self) -> int:
        """How large the index is."""
        return self._index.nbytes

    def matches(self, document: Document) -> set[int]:
        """All subscriptions that match."""
        return {int(id) for id in self._index.match(document).subscriptions}


class IndexedNames(Indexed):
    """Matching, and every subscription that matches named."""

    name = "triplewire-names"

    def ready(self, batch: Sequence[Document]) -> Timed:
        if len(batch) == 1:
            return lambda: self._index.match(batch[0]).subscriptions
        return lambda: [found.subscriptions for found in self._index.match_many(batch)]


class IndexedRows(Indexed):
    """Matching, and every row made a dictionary of terms."""

    name = "triplewire-rows"

    def ready(self, batch: Sequence[Document]) -> Timed:
        if len(batch) == 1:
            return lambda: _told([self._index.match(batch[0])])
        return lambda: _told(self._index.match_many(batch))

    def answers(self, document: Document, asked: Collection[int]) -> set[int]:
        return {int(match.subscription) for match in self._index.match(document) if match.rows} & set(asked)


class BytesToRows(IndexedRows):
    """All of the way: N-Triples as they come are parsed, matched, and every row made a dictionary of terms."""

    name = "triplewire-bytes"

    def ready(self, batch: Sequence[Document]) -> Timed:
        texts = [(document.ntriples, document.uri) for document in batch]
        if len(batch) == 1:
            return lambda: _told([self._index.match(_parsed(*texts[0]))])
        return lambda: _told(self._index.match_many([_parsed(*text) for text in texts]))


def _parsed(text: bytes, uri: str) -> Document:
    return parse(text, uri=uri, media_type="application/n-triples")


def _told(found: list[Matches]) -> list[object]:
    return [match.rows for matches in found for match in matches]
