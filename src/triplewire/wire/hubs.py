"""Any hub: what can be asked of it, whether it is in this process or elsewhere.

`triplewire.Hub` has these names on a store, `triplewire.client.Client` over HTTP. The command line knows only these.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, Protocol, Self

from pyoxigraph import QueryBoolean, QuerySolutions, QueryTriples, Triple

from triplewire.model import (
    Access,
    Change,
    Document,
    Event,
    InboxNews,
    InboxPage,
    MissedEvents,
    NetworkReach,
    Row,
    Scope,
    Sort,
    Start,
    Subscription,
    SummaryPage,
    Term,
    Time,
)
from triplewire.tables import Events, Outcome, RowPage, Rows, SearchResult
from triplewire.wire.edges import EdgeAnswer, EdgeQuestion
from triplewire.wire.insights import Insight

PAGE = 1_000
"""So many rows or events are read at a time."""


class AnyHub(Protocol):
    """Documents and subscriptions in, events out."""

    def close(self) -> None:
        """Let go of what it holds; what was committed is there."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...

    # -- documents

    def publish(
        self,
        data: Document | bytes | str | Path,
        *,
        uri: str | None = None,
        media_type: str | None = None,
        batch: str | None = None,
        drop_missing: bool = False,
        access: Access | None = None,
        reach: NetworkReach | None = None,
    ) -> Outcome:
        """Register a document, or a new version of it; gives the events that it causes.

        Of a `Path` the file is read; its uri is that of the file, if none is given. Of a feed, each item is a
        document; those that a new version does not have stay, unless `drop_missing` is set.
        With `access`, only the accounts that this list names may read it, from the first moment on. With a `reach`, it
        goes so far in the network of the hub; without, as far as before, and at first through all of it.
        """

    def access(self, uri: str) -> Access | None:
        """Who may read and change a document; None: it has no list, and is for everybody."""

    def restrict(self, uri: str, access: Access | None, *, batch: str | None = None) -> Outcome:
        """Give a document another access list, or with None let it be for everybody; gives the events this causes."""

    def retract(self, uri: str, *, batch: str | None = None) -> Outcome:
        """Take a document back; gives the events that this causes, none if there is no such document."""

    def apply(self, changes: Iterable[Change], *, batch: str | None = None) -> Outcome:
        """Apply a batch of changes: all of them or none, and told as one; with the id of a batch, once."""

    def document(self, uri: str, version: int | None = None) -> Document | None:
        """A document as it is now, or in one of its versions; None if it is not there (any more, or then)."""

    def find(
        self,
        text: str,
        *,
        language: str = "xpath",
        limit: int = 100,
        prefixes: Mapping[str, str] | None = None,
        reach: NetworkReach = "hub",
    ) -> SearchResult:
        """Documents that match a query now, newest first, not more than `limit` (N3); nothing is registered.

        With a `reach` beyond the hub, other hubs of its hierarchy are asked for what is for everybody there, the
        nearest first, until there are enough.
        """

    def set_taxonomy(self, taxonomy: Document) -> Outcome:
        """Replace the given taxonomy; rows appear and disappear, with events."""

    # -- subscriptions

    def subscribe(
        self,
        text: str,
        *,
        language: str = "sparql",
        id: str | None = None,
        scope: Scope = "document",
        start: Start = "now",
        owner: str | None = None,
        viewer: str | None = None,
        prefixes: Mapping[str, str] | None = None,
        backfill: Literal["auto", "now", "later"] = "auto",
        title: str | None = None,
        description: str | None = None,
        reach: NetworkReach = "hub",
    ) -> Subscription:
        """Register a query; an id is made if none is given."""

    def edit(
        self,
        id: str,
        *,
        text: str | None = None,
        language: str | None = None,
        scope: Scope | None = None,
        start: Start | None = None,
        title: str | None = None,
        description: str | None = None,
        paused: bool | None = None,
        keep_events: int | None = None,
        keep_seconds: float | None = None,
        prefixes: Mapping[str, str] | None = None,
        revision: str | None = None,
    ) -> Subscription:
        """Change a subscription; what is not given stays, and a title or description that is "" goes.

        With a `revision`, SubscriptionChanged if the subscription has another one.
        """

    def pause(self, id: str, *, keep_events: int | None = None, keep_seconds: float | None = None) -> Subscription:
        """Tell nothing of a subscription until `resume`; it is matched meanwhile, and its rows are what they are.

        What comes meanwhile waits: all of it, or the last `keep_events`, and for so many seconds.
        """
        return self.edit(id, paused=True, keep_events=keep_events, keep_seconds=keep_seconds)

    def resume(self, id: str) -> Subscription:
        """Tell of a subscription again: first what came while it was paused, in order; `missed` tells what did not."""
        return self.edit(id, paused=False)

    def missed(self, id: str) -> list[MissedEvents]:
        """What a subscription is not told any more, because too much came while it was paused, or for too long."""

    def duplicate(self, id: str, *, new_id: str | None = None, title: str | None = None) -> Subscription:
        """Register what a subscription asks once more, under an id of its own; it counts what comes from now on."""

    def unsubscribe(self, id: str) -> None:
        """Forget a subscription, its rows and its events."""

    def subscription(self, id: str) -> Subscription:
        """The subscription of an id."""

    def subscriptions(self, *, owner: str | None = None) -> Iterator[Subscription]:
        """All subscriptions, or those of one owner, by id."""

    def summaries(
        self, *, owner: str | None = None, words: str = "", sort: Sort = "id", after: str = "", limit: int = 100
    ) -> SummaryPage:
        """A page of subscriptions as a list shows them, with their answers and the times of their last events."""

    def columns(self, id: str) -> tuple[str, ...]:
        """The names of the variables that a subscription asks for."""

    def log_columns(self, id: str) -> tuple[str, ...]:
        """The variables in its log: those that it asks for, then those that it asked for before an edit."""

    def serve_edge(self, question: EdgeQuestion) -> EdgeAnswer:
        """What an edge of this hub lacks (`wire.edges`); after `question.wait` seconds, if it lacks nothing."""

    # -- answers

    def rows(self, id: str) -> Rows:
        """What answers a subscription now; a list, which can also be written as a file, or become a data frame."""

    def row_page(self, id: str, *, after: str = "", limit: int = PAGE) -> RowPage:
        """Some of what answers a subscription now, and where the next page begins; only these are read."""

    def each_row(self, id: str) -> Iterator[Row]:
        """What answers a subscription now, read page by page; batches go on meanwhile."""
        after: str | None = ""
        while after is not None:
            rows, after = self.row_page(id, after=after)
            yield from rows

    def events(
        self, id: str, *, after: int = 0, limit: int | None = None, since: Time | None = None, until: Time | None = None
    ) -> Events:
        """The events of a subscription with a cursor over `after`, in order.

        With times, those that were committed from `since` to before `until`; a time without a zone counts as UTC.
        """

    def each_event(
        self, id: str, *, after: int = 0, since: Time | None = None, until: Time | None = None
    ) -> Iterator[Event]:
        """The events with a cursor over `after`, in order, read page by page."""
        while found := self.events(id, after=after, limit=PAGE, since=since, until=until):
            yield from found
            after = found[-1].cursor

    def follow(self, id: str, *, after: int = 0) -> Iterator[Event]:
        """The events with a cursor over `after`, then each new one as it happens, without an end."""

    def inbox(
        self,
        *,
        subscriptions: Sequence[str] = (),
        kinds: Sequence[str] = (),
        since: Time | None = None,
        until: Time | None = None,
        words: str = "",
        before: str | None = None,
        limit: int = 50,
    ) -> InboxPage:
        """The events of several subscriptions together, the newest first."""

    def news(self) -> InboxNews:
        """How many events are new since an account has looked (`mark`): of each subscription, and in all."""

    def mark(self, cursor: int) -> int:
        """Note that an account has looked at the events up to a cursor, or up to the last one; gives the cursor."""

    def why(self, id: str, row: Mapping[str, Term]) -> Insight:
        """Why a row answers a subscription: its triples, who states them, the conditions; UnknownRow if it does not."""

    def why_not(self, id: str, iri: str | Term) -> Insight:
        """Why a resource does not answer a subscription: the part of the query that fits nothing, and what was seen."""

    def preview(
        self,
        text: str,
        *,
        language: str = "sparql",
        scope: Scope = "document",
        start: Start = "now",
        limit: int = 100,
        prefixes: Mapping[str, str] | None = None,
    ) -> Insight:
        """What a subscription would get and cost; nothing is registered."""

    def query(
        self, sparql: str, *, prefixes: Mapping[str, str] | None = None
    ) -> QuerySolutions | QueryBoolean | QueryTriples | list[Triple]:
        """What SPARQL finds in the current metadata."""
