"""Searches: queries over the documents that hubs of a hierarchy have now; they climb until there are enough (N3, N5).

The network is asked for what is for everybody; the hub of the one who asks looks at its own documents by itself, for
those that this one may read. Documents that come are signed by the hubs that they are at; that they match is for the
one who asks to look at again.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from typing import NamedTuple
from uuid import uuid4

from triplewire.algebra.pattern import Pattern
from triplewire.errors import BadRequest, NetworkError
from triplewire.model import Document
from triplewire.network.hierarchy import UnitMembership
from triplewire.network.live.node import LiveNode
from triplewire.network.live.places import LivePlace
from triplewire.network.membership import MemberTable
from triplewire.network.routing import DocumentSent

_LOOK = 0.02


class FoundElsewhere(NamedTuple):
    """Documents of other hubs, each with the name of its hub; `silent` are places that have not answered, in words."""

    documents: list[tuple[str, Document]]
    silent: list[str]


async def search(node: LiveNode, pattern: Pattern, reach: int, limit: int, seconds: float) -> FoundElsewhere:
    """What other hubs have, so far away and not more than a limit; after so many seconds, what was found by then."""
    table = node.council.table
    if not isinstance(table, UnitMembership):
        raise BadRequest('only in a hierarchy can other hubs be asked; ask each hub by itself, with reach "hub"')
    id = f"{node.name} {uuid4().hex}"
    home = await asyncio.to_thread(_begun, node, id, pattern, reach, limit)
    until = time.monotonic() + seconds
    while id not in home.book.answers and time.monotonic() < until:
        await asyncio.sleep(_LOOK)
    found, silent = await asyncio.to_thread(node.call, lambda now: home.end_query(id))
    return FoundElsewhere(_documents(found, table), _words(silent, table))


def _begun(node: LiveNode, id: str, pattern: Pattern, reach: int, limit: int) -> LivePlace:
    def begin(now: float) -> LivePlace:
        home = node.home
        if home is None:
            raise NetworkError("this hub stands at no place of the network now; try again later")
        node.carry(home, home.find(id, pattern, reach, limit, now))
        return home

    found: LivePlace = node.call(begin)
    return found


def _documents(found: Iterable[DocumentSent], table: MemberTable) -> list[tuple[str, Document]]:
    told = ((table.owner_of(sent.origin), sent.document) for sent in found)
    return [(hub.name, document) for hub, document in told if hub is not None and document is not None]


def _words(places: Iterable[str], table: MemberTable) -> list[str]:
    return [table.words(place) for place in dict.fromkeys(places) if table.is_place(place)]
