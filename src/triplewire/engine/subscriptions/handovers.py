"""Handovers: a subscription goes on at another hub, which tells what the old one has not (P7).

    handed over at the old hub: what it asks, its rows, the events that were not read or wait; then it ends there
    take over   at the new hub, whose store has the documents that made the rows, or later versions of them:
                the events that were not read, then what is different: rows that end, begin, and stay with new content

One that is paused is so at the new hub, too: what waited goes on to wait, within its bounds, and what it has missed is
said there.

Each side is one transaction with what its node writes. Rows are compared as people see them; only blank nodes have the
number of a document in their names, which is another one at each hub, so that they go by the document's place instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from triplewire.engine.backfill.answers import answers_of, put_on_record
from triplewire.engine.connection import query_of, record_of
from triplewire.engine.inspect import events
from triplewire.engine.names import new_name, now
from triplewire.engine.standing import Standing, StandingQuery
from triplewire.engine.subscriptions import absences
from triplewire.engine.subscriptions.edits import row_events
from triplewire.engine.subscriptions.registrations import Registration
from triplewire.errors import SubscriptionError
from triplewire.matching.finder.finder import Rows
from triplewire.matching.incremental import load_pattern
from triplewire.matching.pages import Terms
from triplewire.model import Document, Subscription, parse_term
from triplewire.model.access import at_home, reach_of
from triplewire.model.foreign import place_of, uri_at
from triplewire.store import (
    CHANGED,
    EVERYBODY,
    HEARD_ON,
    MATCHED,
    UNHEARD,
    UNMATCHED,
    DocumentRecord,
    EventRecord,
    NewEvent,
    Reader,
    SubscriptionRecord,
    Writer,
    is_storable,
    scoped,
    triples_of,
)

MOST_EVENTS = 10_000
"""So many events that were not read go along."""

_BLANK = re.compile(r"_:d(\d+)x(.*)", re.DOTALL)
_PLACED = re.compile(r"_:(\S+) (\S+) (.*)", re.DOTALL)

Cells = tuple[str, ...]
"""The texts of a row's terms, the same at all hubs; empty for one that is not bound."""


def is_cell(text: str) -> bool:
    """Whether a text of another hub can be the cell of a row.

    >>> [is_cell(text) for text in ("", "<urn:a>", '"7"@en', "_:corner-5 urn:doc b0", "urn:a", "_:b0", "7")]
    [True, True, True, True, False, False, False]
    """
    if not text or _PLACED.fullmatch(text):
        return is_storable(text)
    try:
        return not text.startswith("_:") and is_storable(text) and str(parse_term(text)) == text
    except ValueError:
        return False


@dataclass(frozen=True)
class HandedEvent:
    """An event that was not read at the old hub."""

    kind: int
    row: Cells
    triples: tuple[Cells, ...]


@dataclass(frozen=True)
class HandedPause:
    """A subscription is paused: since when, and how many of its events were before that; the others wait.

    `keep` is how many may wait, `until` how long, in seconds since 1970; None: all of them, ever.
    """

    since: str
    heard: int
    keep: int | None = None
    until: float | None = None


@dataclass(frozen=True)
class HandedSubscription:
    """All that a hub hands over of a subscription; `since` is when it began to count, in microseconds, 0 being ever."""

    id: str
    text: str
    language: str
    scope: str
    start: str
    title: str | None
    description: str | None
    sees_everybody: bool
    pattern: str
    since: int
    rows: tuple[Cells, ...]
    events: tuple[HandedEvent, ...]
    pause: HandedPause | None = None
    missed: tuple[str, ...] = ()
    """Why it has missed events at hubs where it was before, stretch by stretch."""


# -- the old hub


def refuse_unmovable(reader: Reader, id: str, after: int) -> None:
    """SubscriptionError for a subscription that cannot go to another hub now; the message says what to do."""
    record = record_of(reader, id)
    unread = _unread(reader, record, after)
    reason = ""
    reach = reach_of(query_of(reader, record).viewer)
    if reach != "network":
        reason = f'its reach is "{reach}": what it asks is around here; only one with reach "network" can move'
    elif record.first_cursor == UNHEARD:
        reason = "what answers it already is still looked for; move it when that is done"
    elif reader.deliveries.of_subscription(id):
        reason = "it has deliveries, which do not move; remove them, and add them again at the new hub"
    elif len(unread) > MOST_EVENTS:
        reason = f"more than {MOST_EVENTS:,} of its events were not read; read them here, and say `after` which cursor"
    elif any(each.columns != record.columns for each in events.hearers(reader, record, unread)):
        reason = "it was edited, and events from before were not read; read them here, and say `after` which cursor"
    if reason:
        raise SubscriptionError(reason, subscription=id)


