"""The work of one delivery: message after message, until there is none, one fails, or another deliverer has it."""

from __future__ import annotations

import asyncio
import random
import time
from dataclasses import replace
from datetime import datetime

from triplewire.deliver import websub
from triplewire.deliver.digests import next_time
from triplewire.deliver.dispatcher import Destination, Dispatcher
from triplewire.deliver.inboxes import inbox_of
from triplewire.deliver.messages import AT_ONCE, messages
from triplewire.deliver.registry import time_told
from triplewire.deliver.retrying import Attempt, RetryVerdict, is_refusal, judged
from triplewire.deliver.sending import send
from triplewire.engine.inspect.events import EventFilter, LogPage
from triplewire.store import DeadLetter, DeliveryRecord
from triplewire.wire.envelopes import Envelope


async def work(dispatcher: Dispatcher, destination: Destination) -> None:
    """Do what is to be done now."""
    if destination.is_pending and not await _verify(dispatcher, destination):
        return
    if await _is_over(dispatcher, destination):
        return
    if destination.replays and not await _replay(dispatcher, destination):
        return
    if destination.record.kind == "digest":
        if destination.record.due <= 1000 * time.time():
            await _digest(dispatcher, destination)
        return
    while destination.has_news and _may(dispatcher, destination):
        destination.has_news = False
        for message in await _next_told(dispatcher, destination):
            destination.has_news = True
            if not _may(dispatcher, destination) or not await _deliver(dispatcher, destination, message):
                return


def _may(dispatcher: Dispatcher, destination: Destination) -> bool:
    return destination.record.state == "active" and dispatcher.may_send(destination)


async def _next_told(dispatcher: Dispatcher, destination: Destination) -> list[Envelope]:
    """The next messages; where all events of a page are withheld, those of the page after it."""
    while True:
        page, found = await _next(dispatcher, destination)
        if found or page.until <= destination.record.cursor:
            return found
        dispatcher.note(destination, cursor=page.until, until=0)


async def _next(dispatcher: Dispatcher, destination: Destination) -> tuple[LogPage, list[Envelope]]:
    record = destination.record
    wanted = EventFilter(record.subscription, record.cursor, AT_ONCE[record.kind], destination.withheld)

    def made(page: LogPage) -> tuple[LogPage, list[Envelope]]:
        return page, [replace(message, lists=page.lists) for message in messages(record, page)]

    page, found = await dispatcher.pages.get(wanted, made)
    destination.withheld = page.withheld
    return page, found


# -- events


async def _deliver(dispatcher: Dispatcher, destination: Destination, message: Envelope) -> bool:
    """Send one message; whether the next may follow."""
    answer = await _sent(dispatcher, destination, message)
    if answer is None:
        return False
    verdict = _judge(dispatcher, destination, answer)
    record = destination.record
    if verdict is RetryVerdict.ARRIVED:
        dispatcher.tally.arrive(record.kind, _since(message.happened))
        dispatcher.note(destination, cursor=message.cursor, until=0, delivered=record.delivered + 1)
        return True
    if verdict is RetryVerdict.DEAD:
        dispatcher.tally.dead[record.kind] += 1
        dispatcher.achieved.buried.append(_letter(record, message, answer, dispatcher.manners.pace.attempts))
        dispatcher.note(destination, cursor=message.cursor, until=0)
        return True
    dispatcher.note(destination)
    return False


async def _sent(dispatcher: Dispatcher, destination: Destination, message: Envelope) -> Attempt | None:
    """What the receiver said; None if this process may not send it any more when its turn has come."""
    async with dispatcher.turn(destination):
        if not _may(dispatcher, destination):
            return None
        permit = await asyncio.to_thread(dispatcher.permits.of, destination.record)
        if permit.refusal is not None:
            await _refuse(dispatcher, destination, permit.refusal)
            return None
        if message.lists not in (None, permit.lists):  # the viewer may see less now, or more: it is read again
            return None
        record = destination.record
        url = await _address(dispatcher, destination)
        return await send(dispatcher.connections, dispatcher.vault, record, message, url, time.time())


async def _refuse(dispatcher: Dispatcher, destination: Destination, reason: str) -> None:
    """Send nothing any more: its owner may not have it. A lease of WebSub is over, others wait disabled."""
    if destination.record.kind == "websub":
        await asyncio.to_thread(_remove, dispatcher, destination.record.id)
        destination.is_held = False
        return
    dispatcher.note(destination, state="disabled", reason=reason)


async def _address(dispatcher: Dispatcher, destination: Destination) -> str:
    """Where messages go; the inbox of what is there, for a notification."""
    url = str(destination.record.settings["url"])
    if destination.record.kind != "ldn":
        return url
    if destination.inbox is None or destination.record.failures:
        destination.inbox = await inbox_of(dispatcher.connections, url)
    return destination.inbox


def _judge(dispatcher: Dispatcher, destination: Destination, answer: Attempt) -> RetryVerdict:
    found = judged(destination.record, answer, time.time(), dispatcher.manners.pace, random.random())
    if found.verdict is not RetryVerdict.ARRIVED:
        dispatcher.tally.failed[destination.record.kind] += 1
    destination.record = found.record
    return found.verdict


def _letter(record: DeliveryRecord, message: Envelope, answer: Attempt, attempts: int) -> DeadLetter:
    return DeadLetter(
        0,
        record.id,
        message.id,
        message.cursor,
        message.media_type,
        message.body,
        answer.text,
        attempts,
        _now(),
    )


