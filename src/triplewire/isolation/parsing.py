"""Parsing in a process that may die of it (`parser`).

What the gate of `documents` lets through should be harmless, and the parsers are large programs in other languages: one
of them may yet crash, take all the memory there is, or hold the interpreter for as long as it works. So a service or a
poller, which read for many, read by themselves only what is small and flat, and that only as long as it is cheap: most
of what comes, and cheaper to read than to send elsewhere. Another process reads the rest. If that process ends, the
document is refused, and a new process reads the next one.

Where a text is read, in a service (`Parsers.read`):

    on the event loop     it is short, and of a syntax and of characters that can state no blank node (`is_plain`)
    in a thread           it is small and flat (`is_harmless`), and turns out to be cheap (`_CHEAP`)
    in another process    everything else

Invariant: no request waits for a process in a thread that others need, and no more wait than `most_waiting`.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from queue import Empty, SimpleQueue
from threading import Lock

from triplewire.documents import Limits, feeds, parse
from triplewire.documents.formats import N_QUADS, N_TRIPLES, TRIG, TURTLE, guess
from triplewire.documents.limits import DEFAULT_LIMITS
from triplewire.errors import DocumentError, DocumentTooLarge, ServiceUnavailable
from triplewire.isolation.processes import Ended, Process, TooLate
from triplewire.model import Document

_SHORT = 8 * 1024
"""Bytes of a document that is read at once: to hand it to a thread takes longer."""
_SMALL, _FLAT = 16 * 1024, 64
"""Bytes, and opening brackets, up to which a document is read in the process that has it."""
_CHEAP = Limits(triples=10_000, expanded=1024 * 1024, effort=10_000)
"""What reading may cost in the process that has the document: about a hundredth of a second that stops all threads."""
_MAKES_BLANK_NODES = {
    N_TRIPLES: (b"_:",),
    N_QUADS: (b"_:",),
    TURTLE: (b"_:", b"[", b"(", b"<<", b"{|", b"~"),
    TRIG: (b"_:", b"[", b"(", b"<<", b"{|", b"~"),
}
"""All that a blank node can begin with, in the syntaxes where that can be told without reading them."""
_BUSY = "more documents wait to be read than the service takes; try again in a few seconds"


@dataclass(frozen=True, slots=True)
class TextToRead:
    """A document that is to be read."""

    data: bytes
    uri: str
    media_type: str | None
    limits: Limits

    @property
    def is_plain(self) -> bool:
        """Whether it is short, and certainly without blank nodes: there is nothing in it that takes long."""
        if len(self.data) > _SHORT or not self.is_harmless or feeds.is_feed(self.data):
            return False
        try:
            syntax = guess(self.data, uri=self.uri, media_type=self.media_type)
        except DocumentError:
            return False
        makers = _MAKES_BLANK_NODES.get(syntax)
        return makers is not None and not any(maker in self.data for maker in makers)

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

    def parsed_cheaply(self) -> Document | None:
        """The same, or None for what is, or may be, dear."""
        if len(self.data) > self.limits.bytes:
            return self.parsed()  # which refuses it at once
        if not self.is_harmless:
            return None
        cheap = replace(
            self.limits,
            triples=min(self.limits.triples, _CHEAP.triples),
            expanded=min(self.limits.expanded, _CHEAP.expanded),
            effort=min(self.limits.effort, _CHEAP.effort),
        )
        try:
            return replace(self, limits=cheap).parsed()
        except DocumentTooLarge:
            return None


class Parsers:
    """Some processes that read documents; threads take turns. They start when they are first needed.

    A text waits for its turn at most `patience` seconds, and `most_waiting` texts wait; then ServiceUnavailable.
    """

    def __init__(
        self, processes: int = 2, *, seconds: float = 60.0, patience: float = 60.0, most_waiting: int = 256
    ) -> None:
        self._seconds, self._patience, self._processes = seconds, patience, processes
        self._idle: SimpleQueue[Process | None] = SimpleQueue()
        for _ in range(processes):
            self._idle.put(None)
        self._closing = Lock()
        self._is_closed = False
        self._cheap = ThreadPoolExecutor(2, thread_name_prefix="triplewire-reading")
        self._dear = ThreadPoolExecutor(processes, thread_name_prefix="triplewire-parsers")
        self._waiting, self._most_waiting = 0, most_waiting

    async def read(
        self, data: bytes, *, uri: str, media_type: str | None = None, limits: Limits = DEFAULT_LIMITS
    ) -> Document:
        """As `parse`, for an event loop, which goes on meanwhile."""
        text = TextToRead(data, uri, media_type, limits)
        if text.is_plain and (found := text.parsed_cheaply()) is not None:
            return found
        if self._is_closed:
            raise ServiceUnavailable("the service is stopping; try again when it is back")
        if self._waiting >= self._most_waiting:
            raise ServiceUnavailable(_BUSY)
        self._waiting += 1
        try:
            found = await asyncio.get_running_loop().run_in_executor(self._cheap, text.parsed_cheaply)
            return await self._read_elsewhere(text) if found is None else found
        finally:
            self._waiting -= 1

    async def _read_elsewhere(self, text: TextToRead) -> Document:
        turn = self._dear.submit(self._parse_elsewhere, text)
        answer = asyncio.wrap_future(turn)
        try:
            await asyncio.wait({answer}, timeout=self._patience)
        except asyncio.CancelledError:
            answer.cancel()  # its client has gone: no other waits for it
            raise
        if not answer.done() and turn.cancel():  # which it cannot be once it is being read
            raise ServiceUnavailable(_BUSY)
        return await answer

    def parse(
        self, data: bytes, *, uri: str, media_type: str | None = None, limits: Limits = DEFAULT_LIMITS
    ) -> Document:
        """As `documents.parse` does it; DocumentError also for what ends a process, or takes it too long.

        It waits in the thread that calls it.
        """
        text = TextToRead(data, uri, media_type, limits)
        found = text.parsed_cheaply()
        return self._parse_elsewhere(text) if found is None else found

    def _parse_elsewhere(self, text: TextToRead) -> Document:
        if self._is_closed:
            return text.parsed()
        try:
            process = self._idle.get(timeout=self._patience)
        except Empty:
            raise ServiceUnavailable(_BUSY) from None
        try:
            if process is None or not process.is_alive:
                process = Process("triplewire.isolation.parser")
            return self._read(process, text)
        finally:
            self._idle.put(process if process is not None and process.is_alive else None)

    def _read(self, process: Process, text: TextToRead) -> Document:
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
        for executor in (self._cheap, self._dear):
            executor.shutdown(cancel_futures=True)
        for _ in range(self._processes):
            process = self._idle.get()
            if process is not None:
                process.end()
            self._idle.put(None)
