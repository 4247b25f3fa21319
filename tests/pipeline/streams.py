"""Hubs whose changes go through Spark, spoken to as the library's is: for the suites that every engine keeps."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from threading import Thread

import pyarrow as pa

from triplewire import Document, Hub, Publish, Restrict, Retract, TaxonomyError, Unread, parse
from triplewire.intake.entries import entry_of
from triplewire.model import Event
from triplewire.pipeline.streaming.batches import Batches, Done
from triplewire.pipeline.streaming.entries import SCHEMA, table_of
from triplewire.pipeline.streaming.running import Plan, Stream
from triplewire.pipeline.streaming.workers import spark_finder
from triplewire.store import WaitingEntry

PATIENCE = 600.0
"""Seconds to wait for what should take some: a machine may have much else to do."""


def eventually(is_so: Callable[[], object], what: str) -> None:
    """Wait until something is so; a test that waits in vain fails."""
    until = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < until, f"in vain: {what}"
        time.sleep(0.01)


def raw(change: Publish | Retract | Restrict) -> Publish | Retract | Restrict | Unread:
    """The change as a publisher sends it: bytes to parse, where parsing gives the same document."""
    if not isinstance(change, Publish) or change.document.xml or change.access is not None:
        return change
    text = change.document.ntriples
    is_same = parse(text, uri=change.uri, media_type="application/n-triples") == change.document
    return Unread(change.uri, text, "application/n-triples") if is_same else change


class World:
    """A hub that is told of changes by way of Spark; everything else is the hub's own."""

    def __init__(self, hub: Hub) -> None:
        self.hub = hub

    def __getattr__(self, name: str) -> object:
        return getattr(self.hub, name)

    def publish(self, data, *, uri=None, media_type=None, batch=None, access=None) -> list[Event]:
        document = data if isinstance(data, Document) else parse(data, uri=uri, media_type=media_type)
        return self.apply([Publish(document, access=access)], batch=batch)

    def restrict(self, uri, access, *, batch=None) -> list[Event]:
        return self.apply([Restrict(uri, access)], batch=batch)

    def retract(self, uri, *, batch=None) -> list[Event]:
        return self.apply([Retract(uri)], batch=batch)

    def apply(self, changes, *, batch=None) -> list[Event]:
        """The events that the changes cause; what is set aside is an error."""
        with self.hub.store.reading() as reader:
            before = reader.log.last_cursor()
        known = {record.id for record in self.hub.batches(limit=1_000_000)}
        self._send([raw(change) for change in changes], batch)
        is_known = batch in known
        told = [e for e in self._events(0 if is_known else before) if not is_known or e.batch == batch]
        refused = self.hub.rejected()
        if refused:
            with self.hub.store.writing() as writer:
                writer.intake.forget_rejected(refused[-1].number)
            raise TaxonomyError(refused[0].reason)
        return told

    def _events(self, after: int) -> list[Event]:
        ids = [subscription.id for subscription in self.hub.subscriptions()]
        return sorted((e for id in ids for e in self.hub.events(id, after=after)), key=lambda event: event.cursor)

    def _send(self, changes, batch) -> None:
        raise NotImplementedError


class MicroBatches(World):
    """Each batch is a micro-batch of Spark: parsed by its workers, and found by them, however small it is."""

    def __init__(self, spark, url: str) -> None:
        Hub(url).close()
        self.finder = spark_finder(spark.sparkContext, url, small=0)
        super().__init__(Hub(url, finder=self.finder))
        self.spark, self.done, self.numbers = spark, [], count(1)
        self.batches = Batches(self.hub, self.finder, tell=self.done.append)

    def _send(self, changes, batch) -> None:
        self.batches.apply(frame_of(self.spark, changes), batch or f"batch {next(self.numbers)}")


def frame_of(spark, changes):
    """Changes as Spark reads them from the intake log, in one task."""
    waiting = [WaitingEntry(1, entry_of(change), number) for number, change in enumerate(changes)]
    return spark.createDataFrame(pa.Table.from_batches(table_of(waiting), SCHEMA)).coalesce(1)


class Running(World):
    """A stream runs on the intake log, and each batch is a submission."""

    def __init__(self, spark, url: str, folder: Path, **about) -> None:
        super().__init__(Hub(url))
        self.said: list[str] = []
        self.done: list[Done] = []
        plan = Plan(url, about.pop("source", "intake"), folder / "checkpoint", **about)
        self.stream = Stream(spark, plan, tell=self.said.append, heard=self.done.append)
        self.error: BaseException | None = None
        self.thread = Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self) -> None:
        try:
            self.stream.run()
        except BaseException as error:
            self.error = error

    def _send(self, changes, batch) -> None:
        self.wait_for(self.hub.submit(changes))

    def wait_for(self, position: int) -> None:
        """Until everything up to a position is committed."""
        eventually(lambda: self.error or self._first() > position, "the submission is taken off the log")
        if self.error:
            raise self.error

    def _first(self) -> int:
        with self.hub.store.reading() as reader:
            return reader.intake.first()

    def close(self) -> None:
        self.stream.stop()
        self.thread.join(PATIENCE)
        self.stream.close()
        self.hub.close()
        if self.error:
            raise self.error
