"""Own batches: what the last ones did that this hub applied itself, kept in mind until its edges have asked (M6).

An edge that keeps up asks right after a batch. What this hub would read then, it has just written. Only the last few
batches are kept, small ones, and only where edges ask; of all others it is read.

Invariant: a batch is in mind only if it is committed, and is known by what no other one has.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import NamedTuple

from triplewire.engine.batch.application import Applied
from triplewire.engine.batch.revisions import Revision
from triplewire.store import Triple

_KEPT = 4
Told = tuple[int, int, tuple[int, ...]]
"""A query, the kind of an event, and the row, as the log has them."""

_MOST_DOCUMENTS, _MOST_TOLD = 1_000, 20_000
"""A batch that changes more documents, or triples, or tells more rows, is not kept."""


class OwnDocument(NamedTuple):
    """A document that a batch has changed, and the triples by which its versions differ."""

    id: int
    uri: str
    added: Sequence[Triple]
    removed: Sequence[Triple]
    has_xml: bool
    """Also if it had some before."""


class OwnBatch(NamedTuple):
    """What one batch did to documents, and which rows it told of."""

    name: str
    generation: int
    """Numbers of terms are those of this generation of the store."""
    documents: Sequence[OwnDocument]
    told: Sequence[Told]


class OwnBatches:
    """The last batches of this hub."""

    def __init__(self) -> None:
        self._kept: OrderedDict[int, OwnBatch] = OrderedDict()

    def note(self, name: str, generation: int, revisions: Sequence[Revision], applied: Applied) -> None:
        """A batch was committed."""
        if _is_small(revisions, applied):
            self._kept[applied.number] = OwnBatch(name, generation, _documents(revisions), _told(applied))
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)

    def find(self, number: int, name: str, generation: int) -> OwnBatch | None:
        """A batch, if it is in mind."""
        found = self._kept.get(number)
        return found if found is not None and (found.name, found.generation) == (name, generation) else None


def _is_small(revisions: Sequence[Revision], applied: Applied) -> bool:
    if len(revisions) > _MOST_DOCUMENTS:
        return False
    triples = sum(len(each.added) + len(each.removed) for each in revisions)
    return triples + sum(len(event.queries) for _, event in applied.events) <= _MOST_TOLD


def _documents(revisions: Sequence[Revision]) -> list[OwnDocument]:
    published = [each for each in revisions if each.is_published]
    return [
        OwnDocument(each.id, each.uri, each.added, each.removed, bool(each.old_xml or each.new_xml))
        for each in published
    ]


def _told(applied: Applied) -> list[Told]:
    return [(query, event.kind, event.terms) for _, event in applied.events for query in event.queries]
