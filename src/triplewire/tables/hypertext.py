"""Hypertext: a table as HTML, as a notebook shows it. Whatever publishers wrote is text in it, never markup."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from triplewire.tables.cells import plain
from triplewire.tables.layouts import Layout

MOST = 100
"""So many lines are shown."""


def table(layout: Layout[Any], items: Sequence[Any]) -> str:
    """The first lines of a table, and how many there are in all."""
    head = "".join(f"<th>{escape(name)}</th>" for name in layout.columns)
    lines = [
        "<tr>" + "".join(f"<td>{escape(plain(cell))}</td>" for cell in layout.cells(item)) + "</tr>"
        for item in items[:MOST]
    ]
    shown = f"{len(items):,}" if len(items) <= MOST else f"{MOST:,} of {len(items):,}"
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table><p>{shown}</p>"
