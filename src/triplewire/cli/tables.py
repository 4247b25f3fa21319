"""Tables for people; readable without colours, too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os.path import abspath, commonpath, dirname, relpath
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table
from rich.text import Text

from triplewire.cli.terms import row_text, short

if TYPE_CHECKING:
    from triplewire.cli.commands.match import PrintedAnswer


def plain_table(*columns: str) -> Table:
    """An empty table in the one style of this command."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def answers_table(answers: Sequence[PrintedAnswer], prefixes: Mapping[str, str]) -> Table:
    """One line for each row; what repeats from the line above is left out, and so is the folder that all share."""
    table, before = plain_table("document", "subscription", "row"), ("", "")
    folder = commonpath([dirname(abspath(answer.document)) for answer in answers])
    for answer in answers:
        here = (answer.document, answer.subscription)
        document = "" if here[0] == before[0] else relpath(here[0], folder)
        subscription = "" if here == before else here[1]
        row = "\n".join([row_text(answer.row), *(f"  because {triple}" for triple in answer.why or ())])
        table.add_row(Text(document), Text(subscription, style="bold"), Text(short(row, prefixes)))
        before = here
    return table
