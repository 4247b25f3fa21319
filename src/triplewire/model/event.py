"""Events: what subscribers are told, and why (M6, X4).

`Matched`: the row is new. `Changed`: the row stays, and a resource that it binds, or what that resource strongly
references, has new content. `Unmatched`: the row is gone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar

from pyoxigraph import Triple

from triplewire.model.row import Row
from triplewire.model.terms import Term
from triplewire.model.times import moment, spelled


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The node of an XPath row in one state of its document: its place, its text, and all that is in it.

    `text` is as in the row; `content` has the markup and the attributes too, at most 10,000 characters of it. A row
    without a node, of an expression that gives a value, is about the document itself, whose place is `/`.
    """

    node: str
    text: str
    content: str

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {"node": self.node, "text": self.text, "content": self.content}


DOCUMENT, NODE, TEXT = "document", "node", "text"
"""The columns of what an XPath gives: the uri of the document, the path of a node in it, and its text.

Its rows are the only ones without triples behind them.
"""

Content = tuple[Triple, ...] | Excerpt | None
"""The triples about a row's resources in one state, or what is at its place; None where there is no such state."""


@dataclass(frozen=True, slots=True)
class Behind:
    """A document behind an event, with its versions before and after the batch; None: it was not, or is no more."""

    uri: str
    before: int | None
    after: int | None

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {"uri": self.uri, "before": self.before, "after": self.after}

    def __str__(self) -> str:
        if self.before == self.after:
            return f"{self.uri} (version {self.after})"
        return f"{self.uri} (version {self.before or 'none'} -> {self.after or 'none'})"


class Event:
    """One row of one subscription that a batch made, touched or ended. Made as one of its three kinds.

    `time` is when the batch was committed, in UTC, by the clock of its writer. The order of events is that of their
    cursors: a clock may be set back.
    `triples` is one derivation of the row: as it is after the batch, or as it was, where the row is gone. `triples`,
    `before` and `after` may be handed in as functions; each is called when it is first asked for, and once. Two events
    are equal when all but `before` and `after` are: the versions in `documents` decide these, and comparing should
    cost no lookup.

    Invariant: an event is frozen; a copy by pickle carries `before` and `after` as they are, not the functions.
    """

    __slots__ = ("_after", "_before", "_triples", "batch", "cursor", "documents", "row", "subscription", "time")

    kind: ClassVar[str]
    subscription: str
    row: Row
    batch: str
    cursor: int
    time: datetime
    documents: tuple[Behind, ...]

    def __init__(
        self,
        subscription: str,
        row: Mapping[str, Term],
        batch: str,
        cursor: int,
        time: datetime,
        triples: tuple[Triple, ...] | Callable[[], tuple[Triple, ...]] = (),
        documents: tuple[Behind, ...] = (),
        before: Content | Callable[[], Content] = None,
        after: Content | Callable[[], Content] = None,
    ) -> None:
        if type(self) is Event:
            raise TypeError("an event is a Matched, a Changed or an Unmatched")
        row = row if isinstance(row, Row) else Row(row)
        values = (after, before, triples, batch, cursor, documents, row, subscription, moment(time))
        for name, value in zip(Event.__slots__, values, strict=True):
            object.__setattr__(self, name, value)

    @property
    def identity(self) -> Row:
        """What stays of the row while it changes: all of it, but of what an XPath gives not the text."""
        if self.triples or DOCUMENT not in self.row:
            return self.row
        return Row({name: term for name, term in self.row.items() if name != TEXT})

    @property
    def triples(self) -> tuple[Triple, ...]:
        """The triples that make the row, or made it."""
        found: tuple[Triple, ...] = self._known("_triples")
        return found

    @property
    def before(self) -> Content:
        """The triples about the row's resources before the batch, in the documents behind it; of XML, its node."""
        found: Content = self._known("_before")
        return found

    @property
    def after(self) -> Content:
        """The triples about the row's resources after the batch, in the documents behind it; of XML, its node."""
        found: Content = self._known("_after")
        return found

    def _known(self, name: str) -> Any:
        found = getattr(self, name)
        if callable(found):
            found = found()
            object.__setattr__(self, name, found)
        return found

    def as_dict(self, *, contents: bool = True) -> dict[str, Any]:
        """JSON-ready, terms in their N-Triples spelling; without `contents`, `before` and `after` are left out."""
        plain: dict[str, Any] = {
            "kind": self.kind,
            "subscription": self.subscription,
            "cursor": self.cursor,
            "batch": self.batch,
            "time": spelled(self.time),
            "row": {name: str(term) for name, term in self.row.items()},
            "triples": [*map(str, self.triples)],
            "documents": [document.as_dict() for document in self.documents],
        }
        if contents:
            plain["before"] = _spelled(self.before)
            plain["after"] = _spelled(self.after)
        return plain

    def _key(self) -> tuple[object, ...]:
        told = self.kind, self.subscription, self.row, self.batch, self.cursor, self.time
        return *told, self.triples, self.documents

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, Event) else NotImplemented

    def __hash__(self) -> int:
        return hash((self.kind, self.subscription, self.row, self.batch, self.cursor))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{name} cannot be set: an event is frozen")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{name} cannot be deleted: an event is frozen")

    def __reduce__(self) -> tuple[object, ...]:
        about = (self.subscription, self.row, self.batch, self.cursor, self.time)
        return type(self), (*about, self.triples, self.documents, self.before, self.after)

    def __str__(self) -> str:
        return f"{self.kind} {self.subscription}: {self.row}"

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.subscription} [{self.row}] batch={self.batch} cursor={self.cursor}>"


def _spelled(content: Content) -> list[str] | dict[str, Any] | None:
    if isinstance(content, Excerpt):
        return content.as_dict()
    return None if content is None else [*map(str, content)]


class Matched(Event):
    """The row is new."""

    __slots__ = ()
    kind = "matched"


class Changed(Event):
    """The row stays; a resource that it binds, or what that resource strongly references, has new content."""

    __slots__ = ()
    kind = "changed"


class Unmatched(Event):
    """The row is gone."""

    __slots__ = ()
    kind = "unmatched"


EVENTS: Mapping[str, type[Event]] = {event.kind: event for event in (Matched, Changed, Unmatched)}
"""The kinds, by name."""
