"""Bundles: changes of several documents that a client sends as one; all of them are applied, or none.

A bundle is a batch of its own, so its events are the net difference of all of its changes. What is wrong with one of
them (a document that cannot be read, a condition that does not hold, a schema or a quota that is broken) is a reason to
refuse the whole, and names that document.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from triplewire.engine import Hub
from triplewire.errors import DocumentError, SubscriptionError, UnknownDocument
from triplewire.hub.changes import repeats
from triplewire.hub.changes.orders import (
    Order,
    Parse,
    Receipt,
    change_of,
    current_digest,
    permit,
    told_errors,
    told_events,
)
from triplewire.hub.tenancy.quotas import Quotas
from triplewire.model import Change, Publish, Restrict
from triplewire.store import DocumentRecord, Lease


@dataclass(frozen=True, slots=True)
class Bundle:
    """Orders that are one; with an `id` they are applied once however often `account` sends them.

    To retract what is not there changes nothing, and of several changes of one document the last counts. `by` is the
    account that sends it, None if it may do everything.
    """

    orders: Sequence[Order]
    id: str | None = None
    tell: bool = False
    by: str | None = None
    account: str = ""

    is_alone = True

    @property
    def uris(self) -> Sequence[str]:
        """The documents that it changes."""
        return [order.uri for order in self.orders]

    @property
    def size(self) -> int:
        """How many bytes it has."""
        return sum(len(order.data or b"") for order in self.orders)

    def apply(self, hub: Hub, door: Lease, parse: Parse, quotas: Quotas | None) -> BundleReceipt:
        """Apply it; an error, if anything speaks against any of it, and then nothing has changed."""
        orders = [order for order in self.orders if _concerns(hub, order)]
        known = repeats.found(hub, self.account, self.id, self.orders)
        if known is not None:
            events = told_events(hub, repeats.events_of(hub, known), self.by) if self.tell else None
            return BundleReceipt(known.batch, repeats.receipts_of(known), events, (), ())
        before = _records(hub, orders)
        changes = [change_of(order, parse) for order in orders]
        _refuse_lists_of_nothing(orders, before)
        for order in orders:
            order.expected.check(order.uri, current_digest(before[order.uri]))
        if quotas is not None:
            _check(hub, quotas, changes, before)
        digests = {uri: current_digest(record) for uri, record in before.items()}
        with door.turn():
            batch = repeats.batch_of(self.id)
            kept = repeats.keeping(self.account, self.id, batch, self.orders, digests)
            outcome = hub.apply(changes, batch=batch, handled=kept)
        after = _records(hub, orders)
        return BundleReceipt(
            outcome.batch,
            [Receipt.of(uri, outcome.batch, after.get(uri), digests.get(uri)) for uri in dict.fromkeys(self.uris)],
            told_events(hub, outcome, self.by) if self.tell else None,
            outcome.warnings,
            told_errors(hub, outcome.errors, self.by),
        )


@dataclass(frozen=True, slots=True)
class BundleReceipt:
    """What became of a bundle, and of each document in it."""

    batch: str
    receipts: Sequence[Receipt]
    events: Sequence[dict[str, Any]] | None
    warnings: Sequence[DocumentError]
    errors: Sequence[SubscriptionError]


def _check(hub: Hub, quotas: Quotas, changes: Sequence[Change], before: dict[str, DocumentRecord | None]) -> None:
    """The error of a quota that the whole would break."""
    last = {change.uri: change for change in changes if not isinstance(change, Restrict)}
    publishing = [uri for uri, change in last.items() if isinstance(change, Publish)]
    if publishing and (spent := quotas.over_events(len(publishing))):
        raise spent
    if quotas.documents is not None:
        leaving = sum(uri not in publishing and current_digest(before[uri]) is not None for uri in last)
        coming = sum(current_digest(before[uri]) is None for uri in publishing)
        with hub.store.reading() as reader:
            count = reader.documents.count()
        if coming > leaving and count + coming - leaving > quotas.documents:
            raise quotas.over_documents()


def _concerns(hub: Hub, order: Order) -> bool:
    """False for an order to retract what is not there for its account: that changes nothing, and tells nothing."""
    try:
        permit(hub, order)
    except UnknownDocument:
        if order.restricts:
            raise
        return False
    return True


def _refuse_lists_of_nothing(orders: Sequence[Order], before: dict[str, DocumentRecord | None]) -> None:
    """UnknownDocument for an access list of what is not there, nor published by an order before."""
    there = {uri for uri, record in before.items() if record is not None and record.present}
    for order in orders:
        if order.data is not None:
            there.add(order.uri)
        elif order.restricts and order.uri not in there:
            raise UnknownDocument(order.uri)


def _records(hub: Hub, orders: Sequence[Order]) -> dict[str, DocumentRecord | None]:
    uris = list(dict.fromkeys(order.uri for order in orders))
    with hub.store.reading() as reader:
        return dict(zip(uris, reader.documents.current(uris), strict=True))
