"""Who states a triple: the documents, each with its version; what partial results stand on.

Messages of a ring come late, twice, and in any order, and two peers may for a time be responsible for one key. So all
that is told of a triple is told as what a version of a document says of it, and the newest version counts: putting such
knowledge together gives the same in whatever order it is done.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from pyoxigraph import Triple

Origin = tuple[str, str]
"""A document: where it was published, and its uri."""


NEVER = float("-inf")
"""The time before which no query was asked."""


class Said(NamedTuple):
    """What a version of a document says of a triple: it states it, or does not any more."""

    version: int
    time: float
    is_stated: bool

    @property
    def until(self) -> float:
        """Queries that were asked before this time may use the triple for the sake of this document (S4)."""
        return self.time if self.is_stated else NEVER


class KeyStatement(NamedTuple):
    """The triples that a version of a document states, as far as they concern one key."""

    version: int
    time: float
    triples: frozenset[Triple]


Sources = Mapping[Origin, Said]
Support = Mapping[Triple, Sources]
"""What a result stands on: each of its triples, with the documents that state it, or did."""


def latest(sources: Sources) -> float:
    """Queries that were asked before this time may use a triple: when it was last published by one that states it."""
    return max([said.until for said in sources.values()], default=NEVER)


def ever(sources: Sources) -> float:
    """Queries asked at this time or later have never used a triple, as far as its documents have said so."""
    return max([said.time for said in sources.values()], default=NEVER)


def ever_stood(support: Support) -> float:
    """Queries asked at this time or later have never used a result."""
    return min([ever(sources) for sources in support.values()], default=float("inf"))


def stands_for(support: Support) -> float:
    """Queries that were asked before this time may use a result: everything that it stands on is stated for them."""
    return min([latest(sources) for sources in support.values()], default=float("inf"))


def holders(support: Support, since: float) -> frozenset[Origin]:
    """The documents that state everything that a result stands on."""
    each = [{origin for origin, said in sources.items() if since < said.until} for sources in support.values()]
    return frozenset(set.intersection(*each)) if each else frozenset()


def united(some: Support, others: Support) -> Support:
    """What is known together: of each document the newest version; `some` itself if nothing is new."""
    if knows(some, others):
        return some
    found = dict(some)
    for triple, sources in others.items():
        found[triple] = newest(found.get(triple, {}), sources.items())
    return found


def knows(some: Support, others: Support) -> bool:
    """Whether nothing newer is said in the others."""
    return all(has_all(some.get(triple), sources) for triple, sources in others.items())


def has_all(known: Sources | None, sources: Sources) -> bool:
    """Whether nothing newer is said of a triple in `sources`."""
    if known is None:
        return False
    return all(
        (said := known.get(origin)) is not None and said.version >= other.version for origin, other in sources.items()
    )


def newest(known: Sources, told: Iterable[tuple[Origin, Said]]) -> dict[Origin, Said]:
    """The newest of what each document says."""
    found = dict(known)
    for origin, said in told:
        if origin not in found or said.version > found[origin].version:
            found[origin] = said
    return found
