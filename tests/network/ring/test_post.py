"""A parcel gets to the peer that is responsible for its place, whatever happens on the way."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from effort import examples
from triplewire.network import Simulation

SUBJECT, OBJECTS = "<urn:s>", ("1", "2")


@settings(max_examples=examples(25), deadline=None)
@given(st.integers(0, 2**32), st.integers(0, 15), st.integers(0, 15))
@example(163, 2, 4)  # settled more than ten seconds after it began: the subscriber is told before, of what is there
@example(109, 5, 13)
def test_change_is_settled_when_all_it_led_to_is_kept_and_not_before(seed, crashed, writer):
    """Invariant of `network.ring.post`: a parcel is kept until it is answered, and answered when all it led to is."""
    sim = Simulation(seed, loss=0.2, duplication=0.2)
    net = sim.ring(16)
    reader = net.client(at=(writer + 1) % 16)
    sid = reader.subscribe("SELECT ?s ?y { ?s <urn:a> ?x . ?x <urn:b> ?y }")
    net.client(at=writer).publish("<urn:s> <urn:a> <urn:x> . <urn:x> <urn:b> 1, 2 .", uri="urn:d")
    sim.run(seconds=0.05)
    net.crash(crashed)
    sim.run(seconds=1)
    net.restart(crashed)
    home = net.peer(reader.at).state.homes[net.peer(reader.at).name]
    asked = (home.name, sid), ((net.peer(writer).name, "urn:d"), (None, 1))
    while any(cause.about in asked for node in (reader.at, writer) for cause in causes(net, node)):
        sim.run(seconds=0.05)
    rows = [*home.subscriptions[sid].rows]
    assert sorted(f"{row['s']} {row['y'].value}" for row in rows) == [f"{SUBJECT} {each}" for each in OBJECTS]
    assert all(len(home.content(row.values())) == 1 for row in rows), "what is stated of the subject is there, too"
    sim.run()
    told = reader.events(sid)
    assert [event.kind for event in told][:2] == ["matched", "matched"]
    assert {event.kind for event in told[2:]} <= {"changed"}, "of what came late, and of nothing else"
    assert all(len(event.after) == 1 for event in {event.row: event for event in told}.values())
    assert not [node for node in net.nodes if net.peer(node).state.post.kept or causes(net, node)]


def causes(net, node):
    """What was asked of a peer, and has led to something that is not answered."""
    return net.peer(node).state.post.causes.values()


@settings(max_examples=examples(25), deadline=None)
@given(st.integers(0, 2**32), st.integers(0, 15))
def test_change_that_is_settled_in_time_is_told_as_one_step(seed, writer):
    """M6."""
    sim = Simulation(seed, duplication=0.2)
    net = sim.ring(16)
    reader = net.client(at=(writer + 1) % 16)
    sid = reader.subscribe("SELECT ?s ?y { ?s <urn:a> ?x . ?x <urn:b> ?y }")
    net.client(at=writer).publish("<urn:s> <urn:a> <urn:x> . <urn:x> <urn:b> 1, 2 .", uri="urn:d")
    sim.run()
    assert [event.kind for event in reader.events(sid)] == ["matched", "matched"]
    assert len({event.batch for event in reader.events(sid)}) == 1
