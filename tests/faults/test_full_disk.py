"""A disk that is full: what is refused is refused clearly, health says so, and all goes on when there is room again."""

from __future__ import annotations

import threading
import time

import httpx
import pytest
from tests.faults.disks import fill, small_disk
from tests.hub.processes import put, serving

from deliver.receiving import Says, eventually, receiving
from hub.serving import serving as served
from triplewire import Hub
from triplewire.errors import StoreError
from triplewire.hub import Settings, start
from triplewire.intake.logs import back_up

MB = 1 << 20


@pytest.fixture
def disk(tmp_path):
    with small_disk(tmp_path / "disk", 24 * MB) as folder:
        yield folder


def until_ready(url: str) -> None:
    for _ in range(200):
        told = httpx.get(f"{url}/v1/health", timeout=20)
        if told.status_code == 200:
            return
        time.sleep(0.1)
    raise AssertionError(told.text)


def refused(client: httpx.Client, url: str, **headers: str) -> httpx.Response:
    """The first answer that is a refusal, of many large documents; those before it are acknowledged."""
    client.headers.update(headers)
    for n in range(200):
        answer = put(client, url, f"urn:large:{n}", f'<urn:s> <urn:p> "{"x" * 200_000}{n}" .')
        if answer.status_code >= 400:
            return answer
    raise AssertionError("the disk is not full")


def test_journal_heals_itself_and_health_tells_the_truth_meanwhile(disk):
    with start(Settings(store=f"sqlite:///{disk}/hub.db", port=0)) as service, httpx.Client(timeout=60) as client:
        assert put(client, service.url, "urn:a", "<urn:s> <urn:p> 1 .").status_code == 202
        client.get(f"{service.url}/v1/document", params={"uri": "urn:a"})
        filler = fill(disk)
        answer = refused(client, service.url)
        assert answer.status_code == 503
        told = httpx.get(f"{service.url}/v1/health", timeout=20)
        assert told.status_code == 503
        assert any("No space left" in reason for reason in told.json()["reasons"])
        filler.unlink()
        until_ready(service.url)
        assert put(client, service.url, "urn:b", "<urn:s> <urn:p> 2 .").status_code == 202
        for uri in ("urn:a", "urn:b"):
            assert client.get(f"{service.url}/v1/document", params={"uri": uri}).status_code == 200


def test_store_that_was_full_goes_on_and_nothing_acknowledged_is_lost(disk):
    """Changes are acknowledged and cannot be applied, and others are applied before they are acknowledged."""
    with serving(disk, "hub.db", "--pipeline", "engine") as (_, url), httpx.Client(timeout=60) as client:
        put(client, url, "urn:a", "<urn:s> <urn:p> 1 .")
        filler = fill(disk, leave=3 * MB)
        done = []
        for n in range(60):
            headers = {"Prefer": "wait"} if n % 5 == 4 else {}
            client.headers.pop("Prefer", None)
            client.headers.update(headers)
            answer = put(client, url, f"urn:doc:{n}", f'<urn:s:{n}> <urn:p> "{str(n) * 60_000}" .')
            assert answer.status_code in (200, 201, 202, 503), answer.text
            if answer.status_code != 503:
                done.append(f"urn:doc:{n}")
        assert len(done) < 60
        client.headers.pop("Prefer", None)
        filler.unlink()
        until_ready(url)
        assert put(client, url, "urn:b", "<urn:s> <urn:p> 2 .").status_code == 202
        for uri in ("urn:a", *done, "urn:b"):
            assert client.get(f"{url}/v1/document", params={"uri": uri}).status_code == 200, uri


@pytest.mark.slow
def test_stream_whose_checkpoint_cannot_be_written_leaves_the_work_to_the_engine(disk, tmp_path):
    with httpx.Client(timeout=60) as client:
        fill(disk)
        arguments = ("--pipeline", "spark", "--checkpoint", str(disk / "checkpoint"))
        with serving(tmp_path, "hub.db", *arguments, TRIPLEWIRE_SPARK_FROM="2") as (service, url):
            done = []
            while not any("without Spark" in line for line in service.said) and len(done) < 20_000:
                done.append(f"urn:doc:{len(done)}")
                assert put(client, url, done[-1], f"<{done[-1]}> <urn:p> {len(done)} .").status_code in (202, 503)
            service.heard("without Spark for a minute")
            assert put(client, url, "urn:last", "<urn:s> <urn:p> 1 .").status_code == 202
            assert client.get(f"{url}/v1/document", params={"uri": "urn:last"}).status_code == 200
            until_ready(url)


def test_deliveries_that_could_not_be_noted_go_on_when_there_is_room(disk):
    """What arrived is noted late, and nothing is left out behind it."""
    is_full = threading.Event()
    with receiving() as receiver, served(f"sqlite:///{disk}/hub.db", reach="127.0.0.0/8") as client:
        receiver.says["/hook"] = lambda _: Says(204, wait=is_full)
        client.subscribe("sizes", "SELECT ?d ?n { ?d <urn:size> ?n }")
        made = client.post("/v1/subscriptions/sizes/deliveries", json={"url": receiver.url()})
        client.publish("urn:a", "<urn:a> <urn:size> 1 .")
        receiver.wait_for_posts(1)
        filler = fill(disk)
        is_full.set()
        time.sleep(1)
        filler.unlink()
        until_ready(client.url)
        client.publish("urn:b", "<urn:b> <urn:size> 2 .")
        told = eventually(lambda: (found := client.get(made.headers["location"]).json())["delivered"] >= 2 and found)
        assert (told["state"], told["lag"]) == ("active", 0)


def test_backup_onto_a_full_disk_is_refused_and_leaves_nothing_behind(disk, tmp_path):
    with Hub(f"sqlite:///{tmp_path}/hub.db") as hub:
        for n in range(30):
            hub.publish(f'<urn:s{n}> <urn:p> "{n}" .', uri=f"urn:doc:{n}")
        back_up(hub.store, disk / "kept")
        before = (disk / "kept").read_bytes()
        fill(disk)
        with pytest.raises(StoreError):
            back_up(hub.store, disk / "kept")
        assert sorted(path.name for path in disk.iterdir()) == ["filler", "kept"]
        assert (disk / "kept").read_bytes() == before, "the older backup is as it was"
