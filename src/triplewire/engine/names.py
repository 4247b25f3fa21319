"""Names that people give: whatever they like, as long as every store can keep it."""

from __future__ import annotations

from collections.abc import Iterable

from triplewire.errors import DocumentError, SubscriptionError
from triplewire.model import Change, Retract, Subscription, Unread
from triplewire.store import is_storable

_REASON = "has a NUL character or half of a surrogate pair, which no store can keep"


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
    """SubscriptionError for an id, a text, an owner or a viewer that could not be written."""
    for name in ("id", "text", "owner", "viewer"):
        if not is_storable(getattr(subscription, name) or ""):
            raise SubscriptionError(f"its {name} {_REASON}", subscription=subscription.id)
