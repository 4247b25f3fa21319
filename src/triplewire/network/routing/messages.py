"""What hubs tell each other: which documents they have, which they want, and the documents themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from triplewire.model import Access, Document
from triplewire.network.routing.advertisements import Advertised
from triplewire.network.routing.interests import Interest
from triplewire.network.routing.reaches import NETWORK


@dataclass(frozen=True, slots=True)
class Advertise:
    """What is advertised besides, and what no longer."""

    kind: ClassVar[str] = "advertise"
    added: frozenset[Advertised]
    removed: frozenset[Advertised]


@dataclass(frozen=True, slots=True)
class Subscribe:
    """Interests that begin, with the time since when they count, and those that end."""

    kind: ClassVar[str] = "subscribe"
    added: tuple[tuple[Interest, float], ...]
    removed: tuple[Interest, ...]


@dataclass(frozen=True, slots=True)
class DocumentSent:
    """A version of a document; without content it is gone, or of no concern any more to the one who hears this.

    `origin` is the hub that it was published at, `time` when, and `reach` how far it goes. A document of the same uri
    at another hub is another one.
    """

    kind: ClassVar[str] = "event"
    origin: str
    uri: str
    version: int
    time: float
    document: Document | None
    reach: int = NETWORK
    signature: str = ""
    """Between processes, the origin's: those on the way pass a document on, and cannot make one or change it."""
    access: Access | None = None
    """In a simulation, who may read it: the hub of each reader sees to that. Between processes a list stays at home."""

    def is_for(self, account: str) -> bool:
        """Whether an account may read it; "" is one whom no list names."""
        return self.access is None or self.access.may_read(account)


@dataclass(frozen=True, slots=True)
class Ask:
    """Is this still the version of a document? Asked of its origin, on the way that `path` tells."""

    kind: ClassVar[str] = "ask"
    origin: str
    uri: str
    version: int
    path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AnswerSent:
    """The version of a document, for the hub at the beginning of the path on which it was asked."""

    kind: ClassVar[str] = "answer"
    sent: DocumentSent
    path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RoutesTold:
    """Everything that a neighbour should know: it replaces what it was told before."""

    kind: ClassVar[str] = "resync"
    advertised: frozenset[Advertised]
    interests: tuple[tuple[Interest, float], ...]
    documents: tuple[DocumentSent, ...]
