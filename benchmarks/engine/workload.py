"""What a workload of the engine is: subscriptions, and a history of documents that come, change and go."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from benchmarks.engine.filter_rules import Rule
from triplewire.algebra.pattern import Pattern
from triplewire.algebra.taxonomy import EMPTY, Taxonomy
from triplewire.model import Document


class Change(NamedTuple):
    """A document's new content, or its end."""

    uri: str
    document: Document | None


class History(ABC):
    """Changes in an order that the seed decides. Two histories of one workload tell the same story."""

    @property
    def remaining(self) -> int | None:
        """How many changes are left; None if it goes on for ever."""
        return None

    @abstractmethod
    def background(self, triples: int) -> Iterator[Document]:
        """Documents with about so many triples that are there before anything is measured; asked for once, first."""

    @abstractmethod
    def batch(self, size: int) -> list[Change]:
        """The next changes, each of another document."""


@dataclass(frozen=True, slots=True)
class Workload:
    """Subscriptions, numbered from 0, as every contender needs them, and how to begin their history.

    All subscriptions have the scope of the whole graph and one answer variable. Patterns come marked as normal.
    """

    name: str
    subscriptions: int
    pattern: Callable[[int], Pattern]
    query: Callable[[int], str]
    """The same as SPARQL, written as kindly to a SPARQL engine as the meaning allows."""
    rule: Callable[[int], Rule]
    """The same in the atomic rules that MDV decomposes it into."""
    history: Callable[[], History]
    matches: float
    """About how many subscriptions a new document matches."""
    taxonomy: Taxonomy = EMPTY
