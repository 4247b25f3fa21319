"""Backfills: subscriptions that are still to hear what answered them when they came.

Such a subscription stands, and its query's rows are kept from the first batch on; but it hears nothing before all
that answers it already is on record. Then it hears of that first, and of every change after it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import astuple, dataclass

from triplewire.store import schema
from triplewire.store.sql import StorePart

QUEUED, RUNNING, DONE, FAILED = "queued", "running", "done", "failed"
UNHEARD = 1 << 62
"""The cursor after which a subscription hears its query, while it hears nothing."""


@dataclass(frozen=True, slots=True)
class BackfillRecord:
    """What is known of a backfill: `number` is the subscription's; `rows` is what it was told; times as ISO texts."""

    number: int
    subscription: str
    query: int
    state: str
    reason: str | None
    rows: int
    asked: str
    ended: str | None


class BackfillReader(StorePart):
    """Backfills by state and by query."""

    def queued(self, limit: int) -> list[BackfillRecord]:
        """Those that were not begun yet, in the order in which they came."""
        found = self._sql.select(schema.backfills, "WHERE state = ? ORDER BY number LIMIT ?", QUEUED, limit)
        return [BackfillRecord(*row) for row in found]

    def counts(self) -> dict[str, int]:
        """How many there are in each state."""
        found: dict[str, int] = dict(self._sql.rows("SELECT state, count(*) FROM backfills GROUP BY state"))
        return {state: found.get(state, 0) for state in (QUEUED, RUNNING, DONE, FAILED)}

    def listing(self, limit: int = 100, *, state: str | None = None) -> list[BackfillRecord]:
        """The last ones, or the last of one state, newest first."""
        only, values = ("", ()) if state is None else ("WHERE state = ?", (state,))
        found = self._sql.select(schema.backfills, f"{only} ORDER BY number DESC LIMIT ?", *values, limit)
        return [BackfillRecord(*row) for row in found]

    def unfinished(self, queries: Collection[int]) -> list[BackfillRecord]:
        """Those of these queries that have not come to a good end."""
        found = [BackfillRecord(*row) for row in self._sql.where(schema.backfills, "query", queries)]
        return sorted((one for one in found if one.state != DONE), key=lambda one: one.number)


class BackfillWriter(BackfillReader):
    """Backfills, and how they go on."""

    def add(self, new: Sequence[BackfillRecord]) -> None:
        """These are to be done."""
        self._sql.insert(schema.backfills, [astuple(one) for one in new])

    def begin(self, numbers: Sequence[int]) -> None:
        """A backfill of these has begun."""
        self._sql.update(schema.backfills, ("state", "reason"), [(RUNNING, None, number) for number in numbers])

    def end(self, rows: Sequence[tuple[int, int]], now: str) -> None:
        """These subscriptions have heard of so many rows."""
        self._sql.update(
            schema.backfills, ("state", "rows", "ended"), [(DONE, count, now, number) for number, count in rows]
        )

    def fail(self, reasons: Sequence[tuple[int, str]], now: str) -> None:
        """These could not be done."""
        self._sql.update(
            schema.backfills, ("state", "reason", "ended"), [(FAILED, why, now, number) for number, why in reasons]
        )

    def queue_again(self, *, failed: bool = False) -> None:
        """The process that did them is gone: all that were begun are to be done, and if wanted those that failed."""
        for state in (RUNNING, FAILED) if failed else (RUNNING,):
            self._sql.run("UPDATE backfills SET state = ? WHERE state = ?", QUEUED, state)

    def remove(self, number: int) -> None:
        """The subscription is gone."""
        self._sql.delete(schema.backfills, ("number",), [(number,)])
