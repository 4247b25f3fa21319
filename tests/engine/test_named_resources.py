"""Scope graph: what hangs from a constant is joined by it, whatever else is in the graph (G2, X2)."""

from __future__ import annotations

from collections import Counter

import pytest

from triplewire import Hub, UnsupportedQuery

LABELS = "SELECT ?l ?c { <urn:p> <urn:label> ?l . <urn:p> <urn:comment> ?c }"


@pytest.fixture
def hub(new_url):
    with Hub(new_url("sqlite"), most_triples=100) as hub:
        yield hub


def kinds(outcome) -> Counter[str]:
    return Counter(f"{event.kind} {event.subscription}" for event in outcome)


def values(hub: Hub, id: str) -> set[tuple[str, ...]]:
    return {tuple(term.value for term in row.values()) for row in hub.rows(id)}


def test_two_properties_of_a_named_resource_are_told_as_they_come_change_and_go(hub, publish_in):
    hub.subscribe(LABELS, id="both", scope="graph")
    assert kinds(publish_in(hub, ":p :label 'one' .", "urn:1")) == {}
    assert kinds(publish_in(hub, ":p :comment 'two', 'three' .", "urn:2")) == {"matched both": 2}
    assert values(hub, "both") == {("one", "two"), ("one", "three")}
    assert kinds(publish_in(hub, ":p :comment 'two' .", "urn:2"))["unmatched both"] == 1
    assert kinds(hub.retract("urn:1"))["unmatched both"] == 1
    assert list(hub.check()) == []


def test_two_named_resources_are_found_without_reading_what_is_said_of_all_others(hub, publish_in):
    """There are five times as many labels as a subscription may read."""
    publish_in(hub, "".join(f":other{n} :label 'other' . " for n in range(500)), "urn:others")
    hub.subscribe("SELECT ?l ?m { <urn:p> <urn:label> ?l . <urn:q> <urn:label> ?m }", id="two", scope="graph")
    outcome = publish_in(hub, ":p :label 'one' . :q :label 'two' .", "urn:1")
    assert not outcome.errors
    assert kinds(outcome) == {"matched two": 1}


def test_an_optional_part_may_hang_from_a_constant_of_the_required_one(hub, publish_in):
    text = "SELECT ?l ?c { <urn:p> <urn:label> ?l OPTIONAL { <urn:p> <urn:comment> ?c } }"
    hub.subscribe(text, id="perhaps", scope="graph")
    assert kinds(publish_in(hub, ":p :label 'one' .", "urn:1")) == {"matched perhaps": 1}
    assert kinds(publish_in(hub, ":p :comment 'two' .", "urn:2")) == {"matched perhaps": 1, "unmatched perhaps": 1}
    assert values(hub, "perhaps") == {("one", "two")}
    assert list(hub.check()) == []


@pytest.mark.parametrize(
    "text",
    [
        "SELECT ?x ?y { ?x a <urn:C> . ?y a <urn:C> }",
        "SELECT ?x ?l { ?x <urn:q> ?v . <urn:p> <urn:label> ?l }",
        "SELECT ?l ?x { <urn:p> <urn:label> ?l OPTIONAL { ?x <urn:q> ?v } }",
        "SELECT ?x ?y { ?x a <urn:C> OPTIONAL { ?y a <urn:C> } }",
    ],
)
def test_what_has_nothing_in_common_but_a_class_or_a_predicate_is_refused(hub, text):
    with pytest.raises(UnsupportedQuery, match=r"no variable or resource|nothing that is required"):
        hub.subscribe(text, scope="graph")


def test_what_they_multiply_to_is_bounded(hub, publish_in):
    hub.subscribe(LABELS, id="both", scope="graph")
    hub.subscribe("SELECT ?l { <urn:p> <urn:label> ?l }", id="one", scope="graph")
    many = ":p " + " ; ".join(f":label '{n}' ; :comment '{n}'" for n in range(1_100)) + " ."
    outcome = publish_in(hub, many, "urn:many")
    assert [error.subscription for error in outcome.errors] == ["both"]
    assert kinds(outcome)["matched one"] == 1_100
