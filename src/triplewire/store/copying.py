"""Backups: a store of either kind as one SQLite file, and back into a store of either kind.

A backup is one state of the store, made while others go on reading and writing.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from triplewire.errors import DamagedStore, NotAStore, StoreError
from triplewire.store import schema
from triplewire.store.databases import Database, SqliteDatabase, file
from triplewire.store.files import private_file, sync_folder
from triplewire.store.migrations import current_version, prepare, version_of
from triplewire.store.sql import Sql, columns_of

_AT_ONCE = 10_000


def back_up(database: Database, path: Path, complete: Callable[[Sql], None]) -> None:
    """Write a backup, whole or not at all; an older backup that has this name is replaced, nothing else is.

    `complete` is called with the copy, in a transaction of it.
    """
    _expect_room(database, path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    private_file(temporary)
    try:
        if isinstance(database, SqliteDatabase):
            _copy_pages(database, temporary)
        else:
            _copy_rows(database, temporary)
        with closing(file(temporary)) as copy, copy.writing() as sql:
            complete(sql)
        with closing(file(temporary)) as copy, copy.reading() as sql:
            if damage := copy.damage(sql):
                raise DamagedStore(f"{database.name}: the store is damaged ({damage[0]}); no backup was written")
        with temporary.open("rb") as written:
            os.fsync(written.fileno())
        temporary.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        raise StoreError(f"{path}: the backup cannot be written: {error}") from error
    finally:
        temporary.unlink(missing_ok=True)


def _expect_room(database: Database, path: Path) -> None:
    """A backup takes the place of a backup, but not of the store itself, nor of something else."""
    if not path.exists():
        return
    if isinstance(database, SqliteDatabase) and Path(database.name).exists() and path.samefile(database.name):
        raise StoreError(f"{path}: this is the store itself; name another file for its backup")
    try:
        with closing(file(path)) as old, old.reading() as sql:
            is_backup = schema.settings.name in old.table_names(sql)
    except StoreError:
        is_backup = False
    if not is_backup:
        raise StoreError(f"{path}: this file is no backup, and would be lost; name another one, or delete it first")


@contextmanager
def sound_backup(path: Path) -> Iterator[Sql]:
    """What a backup holds, to read; DamagedStore or NotAStore before that, if it is none."""
    with _up_to_date(path) as backup, backup.reading() as source:
        if damage := backup.damage(source):
            raise DamagedStore(f"{path}: the backup is damaged ({damage[0]}); take another one")
        yield source


def fill(database: Database, backup: Sql) -> None:
    """Fill a store that is empty with what a backup holds; the backup stays as it is."""
    with database.writing() as target:
        _expect_empty(database, target)
        copy_tables(backup, target)


def copy_tables(source: Sql, target: Sql) -> None:
    """All rows of all tables; settings that both have are taken from the source."""
    for table in schema.tables.sorted_tables:
        rows = source.stream(f"SELECT {columns_of(table)} FROM {table.name}")
        write = target.replace if table is schema.settings else target.insert
        while part := list(islice(rows, _AT_ONCE)):
            write(table, part)


def _copy_pages(database: Database, path: Path) -> None:
    """SQLite's own backup, in one step: writers are not held up, because the source is read in its log's state."""
    with database.reading() as sql, closing(sqlite3.connect(path)) as target:
        source = sql.connection.connection.driver_connection
        assert isinstance(source, sqlite3.Connection)
        source.backup(target)
        target.execute("PRAGMA journal_mode = DELETE")  # one file, without a log beside it


def _copy_rows(database: Database, path: Path) -> None:
    with closing(file(path)) as backup:
        prepare(backup, create=True)
        with database.reading() as source, backup.writing() as target:
            copy_tables(source, target)
        with backup.connected() as connection:
            connection.exec_driver_sql("PRAGMA journal_mode = DELETE").close()


@contextmanager
def _up_to_date(path: Path) -> Iterator[Database]:
    """The backup as a store of this version: an older one is brought up to it in a copy."""
    with closing(file(path)) as backup:
        with backup.reading() as sql:
            found = version_of(backup, sql)
        if found is None:
            raise NotAStore(f"{path}: this file is empty, not a backup of a Triplewire store")
        if found == current_version():
            yield backup
            return
    with TemporaryDirectory() as folder:
        copy = Path(folder) / "backup.db"
        shutil.copyfile(path, copy)
        with closing(file(copy)) as backup:
            prepare(backup, create=False)
            yield backup


def _expect_empty(database: Database, sql: Sql) -> None:
    for table in schema.tables.sorted_tables:
        if table is not schema.settings and sql.rows(f"SELECT 1 FROM {table.name} LIMIT 1"):
            raise StoreError(
                f"{database.name}: a backup is restored into an empty store, and this one has {table.name}"
            )
