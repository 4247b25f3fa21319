"""What a hub finds once for all of its edges, and that none is told what was found for others (M5, M6, M7)."""

from __future__ import annotations

from contextlib import contextmanager

import pytest

from edge.worlds import Cable, World, held_by, strong
from triplewire import Access, Edge, Hub
from triplewire.engine.edges.moves import QueryMoves, deleted_by, described_by

RULE = "SELECT ?x { ?x a <urn:C> }"


@pytest.fixture
def hub():
    with Hub(":memory:") as hub:
        hub.set_schema(strong("urn:s"))
        yield hub


def edge_of(hub, account=None, **rules):
    edge = Edge(":memory:", hub=Cable(hub, account))
    for id, text in (rules or {"c": RULE}).items():
        edge.follow(text, language="sparql", id=id)
    edge.sync()
    return edge


def stated_of(edge, node):
    return {str(triple) for triple in held_by(edge)[0] if str(triple.subject) == node}


@contextmanager
def transactions(hub, monkeypatch):
    """Counts how often the hub's store is opened to be read."""
    opened, reading = [], hub.store.reading
    with monkeypatch.context() as patch:
        patch.setattr(hub.store, "reading", lambda: opened.append(1) or reading())
        yield opened


def test_what_a_batch_did_is_looked_up_for_the_first_edge_that_asks_and_for_no_other(hub, monkeypatch):
    """M6: also for edges with different rules, of which each has its own part of it."""
    rules = [f"SELECT ?x {{ ?x <urn:key> {number} }}" for number in range(3)]
    edges = [edge_of(hub, own=rule, all=RULE) for rule in rules]
    for number in range(3):
        hub.publish(f"<urn:{number}> a <urn:C> ; <urn:key> {number} ; <urn:s> <urn:t> .", uri=f"urn:{number}")
    for edge in edges:
        edge.sync()
    hub.publish("<urn:t> <urn:p> 1 .", uri="urn:t")
    edges[0].sync()
    with transactions(hub, monkeypatch) as opened:
        assert [edge.sync().described for edge in edges[1:]] == [1, 1]
    assert opened == []
    assert all(stated_of(edge, "<urn:t>") for edge in edges)


def test_edge_that_nothing_concerns_costs_no_transaction(hub, monkeypatch):
    """M6."""
    concerned, idle = edge_of(hub), edge_of(hub, d="SELECT ?x { ?x a <urn:D> }")
    concerned.sync()
    hub.publish("<urn:1> a <urn:C> .", uri="urn:1")
    concerned.sync()
    with transactions(hub, monkeypatch) as opened:
        assert idle.sync().described == 0
    assert opened == []
    assert idle.as_of.position == concerned.as_of.position


@pytest.mark.parametrize("first", [0, 1])
def test_what_was_found_for_one_account_is_never_told_to_another(hub, first):
    """M7, P7: both follow the same rule; whoever asks first, each is told what it may read."""
    hub.publish("<urn:1> a <urn:C> ; <urn:s> <urn:2> .", uri="urn:a")
    hub.publish("<urn:2> <urn:p> 1 .", uri="urn:b", access=Access(["port"]))
    edges = [edge_of(hub, "port"), edge_of(hub, "bay")]
    for value in (2, 3):
        hub.publish(f"<urn:2> <urn:p> {value} .", uri="urn:b")
        edges[first].sync()
        edges[1 - first].sync()
        assert len(stated_of(edges[0], "<urn:2>")) == 1
        assert str(value) in "".join(stated_of(edges[0], "<urn:2>"))
        assert stated_of(edges[1], "<urn:2>") == set()
    hub.restrict("urn:b", Access(["bay"]))
    for edge in (edges[first], edges[1 - first]):
        edge.sync()
    assert stated_of(edges[0], "<urn:2>") == set()
    assert stated_of(edges[1], "<urn:2>")


def test_step_that_was_found_is_void_with_another_schema(hub):
    """M7: the same batches, with other strong references, bring other things."""
    hub.publish("<urn:1> a <urn:C> ; <urn:s> <urn:2> ; <urn:w> <urn:3> .", uri="urn:a")
    hub.publish("<urn:2> <urn:p> 1 . <urn:3> <urn:p> 1 .", uri="urn:b")
    edges = [edge_of(hub), edge_of(hub)]
    hub.publish("<urn:2> <urn:p> 2 . <urn:3> <urn:p> 2 .", uri="urn:b")
    edges[0].sync()
    hub.set_schema(strong("urn:w"))
    for edge in reversed(edges):
        edge.sync()
        assert stated_of(edge, "<urn:3>")
        assert not stated_of(edge, "<urn:2>")


def test_resource_that_goes_from_one_rule_to_another_is_not_described_again():
    """M6: what one rule reaches anew, another one has brought already."""
    world = World()
    world.declare("urn:s")
    world.publish("urn:t", "<urn:t> <urn:p> 1 .")
    world.publish("urn:a", "<urn:1> a <urn:C> ; <urn:s> <urn:t> .")
    world.publish("urn:b", "<urn:2> a <urn:D> .")
    world.follow("c", RULE)
    world.follow("d", "SELECT ?x { ?x a <urn:D> }")
    world.edge.sync()
    world.publish("urn:a", "<urn:1> a <urn:C> .")
    world.publish("urn:b", "<urn:2> a <urn:D> ; <urn:s> <urn:t> .")
    done = world.edge.sync()
    assert (done.described, done.moved_out, done.deleted) == (2, (), ())
    world.check()


def test_references_that_changed_are_those_of_then():
    """M7: a document that states a strong reference no longer let go of what only it held."""
    world = World()
    world.declare("urn:s")
    world.publish("urn:t", "<urn:t> <urn:p> 1 . <urn:u> <urn:p> 1 .")
    world.publish("urn:a", "<urn:1> a <urn:C> ; <urn:s> <urn:t>, [ <urn:s> <urn:u> ] .")
    world.follow("c", RULE)
    world.edge.sync()
    world.publish("urn:a", "<urn:1> a <urn:C> ; <urn:s> [ <urn:p> 1 ] .")
    assert set(world.edge.sync().moved_out) == {"<urn:t>", "<urn:u>"}
    world.check()
    world.retract("urn:t")
    world.publish("urn:a", "<urn:1> a <urn:C> ; <urn:s> <urn:t> .")
    world.edge.sync()
    world.check()


def moves(*, going=(), new=(), old=(), differing=(), bare=()):
    return QueryMoves([], [], *map(frozenset, (going, new, old, differing, bare)))


def test_moves_of_several_queries_are_put_together_as_if_they_were_one():
    """M6."""
    came, went = moves(new={1, 2}, old={1}), moves(new={3}, old={2, 3}, differing={3}, bare={2})
    assert described_by([came]) == [2]
    assert described_by([came, went]) == [3]
    assert deleted_by([went]) == [2]
    assert deleted_by([came, went]) == []
    assert deleted_by([came, went._replace(going=frozenset({2}))]) == [2]
