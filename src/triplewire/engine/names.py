"""Names that people give: whatever they like, as long as every store can keep it; and names that a hub gives itself.

A batch whose name is known is taken for applied. So no client may choose the name that a batch of the hub
will have: the two kinds of names never meet.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from uuid import uuid4

from triplewire.errors import DocumentError, SubscriptionError
from triplewire.model import Change, Retract, Subscription, Unread
from triplewire.store import is_storable

_REASON = "has a NUL character or half of a surrogate pair, which no store can keep"
BACKBONE = "backbone"
"""The setting of a store that is part of a backbone."""
NETWORK = "network"
"""The setting of a store that is part of a network of hubs."""
_OWN = ("b-", "stream-", "recovery-", "taxonomy-", "subscribe-", "backfill-", "edit-", "edge-", "backbone-", "network-")
"""How names begin that a hub, a service or a stream gives."""


def absence_setting(number: int) -> str:
    """The setting of a store with what waits for a subscription whose subscriber is away, and what was missed."""
    return f"absence {number}"


class OwnName(str):
    """The name of a batch that was made here; never one that a client sent.

    >>> OwnName("stream-1-7")
    'stream-1-7'
    """

    __slots__ = ()


def new_name(kind: str = "b") -> OwnName:
    """A name that no batch has, and that tells nothing of the caller."""
    return OwnName(f"{kind}-{uuid4().hex}")


def now() -> str:
    """The time, as records have it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def refuse_own_name(batch: str) -> None:
    """ValueError if a caller gives a batch a name of the kind that a hub gives itself."""
    if not isinstance(batch, OwnName) and batch.startswith(_OWN):
        raise ValueError(f"the id {batch!r} of the batch begins as those that a hub gives itself; choose another")


def refuse_unstorable_changes(changes: Iterable[Change | Unread], batch: str) -> None:
    """DocumentError or ValueError for a name of a document or a batch that could not be written."""
    if not is_storable(batch):
        raise ValueError(f"the id {batch!r} of the batch {_REASON}")
    for change in changes:
        if not is_storable(change.uri):
            raise DocumentError(f"its uri {_REASON}", uri=repr(change.uri))
        access = None if isinstance(change, Retract | Unread) else change.access
        if access is not None and not all(map(is_storable, (*access.readers, *access.writers))):
            raise DocumentError(f"a name in its access list {_REASON}", uri=change.uri)


def refuse_unstorable(subscription: Subscription) -> None:
    """SubscriptionError for an id, a text, an owner, a viewer, a title or a description that could not be written."""
    for name in ("id", "text", "owner", "viewer", "title", "description"):
        if not is_storable(getattr(subscription, name) or ""):
            raise SubscriptionError(f"its {name} {_REASON}", subscription=subscription.id)
