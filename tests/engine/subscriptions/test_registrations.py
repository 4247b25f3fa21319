"""Subscribing in bulk: many at once is the same as one by one, all of them or none."""

from __future__ import annotations

from functools import partial
from itertools import product

import pytest
from tests.contracts.listening import HOST, HOSTS, INFO, INFOS, MEMORY, NS, PASSAU, PROVIDERS, publish, replayed

from triplewire import Hub, Subscription, compile
from triplewire.engine import writes
from triplewire.engine.backfill import answers
from triplewire.engine.subscriptions import registrations
from triplewire.errors import DuplicateSubscription, MatchLimitExceeded, UnsupportedQuery
from triplewire.matching.incremental import solve
from triplewire.model import Row

SEVERAL = "SELECT ?s ?o { ?s <urn:p> ?o }"
CARTESIAN = "SELECT ?a ?b { ?a <urn:p> 1 . ?b <urn:q> 2 }"
OPTIONAL = f"SELECT ?c ?i {{ ?c a <{NS}CycleProvider> OPTIONAL {{ ?c <urn:i> ?i }} }}"


@pytest.fixture
def small_steps(monkeypatch):
    """Lists of three, told by five: so that a few subscriptions come in several."""
    monkeypatch.setattr(writes, "_PAGE", 3)
    monkeypatch.setattr(registrations, "_MANY", 5)


def rules(*texts, scope="graph", start="ever", prefix="r"):
    return [Subscription(f"{prefix}{i}", text, "rules", scope, start) for i, text in enumerate(texts)]


def everything():
    """Each rule in each scope and start, twice."""
    wanted = []
    for number, (text, scope, start) in enumerate(
        2 * list(product((PROVIDERS, MEMORY, PASSAU), ("graph", "document"), ("now", "ever")))
    ):
        wanted.append(Subscription(f"s{number}", text, "rules", scope, start, "ada" if number % 2 else None))
    return wanted


def told(hub, ids):
    """What each subscription has heard, and its answers now."""
    for id in ids:
        assert replayed(hub.events(id)) == set(hub.rows(id))
    return {
        id: (
            sorted((event.kind, str(event.row), len(event.triples), str(event.documents)) for event in hub.events(id)),
            set(map(Row, hub.rows(id))),
        )
        for id in ids
    }


def test_many_at_once_hear_what_they_hear_one_by_one(small_steps):
    """S4: existing answers first, whatever the scope; and the same afterwards."""
    wanted = everything()
    ids = [one.id for one in wanted]
    with Hub(":memory:") as one_by_one, Hub(":memory:") as at_once:
        for hub in (one_by_one, at_once):
            publish(hub, HOST + ":other a :CycleProvider .")
            publish(hub, INFO, INFOS)
        for one in wanted:
            one_by_one.subscribe(
                one.text, language=one.language, id=one.id, scope=one.scope, start=one.start, owner=one.owner
            )
        assert at_once.subscribe_many(iter(wanted)) == len(wanted)
        assert told(at_once, ids) == told(one_by_one, ids)
        assert any(at_once.events(id) for id in ids)
        assert list(at_once.subscriptions()) == list(one_by_one.subscriptions())
        for hub in (one_by_one, at_once):
            publish(hub, HOST + ":third a :CycleProvider ; :serverHost 'x.uni-passau.de' .")
            hub.retract(INFOS)
        assert told(at_once, ids) == told(one_by_one, ids)
        assert list(at_once.store.problems()) == []


def test_equal_queries_of_one_call_are_one_query(hub, small_steps):
    publish(hub, HOST)
    hub.subscribe_many([Subscription(f"s{i}", PROVIDERS, "rules", "graph", "ever") for i in range(7)])
    with hub.store.reading() as reader:
        assert reader.queries.count() == 1
    assert [len(hub.rows(f"s{i}")) for i in range(7)] == [1] * 7
    assert [event.subscription for i in range(7) for event in hub.events(f"s{i}")] == [f"s{i}" for i in range(7)]


@pytest.mark.parametrize("apart", [1, 4])
def test_rule_names_another_one_of_the_same_call(hub, small_steps, apart):
    """M3: also one that was registered in an earlier part of the call."""
    between = rules(*[MEMORY] * (apart - 1), prefix="b")
    wanted = [
        Subscription("Strong", MEMORY, "rules", "graph", "ever"),
        *between,
        Subscription(
            "both", "search Strong s register s where s.serverHost contains 'uni-passau.de'", "rules", "graph"
        ),
    ]
    hub.subscribe_many(wanted)
    publish(hub, HOST + INFO + ":far a :CycleProvider ; :serverHost 'elsewhere' ; :serverInformation :info .")
    assert (len(hub.rows("Strong")), len(hub.rows("both"))) == (2, 1)


