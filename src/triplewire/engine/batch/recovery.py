"""Recovery: a query whose rows are stale, because it was over a limit in some batch, is answered again, whole.

What took too many triples in one batch has rows on record that may be out of date. So the store knows the queries that
failed, since when and why; the next batch answers each of them from nothing, and tells what that changes. If this fails
too, twice as many batches go by before the next attempt, because each takes as much as the limit allows. But no query
waits for batches alone: with each failure twice as long, and an hour at most, and it is due whether batches come or not
(`Hub.recover`).
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import NamedTuple

from triplewire.engine.backfill.answers import answers_of
from triplewire.engine.batch.differences import Difference
from triplewire.engine.standing import Standing
from triplewire.errors import MatchLimitExceeded, SubscriptionError
from triplewire.matching.finder.finder import Rows
from triplewire.store import Reader, RowRecord, Writer

_WAITING = "engine.failed_queries"
"""The setting with the queries that failed, each a `Stale`; in older stores only its `due` and `pause`."""

_LONGEST_PAUSE = 1024
_FIRST_WAIT, _LONGEST_WAIT = 60, 3600


class Stale(NamedTuple):
    """A query whose rows may be out of date: since when, why, and when it is answered again."""

    since: str
    reason: str
    due: int
    """The batch that answers it again."""
    pause: int
    """Batches until the attempt after that one."""
    due_at: str
    """The time at which it is answered again, if no batch did."""
    wait: int
    """Seconds until the attempt after that one."""

    def is_due(self, batch: int, now: str) -> bool:
        """Whether a batch of this number at this time answers it."""
        return self.due <= batch or self.due_at <= now

    def failed_again(self, batch: int, now: str, reason: str) -> Stale:
        """The same after one more attempt."""
        return Stale(
            self.since,
            reason,
            batch + self.pause,
            min(2 * self.pause, _LONGEST_PAUSE),
            _later(now, self.wait),
            min(2 * self.wait, _LONGEST_WAIT),
        )


def stale(reader: Reader, queries: Iterable[int] | None = None) -> dict[int, Stale]:
    """The queries whose rows may be out of date; all of them, or those among these."""
    waiting = reader.settings.get(_WAITING, {})
    wanted = None if queries is None else set(queries)
    return {
        int(query): Stale(*wait) if len(wait) == len(Stale._fields) else Stale("", "", wait[0], wait[1], "", 0)
        for query, wait in waiting.items()
        if wanted is None or int(query) in wanted
    }


def is_due(reader: Reader, now: str) -> bool:
    """Whether some query has waited long enough, whatever batches came."""
    return any(wait.due_at <= now for wait in stale(reader).values())


def recovered(
    writer: Writer,
    standing: Standing,
    batch: int,
    difference: Difference,
    errors: dict[int, SubscriptionError],
    now: str,
) -> dict[int, Stale] | None:
    """Answer again what failed in an earlier batch and is due; `difference` and `errors` then say how that ended.

    The queries that are out of date after this batch are given back; None if they are those from before.
    """
    waiting = stale(writer)
    if not waiting and not errors:
        return None
    queries = standing.queries(writer, waiting)
    left = {number: wait for number, wait in waiting.items() if number in queries}
    for number, wait in list(left.items()):
        if not wait.is_due(batch, now):
            continue
        try:
            answers = answers_of(writer, standing, [queries[number]])
        except MatchLimitExceeded as failure:
            errors.setdefault(number, failure)
            left[number] = wait.failed_again(batch, now, failure.reason)
        else:
            errors.pop(number, None)
            del left[number]
            _replace(difference, number, writer.rows.of_query(number), answers)
    for number, error in errors.items():
        first = Stale(now, error.reason, batch + 1, 2, _later(now, _FIRST_WAIT), 2 * _FIRST_WAIT)
        left.setdefault(number, first)
    return left if left != waiting else None


def note_stale(writer: Writer, queries: dict[int, Stale]) -> None:
    """Write down which queries are out of date."""
    writer.settings.set(_WAITING, queries)


def _later(now: str, seconds: int) -> str:
    return (datetime.fromisoformat(now) + timedelta(seconds=seconds)).isoformat(timespec="milliseconds")


def _replace(difference: Difference, query: int, recorded: list[RowRecord], answers: dict[int, Rows]) -> None:
    """Let the difference lead from the rows on record to the answers, whatever it said of this query."""
    there = {(record.document, record.terms): record.id for record in recorded}
    meant = {(document, terms): why for document, rows in answers.items() for (_, terms), why in rows.items()}
    had = {terms for _, terms in there}
    has = {terms: why for (_, terms), why in reversed(meant.items())}
    difference.begun = {key: why for key, why in difference.begun.items() if key[0] != query}
    difference.begun |= {(query, terms): why for terms, why in has.items() if terms not in had}
    difference.ended = {key: why for key, why in difference.ended.items() if key[0] != query}
    difference.ended |= {(query, terms): () for terms in had if terms not in has}
    difference.inserts = [(key, document) for key, document in difference.inserts if key[0] != query]
    difference.inserts += [((query, terms), document) for document, terms in meant if (document, terms) not in there]
    difference.deletes = [gone for gone in difference.deletes if gone[1] != query]
    difference.deletes += [(number, query) for place, number in there.items() if place not in meant]
