"""Names that people give: whatever they like, as long as every store can keep it."""

from __future__ import annotations

from collections.abc import Iterable

from triplewire.errors import DocumentError, SubscriptionError
from triplewire.model import Change, Subscription, Unread
from triplewire.store import is_storable

_REASON = "has a NUL character or half of a surrogate pair, which no store can keep"


def refuse_unstorable_changes(changes: Iterable[Change | Unread], batch: str) -> None:
    """DocumentError or ValueError for a name of a document or a batch that could not be written."""
    if not is_storable(batch):
        raise ValueError(f"the id {batch!r} of the batch {_REASON}")
    for change in changes:
        if not is_storable(change.uri):
            raise DocumentError(f"its uri {_REASON}", uri=repr(change.uri))


def refuse_unstorable(subscription: Subscription) -> None:
    """SubscriptionError for an id, a text or an owner that could not be written."""
    for name in ("id", "text", "owner"):
        if not is_storable(getattr(subscription, name) or ""):
            raise SubscriptionError(f"its {name} {_REASON}", subscription=subscription.id)
