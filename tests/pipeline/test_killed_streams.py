"""A driver that is killed at any moment leaves whole batches, and the next one counts none twice (X8)."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter

import pytest
from tests.contracts.reference import Reference

from engine.workers import SUBSCRIPTIONS, batch
from triplewire import Hub
from triplewire.model import Row

KILLS = 20
PATIENCE = 600.0


class Driver:
    """`triplewire run` in a process group of its own, which can be killed as a whole."""

    def __init__(self, url: str, folder, *words: str) -> None:
        self.log = (folder / "driver.log").open("a")
        command = [sys.executable, "-m", "triplewire.cli", "run", "--store", url, "--master", "local[2]"]
        command += ["--checkpoint", str(folder / "checkpoint"), "--conf", "spark.driver.memory=1g", *words]
        self.process = subprocess.Popen(command, start_new_session=True, stdout=self.log, stderr=self.log)

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

    def wait_for(self, left: int, driver: Driver) -> None:
        until = time.monotonic() + PATIENCE
        while self.left() > left:
            assert driver.process.poll() is None, "the driver has ended by itself"
            assert time.monotonic() < until, "the driver does nothing"
            time.sleep(0.01)

    def check_all(self) -> None:
        """All events of the definition, each once, and all rows."""
        assert list(self.hub.check()) == []
        for id in [one.id for one in self.hub.subscriptions()]:
            assert set(self.hub.rows(id)) == set(map(Row, self.reference.rows(id)))
            logs = [engine.events(id) for engine in (self.hub, self.reference)]
            assert Counter((e.kind, e.row) for e in logs[0]) == Counter((e.kind, Row(e.row)) for e in logs[1])
            cursors = [event.cursor for event in logs[0]]
            assert cursors == sorted(set(cursors))


def live(url: str, folder, kills: int) -> None:
    chance = random.Random(kills)
    story = Story(url)
    left = []
    for _ in range(kills):
        story.send(12)
        driver = Driver(url, folder, "--most", "1", "--small", str(chance.choice((0, 50_000))))
        story.wait_for(story.left() - 1, driver)
        time.sleep(chance.uniform(0.0, 2.0))
        driver.kill()
        assert list(story.hub.store.problems()) == []
        left.append(story.left())
    driver = Driver(url, folder, "--most", "1", "--once")
    assert driver.end() == 0
    assert story.left() == 0
    assert len([record for record in story.hub.batches(limit=10_000) if record.id.startswith("stream-")]) == story.sent
    story.check_all()
    assert all(left), "all were killed at work"
    story.hub.close()


@pytest.mark.slow
def test_drivers_killed_at_any_moment_leave_every_event_once(new_url, tmp_path):
    live(new_url("sqlite"), tmp_path, KILLS)


@pytest.mark.slow
def test_a_driver_that_is_asked_to_stop_ends_between_two_batches(new_url, tmp_path):
    story = Story(new_url("sqlite"))
    story.send(5)
    driver = Driver(story.url, tmp_path, "--most", "1")
    story.wait_for(3, driver)
    assert driver.ask_to_stop() == 0
    assert "stopping" in (tmp_path / "driver.log").read_text()
    driver = Driver(story.url, tmp_path, "--most", "1", "--once")
    assert driver.end() == 0
    story.check_all()
    story.hub.close()
