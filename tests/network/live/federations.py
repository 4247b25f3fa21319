"""Federations for tests: hubs on this machine, in threads or in processes, that form a cube."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import httpx

from hub.processes import Running, command
from hub.serving import Served, serving

WATER = "SELECT ?d { ?d <urn:theme> <urn:water> }"
TURTLE = {"Content-Type": "text/turtle", "Prefer": "wait"}


def wait_for(condition: Callable[[], object], seconds: float = 60.0, what: str = "it did not happen in time") -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, what
        time.sleep(0.05)


def about(number: int, more: str = "") -> str:
    """A document about water."""
    return f"<urn:d{number}> <urn:theme> <urn:water>{more} ."


def kinds(served, id: str = "water") -> list[str]:
    """What a subscription was told so far, each with its row."""
    return [f"{each['kind']} {each['row'].get('d', '')}" for each in served.events(id)["events"]]


def members(served) -> int:
    found = served.get("/v1/network")
    return len(found.json()["members"]) if found.status_code == 200 and found.json()["place"] else 0


@contextmanager
def hierarchy(folder, clusters: list[str], **settings: object) -> Iterator[list[Served]]:
    """Served hubs of this process in clusters; the first one begins, the others join by one that is there."""
    with ExitStack() as stack:
        hubs: list[Served] = []
        for number, cluster in enumerate(clusters):
            about = {"network": "hierarchy", "cluster": cluster, "deliver": False} | settings
            join = {} if not hubs else {"join": hubs[number // 2].url}
            hubs.append(stack.enter_context(serving(f"sqlite:///{folder}/{number}.db", **about, **join)))
            wait_for(lambda number=number: all(members(each) == number + 1 for each in hubs))
        yield hubs


@contextmanager
def federation(folder, count: int, **settings: object) -> Iterator[list[Served]]:
    """Served hubs of this process; the first one begins, the others join by one that is there."""
    with ExitStack() as stack:
        hubs: list[Served] = []
        for number in range(count):
            join = {} if not hubs else {"join": hubs[number // 2].url}
            store = f"sqlite:///{folder}/{number}.db"
            hubs.append(stack.enter_context(serving(store, network="hypercube", deliver=False, **join, **settings)))
            wait_for(lambda number=number: all(members(each) == number + 1 for each in hubs))
        yield hubs


class Process:
    """A hub in a process of its own, on a port that stays the same when it is killed and started again."""

    def __init__(self, folder, number: int, port: int, join: str | None, cluster: str = "", **environment: str) -> None:
        self.url, self.number = f"http://127.0.0.1:{port}", number
        self._folder, self._port, self._join, self._environment = folder, port, join, environment
        self._cluster = cluster
        self.http = httpx.Client(base_url=self.url, timeout=60, trust_env=False)
        self._running: Running | None = None

    def start(self) -> None:
        self.begin()
        self.is_up()

    def is_up(self) -> None:
        """Wait until it serves."""
        assert self._running is not None
        self._running.heard(self.url)

    def begin(self) -> None:
        arguments = [f"{self.number}.db", "--port", str(self._port), "--pipeline", "engine"]
        arguments += (
            ["--network", "hierarchy", "--cluster", self._cluster] if self._cluster else ["--network", "hypercube"]
        )
        arguments += ["--join", self._join] if self._join else []
        environment = {"TRIPLEWIRE_DELIVER": "false"} | self._environment
        self._running = Running(command("serve", *arguments, cwd=self._folder, **environment))

    def kill(self) -> None:
        """SIGKILL, as if the power had gone."""
        if self._running is not None:
            os.kill(self._running.process.pid, signal.SIGKILL)
            self._running.process.wait()
            self._running._reader.join()
            self._running.process.stdout.close()
            self._running.process.stderr.close()
            self._running = None

    @property
    def said(self) -> list[str]:
        return [] if self._running is None else self._running.said

    def close(self) -> None:
        self.kill()
        self.http.close()

    def get(self, path: str, **about) -> httpx.Response:
        return self.http.get(path, **about)

    def links(self) -> list[str]:
        """Its links, for people."""
        found = self.get("/v1/network").json()
        return [f"{each['corner']}-{each['to']} {each['is_open']} {each['waiting']}" for each in found["links"]]

    def publish(self, uri: str, text: str) -> httpx.Response:
        return self.http.put("/v1/document", params={"uri": uri}, content=text, headers=TURTLE)

    def retract(self, uri: str) -> httpx.Response:
        return self.http.delete("/v1/document", params={"uri": uri}, headers={"Prefer": "wait"})

    def subscribe(self, id: str, text: str, **more: object) -> httpx.Response:
        return self.http.post("/v1/subscriptions", json={"id": id, "text": text} | more)

    def events(self, id: str) -> dict:
        found = self.http.get(f"/v1/subscriptions/{id}/events", params={"limit": 1000})
        assert found.status_code == 200, found.text
        return found.json()


@contextmanager
def processes(
    folder, count: int, ports: list[int], clusters: list[str] | None = None, **environment: str
) -> Iterator[list[Process]]:
    """Hubs in processes of their own, which form a cube, or with clusters a hierarchy."""
    with ExitStack() as stack:
        hubs: list[Process] = []
        for number in range(count):
            join = None if not hubs else hubs[number // 2].url
            hubs.append(
                Process(folder, number, ports[number], join, clusters[number] if clusters else "", **environment)
            )
            stack.callback(hubs[-1].close)
            hubs[-1].begin()
            if number % 2 == 0:  # more of them at once would wait for each other's processors
                hubs[-1].is_up()
        for each in hubs:
            each.is_up()
        wait_for(lambda: all(members(each) == count for each in hubs), 120)
        yield hubs
