"""Why a row answers a subscription, and why a resource does not (X4)."""

from __future__ import annotations

import pytest
from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from triplewire import UnknownRow, UnknownSubscription
from triplewire.engine import Source
from triplewire.model import Row

MEMORY = "SELECT ?h { ?h a <urn:Host> ; <urn:info> ?i . ?i <urn:memory> ?m . FILTER(?m > 64) }"
WATER = "SELECT ?d { ?d <urn:theme> <urn:water> }"


def node(name):
    return NamedNode(f"urn:{name}")


def row(**names):
    return Row({key: node(name) for key, name in names.items()})


@pytest.fixture
def memory(hub, publish):
    """A host whose memory another document tells."""
    hub.subscribe(MEMORY, id="memory", scope="graph")
    publish(":h a :Host ; :info :i .", "urn:hosts")
    publish(":i :memory 92 .", "urn:infos")
    return hub


def test_an_answer_across_documents_names_each_triple_with_who_states_it(memory):
    told = memory.why("memory", row(h="h"))
    assert dict(told.stated) == {
        Triple(node("h"), NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type"), node("Host")): (
            Source("urn:hosts", 1),
        ),
        Triple(node("h"), node("info"), node("i")): (Source("urn:hosts", 1),),
        Triple(node("i"), node("memory"), Literal(92)): (Source("urn:infos", 1),),
    }
    assert told.documents == (Source("urn:hosts", 1), Source("urn:infos", 1))
    assert [dict(checked.values)["m"] for checked in told.conditions] == [Literal(92)]


def test_the_reason_reads_as_text_in_the_names_of_the_text(memory):
    text = str(memory.why("memory", row(h="h")))
    assert "?h = <urn:h> answers memory" in text
    assert "<urn:i> <urn:memory> 92  in urn:infos (version 1)" in text
    assert "?m > 64: ?m is 92" in text


def test_any_mapping_will_do_for_a_row(memory):
    assert memory.why("memory", {"h": node("h")}).row == row(h="h")


def test_a_triple_of_several_documents_names_all_of_them(hub, publish):
    hub.subscribe(WATER, id="water", scope="graph")
    publish(":d :theme :water .", "urn:a")
    publish(":d :theme :water . :d :colour 'blue' .", "urn:b")
    publish(":d :theme :water .", "urn:b")
    assert hub.why("water", row(d="d")).documents == (Source("urn:a", 1), Source("urn:b", 2))


def test_in_scope_document_the_document_that_gives_the_row_is_named(hub, publish):
    hub.subscribe("SELECT ?d { ?d <urn:theme> <urn:water> ; <urn:name> ?n }", id="named")
    publish(":d :theme :water .", "urn:half")
    publish(":d :theme :water ; :name 'Dee' .", "urn:whole")
    assert hub.why("named", row(d="d")).documents == (Source("urn:whole", 1),)


def test_a_row_with_a_blank_node_is_explained_by_the_hubs_name_for_it(hub, publish):
    hub.subscribe("SELECT ?b { ?b <urn:theme> <urn:water> }", id="blank", scope="graph")
    publish("[] :theme :water .")
    (found,) = hub.rows("blank")
    assert isinstance(found["b"], BlankNode)
    assert hub.why("blank", found).triples[0].subject == found["b"]


def test_an_optional_column_is_explained_with_its_triple(hub, publish):
    hub.subscribe(
        "SELECT ?d ?n { ?d <urn:theme> <urn:water> OPTIONAL { ?d <urn:name> ?n } }", id="optional", scope="graph"
    )
    publish(":d :theme :water ; :name 'Dee' . :e :theme :water .")
    assert len(hub.why("optional", {"d": node("d"), "n": Literal("Dee")}).triples) == 2
    assert len(hub.why("optional", row(d="e")).triples) == 1
    with pytest.raises(UnknownRow):
        hub.why("optional", row(d="d"))


def test_what_is_no_answer_is_an_error_that_says_why(memory, publish):
    publish(":i :memory 32 .", "urn:infos")
    with pytest.raises(UnknownRow, match=r"\?h = <urn:h> is not one of its answers: .*\?m > 64.* was 32"):
        memory.why("memory", row(h="h"))


def test_a_column_that_is_none_is_an_error_with_those_that_are(memory):
    with pytest.raises(UnknownRow, match=r"\?x is not one of its columns; they are \?h"):
        memory.why("memory", row(x="h"))


def test_an_unknown_subscription_is_an_error(hub):
    with pytest.raises(UnknownSubscription):
        hub.why("nobody", {})
    with pytest.raises(UnknownSubscription):
        hub.why_not("nobody", "urn:d")


