"""Searches as they are told: documents that match a query now, at one hub or in its network (N3)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from triplewire.model import Document
from triplewire.tables import SearchResult
from triplewire.wire.messages import Described


@dataclass(frozen=True)
class FoundTold:
    """A document that matches."""

    uri: str
    triples: Annotated[str, Described("Its triples, as N-Triples.")]
    xml: Annotated[str, Described("Its XML, if it is XML.")] = ""
    hub: Annotated[str, Described("The hub of the network that it is at; empty for the one that was asked.")] = ""


@dataclass(frozen=True)
class SearchTold:
    """Documents that match a query, those of the hub that was asked first, and places that have not answered."""

    documents: list[FoundTold]
    silent: Annotated[list[str], Described("What these have may be missing.")] = field(default_factory=list)

    @classmethod
    def of(cls, result: SearchResult) -> SearchTold:
        """What a hub gives, as it is told."""
        pairs = zip(result, result.hubs, strict=True)
        found = [FoundTold(each.uri, each.ntriples.decode(), each.xml.decode(), hub) for each, hub in pairs]
        return cls(found, result.silent)

    @property
    def result(self) -> SearchResult:
        """The same as a hub gives it."""
        documents = [Document(each.uri, each.triples.encode(), each.xml.encode()) for each in self.documents]
        return SearchResult(documents, [each.hub for each in self.documents], self.silent)
