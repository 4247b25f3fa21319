"""The parts of a service as processes: apart, handing over, killed under load; nothing is lost, nothing told twice."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from importlib import import_module
from pathlib import Path

import httpx
import pytest

from deliver.receiving import receiving
from hub.processes import put, running, serving, token_of
from triplewire import Hub
from triplewire.errors import PipelineError
from triplewire.hub import Settings
from triplewire.hub.identity.accounts import Accounts
from triplewire.hub.pipeline.process import Pipeline
from triplewire.model import Unread

ALL = "SELECT ?s { ?s <urn:count> 1 }"


@pytest.fixture
def client():
    with httpx.Client(trust_env=False, timeout=60) as made:
        yield made


def test_interface_and_pipeline_are_processes_on_one_store(tmp_path, client):
    with serving(tmp_path, "hub.db", "--role", "api") as (_, url):
        assert put(client, url, "urn:d", "<urn:s> <urn:p> 1 .").status_code == 202
        with running(tmp_path, "hub.db", "--role", "pipeline", "--pipeline", "engine") as pipeline:
            assert client.get(f"{url}/v1/document", params={"uri": "urn:d"}).status_code == 200
            pipeline.process.send_signal(signal.SIGTERM)
            pipeline.heard("^stopped")
            assert pipeline.process.wait(timeout=60) == 0


def test_deliveries_are_a_process_of_their_own(tmp_path, client):
    reach = {"TRIPLEWIRE_REACH": "127.0.0.0/8"}
    parts = ("--role", "api", "--role", "pipeline", "--pipeline", "engine")
    with receiving() as receiver, serving(tmp_path, "hub.db", *parts, **reach) as (_, url):
        client.put(f"{url}/v1/subscriptions/all", json={"text": ALL}).raise_for_status()
        hook = {"kind": "webhook", "url": receiver.url()}
        client.post(f"{url}/v1/subscriptions/all/deliveries", json=hook).raise_for_status()
        assert put(client, url, "urn:d", "<urn:s> <urn:count> 1 .").status_code == 202
        with running(tmp_path, "hub.db", "--role", "deliver", **reach) as part:
            assert receiver.wait_for_posts(1)[0].json["data"]["subscription"] == "all"
            part.process.send_signal(signal.SIGTERM)
            part.heard("^stopped")
            assert part.process.wait(timeout=60) == 0


def test_service_answers_before_its_pipeline_is_there_and_goes_on_when_that_is_killed(tmp_path, client):
    with serving(tmp_path, "hub.db", "--pipeline", "spark") as (service, url):
        for n in range(3):
            assert put(client, url, "urn:d", f"<urn:s> <urn:p> {n} .").status_code == 202
            assert f" {n} " in client.get(f"{url}/v1/document", params={"uri": "urn:d"}).text
            if n == 0:
                (child,) = _children(service.process.pid)
                os.kill(child, signal.SIGKILL)
                service.heard("the pipeline has ended; this process applies changes")
        service.process.send_signal(signal.SIGTERM)
        service.heard("^stopped")
        assert service.process.wait(timeout=60) == 0
    with Hub(f"sqlite:///{tmp_path}/hub.db") as hub:
        assert hub.store.lease("applier").hold(), "nobody stayed behind"


def test_where_there_is_no_java_the_engine_of_the_pipeline_goes_on_alone(tmp_path, monkeypatch):
    def missing(_):
        raise PipelineError("there is no Java on this machine")

    monkeypatch.setattr(import_module("triplewire.pipeline.session"), "java_home", missing)
    settings = Settings(f"sqlite:///{tmp_path}/hub.db", pipeline="spark", spark_from=0)
    told, has_told = [], threading.Event()
    with Hub(settings.store) as hub:
        pipeline = Pipeline(settings, tell=lambda text: (told.append(text), has_told.set()))
        hub.submit([Unread("urn:1", b"<urn:s> <urn:p> 1 .", "text/turtle")])
        assert has_told.wait(60)
        hub.submit([Unread("urn:2", b"<urn:s> <urn:p> 2 .", "text/turtle")])
        pipeline.close()
        assert told == ["there is no Java on this machine; changes are applied without Spark, by one process"]
        assert [version.uri for version in hub.documents()] == ["urn:1", "urn:2"]


def test_pipeline_applies_what_waits_of_every_tenant_and_notices_those_that_come_later(tmp_path):
    settings = Settings.of({"store": f"sqlite:///{tmp_path}/hub.db", "tenants": {"north": {}}})
    told, applied = [], []
    pipeline = Pipeline(settings, tell=told.append, applied=applied.append)
    try:
        for name in ("main", "north", "later"):
            with Hub(settings.of_tenant(name).store) as hub:
                hub.submit([Unread(f"urn:{name}", b"<urn:s> <urn:p> 1 .", "text/turtle")])
                if name == "later":
                    with Hub(settings.store) as main:
                        Accounts(main.store).create_token("l", role="reader", tenant="later")
                while not hub.documents():
                    time.sleep(0.01)
                assert [version.uri for version in hub.documents()] == [f"urn:{name}"]
                assert not hub.store.lease("applier").hold(), "the pipeline has it"
    finally:
        pipeline.close()
    assert sorted(applied) == ["later", "main", "north"]
    assert told == []


def test_tenant_whose_store_cannot_be_used_is_told_once_and_the_others_are_served(tmp_path):
    (tmp_path / "bad.db").write_text("no store at all, and long enough to be seen as something else" * 20)
    bad = {"north": {"store": f"sqlite:///{tmp_path}/bad.db"}}
    told = []
    pipeline = Pipeline(Settings.of({"store": f"sqlite:///{tmp_path}/hub.db", "tenants": bad}), tell=told.append)
    try:
        pipeline._look()
        with Hub(f"sqlite:///{tmp_path}/hub.db") as hub:
            hub.submit([Unread("urn:d", b"<urn:s> <urn:p> 1 .", "text/turtle")])
            while not hub.documents():
                time.sleep(0.01)
    finally:
        pipeline.close()
    (only,) = told
    assert "nothing is applied for the tenant north" in only


@pytest.mark.slow
def test_interface_leaves_every_tenant_to_the_pipeline_and_goes_on_when_that_is_killed(tmp_path, client):
    client.headers.update(token_of(tmp_path, "north"))
    with serving(tmp_path, "hub.db", "--identity", "--pipeline", "spark") as (service, url):
        for n in range(4):
            assert put(client, url, "urn:d", f"<urn:s> <urn:p> {n} .").status_code == 202
            assert f" {n} " in client.get(f"{url}/v1/document", params={"uri": "urn:d"}).text
            if n == 1:
                (child,) = _children(service.process.pid)
                wait_for_lease(tmp_path / "hub.north.db.applier", child)
                os.kill(child, signal.SIGKILL)
                service.heard("the pipeline has ended; this process applies changes")
        service.process.send_signal(signal.SIGTERM)
        service.heard("^stopped")
    with Hub(f"sqlite:///{tmp_path}/hub.north.db") as hub:
        assert hub.store.lease("applier").hold(), "nobody stayed behind"


def wait_for_lease(path, process):
    """Until a process holds the lock of a file: which file of which disk is locked by whom is in /proc/locks."""
    while True:
        if path.exists() and any(
            f" {process} " in line and line.split()[5].endswith(f":{path.stat().st_ino}")
            for line in Path("/proc/locks").read_text().splitlines()
        ):
            return
        time.sleep(0.02)


def _children(pid):
    listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False)
    return [int(line) for line in listed.stdout.split()]


class Publishers:
    """Clients that publish without a pause, whatever happens to the service, and remember what was acknowledged."""

    def __init__(self, count, headers=None):
        self.url, self._headers = "", headers
        self.acknowledged = {f"c{n}": 0 for n in range(count)}
        self.over = threading.Event()
        self._threads = [threading.Thread(target=self._publish, args=(name,)) for name in self.acknowledged]

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        for thread in self._threads:
            thread.join()

    @property
    def total(self):
        return sum(self.acknowledged.values())

    def until(self, more):
        """Wait until so many more were acknowledged."""
        goal = self.total + more
        while self.total < goal:
            assert any(thread.is_alive() for thread in self._threads)
            time.sleep(0.01)

    def _publish(self, name):
        with httpx.Client(trust_env=False, timeout=60, headers=self._headers) as client:
            while not self.over.is_set():
                number = self.acknowledged[name] + 1
                try:
                    answer = put(client, self.url, f"urn:{name}:{number}", f"<urn:{name}:{number}> <urn:count> 1 .")
                except httpx.TransportError:
                    time.sleep(0.05)
                    continue
                if answer.status_code == 503:
                    time.sleep(0.05)
                    continue
                assert answer.status_code == 202, answer.text
                self.acknowledged[name] = number


def reconcile(folder, acknowledged, store="hub.db"):
    """Every document that was acknowledged is there, and told once."""
    with Hub(f"sqlite:///{folder}/{store}") as hub:
        assert list(hub.store.problems()) == []
        events = hub.events("all")
        assert {event.kind for event in events} == {"matched"}
        told = [event.row["s"].value for event in events]
        assert len(told) == len(set(told))
        wanted = {f"urn:{name}:{n}" for name, last in acknowledged.items() for n in range(1, last + 1)}
        assert wanted <= set(told)
        assert len(told) - len(wanted) <= len(acknowledged), "what was on its way may be there"
        assert hub.rejected() == []
        assert wanted <= {version.uri for version in hub.documents(limit=1_000_000)}


def settled(url, client, acknowledged):
    for name, last in acknowledged.items():
        if last:
            assert client.get(f"{url}/v1/document", params={"uri": f"urn:{name}:{last}"}).status_code == 200


def subscribe(client, url):
    client.put(f"{url}/v1/subscriptions/all", json={"text": ALL}).raise_for_status()


@pytest.mark.slow
@pytest.mark.parametrize("tenant", ["main", "north"])
@pytest.mark.parametrize("kind", ["engine", "spark"])
def test_killed_again_and_again_under_load_every_part_loses_nothing_and_tells_nothing_twice(
    tmp_path, client, kind, tenant
):
    """The interface and the pipeline are killed in turn, without a warning, while eight clients publish."""
    settings = {"TRIPLEWIRE_SPARK_FROM": "0", "TRIPLEWIRE_MASTER": "local[2]"} if kind == "spark" else {}
    store = ("hub.db", "--pipeline", kind, "--identity")
    client.headers.update(token_of(tmp_path, tenant))
    with Publishers(8, client.headers) as publishers:
        for round in range(4):
            with (
                serving(tmp_path, *store, "--role", "api", **settings) as (interface, url),
                running(tmp_path, *store, "--role", "pipeline", **settings) as pipeline,
            ):
                if round == 0:
                    subscribe(client, url)
                publishers.url = url
                if kind == "spark":
                    pipeline.heard("Spark takes over")
                publishers.until(150)
                (interface if round % 2 else pipeline).kill()
                if round % 2 == 0:
                    with running(tmp_path, *store, "--role", "pipeline", **settings):
                        publishers.until(50)
                        settled(url, client, dict(publishers.acknowledged))
        with serving(tmp_path, "hub.db", "--pipeline", "engine", "--identity") as (service, url):
            publishers.url = url
            publishers.until(20)
            publishers.over.set()
            settled(url, client, dict(publishers.acknowledged))
            service.process.send_signal(signal.SIGTERM)
            service.process.wait()
    reconcile(tmp_path, publishers.acknowledged, "hub.db" if tenant == "main" else f"hub.{tenant}.db")


@pytest.mark.slow
def test_whole_service_killed_under_load_leaves_no_process_behind_and_loses_nothing(tmp_path, client):
    with Publishers(8) as publishers:
        for round in range(4):
            with serving(tmp_path, "hub.db", "--pipeline", "spark") as (service, url):
                if round == 0:
                    subscribe(client, url)
                publishers.url = url
                publishers.until(100)
                children = _children(service.process.pid)
                service.kill()
            while any(os.path.exists(f"/proc/{child}") for child in children):
                time.sleep(0.05)
        with serving(tmp_path, "hub.db", "--pipeline", "engine") as (service, url):
            publishers.url = url
            publishers.until(20)
            publishers.over.set()
            settled(url, client, dict(publishers.acknowledged))
            service.process.send_signal(signal.SIGTERM)
            service.process.wait()
    reconcile(tmp_path, publishers.acknowledged)
