"""How a stream is doing: added up batch by batch, and kept in the store, where others can see it."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from time import monotonic
from typing import TYPE_CHECKING, Any

from triplewire.store.backfills import FAILED

if TYPE_CHECKING:
    from triplewire.pipeline.streaming.batches import Done
    from triplewire.store import Reader, Store

KEY = "pipeline.stream"
_WINDOW = 60.0
"""Seconds over which a rate is told."""
_NAMED = 10
"""Failed backfills that are named, the newest of them."""
_OFTEN = 1.0
"""Seconds between two writes to the store, while batches come."""


@dataclass(slots=True)
class Split:
    """Where the time of a batch went, in seconds.

    `parse`: reading and parsing, by Spark's workers. `lookup` and `match`: finding rows, added up over workers.
    `write`: the rest of applying, up to the commit: what differs, what is confirmed, rows and events.
    """

    parse: float = 0.0
    lookup: float = 0.0
    match: float = 0.0
    write: float = 0.0


@dataclass(slots=True)
class StreamProgress:
    """Numbers since the stream was started, and of its last batch."""

    source: str
    since: str
    updated: str = ""
    state: str = "starting"
    batches: int = 0
    entries: int = 0
    events: int = 0
    rejected: int = 0
    rate: float = 0.0
    """Entries a second, over the last minute."""
    lag: float = 0.0
    """Seconds from the arrival of the last batch's first entry to its commit."""
    waiting: int = 0
    """Entries on the intake log that no batch has taken yet."""
    seeds: int = 0
    """Partial matches that the last batch began."""
    shares: int = 0
    """Shares of them that went to Spark's workers; 0 if they were few, and the driver did it."""
    skew: float = 0.0
    """How much longer the longest share took than the mean: 1 is even."""
    split: Split = field(default_factory=Split)
    spark: dict[str, float] = field(default_factory=dict)
    """What Spark says of its last trigger: seconds by the name of the step."""


class Meter:
    """Adds up, and keeps what it has in the store now and then."""

    def __init__(self, store: Store, source: str) -> None:
        self._store = store
        self._recent: deque[tuple[float, int]] = deque()
        self._saved = 0.0
        self.progress = StreamProgress(source, datetime.now(UTC).isoformat(timespec="seconds"))

    def add(self, done: Done) -> None:
        """A batch was committed."""
        progress, spent = self.progress, done.spent
        progress.batches += 1
        progress.entries += done.entries
        progress.events += done.events
        progress.rejected += len(done.rejected)
        progress.lag = _age(done.oldest)
        progress.seeds, progress.shares = spent.seeds, len(spent.shares)
        mean = sum(spent.shares) / len(spent.shares) if spent.shares else 0.0
        progress.skew = max(spent.shares) / mean if mean else 0.0
        progress.split = Split(done.parse, spent.lookup, spent.match, max(0.0, done.apply - spent.waited))
        progress.rate = self._rate(done.entries)
        progress.state = "running"

    def _rate(self, entries: int) -> float:
        now = monotonic()
        self._recent.append((now, entries))
        while now - self._recent[0][0] > _WINDOW:
            self._recent.popleft()
        first = self._recent[0][0]
        return sum(count for _, count in self._recent) / max(1.0, now - first)

    def hear(self, durations: Mapping[str, int]) -> None:
        """What Spark's listener tells of a trigger, in milliseconds."""
        self.progress.spark = {name: value / 1000 for name, value in durations.items()}

    def save(self, state: str | None = None) -> None:
        """Keep the numbers in the store; not more than once a second, unless the state changes."""
        now = monotonic()
        if state is None and now - self._saved < _OFTEN:
            return
        self.progress.state = state or self.progress.state
        self._saved = now
        with self._store.writing() as writer:
            self.progress.waiting = writer.intake.waiting()
            self.progress.updated = datetime.now(UTC).isoformat(timespec="milliseconds")
            writer.settings.set(KEY, asdict(self.progress))


def status(reader: Reader) -> dict[str, Any]:
    """What a store knows of its stream: its last numbers, what waits now, its backfills, and what is paused."""
    found: dict[str, Any] = reader.settings.get(KEY, {})
    return {
        "stream": found or None,
        "waiting": reader.intake.waiting(),
        "rejected": reader.intake.count_rejected(),
        "batches": reader.batches.last(),
        "last cursor": reader.log.last_cursor(),
        "backfills": reader.backfills.counts(),
        "failed backfills": {one.subscription: one.reason for one in reader.backfills.listing(_NAMED, state=FAILED)},
        "paused": reader.subscriptions.paused(_NAMED),
    }


def _age(received: str) -> float:
    try:
        then = datetime.fromisoformat(received)
    except ValueError:
        return 0.0
    if then.tzinfo is None:
        then = then.replace(tzinfo=UTC)
    return max(0.0, (datetime.now(UTC) - then).total_seconds())
