"""Recovering: a query that failed in a batch is answered again, whole, by a later one.

What took too many triples in one batch has rows on record that may be out of date. So the store knows the queries that
failed; the next batch answers each of them from nothing, and tells what that changes. If this fails too, twice as many
batches go by before the next attempt, because each takes as much as the limit allows.
"""

from __future__ import annotations

from triplewire.engine.answering import answers_of
from triplewire.engine.differences import Difference
from triplewire.engine.neighbourhoods import Rows
from triplewire.engine.standing import Standing
from triplewire.errors import MatchLimitExceeded, SubscriptionError
from triplewire.store import RowRecord, Writer

_WAITING = "engine.failed_queries"
"""The setting with the queries that failed: for each the next batch that answers it again, and the pause after that."""

_LONGEST_PAUSE = 1024


def recover(
    writer: Writer, standing: Standing, batch: int, difference: Difference, errors: dict[int, SubscriptionError]
) -> None:
    """Answer again what failed in an earlier batch and is due; `difference` and `errors` then say how that ended."""
    waiting: dict[int, list[int]] = {int(query): wait for query, wait in writer.settings.get(_WAITING, {}).items()}
    if not waiting and not errors:
        return
    queries = standing.queries(writer, waiting)
    left = {number: wait for number, wait in waiting.items() if number in queries}
    for number, (due, pause) in list(left.items()):
        if due > batch:
            continue
        try:
            answers = answers_of(writer, standing, [queries[number]])
        except MatchLimitExceeded as error:
            errors.setdefault(number, error)
            left[number] = [batch + pause, min(2 * pause, _LONGEST_PAUSE)]
        else:
            errors.pop(number, None)
            del left[number]
            _replace(difference, number, writer.rows.of_query(number), answers)
    for number in errors:
        left.setdefault(number, [batch + 1, 2])
    if left != waiting:
        writer.settings.set(_WAITING, left)


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
