"""Absences: somebody is away, and what comes meanwhile waits for them, up to a number of events, for a time (P7, P8).

A subscription whose subscriber is away is a paused one with bounds. What waits is in the log, as for each that is
paused. What is over the bounds falls off when the subscriber is back, and before a store is compacted, which such a
subscription would hold up otherwise:

    number    the oldest events fall off, until no more than so many wait
    time      after it nobody is waited for any more: nothing of what came meanwhile is kept

What has fallen off was not heard: the stretch of the log before it ends, and another one begins after it. It is told as
that stretch of cursors. What the rows are now, can be asked.

Invariant: what a subscriber was told and what it is said to have missed are all events that there were, each once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import time
from typing import Any

from triplewire.engine.inspect.events import Some, newest
from triplewire.engine.names import absence_setting
from triplewire.errors import SubscriptionError
from triplewire.model import MissedEvents
from triplewire.model.missed import TOO_LONG, too_many
from triplewire.store import HEARD_ON, Reader, SubscriptionRecord, Writer

_KEPT = 100
"""So many stretches that were missed are told; of more, the first ones are told as one."""


@dataclass(frozen=True, slots=True)
class WaitingBounds:
    """How many events wait for somebody who is away, and until when, in seconds since 1970; None: all of them, ever."""

    events: int | None = None
    until: float | None = None


def bound(writer: Writer, record: SubscriptionRecord, bounds: WaitingBounds) -> None:
    """Let no more wait for a subscription that is paused; bounds from before are gone."""
    _write(writer, record, bounds, missed(writer, record))


def missed(reader: Reader, record: SubscriptionRecord) -> list[MissedEvents]:
    """What its subscriber has missed so far, oldest first."""
    return [MissedEvents(*each) for each in _read(reader, record).get("missed", ())]


def is_bounded(reader: Reader, record: SubscriptionRecord) -> bool:
    """Whether not all that comes waits for it."""
    return _read(reader, record).get("bounds") is not None


def bounds_of(reader: Reader, record: SubscriptionRecord) -> WaitingBounds:
    """How much waits for it."""
    kept = _read(reader, record).get("bounds")
    return WaitingBounds(*kept) if kept is not None else WaitingBounds()


def fallen_off(reader: Reader, record: SubscriptionRecord) -> MissedEvents | None:
    """What is over the bounds of a paused subscription by now, if anything is."""
    bounds, heard = bounds_of(reader, record), record.last_cursor
    is_over = bounds.until is not None and time() > bounds.until
    most = 0 if is_over else bounds.events
    if most is None or heard == HEARD_ON:
        return None
    waiting = newest(reader, replace(record, last_cursor=HEARD_ON), Some(heard), most + 1)
    if len(waiting) <= most:
        return None
    return MissedEvents(heard, waiting[-1].cursor, TOO_LONG if is_over else too_many(most))


def trimmed(writer: Writer, record: SubscriptionRecord) -> SubscriptionRecord:
    """A paused subscription as it is when what is over its bounds has fallen off; to be written by the caller."""
    lost = fallen_off(writer, record)
    if lost is None:
        return record
    if record.first_cursor < lost.after:
        writer.subscriptions.close_span(record, lost.after)
    writer.log.drop_own(record.number, lost.after, lost.until)
    _write(writer, record, bounds_of(writer, record), _joined([*missed(writer, record), lost]))
    return replace(record, first_cursor=lost.until, last_cursor=lost.until)


def brought(writer: Writer, record: SubscriptionRecord, bounds: WaitingBounds | None, reasons: Sequence[str]) -> None:
    """A subscription comes from another hub: how much waits for it, and why it missed something there.

    Cursors of another hub mean nothing here, so what it missed there is told as a stretch without any.
    """
    cursor = record.first_cursor
    if bounds is not None or reasons:
        _write(writer, record, bounds, [MissedEvents(cursor, cursor, reason) for reason in reasons[-_KEPT:]])


def returned(writer: Writer, record: SubscriptionRecord) -> SubscriptionRecord:
    """A paused subscription as it is when its subscriber is back; to be written by the caller."""
    back = trimmed(writer, record)
    if is_bounded(writer, record):
        _write(writer, record, None, missed(writer, record))
    return replace(back, last_cursor=HEARD_ON, paused_since=None)


def trim_all(writer: Writer) -> None:
    """Let what is over the bounds of subscriptions fall off, for whom nobody has come back."""
    ids = list(writer.subscriptions.paused(writer.subscriptions.count()))
    for record in writer.subscriptions.find(ids):
        after = record if record is None else trimmed(writer, record)
        if record is not None and after is not None and after != record:
            writer.subscriptions.alter(record, after)


def refuse_edit(reader: Reader, record: SubscriptionRecord) -> None:
    """SubscriptionError for another query while what waits is bounded: which events those are would change."""
    if is_bounded(reader, record):
        raise SubscriptionError(
            "it is paused, and not all that comes waits for it; resume it, then change what it asks",
            subscription=record.id,
        )


def _joined(stretches: list[MissedEvents]) -> list[MissedEvents]:
    """Stretches that follow each other for one reason are one; of too many, the first two are."""
    *before, last = stretches
    if before and (before[-1].until, before[-1].reason) == (last.after, last.reason):
        before[-1:], last = [], replace(last, after=before[-1].after)
    joined = [*before, last]
    if len(joined) > _KEPT:
        joined[:2] = [replace(joined[1], after=joined[0].after)]
    return joined


def _read(reader: Reader, record: SubscriptionRecord) -> dict[str, Any]:
    found: dict[str, Any] = reader.settings.get(absence_setting(record.number), {})
    return found


def _write(
    writer: Writer, record: SubscriptionRecord, bounds: WaitingBounds | None, missed: list[MissedEvents]
) -> None:
    told = None if bounds is None or bounds == WaitingBounds() else [bounds.events, bounds.until]
    stretches = [[each.after, each.until, each.reason] for each in missed]
    writer.settings.set(absence_setting(record.number), {"bounds": told, "missed": stretches})
