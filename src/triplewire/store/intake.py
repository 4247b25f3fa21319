"""The intake: what publishers sent and no batch has applied yet, in the order of arrival; and what was set aside.

A submission is one or more entries under one position: they came together and are applied together. Entries stay
until the batch that applies them takes them off, in the same transaction: each is applied once, whatever is killed.
A folder's files are entries as well; `landed` remembers which version of each file was seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

from triplewire.model import spelled
from triplewire.store import schema
from triplewire.store.sql import StorePart, columns_of

UNREAD, READ, RETRACT, FILE, RESTRICT = 1, 2, 3, 4, 5
"""Kinds of entries: a document as it was sent, one that was parsed already, a retraction, a file's path to read, and
another access list."""


@dataclass(frozen=True, slots=True)
class NewEntry:
    """A change, as a log keeps it; `content` is the path, for a file."""

    kind: int
    uri: str
    media_type: str | None = None
    content: bytes | None = None


ELSEWHERE, INTAKE, JOURNAL = 0, 1, 2
"""The logs that entries wait on: another program's, this table, and the journal beside a store that is a file."""


class WaitingEntry(NamedTuple):
    """An entry at its place on a log: a position, and which of those that came together it is.

    A `reason` says why it cannot be applied.
    """

    position: int
    entry: NewEntry
    item: int = 0
    received: str = ""
    reason: str | None = None
    log: int = ELSEWHERE

    @property
    def place(self) -> tuple[int, int]:
        """Where it is in the order of its log."""
        return self.position, self.item


@dataclass(frozen=True, slots=True)
class NewRejection:
    """A change that could not be applied, and why."""

    entry: NewEntry
    reason: str


@dataclass(frozen=True, slots=True)
class Rejection:
    """A change that was set aside: what was sent, why it was not applied, and when that was."""

    number: int
    uri: str
    kind: int
    media_type: str | None
    content: bytes | None
    reason: str
    rejected: str


class IntakeReader(StorePart):
    """What waits, and what was set aside."""

    def last(self) -> int:
        """The position of the last submission, whether it still waits or not; 0 before the first."""
        return self._sql.counter("intake")

    def first(self) -> int:
        """The position of the first submission that waits; the one after the last if none does."""
        return self._sql.number("SELECT min(position) FROM intake") or self.last() + 1

    def waiting(self) -> int:
        """How many entries wait."""
        return self._sql.number("SELECT count(*) FROM intake")

    def until(self, after: int, most: int) -> int:
        """Up to which position a batch may go to have `most` entries; a submission is never cut."""
        found = self._sql.rows(
            "SELECT position FROM intake WHERE position > ? ORDER BY position, item LIMIT ?", after, most + 1
        )
        if len(found) <= most:
            return max(after, self.last())
        last = found[-1][0]
        whole = [position for (position,) in found if position < last]
        return int(whole[-1] if whole else last)

    def sizes(self, after: int, until: int) -> list[tuple[int, int]]:
        """The positions with after < position <= until, each with the number of its entries."""
        found = self._sql.rows(
            "SELECT position, count(*) FROM intake WHERE position > ? AND position <= ?"
            " GROUP BY position ORDER BY position",
            after,
            until,
        )
        return [(position, count) for position, count in found]

    def entries(self, after: int, until: int) -> Iterator[WaitingEntry]:
        """The entries with after < position <= until, in order."""
        text = f"SELECT {columns_of(schema.intake)} FROM intake WHERE position > ? AND position <= ?"
        found = self._sql.stream(f"{text} ORDER BY position, item", after, until)
        return (WaitingEntry(row[0], NewEntry(*row[2:6]), row[1], row[6], log=INTAKE) for row in found)

    def landed(self) -> dict[str, str]:
        """The files that were seen, each with what told its version."""
        return dict(self._sql.rows("SELECT path, version FROM landed"))

    def rejected(self, after: int = 0, limit: int = 100) -> list[Rejection]:
        """What was set aside, in order, with a greater number."""
        found = self._sql.select(schema.rejected, "WHERE number > ? ORDER BY number LIMIT ?", after, limit)
        return [Rejection(*row) for row in found]

    def count_rejected(self) -> int:
        """How many are set aside."""
        return self._sql.number("SELECT count(*) FROM rejected")


class IntakeWriter(IntakeReader):
    """Adds entries, takes them off, and sets some aside."""

    def append(self, entries: Sequence[NewEntry], received: str | None = None) -> int:
        """Add one submission; gives its position."""
        (position,) = self._sql.take("intake", 1)
        self._insert([(position, item) for item in range(len(entries))], entries, received)
        return position

    def append_each(self, entries: Sequence[NewEntry], received: str | None = None) -> int:
        """A submission for each; the last position."""
        if entries:
            self._insert([(position, 0) for position in self._sql.take("intake", len(entries))], entries, received)
        return self.last()

    def _insert(self, places: list[tuple[int, int]], entries: Sequence[NewEntry], received: str | None) -> None:
        received = received or _now()
        rows = [
            (*place, entry.kind, entry.uri, entry.media_type, entry.content, received)
            for place, entry in zip(places, entries, strict=True)
        ]
        self._sql.insert(schema.intake, rows)

    def take(self, until: int) -> None:
        """Away with the submissions up to a position: they are applied, or set aside."""
        self._sql.run("DELETE FROM intake WHERE position <= ?", until)

    def land(self, versions: Mapping[str, str]) -> None:
        """Remember that these versions of files were seen."""
        self._sql.replace(schema.landed, list(versions.items()))

    def forget_landed(self, paths: Sequence[str]) -> None:
        """These files are gone: if they come back, they are new."""
        self._sql.delete(schema.landed, ("path",), [(path,) for path in paths])

    def reject(self, rejections: Sequence[NewRejection], now: str | None = None) -> None:
        """Set these aside."""
        now = now or _now()
        numbers = self._sql.take("rejected", len(rejections)) if rejections else ()
        self._sql.insert(
            schema.rejected,
            [
                (number, one.entry.uri, one.entry.kind, one.entry.media_type, one.entry.content, one.reason, now)
                for number, one in zip(numbers, rejections, strict=True)
            ],
        )

    def forget_rejected(self, until: int) -> int:
        """Away with what was set aside, up to a number; how many."""
        return self._sql.run("DELETE FROM rejected WHERE number <= ?", until)


def _now() -> str:
    return spelled(datetime.now(UTC))
