"""Micro-batches: parsed by Spark's workers, applied by the hub in one transaction that knows the batch's id.

Nothing is lost on the way. What cannot be parsed, or is refused by the hub, is set aside with the reason, in the
transaction that applies the others; so is what ends the workers that parse it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Lock
from time import perf_counter
from typing import TYPE_CHECKING, TypeVar

from triplewire.documents import Limits
from triplewire.documents.limits import DEFAULT_LIMITS
from triplewire.engine import Hub
from triplewire.engine.finding import SharedFinder, Spent
from triplewire.engine.names import OwnName
from triplewire.errors import DocumentError, PipelineError, StoreError, TaxonomyError
from triplewire.intake.entries import Handled, is_about, is_refused
from triplewire.pipeline.streaming.entries import DDL, Waiting, entries_in
from triplewire.pipeline.streaming.parsing import Parse, change, rejection

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_CRASHED = "Python worker exited unexpectedly"
_Item = TypeVar("_Item")


@dataclass(slots=True)
class Done:
    """What a micro-batch was: how much came in, what it caused, and where the time went, in seconds."""

    batch: str
    entries: int = 0
    events: int = 0
    rejected: list[Waiting] = field(default_factory=list)
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

    `takes_off`: the entries are those of the hub's intake log, and a position is one of it. `tell` hears what became
    of each batch when it is committed.
    """

    def __init__(
        self,
        hub: Hub,
        finder: SharedFinder,
        *,
        takes_off: bool = True,
        limits: Limits = DEFAULT_LIMITS,
        tell: Callable[[Done], None] = lambda done: None,
    ) -> None:
        self._hub, self._finder, self._takes_off, self._tell = hub, finder, takes_off, tell
        self._parse = Parse(limits)
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
            waiting = sorted(self._parsed(frame), key=_place)
            done.parse = perf_counter() - started
            self._finder.spent = done.spent
            if waiting:
                done.entries, done.oldest = len(waiting), min(one.received for one in waiting)
                self._apply(waiting, waiting[-1].position, batch, done)
            done.apply = perf_counter() - started - done.parse
        if waiting:
            self._tell(done)

    # -- parsing

    def _parsed(self, frame: DataFrame) -> list[Waiting]:
        try:
            return entries_in(frame.mapInArrow(self._parse, DDL).toArrow())
        except Exception as error:
            if _CRASHED not in str(error):
                raise
            return entries_in(frame.mapInArrow(self._parse.careful(), DDL).toArrow())

    # -- applying

    def _apply(self, waiting: Sequence[Waiting], until: int, batch: str, done: Done) -> None:
        """All of them in one batch; if the hub refuses some, without these, or by halves if it does not say which."""
        good = [one for one in waiting if one.reason is None]
        bad = [one for one in waiting if one.reason is not None]
        while True:
            span = (until, waiting[0].position) if self._takes_off else (0, 0)
            handled = Handled(span[0], [rejection(one) for one in bad], span[1])
            try:
                outcome = self._hub.apply([change(one) for one in good], batch=OwnName(batch), handled=handled)
            except DocumentError as error:
                refused = [one for one in good if is_about(one.uri, error) and is_refused(change(one), error)]
                if not refused:
                    raise
                bad += [one.refused(str(error)) for one in refused]
                good = [one for one in good if one not in refused]
            except TaxonomyError as error:
                if len(good) > 1:
                    return self._apply_halves(sorted([*good, *bad], key=_place), until, batch, done)
                bad += [one.refused(str(error)) for one in good]
                good = []
            else:
                break
        done.events += len(outcome)
        done.rejected += bad
        done.failed += map(str, outcome.errors)
        return None

    def _apply_halves(self, waiting: Sequence[Waiting], until: int, batch: str, done: Done) -> None:
        """Each half is a batch of its own then: the first takes off what no entry of the second shares.

        They are named by their entries: when the batch comes again, what is left of it may be halved at another place.
        """
        for number, half in enumerate(_halves(waiting)):
            border = until if number else waiting[len(waiting) // 2].position - 1
            first, last = _place(half[0]), _place(half[-1])
            name = f"{batch.partition(':')[0]}:{first[0]}.{first[1]}-{last[0]}.{last[1]}"
            self._apply(half, border, name, done)


def is_of_the_store(error: BaseException) -> bool:
    """Whether it is the store that failed, here or in a worker (whose error arrives as a text)."""
    text = str(error)
    return isinstance(error, StoreError) or any(
        f"triplewire.errors.{kind}" in text for kind in ("StoreUnavailable", "StoreBusy")
    )


def _place(one: Waiting) -> tuple[int, int]:
    return one.position, one.item


def _halves(some: Sequence[_Item]) -> tuple[Sequence[_Item], Sequence[_Item]]:
    middle = len(some) // 2
    return some[:middle], some[middle:]
