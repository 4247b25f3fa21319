"""The world that is broken: a service in processes of its own, its store, its disk, the way to it, a receiver."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import httpx
from tests.postgres import PostgresServer
from tests.postgres import running as running_postgres

from benchmarks.faults.receiver import Receiver
from benchmarks.faults.way import Way
from triplewire.store import Store

Kind = Literal["sqlite", "postgresql"]

DISK = 512 * 1024 * 1024
SUBSCRIPTIONS = {
    "versions": ("document", "SELECT ?d ?v { ?d <urn:faults:version> ?v }"),
    "names": ("graph", "SELECT ?d ?n { ?d <urn:faults:publisher> ?o . ?o <urn:faults:name> ?n }"),
}
_PATIENCE = 120.0


class World:
    """A service on a store of a kind, that can be killed and started again at the same address."""

    def __init__(
        self, kind: Kind, folder: Path, disk: Path | None, postgres: PostgresServer | None, pipeline: str
    ) -> None:
        self.kind, self.folder, self.disk, self.postgres, self.pipeline = kind, folder, disk, postgres, pipeline
        self.store = "hub.db" if postgres is None else postgres.url()
        self.port = _free_port()
        self.way = Way(self.port)
        self.receiver = Receiver()
        self.restarts = 0
        self.log = folder / "service.log"
        self.service: subprocess.Popen[bytes] | None = None

    @property
    def journal(self) -> Path:
        """Where the journal of a store that is a file is."""
        return self.folder / "hub.db.journal"

    @property
    def url(self) -> str:
        """Where clients find the service: at the other end of the way."""
        return f"http://127.0.0.1:{self.way.port}"

    @property
    def own_url(self) -> str:
        """Where it is itself."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start the service, and wait until it is ready."""
        command = [sys.executable, "-m", "triplewire.cli", "serve", self.store, "--port", str(self.port)]
        environment = os.environ | {"TRIPLEWIRE_REACH": "127.0.0.0/8", "TRIPLEWIRE_SPARK_FROM": "1"}
        with self.log.open("ab") as log:
            self.service = subprocess.Popen(
                [*command, "--pipeline", self.pipeline], cwd=self.folder, stderr=log, stdout=log, env=environment
            )
        self.wait_until_ready()

    def wait_until_ready(self) -> None:
        """Wait for an answer to the question for its health."""
        ends = time.monotonic() + _PATIENCE
        while time.monotonic() < ends:
            if self.service is not None and self.service.poll() is not None:
                raise RuntimeError(f"the service has ended: {self.last_words()}")
            with suppress(httpx.HTTPError):
                if httpx.get(f"{self.own_url}/v1/health", timeout=5.0, trust_env=False).is_success:
                    return
            time.sleep(0.1)
        raise RuntimeError(f"the service is not ready after {_PATIENCE:g} seconds: {self.last_words()}")

    def last_words(self) -> str:
        """The end of its log."""
        return self.log.read_text(errors="replace")[-1_500:]

    def kill(self) -> None:
        """SIGKILL; its children notice that it is gone."""
        assert self.service is not None
        children = self.pipelines()
        self.service.kill()
        self.service.wait()
        for child in children:
            _wait_for_end(child)

    def restart(self) -> None:
        """Kill it, and start it again."""
        self.kill()
        self.restarts += 1
        self.start()

    def pipelines(self) -> list[int]:
        """The processes that apply, and are children of the service."""
        assert self.service is not None
        found = []
        for path in Path("/proc").glob("[0-9]*"):
            with suppress(OSError, IndexError, ValueError):
                parent = int((path / "stat").read_text().rpartition(")")[2].split()[1])
                if parent == self.service.pid and b"triplewire.hub.pipeline.process" in (path / "cmdline").read_bytes():
                    found.append(int(path.name))
        return found

    def batches(self) -> tuple[int, int]:
        """How many batches were committed, and how many of them by a stream on Spark."""
        url = self.store if self.postgres is not None else f"sqlite:///{self.folder / self.store}"
        with Store.open(url, create=False) as store, store.reading() as reader:
            ids = [batch.id for batch in reader.batches.listing(limit=1_000_000)]
        return len(ids), sum(id.startswith("stream-") for id in ids)

    def wait_for_spark(self) -> None:
        """Wait until a stream has applied a batch; if it does not come, the engine applies, as it should."""
        before, ends = self.batches()[1], time.monotonic() + _PATIENCE / 2
        while self.batches()[1] == before and time.monotonic() < ends:
            time.sleep(0.5)

    def subscribe(self) -> None:
        """The standing queries, each with a web hook."""
        with httpx.Client(base_url=self.own_url, timeout=60.0, trust_env=False) as client:
            for id, (scope, text) in SUBSCRIPTIONS.items():
                client.post("/v1/subscriptions", json={"id": id, "text": text, "scope": scope}).raise_for_status()
                hook = {"url": f"http://127.0.0.1:{self.receiver.port}/{id}"}
                client.post(f"/v1/subscriptions/{id}/deliveries", json=hook).raise_for_status()

    def close(self) -> None:
        """End everything."""
        if self.service is not None and self.service.poll() is None:
            self.service.terminate()
            try:
                self.service.wait(30)
            except subprocess.TimeoutExpired:
                self.kill()
        self.way.stop()
        self.receiver.close()


@contextmanager
def made(kind: Kind, pipeline: str) -> Iterator[World]:
    """A world with a service that is ready; gone at the end."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="faults-")))
        disk = stack.enter_context(_disk(folder / "disk")) if kind == "sqlite" else None
        postgres = stack.enter_context(running_postgres(is_safe=True)) if kind == "postgresql" else None
        world = World(kind, disk or folder, disk, postgres, pipeline)
        world.log = folder / "service.log"
        stack.callback(world.close)
        world.start()
        world.subscribe()
        yield world


@contextmanager
def _disk(folder: Path) -> Iterator[Path]:
    """A disk that can be filled, where one may be mounted; else a folder."""
    folder.mkdir()
    asked = ["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", str(folder)]
    is_mounted = subprocess.run(asked, capture_output=True, check=False).returncode == 0
    try:
        yield folder
    finally:
        if is_mounted:
            subprocess.run(["umount", "--lazy", str(folder)], check=True)


def signalled(process: int, number: signal.Signals) -> None:
    """Send a signal, to a process that may be gone."""
    with suppress(ProcessLookupError):
        os.kill(process, number)


def _wait_for_end(process: int) -> None:
    ends = time.monotonic() + 30
    while Path(f"/proc/{process}").exists() and time.monotonic() < ends:
        time.sleep(0.05)
    signalled(process, signal.SIGKILL)


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
