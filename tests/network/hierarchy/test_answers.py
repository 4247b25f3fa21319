"""Answers to queries are kept for who asks, while they are true (N5); and what else queries look for (N3)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.network.histories import ACTIONS, QUERIES, Both
from tests.network.pairs import ASKED, THEME

from effort import MANY, examples
from triplewire.languages import compile as compile_query
from triplewire.network import Simulation
from triplewire.network.hierarchy.answers import AnswerCache, AnswerKey, KeptAnswer

REACHES = ["hub", "cluster", "super-cluster", "network"]
SOUGHT = ["documents", "publications", "advertisements"]
SHAPES = [(3,), (2, 2), (3, 2), (2, 1, 2), (2, 2, 2)]


def published(net, at: int, theme: int = 1, number: int = 0, **options) -> str:
    uri = f"urn:doc/{at}/{number}"
    net.client(at=at).publish(f"<{uri}#it> <{THEME}> <urn:theme/{theme}> .", uri=uri, **options)
    return uri


def found(sim, query) -> list[str]:
    sim.run()
    assert query.found.is_done
    assert query.found.silent == ()
    return sorted(document.uri for document in query.found.documents)


FINDS = st.tuples(st.just("find"), st.integers(0, 10), st.integers(0, len(QUERIES) * 24 - 1))


class Twins:
    """Two networks to which the same happens: one keeps answers, the other one does not."""

    def __init__(self, seed: int, clusters: tuple[int, ...], most: int) -> None:
        class Keeping(Both):
            def network(self, size):
                return self.sim.hierarchy(clusters=size, answers=most)

        class Asking(Both):
            def network(self, size):
                return self.sim.hierarchy(clusters=size, answers=0)

        self.keeps, self.asks = (kind(seed, clusters, loss=0.05) for kind in (Keeping, Asking))

    def act(self, what: str, who: int, which: int) -> None:
        if what != "find":
            for both in (self.keeps, self.asks):
                both.act(what, who, which)
            return
        query, which = QUERIES[which % len(QUERIES)], which // len(QUERIES)
        reach, sought, limit = REACHES[which % 4], SOUGHT[which // 4 % 3], (None, 2)[which // 12]
        answers = []
        for both in (self.keeps, self.asks):
            both.settle()
            at = [number for number in both.clients if both.is_up(number)]
            asked = both.clients[at[who % len(at)]].find(query, reach=reach, limit=limit, sought=sought)
            both.sim.run()
            assert asked.found.is_done
            assert asked.found.silent == ()
            answers.append(asked.found)
        kept, fresh = map(identities, answers)
        assert len(kept) == len(fresh)
        if limit is None:
            assert kept == fresh


def identities(answer) -> list[tuple]:
    """What was found, without the times, which differ where networks have lost other messages."""
    documents = [(each.uri, each.ntriples) for each in answer.documents]
    past = [(each.uri, each.version, each.document.ntriples) for each in answer.publications]
    return sorted([*documents, *past, *((each.origin, each.id) for each in answer.advertisements)])


def answers_are_those_that_would_be_found(seed, clusters, most, actions) -> None:
    twins = Twins(seed, clusters, most)
    for action in actions:
        twins.act(*action)


HISTORY = st.lists(st.one_of(FINDS, FINDS, ACTIONS), max_size=20)


@settings(max_examples=examples(40))
@given(st.integers(0, 2**32), st.sampled_from(SHAPES), st.sampled_from([1, 3, 100]), HISTORY)
def test_answers_that_are_kept_are_those_that_would_be_found(seed, clusters, most, actions):
    """Invariant of `network.hierarchy.answers`: at rest, what is kept is what would be found."""
    answers_are_those_that_would_be_found(seed, clusters, most, actions)


@pytest.mark.slow
@settings(max_examples=MANY)
@given(st.integers(0, 2**32), st.sampled_from(SHAPES), st.sampled_from([1, 3, 100]), HISTORY)
def test_answers_are_those_that_would_be_found_after_many_histories(seed, clusters, most, actions):
    answers_are_those_that_would_be_found(seed, clusters, most, actions)


def test_query_that_was_asked_before_costs_no_message_until_something_changes():
    sim = Simulation(seed=1)
    net = sim.hierarchy(clusters=(2, 2, 2))
    first = published(net, 7)
    sim.run()
    client = net.client(at=0)
    assert found(sim, client.find(ASKED % 1)) == [first]
    sim.messages.clear()
    assert found(sim, net.client(at=0).find(ASKED % 1)) == [first]
    assert sim.messages["query"] == 0
    assert net.answers.hits == 1
    second = published(net, 6)
    sim.run()
    assert found(sim, client.find(ASKED % 1)) == sorted([first, second])
    net.client(at=7).publish("<urn:x> <urn:other> 1 .", uri=first)
    sim.run()
    assert found(sim, client.find(ASKED % 1)) == [second]


def test_change_that_no_answer_could_be_altered_by_ends_none():
    sim = Simulation(seed=1)
    net = sim.hierarchy(clusters=(2, 2, 2))
    published(net, 7)
    sim.run()
    client = net.client(at=0)
    found(sim, client.find(ASKED % 1))
    sim.messages.clear()
    published(net, 7, theme=2, number=1)
    published(net, 0, theme=3)
    sim.run()
    assert sim.messages["gone answers"] == 0
    found(sim, client.find(ASKED % 1))
    assert sim.messages["query"] == 0


def test_answer_is_kept_for_who_asked():
    """What is for the cluster of the publisher alone is an answer there, and not elsewhere."""
    sim = Simulation(seed=1)
    net = sim.hierarchy(clusters=(2, 2, 2))
    uri, wide = published(net, 1, reach="cluster"), published(net, 1, number=1)
    sim.run()
    for _ in range(2):
        assert found(sim, net.client(at=0).find(ASKED % 1)) == [uri, wide]
        assert found(sim, net.client(at=2).find(ASKED % 1)) == [wide]
        assert found(sim, net.client(at=7).find(ASKED % 1)) == [wide]
        assert found(sim, net.client(at=0).find(ASKED % 1, reach="hub")) == []


def test_brokers_of_a_unit_share_what_its_controller_was_told():
    sim = Simulation(seed=1)
    net = sim.hierarchy(clusters=(2, 2, 3), standbys=False)
    uri = published(net, 11)
    sim.run()
    assert found(sim, net.client(at=0).find(ASKED % 1)) == [uri]
    sim.messages.clear()
    assert found(sim, net.client(at=4).find(ASKED % 1)) == [uri]
    assert sim.messages["query"] <= 3, "the controller of all has what it was told for their super-cluster"
    assert net.answers.hits >= 1


def test_answers_that_were_not_used_for_the_longest_time_make_room():
    cache = AnswerCache(most=2)
    keys = [
        AnswerKey("", 0, "", compile_query(ASKED % theme, language="sparql"), 0, None, "documents")
        for theme in range(3)
    ]
    kept = [KeptAnswer(f"query-{number}", (), frozenset()) for number in range(3)]
    for key, answer in zip(keys[:2], kept, strict=False):
        assert cache.keep(key, answer) == (answer.name, {})
    assert cache.find(keys[0]) is kept[0]
    assert cache.keep(keys[2], kept[2]) == ("query-2", {keys[1]: kept[1]})
    assert cache.find(keys[1]) is None
    assert (cache.hits, cache.misses) == (1, 1)


def test_answers_are_bounded_at_each_hub_and_those_who_were_told_them_let_go_too():
    sim = Simulation(seed=1)
    net = sim.hierarchy(clusters=(3,), answers=2, standbys=False)
    assert net.controller() != 1
    client = net.client(at=1)
    for theme in (1, 1, 2, 3):
        found(sim, client.find(ASKED % theme))
    assert sim.messages["gone answers"] > 0
    assert net.answers.kept <= 2 * (1 + len(net.nodes))
    assert all(len(net.hub(node).book.cache.kept) <= 2 for node in net.nodes)
    assert 0 < net.answers.rate < 1


def test_answer_that_lacks_a_silent_unit_is_not_kept():
    sim = Simulation(seed=1)
    net = sim.hierarchy(clusters=(2, 3), standbys=False)
    uris = [published(net, node) for node in (1, 5)]
    sim.run()
    net.crash(5)
    query = net.client(at=1).find(ASKED % 1)
    sim.run()
    assert query.found.silent
    net.restart(5)
    sim.run()
    assert found(sim, net.client(at=1).find(ASKED % 1)) == uris


def test_publications_that_are_past_are_found_everywhere():
    sim = Simulation(seed=1)
    net = sim.hierarchy(clusters=(2, 2, 2))
    writer = net.client(at=6)
    for value in (1, 2):
        writer.publish(f"<urn:x> <urn:v> {value} .", uri="urn:doc")
    sim.run()
    writer.retract("urn:doc")
    sim.run()
    asked = "SELECT ?x { ?x <urn:v> ?y }"
    assert found(sim, net.client(at=1).find(asked)) == []
    query = net.client(at=1).find(asked, sought="publications")
    sim.run()
    past = query.found.publications
    assert [(each.uri, each.version) for each in past] == [("urn:doc", 2), ("urn:doc", 1)], "the newest first"
    assert past[0].time > past[1].time
    assert b'"2"' in past[0].document.ntriples
    limited = net.client(at=1).find(asked, sought="publications", limit=1)
    sim.run()
    assert [each.version for each in limited.found.publications] == [2]


@pytest.mark.parametrize(("reach", "expected"), [("cluster", ["urn:v/a"]), ("network", ["urn:v/a", "urn:v/b"])])
def test_advertisements_that_could_match_are_found_as_far_as_both_go(reach, expected):
    sim = Simulation(seed=1)
    net = sim.hierarchy(clusters=(2, 2, 2))
    net.client(at=1).advertise(properties=["urn:v/a"], reach="cluster")
    net.client(at=7).advertise(properties=["urn:v/b"])
    net.client(at=6).advertise(properties=["urn:v/c"], reach="cluster")
    net.client(at=5).advertise(values={"urn:w": [1]})
    sim.run()
    query = net.client(at=0).find("SELECT ?d { ?d ?p 2 }", reach=reach, sought="advertisements")
    asked = net.client(at=0).find(
        "SELECT ?d { { ?d <urn:v/a> ?x } UNION { ?d <urn:v/b> ?x } UNION { ?d <urn:v/c> ?x } }",
        reach=reach,
        sought="advertisements",
    )
    sim.run()
    names = sorted(item.name for each in asked.found.advertisements for item in each.items)
    assert names == expected
    assert query.found.is_done


def test_what_cannot_be_looked_for_is_refused():
    net = Simulation().hierarchy(clusters=(2,))
    with pytest.raises(ValueError, match="sought is one of documents, publications, advertisements"):
        net.client(at=0).find(ASKED % 1, sought="secrets")
