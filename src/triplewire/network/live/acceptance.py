"""Acceptance: what a neighbour may say. It passes on what others published, and can neither make nor change it.

A document has the signature of the hub whose corner it says it is from. In a cube there is one way from each corner to
each other one, so a document, a question or an answer that came another way did not come from there.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from triplewire.errors import ChannelRefused
from triplewire.network.channels.identities import is_signed
from triplewire.network.hypercube import Membership, corner, position_of
from triplewire.network.link import LogEntry
from triplewire.network.live.corners import signed_text
from triplewire.network.routing import DocumentSent, RoutesTold
from triplewire.network.routing.messages import AnswerSent, Ask


def refuse_forged(entry: LogEntry, came: int, to: int, table: Membership) -> LogEntry:
    """The entry as it may be taken; ChannelRefused if the neighbour has made it up."""
    match entry.body:
        case DocumentSent() as sent:
            _refuse_detour(sent, came, to)
            return replace(entry, body=checked_document(sent, table))
        case AnswerSent(sent, path):
            _refuse_path(path, came, to)
            return replace(entry, body=AnswerSent(checked_document(sent, table), path))
        case Ask(path=path):
            if not path or path[-1] != corner(came):
                raise ChannelRefused(f"{corner(came)} passes on a question whose path does not end there")
            _refuse_path(path, came, to)
        case RoutesTold(documents=documents) as told:
            for sent in documents:
                _refuse_detour(sent, came, to)
            return replace(
                entry, body=replace(told, documents=tuple(checked_document(sent, table) for sent in documents))
            )
    return entry


def checked_document(sent: DocumentSent, table: Membership) -> DocumentSent:
    """A version with its origin's signature; one of a hub that is no member any more is gone."""
    if sent.document is None:
        return sent
    position = _position(sent.origin)
    owner = table.owner(position)
    if owner is None:
        return replace(sent, document=None)
    if not is_signed(signed_text(sent), sent.signature, owner.key):
        raise ChannelRefused(f"it sent {sent.uri[:200]!r} as published by {owner.name}, which has not signed it")
    return sent


def _refuse_detour(sent: DocumentSent, came: int, to: int) -> None:
    """Documents climb the dimensions: the last one that they take is the highest in which they differ."""
    if (_position(sent.origin) ^ to).bit_length() != (came ^ to).bit_length():
        raise ChannelRefused(f"{corner(came)} is not on the way of a document from {sent.origin} to {corner(to)}")


def _refuse_path(path: tuple[str, ...], came: int, to: int) -> None:
    places = [_position(name) for name in path]
    if any((one ^ other).bit_count() != 1 for one, other in pairwise(places)):
        raise ChannelRefused("it sent a path whose corners are no neighbours")
    if len(set(places)) != len(places):
        raise ChannelRefused("it sent a path that goes round in a circle")


def _position(name: str) -> int:
    try:
        position = position_of(name)
    except ValueError:
        raise ChannelRefused(f"{name[:40]!r} is no corner") from None
    if position < 0 or corner(position) != name:
        raise ChannelRefused(f"{name[:40]!r} is no corner")
    return position
