"""A network and one hub, to which the same happens; the actions of random histories."""

from __future__ import annotations

from itertools import groupby

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


SIZES = [1, 3, 4, 6, (1,), (3,), (2, 2), (2, 1, 2), (3, 2), (1, 2, 1, 2)]
"""Nodes of a hypercube, or sub-units at each level of a hierarchy."""


class Both:
    """A network and one hub, to which the same happens."""

    QUERIES = QUERIES
    SCOPE = "document"

    def network(self, size: int | tuple[int, ...]):
        return self.sim.hypercube(size) if isinstance(size, int) else self.sim.hierarchy(clusters=size)

    def content(self, uri: str, which: int) -> str:
        return f"<{uri}#it> {CONTENTS[which // 3]} ."

    def __init__(self, seed: int, size: int | tuple[int, ...], **faults) -> None:
        self.sim = Simulation(seed=seed, **faults)
        self.net = self.network(size)
        self.clients = {number: self.net.client(at=number) for number in self.net.nodes}
        self.oracle = Hub(":memory:")
        self.sids: dict[str, int] = {}
        self.documents: dict[str, int] = {}
        self.adverts: dict[int, list[str]] = {}
        self.down: set[int] = set()

    def act(self, what: str, who: int, which: int) -> None:
        up = [number for number in self.clients if self.is_up(number)]
        if not up:
            return self.restart(min(self.down))  # nobody can do anything, until somebody is back
        at = up[who % len(up)]
        client = self.clients[at]
        match what:
            case "subscribe":
                self.subscribe(at, self.QUERIES[which])
            case "unsubscribe" if mine := [sid for sid, home in self.sids.items() if home == at]:
                client.unsubscribe(mine[0])
                self.oracle_of(mine[0]).unsubscribe(mine[0])
                del self.sids[mine[0]]
            case "advertise":
                self.adverts.setdefault(at, []).append(client.advertise(**ADVERTISED[which]))
            case "withdraw" if self.adverts.get(at):
                client.withdraw(self.adverts[at].pop())
            case "publish":
                uri = f"urn:doc/{at}/{which % 3}"
                self.publish(at, uri, self.content(uri, which))
                self.documents[uri] = at
            case "retract" if self.documents.get(uri := f"urn:doc/{at}/{which % 3}") == at:
                self.retract(at, uri)
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
                if number not in self.clients:  # else one has left that had this number, and its client goes on
                    self.clients[number] = self.net.client(at=number)
            case "leave" if at in {*self.net.nodes} - self.down and len(self.net.nodes) > len(self.down) + 1:
                self.net.leave(at)
            case "rest":
                self.sim.run()
            case "wait":
                self.sim.run(seconds=0.02 * who)
        return None

    def subscribe(self, at: int, query: str) -> None:
        sid = self.clients[at].subscribe(query)
        self.sids[sid] = at
        self.oracle.subscribe(query, id=sid, scope=self.SCOPE)

    def publish(self, at: int, uri: str, text: str) -> None:
        self.clients[at].publish(text, uri=uri)
        self.oracle.publish(text, uri=uri)

    def retract(self, at: int, uri: str) -> None:
        self.clients[at].retract(uri)
        self.oracle.retract(uri)

    def oracle_of(self, sid: str) -> Hub:
        return self.oracle

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
        return in_order(self.oracle_of(sid).events(sid))


def in_order(events) -> list[tuple[str, Row]]:
    """What was told, batch by batch; inside one, rows of a kind have no order."""
    batches = groupby(events, key=lambda event: (event.batch, event.kind))
    return [(event.kind, event.row) for _, some in batches for event in sorted(some, key=lambda each: str(each.row))]


def is_told_as_by_one_hub(both: Both, actions) -> None:
    """Each step has the time that it needs: then each event is told."""
    for what, who, which in actions:
        both.act(what, who, which)
        both.settle()
    for sid in both.sids:
        assert both.told(sid) == both.expected(sid)


def ends_as_in_one_hub(both: Both, actions) -> None:
    """Each row begins, changes and ends in turn, and what is left is what one hub has."""
    for what, who, which in actions:
        both.act(what, who, which)
    both.settle()
    for sid in both.sids:
        rows = set()
        for kind, row in both.told(sid):
            assert (row in rows) == (kind != "matched"), "nothing is told twice"
            (rows.discard if kind == "unmatched" else rows.add)(row)
        assert rows == set(both.oracle_of(sid).rows(sid))
