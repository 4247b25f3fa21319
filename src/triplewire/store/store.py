"""The store itself: opened by a url, read and written in transactions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

from triplewire.store import checking, compaction, copying
from triplewire.store.compaction import Compacted
from triplewire.store.databases import Database, connect
from triplewire.store.intake import IntakeWriter
from triplewire.store.leases import Lease
from triplewire.store.migrations import prepare
from triplewire.store.terms import Generations
from triplewire.store.transactions import LateReader, Reader, Writer
from triplewire.store.urls import url_of


class Store:
    """What a hub remembers.

    Several processes may have one store open: each reads whenever it wants, and writes when its turn comes.
    """

    def __init__(self, url: str, database: Database) -> None:
        self.url = url
        self._database = database
        self._generations = Generations()

    @classmethod
    def open(cls, url: str | Path, *, timeout: float = 60.0, create: bool = True, durable: bool = False) -> Store:
        """Open a store, and make it when there is nothing: a file's name or path, ":memory:" or "postgresql://...".

        A writer waits `timeout` seconds for another one. A store of an older version is brought up to this one. What
        is committed survives the death of a process; with `durable`, that of the machine as well (PostgreSQL: always).
        """
        url = url_of(url)
        database = connect(url, timeout, create=create, durable=durable)
        try:
            prepare(database, create=create)
        except BaseException:
            database.close()
            raise
        return cls(url, database)

    def close(self) -> None:
        """Let go of the database; what is in memory is gone."""
        self._database.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @contextmanager
    def reading(self) -> Iterator[Reader]:
        """One state of the store to read; no writer holds it up."""
        with self._database.reading() as sql:
            yield Reader(sql, Generations() if sql.writes else self._generations)

    def edition(self) -> int | None:
        """A number that is another one after each change, whoever made it; None where that is not known cheaply."""
        return self._database.edition()

    def late_reader(self, is_same: Callable[[Reader], bool]) -> LateReader:
        """A state of the store that is opened when something is read of it; StateMoved if it is not the same then."""
        return LateReader(self.reading, is_same)

    @contextmanager
    def writing(self) -> Iterator[Writer]:
        """The store to change: all of it at the end, or nothing when an error leaves the block."""
        with self._database.writing() as sql:
            writer = Writer(sql, self._generations)
            yield writer
        writer.terms.committed()

    @contextmanager
    def appending(self) -> Iterator[IntakeWriter]:
        """The intake log, to add to: where the database can do that, without waiting for a writer."""
        with self._database.appending() as sql:
            yield IntakeWriter(sql)

    def lease(self, name: str) -> Lease:
        """Something that one process at a time does for this store."""
        return self._database.lease(name)

    def backup(self, path: str | Path, complete: Callable[[Writer], None] = lambda writer: None) -> None:
        """Write one state of the live store into one SQLite file; `complete` may add to the copy before it is there."""
        copying.back_up(self._database, Path(path), lambda sql: complete(Writer(sql, Generations())))

    @classmethod
    def restore(cls, path: str | Path, url: str) -> Store:
        """Open a new or empty store, filled with what a backup holds."""
        with copying.sound_backup(Path(path)) as backup:  # first of all, so that a bad one leaves no new store behind
            store = cls.open(url, durable=True)
            try:
                copying.fill(store._database, backup)
            except BaseException:
                store.close()
                raise
        return store

    def compact(self, *, keep_versions: int | None = None, keep_events_after: int | None = None) -> Compacted:
        """Drop what nothing refers to, and old versions and events when asked to; give back the room."""
        with self._database.writing() as sql:
            done = compaction.compact(sql, keep_versions, keep_events_after)
        self._database.tidy()
        return done

    def problems(self) -> Iterator[str]:
        """What is wrong in the store, in sentences; nothing when all is well."""
        with self._database.reading() as sql:
            yield from self._database.damage(sql)
            yield from checking.problems(sql)
