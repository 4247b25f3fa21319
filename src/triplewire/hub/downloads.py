"""Downloads: all rows or all events of a subscription as a file, sent page by page (M9).

Whether the caller may have them is asked for each page, as it is for JSON. A file that must be whole before its first
byte (Excel, Parquet) grows in a temporary file; an account has only so many of these at a time, and whether the caller
may have it is asked for each chunk of it, too. A client that takes nothing for long is cut off.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Sequence
from contextlib import ExitStack, aclosing, suppress
from typing import Annotated, Any, NamedTuple
from urllib.parse import quote

from fastapi import Header, Query
from starlette.concurrency import run_in_threadpool
from starlette.responses import StreamingResponse
from starlette.types import Message, Receive, Scope, Send

from triplewire.engine.connection import record_of
from triplewire.errors import BadRequest, NotAcceptable, ServiceUnavailable
from triplewire.hub.negotiation import best
from triplewire.hub.service import Admission
from triplewire.tables import FORMATS, FileFormat, FileWriter, Layout

JSON = "application/json"
PAGE = 1_000

Accept = Annotated[str | None, Header(description="What the answer is: JSON in pages, or a file with all of it.")]
FormatName = Annotated[
    str | None,
    Query(
        max_length=20,
        description=f"{', '.join(FORMATS)}: a file with all of it; json: a page. Counts more than Accept.",
    ),
]
FILES: dict[str, dict[str, Any]] = {
    each.media_type: {"schema": {"type": "string"} if each.is_text else {"type": "string", "format": "binary"}}
    for each in FORMATS.values()
}
"""The files, for the description of a route."""


class DownloadSource(NamedTuple):
    """What a download is of: the end of its name, its layout, and a page of it by where the one before ended."""

    name: str
    layout: Layout[Any]
    page: Callable[[Any], tuple[Sequence[Any], Any]]
    """Gives the items and where the next page begins; None there ends it."""
    start: Any


def wanted(format: str | None, accept: str | None) -> FileFormat | None:
    """The format of the file that is asked for; None for JSON in pages."""
    here = {each.media_type: each for each in FORMATS.values() if each.is_here}
    if format is None:
        chosen = best(accept, [JSON, *here])
        return None if chosen == JSON else here[chosen]
    if format == "json":
        return None
    if format not in FORMATS:
        raise BadRequest(f"format is {format!r}; there are: json, {', '.join(FORMATS)}")
    if not FORMATS[format].is_here:
        raise NotAcceptable(FORMATS[format].media_type, [JSON, *here])
    return FORMATS[format]


async def download(access: Admission, id: str, format: FileFormat, source: DownloadSource) -> StreamingResponse:
    """The file as an answer; its first bytes are there when this returns, so that what is refused is told as such."""
    service = access.service
    with ExitStack() as stack:
        if not format.is_text:
            stack.enter_context(service.downloads.taken(access.account.id))
        writer = await run_in_threadpool(format.writer, source.layout)
        stack.enter_context(writer)
        chunks = _chunks(access, id, writer, source)
        first = await anext(chunks, b"")
        kept = stack.pop_all()
    name = f"{id}-{source.name}.{format.name}"
    headers = {"Content-Disposition": _disposition(name), "Cache-Control": "private, no-cache", "Vary": "Accept"}
    kind = f"{format.media_type}; charset=utf-8" if format.is_text else format.media_type
    sent, patience = _sent(first, chunks), service.settings.download_seconds
    return _Download(kept, patience, sent, media_type=kind, headers=headers)


class _Download(StreamingResponse):
    """Lets go of what was kept for it when it was sent, also if the client is gone before the first byte.

    A client has so many seconds for each message: one that reads nothing would otherwise keep it for ever.
    """

    def __init__(self, kept: ExitStack, patience: float, chunks: AsyncIterator[bytes], **about: Any) -> None:
        super().__init__(chunks, **about)
        self._kept, self._patience = kept, patience

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See `StreamingResponse`."""

        async def send_in_time(message: Message) -> None:
            try:
                async with asyncio.timeout(self._patience):
                    await send(message)
            except TimeoutError:
                raise _Stalled from None

        with self._kept, suppress(_Stalled):  # the server closes what was not sent completely
            await super().__call__(scope, receive, send_in_time)


class _Stalled(Exception):
    """The client takes nothing."""


async def _sent(first: bytes, chunks: AsyncGenerator[bytes, None]) -> AsyncIterator[bytes]:
    async with aclosing(chunks):
        yield first
        async for chunk in chunks:
            yield chunk


async def _chunks(
    access: Admission, id: str, writer: FileWriter, source: DownloadSource
) -> AsyncGenerator[bytes, None]:
    """The bytes of the file, as they are ready. What goes wrong in the middle breaks the connection off."""
    after = source.start

    def step() -> bytes:
        nonlocal after
        items, after = access.see(id, lambda: source.page(after))
        return writer.add(items)

    while after is not None:
        await _require_going_on(access)
        ready = await run_in_threadpool(step)
        if ready:
            yield ready
    rest = writer.end()
    while chunk := await run_in_threadpool(_next, access, id, rest):
        await _require_going_on(access)
        yield chunk


async def _require_going_on(access: Admission) -> None:
    await access.require_known()
    if access.service.is_stopping:
        raise ServiceUnavailable("the service is stopping")


def _next(access: Admission, id: str, rest: Iterator[bytes]) -> bytes:
    """The next chunk of a file that is whole, if its subscription is still there and the caller may still have it."""
    chunk = next(rest, b"")
    with access.hub.store.reading() as reader:
        record_of(reader, id)  # says that there is none
    access.require_sight(id)
    return chunk


def _disposition(name: str) -> str:
    """Two names: one that every client reads, and the true one (RFC 6266)."""
    plain = "".join(each if each.isascii() and (each.isalnum() or each in "-_.") else "_" for each in name)
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"
