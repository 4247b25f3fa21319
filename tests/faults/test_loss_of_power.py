"""A machine that loses its power at any moment loses nothing that was acknowledged, on any path."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
import time

import httpx
import pytest
from tests.faults.power import Power
from tests.hub.processes import COMMAND, put, serving

from triplewire.intake.journal import Journal
from triplewire.intake.journal.entries import mark_in


def on_the_disk(tmp_path):
    folder = tmp_path / "disk"
    folder.mkdir()
    return folder, Power(folder, tmp_path)


def run(power, *command, cwd):
    return subprocess.run(
        command, cwd=cwd, env=os.environ | power.environment, text=True, stderr=subprocess.PIPE, check=True
    )


def test_what_was_not_synced_is_forgotten_and_what_was_is_there(tmp_path):
    """The disk of these tests forgets: without this, they could not fail."""
    folder, power = on_the_disk(tmp_path)
    code = """
import os
def write(name, syncs):
    file = os.open(name, os.O_CREAT | os.O_WRONLY)
    os.write(file, b"first")
    if syncs: os.fsync(file)
    os.write(file, b"second")
write("synced", True); write("unsynced", False)
folder = os.open(".", os.O_RDONLY); os.fsync(folder)
write("nameless", True)
os.rename("synced", "renamed")
"""
    run(power, sys.executable, "-c", code, cwd=folder)
    power.fail()
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {"synced": b"first", "unsynced": b""}


def test_a_journal_has_its_mark_on_the_disk_with_its_first_entry(tmp_path):
    """Invariant of `intake.journal.entries`: a mark is on the disk before the first file is begun."""
    folder, power = on_the_disk(tmp_path)
    code = """
import os
from pathlib import Path
from triplewire.intake.journal import Journal
from triplewire.store import READ, NewEntry
Journal(Path("journal")).append([NewEntry(READ, "urn:doc", None, b"content")])
os._exit(0)
"""
    run(power, sys.executable, "-c", code, cwd=folder)
    power.fail()
    assert mark_in(folder / "journal").identity
    journal = Journal(folder / "journal")
    assert journal.last == 1
    journal.close()


def test_library_without_durable_may_lose_its_last_commits_and_with_it_does_not(tmp_path):
    folder, power = on_the_disk(tmp_path)
    code = """
import sys
from triplewire import Hub
hub = Hub("sqlite:///" + sys.argv[1], durable=sys.argv[1] == "durable.db")
hub.publish("<urn:s> <urn:p> 1 .", uri="urn:doc")
import os; os._exit(0)
"""
    for name in ("plain.db", "durable.db"):
        run(power, sys.executable, "-c", code, name, cwd=folder)
    power.fail()
    counts = {}
    for name in ("plain.db", "durable.db"):
        if (folder / name).exists() and (folder / name).stat().st_size:
            told = subprocess.run(
                [*COMMAND, "store", "info", name, "--json"], cwd=folder, text=True, capture_output=True
            )
            counts[name] = '"documents": 1' in told.stdout
    assert counts.get("durable.db") is True
    assert counts.get("plain.db") is not True, "this disk forgets what SQLite was not told to sync"


class Publisher:
    """Publishes one document after the other, and remembers what was acknowledged of each."""

    def __init__(self, url: str, number: int, done: dict[str, int]) -> None:
        self._url, self._number, self._done = url, number, done
        self._thread = threading.Thread(target=self._work)
        self._thread.start()

    def _work(self) -> None:
        with httpx.Client(timeout=60) as client:
            for version in range(1, 100_000):
                uri = f"urn:doc:{self._number}:{version % 40}"
                value = max(self._done.get(uri, 0), 0) + 1
                try:
                    waits = {"Prefer": "wait"} if version % 7 == 0 else {}
                    client.headers.update(waits)
                    answer = put(client, self._url, uri, f"<urn:s:{self._number}> <urn:p:{version % 40}> {value} .")
                    client.headers.pop("Prefer", None)
                except httpx.HTTPError:
                    return
                if answer.status_code in (200, 201, 202):
                    self._done[uri] = value

    def join(self) -> None:
        self._thread.join()


def kept(url: str, uri: str) -> int:
    answer = httpx.get(
        f"{url}/v1/document", params={"uri": uri}, headers={"Accept": "application/n-triples"}, timeout=60
    )
    if answer.status_code == 404:
        return 0
    return int(answer.text.split('"')[1])


def lose_power_under_load(tmp_path, rounds, seconds, *arguments, after="", **environment) -> None:
    """With publishers at work; some seconds after the service has said something."""
    folder, power = on_the_disk(tmp_path)
    chance, done = random.Random(7), {}
    for _ in range(rounds):
        with serving(folder, "hub.db", *arguments, **environment, **power.environment) as (service, url):
            publishers = [Publisher(url, n, done) for n in range(4)]
            service.heard(after)
            time.sleep(chance.uniform(0.3, 1) * seconds)
            until = time.monotonic() + 60
            while len(done) <= 20 and time.monotonic() < until:  # on a busy machine it takes longer
                time.sleep(0.05)
            power.fail()
        for publisher in publishers:
            publisher.join()
        assert done
        with serving(folder, "hub.db", "--pipeline", "engine", **power.environment) as (_, url):
            lost = {uri: value for uri, value in done.items() if kept(url, uri) < value}
            assert not lost
    assert len(done) > 20


def test_service_loses_nothing_that_it_acknowledged(tmp_path):
    lose_power_under_load(tmp_path, 1, 2, "--pipeline", "engine")


@pytest.mark.slow
def test_service_loses_nothing_in_many_rounds(tmp_path):
    lose_power_under_load(tmp_path, 12, 3, "--pipeline", "engine")


@pytest.mark.slow
def test_service_with_spark_at_work_loses_nothing(tmp_path):
    """Spark takes what waits, and the stream's hub commits it before it leaves the journal."""
    at_work = {"after": "Spark takes over", "TRIPLEWIRE_SPARK_FROM": "2"}
    lose_power_under_load(tmp_path, 3, 12, "--pipeline", "spark", **at_work)


def test_command_that_says_it_is_done_has_done_it(tmp_path):
    folder, power = on_the_disk(tmp_path)
    (folder / "a.ttl").write_text("<urn:s> <urn:p> 1 .")
    run(power, *COMMAND, "publish", "hub.db", "a.ttl", "--create", cwd=folder)
    run(power, *COMMAND, "token", "create", "hub.db", "me", cwd=folder)
    run(power, *COMMAND, "store", "backup", "hub.db", "kept.backup", cwd=folder)
    power.fail()
    for name in ("hub.db", "kept.backup"):
        told = subprocess.run([*COMMAND, "store", "info", name, "--json"], cwd=folder, text=True, capture_output=True)
        assert '"documents": 1' in told.stdout, told.stderr
    told = subprocess.run([*COMMAND, "token", "list", "hub.db"], cwd=folder, text=True, capture_output=True)
    assert "me" in told.stdout
