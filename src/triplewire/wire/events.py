"""Events and rows as they are told: one event, pages of them, the inbox, what is new in it, and pages of rows.

An `EventTold` is written by `Event.as_dict`, without a value between: events are many.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal

from pyoxigraph import Triple

from triplewire.model import EVENTS, Behind, Content, Event, Excerpt, InboxNews, Row, parse_term
from triplewire.model.flat import triples_in
from triplewire.wire.messages import Described

RowTerms = Annotated[dict[str, str], Described("From variable to term, as in N-Triples.")]
_WHEN = "When its batch was committed, by the clock of its writer; the order of events is that of their cursors."


@dataclass(frozen=True, kw_only=True)
class EventTold:
    """What happened to one row of one subscription."""

    kind: Literal["matched", "changed", "unmatched"]
    subscription: str
    cursor: int
    batch: str
    time: Annotated[str, Described(_WHEN, format="date-time")]
    row: RowTerms
    triples: list[str]
    documents: list[Behind]
    before: list[str] | Excerpt | None = None
    after: list[str] | Excerpt | None = None

    def event(self, whole: Callable[[], EventTold]) -> Event:
        """The event; `whole` gives this message with its contents, when these are first asked for."""
        return EVENTS[self.kind](
            self.subscription,
            row_of(self.row),
            self.batch,
            self.cursor,
            datetime.fromisoformat(self.time),
            lambda: _triples(self.triples),
            tuple(self.documents),
            lambda: _content(whole().before),
            lambda: _content(whole().after),
        )


@dataclass(frozen=True)
class EventPage:
    """Some events in order; `next` is the `after` to ask for those that follow."""

    events: list[EventTold]
    next: int


@dataclass(frozen=True, kw_only=True)
class InboxEvent(EventTold):
    """An event, and what its subscription is called."""

    title: str


@dataclass(frozen=True)
class InboxTold:
    """Some events, the newest first; `next` is the `before` of the next page, null at the end."""

    events: list[InboxEvent]
    next: str | None
    is_cut: Annotated[bool, Described("It did not look further; `next` does.")]


@dataclass(frozen=True)
class NewsOf:
    """New events of a subscription, counted up to 1,000."""

    id: str
    title: str
    events: int


@dataclass(frozen=True)
class NewsTold:
    """How many events came after the cursor `mark`; with `last` as the mark, none is new."""

    mark: int
    last: int
    events: int
    is_cut: Annotated[bool, Described("There are more: not all was counted.")]
    subscriptions: list[NewsOf]

    @classmethod
    def of(cls, news: InboxNews) -> NewsTold:
        """What is told of these news."""
        return cls(*news[:4], [NewsOf(*each) for each in news.subscriptions])

    @property
    def news(self) -> InboxNews:
        """The news that are told."""
        several = [(each.id, each.title, each.events) for each in self.subscriptions]
        return InboxNews(self.mark, self.last, self.events, self.is_cut, several)


@dataclass(frozen=True)
class RowsTold:
    """A page of answers of a subscription; `next` is the `after` of the next one, null on the last."""

    columns: list[str]
    rows: list[RowTerms]
    next: str | None


def row_of(told: Mapping[str, str]) -> Row:
    """The row of these terms."""
    return Row({name: parse_term(text) for name, text in told.items()})


def _content(told: Sequence[str] | Excerpt | None) -> Content:
    return told if told is None or isinstance(told, Excerpt) else _triples(told)


def _triples(told: Sequence[str]) -> tuple[Triple, ...]:
    lines = "".join(f"{triple} .\n" for triple in told)
    return tuple(triples_in(lines.encode()))
