"""The state of a node as rows of its store: written as differences, read as it was (X8)."""

from __future__ import annotations

import json
import random
from collections import deque

from hypothesis import given
from hypothesis import strategies as st

from triplewire import compile, parse
from triplewire.network.hypercube import CubeTopology, corner, neighbours, position_of
from triplewire.network.live.places import LivePlace
from triplewire.network.live.states import PlaceRecord, StateBook, read_records
from triplewire.network.routing import RoutingState

QUERIES = [compile(f"SELECT ?d {{ ?d <urn:p{n}> ?x }}", language="sparql") for n in range(3)]
QUERIES += [compile("SELECT ?d { ?d <urn:p0> ?x ; <urn:p1> 1 }", language="sparql")]


class Cube:
    """Four corners that are handed each other's frames, some of which are lost; each with a book and its rows."""

    def __init__(self, seed: int) -> None:
        self.chance, self.now = random.Random(seed), 1.0
        self.records = {p: PlaceRecord(1, RoutingState(corner(p), f"e{p}")) for p in range(4)}
        self.corners = {p: self.made(p) for p in range(4)}
        self.books = {p: StateBook() for p in range(4)}
        self.rows: dict[int, dict] = {p: {} for p in range(4)}
        self.waiting: deque = deque()
        for p in range(4):
            for other in neighbours(p, 2):
                self.carry(p, self.corners[p].connect(corner(other), self.now))

    def made(self, position: int) -> LivePlace:
        corner = LivePlace(self.records[position].state, CubeTopology(position), lambda text: "")
        self.records[position].wanting = corner.wanting
        return corner

    def carry(self, position: int, frames) -> None:
        self.waiting.extend((position, int(name[-1]), frame) for name, frame in frames)

    def run(self, most: int) -> None:
        for _ in range(most):
            if not self.waiting:
                break
            came, to, frame = self.waiting.popleft()
            if self.chance.random() > 0.1:
                self.carry(to, self.corners[to].receive(corner(came), frame, self.now))

    def act(self, what: int, at: int) -> None:
        self.now += 1
        own, id = self.corners[at], str(what % 3)
        if what < 6:
            if id in own.state.subscriptions:
                self.carry(at, own.unwatch(id, self.now))
            else:
                self.carry(at, own.watch(id, QUERIES[what % 4], self.now, self.now))
        elif what == 11:
            self.adopt(at)
        elif what < 9:
            document = parse(f"<urn:d{at}> <urn:p{what % 3}> {what % 2} .", uri=f"urn:{id}")
            self.carry(at, own.put(document.uri, document, int(self.now), self.now, self.now))
        else:
            self.carry(at, own.put(f"urn:{id}", None, int(self.now), self.now, self.now))

    def adopt(self, position: int) -> None:
        """A corner begins anew with what it had, as one that was stood in for."""
        lost = self.records[position].state
        self.records[position] = PlaceRecord(2, RoutingState(lost.name, f"e{self.now}", stands_in=True))
        self.corners[position] = self.made(position)
        for other in neighbours(position, 2):
            self.carry(position, self.corners[position].connect(corner(other), self.now))
        self.carry(position, self.corners[position].adopt(lost, self.now))

    def write(self, position: int) -> None:
        changes = self.books[position].difference({corner(position): self.records[position]})
        for place, value in changes.items():
            if value is None:
                del self.rows[position][place]
            else:
                self.rows[position][place] = json.loads(json.dumps(value))
        self.books[position].wrote()
        whole = StateBook().difference({corner(position): self.records[position]})
        assert spelled(self.rows[position]) == spelled(whole), "what was noted is what a look at every row finds"


def spelled(rows: dict) -> dict:
    """Rows, with items in order: they are a set."""
    return {
        place: sorted(map(str, json.loads(text)))
        if place[0] in ("heard", "told", "gathered", "advertised")
        else json.loads(text)
        for place, text in rows.items()
    }


def comparable(state: RoutingState) -> dict:
    """All of a state that decides what a hub does."""
    return {
        "links": {peer: (e.epoch, e.peer, e.done, [*e.waiting], e.has) for peer, e in state.links.items()},
        "advertisements": state.advertisements,
        "heard": state.heard_items,
        "told": state.told_items,
        "gathered": (state.gathered, state.unheeded),
        "interests": state.heard_interests,
        "asked": {peer: (n.advertised, n.wanted, n.told) for peer, n in state.interests.items()},
        "signed": {peer: {s: set(i) for s, i in n._signed.items() if i} for peer, n in state.interests.items()},
        "subscriptions": {id: (s.pattern, s.since, s.reach, set(s.given)) for id, s in state.subscriptions.items()},
        "documents": {key: (k.told, k.came, k.sent) for key, k in state.documents.items()},
        "stands in": (state.stands_in, state.asked, state.name, state.epoch),
    }


@given(st.integers(0, 1_000), st.lists(st.tuples(st.integers(0, 11), st.integers(0, 3)), max_size=25))
def test_state_that_was_written_step_by_step_is_read_as_it_was(seed, actions):
    """Invariant of `network.live.states`: what is found by notes is what a look at every row would find."""
    cube = Cube(seed)
    for what, at in actions:
        cube.act(what, at)
        cube.run(cube.chance.randrange(20))
        cube.write(at)
    for position, record in cube.records.items():
        cube.write(position)
        (found,) = read_records(cube.rows[position], lambda place: CubeTopology(position_of(place))).values()
        assert comparable(found.state) == comparable(record.state)
        assert (found.generation, found.is_lost) == (record.generation, record.is_lost)


def test_step_that_changes_nothing_writes_nothing_and_one_document_writes_few_rows():
    cube = Cube(1)
    cube.run(1_000)
    for number in range(100):
        document = parse(f"<urn:d> <urn:p0> {number} .", uri=f"urn:{number}")
        cube.carry(0, cube.corners[0].put(document.uri, document, number + 1, 1.0, cube.now))
    cube.run(10_000)
    cube.write(0)
    assert cube.books[0].difference({corner(0): cube.records[0]}) == {}
    document = parse("<urn:d> <urn:p0> 1000 .", uri="urn:new")
    cube.corners[0].put(document.uri, document, 1000, 1.0, cube.now)
    assert {part for part, _ in cube.books[0].difference({corner(0): cube.records[0]})} == {"document"}


def test_step_looks_at_what_it_did_and_not_at_all_that_is_there():
    """So that a hub with many documents takes no longer for one."""
    cube = Cube(1)
    cube.run(1_000)
    for number in range(200):
        document = parse(f"<urn:d> <urn:p0> {number} .", uri=f"urn:{number}")
        cube.carry(0, cube.corners[0].put(document.uri, document, number + 1, 1.0, cube.now))
    cube.run(10_000)
    cube.write(0)
    book, record = cube.books[0], cube.records[0]
    document = parse("<urn:d> <urn:p0> 1000 .", uri="urn:new")
    cube.corners[0].put(document.uri, document, 1000, 1.0, cube.now)
    assert len([*book._noted_rows(record)]) < 20 < len(book._written[corner(0)])
