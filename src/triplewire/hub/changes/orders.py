"""Orders: the changes that clients ask for, what they may ask, and what they are told of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from triplewire.engine import Hub
from triplewire.engine.batch.permissions import refuse_unpermitted
from triplewire.errors import (
    AccessDenied,
    DocumentError,
    SubscriptionError,
    UnknownDocument,
    VersionConflict,
)
from triplewire.model import Access, Change, Document, Event, Publish, Restrict, Retract
from triplewire.model.access import at_home
from triplewire.model.reach import NetworkReach
from triplewire.store import EVERYBODY, DocumentRecord, Reader, SubscriptionRecord


@dataclass(frozen=True, slots=True)
class Expected:
    """What a client expects a document to be: one of these digests (`*`: any), or none of those."""

    is_one_of: Sequence[str] | None = None
    is_none_of: Sequence[str] | None = None

    def check(self, uri: str, digest: str | None) -> None:
        """VersionConflict unless it is so; a digest of None means that there is no document."""
        if self.is_one_of is not None and not _names(self.is_one_of, digest):
            raise VersionConflict(uri)
        if self.is_none_of is not None and _names(self.is_none_of, digest):
            raise VersionConflict(uri)


ANYTHING = Expected()


def _names(digests: Sequence[str], digest: str | None) -> bool:
    return digest is not None and ("*" in digests or digest in digests)


@dataclass(frozen=True, slots=True)
class Order:
    """A change that a client asks for: a document to publish, as it was sent, or without `data` one to retract.

    With an `id` it is a batch of its own, applied once however often `account` sends it. `tell` asks for the events
    that it causes, so that it is a batch of its own, too. `by` is the account that asks, None if it may do everything.
    With `access` the document gets this list, with `reach` it goes so far in the network; an order that `restricts`
    changes nothing but the list. `document` is what the data means, once it is read.
    """

    uri: str
    data: bytes | None = None
    media_type: str | None = None
    expected: Expected = ANYTHING
    id: str | None = None
    tell: bool = False
    by: str | None = None
    access: Access | None = None
    restricts: bool = False
    account: str = ""
    document: Document | None = None
    reach: NetworkReach | None = None

    @property
    def is_alone(self) -> bool:
        """Whether it must not share a batch."""
        return self.tell or self.id is not None

    @property
    def uris(self) -> Sequence[str]:
        """The document that it changes."""
        return (self.uri,)

    @property
    def size(self) -> int:
        """How many bytes it has."""
        return len(self.data or b"")


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of an order. `version` and `digest` are of the document as it is now; None if it is not there.

    `refused` are the items that a feed has lost: the rest of it is applied.
    """

    uri: str
    batch: str
    version: int
    digest: str | None
    created: bool
    changed: bool
    events: Sequence[dict[str, Any]] | None = None
    warnings: Sequence[DocumentError] = ()
    errors: Sequence[SubscriptionError] = ()
    refused: Sequence[DocumentError] = ()

    @classmethod
    def of(cls, uri: str, batch: str, record: DocumentRecord | None, before: str | None) -> Receipt:
        """What became of a document that has this record now; `before` is the digest that it had."""
        digest, version = current_digest(record), 0 if record is None else record.version
        return cls(uri, batch, version, digest, created=digest is not None and before is None, changed=digest != before)


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """A document that is durable, and will be applied; `etag` is what it will be, `position` its place in line."""

    uri: str
    etag: str
    position: int


def permit(hub: Hub, order: Order) -> None:
    """AccessDenied or UnknownDocument if the account may not; the hub asks again when it applies it."""
    if order.by is None:
        return
    with hub.store.reading() as reader:
        try:
            asked = {"gives_list": order.access is not None, "publishes": order.data is not None}
            refuse_unpermitted(reader, order.uri, order.by, **asked)
        except UnknownDocument:
            if order.data is not None:  # it cannot become a new document, so there is nothing to hide
                raise AccessDenied(order.uri, by=order.by) from None
            raise


class Parse(Protocol):
    """Makes a document of bytes, within the limits of the service and perhaps in a process that may die of it."""

    def __call__(self, data: bytes, *, uri: str, media_type: str | None) -> Document: ...


def change_of(order: Order, parse: Parse) -> Change:
    """The change that is ordered; DocumentError for what is no document."""
    if order.restricts:
        return Restrict(order.uri, order.access, order.by)
    if order.data is None:
        return Retract(order.uri, order.by)
    document = order.document
    if document is None:
        document = parse(order.data, uri=order.uri, media_type=order.media_type)
    return Publish(document, access=order.access, by=order.by, reach=order.reach)


def told_errors(hub: Hub, errors: Sequence[SubscriptionError], by: str | None) -> list[SubscriptionError]:
    """The failures of subscriptions that an account made, or that see what is for everybody."""
    if by is None or not errors:
        return list(errors)
    with hub.store.reading() as reader:
        found = _found(reader, [error.subscription or "" for error in errors], by)
    own = {record.id for record, is_seen in found if is_seen or record.owner == by}
    return [error for error in errors if error.subscription in own]


def told_events(hub: Hub, events: Iterable[Event], by: str | None) -> list[dict[str, Any]]:
    """The events of subscriptions whose answers an account may see, as it is told of them."""
    told = list(events)
    with hub.store.reading() as reader:
        if by is not None and told and reader.access.number():
            found = _found(reader, [event.subscription for event in told], by)
            own = {record.id for record, is_seen in found if is_seen}
            told = [event for event in told if event.subscription in own]
    return [event.as_dict(contents=False) for event in told]


def _found(reader: Reader, ids: Iterable[str], by: str) -> list[tuple[SubscriptionRecord, bool]]:
    """The subscriptions that there are of these, each with whether an account may see what it finds."""
    records = [record for record in reader.subscriptions.find(list(dict.fromkeys(ids))) if record is not None]
    queries = reader.queries.by_ids([record.query for record in records])
    seen = [query is not None and at_home(query.viewer) in (EVERYBODY, by) for query in queries]
    return list(zip(records, seen, strict=True))


def current_digest(record: DocumentRecord | None) -> str | None:
    """The digest of a document that is there."""
    return record.digest.hex() if record is not None and record.present else None
