"""Micro-batches: parsed by Spark's workers, applied by the hub in one transaction that knows the batch's id.

Nothing is lost on the way. What cannot be parsed, or is refused by the hub, is set aside with the reason, in the
transaction that applies the others. What ends the worker that parses it is looked for by halves, and set aside as well.
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
from triplewire.engine.intake import Handled
from triplewire.errors import DocumentError, PipelineError, StoreError, TaxonomyError
from triplewire.pipeline.streaming.entries import DDL, Waiting, entries_in
from triplewire.pipeline.streaming.parsing import Parse, change, rejection

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_Item = TypeVar("_Item")
_ENDED = "the worker that read it ended, {times} times: it needs too much memory, or breaks the parser ({reason})"
_TIMES = 3
"""How often an entry may end its worker before it is set aside."""


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
        self._tell(done)

    # -- parsing

    def _parsed(self, frame: DataFrame) -> list[Waiting]:
        try:
            return entries_in(frame.mapInArrow(self._parse, DDL).toArrow())
        except Exception as error:
            if is_of_the_store(error):
                raise
            return self._sifted(frame, str(error))

    def _sifted(self, frame: DataFrame, reason: str) -> list[Waiting]:
        """By halves: what ends its worker alone, again and again, is set aside."""
        places = sorted(zip(*(c.to_pylist() for c in frame.select("position", "item").toArrow().columns), strict=True))
        found: list[Waiting] = []
        left: list[Sequence[tuple[int, int]]] = [*_halves(places)] if len(places) > 1 else [places]
        while left:
            some = left.pop()
            part = frame.filter(_within(some[0], some[-1]))
            for _ in range(1 if len(some) > 1 else _TIMES):
                try:
                    found += entries_in(part.mapInArrow(self._parse, DDL).toArrow())
                    break
                except Exception as error:
                    if is_of_the_store(error):
                        raise
                    reason = _short(error)
            else:
                if len(some) > 1:
                    left += _halves(some)
                else:
                    why = _ENDED.format(times=_TIMES, reason=reason)
                    found += [one.refused(why) for one in entries_in(part.toArrow())]
        return found

    # -- applying

    def _apply(self, waiting: Sequence[Waiting], until: int, batch: str, done: Done) -> None:
        """All of them in one batch; if the hub refuses some, without these, or by halves if it does not say which."""
        good = [one for one in waiting if one.reason is None]
        bad = [one for one in waiting if one.reason is not None]
        while True:
            handled = Handled(until if self._takes_off else 0, [rejection(one) for one in bad])
            try:
                outcome = self._hub.apply([change(one) for one in good], batch=batch, handled=handled)
            except DocumentError as error:
                refused = [one for one in good if one.uri == error.uri]
                if not refused:
                    raise
                bad += [one.refused(str(error)) for one in refused]
                good = [one for one in good if one.uri != error.uri]
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


def _within(first: tuple[int, int], last: tuple[int, int]) -> Column:
    """Whose place is between two places."""
    from pyspark.sql.functions import col, lit, struct

    def place(position: int, item: int) -> Column:
        return struct(lit(position).cast("bigint").alias("position"), lit(item).cast("bigint").alias("item"))

    own = struct(col("position"), col("item"))
    return (own >= place(*first)) & (own <= place(*last))


def _short(error: BaseException) -> str:
    """The line of a long error of Spark that says what happened."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    telling = [line for line in lines if "Python worker" in line or "Error" in line]
    return (telling or lines or [type(error).__name__])[0][:200]
