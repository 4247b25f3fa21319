"""Many connected listeners: how long it takes until all of them have heard of one document."""

from __future__ import annotations

import asyncio
import time
from urllib.parse import urlsplit

from benchmarks.hub.load import open_stream, request

HEARD = "SELECT ?s ?n { ?s <urn:heard> ?n }"


def measure(url: str, listeners: int, documents: int) -> list[float]:
    """Seconds from sending a document until the last of so many listeners has its event, for each document."""
    return asyncio.run(_measure(url, listeners, documents))


async def _measure(url: str, listeners: int, documents: int) -> list[float]:
    place = urlsplit(url)
    streams = [await open_stream(url, "/v1/subscriptions/heard/stream") for _ in range(listeners)]
    heard, changed = [0] * listeners, asyncio.Event()

    async def listen(number: int) -> None:
        async for line in streams[number][0]:
            if line.startswith(b"data: {"):
                heard[number] += 1
                changed.set()

    tasks = [asyncio.create_task(listen(number)) for number in range(listeners)]
    reader, writer = await asyncio.open_connection(place.hostname, place.port)
    found = []
    for number in range(documents):
        began = time.perf_counter()
        writer.write(
            request(
                url,
                "PUT",
                f"/v1/document?uri=urn:heard:{number}",
                f"<urn:heard:{number}> <urn:heard> {number} .".encode(),
            )
        )
        head = await reader.readuntil(b"\r\n\r\n")
        await reader.readexactly(int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]))
        while min(heard) <= number:
            changed.clear()
            await changed.wait()
        found.append(time.perf_counter() - began)
    for task in tasks:
        task.cancel()
    for _, each in [*streams, (reader, writer)]:
        each.close()
    return found
