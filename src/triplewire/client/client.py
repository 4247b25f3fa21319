"""The client: the names of a `Hub`."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

import httpx
from pyoxigraph import QueryBoolean, QueryResultsFormat, QuerySolutions, Triple, parse_query_results

from triplewire.client.connection import Connection, error_in
from triplewire.client.deliveries import RemoteDeliveries
from triplewire.client.messages import (
    XML,
    change_as_one,
    content_of,
    encoded,
    headers_of,
    list_as_params,
    path_of,
    query_as_json,
    times_as_params,
)
from triplewire.errors import BadRequest, ServiceUnavailable, UnknownDocument
from triplewire.model import (
    Access,
    Change,
    Document,
    Event,
    InboxItem,
    InboxNews,
    InboxPage,
    MissedEvents,
    NetworkReach,
    Publish,
    Restrict,
    Row,
    Scope,
    Sort,
    Start,
    Subscription,
    SummaryPage,
    Term,
    Time,
)
from triplewire.model.flat import triples_in
from triplewire.tables import Events, Outcome, RowPage, Rows, SearchResult
from triplewire.wire.backbones import MemberAnswer, MemberQuestion, PassedChanges, PassedTold
from triplewire.wire.changes import AccessTold, BatchTold
from triplewire.wire.edges import EdgeAnswer, EdgeQuestion, as_json
from triplewire.wire.events import EventPage, EventTold, InboxTold, NewsTold, RowsTold, row_of
from triplewire.wire.hubs import PAGE, AnyHub
from triplewire.wire.insights import Told
from triplewire.wire.messages import read
from triplewire.wire.networks import MapTold, MoveAsked, MoveTold, NetworkTold, SpreadTold, TraceTold
from triplewire.wire.searches import SearchTold
from triplewire.wire.subscriptions import MissedTold, SubscriptionPage, SubscriptionTold

_ANSWERS = "application/sparql-results+json, application/n-triples"


class Client(Connection, AnyHub):
    """A hub at a url, with a `token` if it wants one; or with an `account` and the file of its private `key`.

    `with Client("http://127.0.0.1:8080") as hub:` is then used as a `Hub` is. `AnyHub` says what the methods do.
    """

    # -- documents

    def publish(
        self,
        data: Document | bytes | str | Path,
        *,
        uri: str | None = None,
        media_type: str | None = None,
        batch: str | None = None,
        drop_missing: bool = False,
        wait: bool = True,
        access: Access | None = None,
        reach: NetworkReach | None = None,
    ) -> Outcome:
        """Register a document, or a new version of it; gives the events that it causes, unless it does not `wait`.

        Of a `Path` the file is read here. A change that is not waited for is answered sooner when many publish: it may
        share a batch. With `access`, only the accounts that this list names may read it; with a `reach`, it goes so far
        in the network of the hub.
        """
        if drop_missing:
            raise BadRequest("a hub that is served keeps the items that a feed has lost; leave drop_missing out")
        if isinstance(data, Path):
            uri = uri or data.resolve().as_uri()
            data = data.read_bytes()
        if isinstance(data, Document):
            uri, data, media_type = data.uri, *content_of(data)
        if uri is None:
            raise TypeError("a document needs its uri: publish(data, uri=...)")
        if isinstance(data, str):
            data = encoded(data, uri)
        headers = headers_of(batch, wait) | ({} if media_type is None else {"Content-Type": media_type})
        params = {"uri": uri} | ({} if access is None else list_as_params(access))
        params |= {} if reach is None else {"reach": reach}
        return self._outcome(self._ask("PUT", "/document", params=params, content=data, headers=headers))

    def access(self, uri: str) -> Access | None:
        """Who may read and change a document; None: it is for everybody. Its writers and admins may ask."""
        return self._read(AccessTold, "GET", "/document/access", params={"uri": uri}).access

    def restrict(self, uri: str, access: Access | None, *, batch: str | None = None, wait: bool = True) -> Outcome:
        about: dict[str, Any] = {"params": {"uri": uri}, "headers": headers_of(batch, wait)}
        if access is None:
            return self._outcome(self._ask("DELETE", "/document/access", **about))
        wanted = {"readers": access.readers, "writers": access.writers}
        return self._outcome(self._ask("PUT", "/document/access", json=wanted, **about))

    def retract(self, uri: str, *, batch: str | None = None, wait: bool = True) -> Outcome:
        try:
            answer = self._ask("DELETE", "/document", params={"uri": uri}, headers=headers_of(batch, wait))
        except UnknownDocument:
            return Outcome("", 0, list)
        return self._outcome(answer)

    def apply(self, changes: Iterable[Change], *, batch: str | None = None) -> Outcome:
        wanted = list(changes)
        if not wanted:
            return Outcome(batch or "", 0, list)
        if len(wanted) > 1:
            told = {"changes": [change_as_one(change) for change in wanted]}
            return self._outcome(self._ask("POST", "/changes", json=told, headers=headers_of(batch, wait=True)))
        change = wanted[0]
        if isinstance(change, Publish):
            return self.publish(change.document, batch=batch, access=change.access, reach=change.reach)
        if isinstance(change, Restrict):
            return self.restrict(change.uri, change.access, batch=batch)
        return self.retract(change.uri, batch=batch)

    def document(self, uri: str, version: int | None = None) -> Document | None:
        params = {"uri": uri} | ({} if version is None else {"version": str(version)})
        try:
            answer = self._ask("GET", "/document", params=params, headers={"Accept": "application/n-triples"})
        except UnknownDocument:
            return None
        if XML not in answer.headers.get("link", ""):
            return Document(uri, answer.content)
        own = self._ask("GET", "/document", params=params, headers={"Accept": XML})
        return Document(uri, answer.content, own.content)

    def set_taxonomy(self, taxonomy: Document) -> Outcome:
        headers = {"Content-Type": "application/n-triples"}
        return self._outcome(self._ask("PUT", "/taxonomy", content=taxonomy.ntriples, headers=headers))

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
        """Register a query; an id is made if none is given. Its owner is the account of the token.

        It sees the documents that this account may read, or with the viewer "" those that everybody may.
        """
        if backfill != "auto":
            raise BadRequest("a hub that is served decides itself when to look for answers; leave backfill out")
        if owner is not None:
            raise BadRequest("the owner of a subscription is the account that makes it; leave owner out")
        if viewer:
            raise BadRequest('a subscription sees what the account that makes it may read; leave viewer out, or say ""')
        wanted = query_as_json(text, language, prefixes) | {"id": id, "scope": scope, "start": start}
        wanted |= {} if viewer is None else {"sees": "everybody"}
        wanted |= {"title": title, "description": description, "reach": reach}
        return self._read(SubscriptionTold, "POST", "/subscriptions", json=wanted).subscription

    def network(self) -> NetworkTold:
        """What the hub knows of its network: members, links, how far it is with its neighbours."""
        return self._read(NetworkTold, "GET", "/network")

    def network_map(self) -> MapTold:
        """What every hub of the network says of itself."""
        return self._read(MapTold, "GET", "/network/map")

    def trace(self, id: str, cursor: int | None = None) -> TraceTold:
        """How an event of a subscription got here, the last one if none is named; in plain words."""
        params = {} if cursor is None else {"cursor": cursor}
        return self._read(TraceTold, "GET", "/network/trace/" + quote(id, safe=""), params=params)

    def spread(self, uri: str) -> SpreadTold:
        """Where a document of the hub went in its network, and why there."""
        return self._read(SpreadTold, "GET", "/network/spread", params={"uri": uri})

    def move_from(
        self, hub: str, *, subscriptions: Sequence[str] = (), after: Mapping[str, int] | None = None
    ) -> MoveTold:
        """Go on at this hub with subscriptions of this account, or some, at another hub of the network.

        `after` says how far each was read there; the rest goes along. The account has the same key at both hubs. What
        a move that was interrupted has left on its way comes first; without names, it is all that comes: ask again.
        """
        told = self._move(hub, subscriptions, after or {})
        moved = {each.id for each in told.subscriptions}
        left = [id for id in subscriptions if id not in moved]
        if left:  # a move that was interrupted before was ended first
            return MoveTold([*told.subscriptions, *self._move(hub, left, after or {}).subscriptions])
        return told

    def _move(self, hub: str, subscriptions: Sequence[str], after: Mapping[str, int]) -> MoveTold:
        from triplewire.wire.keys import move_text, public_key_of, signature_of

        pem = None if self._key is None else self._key.read_bytes()
        key = "" if pem is None else public_key_of(pem)
        asked = self._read(MoveAsked, "POST", "/network/moves/challenge", json={"hub": hub, "key": key})
        wanted: dict[str, Any] = {"hub": hub, "key": key, "generation": asked.generation, "nonce": asked.nonce}
        wanted |= {"subscriptions": [*subscriptions], "after": dict(after)}
        if pem is not None:
            text = move_text(hub, asked.to, key, asked.generation, asked.nonce, subscriptions, after)
            wanted["signature"] = signature_of(pem, text)
        return self._read(MoveTold, "POST", "/network/moves", json=wanted)

    def expel(self, name: str) -> None:
        """Have the hub, which must be the one that decides, let another one be a member of the network no more."""
        self._ask("DELETE", "/network/members/" + quote(name, safe=""))

    def leave_network(self, *, anyway: bool = False) -> None:
        """Have the hub leave its network; anyway: while what a subscriber had there, who moves, has not arrived."""
        self._ask("POST", "/network/leave", params={"anyway": "true"} if anyway else None)

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
        asked = {"text": text, "language": language, "scope": scope, "start": start, "prefixes": prefixes}
        named = {"title": title, "description": description}
        waits = {"paused": paused, "keep_events": keep_events, "keep_seconds": keep_seconds}
        wanted = {name: value for name, value in {**asked, **named, **waits}.items() if value is not None}
        headers = {} if revision is None else {"If-Match": f'"{revision}"'}
        return self._read(SubscriptionTold, "PATCH", path_of(id), json=wanted, headers=headers).subscription

    def missed(self, id: str) -> list[MissedEvents]:
        return self._read(MissedTold, "GET", path_of(id, "missed")).missed

    def duplicate(self, id: str, *, new_id: str | None = None, title: str | None = None) -> Subscription:
        wanted = {"id": new_id, "title": title}
        return self._read(SubscriptionTold, "POST", path_of(id, "duplicate"), json=wanted).subscription

    def unsubscribe(self, id: str) -> None:
        self._ask("DELETE", path_of(id))

    def subscription(self, id: str) -> Subscription:
        return self._subscription(id).subscription

    def _subscription(self, id: str) -> SubscriptionTold:
        return self._read(SubscriptionTold, "GET", path_of(id))

    def subscriptions(self, *, owner: str | None = None) -> Iterator[Subscription]:
        after: str | None = ""
        while after is not None:
            found, after = self.summaries(owner=owner, after=after, limit=PAGE)
            yield from (each.subscription for each in found)

    def serve_edge(self, question: EdgeQuestion) -> EdgeAnswer:
        """See `AnyHub`; the edge's rules are the account's, and see what this may read."""
        return self._read_bounded(EdgeAnswer, "/edges", as_json(question))

    def serve_member(self, question: MemberQuestion) -> MemberAnswer:
        """What another hub of the backbone lacks; the account must be an admin's."""
        return self._read_bounded(MemberAnswer, "/backbone", asdict(question))

    def pass_on(self, changes: PassedChanges) -> PassedTold:
        """Have the home of documents apply changes that came to another hub of the backbone."""
        return self._read(PassedTold, "POST", "/backbone/changes", json=asdict(changes))

    def summaries(
        self, *, owner: str | None = None, words: str = "", sort: Sort = "id", after: str = "", limit: int = 100
    ) -> SummaryPage:
        params = {"q": words, "sort": sort, "after": after, "limit": str(limit)}
        params |= {} if owner is None else {"owner": owner}
        page = self._read(SubscriptionPage, "GET", "/subscriptions", params=params)
        return SummaryPage([each.summary for each in page.subscriptions], page.next)

    def columns(self, id: str) -> tuple[str, ...]:
        return tuple(self._subscription(id).columns)

    def log_columns(self, id: str) -> tuple[str, ...]:
        told = self._subscription(id)
        return (*told.columns, *told.past_columns)

    def make_feed_address(self, id: str) -> str:
        """An address at which the feed of a subscription can be read without a token; it is told this once.

        An address that it had before leads nowhere from now on.
        """
        return str(self._json("POST", path_of(id, "feed-address"))["address"])

    def revoke_feed_address(self, id: str) -> None:
        """Let the address of the feed lead nowhere."""
        self._ask("DELETE", path_of(id, "feed-address"))

    # -- answers

    def rows(self, id: str) -> Rows:
        columns: list[str] = []
        found: list[Row] = []
        after: str | None = ""
        while after is not None:
            page = self._rows(id, after, PAGE)
            columns, after = page.columns, page.next
            found += map(row_of, page.rows)
        return Rows(columns, found)

    def row_page(self, id: str, *, after: str = "", limit: int = PAGE) -> RowPage:
        page = self._rows(id, after, limit)
        return RowPage([row_of(row) for row in page.rows], page.next)

    def _rows(self, id: str, after: str, limit: int) -> RowsTold:
        asked = {"after": after, "limit": str(limit)}
        return self._read(RowsTold, "GET", path_of(id, "rows"), params=asked)

    def events(
        self,
        id: str,
        *,
        after: int = 0,
        limit: int | None = None,
        wait: float = 0,
        since: Time | None = None,
        until: Time | None = None,
    ) -> Events:
        """See `AnyHub.events`; where there is none, after `wait` seconds at most."""
        found = Events()
        times = times_as_params(since, until)
        while limit is None or len(found) < limit:
            most = PAGE if limit is None else min(PAGE, limit - len(found))
            params: dict[str, str | float] = {"after": after, "limit": most, "wait": 0 if found else wait, **times}
            page = self._events(id, params)
            found += map(self._event, page.events)
            if len(page.events) < most:
                break
            after = page.next
        return found

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
        """The events of all subscriptions of this account (of all, for an admin), or of some, the newest first."""
        asked: dict[str, Any] = {"subscription": [*subscriptions], "kind": [*kinds], "q": words, "limit": limit}
        asked |= times_as_params(since, until) | ({} if before is None else {"before": before})
        page = self._read(InboxTold, "GET", "/inbox", params=asked)
        return InboxPage([InboxItem(self._event(each), each.title) for each in page.events], page.next, page.is_cut)

    def news(self) -> InboxNews:
        return self._read(NewsTold, "GET", "/inbox/news").news

    def mark(self, cursor: int) -> int:
        return int(self._json("PUT", "/inbox/mark", json={"cursor": cursor})["cursor"])

    def follow(self, id: str, *, after: int = 0) -> Iterator[Event]:
        """Each event as it happens; where the connection breaks, it is made again, and goes on after the last one."""
        pause = 0.0
        while True:
            time.sleep(pause)
            try:
                for event in self._streamed(id, after):
                    after, pause = event.cursor, 0.0
                    yield event
            except ServiceUnavailable:
                pause = min(30.0, 2 * pause or 0.5)

    def _streamed(self, id: str, after: int) -> Iterator[Event]:
        self._prove()
        headers = {"Last-Event-ID": str(after), "Accept": "text/event-stream"}
        quiet = httpx.Timeout(60.0, connect=10.0)  # the service says something every fifteen seconds
        try:
            with self._http.stream("GET", path_of(id, "stream"), headers=headers, timeout=quiet) as answer:
                if answer.status_code >= 400:
                    answer.read()
                    raise error_in(answer)
                for line in answer.iter_lines():
                    if line.startswith("data: {"):
                        yield self._event(read(EventTold, json.loads(line.removeprefix("data: "))))
                    elif line == "event: gone":
                        self.subscription(id)  # says that there is none
        except httpx.HTTPError as error:
            raise ServiceUnavailable(f"{self.url} cannot be reached: {error}") from None

    def why(self, id: str, row: Mapping[str, Term]) -> Told:
        asked = {"row": {name: str(term) for name, term in row.items()}}
        return Told.of(self._json("POST", path_of(id, "why"), json=asked))

    def why_not(self, id: str, iri: str | Term) -> Told:
        return Told.of(self._json("POST", path_of(id, "why-not"), json={"resource": str(iri)}))

    def preview(
        self,
        text: str,
        *,
        language: str = "sparql",
        scope: Scope = "document",
        start: Start = "now",
        limit: int = 100,
        prefixes: Mapping[str, str] | None = None,
    ) -> Told:
        wanted = query_as_json(text, language, prefixes) | {"scope": scope, "start": start, "limit": limit}
        return Told.of(self._json("POST", "/preview", json=wanted))

    def find(
        self,
        text: str,
        *,
        language: str = "xpath",
        limit: int = 100,
        prefixes: Mapping[str, str] | None = None,
        reach: NetworkReach = "hub",
    ) -> SearchResult:
        wanted = query_as_json(text, language, prefixes) | {"limit": limit, "reach": reach}
        return self._read(SearchTold, "POST", "/find", json=wanted).result

    def query(
        self, sparql: str, *, prefixes: Mapping[str, str] | None = None
    ) -> QuerySolutions | QueryBoolean | list[Triple]:
        head = "".join(f"PREFIX {name}: <{iri}>\n" for name, iri in (prefixes or {}).items())
        answer = self._ask("POST", "/sparql", data={"query": head + sparql}, headers={"Accept": _ANSWERS})
        if answer.headers["content-type"].startswith("application/n-triples"):
            return list(triples_in(answer.content))
        found = parse_query_results(answer.content, format=QueryResultsFormat.JSON)
        assert isinstance(found, QuerySolutions | QueryBoolean)
        return found

    @property
    def deliveries(self) -> RemoteDeliveries:
        """Where events are sent: `add`, `listing`, `pause`, `resume`, `remove`, `rotate`, `ping`, and dead letters."""
        return RemoteDeliveries(self._json)

    # -- from what is told to what it means

    def _outcome(self, answer: httpx.Response) -> Outcome:
        """What became of a change; nothing is known of one that is only acknowledged."""
        if answer.status_code == 202:
            return Outcome("", 0, list)
        return read(BatchTold, answer.json()).outcome(self._event)

    def _events(self, id: str, params: Mapping[str, str | float]) -> EventPage:
        return self._read(EventPage, "GET", path_of(id, "events"), params=params)

    def _event(self, told: EventTold) -> Event:
        """The event, which asks for its contents when these are wanted."""
        only: dict[str, str | float] = {"after": told.cursor - 1, "limit": 1, "contents": "true"}
        return told.event(lambda: self._events(told.subscription, only).events[0])
