"""Lists of records: a table for people, JSON lines for programs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from triplewire.cli import options
from triplewire.cli.terminal import Screen, print_json, print_text
from triplewire.cli.terms import row_text, short

if TYPE_CHECKING:
    from triplewire import Event
    from triplewire.wire.insights import Insight


def print_records(
    records: Iterable[Mapping[str, Any]], columns: Iterable[str], format: options.Format, prefixes: Mapping[str, str]
) -> int:
    """Print each record, or its `columns` as a line of a table; gives how many there were."""
    if format == "jsonl":
        return sum(print_json(record) for record in records)
    from rich.text import Text

    from triplewire.cli.tables import plain_table

    names, count = list(columns), 0
    table = plain_table(*names)
    for record in records:
        table.add_row(*(Text(short(_cell(record.get(name)), prefixes)) for name in names))
        count += 1
    if count:
        Screen().print(table)
    return count


def print_insight(told: Insight, prefixes: Mapping[str, str], json: bool) -> None:
    """Print what a hub says of a row, a resource or a query: its sentences, or its data."""
    if json:
        print_json(told.as_dict())
    else:
        print_text(short(told, prefixes))


def record_of(event: Event) -> dict[str, Any]:
    """An event as a record; its time is one, so that a table shows it to the second, in UTC."""
    return event.as_dict(contents=False) | {"time": event.time}


def _cell(value: object) -> str:
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M:%S}"
    if isinstance(value, Mapping):
        return row_text(value)
    return "" if value is None else f"{value:,}" if isinstance(value, int) else str(value)
