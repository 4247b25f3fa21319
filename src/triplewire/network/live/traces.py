"""Traces: the way of one event through the network, told in plain words.

The way itself follows from the corners: a document climbs the dimensions in which its origin and its reader differ.
When it was where is asked of the hubs that stand there; each remembers what went by, for a while.
"""

from __future__ import annotations

import asyncio
from typing import Any, NamedTuple

from triplewire.engine import Hub
from triplewire.errors import NetworkError
from triplewire.model import Event
from triplewire.model.foreign import foreign_uri
from triplewire.network.hypercube import Membership, corner
from triplewire.network.live.federation import Federation
from triplewire.network.live.status import way


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
            lines += await _passed(federation, table, origin, own.position, behind.uri)
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


def _origins(hub: Hub, table: Membership, uri: str) -> list[int]:
    """The corners from which a document of this uri came here; none if it was published here."""
    names = [foreign_uri(corner(position), uri) for position in range(len(table.seats))]
    with hub.store.reading() as reader:
        return [position for position, record in enumerate(reader.documents.current(names)) if record is not None]


async def _passed(federation: Federation, table: Membership, origin: int, to: int, uri: str) -> list[str]:
    lines: list[str] = []
    for place in way(origin, to):
        host = table.seats[place].host
        owner = table.owner(place)
        where = f"corner {place}, {host}" + (
            "" if owner is not None and owner.name == host else " (which stands in there)"
        )
        verb = "was published at" if place == origin else "came to"
        found = await _remembered(federation, host, corner(origin), uri)
        lines.append(f"{uri} {verb} {where}: {found}")
    return lines


async def _remembered(federation: Federation, host: str, origin: str, uri: str) -> str:
    try:
        told = await federation.ask(host, {"kind": "passages", "origin": origin, "uri": uri})
    except NetworkError as error:
        return str(error)
    passages: list[dict[str, Any]] = told.get("passages", [])
    if not passages:
        return "it does not remember when"
    last = passages[0]
    what = f"version {last['version']}" if last["is_there"] else "that it is gone, or of no concern any more,"
    on = f", and went on to {', '.join(name.replace('-', ' ') for name in last['to'])}" if last["to"] else ""
    return f"{what} at {last['at']}{on}"
