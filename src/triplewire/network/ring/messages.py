"""What peers of a ring tell each other. The paper's messages have its names (sections 4 and 5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from pyoxigraph import Triple

from triplewire.algebra.pattern import TriplePattern
from triplewire.model import Term
from triplewire.network.ring.queries import RingQuery
from triplewire.network.ring.statements import KeyStatement, Origin, Support

Member = tuple[RingQuery, tuple[int, ...]]
"""A query, and the numbers of its subqueries on the way, in order: the last one waits, those before are satisfied."""


@dataclass(frozen=True, slots=True)
class Extension:
    """An intermediate result: a rewritten subquery, for which queries it waits, and what the result stands on.

    `binding` is the paper's substitution. Queries that wait for the same with the same values are grouped (section 4).
    """

    pattern: TriplePattern
    binding: tuple[tuple[str, Term], ...]
    support: Support
    members: tuple[Member, ...]


@dataclass(frozen=True, slots=True)
class IndexQuery:
    """INDEX-QUERY(q_j, key(q), key(n)): a subquery, for the query table. `number` says which."""

    kind: ClassVar[str] = "index-query"
    query: RingQuery
    number: int


@dataclass(frozen=True, slots=True)
class IndexTriple:
    """INDEX-TRIPLE(t, key(n)): for the triple table, all that a version of a document states under this key.

    `gone` are the triples that the version before stated here, and this one does not.
    """

    kind: ClassVar[str] = "index-triple"
    origin: Origin
    statement: KeyStatement
    gone: frozenset[Triple] = frozenset()


@dataclass(frozen=True, slots=True)
class ExtendMatching:
    """EXTEND-MATCHING({q_1 …}, theta, key(q)): intermediate results for the next subquery, grouped."""

    kind: ClassVar[str] = "extend-matching"
    extensions: tuple[Extension, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """All of a query is satisfied: its values, and what they stand on, for each of the queries that are alike."""

    binding: tuple[tuple[str, Term], ...]
    support: Support
    queries: tuple[RingQuery, ...]


@dataclass(frozen=True, slots=True)
class Notification:
    """Answers, for the peer that posed the queries."""

    kind: ClassVar[str] = "notification"
    home: str
    answers: tuple[Answer, ...]


@dataclass(frozen=True, slots=True)
class EndQuery:
    """A query is not asked any more; this goes along its chains."""

    kind: ClassVar[str] = "end-query"
    query: str


@dataclass(frozen=True, slots=True)
class WatchContent:
    """A subscriber's peer has rows with this resource, or none any more: it is told what is stated of it.

    Of what a home says of one resource, that with the greatest `number` counts.
    """

    kind: ClassVar[str] = "watch"
    home: str
    resource: Term
    is_wanted: bool
    number: int


@dataclass(frozen=True, slots=True)
class CountTriples:
    """How many triples are known for a subquery? Its peer would rewrite the query (section 5)."""

    kind: ClassVar[str] = "count"
    home: str
    subscription: str
    query: str
    number: int


@dataclass(frozen=True, slots=True)
class TriplesCounted:
    """So many triples are known for a subquery, for the peer that poses the query."""

    kind: ClassVar[str] = "counted"
    home: str
    subscription: str
    query: str
    number: int
    count: int


Kept = IndexQuery | IndexTriple | ExtendMatching | EndQuery | WatchContent
"""What changes what is kept under a key, and so is replicated."""


@dataclass(frozen=True, slots=True)
class SplitKey:
    """A key is kept in shares from now on; `is_settled`: these have everything, and nothing is kept under it."""

    is_settled: bool = False


@dataclass(frozen=True, slots=True)
class SplitTold:
    """A key is split: what is for it may go to its shares directly."""

    kind: ClassVar[str] = "split"
    key: str


@dataclass(frozen=True, slots=True)
class ContentTold:
    """What a document states of a resource."""

    kind: ClassVar[str] = "content"
    home: str
    resource: Term
    said: tuple[tuple[Origin, KeyStatement], ...]


@dataclass(frozen=True, slots=True)
class ChangeSettled:
    """All that a change of a document leads to has arrived: subscribers can be told of it, as one step."""

    kind: ClassVar[str] = "settled"
    home: str
    origin: Origin
    versions: tuple[int | None, int | None]
    subscriptions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Replicate:
    """What has happened to a key, for the peers that stand in for the one that is responsible."""

    kind: ClassVar[str] = "replicate"
    key: str
    body: Any


@dataclass(frozen=True, slots=True)
class HandOver:
    """Whole keys, for a peer that is responsible for them from now on, or stands in for the one that is."""

    kind: ClassVar[str] = "hand over"
    keys: tuple[tuple[str, Any], ...]
    homes: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class FindSuccessor:
    """Which peer is responsible for a place? For fingers; without numbers, for a peer that comes to the ring."""

    kind: ClassVar[str] = "find"
    asker: str
    fingers: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class FingersFound:
    """The peer that tells this is responsible for the place of these fingers."""

    kind: ClassVar[str] = "found"
    fingers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class AskRing:
    """Which peers are next to you?"""

    kind: ClassVar[str] = "stabilise"


@dataclass(frozen=True, slots=True)
class RingTold:
    """The peers next to the one that tells this."""

    kind: ClassVar[str] = "stabilise"
    predecessor: str | None
    successors: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rectify:
    """The peer that tells this thinks that it is just before you."""

    kind: ClassVar[str] = "rectify"


MAINTENANCE = (AskRing, RingTold, Rectify, FingersFound, Replicate, HandOver, SplitTold)
"""What is for one peer, and for no other if that does not answer."""
