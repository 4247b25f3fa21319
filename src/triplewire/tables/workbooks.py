"""Workbooks: Excel's .xlsx, by XlsxWriter, a line at a time.

Text is written as text, so that nothing in it is ever a formula, a link or a number. Numbers, truths, days and times
without a zone are Excel's own where Excel holds them exactly; the rest is text. A sheet that is full is followed by the
next one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from datetime import date, datetime
from decimal import Decimal
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Any

import xlsxwriter

from triplewire.model import Native
from triplewire.tables.layouts import Cell, Layout, spelled, value
from triplewire.tables.writers import FileWriter, read_in_chunks

LINES = 1_048_576
"""So many lines has a sheet (Excel's specifications and limits), the header among them."""

LONGEST = 32_767
"""So many characters has a cell."""

_CUT = " [cut: a cell of Excel ends here]"
_DIGITS = 15
_FIRST_YEAR = 1900
_OPTIONS = {
    "constant_memory": True,
    "strings_to_formulas": False,
    "strings_to_urls": False,
    "strings_to_numbers": False,
}


class Workbook(FileWriter):
    """An Excel workbook; `lines` of a sheet at most."""

    def __init__(self, layout: Layout[Any], *, lines: int = LINES) -> None:
        super().__init__(layout)
        self._lines = lines
        self._folder = TemporaryDirectory(prefix="triplewire-")
        self._file = TemporaryFile(dir=self._folder.name)  # noqa: SIM115  # closed by `close`
        self._book = xlsxwriter.Workbook(self._file, {**_OPTIONS, "tmpdir": self._folder.name})
        self._day = self._book.add_format({"num_format": "yyyy-mm-dd"})
        self._moment = self._book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"})
        self._begin_sheet()

    def _begin_sheet(self) -> None:
        self._sheet = self._book.add_worksheet()
        self._sheet.freeze_panes(1, 0)
        for column, name in enumerate(self._layout.columns):
            self._sheet.write_string(0, column, name)
        self._line = 1

    def add(self, items: Iterable[Any]) -> bytes:
        """Nothing is ready before the end: the file is a zip of parts that grow side by side."""
        for item in items:
            if self._line >= self._lines:
                self._begin_sheet()
            for column, cell in enumerate(self._layout.cells(item)):
                if cell is not None:
                    self._write(self._line, column, cell)
            self._line += 1
        return b""

    def _write(self, line: int, column: int, cell: Cell) -> None:
        found, sheet = value(cell), self._sheet
        number = _number_in(found)
        if isinstance(found, bool):
            sheet.write_boolean(line, column, found)
        elif number is not None:
            sheet.write_number(line, column, number)
        elif isinstance(found, date) and _is_held(found):
            sheet.write_datetime(line, column, found, self._moment if isinstance(found, datetime) else self._day)
        elif found is not None:
            sheet.write_string(line, column, _fitting(spelled(found)))

    def end(self) -> Iterator[bytes]:
        """The whole file."""
        self._book.close()
        yield from read_in_chunks(self._file)

    def close(self) -> None:
        """Let go of what is kept on disk, also of a book that nobody waits for any more."""
        for sheet in self._book.worksheets():
            sheet.row_data_fh.close()
        self._file.close()
        self._folder.cleanup()


def _number_in(found: Native | None) -> float | None:
    """The number, if Excel holds it as it is: fifteen digits."""
    if isinstance(found, bool):
        return None
    if isinstance(found, float):
        return found if math.isfinite(found) else None
    if isinstance(found, int):
        return found if abs(found) < 10**_DIGITS else None
    if isinstance(found, Decimal):
        return float(found) if len(found.as_tuple().digits) <= _DIGITS else None
    return None


def _is_held(found: date) -> bool:
    is_finer = isinstance(found, datetime) and (found.tzinfo is not None or found.microsecond % 1000 != 0)
    return found.year >= _FIRST_YEAR and not is_finer


def _fitting(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - len(_CUT)] + _CUT
