"""Traces: the way of one event through the network, and where a document went, told in plain words.

The way itself follows from the places: in each topology there is one from an origin to a reader. When it was where, and
why it went on there and nowhere else, is asked of the hubs that stand there; each remembers what went by, for a while.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, NamedTuple

from triplewire.engine import Hub
from triplewire.errors import BadRequest, NetworkError, ServiceUnavailable
from triplewire.model import Event
from triplewire.model.foreign import foreign_uri
from triplewire.network.live.federation import Federation
from triplewire.network.live.places import ASKS, ASKS_NOTHING, NOT_SO_FAR
from triplewire.network.membership import Member, MemberTable


class EventWay(NamedTuple):
    """The way of an event; `places` are those that it came by, in words."""

    cursor: int
    lines: list[str]
    places: list[str]


class DocumentSpread(NamedTuple):
    """Where a document went; `places` are those that it came to, in words, that of its publisher first."""

    lines: list[str]
    places: list[str]


async def trace_of(federation: Federation, hub: Hub, subscription: str, cursor: int | None) -> EventWay:
    """How an event of a subscription got here; NetworkError if there is none."""
    event = await asyncio.to_thread(_event, hub, subscription, cursor)
    table, own = _standing(federation)
    lines: list[str] = []
    places: dict[str, None] = {}
    for behind in event.documents:
        origins = await asyncio.to_thread(_origins, hub, table, behind.uri)
        if not origins:
            lines.append(f"{behind.uri} was published here, at {own.name}")
            places[own.place] = None
        for origin in origins:
            way = table.way(origin, own.place)
            places |= dict.fromkeys(way)
            lines += [(await _passed(federation, table, origin, place, behind.uri))[0] for place in way]
    told = " ".join(f"{name}={term}" for name, term in event.row.items())
    lines.append(
        f"{subscription} was told at {event.time.isoformat(timespec='milliseconds')}: {event.kind} {told}".rstrip()
    )
    return EventWay(event.cursor, lines, [*map(table.words, places)])


async def spread_of(federation: Federation, uri: str) -> DocumentSpread:
    """Where a document of this hub went in the network, the nearest places first."""
    table, own = _standing(federation)
    places = {own.place: None}
    lines: list[str] = []
    waiting = [own.place]
    while waiting:
        place = waiting.pop(0)
        line, onward = await _passed(federation, table, own.place, place, uri)
        lines.append(line)
        on = [to for to in table.beside(place) if onward.get(to) == ASKS and to not in places]
        waiting += on
        places |= dict.fromkeys(on)
    return DocumentSpread(lines, [*map(table.words, places)])


def _standing(federation: Federation) -> tuple[MemberTable, Member]:
    """The members, and which one this hub is."""
    table = federation.node.council.table
    own = None if table is None else table.member(federation.identity_name)
    if table is None or own is None:
        raise NetworkError("this hub is no member of its network yet")
    return table, own


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


async def _passed(
    federation: Federation, table: MemberTable, origin: str, place: str, uri: str
) -> tuple[str, Mapping[str, str]]:
    """What became of a document at a place, as a line; and its neighbours, each with why it went on there, or not."""
    host, owner = table.host_of(place), table.owner_of(place)
    where = f"{table.words(place)}, {host}" + (" (which stands in there)" if owner and owner.name != host else "")
    verb = "was published at" if place == origin else "came to"
    try:
        told = await federation.ask_directly(host, {"kind": "passages", "origin": origin, "uri": uri})
    except (NetworkError, ServiceUnavailable, BadRequest):
        return f"{uri} {verb} {where}: that hub does not answer", {}
    onward: dict[str, str] = told.get("onward", {}).get(place, {})
    passages: list[dict[str, Any]] = told.get("passages", [])
    return f"{uri} {verb} {where}: {_remembered(passages, onward, table)}", onward


def _remembered(passages: list[dict[str, Any]], onward: Mapping[str, str], table: MemberTable) -> str:
    if not passages:
        return "it does not remember when" + _onward(onward, table)
    last = passages[0]
    what = f"version {last['version']}" if last["is_there"] else "that it is gone, or of no concern any more,"
    known = f", and went on to {', '.join(map(table.words, last['to']))}" if last["to"] else ""
    return f"{what} at {last['at']}{_onward(onward, table) or known}"


def _onward(onward: Mapping[str, str], table: MemberTable) -> str:
    """Where a document went on to, and why; and where it did not.

    Only a member that lies tells of places that there are none of; these are passed over.
    """
    told = {
        reason: ", ".join(table.words(to) for to, why in onward.items() if why == reason and table.is_place(to))
        for reason in (ASKS, ASKS_NOTHING, NOT_SO_FAR)
    }
    parts = (
        f", and went on to {told[ASKS]}, which asked for it" if told[ASKS] else "",
        f"; not to {told[ASKS_NOTHING]}, which asks for nothing that it matches" if told[ASKS_NOTHING] else "",
        f"; not to {told[NOT_SO_FAR]}, because it does not reach so far" if told[NOT_SO_FAR] else "",
    )
    return "".join(parts)
