"""Reconciliation: what is there at the end, against what clients were told, and against answers found from scratch."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx
from pyoxigraph import Triple

from benchmarks.faults.load import Fate, Publisher
from benchmarks.faults.receiver import Receiver
from benchmarks.faults.world import SUBSCRIPTIONS, World
from triplewire import compile, parse
from triplewire.algebra.evaluate import evaluate

_SETTLED = 300.0
LATE = 60.0
"""Seconds after which a web hook is late: longer than the longest pause before a receiver that was away is tried."""

Row = tuple[tuple[str, str], ...]


@dataclass(slots=True)
class Found:
    """What is wrong, in sentences by kind; `counts` is what was looked at."""

    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    late: list[str] = field(default_factory=list)
    repeated: int = 0
    """Web hooks that came again with the same id, as they may."""
    counts: dict[str, int] = field(default_factory=dict)


def reconcile(world: World, publishers: Iterable[Publisher]) -> Found:
    """Wait until everything is applied and delivered, and compare."""
    found = Found()
    with httpx.Client(base_url=world.own_url, timeout=60.0, trust_env=False) as client:
        _settle(client)
        fates = {uri: fate for publisher in publishers for uri, fate in publisher.fates.items()}
        contents = _documents(client, fates, found)
        for id, (scope, text) in SUBSCRIPTIONS.items():
            _check_rows(client, id, scope, text, contents, found)
            _check_hooks(client, id, world.receiver, found)
    found.counts["batches"], found.counts["of these by Spark"] = world.batches()
    return found


def _settle(client: httpx.Client) -> None:
    """The log is applied in its order, so what is published last and waited for says that all of it is."""
    ends = time.monotonic() + _SETTLED
    while time.monotonic() < ends:
        try:
            answer = client.put(
                "/v1/document",
                params={"uri": "urn:faults:last"},
                content=f"<urn:faults:last> <urn:faults:time> {time.time_ns()} .",
                headers={"Content-Type": "text/turtle", "Prefer": "wait"},
            )
            if answer.is_success:
                return
        except httpx.HTTPError:
            time.sleep(0.5)
    raise RuntimeError(f"what was acknowledged is not applied after {_SETTLED:g} seconds")


def _documents(client: httpx.Client, fates: Mapping[str, Fate], found: Found) -> dict[str, bytes]:
    """The documents that are there; each must be what its publisher was told, or may have done since."""
    contents: dict[str, bytes] = {}
    for uri, fate in fates.items():
        answer = client.get("/v1/document", params={"uri": uri}, headers={"Accept": "application/n-triples"})
        there = b"".join(sorted(answer.content.splitlines(keepends=True))) if answer.status_code == 200 else None
        allowed = {_canonical(uri, content) for content in fate.allowed}
        if there not in allowed:
            found.lost.append(f"{uri}: acknowledged {fate.acknowledged!r}, there is {there!r}")
        if there is not None:
            contents[uri] = there
    found.counts["documents"] = len(fates)
    return contents


def _canonical(uri: str, content: str | None) -> bytes | None:
    return None if content is None else parse(content, uri=uri, media_type="text/turtle").ntriples


def _check_rows(
    client: httpx.Client, id: str, scope: str, text: str, contents: Mapping[str, bytes], found: Found
) -> None:
    """Rows are those found from scratch, and replaying the events leads to them, each told once."""
    triples = [parse(c, uri=uri, media_type="application/n-triples").triples for uri, c in contents.items()]
    meant = _evaluated(text, scope, triples)
    rows = {_row(row) for page in _pages(client, f"/v1/subscriptions/{id}/rows", "rows") for row in page}
    found.wrong += [f"{id}: the row {row} is missing" for row in meant - rows]
    found.wrong += [f"{id}: the row {row} is there, and should not be" for row in rows - meant]
    replayed: set[Row] = set()
    events, last = list(_events(client, id)), 0
    for event in events:
        row = _row(event["row"])
        if event["cursor"] <= last or (event["kind"] == "matched") is (row in replayed):
            found.doubled.append(f"{id}: event {event['cursor']}, {event['kind']} {row}")
        last = event["cursor"]
        if event["kind"] == "unmatched":
            replayed.discard(row)
        else:
            replayed.add(row)
    found.wrong += [f"{id}: its events do not lead to {row}" for row in rows ^ replayed]
    found.counts[f"rows of {id}"], found.counts[f"events of {id}"] = len(rows), len(events)


def _evaluated(text: str, scope: str, documents: list[tuple[Triple, ...]]) -> set[Row]:
    pattern = compile(text, language="sparql")
    worlds = documents if scope == "document" else [tuple(triple for triples in documents for triple in triples)]
    rows = (row for triples in worlds for row in evaluate(pattern, triples))
    return {tuple(sorted((name, str(term)) for name, term in row.items())) for row in rows}


def _row(told: Mapping[str, str]) -> Row:
    return tuple(sorted(told.items()))


def _events(client: httpx.Client, id: str) -> Iterable[dict[str, Any]]:
    after = 0
    while True:
        page = client.get(f"/v1/subscriptions/{id}/events", params={"after": after, "limit": 1000}).json()["events"]
        if not page:
            return
        yield from page
        after = page[-1]["cursor"]


def _pages(client: httpx.Client, path: str, name: str) -> Iterable[list[dict[str, str]]]:
    after: str | None = ""
    while after is not None:
        told = client.get(path, params={"after": after} if after else {}).json()
        yield told[name]
        after = told["next"]


def _check_hooks(client: httpx.Client, id: str, receiver: Receiver, found: Found) -> None:
    """Each event arrives, in order; it may come again, under the same id."""
    wanted = [int(event["cursor"]) for event in _events(client, id)]
    ends = time.monotonic() + _SETTLED
    while len(receiver.order.get(id, ())) < len(wanted) and time.monotonic() < ends:
        time.sleep(0.2)
    got = receiver.order.get(id, [])
    found.lost += [f"{id}: the web hook of event {cursor} never came" for cursor in sorted({*wanted} - {*got})]
    found.wrong += [f"{id}: a web hook for an event that is not in the log: {cursor}" for cursor in {*got} - {*wanted}]
    if got != sorted(got):
        found.wrong.append(f"{id}: web hooks came out of order")
    found.repeated += sum(count - 1 for name, count in dict(receiver.got).items() if name.startswith(f"{id}:"))
    late = [(name, lag) for name, lag in dict(receiver.lags).items() if name.startswith(f"{id}:") and lag > LATE]
    found.late += [f"{name}: its web hook came {lag:.0f} seconds after its commit" for name, lag in late]
    found.counts[f"web hooks of {id}"] = len(got)
