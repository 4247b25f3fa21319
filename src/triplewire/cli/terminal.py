"""The terminal: what publishers wrote is shown there, and never steers it.

A title may hold an escape sequence that clears the screen, renames the window or hides a line. So whatever this command
prints goes through here, where control characters become visible. They are spelled as JSON, N-Triples and SPARQL spell
them, so that output for programs means what it meant. Files are written as they are.
"""

from __future__ import annotations

import codecs
import io
import json
import re
import sys
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Control characters but tab and end of line, and those that turn the direction of writing."""


def visible(text: str) -> str:
    r"""A text that steers no terminal.

    >>> visible("flood\x1b[2J")
    'flood\\u001B[2J'
    """
    return _STEERING.sub(lambda match: f"\\u{ord(match[0]):04X}", text)


def print_text(text: object) -> None:
    """Print a line on standard output."""
    sys.stdout.write(visible(str(text)) + "\n")


def print_json(record: Mapping[str, Any]) -> int:
    """Print a record as a line of JSON on standard output; gives 1, to be counted."""
    sys.stdout.write(visible(json.dumps(record, ensure_ascii=False, default=_plain)) + "\n")
    return 1


class Screen(Console):
    """A console of Rich on which control characters in texts are visible, and `:two:` is no picture."""

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, emoji=False)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """See `Console.render`."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(visible(segment.text), segment.style)


class VisibleBytes(io.RawIOBase):
    """A file of text that is shown on a terminal instead of being kept."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def writable(self) -> bool:
        """See `io.IOBase.writable`."""
        return True

    def write(self, data: ReadableBuffer) -> int:
        """See `io.RawIOBase.write`."""
        bytes_ = bytes(data)
        sys.stdout.write(visible(self._decoder.decode(bytes_).replace("\r\n", "\n")))
        return len(bytes_)


def _plain(value: object) -> str:
    from triplewire.model import spelled

    assert isinstance(value, datetime), "records are of plain values and times"
    return spelled(value)
