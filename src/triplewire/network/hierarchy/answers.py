"""Answers: what a query finds, and answers that are kept so that the same query need not be asked again (N3, N5).

A hub keeps the answer to a query for the one who asked: a neighbour, or its own clients. What is kept inside a unit is
no answer outside of it, and what a list keeps for some is none for others: so how far the asker is, and its account,
belong to that. All who are behind a neighbour, equally far and of one account, see the same. It is kept while it is
true, and the one who answers watches over that:

    kept        an answer says under which name the answerer keeps it; one that is not kept there is not kept here
    gone        when something has changed that may alter it, or it has to make room, those who were told it hear so,
                and let go of all that they have made of it; these tell those whom they have told, and so on

A message about an answer goes over the link that the answer took, so it cannot overtake it. An answer that lacks what a
silent unit has is not kept. Invariant: at rest, what is kept is what would be found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import ClassVar, Literal, NamedTuple

from triplewire.algebra.pattern import Pattern
from triplewire.model import Document
from triplewire.model.access import EVERYBODY
from triplewire.network.routing import RoutesTold
from triplewire.network.routing.advertisements import Advertised
from triplewire.network.routing.messages import DocumentSent

Sought = Literal["documents", "publications", "advertisements"]
"""What a query looks for: documents as they are; what was published, versions that are past too; or who would."""

_LONGEST = 1_000
"""An answer with more in it is not kept."""


class FoundAdvertisement(NamedTuple):
    """What a client advertises at a hub, under an id."""

    origin: str
    id: str
    items: frozenset[Advertised]


FoundItem = DocumentSent | FoundAdvertisement


@dataclass(frozen=True, slots=True)
class QueryAsked:
    """A query of a client at the hub `asker`; `wanted` is how many answers are still wanted, None for all.

    It finds what its account may read, wherever that is.
    """

    kind: ClassVar[str] = "query"
    id: str
    asker: str
    pattern: Pattern
    reach: int
    wanted: int | None
    sought: Sought = "documents"
    account: str = EVERYBODY


@dataclass(frozen=True, slots=True)
class QueryAnswered:
    """What a unit has found, and the units below and around it that did not answer.

    `kept` is the name under which the answer is kept there; without, nobody says when it changes.
    """

    kind: ClassVar[str] = "found"
    id: str
    found: tuple[FoundItem, ...]
    silent: tuple[str, ...]
    kept: str = ""


@dataclass(frozen=True, slots=True)
class AnswersGone:
    """Answers are not kept any more: they may not be true now."""

    kind: ClassVar[str] = "gone answers"
    kept: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UnitTold(RoutesTold):
    """Everything that a neighbour should know, with what it is asked."""

    queries: tuple[QueryAsked, ...] = ()


class StoredPublication(NamedTuple):
    """A version of a document that was published, at a time; it may be changed, or retracted, by now."""

    uri: str
    version: int
    time: float
    document: Document


@dataclass(frozen=True, slots=True)
class FoundDocuments:
    """What a query has found; `silent` has the units that did not answer, so that what they have may be missing.

    Which of the three has something, depends on what was looked for.
    """

    documents: tuple[Document, ...]
    silent: tuple[str, ...]
    is_done: bool
    publications: tuple[StoredPublication, ...] = ()
    advertisements: tuple[FoundAdvertisement, ...] = ()


class AnswerKey(NamedTuple):
    """Who asks what: a neighbour, or "" for clients of the hub, how far the asker is behind it, and its account."""

    who: str
    distance: int
    account: str
    pattern: Pattern
    reach: int
    wanted: int | None
    sought: Sought


@dataclass(slots=True)
class KeptAnswer:
    """An answer: its name here, and the answers of neighbours that it is made of, by neighbour and name there."""

    name: str
    found: tuple[FoundItem, ...]
    parts: frozenset[tuple[str, str]]


@dataclass(slots=True)
class AnswerCache:
    """The answers that a hub keeps, at most `most`, those that were used last."""

    most: int = 1_000
    kept: dict[AnswerKey, KeptAnswer] = field(default_factory=dict)
    hits: int = 0
    misses: int = 0

    def find(self, key: AnswerKey) -> KeptAnswer | None:
        """The answer, if it is kept."""
        found = self.kept.pop(key, None)
        if found is None:
            self.misses += 1
        else:
            self.hits += 1
            self.kept[key] = found  # as the last that was used
        return found

    def keep(self, key: AnswerKey, answer: KeptAnswer) -> tuple[str, dict[AnswerKey, KeptAnswer]]:
        """Keep an answer; gives its name, nothing if it is not kept, and those that must make room for it."""
        if self.most < 1 or len(answer.found) > _LONGEST:
            return "", {}
        if key in self.kept:
            return self.kept[key].name, {}  # the same was asked meanwhile
        self.kept[key] = answer
        gone: dict[AnswerKey, KeptAnswer] = {}
        while len(self.kept) > self.most:
            oldest = next(iter(self.kept))
            gone[oldest] = self.kept.pop(oldest)
        return answer.name, gone

    def drop(self, is_gone: Callable[[AnswerKey, KeptAnswer], bool]) -> dict[AnswerKey, KeptAnswer]:
        """Let go of answers; gives them."""
        gone = {key: answer for key, answer in self.kept.items() if is_gone(key, answer)}
        for key in gone:
            del self.kept[key]
        return gone


class AnswerCount(NamedTuple):
    """How often the answer to a query was kept where it was asked, or was not, and how many answers are kept now."""

    hits: int
    misses: int
    kept: int

    @classmethod
    def of(cls, caches: Iterable[AnswerCache]) -> AnswerCount:
        """The sums over several caches."""
        counts = [(each.hits, each.misses, len(each.kept)) for each in caches]
        return cls(*(sum(part) for part in zip((0, 0, 0), *counts, strict=True)))

    @property
    def rate(self) -> float:
        """The share of hits."""
        return self.hits / (self.hits + self.misses) if self.hits + self.misses else 0.0


def told_of(gone: Iterable[tuple[AnswerKey, KeptAnswer]]) -> dict[str, tuple[str, ...]]:
    """By neighbour, the names of answers that it was told and that are gone."""
    found: dict[str, tuple[str, ...]] = {}
    for key, answer in gone:
        if key.who:
            found[key.who] = (*found.get(key.who, ()), answer.name)
    return found
