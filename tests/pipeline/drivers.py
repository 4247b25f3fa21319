"""`triplewire run` in a process of its own, which may be killed; and a story for it, told by definition as well."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable

from tests.contracts.reference import Reference

from engine.workers import SUBSCRIPTIONS, batch
from triplewire import Hub
from triplewire.model import Row

PATIENCE = 1200.0
"""Seconds to wait for what should take some: a machine may have much else to do."""


class Driver:
    """`triplewire run` in a process group of its own, which can be killed as a whole."""

    def __init__(self, url: str, folder, *words: str, master: str = "local[2]") -> None:
        self.path = folder / "driver.log"
        self.log = self.path.open("a")
        command = [sys.executable, "-m", "triplewire.cli", "run", "--store", url, "--master", master]
        command += ["--checkpoint", str(folder / "checkpoint"), "--conf", "spark.driver.memory=1g", *words]
        self.process = subprocess.Popen(command, start_new_session=True, stdout=self.log, stderr=self.log)

    def __enter__(self) -> Driver:
        return self

    def __exit__(self, *_: object) -> None:
        """Whatever is left of it is killed: a test that failed leaves nothing behind."""
        if self.process.poll() is None:
            self.kill()

    @property
    def said(self) -> str:
        return self.path.read_text()

    def until(self, is_so: Callable[[], object], what: str) -> None:
        """Wait until something is so, while the driver is at work."""
        until = time.monotonic() + PATIENCE
        while not is_so():
            assert self.process.poll() is None, f"the driver has ended by itself, and {what} in vain: {self.said}"
            assert time.monotonic() < until, f"in vain: {what}: {self.said}"
            time.sleep(0.1)

    def kill(self) -> None:
        os.killpg(self.process.pid, signal.SIGKILL)
        assert self.process.wait(30) == -signal.SIGKILL
        self.log.close()

    def ask_to_stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.end()

    def end(self) -> int:
        code = self.process.wait(PATIENCE)
        self.log.close()
        return code


class Story:
    """Submissions, one micro-batch each, and the same by definition."""

    def __init__(self, url: str) -> None:
        self.url, self.hub, self.reference, self.sent = url, Hub(url), Reference(), 0
        for engine in (self.hub, self.reference):
            for id, text in SUBSCRIPTIONS.items():
                for scope in ("graph", "document"):
                    engine.subscribe(text, language="sparql", id=f"{id} {scope}", scope=scope, start="ever")

    def send(self, count: int) -> None:
        for _ in range(count):
            self.sent += 1
            self.reference.apply(batch(self.sent))
            self.hub.submit(batch(self.sent))

    def left(self) -> int:
        """How many submissions wait."""
        with self.hub.store.reading() as reader:
            return len(reader.intake.sizes(0, reader.intake.last()))

    def applied(self) -> int:
        """How many micro-batches are committed."""
        return len([record for record in self.hub.batches(limit=10_000) if record.id.startswith("stream-")])

    def wait_for(self, left: int, driver: Driver) -> None:
        driver.until(lambda: self.left() <= left, f"{left} submissions are left")

    def check_all(self) -> None:
        """All events of the definition, each once, and all rows."""
        assert list(self.hub.check()) == []
        for id in [one.id for one in self.hub.subscriptions()]:
            assert set(self.hub.rows(id)) == set(map(Row, self.reference.rows(id)))
            logs = [engine.events(id) for engine in (self.hub, self.reference)]
            assert Counter((e.kind, e.row) for e in logs[0]) == Counter((e.kind, Row(e.row)) for e in logs[1])
            cursors = [event.cursor for event in logs[0]]
            assert cursors == sorted(set(cursors))
