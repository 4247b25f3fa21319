"""Pictures of patterns: every part of a query is in them, in boxes, on arrows, and in sentences."""

from __future__ import annotations

import pytest

from triplewire import compile
from triplewire.hub.sights.pictures import picture


def drawn(text, language="sparql"):
    return picture(compile(text, language=language))


def test_each_alternative_is_a_picture():
    found = drawn("SELECT ?x { { ?x <urn:p> 1 } UNION { ?x <urn:q> 2 } }")
    assert sorted(edge.label for each in found for edge in each.edges) == ["<urn:p>", "<urn:q>"]


def test_optional_arrows_are_marked():
    (found,) = drawn("SELECT ?x ?y { ?x <urn:p> 1 OPTIONAL { ?x <urn:q> ?y } }")
    assert {edge.label: edge.is_optional for edge in found.edges} == {"<urn:p>": False, "<urn:q>": True}
    assert "?x may have <urn:q> ?y" in found.sentences


def test_conditions_stand_on_what_they_are_about():
    (found,) = drawn("SELECT ?x { ?x <urn:p> ?a ; <urn:q> ?b FILTER (?a > 5) FILTER (?a < ?b) }")
    assert [node.conditions for node in found.nodes if node.conditions] == [("?p > 5",)]
    assert found.conditions == ("?p < ?q",)


def test_is_a_is_told_in_words():
    text = "SELECT ?x { ?x <urn:theme>/<http://www.w3.org/2000/01/rdf-schema#subClassOf>* <urn:Water> }"
    (found,) = drawn(text)
    assert "?theme is, or is below, <urn:Water>" in found.sentences


def test_equal_values_are_boxes_of_their_own_and_a_resource_that_is_asked_about_is_one():
    (found,) = drawn("SELECT ?x ?y { ?x <urn:p> <urn:v> . ?y <urn:p> <urn:v> . ?x <urn:q> ?y }")
    assert [node.label for node in found.nodes].count("<urn:v>") == 2
    (found,) = drawn("SELECT ?x { ?x <urn:p> <urn:v> . <urn:v> <urn:q> 1 }")
    assert [node.label for node in found.nodes].count("<urn:v>") == 1


@pytest.mark.parametrize(
    ("text", "labels", "tests"),
    [
        ("/menu/drink[price > 1]/name", ["a document", "menu", "drink", "name"], [("price > 1",)]),
        ("count(//drink) > 3", ["a document", "count(//drink) > 3"], []),
    ],
)
def test_a_path_is_drawn_step_by_step(text, labels, tests):
    (found,) = drawn(text, "xpath")
    assert [node.label for node in found.nodes] == labels
    assert [node.conditions for node in found.nodes if node.conditions] == tests
    assert found.nodes[-1].is_answer
