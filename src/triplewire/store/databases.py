"""The two kinds of database: how each is reached, and how its transactions begin and end.

SQLite (3.35 or newer) runs with a write-ahead log: readers see the last commit while one writer works. A commit is
safe against the end of the process at any point; against the end of the machine's power the last commits may be
missing, but what is there is whole (synchronous=NORMAL). PostgreSQL promises both.
"""

from __future__ import annotations

import sqlite3
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from threading import RLock
from typing import Any

from sqlalchemy import URL, Connection, Engine, StaticPool, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError

from triplewire.errors import DamagedStore, NotAStore, StoreBusy, StoreError, StoreUnavailable
from triplewire.store.dialects import PostgresSql, SqliteSql, driver_of
from triplewire.store.files import private_store
from triplewire.store.leases import FileLease, Lease, NoOthers, ServerLease
from triplewire.store.sql import Sql
from triplewire.store.watchdog import Watchdog

_PRAGMAS = (
    "PRAGMA cache_size = -131072",  # KiB
    "PRAGMA mmap_size = 1073741824",  # a batch reads thousands of pages of a large store, each a call otherwise
    "PRAGMA temp_store = MEMORY",
    "PRAGMA journal_size_limit = 16777216",  # of the write-ahead log, when all of it is in the store
)
_LEAST_LOG, _MOST_LOG, _SHARE = 2_000, 32_000, 2
"""Pages of the write-ahead log after which they are written into the store; and of a store, how many make one of them.

Why so many: a batch touches thousands, many of them in every batch, and each is written once for all of these. Why not
always the most: a small store should not need ten times its size beside it."""
_LIMITS: dict[str, Any] = {
    "connect_timeout": 10,  # seconds
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 60_000,  # milliseconds, in which what was sent must arrive
}
"""Towards a server, unless its url says otherwise: a machine or a network that is gone is noticed within a minute."""
_ANSWER = 5
"""Seconds that a server has to let a client in, when it is asked whether it is there."""
_WRITERS = 0x7472_6970_6C65_7769
"""The advisory lock of PostgreSQL that a writer holds: any number does, as long as all agree."""


class Database(ABC):
    """A database that can be read and written in transactions."""

    def __init__(self, name: str, engine: Engine, timeout: float) -> None:
        self.name = name
        self.engine = engine
        self.timeout = timeout

    @abstractmethod
    def transaction(self, *, writes: bool) -> AbstractContextManager[Sql]:
        """One that writes, or reads alone."""

    def reading(self) -> AbstractContextManager[Sql]:
        """A transaction that sees one state of the database, whatever others write meanwhile."""
        return self.transaction(writes=False)

    def writing(self) -> AbstractContextManager[Sql]:
        """A transaction that is the only one to write."""
        return self.transaction(writes=True)

    def appending(self) -> AbstractContextManager[Sql]:
        """A transaction that only adds to the intake log."""
        return self.writing()

    @abstractmethod
    def lease(self, name: str) -> Lease:
        """A lease by this name, which one process at a time can have."""

    @abstractmethod
    def table_names(self, sql: Sql) -> set[str]:
        """The tables that are there, ours or not."""

    @abstractmethod
    def tidy(self) -> None:
        """Give back room that is no longer used, and let the planner know what there is."""

    @abstractmethod
    def fault(self, error: BaseException) -> StoreError | None:
        """What an error of the driver means; None when it is a fault of this program."""

    def settle(self) -> None:  # noqa: B027 - most have nothing to do
        """Called once when the database is known to be a store of ours."""

    def edition(self) -> int | None:
        """A number that is another one after each commit, whoever made it; None where that is not known cheaply."""
        return None

    def damage(self, sql: Sql) -> list[str]:
        """What the database itself finds wrong with its files."""
        return []

    def close(self) -> None:
        """Let go of all connections."""
        self.engine.dispose()

    @contextmanager
    def connected(self) -> Iterator[Connection]:
        """A connection; the driver's errors come out as ours."""
        try:
            with self.engine.connect() as connection:
                yield connection
        except (DBAPIError, self.engine.dialect.loaded_dbapi.Error) as error:
            fault = self.fault((error.orig or error) if isinstance(error, DBAPIError) else error)
            if fault is None:
                raise
            raise fault from error


