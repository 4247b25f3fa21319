"""Cells: what stands in one place of a table, as text and as a value."""

from __future__ import annotations

from datetime import date, datetime

from pyoxigraph import BlankNode, Literal, NamedNode

from triplewire.model import Native, Term, native

Cell = Term | str | int | float | datetime | None
"""A term of a row, or a plain value of an event; None: there is nothing in this place."""


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
