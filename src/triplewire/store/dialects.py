"""What differs between SQLite and PostgreSQL in the verbs of a transaction.

SQLite has no arrays: keys are bound as a table of values, their number rounded up to a power of two with NULLs (which
equal nothing), so that a few prepared statements serve all numbers of keys. PostgreSQL takes arrays, and COPY for what
is new.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from functools import lru_cache

from sqlalchemy import Connection, Table

from triplewire.store.sql import Sql, Value, Values, assignments, columns_of, flat, key_of

_KEYS_AT_ONCE = 1_024
_ARRAYS = {int: "bigint[]", str: "text[]", bytes: "bytea[]"}


class SqliteSql(Sql):
    """A transaction of SQLite.

    Statements go to the driver itself: most take it a few microseconds, and anything in between several times that.
    """

    def __init__(self, connection: Connection, *, writes: bool = False) -> None:
        super().__init__(connection, writes=writes)
        self._driver = driver_of(connection)

    def rows(self, text: str, *values: Value) -> list[Values]:
        return self._driver.execute(text, values).fetchall()

    def run(self, text: str, *values: Value) -> int:
        return self._driver.execute(text, values).rowcount

    def spelled(self, text: str) -> str:
        """SQLite's own spelling is the one that statements are written in."""
        return text

    def keyed(self, text: str, keys: Sequence[Values], *values: Value) -> list[Values]:
        found: list[Values] = []
        for part in _parts(keys):
            size = 1 << (len(part) - 1).bit_length()
            width = len(part[0])
            padding = (None,) * (width * (size - len(part)))
            found += self.rows(_with_values(text, size, width), *flat(part), *padding, *values)
        return found

    def insert(self, table: Table, rows: Sequence[Values]) -> None:
        self._many(_insertion(table), rows)

    def replace(self, table: Table, rows: Sequence[Values]) -> None:
        self._many(f"{_insertion(table)} {assignments(table)}", rows)

    def update(self, table: Table, columns: tuple[str, ...], rows: Sequence[Values]) -> None:
        values = ", ".join(f"{name} = ?" for name in columns)
        self._many(f"UPDATE {table.name} SET {values} WHERE " + " AND ".join(f"{k} = ?" for k in key_of(table)), rows)

    def delete(self, table: Table, columns: tuple[str, ...], keys: Sequence[Values]) -> None:
        self._many(f"DELETE FROM {table.name} WHERE " + " AND ".join(f"{name} = ?" for name in columns), keys)

    def _many(self, text: str, rows: Sequence[Values]) -> None:
        if rows:
            self._driver.executemany(text, rows)


class PostgresSql(Sql):
    """A transaction of PostgreSQL."""

    def spelled(self, text: str) -> str:
        """Values are marked by %s."""
        return _percent(text)

    def keyed(self, text: str, keys: Sequence[Values], *values: Value) -> list[Values]:
        if not keys:
            return []
        kinds = [_ARRAYS[type(value)] for value in keys[0]]
        return self._with_arrays(text.replace("{keys}", _unnest(kinds)), keys, values)

    def insert(self, table: Table, rows: Sequence[Values]) -> None:
        if not rows:
            return
        driver = self.connection.connection.driver_connection
        assert driver is not None
        with driver.cursor() as cursor, cursor.copy(f"COPY {table.name} ({columns_of(table)}) FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)

    def replace(self, table: Table, rows: Sequence[Values]) -> None:
        source = _unnest([_array(table, column.name) for column in table.columns])
        self._change(f"INSERT INTO {table.name} ({columns_of(table)}) {source} {assignments(table)}", rows)

    def update(self, table: Table, columns: tuple[str, ...], rows: Sequence[Values]) -> None:
        names = (*columns, *key_of(table))
        source = _unnest([_array(table, name) for name in names])
        values = ", ".join(f"{name} = k.{name}" for name in columns)
        same = " AND ".join(f"t.{name} = k.{name}" for name in key_of(table))
        self._change(f"UPDATE {table.name} t SET {values} FROM ({source}) AS k({', '.join(names)}) WHERE {same}", rows)

    def delete(self, table: Table, columns: tuple[str, ...], keys: Sequence[Values]) -> None:
        source = _unnest([_array(table, name) for name in columns])
        same = " AND ".join(f"t.{name} = k.{name}" for name in columns)
        self._change(f"DELETE FROM {table.name} t USING ({source}) AS k({', '.join(columns)}) WHERE {same}", keys)

    def _with_arrays(self, text: str, rows: Sequence[Values], values: Sequence[Value] = ()) -> list[Values]:
        arrays = [list(column) for column in zip(*rows, strict=True)]
        result = self.connection.exec_driver_sql(self.spelled(text), (*arrays, *values))
        found = list(result.cursor.fetchall()) if result.cursor is not None and result.returns_rows else []
        result.close()
        return found

    def _change(self, text: str, rows: Sequence[Values]) -> None:
        if rows:
            self._with_arrays(text, rows)


def driver_of(connection: Connection) -> sqlite3.Connection:
    """What a connection to a SQLite is made of."""
    found = connection.connection.driver_connection
    assert isinstance(found, sqlite3.Connection)
    return found


def _parts(keys: Sequence[Values]) -> Iterator[Sequence[Values]]:
    for start in range(0, len(keys), _KEYS_AT_ONCE):
        yield keys[start : start + _KEYS_AT_ONCE]


@lru_cache(maxsize=512)
def _with_values(text: str, size: int, width: int) -> str:
    row = f"({', '.join('?' * width)})"
    return text.replace("{keys}", f"VALUES {', '.join([row] * size)}")


@lru_cache(maxsize=512)
def _percent(text: str) -> str:
    return text.replace("%", "%%").replace("?", "%s")


def _insertion(table: Table) -> str:
    return f"INSERT INTO {table.name} ({columns_of(table)}) VALUES ({', '.join('?' * len(table.columns))})"


def _unnest(kinds: Sequence[str]) -> str:
    return f"SELECT * FROM unnest({', '.join(f'?::{kind}' for kind in kinds)})"


def _array(table: Table, column: str) -> str:
    return _ARRAYS[table.columns[column].type.python_type]
