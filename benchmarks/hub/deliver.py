"""Web hooks a second from a deliverer in a process of its own, with all receivers well and with a tenth that hang.

Two things are measured. *Draining*: a backlog for all receivers, and how fast those that work have it. *Going along*:
events are committed at a steady rate, and how long each takes from its commit to its receiver.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from statistics import median

from benchmarks.servers import Server
from triplewire import Hub, Publish, Subscription, parse
from triplewire.deliver import Deliveries

RECEIVERS = 100
HANGING = 0.1
RATE = 500
_BATCH = 50


@dataclass(slots=True)
class Delivered:
    """What one run gave: web hooks a second while draining, and the seconds that each took going along."""

    rate: float
    lags: list[float] = field(default_factory=list)
    missing: int = 0
    cpu: float = 0.0
    """Seconds of the deliverer's processor for each web hook."""

    def percentile(self, share: float) -> float:
        """So many of the web hooks took no longer."""
        return self.lags[min(len(self.lags) - 1, int(share * len(self.lags)))] if self.lags else 0.0


class Receiver(Server):
    """Answers 204 at once, or never where the path says so; each address of 127.0.0.0/8 is a host of its own."""

    def __init__(self) -> None:
        self.arrived: dict[str, float] = {}
        self.committed: dict[str, float] = {}
        super().__init__("0.0.0.0")

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """See `Server.serve`."""
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                fields = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line)
                body = await reader.readexactly(int(fields["content-length"]))
                if head.startswith("POST /hang"):
                    await asyncio.sleep(3_600)
                id = fields["webhook-id"]
                self.arrived.setdefault(id, time.time())
                self.committed[id] = datetime.fromisoformat(json.loads(body)["time"]).timestamp()
                writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            writer.close()

    def wait_for(self, count: int, seconds: float) -> int:
        """How many have arrived: so many, or as many as come in time."""
        ends = time.monotonic() + seconds
        while len(self.arrived) < count and time.monotonic() < ends:
            time.sleep(0.005)
        return len(self.arrived)


def lines(*, rounds: int, backlog: int, seconds: float) -> list[dict[str, str | float]]:
    """What was measured, each way in turn: medians over the rounds; `ratio` is that to all receivers being well."""
    found: dict[str, list[Delivered]] = {"deliver-well": [], "deliver": []}
    for _ in range(rounds):
        for name, runs in found.items():
            hanging = HANGING if name == "deliver" else 0.0
            runs.append(measure(hanging=hanging, backlog=backlog, seconds=seconds))
    return [_line(name, runs, found["deliver-well"]) for name, runs in found.items()]


def _line(name: str, runs: Sequence[Delivered], well: Sequence[Delivered]) -> dict[str, str | float]:
    return {
        "benchmark": "hub",
        "name": name,
        "concurrency": RECEIVERS,
        "requests_per_second": median(run.rate for run in runs),
        "ratio": median(run.rate / base.rate for run, base in zip(runs, well, strict=True)),
        "p50_ms": 1000 * median(run.percentile(0.5) for run in runs),
        "p99_ms": 1000 * median(run.percentile(0.99) for run in runs),
        "cpu_ms": 1000 * median(run.cpu for run in runs),
        "missing": sum(run.missing for run in runs),
    }


def measure(*, hanging: float, backlog: int, seconds: float, rate: int = RATE) -> Delivered:
    """One run: `backlog` events for each receiver, then `seconds` of events at a steady rate."""
    receiver = Receiver()
    try:
        with tempfile.TemporaryDirectory() as folder, Hub(f"sqlite:///{folder}/hub.db") as hub:
            hangs = _prepare(hub, receiver.port, int(RECEIVERS * hanging))
            for number in range(backlog):
                _publish(hub, number, range(RECEIVERS))
            return _run(hub, receiver, Path(folder) / "hub.db", hangs, backlog, seconds, rate)
    finally:
        receiver.stop()


def _run(hub: Hub, receiver: Receiver, store: Path, hangs: int, backlog: int, seconds: float, rate: int) -> Delivered:
    wanted = backlog * (RECEIVERS - hangs)
    with delivering(store) as used:
        receiver.wait_for(1, 60)
        began, cpu = time.perf_counter(), used()
        count = receiver.wait_for(wanted, 120)
        cpu = (used() - cpu) / count
        found = Delivered((count - 1) / (time.perf_counter() - began), missing=wanted - count, cpu=cpu)
        before = {*receiver.arrived}
        sent = _steadily(hub, hangs, backlog, seconds, rate)
        found.missing += wanted + sent - receiver.wait_for(wanted + sent, 60)
    new = [id for id in receiver.arrived if id not in before]
    found.lags = sorted(receiver.arrived[id] - receiver.committed[id] for id in new)
    return found


def _prepare(hub: Hub, port: int, hangs: int) -> int:
    """A subscription and a delivery for each receiver, each on a host of its own; the first ones hang."""
    deliveries = Deliveries(hub.store)
    hub.subscribe_many(
        Subscription(f"r{number}", f"SELECT ?d {{ ?d <urn:for> {number} }}", "sparql") for number in range(RECEIVERS)
    )
    for number in range(RECEIVERS):
        path = "hang" if number < hangs else "hook"
        deliveries.add(f"r{number}", f"http://127.0.1.{number + 1}:{port}/{path}/{number}")
    return hangs


def _publish(hub: Hub, number: int, receivers: range) -> None:
    """One document for each of these receivers, in one batch."""
    documents = [
        parse(f"<urn:d{number}-{who}> <urn:for> {who} .", uri=f"urn:doc:{number}-{who}", media_type="text/turtle")
        for who in receivers
    ]
    hub.apply([Publish(document) for document in documents])


def _steadily(hub: Hub, hangs: int, first: int, seconds: float, rate: int) -> int:
    """Events at this rate, in batches, for the receivers that work in turn; how many."""
    sent, began = 0, time.perf_counter()
    while (elapsed := time.perf_counter() - began) < seconds:
        if sent > elapsed * rate:
            time.sleep(0.005)
            continue
        at = hangs + sent % (RECEIVERS - hangs)
        receivers = range(at, min(at + _BATCH, RECEIVERS))
        _publish(hub, first + sent, receivers)
        sent += len(receivers)
    return sent


@contextmanager
def delivering(store: Path) -> Iterator[Callable[[], float]]:
    """A deliverer on a store, in a process of its own; gives the seconds of the processor that it has used."""
    command = [sys.executable, "-m", "triplewire.cli", "deliver", "run", str(store), "--reach", "127.0.0.0/8"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        said = process.stderr.readline()
        if "delivering" not in said:
            raise RuntimeError(said + process.stderr.read())
        yield lambda: _seconds_of(process.pid)
    finally:
        process.kill()  # those that hang would hold up a clean end until their time is over
        process.communicate()


def _seconds_of(process: int) -> float:
    """What a process has used, where the system tells; 0 elsewhere."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
