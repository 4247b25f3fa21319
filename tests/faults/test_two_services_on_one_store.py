"""Two services on one store: both work. The second adds to the store itself, and one of them applies at a time."""

from __future__ import annotations

import time

import httpx
import pytest
from tests.hub.processes import put, serving

from triplewire import Hub


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_what_either_acknowledged_is_applied_once_whoever_is_killed(tmp_path, new_url, kind):
    store, done = new_url(kind), []
    pipeline = ("--pipeline", "engine")
    with Hub(store) as hub:
        hub.subscribe("SELECT ?s { ?s <urn:p> ?o }", id="all")
    with httpx.Client(timeout=60) as client:

        def publish(url: str, name: str, count: int) -> None:
            for n in range(count):
                uri = f"urn:{name}:{n}"
                assert put(client, url, uri, f"<{uri}> <urn:p> {n} .").status_code == 202
                done.append(uri)

        with serving(tmp_path, store, *pipeline) as (first, one), serving(tmp_path, store, *pipeline) as (_, two):
            publish(one, "first", 30)
            publish(two, "second", 30)
            first.kill()
            publish(two, "alone", 10)
            with serving(tmp_path, store, *pipeline) as (_, again):
                publish(again, "again", 10)
                for uri in done:
                    assert client.get(f"{two}/v1/document", params={"uri": uri}).status_code == 200, uri
    with Hub(store) as hub:
        until = time.monotonic() + 30
        while len(told := [event.row["s"].value for event in hub.events("all", limit=1_000)]) < len(done):
            assert time.monotonic() < until, set(done) - set(told)
            time.sleep(0.1)
        assert sorted(told) == sorted(done), "each of them once"
