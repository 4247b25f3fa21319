"""Loads: many changes of documents that join, at a ring that is slow, while peers crash and come back before it rests.

What is on the way for seconds meets peers that have become responsible meanwhile, and those that are so no more.
"""

from __future__ import annotations

from random import Random
from typing import ClassVar

import pytest
from pyoxigraph import Triple
from tests.network.histories import ends_as_in_one_hub
from tests.network.ring.test_histories import RingAndHub

from effort import MANY
from triplewire.documents import parse

JOIN = "SELECT ?s ?t ?x { ?s <urn:r> ?t . ?t <urn:a> ?x }"

Action = tuple[str, int, int]


class JoinedRing(RingAndHub):
    """Documents of which each may join with each other; all peers' clients ask for that."""

    QUERIES: ClassVar = [JOIN]

    def __init__(self, how, seed: int, size: int, **faults) -> None:
        self.stated: dict[str, frozenset[Triple]] = {}
        super().__init__(how, seed, size, **faults)

    def publish(self, at: int, uri: str, text: str) -> None:
        super().publish(at, uri, text)
        self.stated[uri] = frozenset(parse(text, uri=uri).triples)

    def retract(self, at: int, uri: str) -> None:
        super().retract(at, uri)
        del self.stated[uri]

    def content(self, uri: str, which: int) -> str:
        subject, object, value = which // 3 % 4, which // 12 % 4, which // 48 % 3
        return f"<urn:s{subject}> <urn:r> <urn:s{object}> ; <urn:a> {value} ."


def random_load(chance: Random) -> list[Action]:
    """Three subscriptions, then changes, crashes and waits of all lengths."""
    actions = [("subscribe", number, 0) for number in range(3)]
    for _ in range(chance.randrange(10, 40)):
        kinds = ["publish", "retract", "crash", "restart", "wait"]
        (what,) = chance.choices(kinds, [40, 15, 15, 18, 12])
        who = chance.choice([1, 25, 150, 600]) if what == "wait" else chance.randrange(12)
        actions.append((what, who, chance.randrange(144)))
    return actions


def tells_what_is_stated(both: JoinedRing) -> None:
    """What was told last of each row has all that documents state now of what the row speaks of."""
    stated = frozenset().union(*both.stated.values())
    for sid, at in both.sids.items():
        told = {event.row: event for event in both.clients[at].events(sid)}
        for row, event in told.items():
            wanted = {triple for triple in stated if triple.subject in row.values()}
            assert event.kind == "unmatched" or {*event.after} == wanted, row


def check_load(seed: int, ring: type[JoinedRing] = JoinedRing) -> None:
    """One load, made from a seed, ends as at one hub."""
    chance = Random(seed)
    how = chance.choice(["sqc", "mqc"]), chance.choice(["graph", "document"]), chance.choice([None, 2.0, 0.01])
    faults = {"loss": chance.choice([0, 0.1, 0.3]), "duplication": 0.1, "delay": (1, chance.choice([50, 1000, 12_000]))}
    both = ring(how, seed, chance.choice([3, 4, 6, 8]), **faults)
    ends_as_in_one_hub(both, random_load(chance))
    tells_what_is_stated(both)


def check_many_loads(ring: type[JoinedRing] = JoinedRing) -> None:
    """Other loads each time; one that ends otherwise is told by its seed."""
    for _ in range(MANY):
        seed = Random().getrandbits(32)
        try:
            check_load(seed, ring)
        except AssertionError as error:
            pytest.fail(f"the load of seed {seed} does not end as at one hub: {error}")
