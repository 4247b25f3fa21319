"""A client that is much faster than the service: requests are bytes, answers are looked at as far as needed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import urlsplit

Request = Callable[[int], bytes]
"""The bytes of the request of a number."""


@dataclass(slots=True)
class Load:
    """What a number of connections did for a while: seconds of each request; `cpu`: of the service, for a request."""

    seconds: float
    latencies: list[float] = field(default_factory=list)
    cpu: float = 0.0

    @property
    def rate(self) -> float:
        """Requests a second."""
        return len(self.latencies) / self.seconds

    def percentile(self, share: float) -> float:
        """So many of the requests took no longer."""
        return sorted(self.latencies)[min(len(self.latencies) - 1, int(share * len(self.latencies)))]


def request(url: str, method: str, target: str, body: bytes = b"", media_type: str = "text/turtle") -> bytes:
    """The bytes of a request."""
    head = f"{method} {target} HTTP/1.1\r\nHost: {urlsplit(url).netloc}\r\n"
    if body:
        head += f"Content-Type: {media_type}\r\nContent-Length: {len(body)}\r\n"
    return head.encode() + b"\r\n" + body


def run(url: str, make: Request, *, connections: int, seconds: float, first: int = 0) -> Load:
    """Ask on all connections, each as soon as it was answered, with requests numbered from `first`."""
    return asyncio.run(_run(url, make, connections, seconds, first))


async def _run(url: str, make: Request, connections: int, seconds: float, first: int) -> Load:
    place = urlsplit(url)
    load, numbers = Load(seconds), iter(range(first, 1 << 60))
    ends = time.perf_counter() + seconds

    async def client() -> None:
        reader, writer = await asyncio.open_connection(place.hostname, place.port)
        while (began := time.perf_counter()) < ends:
            writer.write(make(next(numbers)))
            await _answer(reader)
            load.latencies.append(time.perf_counter() - began)
        writer.close()

    await asyncio.gather(*(client() for _ in range(connections)))
    return load


async def _answer(reader: asyncio.StreamReader) -> None:
    head = await reader.readuntil(b"\r\n\r\n")
    if not head.startswith(b"HTTP/1.1 2"):
        raise RuntimeError(head.decode())
    length = head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]
    await reader.readexactly(int(length))


async def open_stream(url: str, target: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection on which events arrive as lines, when the service listens to it."""
    place = urlsplit(url)
    reader, writer = await asyncio.open_connection(place.hostname, place.port)
    writer.write(request(url, "GET", target))
    head = await reader.readuntil(b"\r\n\r\n")
    if not head.startswith(b"HTTP/1.1 200"):
        raise RuntimeError(head.decode())
    await reader.readuntil(b"retry: 2000")
    return reader, writer
