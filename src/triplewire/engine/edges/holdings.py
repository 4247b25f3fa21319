"""What an edge's store holds: cached documents, which have no access list, and private ones, which always have one.

So everybody who has no account of the edge, another edge above all, sees the cache alone. This is kept here, for every
process that writes to such a store, whether it knows of the edge or not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from triplewire.engine.edges.contents import CACHED
from triplewire.errors import DocumentError, NetworkError
from triplewire.model import Access, Change, Publish, Retract
from triplewire.model.access import EVERY_ACCOUNT
from triplewire.store import Reader, Writer

EDGE = "edge"
"""The setting that the store of an edge has."""

PRIVATE = Access(writers=[EVERY_ACCOUNT])
"""The list of a private document that was given none: for all who have an account here, and for no other hub."""

_OF_THE_HUB = "it is the hub's, which this edge follows; change it there"


def is_edge(reader: Reader) -> bool:
    """Whether this is the store of an edge."""
    return reader.settings.get(EDGE) is not None


def refuse_at_edge(reader: Reader, what: str) -> None:
    """NetworkError for what an edge has from its hub."""
    if is_edge(reader):
        raise NetworkError(f"the {what} of an edge cannot be set: {_OF_THE_HUB}")


def admitted(writer: Writer, changes: Sequence[Change]) -> Sequence[Change]:
    """The changes, at an edge with a list for each document that is to be private; cached ones are not changed."""
    if not is_edge(writer):
        return changes
    uris = list(dict.fromkeys(change.uri for change in changes))
    records = [record for record in writer.documents.current(uris) if record is not None]
    listed = writer.access.of(record.id for record in records)
    cached = {record.uri for record in records if record.present and record.id not in listed}
    known = {record.uri for record in records if record.id in listed}
    found: list[Change] = []
    for change in changes:
        if change.uri in cached or change.uri.startswith(CACHED):
            raise DocumentError(_OF_THE_HUB, uri=change.uri)
        found.append(_listed(change, has_list=change.uri in known))
        known.add(change.uri)
    return found


def _listed(change: Change, *, has_list: bool) -> Change:
    """A change of a private document, which keeps its list, or gets one."""
    if isinstance(change, Retract) or change.access is not None or (isinstance(change, Publish) and has_list):
        return change
    return replace(change, access=PRIVATE)
