"""`./run bench hub`: what a service does in a second on loopback, next to a trivial request to the same service."""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import httpx

from benchmarks.hub import deliver, latency
from benchmarks.hub import listeners as listeners_of
from benchmarks.hub.load import Load, Request, request, run

SUBSCRIPTIONS = 100
"""So many stand, each for another keyword; each document has one of these."""

DOCUMENT = """@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .
<https://data.example/{0}> a dcat:Dataset ; dct:title "Dataset {0}" ; dcat:keyword "k{1}" ;
  dct:publisher <https://data.example/org/{1}> ; dct:issued "2026-01-01" ."""
QUERY = 'SELECT ?d ?t {{ ?d <http://www.w3.org/ns/dcat#keyword> "k{0}" ; <http://purl.org/dc/terms/title> ?t }}'
TARGET = 0.5


def main(arguments: Sequence[str]) -> int:
    """Measure, print, and write what was measured."""
    parser = argparse.ArgumentParser(prog="./run bench hub", description=__doc__)
    parser.add_argument("--concurrency", type=int, default=32, help="connections that ask at the same time (32)")
    parser.add_argument("--seconds", type=float, default=3.0, help="of each measurement (3)")
    parser.add_argument("--rounds", type=int, default=5, help="measurements of each kind (5)")
    parser.add_argument("--listeners", type=int, default=1_000, help="event streams that are open at once (1,000)")
    parser.add_argument("--pipeline", default="spark", help="who applies: spark, engine (spark)")
    parser.add_argument("--quick", action="store_true", help="everything in small, in seconds")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write JSON lines there")
    options = parser.parse_args(arguments)
    seconds, rounds = (0.3, 1) if options.quick else (options.seconds, options.rounds)
    documents, listeners, empty = (5, 20, 0) if options.quick else (300, options.listeners, 50)
    with served(options.pipeline) as (url, process):
        loads = measure(url, process, options.concurrency, seconds, rounds)
        _subscribe(url, {"latency": latency.LISTENED, "heard": listeners_of.HEARD})
        heard = [
            latency.line("acknowledged-to-event", latency.measure(url, documents)),
            latency.line(f"heard-by-{listeners}", listeners_of.measure(url, listeners, max(3, documents // 10))),
        ]
    if empty:
        heard.append(latency.line("empty-micro-batch", latency.empty_batches(empty)))
    lines = [line(name, options.concurrency, found, loads["trivial"]) for name, found in loads.items()]
    backlog, longer = (3, seconds) if options.quick else (40, 2 * seconds)
    deliveries = deliver.lines(rounds=rounds, backlog=backlog, seconds=longer)
    report(lines, deliveries, heard)
    if options.json:
        text = "".join(json.dumps(each) + "\n" for each in [*lines, *deliveries, *heard])
        options.json.write_text(text, encoding="utf-8")
    return 0


def report(
    lines: Sequence[dict[str, Any]], deliveries: Sequence[dict[str, Any]], heard: Sequence[dict[str, Any]]
) -> None:
    """For people."""
    for each in lines:
        print(
            f"{each['name']:8} {each['requests_per_second']:9,.0f} requests/s   {each['ratio']:5.2f} of trivial "
            f"({each['cpu_ratio']:.2f} by processor time)   "
            f"half within {each['p50_ms']:.1f} ms, 99 % within {each['p99_ms']:.1f} ms"
        )
    for each in deliveries:
        print(
            f"{each['name']:12} {each['requests_per_second']:7,.0f} web hooks/s, each {each['cpu_ms']:.2f} ms of a "
            f"processor; at {deliver.RATE}/s half within {each['p50_ms']:.0f} ms, 99 % within {each['p99_ms']:.0f} ms, "
            f"{each['missing']:.0f} missing"
        )
    ratio = next(each["ratio"] for each in lines if each["name"] == "publish")
    verdict = "met" if ratio >= TARGET else "MISSED"
    print(f"target: publish at {TARGET:.0%} of the trivial rate or more: {verdict} ({ratio:.0%})")
    for each in heard:
        times = ", ".join(f"{share:.0%} within {each[f'p{round(share * 100)}_ms']:.1f} ms" for share in latency.SHARES)
        print(f"{each['name']:22} {times}")


def line(name: str, concurrency: int, found: Sequence[Load], trivial: Sequence[Load]) -> dict[str, str | float]:
    """What was measured of one kind of request: medians over the rounds; `ratio` is that of the rates in each round."""
    ratios = [load.rate / base.rate for load, base in zip(found, trivial, strict=True)]
    by_cpu = [base.cpu / load.cpu if load.cpu else 0.0 for load, base in zip(found, trivial, strict=True)]
    return {
        "benchmark": "hub",
        "name": name,
        "concurrency": concurrency,
        "requests_per_second": median(load.rate for load in found),
        "ratio": median(ratios),
        "cpu_ratio": median(by_cpu),
        "cpu_us": 1e6 * median(load.cpu for load in found),
        "p50_ms": 1000 * median(load.percentile(0.5) for load in found),
        "p99_ms": 1000 * median(load.percentile(0.99) for load in found),
    }


def measure(url: str, process: int, concurrency: int, seconds: float, rounds: int) -> dict[str, list[Load]]:
    """Each kind in turn, so that what disturbs the machine disturbs all of them; the first round is not kept.

    What was published is applied before the next turn; `applied` is publishing with the time that this took.
    """
    _subscribe(url, {f"k{number}": QUERY.format(number) for number in range(SUBSCRIPTIONS)})
    kinds: dict[str, Request] = {
        "trivial": lambda _: request(url, "GET", "/v1/whoami"),
        "publish": lambda number: _publication(url, number),
        "events": lambda number: request(url, "GET", f"/v1/subscriptions/k{number % SUBSCRIPTIONS}/events?limit=10"),
    }
    found: dict[str, list[Load]] = {name: [] for name in ("trivial", "publish", "applied", "events")}
    for number in range(-1, rounds):
        for name, make in kinds.items():
            first, before = (number + 1) * 10_000_000, cpu_of(process)
            load = run(url, make, connections=concurrency, seconds=seconds, first=first)
            load.cpu = (cpu_of(process) - before) / len(load.latencies)
            loads = {name: load}
            if name == "publish":
                waited = _until_applied(url, first + len(load.latencies) - 1)
                loads["applied"] = replace(load, seconds=load.seconds + waited)
            if number >= 0:
                for each, one in loads.items():
                    found[each].append(one)
    return found


def cpu_of(process: int) -> float:
    """Seconds of processor time of a process, without its children; 0 where nobody can tell."""
    path = Path(f"/proc/{process}/stat")
    if not path.exists():
        return 0.0
    user, system = path.read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def _until_applied(url: str, number: int) -> float:
    """Seconds until a document is applied, and so everything before it."""
    began = time.perf_counter()
    with httpx.Client(base_url=url, trust_env=False, timeout=90) as client:
        while client.get("/v1/document", params={"uri": _uri(number)}).status_code == 503:
            pass
    return time.perf_counter() - began


def _uri(number: int) -> str:
    return f"https://data.example/doc/{number}"


def _publication(url: str, number: int) -> bytes:
    body = DOCUMENT.format(number, number % SUBSCRIPTIONS).encode()
    return request(url, "PUT", f"/v1/document?uri={_uri(number)}", body)


def _subscribe(url: str, wanted: Mapping[str, str]) -> None:
    with httpx.Client(base_url=url, trust_env=False, timeout=60) as client:
        for id, text in wanted.items():
            client.put(f"/v1/subscriptions/{id}", json={"text": text}).raise_for_status()


@contextmanager
def served(pipeline: str) -> Iterator[tuple[str, int]]:
    """A service on a new store, in a process of its own: its address, and the number of the process."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "triplewire.cli", "serve", "--port", "0", "--pipeline", pipeline]
        process = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True)
        try:
            assert process.stderr is not None
            said = process.stderr.readline()
            address = re.search(r"http://[^\s/]+", said)
            if address is None:
                raise RuntimeError(said + process.stderr.read())
            yield address[0], process.pid
        finally:
            process.terminate()
            process.communicate()
