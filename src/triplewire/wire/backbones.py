"""What a hub of a backbone asks another one, and what it is told (M10).

    question   how far it is with each home (`positions`), and which schema and taxonomy it has
    answer     the batches of homes that come next, each with the documents that it changed; up to where that leads

A *home* is the hub that documents were registered at; it numbers its batches. Any hub can tell of any home, as far as
it is itself.

Invariant: an answer depends on the question and on the state of the hub that answers alone, so a question may be asked
again at any time.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import blake2b

from triplewire.wire.edges import UplinkTold

Stamp = tuple[int, str]
"""How often a schema or taxonomy was replaced, and by which hub: the greater one counts."""

NEVER: Stamp = (0, "")


@dataclass(frozen=True)
class ReplicatedDocument:
    """A document as a batch left it: its triples and XML, or nothing if it was retracted.

    Where `is_content` is False only its access list has changed. `generation` is that of its home.
    """

    uri: str
    content: str | None = None
    xml: str = ""
    access: list[list[str]] | None = None
    generation: int = 0
    is_content: bool = True


@dataclass(frozen=True)
class HomeBatch:
    """A batch of a home."""

    home: str
    number: int
    documents: list[ReplicatedDocument]


@dataclass(frozen=True)
class StampedTriples:
    """The schema or the taxonomy: its triples, and the rest that goes with them."""

    stamp: Stamp
    triples: list[list[str]]
    policy: str = "refuse"
    names: dict[str, list[str]] = field(default_factory=dict)

    @property
    def when(self) -> Stamp:
        """The stamp, also of what was read from JSON, which has no tuples."""
        number, hub = self.stamp
        return number, hub


@dataclass(frozen=True)
class MemberQuestion:
    """What a hub of a backbone asks: all that it lacks, or what `documents` are now, or which ranges differ."""

    member: str
    positions: dict[str, int] = field(default_factory=dict)
    schema: Stamp = NEVER
    taxonomy: Stamp = NEVER
    ranges: dict[str, str] = field(default_factory=dict)
    """The digests of its documents whose home is the one that is asked, range by range (`digests_of_ranges`)."""
    documents: list[str] = field(default_factory=list)
    wait: float = 0.0
    """So many seconds may pass before an answer that tells nothing new."""


@dataclass(frozen=True)
class MemberAnswer:
    """What a hub of a backbone is told."""

    member: str
    batches: list[HomeBatch] = field(default_factory=list)
    positions: dict[str, int] = field(default_factory=dict)
    """Up to where this leads, home by home."""
    is_more: bool = False
    schema: StampedTriples | None = None
    taxonomy: StampedTriples | None = None
    differing: dict[str, dict[str, str]] = field(default_factory=dict)
    """Ranges that differ: the digests of the documents in each, by uri."""
    documents: list[ReplicatedDocument] = field(default_factory=list)

    @property
    def is_news(self) -> bool:
        """Whether it tells anything besides positions."""
        return bool(self.batches or self.schema or self.taxonomy or self.differing or self.documents)


@dataclass(frozen=True)
class PassedChange:
    """A change as a log keeps it, on its way to the home of its document; the content in base 64."""

    kind: int
    uri: str
    content: str | None = None


@dataclass(frozen=True)
class PassedChanges:
    """Changes that are to be applied together by their home; once, if they have an id."""

    changes: list[PassedChange]
    batch: str | None = None
    wait = 0.0
    """They are a question that is answered at once."""


@dataclass(frozen=True)
class PassedTold:
    """The batch by which a home has applied them, and what it warns of."""

    batch: str
    warnings: list[str] = field(default_factory=list)
    is_news = True


@dataclass(frozen=True)
class ConflictTold:
    """A document that two hubs took for their own: the home that counts, and the other."""

    uri: str
    home: str
    other: str


@dataclass(frozen=True)
class OtherMemberTold:
    """Another hub of the backbone: its name, once that is known, its address, and why it could not be asked last.

    `link` is what the channel to it does; null where it is asked over HTTP.
    """

    name: str
    url: str
    problem: str
    link: UplinkTold | None = None


@dataclass(frozen=True)
class BackboneTold:
    """How far a hub of a backbone is with the others; `homes` is how many documents here belong to each home."""

    name: str
    positions: dict[str, int]
    away: dict[str, str]
    waiting: int
    conflicts: list[ConflictTold]
    homes: dict[str, int] = field(default_factory=dict)
    members: list[OtherMemberTold] = field(default_factory=list)


def range_of(uri: str) -> str:
    """The range that a document is in: one of 256.

    >>> range_of("urn:a") == range_of("urn:a"), len(range_of("urn:b"))
    (True, 2)
    """
    return blake2b(uri.encode(), digest_size=1).hexdigest()


def digests_of_ranges(documents: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The digest of each range with documents in it, from the uris and digests of these, in the order of uris."""
    found: dict[str, blake2b] = {}
    for uri, digest in documents:
        found.setdefault(range_of(uri), blake2b(digest_size=12)).update(f"{uri} {digest}\0".encode())
    return {name: each.hexdigest() for name, each in found.items()}
