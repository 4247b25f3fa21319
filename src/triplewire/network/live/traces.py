"""Traces: the way of one event through the network, told in plain words.

The way itself follows from the places: in each topology there is one from an origin to a reader.
When it was where is asked of the hubs that stand there; each remembers what went by, for a while.
"""

from __future__ import annotations

import asyncio
from typing import Any, NamedTuple

from triplewire.engine import Hub
from triplewire.errors import NetworkError
from triplewire.model import Event
from triplewire.model.foreign import foreign_uri
from triplewire.network.live.federation import Federation
from triplewire.network.membership import MemberTable


class EventWay(NamedTuple):
    """The way of an event."""

    cursor: int
    lines: list[str]


async def trace_of(federation: Federation, hub: Hub, subscription: str, cursor: int | None) -> EventWay:
    """How an event of a subscription got here; NetworkError if there is none."""
    event = await asyncio.to_thread(_event, hub, subscription, cursor)
    table = federation.node.council.table
    own = None if table is None else table.member(federation.identity_name)
    if table is None or own is None:
        raise NetworkError("this hub is no member of its network yet")
    lines: list[str] = []
    for behind in event.documents:
        origins = await asyncio.to_thread(_origins, hub, table, behind.uri)
        if not origins:
            lines.append(f"{behind.uri} was published here, at {own.name}")
        for origin in origins:
            lines += await _passed(federation, table, origin, own.place, behind.uri)
    told = " ".join(f"{name}={term}" for name, term in event.row.items())
    lines.append(
        f"{subscription} was told at {event.time.isoformat(timespec='milliseconds')}: {event.kind} {told}".rstrip()
    )
    return EventWay(event.cursor, lines)


def _event(hub: Hub, subscription: str, cursor: int | None) -> Event:
    if cursor is None:
        found = hub.inbox(subscriptions=[subscription], limit=1).items
        if not found:
            raise NetworkError(f"{subscription} has not been told anything yet")
        cursor = found[0].event.cursor
    events = hub.events(subscription, after=cursor - 1, limit=1)
    if not events or events[0].cursor != cursor:
        raise NetworkError(f"{subscription} has no event with the cursor {cursor}")
    return events[0]


def _origins(hub: Hub, table: MemberTable, uri: str) -> list[str]:
    """The places from which a document of this uri came here; none if it was published here."""
    names = [foreign_uri(place, uri) for place in table.places]
    with hub.store.reading() as reader:
        return [
            place
            for place, record in zip(table.places, reader.documents.current(names), strict=True)
            if record is not None
        ]


async def _passed(federation: Federation, table: MemberTable, origin: str, to: str, uri: str) -> list[str]:
    lines: list[str] = []
    for place in table.way(origin, to):
        host, owner = table.host_of(place), table.owner_of(place)
        is_own = owner is None or owner.name == host
        where = f"{table.words(place)}, {host}" + ("" if is_own else " (which stands in there)")
        verb = "was published at" if place == origin else "came to"
        found = await _remembered(federation, table, host, origin, uri)
        lines.append(f"{uri} {verb} {where}: {found}")
    return lines


async def _remembered(federation: Federation, table: MemberTable, host: str, origin: str, uri: str) -> str:
    try:
        told = await federation.ask(host, {"kind": "passages", "origin": origin, "uri": uri})
    except NetworkError as error:
        return str(error)
    passages: list[dict[str, Any]] = told.get("passages", [])
    if not passages:
        return "it does not remember when"
    last = passages[0]
    what = f"version {last['version']}" if last["is_there"] else "that it is gone, or of no concern any more,"
    on = f", and went on to {', '.join(map(table.words, last['to']))}" if last["to"] else ""
    return f"{what} at {last['at']}{on}"
