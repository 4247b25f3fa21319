"""SQC and MQC answer as the paper means it, also where the paper leaves a gap (S2 to S5)."""

from __future__ import annotations

from itertools import permutations

import pytest

from triplewire.errors import UnknownSubscription, UnsupportedQuery
from triplewire.network import Simulation
from triplewire.network.ring import RingSettings

SMITH = '?x, ?y : (?x, <urn:author>, "Smith") ∧ (?x, <urn:topic>, "P2P") ∧ (?x, <urn:cites>, ?y)'
TRIPLES = ['<urn:d> <urn:author> "Smith" .', '<urn:d> <urn:topic> "P2P" .', "<urn:d> <urn:cites> <urn:e> ."]
BOTH = pytest.mark.parametrize("algorithm", ["sqc", "mqc"])


def ring(size=8, *, seed=1, algorithm="mqc", faults=None, **settings):
    sim = Simulation(seed, **(faults or {}))
    return sim, sim.ring(size, settings=RingSettings(algorithm, **settings))


def kinds(client, sid):
    return [event.kind for event in client.events(sid)]


@BOTH
@pytest.mark.parametrize("order", [*permutations(range(3))])
@pytest.mark.parametrize("has_time", [True, False])
def test_three_triples_answer_in_every_order_of_arrival(algorithm, order, has_time):
    """S2, S3: an intermediate result is kept also when no triple extends it yet."""
    sim, net = ring(algorithm=algorithm)
    reader, writer = net.client(at=2), net.client(at=5)
    sid = reader.subscribe(SMITH, language="conjunctive")
    for number in order:
        if has_time:
            sim.run()
        writer.publish(TRIPLES[number], uri=f"urn:{number}")
    sim.run()
    assert [(event.kind, str(event.row)) for event in reader.events(sid)] == [("matched", "x = <urn:d>, y = <urn:e>")]


@BOTH
def test_triples_of_one_document_have_one_time_and_answer_together(algorithm):
    sim, net = ring(algorithm=algorithm)
    reader = net.client(at=0)
    sid = reader.subscribe(SMITH, language="conjunctive")
    net.client(at=3).publish("\n".join(TRIPLES), uri="urn:d")
    sim.run()
    assert kinds(reader, sid) == ["matched"]


@BOTH
def test_triple_that_overtakes_its_query_is_found_when_the_query_arrives(algorithm):
    """S4: what counts is when they were published and asked, not when they arrive."""
    sim, net = ring(algorithm=algorithm)
    reader, writer = net.client(at=2), net.client(at=5)
    net.slow(2, 100)
    sid = reader.subscribe(SMITH, language="conjunctive")
    for number, text in enumerate(TRIPLES):
        writer.publish(text, uri=f"urn:{number}")
    sim.run(seconds=0.5)
    assert kinds(reader, sid) == []
    sim.run()
    assert kinds(reader, sid) == ["matched"]


@BOTH
def test_triple_of_before_the_query_does_not_count_until_it_is_published_again(algorithm):
    """S4."""
    sim, net = ring(algorithm=algorithm)
    reader, writer = net.client(at=2), net.client(at=5)
    writer.publish(TRIPLES[0], uri="urn:0")
    sim.run()
    sid = reader.subscribe(SMITH, language="conjunctive")
    for number in (1, 2):
        writer.publish(TRIPLES[number], uri=f"urn:{number}")
    sim.run()
    assert kinds(reader, sid) == []
    writer.publish(TRIPLES[0] + ' <urn:d> <urn:title> "Rings" .', uri="urn:0")
    sim.run()
    assert kinds(reader, sid) == ["matched"]


@BOTH
@pytest.mark.parametrize("size", [1, 2])
def test_peer_that_owns_several_positions_of_a_chain_keeps_them_apart(algorithm, size):
    sim, net = ring(size, algorithm=algorithm)
    client = net.client(at=0)
    sid = client.subscribe(SMITH, language="conjunctive")
    for number, text in enumerate(TRIPLES):
        client.publish(text, uri=f"urn:{number}")
    sim.run()
    assert kinds(client, sid) == ["matched"]


@BOTH
def test_predicate_and_object_of_equal_spelling_are_two_keys(algorithm):
    sim, net = ring(algorithm=algorithm)
    reader, writer = net.client(at=2), net.client(at=5)
    by_object = reader.subscribe("SELECT ?s ?p { ?s ?p <urn:x> }")
    by_predicate = reader.subscribe("SELECT ?s ?o { ?s <urn:x> ?o }")
    both = reader.subscribe("SELECT ?s { ?s <urn:x> <urn:x> }")
    writer.publish("<urn:s> <urn:x> <urn:x> . <urn:t> <urn:x> 1 . <urn:u> <urn:y> <urn:x> .", uri="urn:d")
    sim.run()
    assert [len(reader.events(sid)) for sid in (by_object, by_predicate, both)] == [2, 2, 1]


