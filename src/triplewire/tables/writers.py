"""Writers: the files that rows and events leave as, what all formats have in common, and the two that are text.

A writer is pushed: it is given items, and gives the bytes that are ready. So the same writer serves a caller
with a file at hand and one that must wait for the next page without holding a thread.
"""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from itertools import islice
from typing import Any, BinaryIO, Self

from triplewire.tables.layouts import Layout, plain

_PAGE = 1_000
_CHUNK = 1 << 16

_SIGN = re.compile(r"[=+\-@\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b\u2212]")
"""What a formula begins with, and what looks like it."""
_SEPARATOR = re.compile(r"([;|\t\r\n\x0b\x0c\x1c-\x1e\x85\u2028\u2029])")
"""Where a spreadsheet may begin another cell, whether there are quotes around it or not."""
_UNSEEN = frozenset({"Cc", "Cf", "Zs", "Zl", "Zp"})
_SELECTOR = re.compile("[\u180b-\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]")
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
        told = self._layout.told
        return "".join(f"{json.dumps(told(item), ensure_ascii=False)}\n" for item in items).encode()

    def end(self) -> Iterator[bytes]:
        """There is nothing more."""
        yield from ()


class CommaSeparated(FileWriter):
    """CSV by RFC 4180, in UTF-8, with a header.

    Values are plain, as in the CSV of SPARQL's results: datatypes and languages are left out. A cell that a spreadsheet
    would take for a formula has an apostrophe before it, unless it is a number: a publisher's text must not run on a
    reader's machine. So has the part of a cell after a semicolon, a bar, a tab or a line break: quotes do not hold a
    cell together for a program that reads the file with another separator.
    """

    _begun = False

    def add(self, items: Iterable[Any]) -> bytes:
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
    """A text that no spreadsheet takes for a formula, also one that separates cells by another character than a comma.

    >>> harmless("=1+1"), harmless("-1.5"), harmless("a=b"), harmless("a;=1+1"), harmless("a; b")
    ("'=1+1", '-1.5', 'a=b', "a;'=1+1", 'a; b')
    """
    start = "'" if text.startswith(("\t", "\r", "\n")) else ""
    if not _SIGN.search(text):
        return start + text
    return start + "".join(f"'{part}" if _is_formula(part) else part for part in _SEPARATOR.split(text))


def _is_formula(part: str) -> bool:
    """Whether the first thing that is seen of it is a sign, and it is no number."""
    seen = next((each for each in part if not _is_passed_over(each)), "")
    return _SIGN.match(seen) is not None and not _NUMBER.match(part)


def _is_passed_over(character: str) -> bool:
    """Whether a spreadsheet may leave it away at the start: a quote, a space, or what has no shape of its own."""
    return character == '"' or unicodedata.category(character) in _UNSEEN or _SELECTOR.match(character) is not None


def read_in_chunks(file: BinaryIO) -> Iterator[bytes]:
    """All of a file that was written, from its beginning."""
    file.seek(0)
    while chunk := file.read(_CHUNK):
        yield chunk


@dataclass(frozen=True, slots=True)
class FileFormat:
    """A format: its name, which files end in, too; its media type; where its writer is, and what that needs."""

    name: str
    media_type: str
    home: str
    needs: str | None = None
    is_text: bool = False

    @property
    def is_here(self) -> bool:
        """Whether what its writer needs is installed."""
        return self.needs is None or find_spec(self.needs) is not None

    def writer(self, layout: Layout[Any]) -> FileWriter:
        """A new writer; ImportError, with how to get it, if what it needs is not installed."""
        if not self.is_here:
            raise ImportError(f"{self.name} needs the package {self.needs}: pip install 'triplewire[files]'")
        module, _, name = self.home.partition(":")
        made = getattr(import_module(module), name)(layout)
        assert isinstance(made, FileWriter)
        return made


FORMATS: Mapping[str, FileFormat] = {
    each.name: each
    for each in (
        FileFormat("csv", "text/csv", "triplewire.tables.writers:CommaSeparated", is_text=True),
        FileFormat(
            "xlsx",
            "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            "triplewire.tables.workbooks:Workbook",
            needs="xlsxwriter",
        ),
        FileFormat("parquet", "application/vnd.apache.parquet", "triplewire.tables.arrow:Parquet", needs="pyarrow"),
        FileFormat("jsonl", "application/x-ndjson", "triplewire.tables.writers:JsonLines", is_text=True),
    )
}
"""By name."""


def write(file: BinaryIO, format: str, layout: Layout[Any], items: Iterable[Any]) -> int:
    """Write all items into a file, a page at a time; gives how many they were."""
    count, coming = 0, iter(items)
    with FORMATS[format].writer(layout) as writer:
        while page := list(islice(coming, _PAGE)):
            file.write(writer.add(page))
            count += len(page)
        for chunk in writer.end():
            file.write(chunk)
    return count
