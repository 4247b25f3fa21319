"""How a transaction speaks to the database: a few verbs, the same for every kind of it.

Statements are written once, with `?` for each value. The verbs that take thousands of rows or keys are the ones that
differ between databases, and only these: see `dialects`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import chain
from typing import Any

from sqlalchemy import Connection, Table

Value = int | str | bytes | None
Values = tuple[Any, ...]

_STREAMED = 5_000


def is_storable(text: str) -> bool:
    """False for a name that not every database can hold: with NUL, or with half of a surrogate pair."""
    if "\0" in text:
        return False
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


class Sql(ABC):
    """One open transaction; `writes` says whether it may hold what is not committed."""

    def __init__(self, connection: Connection, *, writes: bool = False) -> None:
        self.connection = connection
        self.writes = writes
        self._counters: dict[str, int] | None = None

    @abstractmethod
    def spelled(self, text: str) -> str:
        """The statement as the driver wants it."""

    def rows(self, text: str, *values: Value) -> list[Values]:
        """All rows of an answer, as plain tuples: the driver's own, because a wrapper for each row costs more."""
        result = self.connection.exec_driver_sql(self.spelled(text), values)
        cursor = result.cursor
        found: list[Values] = list(cursor.fetchall()) if cursor is not None else []
        result.close()
        return found

    def first(self, text: str, *values: Value) -> Values | None:
        """The first row of an answer, or None."""
        found = self.rows(text, *values)
        return found[0] if found else None

    def number(self, text: str, *values: Value) -> int:
        """The answer of a question for one number; nothing is 0."""
        found = self.rows(text, *values)
        return int(found[0][0] or 0) if found else 0

    def select(self, table: Table, rest: str, *values: Value) -> list[Values]:
        """Whole rows of a table; `rest` is what the statement says after its name."""
        return self.rows(f"SELECT {columns_of(table)} FROM {table.name} {rest}", *values)

    def where(self, table: Table, column: str, keys: Iterable[Value], only: str = "") -> list[Values]:
        """The rows that have one of these keys in a column, in no particular order: all of their columns, or some."""
        text = f"SELECT {only or columns_of(table)} FROM k CROSS JOIN {table.name} t WHERE t.{column} = k.a"
        return self.keyed(f"WITH k(a) AS ({{keys}}) {text}", [(key,) for key in dict.fromkeys(keys)])

    def stream(self, text: str, *values: Value) -> Iterator[Values]:
        """The rows of an answer that may be too large for memory."""
        result = self.connection.exec_driver_sql(
            self.spelled(text), values, execution_options={"stream_results": True, "max_row_buffer": _STREAMED}
        )
        try:
            for part in result.partitions(_STREAMED):
                yield from map(tuple, part)
        finally:
            result.close()

    def run(self, text: str, *values: Value) -> int:
        """Do something; how many rows it touched."""
        result = self.connection.exec_driver_sql(self.spelled(text), values)
        count = result.rowcount
        result.close()
        return count

    @abstractmethod
    def keyed(self, text: str, keys: Sequence[Values], *values: Value) -> list[Values]:
        """The rows of a question about many keys at once, in no particular order.

        The text begins with `WITH k(a, b, ..) AS ({keys})`; the other values come after it. Keys hold no None.
        """

    @abstractmethod
    def insert(self, table: Table, rows: Sequence[Values]) -> None:
        """New rows, with a value for each column of the table."""

    @abstractmethod
    def replace(self, table: Table, rows: Sequence[Values]) -> None:
        """Rows that are new, or take the place of those with the same primary key."""

    @abstractmethod
    def update(self, table: Table, columns: tuple[str, ...], rows: Sequence[Values]) -> None:
        """New values in these columns of rows that are there: each has the values, then its primary key.

        Unlike `replace` it leaves the indexes of all other columns alone.
        """

    @abstractmethod
    def delete(self, table: Table, columns: tuple[str, ...], keys: Sequence[Values]) -> None:
        """Away with the rows that have these values in these columns."""

    def counter(self, name: str) -> int:
        """The last number that was given under this name."""
        if self.writes:
            return self.number("SELECT value FROM counters WHERE name = ?", name)
        return self.counters().get(name, 0)

    def counters(self) -> dict[str, int]:
        """The last numbers by name. To one that reads alone they stay as they are: it asks once, for all of them."""
        if self._counters is None or self.writes:
            self._counters = dict(self.rows("SELECT name, value FROM counters"))
        return self._counters

    def take(self, name: str, count: int) -> range:
        """The next numbers under this name; a rollback gives them back."""
        self.run(
            "INSERT INTO counters (name, value) VALUES (?, ?)"
            " ON CONFLICT (name) DO UPDATE SET value = counters.value + excluded.value",
            name,
            count,
        )
        last = self.counter(name)
        return range(last - count + 1, last + 1)


class StorePart:
    """What a transaction knows of one part of the store."""

    def __init__(self, sql: Sql) -> None:
        self._sql = sql


def assignments(table: Table) -> str:
    """The end of an upsert: by the primary key, every other column takes the new value."""
    key = ", ".join(key_of(table))
    others = [column.name for column in table.columns if not column.primary_key]
    return f"ON CONFLICT ({key}) DO UPDATE SET " + ", ".join(f"{name} = excluded.{name}" for name in others)


def key_of(table: Table) -> tuple[str, ...]:
    """The names of the primary key's columns, in order."""
    return tuple(column.name for column in table.primary_key)


@cache
def columns_of(table: Table) -> str:
    """The names of the columns, in order."""
    return ", ".join(column.name for column in table.columns)


def flat(rows: Sequence[Values]) -> tuple[Any, ...]:
    """All values of all rows in a line."""
    return tuple(chain.from_iterable(rows))
