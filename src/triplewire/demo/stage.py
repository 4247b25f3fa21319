"""Where the story is told: a console, with headings, talk, and things to look at. Readable without colours, too."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

_IRI = re.compile(r"<([^<>\s]*)>")


class Stage:
    """Prints the story; long IRIs are shown with the story's prefixes."""

    def __init__(self, console: Console, prefixes: Mapping[str, str]) -> None:
        self.console = console
        self._prefixes = sorted(prefixes.items(), key=lambda item: len(item[1]), reverse=True)
        self._scenes = 0

    def scene(self, title: str) -> None:
        """Begin a new part of the story."""
        self._scenes += 1
        self.console.print()
        self.console.rule(Text(f"{self._scenes}. {title}", style="bold"), align="left", characters="-")

    def talk(self, text: str) -> None:
        """Tell something; line breaks are those of the console, not of the source."""
        self.console.print(Text(" ".join(text.split())), highlight=False)

    def show(self, *things: object, style: str = "cyan") -> None:
        """Show texts as they are, one below the other, set in."""
        text = "\n".join(self.short(thing).rstrip() for thing in things)
        self.console.print(Padding(Text(text, style=style), (1, 0, 1, 4), expand=False), highlight=False)

    def table(self, columns: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
        """Show rows in columns."""
        table = Table(*columns, box=box.SIMPLE_HEAD)
        for row in rows:
            table.add_row(*(Text(self.short(cell)) for cell in row))
        self.console.print(table)

    def short(self, thing: object) -> str:
        """A text with its IRIs written with prefixes."""
        return _IRI.sub(lambda match: self._name(match[1]), str(thing))

    def _name(self, iri: str) -> str:
        for prefix, namespace in self._prefixes:
            if iri.startswith(namespace):
                return f"{prefix}:{iri[len(namespace) :]}"
        return f"<{iri}>"
