"""Layouts: which columns a table has, what of a row or an event stands in them, and a cell as text and as a value."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any, Protocol, TypeVar

from pyoxigraph import BlankNode, Literal, NamedNode

from triplewire.model import Event, Matched, Native, Row, Term, native

Item = TypeVar("Item", contravariant=True)

Cell = Term | str | int | float | datetime | None
"""A term of a row, or a plain value of an event; None: there is nothing in this place."""

ANSWER = "answer"
"""The column of a query that asks only whether there is something, and has no columns of its own."""

_ROW, _TIME = "row", "time"


class Layout(Protocol[Item]):
    """How items become lines."""

    columns: tuple[str, ...]

    def cells(self, item: Item) -> tuple[Cell, ...]:
        """What stands in the columns."""
        ...

    def told(self, item: Item) -> Mapping[str, Any]:
        """The item, JSON-ready, with nothing left out."""
        ...


class RowLayout:
    """Rows: a column for each variable."""

    def __init__(self, columns: Iterable[str]) -> None:
        self._names = tuple(columns)
        self.columns = self._names or (ANSWER,)

    def cells(self, item: Row) -> tuple[Cell, ...]:
        """The terms; a row of a query without variables says yes by being there."""
        return tuple(item.get(name) for name in self._names) or (True,)

    def told(self, item: Row) -> Mapping[str, Any]:
        """The terms in their N-Triples spelling."""
        return {name: str(term) for name, term in item.items()}


class EventLayout:
    """Events: a column for each field that an event tells, and `row.NAME` for each variable of its row.

    What is a list or an object in JSON (triples, documents, contents) is JSON in its cell, too.
    """

    def __init__(self, columns: Iterable[str], *, contents: bool = False) -> None:
        self._names, self._contents = tuple(columns), contents
        fields = Matched("", {}, "", 0, datetime.fromtimestamp(0, UTC)).as_dict(contents=contents)
        self._fields = tuple(name for name in fields if name != _ROW)
        self.columns = (*self._fields, *(f"{_ROW}.{name}" for name in self._names))

    @classmethod
    def of(cls, events: Sequence[Event]) -> EventLayout:
        """The layout that has a column for every variable that some of these events bind."""
        return cls(dict.fromkeys(name for event in events for name in event.row))

    def cells(self, item: Event) -> tuple[Cell, ...]:
        """The fields, then the terms of the row."""
        told = item.as_dict(contents=self._contents) | {_TIME: item.time}
        return (*(_cell(told.get(name)) for name in self._fields), *(item.row.get(name) for name in self._names))

    def told(self, item: Event) -> Mapping[str, Any]:
        """The event as the service tells it."""
        return item.as_dict(contents=self._contents)


def _cell(field: Any) -> Cell:
    if field is None or isinstance(field, str | int | float | datetime):
        return field
    return json.dumps(field, ensure_ascii=False)


def plain(cell: Cell) -> str:
    """A cell as plain text: an IRI without brackets, of a literal its text alone, nothing where there is nothing."""
    if isinstance(cell, NamedNode | Literal):
        return cell.value
    return "" if cell is None else spelled(cell)


def value(cell: Cell) -> Native | None:
    """A cell as a value of Python."""
    return native(cell) if isinstance(cell, NamedNode | BlankNode | Literal) else cell


def spelled(found: Native | BlankNode) -> str:
    """A value as text; days and times as ISO 8601 has them."""
    return found.isoformat() if isinstance(found, date) else str(found)
