"""Other processes that use a store: made by forking one that is warm, so that each begins at once and may be killed.

A `Nursery` is a child process that has imported everything and matched once. Told to, it forks a worker for one of the
`WORKS` and says its number. Workers open their own hubs: a fork hands no connection on.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
import traceback
from dataclasses import replace
from itertools import count
from pathlib import Path

from pyoxigraph import Literal, NamedNode, Triple

from triplewire import Document, Hub, Publish, Retract, compile
from triplewire.errors import DuplicateSubscription

NS = "urn:w:"
SUBSCRIPTIONS = {
    "joined": "SELECT ?x ?z { ?x <urn:w:p> ?y . ?y <urn:w:q> ?z }",
    "wide": "SELECT ?x ?e { ?x <urn:w:q> ?y OPTIONAL { ?x <urn:w:r> ?e } }",
    "small": 'SELECT ?x { ?x <urn:w:r> ?v FILTER(CONTAINS(STR(?v), "1")) }',
}
PATHS = {
    "numbers": compile("/d/n[. > 9]", language="xpath"),
    "second": compile("/d/n[2] | //@k", language="xpath"),
    "without": compile("not(//n = 3)", language="xpath"),
}
LATE = "SELECT ?x { ?x <urn:w:p> ?y . ?x <urn:w:r> ?v }"
LATE_PATH = compile("//n[@k]", language="xpath")
VALUES = "SELECT ?x ?v { ?x <urn:w:value> ?v }"
VALUES_OF_XML = compile("/d/v", language="xpath")
TOGETHER = 12
"""Documents that always change together."""


def batch(seed: object) -> list[Publish | Retract]:
    """Some documents come, change and go; the same ones whenever it is asked for."""
    chance = random.Random(str(seed))
    uris = chance.sample([f"urn:document:{n}" for n in range(10)], 5)
    return [Retract(uri) if chance.random() < 0.2 else Publish(document(uri, chance)) for uri in uris]


def document(uri: str, chance: random.Random) -> Document:
    nodes = [NamedNode(f"{NS}n{n}") for n in range(12)]
    links = [
        Triple(chance.choice(nodes), NamedNode(NS + chance.choice("pq")), chance.choice(nodes))
        for _ in range(chance.randrange(5))
    ]
    stated = [*links, Triple(chance.choice(nodes), NamedNode(NS + "r"), Literal(str(chance.randrange(20))))]
    return replace(Document.from_triples(uri, stated), xml=xml(chance) if chance.random() < 0.5 else b"")


def xml(chance: random.Random) -> bytes:
    """Numbers as XML, in canonical form."""
    written = [(chance.randrange(20), chance.choice(["", ' k="1"', ' k="2"'])) for _ in range(chance.randrange(4))]
    return f"<d>{''.join(f'<n{attribute}>{number}</n>' for number, attribute in written)}</d>".encode()


def do(hub: Hub, number: int) -> None:
    """Deed of a number: a batch with its id, and now and then a subscription. To do it again changes nothing."""
    if number % 20:
        hub.apply(batch(number), batch=f"deed {number}")
    else:
        text, scope = (LATE, "graph") if number % 60 else (LATE_PATH, "document")
        try:
            hub.subscribe(text, id=f"late {number}", scope=scope, start="ever" if number % 40 else "now")
        except DuplicateSubscription:
            return


# -- what workers do


def go_on(url: str, first: str) -> None:
    """One deed after the other, until the end."""
    with Hub(url) as hub:
        for number in range(int(first), 1_000_000):
            do(hub, number)


def apply(url: str, name: str) -> None:
    """A few batches of one's own."""
    with Hub(url) as hub:
        for number in range(20):
            hub.apply(batch((name, number)), batch=f"{name} {number}")


def toggle(url: str, name: str) -> None:
    """Documents that change together, again and again."""
    with Hub(url) as hub:
        for number in range(25):
            hub.apply(together(number), batch=f"{name} {number}")


