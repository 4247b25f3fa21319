"""Permits: whether a message may still go out, asked at the moment it is sent.

Days may lie between the finding of an event and its sending, because a receiver was away. Meanwhile the account that
subscribed may have been revoked or have another role, and a document may have got another access list. So who found
something once is asked again: does the owner still exist, and may it still see this?

    the subscription is gone, an account behind it is revoked     nothing is sent, and the delivery is disabled
    it was asked for by a secret address that is gone             the same; its maker is behind it, too
    an account may not see what the subscription sees             the same
    access lists have changed since the events were read          they are read again (`engine.reading`)
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from triplewire.deliver.capabilities import FeedAddresses, in_topic
from triplewire.errors import UnknownFeed
from triplewire.model.access import at_home
from triplewire.store import EVERYBODY, DeliveryRecord, Store

Roles = Mapping[str, bool]
"""The accounts that there are, by id; and whether each is an admin, who sees everything."""

_FRESH = 0.1
"""Seconds for which an answer counts: many messages that go out at once ask once."""
_REMEMBERED = 10_000


class Permit(NamedTuple):
    """Why nothing may be sent, None if it may; and the number of the access lists that this was decided with."""

    refusal: str | None
    lists: int


class Permits:
    """Asks a store, and `roles` for the accounts: None where there are none; then owners are names."""

    def __init__(self, store: Store, roles: Callable[[], Roles | None]) -> None:
        self._store, self._roles = store, roles
        self._known: dict[tuple[str, str | None, str], tuple[float, Permit]] = {}

    def of(self, record: DeliveryRecord) -> Permit:
        """Whether a delivery may send now; from any thread."""
        key = record.subscription, record.settings.get("by"), record.settings.get("topic", "")
        until, permit = self._known.get(key, (0.0, Permit(None, 0)))
        now = time.monotonic()
        if now >= until:
            permit = self._asked(*key)
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            self._known[key] = now + _FRESH, permit
        return permit

    def _asked(self, subscription: str, by: str | None, topic: str) -> Permit:
        roles, capability, maker = self._roles(), in_topic(topic), None
        with self._store.reading() as reader:
            lists = reader.access.number()
            (record,) = reader.subscriptions.find([subscription])
            if record is None:
                return Permit("the subscription is gone", lists)
            (query,) = reader.queries.by_ids([record.query])
        if capability is not None:
            try:
                id, maker = FeedAddresses(self._store, capability.tenant).subscription(capability)
            except UnknownFeed:
                id = ""
            if id != subscription:
                return Permit("the address of the feed was revoked", lists)
        if roles is None or query is None:
            return Permit(None, lists)
        return Permit(refusal((record.owner, by, maker), query.viewer, roles), lists)


def refusal(accounts: Iterable[str | None], viewer: str | None, roles: Roles) -> str | None:
    """Why accounts may not have what a subscription finds for a viewer; None stands for the operator.

    >>> refusal(["maja"], "maja", {"maja": False}), refusal(["maja"], "maja", {})
    (None, 'the account maja was revoked')
    >>> refusal(["maja"], None, {"maja": False})
    'the account maja may not see any more what the subscription sees'
    """
    for account in accounts:
        if account is None:
            continue
        if account not in roles:
            return f"the account {account} was revoked"
        if at_home(viewer) not in (EVERYBODY, account) and not roles[account]:
            return f"the account {account} may not see any more what the subscription sees"
    return None
