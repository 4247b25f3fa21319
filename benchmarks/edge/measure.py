"""What serving edges costs: the hub's time, bytes on the wire, questions near and far, and catching up."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from statistics import median
from time import perf_counter_ns

from benchmarks.edge.far import far_away
from benchmarks.edge.workload import TRIPLES, EdgeWorkload
from benchmarks.report import Line, Progress
from triplewire import Edge, Hub, Publish
from triplewire.wire.edges import EdgeAnswer, EdgeQuestion, EdgeRule, as_json, packed_json

_AT_ONCE = 10_000
_QUESTIONS = 30
_ABSENCES = 6
DELAY = 0.010
"""Seconds of a way to the hub and back."""


Clock = Callable[[], int]
"""Nanoseconds, of the clock or of the processor: hub and edges take turns in one process and one thread."""


class Wire:
    """The way from an edge to its hub; it knows what the hub took to answer, and how many bytes went by.

    Of what the hub does, reading the question and packing the answer count; what the edge does does not.
    """

    def __init__(self, hub: Hub, clock: Clock) -> None:
        self._hub, self._clock = hub, clock
        self.nanoseconds = self.bytes = self.questions = 0

    def serve_edge(self, question: EdgeQuestion) -> EdgeAnswer:
        """The hub's answer, as it would be packed for the network."""
        asked = json.dumps(as_json(question), separators=(",", ":")).encode()
        before = self._clock()
        answer = self._hub.serve_edge(_read(asked))
        packed, _ = packed_json(answer)
        self.nanoseconds += self._clock() - before
        self.bytes += len(asked) + len(packed)
        self.questions += 1
        return answer


def _read(asked: bytes) -> EdgeQuestion:
    members = json.loads(asked)
    return EdgeQuestion(**members | {"follow": [EdgeRule(**each) for each in members.get("follow", ())]})


def measure(
    workload: EdgeWorkload, batch: int, batches: int, progress: Progress, clock: Clock = perf_counter_ns
) -> list[Line]:
    """All alternatives, on one hub; the run stops if an edge does not hold what it should.

    Nothing is kept at a hub for its edges besides their rules, which are subscriptions: so the hub between two of their
    questions is the engine with the same subscriptions and no edge.
    """
    with _hub(workload, progress) as hub:
        wires = [Wire(hub, clock) for _ in range(workload.edges)]
        edges = [_edge(workload, number, wire, progress) for number, wire in enumerate(wires)]
        progress.stage("the edges begin with the same batch")
        for edge in edges:
            edge.sync()
        progress.stage(f"{batches:,} batches of {batch:,} documents")
        lines = _kept_up(workload, hub, wires, edges, batch, batches, progress, clock)
        lines += _caught_up(workload, hub, edges[0], batch, batches, progress, clock)
        lines += _asked(workload, hub, edges[0])
        for edge in edges:
            edge.close()
        return lines


@contextmanager
def _hub(workload: EdgeWorkload, progress: Progress) -> Iterator[Hub]:
    with tempfile.TemporaryDirectory() as folder, Hub(Path(folder) / "hub.db") as hub:
        hub.set_schema(workload.schema)
        coming, done = workload.all_documents(), 0
        while some := list(islice(coming, _AT_ONCE)):
            hub.apply(some)
            done += len(some)
            progress(f"{done:,} documents")
        yield hub


def _edge(workload: EdgeWorkload, number: int, wire: Wire, progress: Progress) -> Edge:
    edge = Edge(":memory:", hub=wire)
    edge.follow_many(workload.rules_of(number), language="sparql")
    edge.sync()
    progress(f"edge {number + 1}: {workload.rules:,} rules")
    return edge


def _kept_up(
    workload: EdgeWorkload,
    hub: Hub,
    wires: Sequence[Wire],
    edges: Sequence[Edge],
    batch: int,
    batches: int,
    progress: Progress,
    clock: Clock,
) -> list[Line]:
    """Every edge asks after every batch."""
    applied: list[float] = []
    served: list[float] = []
    content = flood = sent = rounds = 0
    for turn in range(batches):
        progress(f"batch {turn + 1} of {batches}")
        changed = workload.changes(turn, batch)
        documents = [workload.document(number, 100 + turn) for number in changed]
        before = clock()
        hub.apply([Publish(document) for document in documents])
        applied.append(clock() - before)
        for wire in wires:
            wire.nanoseconds = wire.bytes = wire.questions = 0
        _sync_all(edges, wires)
        served.append(applied[-1] + sum(wire.nanoseconds for wire in wires))
        sent += sum(wire.bytes for wire in wires)
        rounds = max(rounds, *(wire.questions for wire in wires))
        content += sum(workload.content_of(number, changed, 100 + turn) for number in range(workload.edges))
        flood += sum(len(document.ntriples) for document in documents) * workload.edges
        _expect(workload, edges[turn % len(edges)], turn % len(edges), changed, 100 + turn)
    each = 1_000 * batch
    return [
        _line(workload, batch, "engine", median(applied) / each),
        _line(workload, batch, "edges", median(served) / each, matches=rounds),
        _line(workload, batch, "edges-bytes", 0.0, size=sent),
        _line(workload, batch, "content-bytes", 0.0, size=content),
        _line(workload, batch, "flood-bytes", 0.0, size=flood),
    ]


