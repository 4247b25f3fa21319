"""Search: stored documents that match a query now, the newest first, and no more than are wanted (N3).

The brokering paper's second kind of matching (section 5.3): one query against many stored events. Documents are taken
some at a time from the newest on, and the search stops as soon as it has enough of them.
"""

from __future__ import annotations

from dataclasses import replace

from triplewire.algebra.pattern import Pattern
from triplewire.algebra.taxonomy import Taxonomy
from triplewire.engine.batch.differences import stored_documents
from triplewire.matching import Index
from triplewire.model import Document
from triplewire.store import Reader

_ASKED = "asked"
_AT_ONCE = 200


def find(reader: Reader, taxonomy: Taxonomy, pattern: Pattern, limit: int) -> list[Document]:
    """The newest documents that match a pattern; MatchLimitExceeded if one would take too long to tell."""
    index = Index(taxonomy)
    index.add(_ASKED, pattern)
    found: list[Document] = []
    before: tuple[int, int] | None = None
    while len(found) < limit and (records := reader.documents.newest(_AT_ONCE, before=before)):
        documents = stored_documents(reader, records)
        for record, matches in zip(records, index.match_many([documents[r.id] for r in records]), strict=True):
            for error in matches.errors.values():
                raise error
            if matches and len(found) < limit:
                found.append(replace(matches.document, uri=record.uri))
        before = records[-1].published, records[-1].id
    return found
