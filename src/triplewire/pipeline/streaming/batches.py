"""Micro-batches: parsed by Spark's workers, applied by the hub in one transaction that knows the batch's id.

Nothing is lost on the way. What cannot be parsed, or is refused by the hub, is set aside with the reason, in the
transaction that applies the others; so is what ends the workers that parse it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from threading import Lock
from time import perf_counter
from typing import TYPE_CHECKING

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from triplewire.documents import Limits
from triplewire.documents.limits import DEFAULT_LIMITS
from triplewire.engine import Hub, Outcome
from triplewire.engine.names import OwnName
from triplewire.engine.workers import SharedFinder, Spent
from triplewire.errors import PipelineError, StoreError
from triplewire.intake.backlog import coming, taken
from triplewire.intake.settlement import Parts, changes_in, settle
from triplewire.pipeline.streaming.entries import DDL, entries_in
from triplewire.pipeline.streaming.parsing import EntryParser
from triplewire.store import WaitingEntry

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_CRASHED = "Python worker exited unexpectedly"


@dataclass(slots=True)
class Done:
    """What a micro-batch was: how much came in, what it caused, and where the time went, in seconds."""

    batch: str
    entries: int = 0
    events: int = 0
    rejected: list[str] = field(default_factory=list)
    """Why what was set aside could not be applied."""
    failed: list[str] = field(default_factory=list)
    """Subscriptions that failed in it, with the reasons."""
    oldest: str = ""
    """When the first of its entries was received."""
    parse: float = 0.0
    apply: float = 0.0
    spent: Spent = field(default_factory=Spent)


class Stopped(PipelineError):
    """A batch came after the end."""


class Batches:
    """Applies micro-batches of entries, one after the other.

    `tell` hears what became of each batch when it is committed.
    """

    def __init__(
        self,
        hub: Hub,
        finder: SharedFinder,
        *,
        limits: Limits = DEFAULT_LIMITS,
        tell: Callable[[Done], None] = lambda done: None,
    ) -> None:
        self._hub, self._finder, self._tell = hub, finder, tell
        self._parse = EntryParser(limits)
        self._turn = Lock()
        self._is_closed = False

    def close(self) -> None:
        """Let the batch that runs come to its end, and begin no other."""
        with self._turn:
            self._is_closed = True

    def apply(self, frame: DataFrame, batch: str) -> None:
        """Parse the entries of a micro-batch, and apply them; to do it again changes nothing."""
        with self._turn:
            if self._is_closed:
                raise Stopped("the stream is being stopped; this batch is for the next run")
            done = Done(batch)
            started = perf_counter()
            waiting = sorted(self._parsed(frame), key=attrgetter("place"))
            done.parse = perf_counter() - started
            self._finder.spent = done.spent
            if waiting:
                done.entries, done.oldest = len(waiting), min(one.received for one in waiting)
                self._apply(waiting, batch, done)
            done.apply = perf_counter() - started - done.parse
        if waiting:
            self._tell(done)

    # -- parsing

    def _parsed(self, frame: DataFrame) -> list[WaitingEntry]:
        try:
            return entries_in(frame.mapInArrow(self._parse, DDL).toArrow())
        except Exception as error:
            if _CRASHED not in str(error):
                raise
            return entries_in(frame.mapInArrow(self._parse.careful(), DDL).toArrow())

    # -- applying

    def _apply(self, waiting: Sequence[WaitingEntry], batch: str, done: Done) -> None:
        """All of them, in one batch if it can be.

        Parts of it are named by their entries: when it comes again, what is left of it may be cut at another place.
        """
        ends = waiting[0].place, waiting[-1].place

        def applied(parts: Parts[WaitingEntry]) -> Outcome:
            first, last = parts[0].origin.place, parts[-1].origin.place
            name = batch if (first, last) == ends else f"{batch}:{first[0]}.{first[1]}-{last[0]}.{last[1]}"
            try:
                return self._hub.apply(changes_in(parts), batch=OwnName(name), handled=taken(waiting, parts))
            except (Py4JError, PySparkException) as error:
                raise PipelineError(str(error)) from error

        for settled in settle(coming(waiting), applied):
            outcome = settled.outcome
            assert outcome is not None, "what is set aside is a batch, too"
            done.events += len(outcome)
            done.rejected += [str(one.error) for one in settled.refused]
            done.failed += map(str, outcome.errors)


def is_of_the_store(error: BaseException) -> bool:
    """Whether it is the store that failed, here or in a worker (whose error arrives as a text)."""
    text = str(error)
    return isinstance(error, StoreError) or any(
        f"triplewire.errors.{kind}" in text for kind in ("StoreUnavailable", "StoreBusy")
    )
