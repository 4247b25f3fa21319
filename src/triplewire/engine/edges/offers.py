"""Offers: rules that a person has made for an edge at the hub; the edge follows them when it asks next (M9)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import astuple

from triplewire.engine.edges.rules import refuse_bad_name
from triplewire.errors import BadRequest, NotAllowed
from triplewire.store import Reader, Writer
from triplewire.wire.edges import EdgeRule

_ANOTHERS = "this edge is another account's; an edge asks as the account with which it began"
_OWNERS, _OFFERS = "edges.owners", "edges.offers"
_MOST = 1_000
"""Edges of one owner that are remembered, and rules that may be offered to one."""

NUMBERED = "edges.number"
"""The setting that differs when an edge has another owner, or is offered something else."""


class KnownEdges:
    """Whose edges have asked, and what is offered to them, as a store has it."""

    def __init__(self, reader: Reader) -> None:
        self.owners: dict[str, str | None] = reader.settings.get(_OWNERS, {})
        self._offers: dict[str, list[list[str]]] = reader.settings.get(_OFFERS, {})

    def refuse_other_owner(self, edge: str, owner: str | None) -> None:
        """NotAllowed for an edge that has asked on behalf of another owner."""
        if self.owners.get(edge, owner) != owner:
            raise NotAllowed(_ANOTHERS)

    def offered(self, edge: str) -> list[EdgeRule]:
        """The rules that an edge has still to follow."""
        return [EdgeRule(*each) for each in self._offers.get(edge, [])]


def _save(writer: Writer, key: str, value: object) -> None:
    writer.settings.set(key, value)
    writer.settings.set(NUMBERED, writer.settings.get(NUMBERED, 0) + 1)


def note_edge(writer: Writer, edge: str, owner: str | None) -> None:
    """Remember that there is an edge, and whose it is."""
    refuse_bad_name(edge)
    owners: dict[str, str | None] = writer.settings.get(_OWNERS, {})
    if edge in owners:
        return
    too_many = [name for name, each in owners.items() if each == owner][: -_MOST + 1]
    kept = {name: each for name, each in owners.items() if name not in too_many}
    _save(writer, _OWNERS, kept | {edge: owner})


def is_noted(reader: Reader, edge: str) -> bool:
    """Whether it is known whose edge it is."""
    return edge in reader.settings.get(_OWNERS, {})


def edges_of(reader: Reader, owner: str | None) -> list[str]:
    """The edges of an owner that have ever asked, by name."""
    owners: dict[str, str | None] = reader.settings.get(_OWNERS, {})
    return sorted(edge for edge, each in owners.items() if each == owner)


def offer(writer: Writer, edge: str, rule: EdgeRule, owner: str | None) -> None:
    """Have an edge follow a rule; one of the same id takes the place of that. NotAllowed for another owner's edge."""
    known = KnownEdges(writer)
    if edge not in known.owners:
        raise BadRequest(f"no edge {edge!r} has asked this hub yet; GET /v1/edges lists those that have")
    known.refuse_other_owner(edge, owner)
    offers: dict[str, list[list[str]]] = writer.settings.get(_OFFERS, {})
    others = [each for each in offers.get(edge, []) if each[0] != rule.id]
    _save(writer, _OFFERS, offers | {edge: [*others, list(astuple(rule))][-_MOST:]})


def settled(writer: Writer, edge: str, rules: Iterable[str]) -> None:
    """An edge has followed rules, or has let go of them: these are not offered any more."""
    offers: dict[str, list[list[str]]] = writer.settings.get(_OFFERS, {})
    gone = set(rules)
    left = [each for each in offers.get(edge, []) if each[0] not in gone]
    if left != offers.get(edge, []):
        rest = {name: each for name, each in offers.items() if name != edge}
        _save(writer, _OFFERS, rest | ({edge: left} if left else {}))