@BOTH
def test_retraction_ends_rows_and_what_another_document_states_stays(algorithm):
    sim, net = ring(algorithm=algorithm)
    reader, writer = net.client(at=2), net.client(at=5)
    sid = reader.subscribe(SMITH, language="conjunctive")
    for number, text in enumerate([*TRIPLES, TRIPLES[1]]):
        writer.publish(text, uri=f"urn:{number}")
    sim.run()
    writer.retract("urn:1")
    sim.run()
    assert kinds(reader, sid) == ["matched"]
    writer.retract("urn:3")
    sim.run()
    assert kinds(reader, sid) == ["matched", "unmatched"]
    assert reader.events(sid)[1].documents[0].uri == "urn:3"


@BOTH
def test_peers_that_stay_down_are_stood_in_for_by_those_with_copies(algorithm):
    """S1: with three copies, two of them may go for good."""
    sim, net = ring(12, algorithm=algorithm, replicas=3)
    reader, writer = net.client(at=2), net.client(at=5)
    sid = reader.subscribe(SMITH, language="conjunctive")
    for number in (0, 1):
        writer.publish(TRIPLES[number], uri=f"urn:{number}")
    sim.run()
    busy = [node for node, _ in sim.loads.most_common() if node not in (2, 5)]
    for node in busy[:2]:
        net.crash(node)
    sim.run()
    writer.publish(TRIPLES[2], uri="urn:2")
    sim.run()
    assert kinds(reader, sid) == ["matched"]


def test_learnt_link_falls_back_when_another_peer_has_become_responsible():
    """S2: the query chain routing table."""
    sim, net = ring(12, algorithm="sqc")
    reader, writer = net.client(at=2), net.client(at=5)
    sid = reader.subscribe(SMITH, language="conjunctive")
    for number, text in enumerate(TRIPLES):
        writer.publish(text, uri=f"urn:{number}")
    sim.run()
    for node in [node for node in net.nodes if node not in (2, 5)][::2]:
        net.leave(node)
    for _ in range(4):
        net.join()
    sim.run()
    for number, text in enumerate(TRIPLES):
        writer.publish(text.replace("urn:d", "urn:other"), uri=f"urn:other/{number}")
    sim.run()
    assert kinds(reader, sid) == ["matched", "matched"]


@BOTH
@pytest.mark.parametrize("off", ["is_grouped", "learns"])
def test_optimisations_save_messages_and_change_no_answer(algorithm, off):
    """S5."""
    hops = []
    for is_on in (True, False):
        sim, net = ring(32, algorithm=algorithm, is_wide=False, replicas=1, **{off: is_on})
        reader, writer = net.client(at=2), net.client(at=5)
        sids = [reader.subscribe(SMITH, language="conjunctive") for _ in range(20)]
        for number, text in enumerate([*TRIPLES, *(f"<urn:d> <urn:cites> <urn:{n}> ." for n in range(4))]):
            writer.publish(text, uri=f"urn:{number}")
            sim.run()
        assert all(kinds(reader, sid) == ["matched"] * 5 for sid in sids)
        hops.append(sim.messages["extend-matching"])
    assert hops[0] < hops[1]


@BOTH
def test_many_conditions_on_one_predicate_are_found_by_an_index(algorithm):
    sim, net = ring(algorithm=algorithm)
    reader, writer = net.client(at=2), net.client(at=5)
    sids = [reader.subscribe(f"SELECT ?s {{ ?s <urn:n> ?n FILTER(?n > {least}) }}") for least in range(40)]
    writer.publish("<urn:s> <urn:n> 25 .", uri="urn:d")
    sim.run()
    assert [len(reader.events(sid)) for sid in sids] == [1] * 25 + [0] * 15


@BOTH
def test_query_that_ended_waits_nowhere(algorithm):
    sim, net = ring(algorithm=algorithm)
    reader, writer = net.client(at=2), net.client(at=5)
    sid = reader.subscribe(SMITH, language="conjunctive")
    for number, text in enumerate(TRIPLES):
        writer.publish(text, uri=f"urn:{number}")
    sim.run()
    reader.unsubscribe(sid)
    sim.run()
    states = [state for node in net.nodes for state in net.peer(node).state.keys.values()]
    assert not [group for state in states for group in state.groups.values()]
    assert not [state for state in states if state.watchers]


@BOTH
def test_query_that_is_asked_again_under_the_id_of_one_that_ended_is_another_query(algorithm):
    """S2, S3: what has ended stays ended, and what is asked anew is asked from then on."""
    sim, net = ring(algorithm=algorithm)
    reader, writer = net.client(at=2), net.client(at=5)
    writer.publish(TRIPLES[0], uri="urn:before")
    for name in ("d", "e"):
        sid = reader.subscribe(SMITH, language="conjunctive", id="smith")
        for number, text in enumerate(TRIPLES):
            writer.publish(text.replace("urn:d", f"urn:{name}"), uri=f"urn:{number}")
        sim.run()
        assert [str(event.row) for event in reader.events(sid)] == [f"x = <urn:{name}>, y = <urn:e>"]
        reader.unsubscribe(sid)
        sim.run()