class SqliteDatabase(Database):
    """A file."""

    def __init__(self, name: str, engine: Engine, timeout: float) -> None:
        super().__init__(name, engine, timeout)
        self._witness: sqlite3.Connection | None = None
        self._witnessing = RLock()

    def edition(self) -> int | None:
        """See `Database.edition`: a connection that never writes is told of all that others commit."""
        with self._witnessing:
            try:
                if self._witness is None:
                    address = f"{Path(self.name).absolute().as_uri()}?mode=ro"
                    self._witness = sqlite3.connect(address, uri=True, check_same_thread=False)
                (found,) = self._witness.execute("PRAGMA data_version").fetchone()
            except sqlite3.Error:
                return None
            return int(found)

    def close(self) -> None:
        """See `Database.close`."""
        with self._witnessing:
            if self._witness is not None:
                self._witness.close()
                self._witness = None
        super().close()

    @contextmanager
    def transaction(self, *, writes: bool) -> Iterator[Sql]:
        with self.connected() as connection:
            driver = driver_of(connection)
            driver.execute("BEGIN IMMEDIATE" if writes else "BEGIN")
            try:
                if writes:
                    _bound_log(driver)
                yield SqliteSql(connection, writes=writes)
            except BaseException:
                driver.rollback()
                raise
            driver.commit()

    def lease(self, name: str) -> Lease:
        return FileLease(Path(f"{self.name}.{name}"))

    def table_names(self, sql: Sql) -> set[str]:
        return {name for (name,) in sql.rows("SELECT name FROM sqlite_master WHERE type = 'table'")}

    def settle(self) -> None:
        """Writers and readers side by side; the file remembers it.

        SQLite does not wait for its turn here as it does elsewhere, so two processes that open a new store at the same
        time get in each other's way: the second one tries again.
        """
        until = time.monotonic() + self.timeout
        while True:
            try:
                with self.connected() as connection:
                    connection.exec_driver_sql("PRAGMA journal_mode = WAL").close()
                return
            except StoreBusy:
                if time.monotonic() > until:
                    raise
                time.sleep(0.01)

    def tidy(self) -> None:
        """See `Database.tidy`.

        Why no ANALYZE: statistics of a small store outlive its growth, and then SQLite walks through large tables
        that it believes to be small. Without any, it takes the index, which is what every question here wants.
        """
        with self.connected() as connection:
            for text in ("VACUUM", "PRAGMA wal_checkpoint(PASSIVE)"):  # which waits for no reader
                connection.exec_driver_sql(text).close()

    def damage(self, sql: Sql) -> list[str]:
        """SQLite's own check of its pages and indexes."""
        return [line for (line,) in sql.rows("PRAGMA integrity_check") if line != "ok"]

    def fault(self, error: BaseException) -> StoreError | None:
        reason = str(error)
        if "locked" in reason or "busy" in reason:
            return StoreBusy(self.name, self.timeout)
        if "not a database" in reason:
            return NotAStore(f"{self.name}: this is not a Triplewire store; choose another path")
        if "malformed" in reason:
            return DamagedStore(f"{self.name}: the store is damaged ({reason}); restore a backup")
        if isinstance(error, sqlite3.OperationalError) and any(word in reason for word in _OUTSIDE):
            return StoreUnavailable(f"{self.name}: the store cannot be used: {reason}; look at its folder and its disk")
        return None


