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
from triplewire.model import Change, Publish, Subscription, feeds_of, item_prefix
from triplewire.model.foreign import is_foreign
from triplewire.model.reach import HEIGHTS, HUB, reaches_of
from triplewire.model.reach import NETWORK as WHOLE
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
    reason = _unknown(reader, subscription.reach, "subscribe")
    if reason:
        raise SubscriptionError(f'its reach is "{subscription.reach}", and {reason}', subscription=subscription.id)


def _unknown(reader: Reader, reach: str, verb: str) -> str:
    """Why a reach means nothing here; empty if it means something."""
    known = reader.settings.get(NETWORK)
    if known is None:
        kind = "hypercube" if reach == "network" else "hierarchy --cluster NAME"
        instead = 'subscribe with "hub"' if verb == "subscribe" else "publish it without one"
        return f"this hub is of no network: start it with `triplewire serve --network {kind}`, or {instead}"
    words = reaches_of(has_units=known.get("kind") == "hierarchy")
    return "" if reach in words else f"the network of this hub has no units: it is one of {', '.join(words)}"


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
    """Note what other hubs are to hear of documents: those that are for everybody here, and no others (P8).

    How far a version goes is noted with it, so that it goes no further if the next one does (N4).
    """
    own = [record for record in records if not is_foreign(record.uri)]
    listed, reaches = writer.access.of(record.id for record in own), _reaches_of(writer, own)
    is_out = {r.id for r in own if r.present and r.id not in listed and reaches[r.id] > HUB}
    writer.network.note([(r.id, r.version if r.id in is_out else 0, reaches[r.id]) for r in own], microseconds())


def _reaches_of(reader: Reader, records: Sequence[DocumentRecord]) -> dict[int, int]:
    """How far documents go, as heights; an item of a feed goes no further than the feed."""
    feeds = {record.id: feeds_of(record.uri) for record in records}
    above = [
        r for r in reader.documents.current(list({uri for uris in feeds.values() for uri in uris})) if r is not None
    ]
    known = reader.network.document_reaches({record.id for record in [*records, *above]})
    of_feeds = {record.uri: known.get(record.id, WHOLE) for record in above}
    return {
        record.id: min([known.get(record.id, WHOLE), *(of_feeds.get(uri, WHOLE) for uri in feeds[record.id])])
        for record in records
    }


def keep_inside(writer: Writer, changes: Iterable[Change]) -> None:
    """Note how far documents go that a batch publishes with a reach; others hear where that is new (N4)."""
    wanted = {each.uri: HEIGHTS[each.reach] for each in changes if isinstance(each, Publish) and each.reach is not None}
    if not wanted or not is_networked(writer):
        return
    records = [record for record in writer.documents.current(list(wanted)) if record is not None]
    known = writer.network.document_reaches([record.id for record in records])
    changed = [record for record in records if wanted[record.uri] != known.get(record.id, WHOLE)]
    writer.network.keep_inside({record.id: wanted[record.uri] for record in changed})
    items = [uri for each in changed for uri in writer.documents.beginning_with(item_prefix(each.uri), present=True)]
    tell_documents(writer, [*changed, *(each for each in writer.documents.current(items) if each is not None)])


def refuse_unknown_reach(reader: Reader, changes: Iterable[Change]) -> None:
    """DocumentError for a document that is published with a reach that means nothing here."""
    for change in changes:
        reach = change.reach if isinstance(change, Publish) else None
        reason = "" if reach is None else _unknown(reader, reach, "publish")
        if reason:
            raise DocumentError(f'its reach is "{reach}", and {reason}', uri=change.uri)


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
