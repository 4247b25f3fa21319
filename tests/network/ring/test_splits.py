"""Keys that become hot are shared out, and nobody is told anything else because of that."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, Triple

from triplewire.algebra.evaluate import unify
from triplewire.algebra.pattern import TriplePattern, variable
from triplewire.network import Simulation
from triplewire.network.ring import RingSettings
from triplewire.network.ring.identifiers import identify, key_at
from triplewire.network.ring.keys import KeyState
from triplewire.network.ring.messages import ExtendMatching, Extension, IndexTriple
from triplewire.network.ring.queries import PAPER_KEYS, RingQuery
from triplewire.network.ring.splits import DEEPEST, FAN, KeySplit, base_of, depth, share_key
from triplewire.network.ring.statements import KeyStatement

BOTH = pytest.mark.parametrize("algorithm", ["sqc", "mqc"])
NODES = [NamedNode(f"urn:{number}") for number in range(4)]
TRIPLES = st.builds(Triple, *[st.sampled_from(NODES)] * 3)
KEYS = st.sampled_from(
    [(algorithm, places) for algorithm in ("sqc", "mqc") for places in (*PAPER_KEYS[algorithm], "s")]
)


def query(name: str, pattern: TriplePattern) -> RingQuery:
    return RingQuery(name, "sid", "home", 0, (), (pattern, pattern), (), 0.0, "mqc", ("p",))


@given(
    KEYS, TRIPLES, st.sets(st.sampled_from("spo")), st.lists(st.integers(0, FAN - 1), max_size=3), st.text(max_size=3)
)
def test_triple_and_subquery_that_could_meet_have_a_share_in_common(key, triple, bound, numbers, name):
    """Invariant of `network.ring.splits`: a triple and a subquery that it could satisfy have a share in common."""
    algorithm, places = key
    spelled = key_at(places, triple)
    for number in numbers:
        spelled = share_key(spelled, number)
    split = KeySplit(spelled, algorithm)
    values = {place: term if place in bound else variable(place) for place, term in zip("spo", triple, strict=True)}
    pattern = TriplePattern(values["s"], values["p"], values["o"])
    assert unify(pattern, triple, {}) is not None
    statement = KeyStatement(1, 1.0, frozenset([triple]))
    extension = Extension(pattern, (), {}, ((query(name, pattern), (0,)),))
    stated = {share for share, _ in split.shared(IndexTriple(("home", name), statement))}
    ended = {
        share
        for share, _ in split.shared(
            IndexTriple(("home", name), statement._replace(triples=frozenset()), frozenset([triple]))
        )
    }
    waits = {share for share, _ in split.shared(ExtendMatching((extension,)))}
    assert len(stated & waits) >= 1
    assert ended == stated, "what ends is said where it was stated"
    state = KeyState()
    state.state(("home", name), statement)
    state.wait(extension)
    divided = state.divided(split)
    assert {share_key(spelled, number) for number, share in divided.items() if share.documents} == stated
    assert {share_key(spelled, number) for number, share in divided.items() if share.groups} == waits


def test_shares_say_what_they_are_shares_of():
    key = key_at("po", Triple(NODES[0], NODES[1], Literal("# 1")))
    share = share_key(share_key(key, 3), 1)
    assert (base_of(key), base_of(share), depth(key), depth(share)) == (key, key, 0, 2)


def hot_ring(algorithm, hot, *, nodes=60, seed=1, **settings):
    """Many queries and many triples of one predicate; gives the simulation, the network, the readers and their ids."""
    sim = Simulation(seed)
    net = sim.ring(nodes, settings=RingSettings(algorithm, hot=hot, **settings))
    readers = [net.client(at=node) for node in range(0, 40, 2)]
    text = "?s, ?o, ?u : (?s, <urn:hot>, ?o) ∧ (?s, <urn:other>, ?u)"
    sids = [(reader, reader.subscribe(text, language="conjunctive")) for reader in readers]
    writer = net.client(at=1)
    for number in range(80):
        writer.publish(f"<urn:s/{number}> <urn:hot> {number} ; <urn:other> 1 .", uri=f"urn:{number}")
        sim.run()
    return sim, net, sids


@BOTH
def test_busiest_peer_does_a_small_part_of_what_it_did_when_hot_keys_are_split(algorithm):
    busiest = {}
    for hot in (None, 2.0):
        sim, net, sids = hot_ring(algorithm, hot, replicas=1, is_wide=False)
        assert all(len(reader.events(sid)) == 80 for reader, sid in sids)
        busiest[hot] = max(sim.loads.values()) / (sum(sim.loads.values()) / 60)
        assert any(state.is_split for node in net.nodes for state in net.peer(node).state.keys.values()) == (hot == 2.0)
    assert busiest[2.0] < 0.7 * busiest[None]
    assert busiest[2.0] < 5


@BOTH
def test_split_key_keeps_nothing_and_senders_learn_of_it(algorithm):
    sim, net, _ = hot_ring(algorithm, 2.0)
    split = {key: state for node in net.nodes for key, state in net.peer(node).state.keys.items() if state.is_split}
    assert split
    assert all(state.is_settled and state.is_empty for state in split.values())
    assert all(depth(key) <= DEEPEST for key in split)
    writer, before = net.client(at=1), sim.messages["split"]
    for number in range(80):
        writer.publish(f"<urn:s/{number}> <urn:hot> {number + 1} ; <urn:other> 1 .", uri=f"urn:{number}")
        sim.run()
    assert before > 0
    assert sim.messages["split"] < 2 * before


@BOTH
@pytest.mark.parametrize("seconds", [0, 0.01, 0.05, 0.2, 1, 30])
def test_peer_that_goes_for_good_while_it_splits_a_key_takes_nothing_with_it(algorithm, seconds):
    """Until the shares have everything, those that stand in for the peer have it, too."""
    sim = Simulation(1)
    net = sim.ring(12, settings=RingSettings(algorithm, hot=0.01))
    reader, writer = net.client(at=2), net.client(at=5)
    sid = reader.subscribe("SELECT ?s ?x { ?s <urn:hot> ?x ; <urn:b> 1 }")
    writer.publish("<urn:s/0> <urn:hot> 1 .", uri="urn:0")
    sim.run()
    key = key_at("p", Triple(NODES[0], NamedNode("urn:hot"), NODES[0]))
    owner = next(
        node for node in net.nodes if key in net.peer(node).state.keys and net.peer(node).view.owns(identify(key))
    )
    assert owner not in (reader.at, writer.at), "clients of a peer that is gone wait for it: choose other peers"
    writer.publish("<urn:s/1> <urn:hot> 2 .", uri="urn:1")
    writer.publish("<urn:s/1> <urn:b> 1 . <urn:s/0> <urn:b> 1 .", uri="urn:2")
    sim.run(seconds=seconds)
    net.crash(owner)
    sim.run()
    assert sorted(str(event.row) for event in reader.events(sid) if event.kind == "matched") == [
        's = <urn:s/0>, x = "1"^^<http://www.w3.org/2001/XMLSchema#integer>',
        's = <urn:s/1>, x = "2"^^<http://www.w3.org/2001/XMLSchema#integer>',
    ]
