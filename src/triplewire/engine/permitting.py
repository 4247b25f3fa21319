"""Permitting: who may change documents, and which access lists a batch gives them (P8).

A list is given with a document or later, and stays until another one is given: also while the document is retracted, so
that it does not come back for everybody. Changes of a batch count in their order, and each must be allowed by the list
that those before it have left. A document without a list is anybody's to change, but not to hide from the others: who
published it first may give it a list, and who runs the hub.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from triplewire.errors import AccessDenied, DocumentError, UnknownDocument
from triplewire.model import Access, Change, Publish, Restrict, Retract
from triplewire.store import DocumentRecord, Reader

if TYPE_CHECKING:
    from triplewire.engine.revisions import Revision


NOT_THEIRS = "it was first published by somebody else, or before that was noted: an admin may give it an access list"


class Lists:
    """The access lists of the documents of a batch, before and after it; AccessDenied if it asks for too much."""

    def __init__(self, reader: Reader, changes: Sequence[Change], records: Mapping[str, DocumentRecord | None]) -> None:
        self._before: dict[str, Access] = {}
        self.changed: dict[str, Access | None] = {}
        """The documents that get another list, or none."""
        self.publishers = _first_publishers(changes, records)
        """Who publishes the documents that are new."""
        if reader.access.has_lists:
            ids = {record.id: uri for uri, record in records.items() if record is not None}
            self._before = {ids[number]: access for number, access in reader.access.of(ids).items()}
        elif not any(isinstance(change, Restrict) or getattr(change, "access", None) for change in changes):
            return
        self._follow(changes, records, _publishers(reader, changes, records) | self.publishers)

    def _follow(
        self,
        changes: Sequence[Change],
        records: Mapping[str, DocumentRecord | None],
        publishers: Mapping[str, str],
    ) -> None:
        now: dict[str, Access | None] = dict(self._before)
        there = {uri for uri, record in records.items() if record is not None and record.present}
        for change in changes:
            listed = now.get(change.uri)
            if listed is not None and not listed.may_write(change.by):
                raise AccessDenied(change.uri, by=change.by)
            if listed is None and _gives_list(change) and change.by not in (None, publishers.get(change.uri)):
                raise AccessDenied(change.uri, by=change.by, reason=NOT_THEIRS)
            if isinstance(change, Publish):
                there.add(change.uri)
                now[change.uri] = change.access or listed
            elif isinstance(change, Restrict):
                if change.uri not in there and records[change.uri] is None:
                    raise DocumentError("it is not there, so it has no access list; publish it first", uri=change.uri)
                now[change.uri] = change.access
        self.changed = {uri: access for uri, access in now.items() if access != self._before.get(uri)}

    def note(self, revisions: Sequence[Revision]) -> None:
        """Tell each revision its lists, and who published it first if it is new."""
        if self.publishers:
            for revision in revisions:
                revision.publisher = self.publishers.get(revision.uri)
        if self._before or self.changed:
            for revision in revisions:
                revision.list_before = self._before.get(revision.uri)
                revision.list_after = self.changed.get(revision.uri, revision.list_before)


def _gives_list(change: Change) -> bool:
    return not isinstance(change, Retract) and change.access is not None


def _first_publishers(changes: Sequence[Change], records: Mapping[str, DocumentRecord | None]) -> dict[str, str]:
    """Who publishes each document that was never there before; not who runs the hub, who needs no permission."""
    first: dict[str, str | None] = {}
    for change in changes:
        if isinstance(change, Publish) and records[change.uri] is None:
            first.setdefault(change.uri, change.by)
    return {uri: by for uri, by in first.items() if by is not None}


def _publishers(
    reader: Reader, changes: Sequence[Change], records: Mapping[str, DocumentRecord | None]
) -> dict[str, str]:
    """Who published those documents first that shall get a list from somebody who does not run the hub."""
    asked = {change.uri for change in changes if change.by is not None and _gives_list(change)}
    ids = {record.id: uri for uri in asked if (record := records[uri]) is not None}
    return {ids[number]: account for number, account in reader.access.publishers(ids).items()}


def refuse_unpermitted(reader: Reader, uri: str, by: str | None, *, gives_list: bool = False) -> None:
    """AccessDenied if somebody may not change a document; UnknownDocument if it is not even there for them.

    Who `gives_list` to a document that has none must have published it first.
    """
    (record,) = reader.documents.current([uri])
    if record is None or by is None:
        return
    listed = reader.access.of([record.id]).get(record.id)
    if listed is None and gives_list and reader.access.publishers([record.id]).get(record.id) != by:
        raise AccessDenied(uri, by=by, reason=NOT_THEIRS)
    if listed is None or listed.may_write(by):
        return
    raise AccessDenied(uri, by=by) if listed.may_read(by) else UnknownDocument(uri)
