"""Parsing in a process that may die of it (`parser`).

What the gate of `documents` lets through should be harmless, and the parsers are large programs in other languages: one
of them may yet crash, or take all the memory there is. So a service or a poller, which read for many, read by
themselves only what is small and flat: most of what comes, and cheaper to read than to send elsewhere. Another process
reads the rest. If that process ends, the document is refused, and a new process reads the next one.
"""

from __future__ import annotations

from dataclasses import dataclass
from queue import SimpleQueue
from threading import Lock

from triplewire.documents import Limits, parse
from triplewire.documents.limits import DEFAULT_LIMITS
from triplewire.errors import DocumentError, DocumentTooLarge
from triplewire.isolation.processes import Ended, Process, TooLate
from triplewire.model import Document

_SMALL, _FLAT = 16 * 1024, 64
"""Bytes, and opening brackets, up to which a document is read in the process that has it."""


@dataclass(frozen=True, slots=True)
class Text:
    """A document that is to be read."""

    data: bytes
    uri: str
    media_type: str | None
    limits: Limits

    @property
    def is_harmless(self) -> bool:
        """Whether nothing in it can be large or deep."""
        data = self.data
        return (
            len(data) <= _SMALL
            and data.count(b"(") + data.count(b"[") + data.count(b"{") <= _FLAT
            and data.count(b"<<") <= _FLAT
        )

    def parsed(self) -> Document:
        """The document; DocumentError says why there is none."""
        return parse(self.data, uri=self.uri, media_type=self.media_type, limits=self.limits)


class Parsers:
    """Some processes that read documents; threads take turns. They start when they are first needed."""

    def __init__(self, processes: int = 2, *, seconds: float = 60.0) -> None:
        self._seconds, self._processes = seconds, processes
        self._idle: SimpleQueue[Process | None] = SimpleQueue()
        for _ in range(processes):
            self._idle.put(None)
        self._closing = Lock()
        self._is_closed = False

    def parse(
        self, data: bytes, *, uri: str, media_type: str | None = None, limits: Limits = DEFAULT_LIMITS
    ) -> Document:
        """As `documents.parse` does it; DocumentError also for what ends a process, or takes it too long."""
        text = Text(data, uri, media_type, limits)
        if text.is_harmless or len(data) > limits.bytes or self._is_closed:
            return text.parsed()
        process = self._idle.get()
        try:
            if process is None or not process.is_alive:
                process = Process("triplewire.isolation.parser")
            return self._read(process, text)
        finally:
            self._idle.put(process if process is not None and process.is_alive else None)

    def _read(self, process: Process, text: Text) -> Document:
        try:
            document = process.ask(text, self._seconds)
        except TooLate:
            reason = f"it could not be read within {self._seconds:g} seconds; split it, or write it in a simpler way"
            raise DocumentTooLarge(reason, uri=text.uri) from None
        except Ended:
            raise DocumentError("it ended the process that read it; write it in a simpler way", uri=text.uri) from None
        assert isinstance(document, Document)
        return document

    def close(self) -> None:
        """End the processes, each when it has read what it reads."""
        with self._closing:
            if self._is_closed:
                return
            self._is_closed = True
        for _ in range(self._processes):
            process = self._idle.get()
            if process is not None:
                process.end()
            self._idle.put(None)
