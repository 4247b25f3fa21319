"""Parts that are frozen (SIGSTOP): noticed in bounded time, told by health, and no reason to hang for ever."""

from __future__ import annotations

import os
import signal
import threading
import time
from contextlib import suppress
from pathlib import Path

import httpx
import psycopg
import pytest
from tests.hub.processes import put

from postgres import HOW_TO_GET_IT, binaries, running
from triplewire import Hub
from triplewire.errors import StoreBusy, StoreUnavailable
from triplewire.hub import Settings, start
from triplewire.hub.pipeline import child
from triplewire.store import RETRACT, NewEntry, Store, watchdog


@pytest.fixture
def server(monkeypatch):
    """A PostgreSQL of its own, which is thawed at the end."""
    if binaries() is None:
        pytest.skip(HOW_TO_GET_IT)
    monkeypatch.setattr(watchdog, "_LONG", 1.0)
    monkeypatch.setattr("triplewire.store.databases._ANSWER", 2)
    with running() as found:
        try:
            yield found
        finally:
            for process in processes_of(found):
                os.kill(process, signal.SIGCONT)


def processes_of(server) -> list[int]:
    """The server, and those that it has started."""
    first = int((server._folder / "data" / "postmaster.pid").read_text().split()[0])
    children = Path(f"/proc/{first}/task/{first}/children").read_text().split()
    return [first, *map(int, children)]


def freeze(server) -> None:
    for process in processes_of(server):
        os.kill(process, signal.SIGSTOP)


def thaw(server) -> None:
    for process in processes_of(server):
        os.kill(process, signal.SIGCONT)


def healthy(url: str) -> httpx.Response:
    return httpx.get(f"{url}/v1/health", timeout=20)


def until(question, seconds: float = 60):
    for _ in range(int(seconds / 0.1)):
        if answer := question():
            return answer
        time.sleep(0.1)
    raise AssertionError("it did not come about in time")


@pytest.mark.slow
def test_frozen_server_is_told_by_health_and_what_waits_for_it_ends(server):
    with start(Settings(store=server.url(), port=0, deliver=False)) as service, httpx.Client(timeout=60) as client:
        assert put(client, service.url, "urn:a", "<urn:s> <urn:p> 1 .").status_code == 202
        assert healthy(service.url).json()["ready"] is True
        freeze(server)
        told = healthy(service.url)
        assert told.status_code == 503
        assert told.json()["status"] == "failing"
        assert told.json()["live"] is True
        assert "the store has not answered" in told.json()["reasons"][0]
        assert httpx.get(f"{service.url}/v1/health/live", timeout=5).status_code == 200
        answer = client.get(f"{service.url}/v1/document", params={"uri": "urn:a"})
        assert answer.status_code == 503
        assert put(client, service.url, "urn:b", "<urn:s> <urn:p> 2 .").status_code == 503
        thaw(server)
        until(lambda: healthy(service.url).status_code == 200)
        assert put(client, service.url, "urn:c", "<urn:s> <urn:p> 3 .").status_code == 202
        assert client.get(f"{service.url}/v1/document", params={"uri": "urn:a"}).status_code == 200


def test_slow_statement_of_a_server_that_is_well_is_not_cut_off(server):
    with Hub(server.url()) as hub, hub.store._database.connected() as connection:
        assert connection.exec_driver_sql("SELECT 1 FROM pg_sleep(5)").all() == [(1,)]


def test_statement_that_waits_for_a_frozen_server_ends_with_an_error(server):
    with Hub(server.url()) as hub:
        threading.Timer(0.5, freeze, [server]).start()
        with pytest.raises(StoreUnavailable), hub.store._database.connected() as connection:
            connection.exec_driver_sql("SELECT 1 FROM pg_sleep(600)").all()
        thaw(server)


def test_writer_that_is_frozen_while_it_adds_holds_up_others_for_a_bounded_time(server):
    url = server.url()
    entry = NewEntry(RETRACT, "urn:a")
    with Store.open(url) as frozen, Store.open(url, timeout=0.5) as other, frozen.appending() as intake:
        intake.append([entry], "now")
        with pytest.raises(StoreBusy), other.appending() as waiting:
            waiting.append([entry], "now")


def test_frozen_pipeline_is_noticed_ended_and_replaced(tmp_path, monkeypatch):
    monkeypatch.setattr(child, "_SILENCE", 8.0)
    settings = Settings(store=f"sqlite:///{tmp_path}/hub.db", port=0, pipeline="spark", spark_from=10**9, deliver=False)
    with start(settings) as service, httpx.Client(timeout=60) as client:
        pipeline = service.server._app.state.service.pipeline
        until(lambda: pipeline.is_ready)
        first = pipeline.pid
        assert put(client, service.url, "urn:a", "<urn:s> <urn:p> 1 .").status_code == 202
        os.kill(first, signal.SIGSTOP)
        assert put(client, service.url, "urn:b", "<urn:s> <urn:p> 2 .").status_code == 202
        told = until(lambda: healthy(service.url).json()["reasons"])
        assert "no sign of life" in told[0]
        assert client.get(f"{service.url}/v1/document", params={"uri": "urn:b"}).status_code == 200
        until(lambda: pipeline.is_ready and pipeline.pid != first)
        assert healthy(service.url).json()["reasons"] == []


def test_server_that_lets_nobody_else_in_is_there_all_the_same(server):
    """All of its connections are taken: that is an answer, and no reason to cut those that are in use."""
    url = server.url()
    with Hub(url) as hub, hub.store._database.connected() as connection:
        connection.exec_driver_sql("SELECT 1").close()
        taken = []
        with suppress(psycopg.OperationalError):
            while len(taken) < 1_000:
                taken.append(psycopg.connect(url))
        assert len(taken) < 1_000
        assert connection.exec_driver_sql("SELECT 1 FROM pg_sleep(5)").all() == [(1,)]
        for each in taken:
            each.close()