def _bound_log(driver: sqlite3.Connection) -> None:
    """Let the write-ahead log grow with the store."""
    (pages,) = driver.execute("PRAGMA page_count").fetchone()
    most = min(_MOST_LOG, max(_LEAST_LOG, pages // _SHARE))
    driver.execute(f"PRAGMA wal_autocheckpoint = {most}").fetchall()


_OUTSIDE = ("unable to open", "readonly", "disk", "attempt to write")


class MemoryDatabase(SqliteDatabase):
    """SQLite in memory: one connection, which threads use in turn."""

    def __init__(self, name: str, engine: Engine, timeout: float) -> None:
        super().__init__(name, engine, timeout)
        self._turn = RLock()
        self._open: Sql | None = None
        self._commits = 0

    def edition(self) -> int | None:
        """See `Database.edition`."""
        return self._commits

    @contextmanager
    def transaction(self, *, writes: bool) -> Iterator[Sql]:
        """See `Database.transaction`; inside a writer of the same thread, a reader sees what that one wrote."""
        with self._turn:
            if self._open is None:
                with super().transaction(writes=writes) as sql:
                    self._open = sql
                    try:
                        yield sql
                    finally:
                        self._open = None
                        self._commits += writes
            elif not writes:
                yield self._open
            else:
                raise StoreError("a store in memory has one connection: end what is open in this thread, then write")

    def lease(self, name: str) -> Lease:
        return NoOthers()

    def tidy(self) -> None:
        with self._turn:
            super().tidy()

    def close(self) -> None:
        """See `Database.close`; when its turn comes, because SQLite dies if another thread is in the connection."""
        with self._turn:
            super().close()


class PostgresDatabase(Database):
    """A database of a PostgreSQL server."""

    @contextmanager
    def transaction(self, *, writes: bool) -> Iterator[Sql]:
        """See `Database.transaction`.

        Why a writer reads what is committed: the lock is waited for inside the transaction, and what is seen must be
        what the writer before left, not what was there when the waiting began.
        """
        with self.connected() as connection:
            if not writes:
                connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
                yield PostgresSql(connection)
                return
            sql = self._patient(connection)
            sql.rows("SELECT pg_advisory_xact_lock(?)", _WRITERS)
            yield sql
            connection.commit()

    def _patient(self, connection: Connection) -> Sql:
        """What writes, and waits for another one no longer than it should: that one may be frozen."""
        connection.execution_options(isolation_level="READ COMMITTED")
        sql = PostgresSql(connection, writes=True)
        sql.rows("SELECT set_config('lock_timeout', ?, true)", f"{int(self.timeout * 1000)}ms")
        return sql

    @contextmanager
    def appending(self) -> Iterator[Sql]:
        """See `Database.appending`; without the lock of writers.

        An appender has the counter's row until it commits, so positions become visible in their order all the same.
        """
        with self.connected() as connection:
            yield self._patient(connection)
            connection.commit()

    def lease(self, name: str) -> Lease:
        return ServerLease(self.engine, name)

    def table_names(self, sql: Sql) -> set[str]:
        return {name for (name,) in sql.rows("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")}

    def tidy(self) -> None:
        with self.connected() as connection:
            connection.execution_options(isolation_level="AUTOCOMMIT")
            connection.exec_driver_sql("VACUUM ANALYZE").close()

    def fault(self, error: BaseException) -> StoreError | None:
        state = getattr(error, "sqlstate", None)
        if state == "55P03":
            return StoreBusy(self.name, self.timeout)
        if state is not None and state[:2] in ("XX", "58"):
            return DamagedStore(f"{self.name}: the server reports damage ({error}); restore a backup")
        if state is None or state[:2] in ("08", "28", "3D", "53", "57"):
            return StoreUnavailable(f"{self.name}: the server cannot be used: {error}")
        return None


def connect(url: str, timeout: float, *, create: bool = True, durable: bool = False) -> Database:
    """The database of a url; nothing is written yet. PostgreSQL is `durable` anyway."""
    if url == ":memory:":
        url = "sqlite://"
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise _unknown(url) from None
    if parsed.get_backend_name() == "sqlite":
        if parsed.host:
            raise StoreUnavailable(f"{url!r} names a host; a file has three slashes: 'sqlite:///{parsed.host}'")
        return _sqlite(parsed.database, timeout, create, durable=durable)
    if parsed.get_backend_name() in ("postgresql", "postgres"):
        return _postgres(parsed, timeout)
    raise _unknown(url)


def _postgres(url: URL, timeout: float) -> Database:
    limits = {name: value for name, value in _LIMITS.items() if name not in url.query}
    engine = create_engine(url.set(drivername="postgresql+psycopg"), max_overflow=50, connect_args=limits)

    def ask() -> None:
        args, named = engine.dialect.create_connect_args(engine.url)
        try:
            engine.dialect.connect(*args, **{**named, "connect_timeout": _ANSWER}).close()
        except engine.dialect.loaded_dbapi.errors.ConnectionTimeout as error:
            raise TimeoutError from error

    Watchdog(engine, ask)
    return PostgresDatabase(url.render_as_string(hide_password=True), engine, timeout)


def _unknown(url: str) -> StoreUnavailable:
    return StoreUnavailable(
        f"{url!r} is no store's url: use a file's name, ':memory:', 'sqlite:///path' or 'postgresql://user@host/name'"
    )


def file(path: Path, timeout: float = 60.0) -> Database:
    """The database in a file that is there."""
    return _sqlite(str(path), timeout, create=False)


def _sqlite(path: str | None, timeout: float, create: bool, *, durable: bool = False) -> Database:
    in_memory = path in (None, "", ":memory:")
    if not in_memory and not create and not Path(path or "").exists():
        raise StoreUnavailable(f"{path}: there is no such file")
    options: dict[str, Any] = {"timeout": timeout, "isolation_level": None, "cached_statements": 256}
    options["check_same_thread"] = False
    pool: dict[str, Any] = {"poolclass": StaticPool} if in_memory else {"max_overflow": 50}
    engine = create_engine(URL.create("sqlite", database=path), connect_args=options, **pool)

    @event.listens_for(engine, "connect")
    def tune(connection: sqlite3.Connection, _: object) -> None:
        for text in (f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}", *_PRAGMAS):
            connection.execute(text)

    if in_memory:
        return MemoryDatabase(":memory:", engine, timeout)
    private_store(Path(str(path)))
    return SqliteDatabase(str(path), engine, timeout)
