"""Bodies: what a client sends, read within a length and a time."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.requests import ClientDisconnect, Request

from triplewire.errors import BadRequest, RequestTooLarge, RequestTooSlow, ServiceUnavailable, UnsupportedMediaType


async def body_of(request: Request, *, most: int, seconds: float) -> bytes:
    """The whole body; RequestTooLarge or RequestTooSlow as soon as it is."""
    _refuse(request, most)
    parts, length = [], 0
    try:
        async with _within(request, seconds, f"the request did not arrive within {seconds:g} seconds"):
            async for part in request.stream():
                length += len(part)
                _refuse_longer(length, most)
                parts.append(part)
    except ClientDisconnect:
        raise BadRequest("the client went away before its request was complete") from None
    return b"".join(parts)


async def lines_of(request: Request, *, most: int, longest: int, seconds: float) -> AsyncIterator[tuple[int, bytes]]:
    """Its lines with their numbers, as they arrive; each part of it must come within `seconds`."""
    _refuse(request, most)
    number, length, rest = 0, 0, bytearray()
    parts = request.stream()
    while True:
        try:
            async with _within(request, seconds, f"nothing of the request arrived for {seconds:g} seconds"):
                part = await anext(parts, None)
        except ClientDisconnect:
            raise BadRequest("the client went away before its request was complete") from None
        if part is None:
            break
        length += len(part)
        _refuse_longer(length, most)
        *whole, last = part.split(b"\n")  # only the new part is looked at: a long line comes in many of them
        for line in whole:
            number += 1
            rest += line
            _refuse_long_line(number, rest, longest)
            yield number, bytes(rest)
            rest.clear()
        rest += last
        _refuse_long_line(number + 1, rest, longest)
    if rest:
        yield number + 1, bytes(rest)


def _refuse_long_line(number: int, line: bytearray, longest: int) -> None:
    if len(line) > longest:
        raise RequestTooLarge(f"line {number} is longer than the {longest} bytes that are read")


class OpenBodies:
    """The bodies that are being read: when the service stops, nobody waits for the rest of them."""

    def __init__(self) -> None:
        self._limits: set[asyncio.Timeout] = set()
        self.is_over = False

    def end(self) -> None:
        """Let all of them be refused, now; and those that come later."""
        self.is_over = True
        for limit in self._limits:
            limit.reschedule(asyncio.get_running_loop().time())

    @asynccontextmanager
    async def within(self, seconds: float) -> AsyncIterator[None]:
        """TimeoutError if what is in the block takes longer, or the service stops."""
        async with asyncio.timeout(0 if self.is_over else seconds) as limit:
            self._limits.add(limit)
            try:
                yield
            finally:
                self._limits.discard(limit)


@asynccontextmanager
async def _within(request: Request, seconds: float, late: str) -> AsyncIterator[None]:
    """RequestTooSlow for a body that takes longer, ServiceUnavailable as soon as the service stops."""
    arrivals: OpenBodies = request.app.state.service.arrivals
    try:
        async with arrivals.within(seconds):
            yield
    except TimeoutError:
        if arrivals.is_over:
            raise ServiceUnavailable("the service is stopping; send it again when it is back") from None
        raise RequestTooSlow(late) from None


def refuse_halves(body: bytes) -> None:
    """BadRequest for JSON with half of a surrogate pair, which is no text, and which nothing could keep or send."""
    if b"\\ud" not in body and b"\\uD" not in body:
        return
    try:
        json.dumps(json.loads(body), ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise BadRequest("there is half of a surrogate pair in it, which is not text") from None
    except (ValueError, RecursionError):  # no JSON: the route that reads it says so
        return


def _refuse(request: Request, most: int) -> None:
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("", "identity"):
        raise UnsupportedMediaType(f"Content-Encoding {encoding!r} is not read; send the text as it is")
    length = request.headers.get("content-length", "")
    if length.isdecimal():
        _refuse_longer(int(length), most)


def _refuse_longer(length: int, most: int) -> None:
    if length > most:
        raise RequestTooLarge(f"the request is longer than the {most} bytes that are read; send less at a time")