def test_duplicate_is_named_wherever_the_other_one_is(hub, small_steps):
    hub.subscribe(PROVIDERS, language="rules", id="r0", scope="graph")
    before = list(hub.subscriptions())
    in_the_store = rules(PASSAU)
    close = rules(PASSAU, MEMORY, prefix="x") + rules(PASSAU, prefix="x")
    far = rules(*[PASSAU] * 4, prefix="x") + rules(PASSAU, prefix="x")
    for wanted, name in ((in_the_store, "r0"), (close, "x0"), (far, "x0")):
        with pytest.raises(DuplicateSubscription) as caught:
            hub.subscribe_many(wanted)
        assert caught.value.subscription == name
    assert list(hub.subscriptions()) == before


def test_call_that_fails_late_leaves_nothing_behind(hub, small_steps):
    """The numbers of what was rolled back go to others: nobody may be mistaken for them."""
    hub.subscribe(PROVIDERS, language="rules", id="old", scope="graph")
    lost = [*rules(MEMORY, PASSAU, *([PROVIDERS] * 3)), Subscription("bad", CARTESIAN, "sparql", "graph")]
    with pytest.raises(UnsupportedQuery):
        hub.subscribe_many([*lost[:2], *rules(PASSAU, scope="document", start="now", prefix="d"), *lost[2:]])
    assert [one.id for one in hub.subscriptions()] == ["old"]
    assert {event.subscription for event in publish(hub, HOST + INFO)} == {"old"}
    hub.subscribe_many(
        [Subscription("new", OPTIONAL, "sparql", "graph"), Subscription("p", SEVERAL, "sparql", "graph")]
    )
    events = publish(hub, ":host a :CycleProvider . <urn:s> <urn:p> <urn:o> .")
    heard = {(event.subscription, event.kind) for event in events if event.subscription != "old"}
    assert heard == {("new", "matched"), ("p", "matched")}
    assert list(hub.store.problems()) == []


def test_what_a_hub_learns_by_writing_is_what_another_one_reads(tmp_path, small_steps):
    url = f"sqlite:///{tmp_path / 'hub.db'}"
    with Hub(url) as writer:
        publish(writer, HOST + INFO)
        writer.subscribe_many([*everything(), Subscription("wide", OPTIONAL, "sparql", "graph")])
        writer.subscribe(SEVERAL, id="several", scope="graph")
        with Hub(url) as reader:
            _ = reader.taxonomy  # so that it catches up
            for part in ("documents", "graph", "seeds"):
                learned, read = getattr(writer._standing, part), getattr(reader._standing, part)
                assert {id: learned.pattern(id) for id in learned} == {id: read.pattern(id) for id in read}
            assert writer._standing.shapes == reader._standing.shapes
            assert writer._standing.wide == reader._standing.wide
            assert writer._standing.last_start == reader._standing.last_start
            publish(reader, HOST + INFO + ":second a :CycleProvider .")
        assert NS + "second" in {row["c"].value for row in writer.rows("wide")}


def test_answers_beyond_the_limit_are_refused_with_the_name_of_the_subscription(monkeypatch):
    """Those that are asked together are asked apart before one of them is blamed."""
    monkeypatch.setattr(answers, "solve", partial(solve, high=10))
    hub = Hub(most_triples=300)
    for number in range(4):
        stated = " ".join(f"<urn:s{number}x{i}> <urn:p> <urn:o{i}> ." for i in range(100))
        publish(hub, stated, f"urn:doc{number}")
    small = Subscription("small", "SELECT ?o { <urn:s0x1> <urn:p> ?o }", "sparql", "graph", "ever")
    large = Subscription("large", "SELECT ?s ?t { ?s <urn:p> ?o . ?t <urn:p> ?o }", "sparql", "graph", "ever")
    with pytest.raises(MatchLimitExceeded, match="takes more than 300 triples") as caught:
        hub.subscribe_many([small, large])
    assert caught.value.subscription == "large"
    assert list(hub.subscriptions()) == []
    hub.subscribe_many([small])
    assert len(hub.rows("small")) == 1


def test_pattern_that_is_given_is_taken_as_it_is(hub):
    pattern = compile(PROVIDERS, language="rules")
    hub.subscribe_many([Subscription("given", "", "rules", "graph", pattern=pattern)])
    assert hub.subscribe(pattern, id="alone", scope="graph").pattern == pattern
    publish(hub, HOST, HOSTS)
    assert [len(hub.rows(id)) for id in ("given", "alone")] == [1, 1]