def handed_over(reader: Reader, id: str, after: int, home: str, name: str) -> HandedSubscription:
    """What goes to another hub of a subscription that can move, read up to a cursor; the hub has a place and a name."""
    record = record_of(reader, id)
    query, cells = query_of(reader, record), _Cells(reader, home)
    unread = [
        HandedEvent(each.kind, cells.of(each.terms), tuple(map(cells.of, each.triples)))
        for each in _unread(reader, record, after)
    ]
    rows = dict.fromkeys(row.terms for row in reader.rows.of_query(record.query))
    return HandedSubscription(
        record.id,
        record.text,
        record.language,
        query.scope,
        record.start,
        record.title,
        record.description,
        at_home(query.viewer) == EVERYBODY,
        query.pattern,
        reader.network.reaches()[id],
        tuple(map(cells.of, rows)),
        tuple(unread),
        _pause(reader, record, after),
        tuple(_missed(reader, record, name)),
    )


def _pause(reader: Reader, record: SubscriptionRecord, after: int) -> HandedPause | None:
    if record.paused_since is None:
        return None
    heard = sum(each.cursor <= record.last_cursor for each in _unread(reader, record, after))
    bounds = absences.bounds_of(reader, record)
    return HandedPause(record.paused_since, heard, bounds.events, bounds.until)


def _missed(reader: Reader, record: SubscriptionRecord, name: str) -> Iterator[str]:
    """Why it has missed events, with the cursors that say so here; those of a hub before this one have none."""
    lost = absences.fallen_off(reader, record)
    for each in [*absences.missed(reader, record), *([] if lost is None else [lost])]:
        where = f" (at {name}, after cursor {each.after} up to {each.until})" if each.after < each.until else ""
        yield each.reason + where


def counted(reader: Reader, id: str, documents: Iterable[tuple[str, str]], home: str) -> list[tuple[str, str]]:
    """Those of some documents, each by its origin and uri, that a subscription counts: published since it began."""
    start, places = query_of(reader, record_of(reader, id)).start, list(documents)
    records = reader.documents.current([uri_at(home, *place) for place in places])
    return [
        place
        for place, record in zip(places, records, strict=True)
        if record is not None and record.present and record.published > start
    ]


def _unread(reader: Reader, record: SubscriptionRecord, after: int) -> list[EventRecord]:
    """What was not read, and of a paused subscription what waits within its bounds."""
    heard = events.following(reader, record, events.Some(after), MOST_EVENTS + 1)
    if record.last_cursor == HEARD_ON:
        return heard
    lost = absences.fallen_off(reader, record)
    begin = max(after, record.last_cursor if lost is None else lost.until)
    waiting = events.following(
        reader, replace(record, last_cursor=HEARD_ON), events.Some(begin), MOST_EVENTS + 1 - len(heard)
    )
    return heard + waiting


class _Cells:
    """From the numbers of terms to texts that mean the same at every hub of the network, and back."""

    def __init__(self, reader: Reader, home: str) -> None:
        self._reader, self._home = reader, home

    def of(self, terms: Sequence[int]) -> Cells:
        texts = dict(zip(known := [term for term in terms if term], self._reader.terms.texts(known), strict=True))
        return tuple(self._placed(texts[term]) if term else "" for term in terms)

    def _placed(self, text: str) -> str:
        found = _BLANK.fullmatch(text)
        if found is None:
            return text
        (record,) = self._reader.documents.by_ids([int(found[1])])
        return "_:{} {} {}".format(*place_of(record.uri, self._home), found[2])

    def text(self, cell: str) -> str:
        """The text of a cell in this store; of a document that is not here, a blank node that is nobody's."""
        found = _PLACED.fullmatch(cell) if cell.startswith("_:") else None
        if found is None:
            return cell
        (record,) = self._reader.documents.current([uri_at(self._home, found[1], found[2])])
        return scoped(0 if record is None else record.id, f"_:{found[3]}")


# -- the new hub


def take_over(
    writer: Writer,
    standing: Standing,
    handed: HandedSubscription,
    documents: Mapping[tuple[str, str], Document],
    owner: str | None,
    viewer: str | None,
    home: str,
) -> SubscriptionRecord:
    """Go on with a subscription; `documents` are as the old hub had told of them, by their origins and uris.

    This store has them too, in that version or a later one, unless they are gone.
    """
    now_here = _current(writer, documents, home)
    wanted = _wanted(handed, owner, viewer)
    registration = Registration(writer, standing, batch=_start(writer, handed, now_here.values()))
    registration.add([wanted])
    writer.network.reach(handed.id, handed.since)
    record = record_of(writer, handed.id)
    query = query_of(writer, record)
    standing_query = StandingQuery.of(query)
    found = answers_of(writer, standing, [standing_query])
    _put_on_record(writer, record.query, found)
    told = _difference(writer, record, handed, found, _touched(writer, documents, home), query.viewer, home)
    heard = len(told) if handed.pause is None else handed.pause.heard
    batch = writer.batches.next()
    writer.log.append(batch, told[:heard])
    record = _away(writer, record, handed)
    writer.log.append(batch, told[heard:])
    if told:
        writer.batches.add(new_name("network"), committed=now(), documents=0, events=len(told))
    return record


