"""Real servers for tests: on a free port of this machine, in a thread, stopped at the end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import httpx

from triplewire.hub import Settings, Started, start

TURTLE = {"Content-Type": "text/turtle"}


class Served(httpx.Client):
    """A client of a running server, with the things that tests do again and again."""

    def __init__(self, started: Started) -> None:
        super().__init__(base_url=started.url, timeout=60, trust_env=False)
        self.server, self.url = started.server, started.url

    @property
    def hub(self):
        """The hub behind it, of the main tenant."""
        return self.server.config.app.state.service.tenants._open["main"].hub

    def stop_refilling(self) -> None:
        """No caller's bucket of requests fills again, so that a slow machine is refused as a fast one is."""
        service = self.server.config.app.state.service
        for pace in (service.pace, service.refusals):
            pace._clock = partial(float, pace._clock())

    def publish(self, uri: str, text: str, **headers: str) -> httpx.Response:
        """Publish, and wait until it is applied."""
        return self.send_in(uri, text, **{"Prefer": "wait"} | headers)

    def send_in(self, uri: str, text: str, **headers: str) -> httpx.Response:
        """Publish, and wait until it is acknowledged."""
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        return super().put("/v1/document", params={"uri": uri}, content=text, headers=TURTLE | names)

    def retract(self, uri: str, **headers: str) -> httpx.Response:
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        return super().delete("/v1/document", params={"uri": uri}, headers=names)

    def subscribe(self, id: str, text: str, **more: object) -> httpx.Response:
        return super().post("/v1/subscriptions", json={"id": id, "text": text} | more)

    def events(self, id: str, **params: object) -> dict:
        found = self.get(f"/v1/subscriptions/{id}/events", params=params)
        assert found.status_code == 200, found.text
        return found.json()


@contextmanager
def serving(store: str, **settings: object) -> Iterator[Served]:
    """A server on a store, and a client of it."""
    with start(Settings.of({"store": store, "port": 0, **settings})) as started, Served(started) as client:
        yield client


def problem(answer: httpx.Response, status: int, kind: str | None = None) -> dict:
    """The problem that an answer is, which must have this status and kind."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    told = answer.json()
    assert told["status"] == status
    assert told["title"]
    assert told["detail"]
    if kind is not None:
        assert told["type"] == f"urn:triplewire:problem:{kind}"
    return told