# -- dead letters that shall be tried again


async def _replay(dispatcher: Dispatcher, destination: Destination) -> bool:
    """Send them, each once: one that is refused again is a dead letter again. Whether the delivery may go on."""
    destination.replays = False
    for letter in await asyncio.to_thread(_to_replay, dispatcher, destination.record.id):
        message = Envelope(letter.message, letter.cursor, letter.media_type, letter.content, happened=letter.died)
        if not await _is_still_seen(dispatcher, destination.record, letter):
            dispatcher.achieved.arrived.append(letter.number)  # away with it
            continue
        answer = await _sent(dispatcher, destination, message)
        if answer is None:
            destination.replays = True
            return False
        if not answer.is_fine and not is_refusal(answer):  # nobody is there: it waits, with everything else
            destination.replays = True
            _judge(dispatcher, destination, answer)
            dispatcher.note(destination)
            return False
        _replayed(dispatcher, destination, letter, answer)
    await dispatcher.write()
    return True


async def _is_still_seen(dispatcher: Dispatcher, record: DeliveryRecord, letter: DeadLetter) -> bool:
    """Whether the events that a dead letter tells, which its id names, may still be told."""
    first, _, last = letter.message.rpartition(":")[2].partition("-")
    return await dispatcher.pages.is_still_seen(record.subscription, int(first), int(last or first))


def _replayed(dispatcher: Dispatcher, destination: Destination, letter: DeadLetter, answer: Attempt) -> None:
    record = destination.record
    if answer.is_fine:
        dispatcher.achieved.arrived.append(letter.number)
        dispatcher.tally.delivered[record.kind] += 1
        dispatcher.note(destination, delivered=record.delivered + 1, succeeded=int(1000 * time.time()))
    else:
        again = replace(letter, reason=answer.text, attempts=letter.attempts + 1, died=_now(), replay=False)
        dispatcher.achieved.refused_again.append(again)
        dispatcher.tally.failed[record.kind] += 1
        dispatcher.note(destination, failed=record.failed + 1, error=answer.text)


def _to_replay(dispatcher: Dispatcher, id: str) -> list[DeadLetter]:
    with dispatcher.store.reading() as reader:
        return reader.deliveries.to_replay(id, 1_000)


# -- digests


async def _digest(dispatcher: Dispatcher, destination: Destination) -> None:
    """Tell what has happened up to now, in as many parts as it takes; then wait for the next hour or day."""
    has_more = True
    while has_more:
        found = await _next_told(dispatcher, destination) if _may(dispatcher, destination) else []
        has_more = bool(found) and found[0].events == AT_ONCE["digest"]
        if found and not destination.record.until:  # fixed before it is sent: the next deliverer sends the same
            dispatcher.note(destination, until=found[0].cursor)
            await dispatcher.write()
        if found and not await _deliver(dispatcher, destination, found[0]):
            return
    dispatcher.note(destination, due=int(1000 * next_time(destination.record.settings["every"], time.time())))


# -- WebSub


async def _verify(dispatcher: Dispatcher, destination: Destination) -> bool:
    """Ask a subscriber whether it was meant; whether the delivery may go on."""
    async with dispatcher.turn(destination):
        if not dispatcher.may_send(destination):
            return False
        permit = await asyncio.to_thread(dispatcher.permits.of, destination.record)
        if permit.refusal is not None:
            await _refuse(dispatcher, destination, permit.refusal)
            return False
        is_meant, reason = await websub.is_meant(dispatcher.connections, destination.record)
    record, mode = destination.record, destination.record.settings["pending"]["mode"]
    if is_meant and mode == "unsubscribe":
        await asyncio.to_thread(_remove, dispatcher, record.id)
        return False
    if is_meant:
        destination.record = await asyncio.to_thread(_put, dispatcher, websub.verified(record, time.time()))
        return True
    if is_meant is None:
        found = judged(record, Attempt(None, reason), time.time(), dispatcher.manners.pace, random.random())
        if found.record.failures < dispatcher.manners.pace.attempts:
            destination.record = found.record
            dispatcher.note(destination)
            return False
    await _forget_request(dispatcher, destination, reason)
    return False


async def _forget_request(dispatcher: Dispatcher, destination: Destination, reason: str) -> None:
    """It was not meant, or nobody could be asked: a new subscription goes, one that stands stays as it is."""
    record = destination.record
    if record.state == "verifying":
        await asyncio.to_thread(_remove, dispatcher, record.id)
        return
    settings = {name: value for name, value in record.settings.items() if name != "pending"}
    destination.record = await asyncio.to_thread(_put, dispatcher, replace(record, settings=settings, error=reason))


async def _is_over(dispatcher: Dispatcher, destination: Destination) -> bool:
    """Whether the lease of a WebSub subscription is over, or it was disabled: then it is gone."""
    record = destination.record
    expires = record.settings.get("expires")
    if expires is None or expires > 1000 * time.time():
        return False
    await asyncio.to_thread(_remove, dispatcher, record.id)
    return True


def _remove(dispatcher: Dispatcher, id: str) -> None:
    with dispatcher.store.writing() as writer:
        writer.deliveries.remove(id)


def _put(dispatcher: Dispatcher, record: DeliveryRecord) -> DeliveryRecord:
    with dispatcher.store.writing() as writer:
        return writer.deliveries.put(record)


def _now() -> str:
    return time_told(time.time())


def _since(happened: str) -> float:
    return max(0.0, time.time() - datetime.fromisoformat(happened).timestamp()) if happened else 0.0
