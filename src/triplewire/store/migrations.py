"""The version of the schema, and the way from an older one to it.

A new store is made as `schema` says. A store of an older version goes through the functions below, in their order,
inside one transaction; a function that was released is never changed.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from typing import Any

from sqlalchemy import Column, inspect
from sqlalchemy.exc import DBAPIError

from triplewire.errors import NewerStore, NotAStore, StoreUnavailable
from triplewire.model.reach import NETWORK
from triplewire.store import schema
from triplewire.store.databases import Database
from triplewire.store.packing import digest_of
from triplewire.store.sql import Sql
from triplewire.store.terms import key_of

_AT_ONCE = 10_000


def _keys_of_names(sql: Sql) -> None:
    """The keys of IRIs and blank nodes were scattered; now those of numbered names are neighbours."""
    last = 0
    while found := sql.rows("SELECT id, text FROM terms WHERE id > ? ORDER BY id LIMIT ?", last, _AT_ONCE):
        names = [(key_of(text), number) for number, text in found if not text.startswith('"')]
        sql.update(schema.terms, ("key",), names)
        last = found[-1][0]


def _add_intake(sql: Sql) -> None:
    """The tables of the intake log; what they hold did not exist before."""
    schema.tables.create_all(sql.connection, tables=[schema.intake, schema.landed, schema.rejected])


def _keep_xml(sql: Sql) -> None:
    """Versions have their XML beside their triples."""
    if not _has_column(sql, schema.versions.c.xml):
        _add_column(sql, schema.versions.c.xml)


def _form_crowds(sql: Sql) -> None:
    """Rows and events may be of a crowd of queries; all that there are stay those of one query each."""
    schema.tables.create_all(sql.connection, tables=[schema.crowds, schema.crowd_members])
    if _has_column(sql, schema.rows.c.crowd):
        return
    for table, indexes in ((schema.rows, ("rows_by_key", "rows_by_crowd")), (schema.events, ("events_by_crowd",))):
        _add_column(sql, table.c.crowd, "NOT NULL DEFAULT 0")
        for index in table.indexes:
            if index.name in indexes:
                index.drop(sql.connection, checkfirst=True)
                index.create(sql.connection)


def _add_backfills(sql: Sql) -> None:
    """The table of backfills; until now every subscription was told at once what answers it already."""
    schema.tables.create_all(sql.connection, tables=[schema.backfills])


def _add_deliveries(sql: Sql) -> None:
    """The tables of deliveries; there were none before."""
    schema.tables.create_all(sql.connection, tables=[schema.deliveries, schema.deliverers, schema.dead_letters])


def _add_access(sql: Sql) -> None:
    """Documents may have lists of who may read them; until now all were for everybody.

    A query with an owner goes on seeing what is for everybody, and not what will be for others. One without was asked
    by the operator of the hub, and sees everything.
    """
    schema.tables.create_all(sql.connection, tables=[schema.access_lists, schema.access_entries])
    if _has_column(sql, schema.queries.c.viewer):
        return
    _add_column(sql, schema.queries.c.viewer)
    last = 0
    owned = (
        "SELECT q.id, q.scope, q.start, q.pattern FROM queries q WHERE q.id > ? AND EXISTS"
        " (SELECT 1 FROM subscriptions t WHERE t.query = q.id AND t.owner IS NOT NULL) ORDER BY q.id LIMIT ?"
    )
    while found := sql.rows(owned, last, _AT_ONCE):
        changed = [(digest_of(scope, start, pattern, ""), "", number) for number, scope, start, pattern in found]
        sql.update(schema.queries, ("digest", "viewer"), changed)
        last = found[-1][0]
    sql.run("DELETE FROM images")  # they do not know what queries see


def _note_publishers_and_repeats(sql: Sql) -> None:
    """The first publisher of a document is known from now on; those that are there have none, and are the admins'.

    Keys of requests are each account's own. They were names of batches, and what came with them is not known.
    """
    schema.tables.create_all(sql.connection, tables=[schema.publishers, schema.repeats])


def _let_subscriptions_change(sql: Sql) -> None:
    """Subscriptions can be edited and paused, and have titles; all that there are were never changed.

    Batches are found by their times.
    """
    made = [schema.spans, schema.alterations, schema.past_members, schema.marks]
    schema.tables.create_all(sql.connection, tables=made)
    columns = schema.subscriptions.c
    if not _has_column(sql, columns.revision):
        for column in (columns.title, columns.description, columns.paused_since):
            _add_column(sql, column)
        _add_column(sql, columns.last_cursor, f"NOT NULL DEFAULT {1 << 62}")
        _add_column(sql, columns.revision, "NOT NULL DEFAULT 1")
    for index in schema.batches.indexes:
        index.create(sql.connection, checkfirst=True)


def _add_registrations(sql: Sql) -> None:
    """What the rules of an edge register; there were no edges before."""
    schema.tables.create_all(sql.connection, tables=[schema.registrations])


def _add_homes(sql: Sql) -> None:
    """What a hub of a backbone keeps; there was none before."""
    schema.tables.create_all(sql.connection, tables=[schema.homes, schema.replications, schema.passed_on])


def _add_network(sql: Sql) -> None:
    """What a hub of a network keeps; there was none before."""
    schema.tables.create_all(sql.connection, tables=[schema.outgoing, schema.reaches, schema.node_state])


def _let_documents_stay(sql: Sql) -> None:
    """Documents may stay inside a unit of a network; until now all went through all of it."""
    schema.tables.create_all(sql.connection, tables=[schema.document_reaches])
    if not _has_column(sql, schema.outgoing.c.reach):
        _add_column(sql, schema.outgoing.c.reach, f"NOT NULL DEFAULT {NETWORK}")


def _has_column(sql: Sql, column: Column[Any]) -> bool:
    return any(found["name"] == column.name for found in inspect(sql.connection).get_columns(column.table.name))


def _add_column(sql: Sql, column: Column[Any], more: str = "") -> None:
    kind = column.type.compile(dialect=sql.connection.dialect)
    sql.run(f"ALTER TABLE {column.table.name} ADD COLUMN {column.name} {kind} {more}")


MIGRATIONS: tuple[Callable[[Sql], None], ...] = (
    _keys_of_names,
    _add_intake,
    _keep_xml,
    _form_crowds,
    _add_backfills,
    _add_deliveries,
    _add_access,
    _note_publishers_and_repeats,
    _let_subscriptions_change,
    _add_registrations,
    _add_homes,
    _add_network,
    _let_documents_stay,
)
"""The first leads from version 1 to version 2, and so on."""

KIND = "store.kind"
VERSION = "store.version"
_OURS = "triplewire"


def current_version() -> int:
    """The version that this Triplewire writes."""
    return 1 + len(MIGRATIONS)


def prepare(database: Database, *, create: bool) -> None:
    """Make the schema, or bring it to this version, or refuse: then the database is a store of this version."""
    with database.reading() as sql:
        found = version_of(database, sql)
    if found != current_version():
        if found is None and not create:
            raise StoreUnavailable(f"{database.name}: there is no store yet")
        with database.writing() as sql:
            _bring_up(sql, version_of(database, sql))
    database.settle()


def version_of(database: Database, sql: Sql) -> int | None:
    """The version of the schema that is there; None when there is nothing at all."""
    names = database.table_names(sql)
    if not names:
        return None
    found = _marks(sql) if {"settings", "counters", "statements"} <= names else {}
    if found.get(KIND) != _OURS or not isinstance(found.get(VERSION), int):
        raise NotAStore(f"{database.name}: there is something else, not a Triplewire store; choose another place")
    version = int(str(found[VERSION]))
    if version > current_version():
        raise NewerStore(database.name, found=version, known=current_version())
    return version


def _marks(sql: Sql) -> dict[str, object]:
    try:
        found = sql.rows("SELECT key, value FROM settings WHERE key IN (?, ?)", KIND, VERSION)
        return {key: json.loads(value) for key, value in found}
    except (DBAPIError, sqlite3.Error, ValueError, TypeError):
        return {}


def _bring_up(sql: Sql, found: int | None) -> None:
    """Another process may have been faster: `found` is what is there now that nobody else writes."""
    if found is None:
        for text in schema.creation(sql.connection.engine.url.drivername):
            sql.run(text)
        sql.insert(schema.settings, [(KIND, json.dumps(_OURS))])
    for migrate in MIGRATIONS[found - 1 :] if found else ():
        migrate(sql)
    sql.replace(schema.settings, [(VERSION, json.dumps(current_version()))])