# -- why not


def test_an_answer_is_told_to_be_one(memory):
    assert memory.why_not("memory", "urn:h").matches


def test_the_condition_that_fails_is_named_with_the_value_of_another_document(memory, publish):
    publish(":i :memory 32 .", "urn:infos")
    told = memory.why_not("memory", "urn:h")
    assert not told.matches
    assert str(told.first) == "condition `?m > 64` failed: ?m was 32"
    assert told.first.seen == (("m", (Literal(32),)),)


def test_the_triple_that_is_missing_is_named_with_what_is_there_instead(memory):
    memory.retract("urn:infos")
    memory.publish("<urn:i> <urn:cpu> 600 .", uri="urn:infos", media_type="text/turtle")
    failure = memory.why_not("memory", "urn:h").first
    assert str(failure.failed) == "?i <urn:memory> ?m"
    assert failure.seen == (("i", (node("i"),)),)
    assert Triple(node("i"), node("cpu"), Literal(600)) in failure.near


def test_a_resource_that_nobody_speaks_of_is_told_to_be_that(memory):
    told = memory.why_not("memory", "urn:elsewhere")
    assert not told.is_mentioned
    assert "no document that counts for the subscription speaks of it" in str(told)


def test_the_column_in_which_the_resource_comes_furthest_is_taken(hub, publish):
    hub.subscribe("SELECT ?p ?d { ?d <urn:publisher> ?p . ?p <urn:city> <urn:Passau> }", id="cities", scope="graph")
    publish(":d :publisher :p . :p :city :Berlin .")
    told = hub.why_not("cities", "urn:d")
    assert told.variable == "d"
    assert str(told.first.failed) == "?p <urn:city> <urn:Passau>"
    assert hub.why_not("cities", "urn:p").variable == "p"


def test_what_was_published_before_a_subscription_that_starts_now_is_told_to_be_too_old(hub, publish):
    publish(":d :theme :water .", "urn:old")
    hub.subscribe(WATER, id="water", scope="graph")
    told = hub.why_not("water", "urn:d")
    assert told.earlier == (Source("urn:old", 1),)
    assert "starts now, and this was published before it: urn:old (version 1)" in str(told)


def test_too_old_is_told_for_scope_document_as_well(hub, publish):
    publish(":d :theme :water .", "urn:old")
    hub.subscribe(WATER, id="water")
    assert hub.why_not("water", "urn:d").earlier == (Source("urn:old", 1),)


def test_in_scope_document_the_document_that_comes_furthest_is_looked_at(hub, publish):
    hub.subscribe("SELECT ?d { ?d <urn:theme> <urn:water> ; <urn:name> 'Dee' }", id="named")
    publish(":d :colour 'blue' .", "urn:a")
    publish(":d :theme :water .", "urn:b")
    publish(":d :name 'Dee' ; :colour 'red' . :e :theme :water .", "urn:c")
    told = hub.why_not("named", "urn:d")
    assert told.document.uri in ("urn:b", "urn:c")
    assert len(told.first.matched) == 1
    assert "all triples must come from one document" in str(told)


def test_each_alternative_is_explained_the_one_that_got_furthest_first(hub, publish):
    hub.subscribe(
        "SELECT ?d { { ?d <urn:theme> <urn:air> }"
        " UNION { ?d <urn:theme> <urn:water> ; <urn:size> ?s FILTER(?s > 5) } }",
        id="either",
        scope="graph",
    )
    publish(":d :theme :water ; :size 3 .")
    told = hub.why_not("either", "urn:d")
    assert len(told.failures) == 2
    assert "?s > 5" in str(told.first)


def test_a_yes_or_no_question_is_explained_from_any_of_its_variables(hub, publish):
    hub.subscribe("ASK { ?d <urn:theme> <urn:water> }", id="ask", scope="graph")
    publish(":d :theme :air .")
    assert str(hub.why_not("ask", "urn:d").first.failed) == "?d <urn:theme> <urn:water>"


def test_a_class_with_many_instances_is_not_gone_through(hub, publish):
    """The walk goes from the resource: what it asks the store for stays small."""
    hub.subscribe("SELECT ?d { ?d a <urn:Dataset> ; <urn:theme> <urn:water> }", id="water", scope="graph")
    publish(" ".join(f":d{n} a :Dataset ." for n in range(3_000)))
    told = hub.why_not("water", "urn:d7")
    assert str(told.first.failed) == "?d <urn:theme> <urn:water>"
    assert told.first.near == (
        Triple(node("d7"), NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type"), node("Dataset")),
    )