def together(number: int) -> list[Publish | Retract]:
    return [Publish(valued(n, str(number))) for n in range(TOGETHER)]


def valued(n: int, value: str) -> Document:
    """A document with a value, as a triple and as XML."""
    stated = Triple(NamedNode(f"{NS}{n}"), NamedNode(NS + "value"), Literal(value))
    return replace(Document.from_triples(f"urn:document:{n}", [stated]), xml=f"<d><v>{value}</v></d>".encode())


def read(url: str, until: str) -> None:
    """See whole batches only, until a batch is there."""
    batches: list[str] = []
    with Hub(url) as hub:
        while until not in batches:
            for id, column, told in (("graph", "v", 2), ("document", "v", 2), ("xml", "text", 1)):
                values = [row[column].value for row in hub.rows(id)]
                assert len(values) in (0, TOGETHER), values
                assert len(set(values)) <= 1, values
                log = hub.events(id)
                batches = [event.batch for event in log]
                for name in set(batches):
                    assert batches.count(name) == TOGETHER * (1 if name.endswith(" 0") else told), name
                cursors = [event.cursor for event in log]
                assert cursors == sorted(set(cursors))


def serve(url: str, signs: str) -> None:
    """A hub that has applied a batch, and applies another one when it is told to."""
    with Hub(url) as hub:
        hub.apply(together(0))
        Path(signs, "ready").touch()
        while not Path(signs, "go").exists():
            time.sleep(0.002)
        hub.apply(together(1))


def edit(url: str, signs: str) -> None:
    """Edit one subscription after the other, until the end."""
    with Hub(url) as hub:
        Path(signs, "ready").touch()
        for number in count():
            text = f"SELECT ?s ?o {{ ?s <urn:p> ?o FILTER(?o > {number % 5}) }}"
            hub.edit(f"s{number % 3}", text=text, paused=number % 7 == 0, title=str(number))


WORKS = {work.__name__: work for work in (go_on, apply, toggle, read, serve, edit)}


# -- the nursery


class Nursery:
    """The warm process, seen from the tests."""

    def __init__(self) -> None:
        code = f"import sys; sys.path[:0] = {sys.path!r}; from engine.workers import nurse; nurse()"
        self._process = subprocess.Popen(
            [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        assert self._answer() == "ready"

    def close(self) -> None:
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(30)

    def start(self, work: str, *words: str) -> int:
        """The number of a new worker's process."""
        return int(self._ask("start", work, *words))

    def end(self, worker: int) -> int:
        """Wait for a worker; gives how it ended."""
        return int(self._ask("end", str(worker)))

    def kill(self, worker: int) -> None:
        """Kill a worker that must be at work."""
        os.kill(worker, signal.SIGKILL)
        assert self.end(worker) == -signal.SIGKILL

    def _ask(self, *words: str) -> str:
        print(*words, sep="\t", file=self._process.stdin, flush=True)
        return self._answer()

    def _answer(self) -> str:
        return self._process.stdout.readline().strip()


def nurse() -> None:
    """What the nursery does: warm up, then fork as it is told to."""
    with Hub(":memory:") as hub:
        for id, text in SUBSCRIPTIONS.items():
            hub.subscribe(text, id=id, scope="graph")
            hub.subscribe(text, id=f"{id} of a document")
        for id, query in PATHS.items():
            hub.subscribe(query, id=id)
        for number in range(5):
            do(hub, number + 1)
    print("ready", flush=True)
    for line in sys.stdin:
        order, *words = line.rstrip("\n").split("\t")
        if order == "end":
            print(os.waitstatus_to_exitcode(os.waitpid(int(words[0]), 0)[1]), flush=True)
        elif worker := os.fork():
            print(worker, flush=True)
        else:
            _work(*words)


def _work(work: str, *words: str) -> None:
    code = 0
    try:
        WORKS[work](*words)
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stderr.flush()
    os._exit(code)
