"""Lists of records: a table for people, JSON lines for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from triplewire.cli import options
from triplewire.cli.terms import short


def print_records(
    records: Iterable[Mapping[str, Any]], columns: Iterable[str], format: options.Format, prefixes: Mapping[str, str]
) -> int:
    """Print each record, or its `columns` as a line of a table; gives how many there were."""
    if format is options.Format.jsonl:
        return sum(print_json(record) for record in records)
    from rich.console import Console
    from rich.text import Text

    from triplewire.cli.tables import plain_table

    names, count = list(columns), 0
    table = plain_table(*names)
    for record in records:
        table.add_row(*(Text(short(_cell(record.get(name)), prefixes)) for name in names))
        count += 1
    if count:
        Console().print(table)
    return count


def print_json(record: Mapping[str, Any]) -> int:
    """One record as a line of JSON; gives 1, to be counted."""
    sys.stdout.write(json.dumps(record, ensure_ascii=False) + "\n")
    return 1


def _cell(value: object) -> str:
    if isinstance(value, Mapping):
        return "\n".join(f"?{name} = {term}" for name, term in value.items()) or "(yes)"
    return "" if value is None else f"{value:,}" if isinstance(value, int) else str(value)
