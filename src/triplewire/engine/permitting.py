"""Permitting: who may change documents, and which access lists a batch gives them (P8).

A list is given with a document or later, and stays until another one is given: also while the document is retracted, so
that it does not come back for everybody. Changes of a batch count in their order, and each must be allowed by the list
that those before it have left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from triplewire.errors import AccessDenied, DocumentError, UnknownDocument
from triplewire.model import Access, Change, Publish, Restrict
from triplewire.store import DocumentRecord, Reader

if TYPE_CHECKING:
    from triplewire.engine.revisions import Revision


class Lists:
    """The access lists of the documents of a batch, before and after it; AccessDenied if it asks for too much."""

    def __init__(self, reader: Reader, changes: Sequence[Change], records: Mapping[str, DocumentRecord | None]) -> None:
        self._before: dict[str, Access] = {}
        self.changed: dict[str, Access | None] = {}
        """The documents that get another list, or none."""
        if reader.access.has_lists:
            ids = {record.id: uri for uri, record in records.items() if record is not None}
            self._before = {ids[number]: access for number, access in reader.access.of(ids).items()}
        elif not any(isinstance(change, Restrict) or getattr(change, "access", None) for change in changes):
            return
        self._follow(changes, records)

    def _follow(self, changes: Sequence[Change], records: Mapping[str, DocumentRecord | None]) -> None:
        now: dict[str, Access | None] = dict(self._before)
        there = {uri for uri, record in records.items() if record is not None and record.present}
        for change in changes:
            listed = now.get(change.uri)
            if listed is not None and not listed.may_write(change.by):
                raise AccessDenied(change.uri, by=change.by)
            if isinstance(change, Publish):
                there.add(change.uri)
                now[change.uri] = change.access or listed
            elif isinstance(change, Restrict):
                if change.uri not in there and records[change.uri] is None:
                    raise DocumentError("it is not there, so it has no access list; publish it first", uri=change.uri)
                now[change.uri] = change.access
        self.changed = {uri: access for uri, access in now.items() if access != self._before.get(uri)}

    def note(self, revisions: Sequence[Revision]) -> None:
        """Tell each revision its lists."""
        if self._before or self.changed:
            for revision in revisions:
                revision.list_before = self._before.get(revision.uri)
                revision.list_after = self.changed.get(revision.uri, revision.list_before)


def refuse_unpermitted(reader: Reader, uri: str, by: str | None) -> None:
    """AccessDenied if somebody may not change a document; UnknownDocument if it is not even there for them."""
    (record,) = reader.documents.current([uri])
    listed = None if record is None else reader.access.of([record.id]).get(record.id)
    if listed is None or listed.may_write(by):
        return
    raise AccessDenied(uri, by=by) if listed.may_read(by) else UnknownDocument(uri)
