"""The deliveries in a store: made, looked at, changed and removed by people; never by a deliverer."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, get_args
from uuid import uuid4

from triplewire.deliver.digests import next_time
from triplewire.deliver.signing import key_of, new_secret
from triplewire.deliver.targets import refuse_bad_url
from triplewire.deliver.vault import Vault
from triplewire.engine.connection import record_of
from triplewire.engine.inspect.events import WaitingEvents, waiting
from triplewire.errors import BadRequest, QuotaExceeded, UnknownDelivery
from triplewire.model import spelled
from triplewire.store import DeadLetter, DeliveryRecord, Reader, Store, Writer
from triplewire.wire.deliveries import DeliveryTold, Every, Kind

KINDS: tuple[Kind, ...] = get_args(Kind)
COUNTED = 1_000
"""A lag is counted so far."""

MOST = 1_000
"""So many deliveries may a subscription have."""

_SIGNED = ("webhook", "digest")
_AS_RECORDED = ("id", "subscription", "kind", "cursor", "delivered", "failed", "created")
_BOTH_COUNT = 86_400.0


class Deliveries:
    """What is delivered where; `clock` gives seconds since 1970. The `vault` keeps the secrets."""

    def __init__(self, store: Store, clock: Callable[[], float] = time.time, *, vault: Vault | None = None) -> None:
        self._store, self._clock = store, clock
        self.vault = vault or Vault.of(store.url)

    def add(
        self,
        subscription: str,
        url: str,
        *,
        kind: Kind = "webhook",
        every: Every | None = None,
        contents: bool = False,
        after: int | None = 0,
        secret: str | None = None,
        by: str | None = None,
    ) -> tuple[DeliveryRecord, str | None]:
        """A new delivery, and the secret that its messages are signed with, which is never told again.

        It begins with the event that follows the cursor `after`; with None, with what happens from now on. `by` is the
        account that makes it: without that account, nothing is sent.
        """
        refuse_bad_url(url)
        made_by = {} if by is None else {"by": by}
        settings = {"url": url, **_own_settings(kind, every, contents=contents), **made_by}
        own = _given(secret) if kind in _SIGNED else None
        if own is None and secret is not None:
            raise BadRequest(f"a delivery of the kind {kind} is not signed; leave the secret out")
        secrets = [] if own is None else [{"secret": self.vault.seal(own), "until": None}]
        now = self._clock()
        due = int(1000 * next_time(every, now)) if kind == "digest" and every is not None else 0
        with self._store.writing() as writer:
            record_of(writer, subscription)  # says that there is none
            refuse_more(writer, subscription)
            cursor = writer.log.last_cursor() if after is None else after
            made = DeliveryRecord(
                f"d-{uuid4().hex[:12]}", subscription, kind, settings, secrets, time_told(now), cursor=cursor, due=due
            )
            return writer.deliveries.add(made), own

    def of(self, id: str) -> DeliveryRecord:
        """The delivery of an id."""
        with self._store.reading() as reader:
            return _record(reader, id)

    def condition(self, id: str) -> DeliveryTold:
        """The settings, the state and the lag of a delivery."""
        with self._store.reading() as reader:
            return self._told(reader, [_record(reader, id)])[0]

    def of_subscription(self, subscription: str) -> list[DeliveryTold]:
        """The deliveries of a subscription, by id."""
        with self._store.reading() as reader:
            record_of(reader, subscription)  # says that there is none
            return self._told(reader, reader.deliveries.of_subscription(subscription))

    def listing(self, *, after: str = "", limit: int = 100, owner: str | None = None) -> list[DeliveryTold]:
        """Deliveries by id, from the one that follows `after`; all, or those of one owner's subscriptions."""
        with self._store.reading() as reader:
            return self._told(reader, reader.deliveries.listing(after, limit, owner=owner))

    def pause(self, id: str) -> None:
        """Send nothing until it is resumed; what happens meanwhile is sent then."""
        self._change(id, lambda record: replace(record, state="paused", reason=""))

    def resume(self, id: str) -> None:
        """Go on where it was, at once: also after it was disabled."""

        def resumed(record: DeliveryRecord) -> DeliveryRecord:
            due = record.due if record.kind == "digest" and not record.failures else 0
            return replace(record, state="active", reason="", due=due, failures=0, failing_since=0)

        self._change(id, resumed)

    def rotate(self, id: str, secret: str | None = None) -> str:
        """A new secret, which is never told again; for a day, messages are signed with the old one as well."""
        new, until = _given(secret), int(1000 * (self._clock() + _BOTH_COUNT))

        def rotated(record: DeliveryRecord) -> DeliveryRecord:
            if record.kind not in _SIGNED:
                raise BadRequest(f"a delivery of the kind {record.kind} has no secret of this hub's")
            old = [{**each, "until": until} for each in record.secrets if each["until"] is None]
            return replace(record, secrets=[{"secret": self.vault.seal(new), "until": None}, *old])

        self._change(id, rotated)
        return new

    def remove(self, id: str) -> None:
        """Deliver no more, and forget it and its dead letters."""
        with self._store.writing() as writer:
            writer.deliveries.remove(_record(writer, id).id)

    def dead(self, id: str, *, after: int = 0, limit: int = 100) -> list[DeadLetter]:
        """What was given up, from the one that follows number `after`."""
        with self._store.reading() as reader:
            return reader.deliveries.dead(_record(reader, id).id, after, limit)

    def replay(self, id: str, numbers: Sequence[int] | None = None) -> int:
        """Try dead letters again, these or all, before anything else; how many."""
        with self._store.writing() as writer:
            return writer.deliveries.replay(_record(writer, id).id, numbers)

    def drop(self, id: str, numbers: Sequence[int] | None = None) -> int:
        """Forget dead letters, these or all; how many."""
        with self._store.writing() as writer:
            return writer.deliveries.drop(_record(writer, id).id, numbers)

    def _told(self, reader: Reader, records: Sequence[DeliveryRecord]) -> list[DeliveryTold]:
        dead = reader.deliveries.count_dead() if records else {}
        owners = reader.subscriptions.find([record.subscription for record in records])
        return [
            _told(record, waiting(reader, owner, record.cursor, COUNTED), dead.get(record.id, 0), self._clock())
            for record, owner in zip(records, owners, strict=True)
            if owner is not None
        ]

    def _change(self, id: str, change: Callable[[DeliveryRecord], DeliveryRecord]) -> None:
        with self._store.writing() as writer:
            writer.deliveries.put(change(_record(writer, id)))


