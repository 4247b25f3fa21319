"""Formats: the files that rows and events leave as, by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from itertools import islice
from typing import Any, BinaryIO

from triplewire.tables.layouts import Layout
from triplewire.tables.writers import FileWriter

_PAGE = 1_000


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
