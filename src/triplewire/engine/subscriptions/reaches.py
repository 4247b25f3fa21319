"""Reaches: what a hub of a network notes for its node, whichever process does it.

The node runs in one process of a service, and others may change the same store. So that a subscription and a document
are there for the network exactly when they are there at all, they are noted in the transaction that makes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from time import time_ns

from triplewire.engine.batch.revisions import Revision
from triplewire.engine.names import NETWORK
from triplewire.errors import DocumentError, SubscriptionError
from triplewire.model import Change, Subscription
from triplewire.model.foreign import is_foreign
from triplewire.model.reach import reaches_of
from triplewire.store import DocumentRecord, Reader, Writer


def is_networked(reader: Reader) -> bool:
    """Whether this is the store of a hub of a network."""
    return reader.settings.get(NETWORK) is not None


def note(writer: Writer, subscriptions: Iterable[Subscription]) -> None:
    """Note which of new subscriptions reach beyond this hub, and since when they count: now, or ever."""
    for each in subscriptions:
        if each.reach != "hub":
            _refuse_unknown(writer, each)
            writer.network.reach(each.id, 0 if each.start == "ever" else microseconds())


def _refuse_unknown(reader: Reader, subscription: Subscription) -> None:
    """SubscriptionError for a reach that means nothing here."""
    known = reader.settings.get(NETWORK)
    reason = ""
    if known is None:
        kind = "hypercube" if subscription.reach == "network" else "hierarchy --cluster NAME"
        reason = (
            f'this hub is of no network: start it with `triplewire serve --network {kind}`, or subscribe with "hub"'
        )
    elif subscription.reach not in (words := reaches_of(has_units=known.get("kind") == "hierarchy")):
        reason = f"the network of this hub has no units: it is one of {', '.join(words)}"
    if reason:
        raise SubscriptionError(f'its reach is "{subscription.reach}", and {reason}', subscription=subscription.id)


def set_kind(writer: Writer, kind: str) -> None:
    """Note which kind of network a hub is of."""
    known = writer.settings.get(NETWORK)
    if known.get("kind") != kind:
        writer.settings.set(NETWORK, known | {"kind": kind})


def tell_others(writer: Writer, revisions: Sequence[Revision]) -> None:
    """Note that a batch has changed documents, if other hubs are to hear of it."""
    if revisions and is_networked(writer):
        tell_documents(writer, writer.documents.by_ids([each.id for each in revisions]))


def tell_documents(writer: Writer, records: Sequence[DocumentRecord]) -> None:
    """Note what other hubs are to hear of documents: those that are for everybody here, and no others (P8)."""
    own = [record for record in records if not is_foreign(record.uri)]
    listed = writer.access.of(record.id for record in own)
    told = [(r.id, r.version if r.present and r.id not in listed else 0) for r in own]
    writer.network.note(told, microseconds())


def refuse_foreign(changes: Iterable[Change]) -> None:
    """DocumentError for a change of a document that came from another hub: it is changed there."""
    for change in changes:
        if is_foreign(change.uri):
            raise DocumentError(
                "it came from another hub of the network; change it where it was published", uri=change.uri
            )


def microseconds() -> int:
    """The time, as it is noted for other hubs."""
    return time_ns() // 1_000