def _sync_all(edges: Sequence[Edge], wires: Sequence[Wire]) -> None:
    """All edges keep up: first all of them ask, then the hub answers one after the other, then all of them take it.

    Edges are no part of a hub's process. If each took its answer before the next one is served, the hub would begin
    every time with what an edge has left in the caches of the processor, and would pay for that.
    """
    talks = [(edge.conversation(), wire) for edge, wire in zip(edges, wires, strict=True)]
    asking = [(talk, wire, next(talk)) for talk, wire in talks]
    while asking:
        answers = [wire.serve_edge(question) for _, wire, question in asking]
        going_on = []
        for (talk, wire, _), answer in zip(asking, answers, strict=True):
            with suppress(StopIteration):
                going_on.append((talk, wire, talk.send(answer)))
        asking = going_on


def _expect(workload: EdgeWorkload, edge: Edge, number: int, changed: Sequence[int], memory: int) -> None:
    """The edge has the new memory of every server that it holds, and nothing of the others."""
    text = f"SELECT ?s {{ ?s <urn:v#memory> ?m FILTER(?m = {memory}) }}"
    found = {str(row["s"]) for row in edge.query(text)}
    followed = {id for id, _ in workload.rules_of(number)}
    wanted = {f"<urn:s/{each}>" for each in changed if f"key{each}" in followed}
    assert found == wanted, f"edge {number} holds {len(found)} changed servers, and should hold {len(wanted)}"


def _caught_up(
    workload: EdgeWorkload, hub: Hub, edge: Edge, batch: int, batches: int, progress: Progress, clock: Clock
) -> list[Line]:
    """An edge was away for all of the batches; what it holds changes as fast as the hub could apply it, or not.

    The first time counts: an edge comes back when nothing of what it needs is in the caches of the processor. How long
    it takes when it has just done so, stands beside it.
    """
    progress("away")
    applied: list[float] = []
    told: list[float] = []
    for absence in range(_ABSENCES):
        times, took = _absence(workload, hub, edge, batch, range(absence * batches, (absence + 1) * batches), clock)
        applied.append(times)
        told.append(took)
    return [
        _line(workload, batch, "apply-held", applied[0]),
        _line(workload, batch, "catch-up", told[0]),
        _line(workload, batch, "apply-held-again", median(applied[1:])),
        _line(workload, batch, "catch-up-again", median(told[1:])),
    ]


def _absence(
    workload: EdgeWorkload, hub: Hub, edge: Edge, batch: int, turns: range, clock: Clock
) -> tuple[float, float]:
    """Microseconds that the hub takes to apply a document, and the edge to be told a resource."""
    wanted = [int(id.removeprefix("key")) for id, _ in workload.rules_of(0)][:batch]
    times: list[float] = []
    for turn in turns:
        documents = [Publish(workload.document(number, 1_000 + turn)) for number in wanted]
        before = clock()
        hub.apply(documents)
        times.append(clock() - before)
    before = clock()
    done = edge.sync()
    took = clock() - before
    return median(times) / 1_000 / len(wanted), took / 1_000 / max(done.described, 1)


def _asked(workload: EdgeWorkload, hub: Hub, edge: Edge) -> list[Line]:
    """The same question at the edge, and at the hub over loopback with a delay; the first one loads."""
    with far_away(hub, DELAY) as remote:
        asked = {"query": edge.query, "remote": remote.query}
        return [_line(workload, 1, name, _median(workload, ask)) for name, ask in asked.items()]


def _median(workload: EdgeWorkload, ask: Callable[[str], Iterable[object]]) -> float:
    times = []
    for turn in range(_QUESTIONS + 1):
        before = perf_counter_ns()
        answer = list(ask(workload.question(0, turn)))
        times.append(perf_counter_ns() - before)
        assert len(answer) == 1, "every key that an edge follows has an answer"
    return median(times[1:]) / 1_000


def _line(
    workload: EdgeWorkload, batch: int, name: str, microseconds: float, *, matches: float = 0, size: int | None = None
) -> Line:
    rules, triples = workload.edges * workload.rules, workload.documents * TRIPLES
    return Line("EDGE", rules, batch, name, microseconds, matches, bytes=size, triples=triples)
