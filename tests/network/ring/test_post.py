"""A parcel gets to the peer that is responsible for its place, whatever happens on the way."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from effort import examples
from triplewire.network import Simulation


@settings(max_examples=examples(25), deadline=None)
@given(st.integers(0, 2**32), st.integers(0, 15), st.integers(0, 15))
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
    sim.run()
    assert [event.kind for event in reader.events(sid)] == ["matched", "matched"]
    assert len({event.batch for event in reader.events(sid)}) == 1, "one step is told as one"
    assert not [node for node in net.nodes if net.peer(node).state.post.kept or net.peer(node).state.post.causes]