@pytest.mark.parametrize(
    ("text", "language", "reason"),
    [
        ("//item", "xpath", "XML"),
        ("SELECT ?s ?p ?o { ?s ?p ?o }", "sparql", "no value"),
        (
            "SELECT * { ?s <urn:a> 1 " + " ".join(f"OPTIONAL {{ ?s <urn:{n}> ?x{n} }}" for n in range(5)) + " }",
            "sparql",
            "optional",
        ),
    ],
)
def test_what_a_ring_cannot_answer_is_refused_with_what_to_do(text, language, reason):
    _, net = ring()
    with pytest.raises(UnsupportedQuery, match=reason) as refused:
        net.client(at=0).subscribe(text, language=language)
    assert refused.value.hint


@BOTH
def test_messages_and_loads_are_counted_in_the_papers_units(algorithm):
    """S6."""
    sim, net = ring(64, algorithm=algorithm, is_wide=False, replicas=1)
    net.client(at=1).publish(TRIPLES[0], uri="urn:0")
    sim.run()
    assert sum(sim.loads.values()) == {"sqc": 2, "mqc": 4}[algorithm]
    assert set(sim.messages) <= {"index-triple", "receipt"}
    assert sim.messages["index-triple"] > 1


@BOTH
def test_document_that_expires_is_retracted_by_itself_and_a_new_version_is_without_limit(algorithm):
    sim, net = ring(algorithm=algorithm)
    reader, writer = net.client(at=2), net.client(at=5)
    sid = reader.subscribe("SELECT ?s { ?s <urn:a> 1 }")
    writer.publish("<urn:s> <urn:a> 1 .", uri="urn:short", seconds=60)
    writer.publish("<urn:t> <urn:a> 1 .", uri="urn:kept", seconds=60)
    sim.run(seconds=30)
    assert kinds(reader, sid) == ["matched", "matched"]
    writer.publish("<urn:t> <urn:a> 1 ; <urn:b> 1 .", uri="urn:kept")
    sim.run()
    assert [(event.kind, str(event.row)) for event in reader.events(sid)][-1] == ("unmatched", "s = <urn:s>")
    assert kinds(reader, sid).count("unmatched") == 1


@BOTH
def test_document_expires_though_its_publisher_has_left_or_was_down_then(algorithm):
    sim, net = ring(12, algorithm=algorithm)
    reader, leaver, crasher = net.client(at=2), net.client(at=5), net.client(at=7)
    sid = reader.subscribe("SELECT ?s { ?s <urn:a> 1 }")
    leaver.publish("<urn:s> <urn:a> 1 .", uri="urn:0", seconds=60)
    crasher.publish("<urn:t> <urn:a> 1 .", uri="urn:1", seconds=60)
    sim.run(seconds=10)
    net.leave(5)
    net.crash(7)
    sim.run(seconds=100)
    assert kinds(reader, sid) == ["matched", "matched", "unmatched"]
    net.restart(7)
    sim.run()
    assert kinds(reader, sid) == ["matched", "matched", "unmatched", "unmatched"]


@BOTH
def test_query_that_expires_waits_nowhere_and_is_not_known_any_more(algorithm):
    sim, net = ring(algorithm=algorithm)
    reader, writer = net.client(at=2), net.client(at=5)
    sid = reader.subscribe(SMITH, language="conjunctive", seconds=60)
    for number, text in enumerate(TRIPLES):
        writer.publish(text, uri=f"urn:{number}")
    sim.run(seconds=30)
    assert kinds(reader, sid) == ["matched"]
    sim.run()
    with pytest.raises(UnknownSubscription):
        reader.events(sid)
    states = [state for node in net.nodes for state in net.peer(node).state.keys.values()]
    assert not [group for state in states for group in state.groups.values()]


@pytest.mark.parametrize("hot", [None, 0.01])
def test_query_is_indexed_by_its_rarest_subquery(hot):
    """Section 5: a good choice of the rewriter makes few chains; a key that is split is frequent."""
    chains = {}
    for rewriter in ("rarest", "any"):
        sim, net = ring(16, rewriter=rewriter, hot=hot)
        writer = net.client(at=5)
        for number in range(20):
            writer.publish(f"<urn:s/{number}> <urn:frequent> {number} .", uri=f"urn:{number}")
        sim.run()
        readers = [net.client(at=node) for node in range(8)]
        text = "SELECT ?s ?x { ?s <urn:frequent> ?x ; <urn:rare> 1 }"
        sids = [reader.subscribe(text) for reader in readers]
        sim.run()
        before = sim.messages["extend-matching"]
        for number in range(20):
            writer.publish(f"<urn:s/{number}> <urn:frequent> {number + 1} .", uri=f"urn:{number}")
        writer.publish("<urn:s/3> <urn:rare> 1 .", uri="urn:rare")
        sim.run()
        assert [kinds(reader, sid) for reader, sid in zip(readers, sids, strict=True)] == [["matched"]] * 8
        chains[rewriter] = sim.messages["extend-matching"] - before
        asked = [net.hub(reader.at).subscription(sid) for reader, sid in zip(readers, sids, strict=True)]
        assert rewriter == "any" or {subscription.queries[0].first for subscription in asked} == {1}
    assert chains["rarest"] < chains["any"]
