"""Connections: each made to an address that was checked, and kept open for the next request to the same server.

Why not a client of HTTP that there is: they take a name and resolve it themselves, or look at all their connections
for each request; and one message to one of a thousand receivers should cost what a message costs. The protocol itself
is h11's.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from collections import defaultdict
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from typing import NamedTuple
from urllib.parse import urlsplit

import h11

from triplewire.outbound.addresses import Reach, resolved

PORTS = {"http": 80, "https": 443}
_CHUNK = 65_536
_KEPT = 30.0
_MOST_KEPT = 1_000


class Unreachable(Exception):
    """There was no whole answer; the text says why."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a server answered: headers by their small names, and as much of the body as was wanted."""

    status: int
    headers: Mapping[str, str]
    body: bytes = b""

    @property
    def is_fine(self) -> bool:
        """Whether the server took it."""
        return 200 <= self.status < 300


class _Place(NamedTuple):
    """A server, by the name that its certificate must have."""

    scheme: str
    host: str
    port: int


class Connections:
    """Asks servers; for one event loop. Nothing here bounds how many are asked at a time: the caller does."""

    def __init__(self, reach: Reach, *, seconds: float, most_bytes: int = 64 * 1024) -> None:
        self._reach, self._seconds, self._most_bytes = reach, seconds, most_bytes
        self._idle: defaultdict[_Place, list[_Line]] = defaultdict(list)
        self._kept = 0

    async def ask(self, method: str, url: str, headers: Mapping[str, str], body: bytes = b"") -> Reply:
        """The reply; `Unreachable` if there is none in time, `AddressRefused` where no machine may be asked."""
        try:
            async with asyncio.timeout(self._seconds):
                return await self._asked(method, url, headers, body)
        except TimeoutError:
            raise Unreachable(f"no answer within {self._seconds:g} seconds") from None
        except (OSError, h11.ProtocolError, EOFError) as error:
            raise Unreachable(f"no answer: {str(error) or type(error).__name__}") from None

    async def _asked(self, method: str, url: str, headers: Mapping[str, str], body: bytes) -> Reply:
        parts = urlsplit(url)
        place = _Place(parts.scheme, parts.hostname or "", parts.port or PORTS[parts.scheme])
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        sent = {
            "Host": parts.netloc.rpartition("@")[2],
            "User-Agent": agent(),
            "Accept-Encoding": "identity",
            **headers,
            "Content-Length": str(len(body)),
        }
        request = h11.Request(method=method, target=target, headers=list(sent.items()))
        line = self._kept_line(place)
        if line is not None:
            with suppress(OSError, EOFError, h11.RemoteProtocolError):  # it was closed meanwhile: a new one, then
                return await self._over(place, line, request, body)
        return await self._over(place, await self._connected(place), request, body)

    async def _over(self, place: _Place, line: _Line, request: h11.Request, body: bytes) -> Reply:
        """Ask on a connection, which is kept if it can be used again, and closed if anything went wrong."""
        is_kept = False
        try:
            reply = await line.ask(request, body, self._most_bytes)
            is_kept = line.is_ready and self._kept < _MOST_KEPT
            return reply
        finally:
            if is_kept:
                line.since = time.monotonic()
                self._idle[place].append(line)
                self._kept += 1
            else:
                line.close()

    def _kept_line(self, place: _Place) -> _Line | None:
        lines = self._idle.get(place)
        while lines:
            line = lines.pop()
            self._kept -= 1
            if not lines:
                del self._idle[place]
            if time.monotonic() - line.since < _KEPT and not line.is_ended:
                return line
            line.close()
        return None

    async def _connected(self, place: _Place) -> _Line:
        """A connection to where the name leads now; TLS checks that the certificate is the name's."""
        address = await resolved(place.host, place.port, self._reach)
        if place.scheme == "http":
            return _Line(*await asyncio.open_connection(address, place.port))
        secure = certificates()
        return _Line(*await asyncio.open_connection(address, place.port, ssl=secure, server_hostname=place.host))

    async def close(self) -> None:
        """Let go of the connections that are not in use."""
        for lines in self._idle.values():
            for line in lines:
                line.close()
        self._idle.clear()
        self._kept = 0


class _Line:
    """A connection to a server."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._protocol = h11.Connection(h11.CLIENT, max_incomplete_event_size=_CHUNK)
        self.since = 0.0

    @property
    def is_ended(self) -> bool:
        """Whether the server has closed it."""
        return self._reader.at_eof() or self._writer.is_closing()

    @property
    def is_ready(self) -> bool:
        """Whether it can be asked again; then it is made ready."""
        states = self._protocol.our_state, self._protocol.their_state
        if states != (h11.DONE, h11.DONE):
            return False
        self._protocol.start_next_cycle()
        return True

    async def ask(self, request: h11.Request, body: bytes, most: int) -> Reply:
        """Send a request, and read the answer, or as much of it as is wanted."""
        sent = [self._protocol.send(request)]
        if body:
            sent.append(self._protocol.send(h11.Data(body)))
        sent.append(self._protocol.send(h11.EndOfMessage()))
        self._writer.write(b"".join(part for part in sent if part))
        await self._writer.drain()
        head = await self._next()
        while isinstance(head, h11.InformationalResponse):
            head = await self._next()
        assert isinstance(head, h11.Response)
        got = bytearray()
        while isinstance(event := await self._next(), h11.Data):
            got += event.data
            if len(got) > most:
                break
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in head.headers}
        return Reply(head.status_code, headers, bytes(got[:most]))

    async def _next(self) -> object:
        while (event := self._protocol.next_event()) is h11.NEED_DATA:
            data = await self._reader.read(_CHUNK)
            if not data and self._protocol.their_state is h11.SEND_RESPONSE:
                raise EOFError("the connection was closed before an answer")
            self._protocol.receive_data(data)
        return event

    def close(self) -> None:
        self._writer.close()


@lru_cache(maxsize=1)
def certificates() -> ssl.SSLContext:
    """Whose certificates count; they take a while to read."""
    return ssl.create_default_context()


@lru_cache(maxsize=1)
def agent() -> str:
    """The User-Agent of all requests."""
    try:
        return f"triplewire/{version('triplewire')}"
    except PackageNotFoundError:
        return "triplewire"


def retry_after(header: str, now: float) -> float | None:
    """The seconds that a Retry-After header asks for: a number, or a date; None if it is neither.

    >>> retry_after("120", 0), retry_after("Thu, 01 Jan 1970 00:01:00 GMT", 10), retry_after("soon", 0)
    (120.0, 50.0, None)
    """
    text = header.strip()
    if text.isascii() and text.isdigit() and len(text) < 10:
        return float(text)
    try:
        date = parsedate_to_datetime(text)
    except (ValueError, TypeError):
        return None
    return max(0.0, (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp() - now)
