"""`triplewire serve` and `triplewire token`, as a person runs them: started, stopped by signals, killed."""

from __future__ import annotations

import re
import signal
import subprocess
import threading
import time
from contextlib import contextmanager

import httpx
import pytest

from hub.processes import command
from triplewire import Hub
from triplewire.documents import Limits
from triplewire.hub.changes.applier import Applier
from triplewire.hub.identity.accounts import Accounts
from triplewire.store import Store


@contextmanager
def started(folder, *arguments):
    """A service in a process of its own, and where it is; killed at the end, if it still runs."""
    pipeline = [] if "--pipeline" in arguments else ["--pipeline", "engine"]
    process = command("serve", *arguments, "--port", "0", *pipeline, cwd=folder)
    try:
        line = process.stderr.readline()
        found = re.search(r"http://\S+", line)
        assert found, line + process.stderr.read()
        yield process, found[0]
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        process.stderr.close()


def put(url, uri, text="<urn:s> <urn:p> 1 .", client=httpx):
    return client.put(f"{url}/v1/document", params={"uri": uri}, content=text, headers={"Content-Type": "text/turtle"})


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
def test_service_ends_well_when_it_is_told_to_and_goes_on_when_it_is_started_again(tmp_path, sent):
    with started(tmp_path) as (process, url):
        with httpx.Client(trust_env=False) as client:
            assert put(url, "urn:d", client=client).status_code == 202
            client.put(f"{url}/v1/subscriptions/a", json={"text": "SELECT ?s { ?s <urn:p> ?o }", "start": "ever"})
        with httpx.stream("GET", f"{url}/v1/subscriptions/a/stream", trust_env=False) as stream:
            told = stream.iter_lines()
            assert next(told) == "retry: 2000"
            process.send_signal(sent)
            rest = process.stderr.read()
        assert process.wait(timeout=60) == 0
        assert rest == "stopped; everything that was acknowledged is kept\n"
    assert (tmp_path / "triplewire.db").exists()
    with started(tmp_path) as (_, url):
        found = httpx.get(f"{url}/v1/subscriptions/a/events", trust_env=False).json()
        assert [event["row"] for event in found["events"]] == [{"s": "<urn:s>"}]


@pytest.fixture
def call(triplewire):
    """Runs a short command in a folder."""

    def run(folder, *arguments):
        return subprocess.run(
            [triplewire, *arguments], cwd=folder, capture_output=True, text=True, timeout=120, check=False
        )

    return run


def test_service_that_cannot_start_says_why(call, tmp_path):
    away = call(tmp_path, "serve", "--host", "0.0.0.0", "--port", "0")
    assert away.returncode == 2
    assert "triplewire token create" in away.stderr
    (tmp_path / "diary.db").write_text("Dear diary, this is not a store at all, whatever it is called.")
    wrong = call(tmp_path, "serve", "diary.db")
    assert wrong.returncode == 2
    assert "not a Triplewire store" in wrong.stderr
    assert call(tmp_path, "serve", "--config", "none.toml").returncode == 2
    with started(tmp_path) as (_, url):
        taken = call(tmp_path, "serve", "other.db", "--port", url.rpartition(":")[2])
        assert taken.returncode == 2
        assert "choose another with --port" in taken.stderr


def test_tokens_are_made_listed_and_revoked(call, tmp_path):
    made = call(tmp_path, "token", "create", "hub.db", "harbour", "--role", "publisher")
    assert made.returncode == 0
    token = made.stdout.strip()
    listed = call(tmp_path, "token", "list", "hub.db", "--json")
    assert '"role": "publisher"' in listed.stdout
    assert token.split("_", 2)[2] not in listed.stdout
    (tmp_path / "hub.toml").write_text('store = "hub.db"\nidentity = true\n')
    with started(tmp_path, "--config", "hub.toml") as (_, url), httpx.Client(trust_env=False) as client:
        assert put(url, "urn:d", client=client).status_code == 401
        client.headers["Authorization"] = f"Bearer {token}"
        assert put(url, "urn:d", client=client).status_code == 202
    with Store.open(f"sqlite:///{tmp_path}/hub.db") as store:
        (id,) = Accounts(store).all()
    assert call(tmp_path, "token", "revoke", "hub.db", id).returncode == 0
    assert call(tmp_path, "token", "revoke", "hub.db", id).returncode == 1
    key = call(tmp_path, "token", "create", "hub.db", "maja", "--key", "maja.pem")
    assert key.returncode == 0
    assert (tmp_path / "maja.pem").stat().st_mode & 0o77 == 0
    (tmp_path / "bad.pem").write_text("no key")
    assert call(tmp_path, "token", "create", "hub.db", "x", "--key", "bad.pem").returncode == 2


@pytest.mark.slow
def test_service_killed_under_load_has_every_document_that_it_acknowledged(tmp_path):
    """Eight clients publish without a pause; the service is killed without a warning, again and again."""
    acknowledged: dict[str, int] = {}

    def publish(url, name, stop):
        with httpx.Client(trust_env=False, timeout=30) as client:
            while not stop.is_set():
                number = acknowledged.get(name, 0) + 1
                try:
                    answer = put(url, f"urn:{name}", f"<urn:{name}> <urn:count> {number} .", client)
                except httpx.TransportError:
                    return
                assert answer.status_code == 202, answer.text
                acknowledged[name] = number

    for _ in range(5):
        stop = threading.Event()
        with started(tmp_path) as (process, url):
            before = sum(acknowledged.values())
            clients = [threading.Thread(target=publish, args=(url, f"c{n}", stop)) for n in range(8)]
            for client in clients:
                client.start()
            while sum(acknowledged.values()) < before + 100:
                assert process.poll() is None
                time.sleep(0.01)
            process.kill()
            process.wait()
            stop.set()
            for client in clients:
                client.join()
        with Hub(f"sqlite:///{tmp_path}/triplewire.db") as hub:
            assert list(hub.store.problems()) == []
            while Applier(hub, Limits()).step():
                pass
            for name, number in acknowledged.items():
                kept = int(hub.document(f"urn:{name}").triples[0].object.value)
                assert kept in (number, number + 1), "what was acknowledged is there; what was on its way may be"
                acknowledged[name] = kept


def test_networks_that_events_may_be_sent_to_are_named_on_the_command_line(call, tmp_path):
    with started(tmp_path, "--reach", "127.0.0.0/8") as (_, url):
        httpx.put(f"{url}/v1/subscriptions/a", json={"text": "SELECT ?s { ?s <urn:p> ?o }"}, trust_env=False)
        made = {"url": "http://127.0.0.1:9/hook"}
        answer = httpx.post(f"{url}/v1/subscriptions/a/deliveries", json=made, trust_env=False)
        assert answer.status_code == 201, answer.text
    wrong = call(tmp_path, "serve", "--reach", "everywhere")
    assert wrong.returncode == 2
    assert "reach is 'everywhere'" in wrong.stderr
