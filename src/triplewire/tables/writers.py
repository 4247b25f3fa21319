"""Writers: what all formats have in common, and the two that are text.

A writer is pushed: it is given items, and gives the bytes that are ready. So the same writer serves who has a file at
hand and who must wait for the next page without holding a thread.
"""

from __future__ import annotations

import csv
import io
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO, Self

from triplewire.tables.cells import plain
from triplewire.tables.layouts import Layout

_CHUNK = 1 << 16

_FORMULA = re.compile(r"[\s\x00-\x1f\x7f\u200b-\u200f\ufeff]*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n]")
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?\Z")


class FileWriter(ABC):
    """Writes items in one format. Used with `with`: what it keeps on disk meanwhile goes at the end of the block."""

    def __init__(self, layout: Layout[Any]) -> None:
        self._layout = layout

    @abstractmethod
    def add(self, items: Iterable[Any]) -> bytes:
        """Take items in; gives the bytes that are ready."""

    @abstractmethod
    def end(self) -> Iterator[bytes]:
        """The rest of the file, when all items are in."""

    def close(self) -> None:  # noqa: B027  # most keep nothing
        """Let go of what is kept on disk."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class JsonLines(FileWriter):
    """One JSON object on each line, with all that an item tells; the only format that loses nothing."""

    def add(self, items: Iterable[Any]) -> bytes:
        """See `FileWriter.add`."""
        told = self._layout.told
        return "".join(f"{json.dumps(told(item), ensure_ascii=False)}\n" for item in items).encode()

    def end(self) -> Iterator[bytes]:
        """There is nothing more."""
        yield from ()


class CommaSeparated(FileWriter):
    """CSV by RFC 4180, in UTF-8, with a header.

    Values are plain, as in the CSV of SPARQL's results: datatypes and languages are left out. A cell that a spreadsheet
    would take for a formula has an apostrophe before it, unless it is a number: a publisher's text must not run on the
    machine of who opens the file.
    """

    _begun = False

    def add(self, items: Iterable[Any]) -> bytes:
        """See `FileWriter.add`."""
        text = io.StringIO(newline="")
        lines = csv.writer(text)
        if not self._begun:
            lines.writerow(map(harmless, self._layout.columns))
            self._begun = True
        cells = self._layout.cells
        lines.writerows([harmless(plain(cell)) for cell in cells(item)] for item in items)
        return text.getvalue().encode()

    def end(self) -> Iterator[bytes]:
        """The header, if there was no item."""
        yield self.add(())


def harmless(text: str) -> str:
    """A text that no spreadsheet takes for a formula.

    >>> harmless("=1+1"), harmless("-1.5"), harmless("a=b")
    ("'=1+1", '-1.5', 'a=b')
    """
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.match(text) else text


def read_in_chunks(file: BinaryIO) -> Iterator[bytes]:
    """All of a file that was written, from its beginning."""
    file.seek(0)
    while chunk := file.read(_CHUNK):
        yield chunk
