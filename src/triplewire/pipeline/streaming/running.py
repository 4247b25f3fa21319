"""Running a stream: a source, a checkpoint and a hub; it waits while the store is away, and ends when it is told to."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread
from time import monotonic
from typing import TYPE_CHECKING

from pyspark.sql.streaming.listener import StreamingQueryListener

from triplewire.documents import Limits
from triplewire.documents.limits import DEFAULT_LIMITS
from triplewire.engine import Hub
from triplewire.errors import PipelineError, StoreBusy, StoreError, StoreUnavailable
from triplewire.matching.incremental import MOST_TRIPLES
from triplewire.pipeline.streaming import INTAKE, kafka
from triplewire.pipeline.streaming.backfills import POOL, Backfiller
from triplewire.pipeline.streaming.batches import Batches, Done, is_of_the_store
from triplewire.pipeline.streaming.landing import Landing
from triplewire.pipeline.streaming.progress import Meter
from triplewire.pipeline.streaming.source import NAME, IntakeSource
from triplewire.pipeline.streaming.workers import SMALL, SparkWorkers, spark_finder
from triplewire.store import Store
from triplewire.store.files import private_folder

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.listener import QueryProgressEvent
    from pyspark.sql.streaming.query import StreamingQuery

MOST = 10_000
"""Entries that a micro-batch takes at most."""
_PATIENCE = (0.5, 1.0, 2.0, 5.0, 10.0)
"""Seconds to wait for the store: the last of them again and again."""
_LOOK = 0.1
"""Seconds between two looks whether a query still runs."""
_LOOK_AGAIN, _REST = 0.05, 4
"""Seconds between two looks into a folder; and so many times as long as a look took, because it may be large."""
_QUERY_ID = "sql.streaming.queryId"
_PROXY, _OF_PYTHON = "Python Proxy", re.compile(r"[\w.]+(?:Error|Exception): \S")
"""How Spark begins to tell that Python code has failed; and the line that says of what."""
_TOO_SLOW = "Python worker failed to connect back"
"""What Spark says when a Python process did not start within ten seconds, which cannot be set."""
_DID_NOT_START = "Spark's Python did not start in time"
_MOST_TRIES = 12
"""So often it is tried again: several minutes, on a machine that has too much to do."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be run.

    `source` is "intake", a folder, or kafka://host:port/topic. `interval` is the least time between two batches, in
    seconds, and between two looks at the folder. Up to `small` seeds the driver finds rows by itself. `most` entries
    make a batch. `client` are settings of Kafka's client; they may be secrets, and are not shown.
    """

    store: str
    source: str
    checkpoint: Path | str
    interval: float = 0.0
    small: int = SMALL
    most: int = MOST
    limits: Limits = DEFAULT_LIMITS
    most_triples: int = MOST_TRIPLES
    client: Mapping[str, str] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "store", absolute(self.store))
        if self.store == ":memory:":
            raise PipelineError("a store in memory is seen by one process only; name a file or a server")
        if self.is_kafka:
            kafka.topic_of(self.source)
        elif self.folder is not None and not self.folder.is_dir():
            raise PipelineError(f"{self.source}: there is no such folder to look into; make it, or name 'intake'")

    @property
    def is_kafka(self) -> bool:
        """Whether the source is a topic."""
        return self.source.startswith(kafka.SCHEME)

    @property
    def folder(self) -> Path | None:
        """The folder that is the source, if it is one."""
        return None if self.is_kafka or self.source == INTAKE else Path(self.source)


class Stream:
    """A stream that can be run until it is stopped, or once through what is there.

    `tell` hears what is going on, in sentences; `heard` of every batch.
    """

    def __init__(
        self,
        spark: SparkSession,
        plan: Plan,
        *,
        tell: Callable[[str], None] = lambda text: None,
        heard: Callable[[Done], None] = lambda done: None,
    ) -> None:
        self._spark, self._plan, self._tell, self._heard = spark, plan, tell, heard
        context, most = spark.sparkContext, plan.most_triples
        self._finder = spark_finder(context, plan.store, small=plan.small, most_triples=most)
        # Durable, because what a batch has applied leaves the log that it came from: a journal, a topic, a folder.
        self._hub = Hub(
            plan.store, limits=plan.limits, most_triples=plan.most_triples, finder=self._finder, durable=True
        )
        self._store = Store.open(plan.store, durable=True)
        self.meter = Meter(self._store, plan.source)
        self._landing = None if plan.folder is None else Landing(plan.folder, self._store)
        self._ear = Ear(self.meter.hear)
        spark.streams.addListener(self._ear)
        beside = SparkWorkers(context, plan.store, most_triples=most, pool=POOL)
        self._backfiller = Backfiller(self._hub, beside, tell)
        self._stop = Event()
        self._batches = self._fresh_batches()

    def _fresh_batches(self) -> Batches:
        return Batches(self._hub, self._finder, limits=self._plan.limits, tell=self._note)

    def close(self) -> None:
        """Let go of the store."""
        self._spark.streams.removeListener(self._ear)
        self._hub.close()
        self._store.close()

    def stop(self) -> None:
        """End `run`, when the batch that is being applied is committed; may be called from anywhere."""
        self._stop.set()

    # -- the two ways to run

    def once(self) -> None:
        """Apply what is there now; then fill the subscriptions that wait."""
        self._look()
        failures = 1
        while (error := self._until_it_ends(once=True)) is not None:
            if not _is_busy(error, failures):
                raise error if isinstance(error, StoreError) else self._failed(error)
            self._pause(_DID_NOT_START, failures)
            failures += 1
        if not self._stop.is_set():
            self._backfiller.once()
        self._try_to_save("stopped")

    def run(self) -> None:
        """Apply what comes, and fill subscriptions that wait, until `stop`; while the store is away, wait for it."""
        beside = [
            Thread(target=self._watch, name="triplewire-landing", daemon=True),
            Thread(target=self._backfiller.run, args=(self._stop,), name="triplewire-backfills", daemon=True),
        ]
        for thread in beside:
            thread.start()
        self._try_to_save("running")
        try:
            self._go_on()
        finally:
            self._stop.set()
            self._backfiller.cancel()
            for thread in beside:
                thread.join()
            self._try_to_save("stopped")

    def _go_on(self) -> None:
        """Start a query, and start it again when the store is back."""
        failures = 0
        while not self._stop.is_set():
            seen = self.meter.progress.batches
            error = self._until_it_ends()
            if not self._stop.is_set():
                failures = failures + 1 if self.meter.progress.batches == seen else 1
                self._recover(error, failures)

    def _until_it_ends(self, *, once: bool = False) -> Exception | None:
        """Run a query until it fails, is through, or everything is to end; gives what it failed of."""
        try:
            query = self._start(once=once)
        except (StoreUnavailable, StoreBusy) as error:
            return error
        while query.isActive and not self._stop.wait(_LOOK):
            pass
        if self._stop.is_set():
            self._batches.close()  # so that none is cut in the middle
            query.stop()
            return None
        failed: Exception | None = query.exception()
        return failed

    def _recover(self, error: Exception | None, failures: int) -> None:
        """Wait for the store, if that is what failed, or for a machine that is too busy; everything else is the end."""
        if error is None:
            raise PipelineError("the stream was stopped from outside; run it again")
        if _is_busy(error, failures):
            self._pause(_DID_NOT_START, failures)
        elif is_of_the_store(error):
            self._pause(f"the store cannot be used ({_reason(error)})", failures)
        else:
            raise self._failed(error)

    def _pause(self, what: str, failures: int) -> None:
        pause = _PATIENCE[min(failures, len(_PATIENCE)) - 1]
        self._tell(f"{what}; trying again in {pause:g} seconds")
        self._stop.wait(pause)
        self._batches = self._fresh_batches()

    # -- parts

    def _start(self, *, once: bool = False) -> StreamingQuery:
        batches = self._batches
        context = self._spark.sparkContext
        if "://" not in str(self._plan.checkpoint):  # a folder of this machine
            private_folder(Path(self._plan.checkpoint))

        def apply(frame: DataFrame, number: int) -> None:
            batches.apply(frame, f"stream-{context.getLocalProperty(_QUERY_ID)}-{number}")

        writer = self._entries().writeStream.foreachBatch(apply)
        writer = writer.option("checkpointLocation", str(self._plan.checkpoint))
        if once:
            return writer.trigger(availableNow=True).start()
        return writer.trigger(processingTime=f"{round(self._plan.interval * 1000)} milliseconds").start()

    def _entries(self) -> DataFrame:
        plan = self._plan
        if plan.is_kafka:
            return kafka.read_topic(self._spark, plan.source, plan.most, plan.client)
        self._spark.dataSource.register(IntakeSource)
        reader = self._spark.readStream.format(NAME).option("store", plan.store).option("most", plan.most)
        return reader.option("tasks", self._spark.sparkContext.defaultParallelism).load()

    def _note(self, done: Done) -> None:
        for reason in done.rejected:
            self._tell(f"set aside: {reason}")
        for failure in done.failed:
            self._tell(failure)
        self.meter.add(done)
        self._try_to_save()
        self._heard(done)

    def _watch(self) -> None:
        while self._landing is not None and not self._stop.is_set():
            started = monotonic()
            try:
                self._look()
            except (StoreUnavailable, StoreBusy):
                self._stop.wait(_PATIENCE[1])
            except Exception as error:  # whatever it is: without this thread, nothing that lands is ever taken
                self._tell(f"{self._plan.source} cannot be looked into: {error}; trying again")
                self._stop.wait(_PATIENCE[-1])
            self._stop.wait(max(_LOOK_AGAIN, self._plan.interval, _REST * (monotonic() - started)))

    def _look(self) -> None:
        if self._landing is not None:
            self._landing.look()

    def _failed(self, error: Exception) -> PipelineError:
        reason = _reason(error)
        if self._plan.is_kafka:
            reason = kafka.explained(self._plan.source, reason)
        return PipelineError(f"the stream failed: {reason}")

    def _try_to_save(self, state: str | None = None) -> None:
        """The numbers are worth a try, and not the end of a stream."""
        try:
            self.meter.save(state)
        except StoreError:
            return


def absolute(url: str) -> str:
    """The url of a store, with the whole path if it is a file: workers have another working folder.

    >>> absolute("sqlite:////tmp/hub.db"), absolute("postgresql://me@host/hub")
    ('sqlite:////tmp/hub.db', 'postgresql://me@host/hub')
    """
    path = url.removeprefix("sqlite:///")
    return url if path in (url, "", ":memory:") else f"sqlite:///{Path(path).resolve()}"


def _is_busy(error: Exception, failures: int) -> bool:
    """Whether it may be that the machine has too much to do, and not for too long already."""
    return _TOO_SLOW in str(error) and failures < _MOST_TRIES


def _reason(error: Exception) -> str:
    """The line that says what happened, of an error that Spark has wrapped several times."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    own = [line for line in lines if line.startswith("triplewire.errors.")]
    if own:
        return own[-1].partition(": ")[2]
    python = [line for line in lines if _OF_PYTHON.match(line)] if _PROXY in (lines or [""])[0] else []
    return (python[-1:] or lines or [type(error).__name__])[0]


class Ear(StreamingQueryListener):
    """Hears how long the steps of each trigger took, in milliseconds."""

    def __init__(self, hear: Callable[[Mapping[str, int]], None]) -> None:
        self._hear = hear

    def onQueryStarted(self, event: object) -> None:
        """Nothing is known yet."""

    def onQueryProgress(self, event: QueryProgressEvent) -> None:
        """A trigger is over."""
        self._hear(event.progress.durationMs)

    def onQueryIdle(self, event: object) -> None:
        """There was nothing to do."""

    def onQueryTerminated(self, event: object) -> None:
        """Nothing to do: the stream itself waits for the query's end."""
