"""From the acknowledgement of a document to its event, as a listener gets it; next to an empty micro-batch."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from urllib.parse import urlsplit

from benchmarks.hub.load import open_stream, request
from triplewire.engine import Hub
from triplewire.model import Retract

LISTENED = "SELECT ?s ?n { ?s <urn:latency> ?n }"
SHARES = (0.5, 0.9, 0.99)


def measure(url: str, documents: int) -> list[float]:
    """Seconds from acknowledgement to event, of documents that come one after the other; a tenth is to warm up."""
    found = asyncio.run(_measure(url, documents + documents // 10))
    return found[-documents:]


async def _measure(url: str, documents: int) -> list[float]:
    place = urlsplit(url)
    heard: dict[int, float] = {}
    more = asyncio.Event()
    stream, listening = await open_stream(url, "/v1/subscriptions/latency/stream")

    async def listen() -> None:
        async for line in stream:
            if line.startswith(b"data: {"):
                number = json.loads(line[6:])["row"]["n"].partition('"^^')[0].strip('"')
                heard[int(number)] = time.perf_counter()
                more.set()

    task = asyncio.create_task(listen())
    reader, writer = await asyncio.open_connection(place.hostname, place.port)
    found = []
    for number in range(documents):
        writer.write(
            request(
                url,
                "PUT",
                f"/v1/document?uri=urn:latency:{number}",
                f"<urn:latency:{number}> <urn:latency> {number} .".encode(),
            )
        )
        head = await reader.readuntil(b"\r\n\r\n")
        acknowledged = time.perf_counter()
        assert head.startswith(b"HTTP/1.1 202"), head
        await reader.readexactly(int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]))
        while number not in heard:
            more.clear()
            await more.wait()
        found.append(max(0.0, heard[number] - acknowledged))
    task.cancel()
    for each in (writer, listening):
        each.close()
    return found


def empty_batches(count: int, master: str = "local[2]") -> list[float]:
    """Seconds of micro-batches of a stream that have nothing to do, from the log to the commit."""
    from triplewire.pipeline.session import running
    from triplewire.pipeline.streaming import CONF

    with TemporaryDirectory() as folder, running(master, conf=CONF) as spark:
        from triplewire.pipeline.streaming.running import Plan, Stream

        url = f"sqlite:///{folder}/hub.db"
        done = Event()
        stream = Stream(spark, Plan(url, "intake", Path(folder) / "checkpoint"), heard=lambda _: done.set())
        thread = Thread(target=stream.run, daemon=True)
        thread.start()
        found = []
        with Hub(url) as hub:
            for number in range(count + 2):
                done.clear()
                began = time.perf_counter()
                hub.submit([Retract(f"urn:nothing:{number}")])
                done.wait()
                found.append(time.perf_counter() - began)
        stream.stop()
        thread.join()
        stream.close()
    return found[2:]


def line(name: str, seconds: Sequence[float]) -> dict[str, str | float]:
    """A distribution, for the JSON lines."""
    ordered = sorted(seconds)
    told: dict[str, str | float] = {"benchmark": "hub", "name": name, "count": len(ordered)}
    for share in SHARES:
        told[f"p{round(share * 100)}_ms"] = 1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))]
    return told
