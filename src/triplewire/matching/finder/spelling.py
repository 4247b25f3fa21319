"""Spelling: what of documents can stand in an answer of any query; and rows spelled out, with documents behind them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from triplewire.matching.finder.finder import Rows, SpelledGraph
from triplewire.matching.findings import Spelled
from triplewire.matching.incremental import Triple
from triplewire.matching.incremental.flat import Numbering
from triplewire.matching.index import Index
from triplewire.model import Document
from triplewire.model.spelling import scoped

MOST_DOCUMENTS = 100
"""How many documents are told for a row, if that leaves one for each triple: some triples are in every document."""


class StatedGraph(SpelledGraph, Protocol):
    """Triples that documents state."""

    def documents(self, triples: Sequence[Triple], most: int) -> list[list[int]]:
        """The numbers of documents that state each of these triples, at most so many; their uris are texts."""


class SpelledRow(NamedTuple):
    """A row of a query, in the order of its answer, and the uris of documents that state the triples which make it.

    None stands for a column without a value.
    """

    query: int
    row: tuple[str | None, ...]
    documents: tuple[str, ...]


def spelled_rows(rows: Rows, graph: StatedGraph) -> Iterator[SpelledRow]:
    """The rows, spelled out."""
    stated = _stated({triple for derivation in rows.values() for triple in derivation}, graph)
    numbers = list({number for _, row in rows for number in row if number})
    texts: dict[int, str | None] = dict(zip(numbers, graph.spelled(numbers), strict=True))
    texts[0] = None
    for (query, row), derivation in rows.items():
        most = max(1, MOST_DOCUMENTS // len(derivation))
        documents = {uri for triple in derivation for uri in stated[triple][:most]}
        yield SpelledRow(query, tuple([texts[number] for number in row]), tuple(sorted(documents)))


def _stated(triples: Collection[Triple], graph: StatedGraph) -> dict[Triple, list[str]]:
    asked = list(triples)
    lists = graph.documents(asked, MOST_DOCUMENTS)
    numbers = list({number for one in lists for number in one})
    uris = dict(zip(numbers, graph.spelled(numbers), strict=True))
    return {triple: [uris[number] for number in one] for triple, one in zip(asked, lists, strict=True)}


def kept_of(documents: Sequence[Document], fitting: Index, numbering: Numbering) -> list[Mapping[Spelled, list[int]]]:
    """For each document, its triples that are of some kind (`Queries.fitting`), with their kinds.

    Blank nodes have the names that tell them apart among all documents.
    """
    kept: list[Mapping[Spelled, list[int]]] = []
    for document, found in zip(documents, fitting.fitting_in(documents), strict=True):
        kinds: defaultdict[Spelled, list[int]] = defaultdict(list)
        for kind, triple in found:
            kinds[triple].append(int(kind))
        kept.append(_scoped(kinds, numbering.number(document.uri)) if b"_:" in document.ntriples else kinds)
    return kept


def _scoped(kinds: Mapping[Spelled, list[int]], document: int) -> dict[Spelled, list[int]]:
    return {(scoped(document, s), p, scoped(document, o)): own for (s, p, o), own in kinds.items()}
