"""Summaries: subscriptions as a list shows them, with how many answers each has and when it was told something last.

A page of them costs a few questions to the store, however many subscriptions there are; a search looks at so many and
says where to go on. To sort by anything but the id is to look at all that match, so there is a bound on these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple, get_args

from triplewire.engine.batch import recovery
from triplewire.engine.connection import described
from triplewire.engine.inspect.events import Some, newest
from triplewire.model import Sort, Summary, SummaryPage, moment
from triplewire.store import HEARD_ON, UNHEARD, Reader, SubscriptionRecord

COUNTED_TO = 1_000
"""Answers are counted up to so many."""
LOOKED_AT = 20_000
"""Subscriptions that a search looks at for one page."""
SORTED = 5_000
"""Subscriptions that may match if they are to be sorted by anything but the id."""
_PAGE = 1_000

Sees = Callable[[str | None], bool]
"""Whether the caller may have what was found on behalf of a viewer."""


class SummaryFilter(NamedTuple):
    """Which subscriptions: of one owner, or of all; with words in their id, title, description, text or owner."""

    owner: str | None = None
    words: str = ""
    sort: Sort = "id"
    after: str = ""
    limit: int = 100

    def fits(self, record: SubscriptionRecord) -> bool:
        """Whether the words are all there."""
        return has_words(self.words, (record.id, record.title, record.description, record.text, record.owner))


def has_words(words: str, texts: Iterable[str | None]) -> bool:
    """Whether all words are in some texts, whatever their case."""
    text = "\n".join(each for each in texts if each).casefold()
    return all(word in text for word in words.casefold().split())


def page(reader: Reader, asked: SummaryFilter, sees: Sees = lambda viewer: True) -> SummaryPage:
    """A page of summaries; ValueError for a sort that there is not, or of too many."""
    if asked.sort not in get_args(Sort):
        raise ValueError(f"sort is {asked.sort!r}; it must be one of {', '.join(get_args(Sort))}")
    if asked.sort == "id":
        records, following = _by_id(reader, asked)
    else:
        records, following = _sorted(reader, asked, sees)
    return SummaryPage(summaries_of(reader, records, sees), following)


def summaries_of(reader: Reader, records: Sequence[SubscriptionRecord], sees: Sees) -> list[Summary]:
    """The summaries of these."""
    queries = dict(zip(records, reader.queries.by_ids([record.query for record in records]), strict=True))
    shown = [record for record, query in queries.items() if query is not None and sees(query.viewer)]
    answers = reader.rows.counts([record.query for record in shown], COUNTED_TO)
    last = _last_events(reader, shown)
    stale = recovery.stale(reader)
    return [
        Summary(
            described(record, query, stale),
            record.columns,
            answers.get(record.query, 0) if record.id in last else None,
            last.get(record.id),
        )
        for record, query in queries.items()
        if query is not None
    ]


def _last_events(reader: Reader, records: Sequence[SubscriptionRecord]) -> dict[str, datetime | None]:
    plain = [r for r in records if r.revision == 1 and r.last_cursor == HEARD_ON and r.first_cursor != UNHEARD]
    ends = reader.log.last_of_queries([number for record in plain for number in (record.query, -record.number)])
    cursors: dict[str, int] = {}
    for record in plain:
        shared, own = ends.get(record.query, 0), ends.get(-record.number, 0)
        cursors[record.id] = max(shared if shared > record.first_cursor else 0, own)
    batches = reader.log.batches_of([cursor for cursor in cursors.values() if cursor])
    numbers = {id: batches[cursor] for id, cursor in cursors.items() if cursor}
    for record in records:
        if record.id not in cursors and (found := newest(reader, record, Some(), 1)):
            numbers[record.id] = found[0].batch
    times = reader.batches.by_numbers(set(numbers.values()))
    return {r.id: moment(times[numbers[r.id]].committed) if r.id in numbers else None for r in records}


def _by_id(reader: Reader, asked: SummaryFilter) -> tuple[list[SubscriptionRecord], str | None]:
    found: list[SubscriptionRecord] = []
    last = asked.after
    for looked, record in enumerate(_listed(reader, asked.owner, asked.after)):
        if len(found) == asked.limit or looked == LOOKED_AT:
            return found, last
        if asked.fits(record):
            found.append(record)
        last = record.id
    return found, None


def _sorted(reader: Reader, asked: SummaryFilter, sees: Sees) -> tuple[list[SubscriptionRecord], str | None]:
    found: list[SubscriptionRecord] = []
    for looked, record in enumerate(_listed(reader, asked.owner, "")):
        if len(found) == SORTED or looked == LOOKED_AT:
            raise ValueError(f"these are too many to sort them by {asked.sort}; ask for fewer, or sort by id")
        if asked.fits(record):
            found.append(record)
    keys = _keys(reader, asked.sort.removeprefix("-"), found, sees)
    known = [record for record in found if keys[record.id] is not None]
    known.sort(key=lambda record: (keys[record.id],), reverse=asked.sort.startswith("-"))  # of equal ones, by id
    ordered = [*known, *(record for record in found if keys[record.id] is None)]
    begin = 0
    if asked.after:
        places = {record.id: place for place, record in enumerate(ordered)}
        if asked.after not in places:
            raise ValueError(f"{asked.after!r} is not in this list any more; begin it anew")
        begin = places[asked.after] + 1
    chosen = ordered[begin : begin + asked.limit]
    return chosen, chosen[-1].id if begin + asked.limit < len(ordered) else None


def _keys(reader: Reader, sort: str, records: Sequence[SubscriptionRecord], sees: Sees) -> dict[str, object]:
    """What each is sorted by; None, which comes last, where there is nothing, or nothing that may be told."""
    if sort == "title":
        return {record.id: (record.title or record.id).casefold() for record in records}
    if sort in ("id", "created"):
        return {record.id: record.id if sort == "id" else record.number for record in records}
    facts = summaries_of(reader, records, sees)
    return {one.subscription.id: one.answers if sort == "answers" else one.last_event for one in facts}


def _listed(reader: Reader, owner: str | None, after: str) -> Iterator[SubscriptionRecord]:
    while some := reader.subscriptions.listing(after, _PAGE, owner=owner):
        yield from some
        after = some[-1].id
