"""Every route of a service, as its own OpenAPI description lists them, with values that nobody means.

A finding is an answer of 500 or more, but for 503, which says that something is stopped or too much; or none at all.
"""

from __future__ import annotations

import json
import random
import re
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx

from benchmarks.fuzz.targets import TARGETS
from triplewire.hub import Settings, start

_VALUES = (
    "",
    "0",
    "-1",
    "9" * 30,
    "a",
    "urn:a",
    "%00",
    "../..",
    "<urn:a>",
    "\u2028",
    "null",
    "a,b",
    "*",
    "x" * 5_000,
    "1e9",
    "[]",
)
_KINDS = (
    "text/turtle", "application/json", "application/n-quads", "application/x-ndjson", "application/ld+json", "text/xml",
    "application/rdf+xml", "application/sparql-query", "application/x-www-form-urlencoded", "multipart/form-data", "a",
)  # fmt: skip
_BODIES = (
    b"{}",
    b"[]",
    b"null",
    b"\xff\xfe",
    b'{"text": 1}',
    b'{"text": "SELECT ?s {?s ?p ?o}", "language": "sparql"}',
)
_PATH = re.compile(r"\{[^{}]*\}")
_METHODS = ("get", "put", "post", "delete", "patch", "head")
_STREAMS = re.compile("stream|live")
_FEWEST = 20


def fuzz(folder: Path, seconds: float, seed: int = 0) -> tuple[int, int]:
    """Ask a service for so long, and a few times in any case; how many requests were sent, and findings written."""
    chance = random.Random(seed)
    asked = found = 0
    with TemporaryDirectory() as place:
        settings = {"store": f"sqlite:///{place}/hub.db", "port": 0, "longest_wait": 0.1, "deliver": False}
        with start(Settings.of(settings)) as served, httpx.Client(base_url=served.url, timeout=30) as client:
            operations = list(_operations(client.get("/v1/openapi.json").json()))
            until = time.monotonic() + seconds  # a service may take longer to start than it is to be asked
            while asked < _FEWEST or time.monotonic() < until:
                asked += 1
                request = _request(chance, *chance.choice(operations))
                if reason := _wrong(client, request):
                    found += 1
                    _write(folder, request | {"reason": reason})
    return asked, found


def _operations(description: Any) -> Iterator[tuple[str, str, list[Any]]]:
    for path, methods in description["paths"].items():
        if not _STREAMS.search(path):  # they do not end
            for method, operation in methods.items():
                if method in _METHODS:
                    yield method, path, operation.get("parameters", [])


def _request(chance: random.Random, method: str, path: str, parameters: list[Any]) -> dict[str, Any]:
    given = {
        each["name"]: chance.choice(_VALUES) for each in parameters if each["in"] == "query" and chance.random() < 0.7
    }
    target = chance.choice([*TARGETS.values()])
    body = bytearray(chance.choice([*_BODIES, *target.seeds]))
    for _ in range(chance.randrange(4)):
        at = chance.randrange(len(body) + 1)
        body[at : at + chance.randrange(8)] = chance.randbytes(chance.randrange(8))
    return {
        "method": method,
        "path": _PATH.sub(lambda _: chance.choice(["a", "0", "%2e%2e", "urn:a", "x" * 300]), path),
        "params": given,
        "kind": chance.choice(_KINDS),
        "accept": chance.choice(["*/*", "text/turtle", "application/rdf+xml", "a;q=b", ""]),
        "body": bytes(body).hex() if method not in ("get", "head") else "",
    }


def _wrong(client: httpx.Client, request: dict[str, Any]) -> str:
    """What is wrong with the answer, if anything is."""
    headers = {"Content-Type": request["kind"], "Accept": request["accept"]}
    try:
        with client.stream(
            request["method"],
            request["path"],
            params=request["params"],
            content=bytes.fromhex(request["body"]),
            headers=headers,
        ) as answer:
            is_bad = answer.status_code >= 500 and answer.status_code != 503
            return f"it answered {answer.status_code}" if is_bad else ""
    except httpx.TransportError as error:
        return f"no answer: {error!r}"


def _write(folder: Path, finding: dict[str, Any]) -> None:
    place = folder / "routes"
    place.mkdir(parents=True, exist_ok=True)
    name = f"{finding['method']}-{abs(hash(json.dumps(finding, sort_keys=True))):x}.json"
    (place / name).write_text(json.dumps(finding, indent=1), encoding="utf-8")
