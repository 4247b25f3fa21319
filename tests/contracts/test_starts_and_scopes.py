"""When a subscription starts (S4), and where it looks."""

from __future__ import annotations

import pytest
from tests.contracts.listening import HOST, HOSTS, INFO, INFOS, MEMORY, NS, PASSAU, PROVIDERS, publish

from triplewire.errors import UnknownSubscription
from triplewire.model import Row


def test_a_subscription_that_starts_ever_is_sent_the_existing_answers_first_in_a_batch_of_their_own(hub, ear):
    publish(hub, ":a a :CycleProvider . :b a :CycleProvider .")
    before = ear.add("first", PROVIDERS).heard()
    ear.add("second", PROVIDERS)
    assert before == {"first": ["matched a", "matched b"]}
    assert ear.heard() == {"second": ["matched a", "matched b"]}
    batches = [{event.batch for event in hub.events(id)} for id in ("first", "second")]
    assert [len(found) for found in batches] == [1, 1]
    assert batches[0] != batches[1]


@pytest.mark.parametrize("scope", ["document", "graph"])
def test_a_subscription_that_starts_now_sees_only_what_is_published_since(hub, ear, scope):
    publish(hub, ":a a :CycleProvider .")
    ear.add("now", PROVIDERS, start="now", scope=scope)
    assert ear.heard() == {}
    publish(hub, ":b a :CycleProvider .", INFOS)
    assert ear.heard() == {"now": ["matched b"]}
    hub.retract(HOSTS)
    assert ear.heard() == {}


def test_triples_of_an_answer_may_arrive_at_different_times_but_all_since_the_start(hub, ear):
    """S4: the host's triples are older than the subscription, so they do not count until they are published again."""
    publish(hub, HOST)
    ear.add("now", MEMORY, start="now").add("ever", MEMORY)
    publish(hub, INFO, INFOS)
    assert ear.heard() == {"ever": ["matched host"]}
    publish(hub, HOST)
    assert ear.heard() == {}, "the same content is not published again"
    publish(hub, HOST + ":host :colour 'red' .")
    assert ear.heard() == {"now": ["matched host"], "ever": ["changed host"]}
    hub.retract(INFOS)
    assert ear.heard() == {"now": ["unmatched host"], "ever": ["unmatched host"]}


def test_two_documents_of_which_one_is_older_than_the_subscription_count_as_the_younger_one(hub, ear):
    publish(hub, ":a a :CycleProvider .")
    ear.add("now", PROVIDERS, start="now").add("ever", PROVIDERS)
    ear.heard()
    publish(hub, ":a a :CycleProvider .", INFOS)
    assert ear.heard() == {"now": ["matched a"]}
    hub.retract(INFOS)
    assert ear.heard() == {"now": ["unmatched a"]}


def test_scope_document_joins_within_a_document_and_scope_graph_across_documents(hub, ear):
    ear.add("document", MEMORY, scope="document").add("graph", MEMORY)
    publish(hub, HOST)
    publish(hub, INFO, INFOS)
    assert ear.heard() == {"graph": ["matched host"]}
    publish(hub, HOST + INFO)
    assert ear.heard() == {"document": ["matched host"]}
    hub.retract(INFOS)
    assert ear.heard() == {}, "the other document states the same"
    publish(hub, HOST)
    assert ear.heard() == {"document": ["unmatched host"], "graph": ["unmatched host"]}


def test_a_blank_node_has_one_name_in_all_answers_and_is_not_that_of_another_document(hub, ear):
    named = f"SELECT ?b {{ ?b <{NS}name> ?n }}"
    for scope in ("document", "graph"):
        ear.add(scope, named, language="sparql", scope=scope)
    publish(hub, "[] :name 'x' .")
    publish(hub, "[] :name 'x' .", INFOS)
    found = {scope: set(map(Row, hub.rows(scope))) for scope in ("document", "graph")}
    assert found["document"] == found["graph"]
    assert len(found["graph"]) == 2


def test_subscriptions_with_the_same_query_are_told_each_by_itself(hub, ear):
    ear.add("one", PASSAU)
    publish(hub, HOST)
    ear.add("two", PASSAU)
    publish(hub, HOST + ":host :colour 'red' .")
    assert ear.heard() == {"one": ["changed host", "matched host"], "two": ["changed host", "matched host"]}
    hub.unsubscribe("one")
    hub.retract(HOSTS)
    with pytest.raises(UnknownSubscription):
        list(hub.events("one"))
    del ear.cursors["one"]
    assert ear.heard() == {"two": ["unmatched host"]}