def refuse_more(writer: Writer, subscription: str) -> None:
    """QuotaExceeded where a subscription has as many deliveries as it may have."""
    if len(writer.deliveries.of_subscription(subscription)) >= MOST:
        raise QuotaExceeded(f"deliveries of {subscription}", MOST)


def _own_settings(kind: str, every: str | None, *, contents: bool) -> Mapping[str, Any]:
    if kind not in ("webhook", "digest", "ldn"):
        raise BadRequest(f"a delivery is a webhook, a digest or an ldn; {kind!r} cannot be made this way")
    if (kind == "digest") != (every is not None):
        raise BadRequest("a digest is hourly or daily, and nothing else is: `every` goes with the kind digest")
    if contents and kind != "webhook":
        raise BadRequest("`contents` goes with the kind webhook")
    return ({"every": every} if every else {}) | ({"contents": True} if contents else {})


def _given(secret: str | None) -> str:
    if secret is None:
        return new_secret()
    try:
        key_of(secret)
    except ValueError as error:
        raise BadRequest(f"this secret cannot be used: {error}; leave it out, and one is made") from None
    return secret


def _record(reader: Reader, id: str) -> DeliveryRecord:
    found = reader.deliveries.find(id)
    if found is None:
        raise UnknownDelivery(id)
    return found


def _told(record: DeliveryRecord, ahead: WaitingEvents, dead: int, now: float) -> DeliveryTold:
    """A delivery, with what waits for it and how many messages were given up; without secrets."""
    is_waiting = record.state == "active" and record.failures > 0 and record.due > now * 1000
    lag = 0.0 if ahead.since is None else now - datetime.fromisoformat(ahead.since).timestamp()
    state: Any = "waiting" if is_waiting else record.state
    return DeliveryTold(
        **{name: getattr(record, name) for name in _AS_RECORDED},
        url=record.settings["url"],
        every=record.settings.get("every"),
        contents=bool(record.settings.get("contents")),
        topic=record.settings.get("topic"),
        state=state,
        reason=record.reason or None,
        next_at=_moment(record.due) if record.state == "active" else None,
        expires=_moment(record.settings.get("expires", 0)),
        lag=ahead.events,
        lag_seconds=round(max(0.0, lag), 3),
        dead=dead,
        failures_in_a_row=record.failures,
        last_error=record.error or None,
        last_delivered=_moment(record.succeeded),
    )


def time_told(seconds: float) -> str:
    """A time since 1970, as it is told."""
    return spelled(datetime.fromtimestamp(seconds, UTC))


def _moment(milliseconds: int) -> str | None:
    return time_told(milliseconds / 1000) if milliseconds else None
