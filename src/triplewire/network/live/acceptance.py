"""Acceptance: what a neighbour may say. It passes on what others published, and can neither make nor change it.

A document has the signature of the hub whose place it says it is from. In a network there is one way from each place to
each other one, so a document, a question or an answer that came another way did not come from there.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from triplewire.errors import ChannelRefused
from triplewire.network.channels.identities import is_signed
from triplewire.network.hierarchy import UnitMembership
from triplewire.network.hierarchy.answers import QueryAnswered, QueryAsked, UnitTold
from triplewire.network.link import LogEntry
from triplewire.network.live.places import signed_text
from triplewire.network.membership import MemberTable
from triplewire.network.routing import DocumentSent, RoutesTold
from triplewire.network.routing.messages import AnswerSent, Ask


def refuse_forged(entry: LogEntry, came: str, to: str, table: MemberTable) -> LogEntry:
    """The entry as it may be taken; ChannelRefused if the neighbour has made it up."""
    match entry.body:
        case DocumentSent() as sent:
            _refuse_detour(sent, came, to, table)
            return replace(entry, body=checked_document(sent, table))
        case AnswerSent(sent, path):
            _refuse_path(path, table)
            return replace(entry, body=AnswerSent(checked_document(sent, table), path))
        case Ask(path=path):
            if not path or path[-1] != came:
                raise ChannelRefused(f"{came} passes on a question whose path does not end there")
            _refuse_path(path, table)
        case QueryAsked(asker=asker):
            _refuse_other_way(asker, came, to, table)
        case QueryAnswered(found=found) as told:
            documents = tuple(checked_document(each, table) for each in found if isinstance(each, DocumentSent))
            return replace(entry, body=replace(told, found=documents))
        case RoutesTold(documents=documents) as told:
            for sent in documents:
                _refuse_detour(sent, came, to, table)
            for asked in told.queries if isinstance(told, UnitTold) else ():
                _refuse_other_way(asked.asker, came, to, table)
            return replace(
                entry, body=replace(told, documents=tuple(checked_document(sent, table) for sent in documents))
            )
    return entry


def checked_document(sent: DocumentSent, table: MemberTable) -> DocumentSent:
    """A version with its origin's signature; one of a hub that is no member any more is gone."""
    if sent.document is None:
        return sent
    _refuse_no_place(sent.origin, table)
    owner = table.owner_of(sent.origin)
    if owner is None:
        return replace(sent, document=None)
    if not is_signed(signed_text(sent), sent.signature, owner.key):
        raise ChannelRefused(f"it sent {sent.uri[:200]!r} as published by {owner.name}, which has not signed it")
    return sent


def _refuse_other_way(asker: str, came: str, to: str, table: MemberTable) -> None:
    """A query comes from the neighbour on the way to the place of the one that asks, in a network that is a tree."""
    if not isinstance(table, UnitMembership):
        raise ChannelRefused("it asked a query, and those climb in a hierarchy only")
    _refuse_no_place(asker, table)
    if asker == to or table.topology(to).next_hop(asker) != came:
        raise ChannelRefused(f"{came} is not on the way of a query from {asker} to {to}")


def _refuse_detour(sent: DocumentSent, came: str, to: str, table: MemberTable) -> None:
    """Documents come from the neighbour to which a question about them would go."""
    _refuse_no_place(sent.origin, table)
    if sent.origin == to or table.topology(to).next_hop(sent.origin) != came:
        raise ChannelRefused(f"{came} is not on the way of a document from {sent.origin} to {to}")


def _refuse_path(path: tuple[str, ...], table: MemberTable) -> None:
    for name in path:
        _refuse_no_place(name, table)
    if any(not table.are_neighbours(one, other) for one, other in pairwise(path)):
        raise ChannelRefused(f"it sent a path whose {table.noun}s are no neighbours")
    if len(set(path)) != len(path):
        raise ChannelRefused("it sent a path that goes round in a circle")


def _refuse_no_place(name: str, table: MemberTable) -> None:
    if not table.is_place(name):
        raise ChannelRefused(f"{name[:40]!r} is no {table.noun}")
