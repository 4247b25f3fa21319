"""Random histories of a network end as one hub would have them (X13): told, told once, in order."""

from __future__ import annotations

from itertools import groupby

from hypothesis import given, settings
from hypothesis import strategies as st

from triplewire import Hub
from triplewire.errors import NetworkError
from triplewire.model import Row
from triplewire.network import Simulation

QUERIES = [
    "SELECT ?d { ?d <urn:v/a> ?x }",
    "SELECT ?d ?x { ?d <urn:v/a> ?x }",
    "SELECT ?d { ?d <urn:v/a> 1 }",
    "SELECT ?d { ?d <urn:v/a> ?x FILTER(?x > 1) }",
    "SELECT ?d ?y { ?d <urn:v/a> ?x ; <urn:w/b> ?y }",
    "SELECT ?d { { ?d <urn:w/b> 2 } UNION { ?d <urn:v/a> 2 } }",
    "SELECT ?d ?p { ?d ?p 1 }",
    "SELECT ?d { ?d a <urn:C> }",
]
CONTENTS = [
    "<urn:v/a> 1",
    "<urn:v/a> 2",
    "<urn:w/b> 2",
    "<urn:v/a> 1 ; <urn:w/b> 1",
    "a <urn:C>",
    "<urn:v/a> 3 ; a <urn:C>",
]
ADVERTISED = [
    {"schemas": ["urn:v/"]},
    {"properties": ["urn:v/a"]},
    {"properties": ["urn:w/b", "urn:v/a"]},
    {"values": {"urn:v/a": [1, 2]}},
]

ACTIONS = st.one_of(
    st.tuples(st.just("subscribe"), st.integers(0, 10), st.integers(0, len(QUERIES) - 1)),
    st.tuples(st.just("unsubscribe"), st.integers(0, 10), st.just(0)),
    st.tuples(st.just("advertise"), st.integers(0, 10), st.integers(0, len(ADVERTISED) - 1)),
    st.tuples(st.just("withdraw"), st.integers(0, 10), st.just(0)),
    st.tuples(st.just("publish"), st.integers(0, 10), st.integers(0, len(CONTENTS) * 3 - 1)),
    st.tuples(st.just("retract"), st.integers(0, 10), st.integers(0, 2)),
    st.tuples(
        st.sampled_from(["crash", "restart", "cut", "heal", "join", "leave", "wait", "rest"]),
        st.integers(0, 10),
        st.just(0),
    ),
)


class Both:
    """A network and one hub, to which the same happens."""

    QUERIES = QUERIES
    SCOPE = "document"

    def network(self, size: int):
        return self.sim.hypercube(size)

    def content(self, uri: str, which: int) -> str:
        return f"<{uri}#it> {CONTENTS[which // 3]} ."

    def __init__(self, seed: int, size: int, **faults) -> None:
        self.sim = Simulation(seed=seed, **faults)
        self.net = self.network(size)
        self.clients = {number: self.net.client(at=number) for number in range(size)}
        self.oracle = Hub(":memory:")
        self.sids: dict[str, int] = {}
        self.documents: dict[str, int] = {}
        self.adverts: dict[int, list[str]] = {}
        self.down: set[int] = set()

    def act(self, what: str, who: int, which: int) -> None:
        up = [number for number in self.clients if self.is_up(number)]
        at = up[who % len(up)]
        client = self.clients[at]
        match what:
            case "subscribe":
                text = self.QUERIES[which]
                sid = client.subscribe(text)
                self.sids[sid] = at
                self.oracle.subscribe(text, id=sid, scope=self.SCOPE)
            case "unsubscribe" if mine := [sid for sid, home in self.sids.items() if home == at]:
                client.unsubscribe(mine[0])
                self.oracle.unsubscribe(mine[0])
                del self.sids[mine[0]]
            case "advertise":
                self.adverts.setdefault(at, []).append(client.advertise(**ADVERTISED[which]))
            case "withdraw" if self.adverts.get(at):
                client.withdraw(self.adverts[at].pop())
            case "publish":
                uri = f"urn:doc/{at}/{which % 3}"
                text = self.content(uri, which)
                client.publish(text, uri=uri)
                self.oracle.publish(text, uri=uri)
                self.documents[uri] = at
            case "retract" if self.documents.get(uri := f"urn:doc/{at}/{which % 3}") == at:
                client.retract(uri)
                self.oracle.retract(uri)
                del self.documents[uri]
            case "crash" if at in self.net.nodes and len(self.net.nodes) > len(self.down) + 1:
                self.net.crash(at)
                self.down.add(at)
            case "restart" if self.down:
                self.restart(sorted(self.down)[who % len(self.down)])
            case "cut" if at in self.net.nodes:
                self.net.partition([at], [number for number in self.net.nodes if number != at], one_way=who % 2 == 0)
            case "heal":
                self.net.heal()
            case "join" if not self.down:
                number = self.net.join()
                self.clients[number] = self.net.client(at=number)
            case "leave" if at in self.net.nodes and len(self.net.nodes) > len(self.down) + 1:
                self.net.leave(at)
            case "rest":
                self.sim.run()
            case "wait":
                self.sim.run(seconds=0.02 * who)

    def is_up(self, number: int) -> bool:
        try:
            return bool(self.net.hub(number))
        except NetworkError:
            return False

    def restart(self, at: int) -> None:
        self.net.restart(at)
        self.down.discard(at)

    def settle(self) -> None:
        self.net.heal()
        for at in sorted(self.down):
            self.restart(at)
        self.sim.run()

    def told(self, sid: str) -> list[tuple[str, Row]]:
        return in_order(self.clients[self.sids[sid]].events(sid))

    def expected(self, sid: str) -> list[tuple[str, Row]]:
        return in_order(self.oracle.events(sid))

    def check_rows(self) -> None:
        """Each row begins, changes and ends in turn, and what is left is what the hub has."""
        for sid in self.sids:
            rows = set()
            for kind, row in self.told(sid):
                assert (row in rows) == (kind != "matched"), "nothing is told twice"
                (rows.discard if kind == "unmatched" else rows.add)(row)
            assert rows == set(self.oracle.rows(sid))


def in_order(events) -> list[tuple[str, Row]]:
    """What was told, batch by batch; inside one, rows of a kind have no order."""
    batches = groupby(events, key=lambda event: (event.batch, event.kind))
    return [(event.kind, event.row) for _, some in batches for event in sorted(some, key=lambda each: str(each.row))]


@settings(max_examples=25)
@given(st.integers(0, 2**32), st.sampled_from([1, 3, 4, 6]), st.lists(ACTIONS, max_size=20))
def test_each_event_is_told_as_by_one_hub_when_each_step_has_time(seed, size, actions):
    both = Both(seed, size, loss=0.1, duplication=0.1)
    for what, who, which in actions:
        both.act(what, who, which)
        both.settle()
    for sid in both.sids:
        assert both.told(sid) == both.expected(sid)


@settings(max_examples=25)
@given(st.integers(0, 2**32), st.sampled_from([3, 4, 6]), st.lists(ACTIONS, max_size=25))
def test_rows_end_as_those_of_one_hub_whatever_happens_meanwhile(seed, size, actions):
    """Each row begins, changes and ends in turn, and what is left is what one hub has."""
    both = Both(seed, size, loss=0.1, duplication=0.1)
    for what, who, which in actions:
        both.act(what, who, which)
    both.settle()
    both.check_rows()