def _away(writer: Writer, record: SubscriptionRecord, handed: HandedSubscription) -> SubscriptionRecord:
    """The subscription, paused if it was: what is in the log from here on waits."""
    pause = handed.pause
    bounds = None if pause is None else absences.WaitingBounds(pause.keep, pause.until)
    absences.brought(writer, record, bounds, handed.missed)
    if pause is None:
        return record
    paused = replace(record, last_cursor=writer.log.last_cursor(), paused_since=pause.since)
    return writer.subscriptions.alter(record, paused)


def _wanted(handed: HandedSubscription, owner: str | None, viewer: str | None) -> Subscription:
    pattern = load_pattern(handed.pattern)
    made = Subscription(
        handed.id,
        handed.text,
        handed.language,
        handed.scope,  # type: ignore[arg-type]  # a Subscription checks what it is given
        handed.start,  # type: ignore[arg-type]  # this as well
        owner,
        pattern,
        EVERYBODY if handed.sees_everybody else viewer,
    )
    return replace(made, title=handed.title, description=handed.description, reach="network")


def _current(writer: Writer, documents: Iterable[tuple[str, str]], home: str) -> dict[tuple[str, str], DocumentRecord]:
    places = list(documents)
    records = writer.documents.current([uri_at(home, *place) for place in places])
    return {place: record for place, record in zip(places, records, strict=True) if record is not None}


def _start(writer: Writer, handed: HandedSubscription, records: Iterable[DocumentRecord]) -> int:
    """The batch after which things count here: by the time since when they do, and such that what came along does."""
    if not handed.since:
        return 0
    since = datetime.fromtimestamp(handed.since / 1e6, UTC).isoformat(timespec="milliseconds")
    return max(0, min([writer.batches.since(since), *(record.published - 1 for record in records if record.present)]))


def _put_on_record(writer: Writer, query: int, found: Mapping[int, Rows]) -> None:
    is_known = bool(writer.rows.of_query(query))
    put_on_record(writer, found, () if is_known else [query], [query] if is_known else ())


def _touched(writer: Writer, documents: Mapping[tuple[str, str], Document], home: str) -> set[int]:
    """The terms of which a document says something else now than in the version that the old hub had."""
    found: set[str] = set()
    here = _current(writer, documents, home)
    for place, before in documents.items():
        record = here.get(place)
        if record is None:
            continue
        version = [(record.id, record.version)]
        content, xml = writer.documents.contents(version)[0] or b"", writer.documents.xml(version)[0] or b""
        stated = set(triples_of(record.id, content if record.present else b""))
        found |= {subject for subject, _, _ in stated ^ set(triples_of(record.id, before.ntriples))}
        if (xml or b"") != before.xml:
            found.add(f"<{place[1]}>")
    return set(writer.terms.ids(sorted(found))) if found else set()


def _difference(
    writer: Writer,
    record: SubscriptionRecord,
    handed: HandedSubscription,
    found: Mapping[int, Rows],
    touched: set[int],
    viewer: str | None,
    home: str,
) -> list[NewEvent]:
    cells, owner = _Cells(writer, home), (-record.number,)
    had = dict.fromkeys(_numbers(writer, cells, handed.rows))
    has: dict[Terms, None] = dict.fromkeys(terms for rows in found.values() for _, terms in rows)
    unread = [
        NewEvent(owner, each.kind, row, tuple(_numbers(writer, cells, each.triples)))  # type: ignore[arg-type]  # triples
        for each, row in zip(handed.events, _numbers(writer, cells, [e.row for e in handed.events]), strict=True)
    ]
    seen = writer.access.sight_of(viewer)
    ended = [row for row in had if row not in has]
    begun = [row for row in has if row not in had]
    stays = [row for row in has if row in had and not touched.isdisjoint(row)]
    return [
        *unread,
        *row_events(writer, seen, owner, UNMATCHED, ended, {}),
        *row_events(writer, seen, owner, MATCHED, begun, found),
        *row_events(writer, seen, owner, CHANGED, stays, found),
    ]


def _numbers(writer: Writer, cells: _Cells, rows: Sequence[Cells]) -> list[tuple[int, ...]]:
    texts = [[cells.text(cell) for cell in row] for row in rows]
    names = list(dict.fromkeys(text for row in texts for text in row if text))
    numbers = dict(zip(names, writer.terms.ids(names), strict=True)) if names else {}
    return [tuple(numbers[text] if text else 0 for text in row) for row in texts]
