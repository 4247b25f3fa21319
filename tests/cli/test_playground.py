"""`triplewire demo --serve`: the story's hub, for a person to play with."""

from __future__ import annotations

import re
import signal

import httpx

from hub.processes import command
from triplewire import Hub
from triplewire.client import Client
from triplewire.demo.playground import fill


def test_everything_that_the_story_tells_of_has_happened():
    with Hub(":memory:") as hub:
        fill(hub)
        kinds = {event.kind for one in hub.subscriptions() for event in hub.events(one.id)}
        assert kinds == {"matched", "changed", "unmatched"}
        assert all(hub.events(one.id) for one in hub.subscriptions())


def test_hub_of_the_story_is_served_until_it_is_stopped(tmp_path):
    with command("demo", "--serve", "--port", "0", cwd=tmp_path) as demo:
        try:
            address = re.search(r"http://[^\s,]+", demo.stdout.readline())
            assert address, demo.stderr.read()
            with Client(address[0]) as hub:
                assert hub.rows("ines")
                assert hub.publish("<urn:s> <urn:p> 1 .", uri="urn:mine") is not None
            assert httpx.get(f"{address[0]}/v1/documents", trust_env=False).json()["documents"]
            demo.send_signal(signal.SIGINT)
            said = demo.stdout.read()
            assert f"Open {address[0]} in a browser" in said
            assert "The hub is gone" in said
            assert demo.wait(timeout=60) == 0
        finally:
            demo.kill()
