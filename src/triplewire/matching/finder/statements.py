"""Reading: what of documents can stand in an answer of any query."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from triplewire.matching.incremental.numbering import Numbering
from triplewire.matching.index import Index
from triplewire.model import Document
from triplewire.model.spelling import scoped

Spelled = tuple[str, str, str]


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
