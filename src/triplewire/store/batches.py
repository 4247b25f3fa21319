"""Batches and repeats: what was committed, so that a batch or a request that comes again is recognised.

A batch is known by its id; a request by the key that its client gave it, each account's own.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import astuple, dataclass

from triplewire.store import schema
from triplewire.store.sql import StorePart, is_storable


@dataclass(frozen=True, slots=True)
class BatchRecord:
    """A committed batch: its place in the order of all, when it was (as its writer says), and what it did."""

    number: int
    id: str
    committed: str
    documents: int
    events: int


class BatchReader(StorePart):
    """Batches by id and in their order."""

    def find(self, id: str) -> BatchRecord | None:
        """The batch with this id, when it was committed."""
        if not is_storable(id):
            return None
        found = self._sql.select(schema.batches, "WHERE id = ?", id)
        return BatchRecord(*found[0]) if found else None

    def last(self) -> int:
        """The number of the last batch; 0 before the first."""
        return self._sql.counter("batches")

    def listing(self, after: int = 0, limit: int = 100) -> list[BatchRecord]:
        """Batches in their order, with a greater number."""
        found = self._sql.select(schema.batches, "WHERE number > ? ORDER BY number LIMIT ?", after, limit)
        return [BatchRecord(*row) for row in found]

    def by_numbers(self, numbers: Collection[int]) -> dict[int, BatchRecord]:
        """These batches."""
        return {row[0]: BatchRecord(*row) for row in self._sql.where(schema.batches, "number", numbers)}

    def within(self, since: str, until: str) -> tuple[int, int] | None:
        """The first and the last batch that was committed from one time to before another; None if none was.

        Between the two may be some that were not: a clock may have been set back.
        """
        text = "SELECT min(number), max(number) FROM batches WHERE committed >= ? AND committed < ?"
        found = self._sql.first(text, since, until)
        return None if found is None or found[0] is None else (found[0], found[1])

    def since(self, time: str) -> int:
        """The number of the last batch that was committed before a time; found by halves, as they are in its order."""
        low, high = 0, self.last()
        while low < high:
            middle = (low + high + 1) // 2
            found = self._sql.first("SELECT committed FROM batches WHERE number = ?", middle)
            if found is None or found[0] < time:
                low = middle
            else:
                high = middle - 1
        return low

    def events_by_minute(self, after: int) -> list[tuple[str, int, int]]:
        """Of the batches with a greater number, by the minute in which they were committed: events, and the last."""
        text = (
            "SELECT substr(committed, 1, 16) AS minute, sum(events), max(number) FROM batches WHERE number > ?"
            " GROUP BY substr(committed, 1, 16) ORDER BY minute"
        )
        return [(minute, int(events), last) for minute, events, last in self._sql.rows(text, after)]


class BatchWriter(BatchReader):
    """Batches, and the next one."""

    def next(self) -> int:
        """The number that `add` will give: nobody else can take it before this transaction ends."""
        return self.last() + 1

    def add(self, id: str, *, committed: str, documents: int, events: int) -> BatchRecord:
        """This transaction is this batch."""
        record = BatchRecord(self._sql.take("batches", 1)[0], id, committed, documents, events)
        self._sql.insert(schema.batches, [astuple(record)])
        return record


@dataclass(frozen=True, slots=True)
class Repeat:
    """A request that was applied, when (in milliseconds since 1970), and its answer, as the service spells it."""

    account: str
    key: str
    digest: bytes
    batch: str
    kept: int
    answer: bytes


class RepeatReader(StorePart):
    """Requests by account and key."""

    def find(self, account: str, key: str, since: int) -> Repeat | None:
        """The request of an account with this key, if it is not from before a time."""
        if not is_storable(key):
            return None
        found = self._sql.select(schema.repeats, "WHERE account = ? AND key = ? AND kept >= ?", account, key, since)
        return Repeat(*found[0]) if found else None


class RepeatWriter(RepeatReader):
    """Requests, and new ones."""

    def add(self, repeat: Repeat, *, since: int, most: int) -> None:
        """Keep a request; away with those from before a time, and with the oldest of its account over so many."""
        self._sql.run("DELETE FROM repeats WHERE kept < ?", since)
        self._sql.replace(schema.repeats, [astuple(repeat)])
        self._sql.run(
            "DELETE FROM repeats WHERE account = ? AND kept < (SELECT kept FROM repeats WHERE account = ?"
            " ORDER BY kept DESC LIMIT 1 OFFSET ?)",
            repeat.account,
            repeat.account,
            most - 1,
        )
