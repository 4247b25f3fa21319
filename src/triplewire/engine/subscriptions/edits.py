"""Edits: a subscription asks something else from now on, is heard no more for a while, or is called otherwise.

An edit keeps id, deliveries, cursors and log. What the subscription asked until now becomes a span of its log, and one
batch tells what begins and what ends by the edit: a row that both queries have, under the same names, is no news. The
events of that batch are for this subscription alone, because others who ask either query have heard of their rows.

    cursors   ... the old query's events | rows that end | rows that begin | the new query's events ...
    columns   of the old query ----------------------->  | of the new query ------------------------>

While a subscription is paused, its query stands and its log grows, but nobody is told what has a cursor over the one at
which it was paused. To resume is to let that cursor go.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from time import time
from typing import NamedTuple

from triplewire.algebra.pattern import Pattern
from triplewire.engine.backfill.answers import answers_of, name_documents, put_on_record
from triplewire.engine.batch.reasons import Documents, Touched
from triplewire.engine.connection import query_of
from triplewire.engine.names import new_name, now, refuse_unstorable
from triplewire.engine.standing import Standing, StandingQuery
from triplewire.engine.subscriptions import absences
from triplewire.engine.subscriptions.registrations import Registration, compiled, drop_unasked, refuse_unserved
from triplewire.errors import MatchLimitExceeded, SubscriptionChanged, SubscriptionError
from triplewire.matching.finder.finder import Reason, Rows
from triplewire.matching.incremental import dump_pattern, load_pattern
from triplewire.matching.pages import Terms
from triplewire.model import Scope, Start, Subscription
from triplewire.store import (
    MATCHED,
    UNHEARD,
    UNMATCHED,
    NewEvent,
    NewQuery,
    QueryRecord,
    SubscriptionRecord,
    Writer,
)


@dataclass(frozen=True, slots=True)
class Edit:
    """What shall be otherwise; None: it stays. A title or a description that is empty goes.

    To be paused comes with bounds of what waits, by number and by time; without, all of it does (`absences`).
    """

    text: str | Pattern | None = None
    language: str | None = None
    scope: Scope | None = None
    start: Start | None = None
    title: str | None = None
    description: str | None = None
    paused: bool | None = None
    keep_events: int | None = None
    keep_seconds: float | None = None

    @property
    def asks(self) -> bool:
        """Whether it may change what is asked."""
        return any(each is not None for each in (self.text, self.language, self.scope, self.start))


def edit(
    writer: Writer,
    standing: Standing,
    record: SubscriptionRecord,
    wanted: Edit,
    prefixes: Mapping[str, str] | None,
    expected: str | None,
) -> SubscriptionRecord:
    """Change a subscription in this transaction; SubscriptionChanged if it is not the one that is `expected`."""
    if expected is not None and expected != record.tag:
        raise SubscriptionChanged(record.id)
    if wanted.asks:
        absences.refuse_edit(writer, record)
    made = _named(_paused(writer, record, wanted), wanted)
    asked = _asked(writer, record, wanted, prefixes) if wanted.asks else None
    if asked is not None:
        made = replace(made, text=asked.text, language=asked.language, start=asked.start)
        if asked.query.digest != _digest(asked.before):
            return _exchange(writer, standing, record, made, asked)
    return record if made == record else _altered(writer, record, made)


def _altered(writer: Writer, before: SubscriptionRecord, after: SubscriptionRecord) -> SubscriptionRecord:
    writer.deliveries.stir(before.id)
    return writer.subscriptions.alter(before, after)


def _named(record: SubscriptionRecord, wanted: Edit) -> SubscriptionRecord:
    title = record.title if wanted.title is None else wanted.title or None
    description = record.description if wanted.description is None else wanted.description or None
    refuse_unstorable(Subscription(record.id, "", record.language, title=title, description=description))
    return replace(record, title=title, description=description)


def _paused(writer: Writer, record: SubscriptionRecord, wanted: Edit) -> SubscriptionRecord:
    is_paused = record.paused_since is not None
    if wanted.paused:
        _bound(writer, record, wanted)
    elif (wanted.keep_events, wanted.keep_seconds) != (None, None):
        reason = "how much waits for it can be said of a subscription that is paused: give `paused`, too"
        raise SubscriptionError(reason, subscription=record.id)
    if wanted.paused is None or wanted.paused == is_paused:
        return record
    if wanted.paused:
        return replace(record, last_cursor=writer.log.last_cursor(), paused_since=now())
    return absences.returned(writer, record)


def _bound(writer: Writer, record: SubscriptionRecord, wanted: Edit) -> None:
    is_wanted = (wanted.keep_events, wanted.keep_seconds) != (None, None)
    if not is_wanted and not absences.is_bounded(writer, record):
        return
    if is_wanted and record.first_cursor == UNHEARD:
        reason = "what answers it already is still looked for; say how much waits for it when that is done"
        raise SubscriptionError(reason, subscription=record.id)
    until = None if wanted.keep_seconds is None else time() + wanted.keep_seconds
    absences.bound(writer, record, absences.WaitingBounds(wanted.keep_events, until))


class _Asked(NamedTuple):
    """What a subscription asks after an edit, and the query that it asked before."""

    text: str
    language: str
    start: str
    pattern: Pattern
    query: NewQuery
    before: QueryRecord


def _asked(writer: Writer, record: SubscriptionRecord, wanted: Edit, prefixes: Mapping[str, str] | None) -> _Asked:
    """The query that is wanted. It starts when the old one did, unless another start is given."""
    before = query_of(writer, record)
    language = wanted.language or record.language
    text = record.text if wanted.text is None else wanted.text
    if wanted.text is None and wanted.language in (None, record.language):
        pattern = load_pattern(before.pattern)
    else:
        pattern = compiled(writer, text, language, prefixes, besides=record.id)
    scope, start = wanted.scope or before.scope, wanted.start or record.start
    subscription = Subscription(record.id, str(text), language, scope, start)  # type: ignore[arg-type]  # as stored
    refuse_unstorable(subscription)
    refuse_unserved(pattern, scope, language)
    since = before.start
    if start != record.start:
        since = writer.batches.last() if start == "now" else 0
    query = NewQuery(scope, since, dump_pattern(pattern), viewer=before.viewer)
    return _Asked(str(text), language, start, pattern, query, before)


def _digest(query: QueryRecord) -> bytes:
    return NewQuery(query.scope, query.start, query.pattern, viewer=query.viewer).digest


def _exchange(
    writer: Writer, standing: Standing, record: SubscriptionRecord, made: SubscriptionRecord, asked: _Asked
) -> SubscriptionRecord:
    registration = Registration(writer, standing)
    number, new = registration.stand(asked.query, asked.pattern)
    after = StandingQuery(number, asked.query.scope, asked.query.start, asked.pattern, asked.query.viewer)
    made = replace(made, query=number, columns=asked.pattern.answer)
    ended, begun = _difference(writer, standing, record, made, asked.before, after, is_new=bool(new))
    last = writer.log.last_cursor() + len(ended)
    if ended or begun:
        writer.log.append(writer.batches.next(), [*ended, *begun])
        writer.batches.add(new_name("edit"), committed=now(), documents=0, events=len(ended) + len(begun))
    if record.first_cursor == UNHEARD:
        writer.backfills.remove(record.number)
    else:
        writer.subscriptions.close_span(record, last)
    made = _altered(writer, record, replace(made, first_cursor=last))  # the rows that begin have its columns
    registration.learn(writer.subscriptions.last_change() - 1, new)  # the last change lets go of the old query
    drop_unasked(writer, record.query)
    return made


def _difference(
    writer: Writer,
    standing: Standing,
    record: SubscriptionRecord,
    made: SubscriptionRecord,
    before: QueryRecord,
    after: StandingQuery,
    *,
    is_new: bool,
) -> tuple[list[NewEvent], list[NewEvent]]:
    """The events of rows that end, and of rows that begin; the rows of the new query are on record then."""
    had = {} if record.first_cursor == UNHEARD else _recorded(writer, record.query, record.columns)
    found = _found(writer, standing, after, record.id)
    waiting = () if is_new else [one.query for one in writer.backfills.unfinished([after.id])]
    put_on_record(writer, found, [after.id] if is_new else (), waiting)
    has = _recorded(writer, after.id, made.columns)
    ended = [terms for row, terms in had.items() if row not in has]
    begun = [terms for row, terms in has.items() if row not in had]
    was: dict[int, Rows] = {}
    if ended:
        with suppress(MatchLimitExceeded):  # then these rows end without a derivation
            was = answers_of(writer, standing, [StandingQuery.of(before)])
    viewer, owner = writer.access.sight_of(before.viewer), (-record.number,)
    return (
        row_events(writer, viewer, owner, UNMATCHED, ended, was),
        row_events(writer, viewer, owner, MATCHED, begun, found),
    )


def _found(writer: Writer, standing: Standing, query: StandingQuery, id: str) -> dict[int, Rows]:
    try:
        return answers_of(writer, standing, [query])
    except MatchLimitExceeded as error:
        raise MatchLimitExceeded(error.reason, subscription=id) from error


def _recorded(writer: Writer, query: int, columns: tuple[str, ...]) -> dict[frozenset[tuple[str, int]], Terms]:
    """The rows of a query, by what they bind: in whatever order the columns are, a row is the same."""
    rows = dict.fromkeys(row.terms for row in writer.rows.of_query(query))
    return {frozenset((name, term) for name, term in zip(columns, terms, strict=True) if term): terms for terms in rows}


def row_events(
    writer: Writer,
    viewer: str | None,
    owner: tuple[int],
    kind: int,
    rows: list[Terms],
    found: Mapping[int, Rows],
) -> list[NewEvent]:
    """Events of rows for one subscription alone, each with a derivation from what was found, if there is one."""
    why: dict[Terms, Reason] = {}
    wanted = set(rows)
    for answers in found.values():
        for (_, terms), derivation in answers.items():
            if terms in wanted:
                why.setdefault(terms, (terms, derivation))
    reasons = {terms: why.get(terms, (terms, ())) for terms in rows}
    behind: dict[Reason, Documents] = Touched(writer, (), (), viewer).documents_behind(set(reasons.values()))
    name_documents(writer, found, behind)
    return [NewEvent(owner, kind, *reasons[terms], behind[reasons[terms]]) for terms in rows]
