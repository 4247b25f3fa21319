"""Permissions: who may change documents, and which access lists a batch gives them (P8).

A list is given with a document or later, and stays until another one is given: also while the document is retracted, so
that it does not come back for everybody. Changes of a batch count in their order, and each must be allowed by the list
that those before it have left. Any account may change a document without a list, but not hide it from the others: its
first publisher may give it a list, and the operator of the hub.

What has the uri of an item of a feed that has a list, and no list of its own, is changed by writers of the feed alone:
otherwise others could lay out documents in which the feed's next items would be for everybody.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from triplewire.errors import AccessDenied, DocumentError, UnknownDocument
from triplewire.model import Access, Change, Publish, Restrict, Retract, feeds_of
from triplewire.store import DocumentRecord, Reader

if TYPE_CHECKING:
    from triplewire.engine.batch.revisions import Revision


NOT_THEIRS = "it was first published by another account, or before that was noted: an admin may give it an access list"

OF_A_FEED = "its uri is that of an item of a feed that has an access list: only writers of the feed may change it"


class AccessLists:
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
            asked = {feed for change in changes if change.by is not None for feed in feeds_of(change.uri)}
            self._before |= _lists_of(reader, asked - records.keys())
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
        allowed: set[tuple[str, str | None]] = set()  # of feeds: who sends items with a list need not be in it
        for change in changes:
            listed = now.get(change.uri)
            if listed is not None and not listed.may_write(change.by):
                raise AccessDenied(change.uri, by=change.by)
            above = {feed: now[feed] for feed in feeds_of(change.uri) if now.get(feed)} if listed is None else {}
            changes_item = bool(above) and not (isinstance(change, Retract) and change.uri not in there)
            if changes_item and not all(
                (feed, change.by) in allowed or _may(each, change.by) for feed, each in above.items()
            ):
                raise AccessDenied(change.uri, by=change.by, reason=OF_A_FEED)
            if listed is None and not above and not _may_hide(change, publishers):
                raise AccessDenied(change.uri, by=change.by, reason=NOT_THEIRS)
            if _gives_list(change) or isinstance(change, Restrict):
                allowed = {(feed, by) for feed, by in allowed if feed != change.uri}
            if isinstance(change, Publish):
                allowed.add((change.uri, change.by))
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


def _may(listed: Access | None, by: str | None) -> bool:
    return listed is None or listed.may_write(by)


def _may_hide(change: Change, publishers: Mapping[str, str]) -> bool:
    return not _gives_list(change) or change.by in (None, publishers.get(change.uri))


def _lists_of(reader: Reader, uris: Iterable[str]) -> dict[str, Access]:
    ids = {record.id: record.uri for record in reader.documents.current(list(uris)) if record is not None}
    return {ids[number]: access for number, access in reader.access.of(ids).items()}


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
    """The first publishers of the documents that are to get a list from an account, not from the operator."""
    asked = {change.uri for change in changes if change.by is not None and _gives_list(change)}
    ids = {record.id: uri for uri in asked if (record := records[uri]) is not None}
    return {ids[number]: account for number, account in reader.access.publishers(ids).items()}


def refuse_unpermitted(
    reader: Reader, uri: str, by: str | None, *, gives_list: bool = False, publishes: bool = False
) -> None:
    """AccessDenied if an account may not change a document; UnknownDocument if it is not even there for it.

    An account that `gives_list` to a document without one must have published it first, or be a writer of the feed that
    it is an item of. If it `publishes` one that is not there, it must be that, too, if the feed has a list.
    """
    (record,) = reader.documents.current([uri])
    if by is None or (record is None and not publishes):
        return
    listed = None if record is None else reader.access.of([record.id]).get(record.id)
    above = _lists_of(reader, feeds_of(uri)) if listed is None and reader.access.has_lists else {}
    if (publishes or (record is not None and record.present)) and not all(_may(each, by) for each in above.values()):
        raise AccessDenied(uri, by=by, reason=OF_A_FEED)
    if record is None or above:
        return
    if listed is None and gives_list and reader.access.publishers([record.id]).get(record.id) != by:
        raise AccessDenied(uri, by=by, reason=NOT_THEIRS)
    if listed is None or listed.may_write(by):
        return
    raise AccessDenied(uri, by=by) if listed.may_read(by) else UnknownDocument(uri)
